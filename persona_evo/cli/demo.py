"""Run a small version of the whole workflow, which takes about three minutes on two idle cores.

It evolves a tree policy for one persona on three of the shipped training levels, prints the formula, playtests it
against UCB1 in a level that the evolution has not seen, and writes a page with pictures.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import evolution_output, option_values, options, playtest
from persona_evo.cli.parser import Commands, filled, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.words import aligned, counted

if TYPE_CHECKING:
    from persona_evo.evolve.outcome import Outcome
    from persona_evo.games.core import Game
    from persona_evo.store.policies import Policy

TRAINING = ("train01", "train02", "train03")
UNSEEN = "test01"


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("demo", description=__doc__)
    parser.add_argument(
        "--persona",
        default="monster_killer",
        type=filled,
        metavar="PERSONA",
        help="persona to evolve a policy for (default: %(default)s)",
    )
    parser.add_argument(
        "--generations",
        default=8,
        type=whole(1, 1000),
        metavar="N",
        help="generations of the evolution (default: %(default)s)",
    )
    parser.add_argument(
        "--population",
        default=40,
        type=whole(4, 10_000),
        metavar="N",
        help="formulas in each generation (default: %(default)s)",
    )
    parser.add_argument(
        "--trials",
        default=20,
        type=whole(1, 10_000),
        metavar="N",
        help="playthroughs of each player (default: %(default)s)",
    )
    parser.add_argument(
        "--iterations",
        default=1000,
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations per playthrough (default: %(default)s)",
    )
    options.add_jobs(parser)
    parser.add_argument(
        "--seed",
        default=1,
        type=whole(0, options.SEEDS),
        metavar="N",
        help="seed of all random choices (default: %(default)s)",
    )
    options.add_out(parser, "folder for everything (default: runs/demo)")
    options.add_game(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Evolve a policy, show it, and playtest it."""
    out = args.out or Path("runs") / "demo"
    game = option_values.game_of(args)
    outcome = _evolved(args, game, out)
    if outcome.interrupted or outcome.policy is None:
        return evolution_output.finish(outcome, game, args.persona)
    from persona_evo.api import load_policy

    policy = load_policy(outcome.policy, game.name)
    say(f"the formula that was found (utility {policy.mean:.3f} on fresh seeds):\n\n  {policy.best}\n")
    for line in aligned(policy.metrics):
        say(line)
    note(f"\n2. playtesting {UNSEEN}, which the evolution has not seen, {counted(args.trials, 'trial')} each")
    return _playtest(args, game, policy, outcome.policy, out / f"playtest-{outcome.folder.name}")


def _evolved(args: argparse.Namespace, game: Game, out: Path) -> Outcome:
    """Evolve a policy for the persona on the training levels."""
    from dataclasses import replace

    from persona_evo.api import EvolutionSettings
    from persona_evo.api.evolution import EvolutionRequest, evolve_runs
    from persona_evo.jobs.workers import Workers
    from persona_evo.personas import load

    persona = load(args.persona, game)
    settings = EvolutionSettings.modern(
        generations=args.generations,
        population=args.population,
        islands=4 if args.population % 4 == 0 else 1,
        elites=1,
        migrants=1,
        first=(),
        final_trials=10,
        final_candidates=5,
    )
    note(f"about three minutes on two idle cores, longer on a busy machine; everything is kept in {out}\n")
    note(
        f"1. evolving a tree policy for the {persona.title or persona.name} ({persona.utility.text}) on "
        f"{', '.join(TRAINING)}, seed {args.seed}"
    )
    request = EvolutionRequest(settings, args.seed, args.iterations)
    with Workers(option_values.jobs_of(args)) as workers:
        task = replace(request.task(persona, TRAINING, workers, game=game), held_out=None)  # the playtest compares
        return evolve_runs(task, root=out, workers=workers, progress=evolution_output.teller())[0]


def _playtest(args: argparse.Namespace, game: Game, policy: Policy, file: Path, folder: Path) -> int:
    """Playtest a policy against UCB1 and write the report.

    Args:
        file: the file of the policy.
    """
    from persona_evo.api import load_persona, player, playtest_levels
    from persona_evo.api.players import with_baseline
    from persona_evo.games.commands import command
    from persona_evo.jobs.workers import Workers
    from persona_evo.report.text import summary_text

    persona = load_persona(args.persona, game)
    label = f"{persona.name}/ucb1"
    own, baseline = player(persona, policy, persona.name, label), player(persona, "ucb1", label)
    with Workers(option_values.jobs_of(args)) as workers:
        results = playtest_levels(
            UNSEEN,
            with_baseline(own, baseline, True, note),
            trials=args.trials,
            iterations=args.iterations,
            seed=args.seed,
            folder=folder,
            bound_seconds=3.0,
            progress=playtest.tell_playthroughs(),
            workers=workers,
        )
        if not results.complete:
            return playtest.interrupted(results)
        line = StatusLine()
        results.look(lambda done, total: line.show(f"level analysis: {done}/{total}", last=done == total), workers)
        page = results.write(folder, workers=workers, progress=line.show)
    StatusLine.done_with_line()
    say("\n" + summary_text(results.analysis))
    say(f"\npictures and the whole report: {page}")
    say(f"policy: {file}")
    next_step = ("playtest", "YOUR_LEVELS", "--personas", args.persona, "--policy", file, "--baseline", "ucb1")
    say(f"next: {command(game, *next_step)}")
    return 0
