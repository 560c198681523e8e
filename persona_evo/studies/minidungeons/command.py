"""`persona-evo reproduce minidungeons`: reproduce the tables and figures of the paper on personas."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.api.studies import Reproduction, Study
from persona_evo.cli import option_values, options
from persona_evo.cli.parser import filled, number, whole
from persona_evo.cli.say import note, teller
from persona_evo.studies.commands import add_running, check_running, drawing, finished, seed_of, stopped
from persona_evo.words import percent

if TYPE_CHECKING:
    from persona_evo.report.figures import Drawing

FROZEN = (
    "protocol",
    "levels",
    "runs",
    "trials",
    "generations",
    "population",
    "iterations",
    "playtest_iterations",
    "bound_seconds",
)
"""Options whose values a resumed reproduction takes from its folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's options to a parser."""
    parser.add_argument(
        "--protocol", choices=("paper", "modern"), help="protocol of the evolution and the playtests (default: paper)"
    )
    parser.add_argument(
        "--levels",
        type=filled,
        metavar="DIR",
        help="folder with the paper's maps, map01 to map11 (default: levels of this project take their place)",
    )
    parser.add_argument(
        "--runs",
        type=whole(1, 1000),
        metavar="N",
        help="evolutions of each persona; the best one counts (default: 3)",
    )
    parser.add_argument(
        "--trials", type=whole(1, 100_000), metavar="N", help="playthroughs of each player in each map (default: 50)"
    )
    parser.add_argument(
        "--generations", type=whole(1, 1_000_000), metavar="N", help="generations of each evolution (default: 100)"
    )
    parser.add_argument(
        "--population", type=whole(2, 1_000_000), metavar="N", help="individuals of each generation (default: 100)"
    )
    parser.add_argument(
        "--iterations",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations per playthrough in the evolution (default: 10000)",
    )
    parser.add_argument(
        "--playtest-iterations",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations per playthrough in the playtests (default: 10000; 60000 with modern)",
    )
    parser.add_argument(
        "--bound-seconds",
        type=number(0, options.MOST_BOUND_SECONDS),
        metavar="S",
        help="seconds to search for the best plan of each persona in each level, if it is not known; the "
        "result depends on the machine unless it is proven (default: 10)",
    )
    parser.add_argument(
        "--cross",
        action="store_true",
        help="also make the cross tables: policies under other utilities, on other maps, and against more search",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a quick look with small budgets; takes about three minutes"
    )
    parser.add_argument(
        "--for",
        dest="for_",
        type=filled,
        metavar="TIME",
        help="time for this call, such as 8h; playtests and report have their part of it, and the evolutions share "
        "the rest. The next call continues those that ran out of time",
    )
    add_running(parser, "runs/reproduction-minidungeons-PROTOCOL, followed by the name of --levels if they are given")


def run(args: argparse.Namespace) -> int:
    """Run the missing evolutions and playthroughs and write the report; return the exit code."""
    check_running(args, (*FROZEN, "cross"), free="--for, ")
    from persona_evo.jobs.deadline import duration as seconds
    from persona_evo.studies.minidungeons import reproduction

    tell: dict[str, Any] = {
        "jobs": option_values.jobs_of(args),
        "backend": args.backend,
        "progress": teller(lambda p: f"{percent(p.share)}: {p.part}, {p.what}", " for everything"),
        "drawing": drawing(),
        "duration": None if args.for_ is None else seconds(args.for_),
    }
    if args.resume is not None:
        folder = args.resume
    else:
        protocol = args.protocol or "paper"
        folder = args.out or _folder(args, protocol)
        given = {name: getattr(args, name) for name in FROZEN if name not in ("protocol", "levels")}
        given["seed"] = seed_of(args)
    try:
        if args.resume is not None:
            done = reproduction.resume(folder, **tell)
        else:
            note(f"reproducing minidungeons, protocol {protocol}, seed {given['seed']}, into {folder}")
            done = reproduction.reproduce(
                protocol,
                args.levels,
                folder=folder,
                quick=args.quick,
                cross=args.cross,
                **given,
                **tell,
            )
    except KeyboardInterrupt:
        return stopped(args, folder)
    return finished(folder, str(done), done.page)


def _folder(args: argparse.Namespace, protocol: str) -> Path:
    """Return the folder of a reproduction if none is named."""
    from persona_evo.games import registry
    from persona_evo.studies.minidungeons import published, settings
    from persona_evo.studies.minidungeons.reproduction import NAME

    publication = published.load(NAME)
    levels = settings.levels_for(publication, registry.get(publication.game), args.levels)
    return settings.default_folder(NAME, protocol, args.levels, levels, args.quick)


def _reproduce(*choices: Any, **given: Any) -> Reproduction:
    from persona_evo.studies.minidungeons.reproduction import reproduce

    return reproduce(*choices, **given)


def _resume(folder: Path, **given: Any) -> Reproduction:
    from persona_evo.studies.minidungeons.reproduction import resume

    return resume(folder, **given)


def _drawings(folder: Path) -> Iterable[Drawing]:
    from persona_evo.studies.minidungeons import figures, settings, study_run

    return figures.drawings(study_run.StudyRun(folder, *settings.reopen(folder)).kept())


STUDY = Study(
    help="personas through MCTS with evolved heuristics (Holmgård et al. 2019)",
    description="Evolves the four personas' tree policies several times, plays all maps with the best of each and "
    "with UCB1, and writes tables II to IV, figures 3 to 6 and the correlations beside the paper's.",
    add_arguments=add_arguments,
    run=run,
    reproduce=_reproduce,
    resume=_resume,
    drawings=_drawings,
)
