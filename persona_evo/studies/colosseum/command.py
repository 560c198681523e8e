"""`persona-evo reproduce colosseum`: the agents of two students' reports, against each other and part by part."""

from __future__ import annotations

import argparse

from persona_evo.api.studies import Study
from persona_evo.cli import option_values
from persona_evo.cli.parser import number, whole
from persona_evo.cli.say import StatusLine, teller
from persona_evo.studies.commands import add_running, begin, check_running, drawing, finished, stopped
from persona_evo.words import plural

FROZEN = ("games", "iterations", "seconds")
"""Options whose values a resumed reproduction takes from its folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's options to a parser."""
    parser.add_argument(
        "--games",
        type=whole(2, 10_000),
        metavar="N",
        help="games of each pair in the round robin, an even number; pairs that are studied on their own "
        "play twice as many (default: 50)",
    )
    parser.add_argument(
        "--iterations",
        type=whole(10, 10_000_000),
        metavar="N",
        help="iterations per move on 6 x 6, and a tenth of them on 12 x 12 (default: 600, the number of "
        "nodes in the second report)",
    )
    parser.add_argument(
        "--seconds",
        type=number(0, 3600, above=True),
        metavar="S",
        help="seconds per move in table 1, with two games on each board (default: 1.8)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a quick look: four games of each pair, 100 iterations per move; takes about a minute",
    )
    add_running(parser, "runs/reproduction-colosseum")


def run(args: argparse.Namespace) -> int:
    """Play the missing games and write the report; return the exit code."""
    check_running(args, FROZEN)
    from persona_evo.studies.colosseum import matches as colosseum
    from persona_evo.studies.colosseum import report

    given = {name: getattr(args, name) for name in ("quick", "seed", *FROZEN)}
    folder, settings = begin(args, "colosseum", colosseum.reopen, lambda: colosseum.ColosseumSettings.of(**given))
    material = colosseum.run(
        folder,
        settings,
        jobs=option_values.jobs_of(args),
        backend=args.backend,
        tell=teller(lambda p: f"{p.done}/{p.total} {plural(p.total, 'game')}: {p.what}"),
    )
    StatusLine.done_with_line()
    if not material.complete:
        return stopped(args, folder)
    written = report.write(material, drawing())
    return finished(folder, written.text, written.page)


STUDY = Study(
    help="two students' agents for Colosseum Survival! (McGill, COMP 424, 2023)",
    description="Plays Colosseum Survival! with the agents of two reports: breadth and depth of trees by board, "
    "all agents against the random agent and each other, with and without each heuristic, for many values of c, with "
    "RAVE, and with random games that end early. The page compares the results with the reports. About 15 minutes on "
    "two cores.",
    add_arguments=add_arguments,
    run=run,
)
