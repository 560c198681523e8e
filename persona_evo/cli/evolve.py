"""Evolve a tree policy for a persona. A run can be stopped at any time and resumed.

With --for or --until the whole command ends by then: the generations, the comparison of the finalists on new seeds, the
comparison with UCB1, and the simplification of the formula. What has to be compiled first counts, too.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from persona_evo.cli import option_values, options
from persona_evo.cli import policy as policy_command
from persona_evo.cli.parser import Commands, assignment, filled, path, plain, whole
from persona_evo.cli.pools import add_held_out, is_asked, pools_of
from persona_evo.cli.say import StatusLine, duration, note, say
from persona_evo.errors import SettingsError
from persona_evo.words import counted, enumerated, plural

if TYPE_CHECKING:
    from persona_evo.agents.duel import League
    from persona_evo.evolve.driving import GenerationProgress
    from persona_evo.evolve.run import Outcome
    from persona_evo.evolve.schedule import Phase
    from persona_evo.evolve.setting import SkilledPlay
    from persona_evo.evolve.settings import EvolutionSettings
    from persona_evo.games.core import Game
    from persona_evo.jobs.workers import Workers
    from persona_evo.store.policies import Policy

MOST = 1_000_000
GAMES = 4
"""Games of each pair of the match that is recommended: a first look, which more games make a measurement."""
MOST_LEVELS, SHOWN = 12, 3
"""Of more levels than these only so many are shown: those with the lowest and those with the highest utility."""
RENEWED = (
    "persona",
    "seed",
    "preset",
    "population",
    "islands",
    "iterations",
    "seconds",
    "runs",
    "search",
    "set",
    "seed_policies",
    "levels",
    "held_out",
    "out",
    "rules",
    "league",
    "agent",
    "skill",
)
"""Options that a resumed run has from its folder."""


def add(commands: Commands) -> None:
    """The command's options."""
    parser = commands.add_parser("evolve", description=__doc__)
    parser.add_argument("--persona", type=filled, metavar="PERSONA", help=options.PERSONA)
    parser.add_argument(
        "--levels",
        nargs="+",
        type=filled,
        metavar="LEVEL",
        help="files, folders, patterns, names or sets to train on; generate:N draws N levels from the "
        "seed and solves them, for games with a level generator (default: train)",
    )
    add_held_out(parser)
    parser.add_argument("--preset", choices=("paper", "modern"), help="protocol (default: modern)")
    parser.add_argument(
        "--generations", type=whole(1, MOST), metavar="N", help="number of populations to evaluate (default: 100)"
    )
    parser.add_argument(
        "--population",
        type=whole(2, MOST),
        metavar="N",
        help="individuals on all islands together, a multiple of --islands (default: 100)",
    )
    parser.add_argument(
        "--islands",
        type=whole(1, 10_000),
        metavar="N",
        help="number of subpopulations, which exchange individuals (default: 5)",
    )
    parser.add_argument(
        "--runs",
        type=whole(1, 10_000),
        metavar="N",
        help="number of independent runs; the best one counts (default: 1 with the preset modern, 3 with paper)",
    )
    parser.add_argument(
        "--search",
        choices=options.PRESETS,
        help="search rules: paper as published, single with one open list, anytime with several, "
        "which are evolved together (default: single with the preset modern, paper with paper)",
    )
    parser.add_argument(
        "--seed-policies",
        nargs="+",
        type=filled,
        metavar="POLICY",
        help="formulas to start from: none (random ones alone), ucb1 (sets variables=extended), "
        "utility (what the persona wants), library (the policies that ship), a policy's name or file, "
        "formula:TEXT (default with the preset modern: utility, and ucb1 where variables=extended)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="change any other setting of the evolution; may be repeated",
    )
    options.add_league(parser, "the policies play against", "whose tree policy is evolved")
    add_skill(parser)
    options.add_budget(
        parser, each="playthrough, or per move with an agent or a skill", default="10000, or the agent's or skill's own"
    )
    parser.add_argument(
        "--for",
        dest="for_",
        type=filled,
        metavar="TIME",
        help="finish the whole command within this time: 8h, 1h30m, 90s",
    )
    parser.add_argument(
        "--until", type=filled, metavar="TIME", help="finish the whole command by this time: 07:00, 2031-05-04T07:00"
    )
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    options.add_out(parser, "folder in which to make the run's folder (default: runs)")
    options.add_level_options(parser)
    parser.add_argument("--resume", type=path, metavar="RUN", help="continue the run in this folder")
    options.add_trust(parser)
    parser.set_defaults(run=run)


