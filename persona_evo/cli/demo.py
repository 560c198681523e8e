"""`persona-evo demo`: the main job in small, in under three minutes on two cores.

Evolves a tree policy for one persona on a few of the shipped training levels, prints the formula, playtests a level
that the evolution has not seen against UCB1, and writes a page with pictures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from persona_evo.cli import evolution_output, option_values, options, playtest
from persona_evo.cli.parser import Commands, filled, whole
from persona_evo.cli.players import with_baseline
from persona_evo.cli.say import note, say
from persona_evo.words import counted

TRAINING = ("train01", "train02", "train03")
UNSEEN = "test01"


def add(commands: Commands) -> None:
    """The command's options."""
    parser = commands.add_parser("demo", description=__doc__)
    parser.add_argument(
        "--persona",
        default="monster_killer",
        type=filled,
        metavar="PERSONA",
        help="whom to evolve a policy for (default: %(default)s)",
    )
    parser.add_argument("--generations", default=8, type=whole(1, 1000), metavar="N", help="(default: %(default)s)")
    parser.add_argument("--population", default=40, type=whole(4, 10_000), metavar="N", help="(default: %(default)s)")
    parser.add_argument("--trials", default=20, type=whole(1, 10_000), metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--iterations",
        default=1000,
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations a playthrough (default: %(default)s)",
    )
    options.add_jobs(parser)
    parser.add_argument("--seed", default=1, type=whole(0, options.SEEDS), metavar="N", help="(default: %(default)s)")
    options.add_out(parser, "folder for everything (default: runs/demo)")
    options.add_game(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Evolve, show, playtest, report."""
    from persona_evo.personas import load

    out = args.out or Path("runs") / "demo"
    game = option_values.game_of(args)
    persona = load(args.persona, game)
    jobs = option_values.jobs_of(args)
    from persona_evo.api.naming import TOLERANCE, load_policy, player, rules_of_search
    from persona_evo.api.results import add_bounds, as_results
    from persona_evo.evolve.driving import INTERRUPTED
    from persona_evo.evolve.run import evolve as evolve_policy
    from persona_evo.evolve.settings import EvolutionSettings
    from persona_evo.evolve.task import EvolutionTask
    from persona_evo.games import mapsets, registry
    from persona_evo.games.commands import command
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest import batch
    from persona_evo.report.text import summary_text
    from persona_evo.search.settings import Budget

    islands = 4 if args.population % 4 == 0 else 1
    settings = EvolutionSettings.modern(
        generations=args.generations,
        population=args.population,
        islands=islands,
        elites=1,
        migrants=1,
        first=(),
        final_trials=10,
        final_candidates=5,
    )
    note(
        f"1. evolving a tree policy for the {persona.title or persona.name} ({persona.utility.text}) on "
        f"{', '.join(TRAINING)}, seed {args.seed}"
    )
    levels, budget = mapsets.resolve(game, TRAINING), Budget(args.iterations)
    task = EvolutionTask(game, persona, levels, settings, args.seed, budget=budget, game_name=registry.address(game))
    outcome = evolve_policy(task, root=out, jobs=jobs, progress=evolution_output.teller())
    if outcome.status == INTERRUPTED or outcome.policy is None:
        return evolution_output.finish(outcome, game, args.persona)
    policy = load_policy(outcome.policy, game.name)
    say(f"the formula that was found (utility {policy.mean:.3f} on fresh seeds):\n\n  {policy.best}\n")
    for symbol, meaning in policy.metrics.items():
        say(f"  {symbol:<5} {meaning}")
    note(f"\n2. playtesting {UNSEEN}, which the evolution has not seen, {counted(args.trials, 'trial')} each")
    label = f"{persona.name}/ucb1"
    own, baseline = player(persona, policy, persona.name, label), player(persona, "ucb1", label)
    players = with_baseline(own, baseline, mean=True)
    folder = out / f"playtest-{outcome.folder.name}"
    with Workers(jobs) as workers:
        results = as_results(
            batch.playtest(
                game,
                mapsets.resolve(game, [UNSEEN]),
                players,
                args.trials,
                seed=args.seed,
                budget=Budget(args.iterations),
                settings=rules_of_search("anytime", game, usual=TOLERANCE),
                workers=workers,
                folder=folder,
                progress=playtest.teller(),
                game_name=registry.address(game),
            )
        )
        if not results.complete:
            return playtest.interrupted(results)
        add_bounds(results, 3.0, game_name=registry.address(game), workers=workers)
        results.look(workers=workers)
        page = results.write(folder, workers=workers)
    say("\n" + summary_text(results.analysis))
    say(f"\npictures and the whole report: {page}")
    say(f"policy: {outcome.policy}")
    again = ("playtest", "YOUR_LEVELS", "--personas", args.persona, "--policy", outcome.policy, "--baseline", "ucb1")
    say(f"next: {command(game, *again)}")
    return 0
