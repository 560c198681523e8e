"""Evolve a tree policy for a persona. A run can be stopped at any time and resumed.

With --for or --until, the whole command ends in time: the generations, the comparison of the finalists on new seeds,
the comparison with UCB1, and the simplification of the formula. Time for compiling counts, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from persona_evo.cli import option_values, options
from persona_evo.cli.evolution_output import finish, phase_teller, teller
from persona_evo.cli.parser import Commands, assignment, filled, path, plain, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import SettingsError

if TYPE_CHECKING:
    from persona_evo.jobs.workers import Workers

MOST = 1_000_000
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
"""Options whose values a resumed run takes from its folder."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("evolve", description=__doc__)
    _add_training(parser)
    _add_sizes(parser)
    _add_play(parser)
    parser.add_argument(
        "--for",
        dest="for_",
        type=filled,
        metavar="TIME",
        help="finish the whole command within this time: 8h, 1h30m, 90s; --population and --iterations are "
        "chosen to fit if they are not given",
    )
    parser.add_argument(
        "--until",
        type=filled,
        metavar="TIME",
        help="finish the whole command by this time: 07:00, 2031-05-04T07:00; if --for is given, too, the "
        "earlier limit holds",
    )
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    options.add_out(parser, "folder in which the run's folder is created (default: runs)")
    options.add_level_options(parser)
    parser.add_argument("--resume", type=path, metavar="RUN", help="continue the run in this folder")
    options.add_trust(parser)
    parser.set_defaults(run=run)


def _add_training(parser: argparse.ArgumentParser) -> None:
    """Add the options for the persona, the levels and the first population."""
    parser.add_argument("--persona", type=filled, metavar="PERSONA", help=options.PERSONA)
    parser.add_argument(
        "--levels",
        nargs="+",
        type=filled,
        metavar="LEVEL",
        help="files, folders, patterns, names or sets to train on; generate:N draws N levels from the "
        "seed and solves them, for games with a level generator (default: train)",
    )
    parser.add_argument(
        "--held-out",
        type=whole(1, 10_000),
        metavar="N",
        help="with --levels generate:N: number of held-out levels, which are never used to choose anything and on "
        "which the result is reported (default: 50)",
    )
    parser.add_argument(
        "--seed-policies",
        nargs="+",
        type=filled,
        metavar="POLICY",
        help="formulas to start from: none (only random ones), ucb1 (sets variables=extended), "
        "utility (what the persona wants), library (the policies that ship), a policy's name or file, "
        "formula:TEXT (default with the preset modern: utility, and ucb1 where variables=extended)",
    )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the options for the size of the evolution."""
    parser.add_argument(
        "--preset", choices=("paper", "modern"), help="protocol: paper as published, or modern (default: modern)"
    )
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
        "--set",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="change any other setting of the evolution; may be repeated",
    )


def _add_play(parser: argparse.ArgumentParser) -> None:
    """Add the options for the playthroughs."""
    parser.add_argument(
        "--search",
        choices=options.PRESETS,
        help="search rules: paper as published, single with one open list, anytime with several, "
        "which are evolved together (default: single with the preset modern, paper with paper)",
    )
    options.add_league(parser, "the policies play against", "with the tree policies that are evolved")
    parser.add_argument(
        "--skill",
        type=filled,
        metavar="NAME",
        help="in single-player games: evolve for a player who searches again before each move. novice, "
        "casual and expert look a few moves ahead and make errors; full-sight looks ahead to the end of the "
        "game, makes no errors and has 200 iterations per move",
    )
    options.add_budget(
        parser, each="playthrough, or per move with an agent or a skill", default="10000, or the agent's or skill's own"
    )


def run(args: argparse.Namespace) -> int:
    """Evolve in a new run folder, or resume a run."""
    from persona_evo.jobs.deadline import deadline, until
    from persona_evo.jobs.deadline import duration as length

    options.check_backend(args)
    end = deadline(args.for_, args.until)
    if args.for_ and args.until:
        earlier = "--until" if until(args.until) < length(args.for_) else "--for"
        note(f"both --for and --until are given: {earlier} is the earlier one and holds")
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

    from persona_evo.api.evolution import EvolutionRequest, evolve_runs
    from persona_evo.personas import load

    game = option_values.game_of(args)
    persona = load(args.persona, game)
    request = EvolutionRequest(
        preset=args.preset or "modern",
        seed=option_values.seed_of(args),
        iterations=args.iterations,
        seconds=args.seconds,
        league=args.league or (),
        agent=args.agent or "",
        search=args.search,
        seed_policies=args.seed_policies,
        held_out=args.held_out,
        skill=args.skill or "",
        changes=_changes(args),
        prefix="--",
    )
    plan: list[str] = []
    task = request.task(
        persona,
        args.levels or ["train"],
        workers,
        game=game,
        options=option_values.options_of(args, game),
        deadline=end,
        tell=_pool_teller(),
        tell_plan=plan.extend,
    )
    for level in task.levels:
        for warning in level.warnings:
            note(f"{level.name}: {warning}")
    for line in (*task.lines(), *plan):
        note(line)
    best, all_runs = evolve_runs(
        task, root=args.out or Path("runs"), workers=workers, deadline=end, progress=teller(), tell=phase_teller()
    )
    option_values.report_findings(game)
    if len(all_runs) > 1:
        for outcome in all_runs:
            value = "–" if outcome.priority is None else f"{outcome.priority:.4f}"
            say(f"run {outcome.folder}: {persona.priority} {value}")
    shown = best if not all_runs[-1].interrupted else all_runs[-1]
    return finish(shown, game, args.persona, () if task.pools else args.levels or ())


def _changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return the single settings that were given with --set or with options of their own."""
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
        given = getattr(args, name)
        if given is None:
            continue
        if changes.setdefault(name, given) != given:
            raise SettingsError(
                f"{name} is given twice",
                found=f"--{name} {given} and --set {name}={changes[name]}",
                expected="one of them",
            )
    return changes


def _pool_teller() -> Callable[[str, int, int], None]:
    """Return a function that shows the progress of the generation of levels, each step on its own line."""
    lines: dict[str, StatusLine] = {}

    def tell(what: str, done: int, total: int) -> None:
        lines.setdefault(what, StatusLine()).show(f"{what}: {done} of {total}", last=done == total)

    return tell


def _resume(args: argparse.Namespace, end: float | None, workers: Workers) -> int:
    for name in RENEWED:
        if getattr(args, name, None):
            raise SettingsError(
                f"--{name.replace('_', '-')} cannot be combined with --resume",
                expected="--generations, --for, --until, --jobs, --backend, --game",
                hint="a resumed run takes everything else from its folder",
            )
    from persona_evo.store import runs

    options.accept(args, args.resume)
    config = runs.read_config(args.resume)
    from persona_evo.api.evolution import resume, summary_of
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