def add_skill(parser: argparse.ArgumentParser) -> None:
    """--skill."""
    parser.add_argument(
        "--skill",
        type=filled,
        metavar="NAME",
        help="in single-player games: evolve for a player who searches anew for each move. novice, casual and expert "
        "see a few moves ahead and make errors; full-sight sees the whole game, makes no errors and has 200 "
        "iterations a move",
    )


def run(args: argparse.Namespace) -> int:
    """Evolve in a new run folder, or go on in one."""
    from persona_evo.jobs.deadline import deadline

    options.check_backend(args)
    end = deadline(args.for_, args.until)
    if args.persona is None and args.resume is None:
        raise SettingsError(
            "--persona is missing",
            expected="--persona NAME or FILE, or --resume RUN",
            hint="persona-evo persona list shows those that ship",
        )
    plays = (args.generations or 100) * (args.population or 100) * len(args.levels or ["train"])
    with option_values.workers_of(args, "persona_evo.evolve.fitness", option_values.thought(args, plays)) as workers:
        return _start(args, end, workers) if args.resume is None else _resume(args, end, workers)


def _start(args: argparse.Namespace, end: float | None, workers: Workers) -> int:
    from pathlib import Path

    from persona_evo.games import registry
    from persona_evo.personas import load

    game = option_values.game_of(args)
    persona = load(args.persona, game)
    from persona_evo.api.search_rules import rules_of_search
    from persona_evo.evolve.comparison import held_out
    from persona_evo.evolve.fitness_spec import spec_to_dict
    from persona_evo.evolve.individuals import left_out, settled, start_in_words
    from persona_evo.evolve.run import evolve_runs, specification
    from persona_evo.evolve.setting import in_words
    from persona_evo.store import policy_library

    skilled = _skilled(args, game)
    league = option_values.league_of(args, game, persona)
    settings = _settings(args, game, league, skilled)
    budget = option_values.budget_of(args, league)
    seed = option_values.seed_of(args)
    made = pools_of(args, game, persona, seed, workers)
    levels = made["train"].load(game) if made else option_values.levels_of(args, game, args.levels or ["train"])
    runs = f", {counted(settings.runs, 'run')}" if settings.runs > 1 else ""
    search = None if args.search is None else rules_of_search(args.search, game)
    spec = specification(game, persona, levels, settings, search, budget, league, registry.address(game), skilled)
    starts, missing = start_in_words(settled(settings, spec), spec, persona.lists), left_out(settings, spec)
    each = min(settings.levels_a_generation, len(spec.cases))
    pairs = " pairs of a level and an opponent" if len(spec.cases) > len(levels) else ""
    drawn = f", {each}{pairs} drawn for each generation" if each else ""
    note(
        f"{persona.name} on {counted(len(levels), 'level')}{drawn}, preset {settings.preset}, "
        f"{counted(settings.generations, 'generation')} of {settings.population}{runs}, "
        f"{in_words(spec_to_dict(spec))}, seed {seed}"
    )
    if league is not None and league.opponents:
        note(f"against {', '.join(o.name for o in league.opponents)}")
    note(f"starts from: {starts}")
    if missing:
        note(missing)
    if "library" in settings.first:
        for error in policy_library.damaged(game.name):
            note(f"warning: a policy is skipped: {error}")
    best, all_runs = evolve_runs(
        game,
        persona,
        levels,
        settings,
        seed,
        root=args.out or Path("runs"),
        search=search,
        budget=budget,
        workers=workers,
        deadline=end,
        progress=teller(),
        tell=phase_teller(),
        game_name=registry.address(game),
        league=league,
        held_out=None if made or game.outside is not None else held_out(game, levels),
        pools=made,
        skilled=skilled,
    )
    option_values.report_findings(game)
    if len(all_runs) > 1:
        for outcome in all_runs:
            value = "–" if outcome.priority is None else f"{outcome.priority:.4f}"
            say(f"run {outcome.folder}: {persona.priority} {value}")
    return finish(
        best if all_runs[-1].status != "interrupted" else all_runs[-1],
        game,
        args.persona,
        () if made else args.levels or (),
    )


