"""`persona-evo reproduce puyo`: the searches of Hanson and Moffat (AISB 2014), their figures 2 to 6 drawn anew."""

from __future__ import annotations

import argparse

from persona_evo.api.studies import Study
from persona_evo.cli import option_values, options
from persona_evo.cli.parser import whole
from persona_evo.cli.say import StatusLine
from persona_evo.studies.commands import add_running, begin, check_running, drawing, finished, stopped
from persona_evo.words import percent

FROZEN = ("games", "drops", "clock", "generations", "population", "iterations")
"""Options whose values a resumed reproduction takes from its folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's options to a parser."""
    parser.add_argument("--games", type=whole(1, 10), metavar="N", help="number of starting positions (default: 10)")
    parser.add_argument(
        "--drops", type=whole(10, 150), metavar="N", help="maximum number of moves of a game (default: 150)"
    )
    parser.add_argument(
        "--clock",
        type=whole(1, 1_000_000),
        metavar="N",
        help="drops that a search may make for each free row, in figures 3 to 5 (default: 100)",
    )
    parser.add_argument(
        "--generations",
        type=whole(1, 1_000_000),
        metavar="N",
        help="generations in the evolution of the persona's tree policy (default: 20)",
    )
    parser.add_argument(
        "--population", type=whole(2, 1_000_000), metavar="N", help="individuals of each generation (default: 60)"
    )
    parser.add_argument(
        "--iterations",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations per playthrough in the evolution (default: 2000)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a quick look: three short games and a small evolution; takes about a minute",
    )
    add_running(parser, "runs/reproduction-puyo")


def run(args: argparse.Namespace) -> int:
    """Play the missing games and write the report; return the exit code."""
    check_running(args, FROZEN)
    from persona_evo.studies.puyo import games as puyo
    from persona_evo.studies.puyo import report
    from persona_evo.studies.puyo.cells import PuyoSettings

    given = {name: getattr(args, name) for name in ("quick", "seed", *FROZEN)}
    folder, settings = begin(args, "puyo", puyo.reopen, lambda: PuyoSettings.of(**given))
    line = StatusLine()
    try:
        material = puyo.run(
            folder,
            settings,
            jobs=option_values.jobs_of(args),
            backend=args.backend,
            tell=lambda p: line.show(f"{percent(p.share)}: {p.what}"),
        )
    except KeyboardInterrupt:
        return stopped(args, folder)
    written = report.write(material, drawing())
    return finished(folder, written.text, written.page)


STUDY = Study(
    help="Monte Carlo search for Puyo-Puyo (Hanson and Moffat 2014)",
    description="Plays Puyo-Puyo with exhaustive, breadth-first, depth-first, random, Monte Carlo and tree search "
    "under depth limits and budgets, and writes figures 2 to 6 next to the publication's statements about them.",
    add_arguments=add_arguments,
    run=run,
)