def _resume(args: argparse.Namespace, end: float | None, workers: Workers) -> int:
    for name in RENEWED:
        if getattr(args, name, None):
            raise SettingsError(
                f"--{name.replace('_', '-')} does not go with --resume",
                expected="--generations, --for, --until, --jobs, --backend, --game",
                hint="a resumed run takes everything else from its folder",
            )
    from persona_evo.store import runs

    options.accept(args, args.resume)
    config = runs.read_config(args.resume)
    from persona_evo.evolve.run import resume, summary_of
    from persona_evo.games import registry

    note(f"resuming {args.resume}: {summary_of(args.resume)}")
    outcome = resume(
        args.resume,
        generations=args.generations,
        workers=workers,
        deadline=end,
        progress=teller(),
        tell=phase_teller(),
        game_name=option_values.moved(args),
    )
    game = registry.get(option_values.moved(args) or config["game"])
    option_values.report_findings(game)
    if outcome.recovered:
        note(outcome.recovered)
    return finish(outcome, game, levels=[level["source"] for level in config["levels"] if level["source"]])


def _skilled(args: argparse.Namespace, game: Game) -> SkilledPlay | None:
    """Who plays from move to move by --skill."""
    from persona_evo.evolve.setting import SkilledPlay

    others = {f"--{name}": getattr(args, name) for name in ("search", "agent", "league", "seconds")}
    return SkilledPlay.of(args.skill or "", game, args.iterations, others=others)


def _settings(
    args: argparse.Namespace, game: Game, league: League | None, skilled: SkilledPlay | None
) -> EvolutionSettings:
    from persona_evo.api.naming import first_policies
    from persona_evo.evolve.setting import with_usual
    from persona_evo.evolve.start import chosen

    changes: dict[str, Any] = {}
    for name, value in option_values.once(args.set, "--set").items():
        if name == "preset":
            raise SettingsError(
                "the preset is not a setting",
                found=f"--set preset={value}",
                expected="--preset paper or --preset modern",
            )
        if name in ("metrics", "first", "budgets"):
            parts = str(value).split(",")
            value = tuple(map(plain, parts) if name == "budgets" else parts)
        changes[name] = value
    for name in ("generations", "population", "islands", "runs"):
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    first = first_policies(args.seed_policies, game.name) if args.seed_policies else None
    preset, generated = args.preset or "modern", is_asked(args)
    changes = with_usual(changes, skilled, game, preset, generated)
    return chosen(preset, game, league, changes, first, generated=generated)


def teller() -> Callable[[GenerationProgress], None]:
    """Shows each generation on one line."""
    from persona_evo.evolve.genome import is_lists

    line = StatusLine()

    def tell(p: GenerationProgress) -> None:
        mean = fsum(row.mean for row in p.rows) / len(p.rows)
        busy = f", cores {p.usage.share:.0%} busy" if p.usage is not None else ""
        bred = "set" if is_lists(p.best.formula) else "formula"
        known = [counted(n, what) for n, what in ((p.remembered, bred), (p.spared, "playthrough")) if n]
        memory = f", {enumerated(known)} from memory" if known else ""
        where = " on the validation set" if p.best.validation else ""
        line.show(
            f"generation {p.generation + 1}/{p.target}: best {p.best.fitness:.4f}{where} "
            f"({counted(p.best.size, 'node')}), mean {mean:.4f}, {p.rate:.1f} {bred}s/s{memory}{busy}, "
            f"{duration(p.eta)} to go",
            last=p.generation + 1 == p.target,
        )

    return tell


def phase_teller() -> Callable[[Phase], None]:
    """Shows the last steps of an evolution, each on a line of its own."""
    lines: dict[str, StatusLine] = {}

    def tell(p: Phase) -> None:
        if p.left is not None:
            note(
                f"{p.name} takes about {duration(p.eta)}, and the time allows {duration(p.left)}: give --for more, or "
                "a smaller --population"
            )
            return
        last = p.done >= p.total
        ended = "done" if p.total else "there was no time for it"
        share = ended if last else f"{p.done / p.total:.0%}, {duration(p.eta)} to go at most"
        of = f" ({counted(p.total, 'playthrough')})" if p.total > 1 else ""
        lines.setdefault(p.name, StatusLine()).show(f"{p.name}{of}: {share}", last=last)

    return tell


def finish(outcome: Outcome, game: Game, persona: str = "", levels: Sequence[str] = ()) -> int:
    """Say what came out, and what to do with it; the exit code. persona, levels: as named on the command line."""
    from persona_evo.agents.skill import LADDER
    from persona_evo.evolve.driving import INTERRUPTED
    from persona_evo.games import registry
    from persona_evo.games.commands import command, unseen
    from persona_evo.store import policies

    if outcome.status == INTERRUPTED:
        note(f"stopped after {counted(outcome.generations, 'generation')}; all of them are kept in {outcome.folder}")
        note(f"resume with: {command(game, 'evolve', '--resume', outcome.folder)}")
        return 130
    if outcome.policy is None:
        note("time ran out before any formula was evaluated, so there is no policy")
        note(f"resume with: {command(game, 'evolve', '--resume', outcome.folder, '--for', '5m')}")
        return 0
    policy = policies.read(outcome.policy)
    _tell_policy(policy, outcome)
    if policy.agent and game.players > 1:
        budget = [(k, policy.budget.get(k)) for k in ("iterations", "seconds")]
        limit = [word for k, v in budget if v for word in (f"--{k}", f"{v:g}")]
        against = (
            "match",
            registry.address(game),
            outcome.policy,
            *policy.run.get("opponents", ()),
            "--levels",
            *unseen(game, tuple(levels)),
            *limit,
            "--games",
            GAMES,
            "--swap",
        )
        say(f"play:       {shlex.join(['persona-evo', *map(str, against)])}")
    who = persona or policy.persona
    play = (
        "playtest",
        *unseen(game, tuple(levels)),
        "--personas",
        who,
        "--policy",
        outcome.policy,
        *(("--agent", outcome.policy) if policy.agent and game.players == 1 else ()),
        *(("--skill", policy.skill["name"]) if policy.skill.get("name") in LADDER else ("--baseline", "ucb1")),
    )
    say(f"playtest:   {command(game, *play)}")
    if "simplification" in policy.unfinished:
        say(f"simplify:   {command(game, 'policy', 'simplify', outcome.policy)}")
    say(f"keep it:    {command(game, 'policy', 'install', outcome.folder)}")
    from persona_evo.report import evolution

    say(f"page:       {evolution.write(evolution.read(outcome.folder))}")
    return 0


def _tell_policy(policy: Policy, outcome: Outcome) -> None:
    """Say what an evolution found, and how good it is."""
    say(f"persona     {policy.persona}   {policy.utility}")
    policy_command.tell_formulas(policy)
    if outcome.found_in_start:
        what = "these are lists" if policy.lists else "this is a formula"
        say(f"            {what} that the evolution started from: none that it bred did better")
    policy_command.tell_words(policy.words)
    for symbol, meaning in policy.metrics.items():
        say(f"  {symbol:<7} {meaning}")
    trials = policy.run.get("trials")
    levels = "level of the validation set" if "validation" in policy.run else "level"
    seeds = f"{counted(trials, 'trial')} per {levels} on new seeds" if trials else "as the evolution measured it"
    rows = list(policy.fitness.items())
    many = len(rows) > MOST_LEVELS
    if many:
        rows.sort(key=lambda row: row[1])
        rows = [*rows[:SHOWN], *rows[-SHOWN:]]
    say(f"mean utility {policy.mean:.4f}, {seeds}, {'the lowest and the highest' if many else 'level by level'}")
    for level, value in rows:
        say(f"  {level:<12} {value:.4f}")
    if "tuning" in policy.unfinished:
        say("time ran out before all constants were tuned, so the same seed may give another policy")
    policy_command.tell_comparison(policy)
    early = ", ended by its deadline" if outcome.status != "finished" else ""
    if outcome.generations:
        say(f"seed {policy.seed}, {counted(outcome.generations, 'generation')}{early}")
    else:
        n = policy.run["evaluations"]
        best = f"{counted(n, 'formula')} that {plural(n, 'was', 'were')} evaluated" if n else "those it starts from"
        say(f"seed {policy.seed}; time ran out in the first generation: this formula is the best of {best}")
    say(f"policy      {outcome.policy}")
