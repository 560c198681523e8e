"""`persona-evo reproduce montecarlo`: the thesis' experiments on playstyles, designs and the search itself."""

from __future__ import annotations

import argparse

from persona_evo.api.studies import Study
from persona_evo.cli import option_values
from persona_evo.cli.parser import whole
from persona_evo.cli.say import StatusLine, note, teller
from persona_evo.studies.commands import add_running, begin, check_running, drawing, finished, seed_of, stopped
from persona_evo.words import counted, percent

FROZEN = ("replicates", "rollouts")
"""Options whose values a resumed reproduction takes from its folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's options to a parser."""
    parser.add_argument(
        "--replicates",
        type=whole(2, 10_000),
        metavar="N",
        help="number of searches of each combination (default: 20, as in the thesis)",
    )
    parser.add_argument(
        "--rollouts",
        type=whole(1, 100_000_000),
        metavar="N",
        help="rollouts of each search (default: 5000; the thesis: 30000)",
    )
    parser.add_argument("--quick", action="store_true", help="a quick look: 8 replicates of 600 rollouts")
    add_running(parser, "runs/reproduction-montecarlo", backend=False)


def run(args: argparse.Namespace) -> int:
    """Run the missing searches and write the report; return the exit code."""
    check_running(args, FROZEN)
    from persona_evo.studies.montecarlo import chapters as study
    from persona_evo.studies.montecarlo import report

    given = args.quick, args.replicates, args.rollouts, seed_of(args)
    folder, settings = begin(args, "montecarlo", study.reopen, lambda: study.settings_of(*given))
    note(f"{counted(settings.replicates, 'replicate')} of {counted(settings.rollouts, 'rollout')}")
    material = study.conduct(
        folder,
        settings,
        jobs=option_values.jobs_of(args),
        progress=teller(lambda p: f"{p.part}, {percent(p.share)}: {p.what}", " for it"),
    )
    StatusLine.done_with_line()
    if not material.complete:
        return stopped(args, folder)
    written = report.write(material, drawing())
    return finished(folder, written.text, written.page)


STUDY = Study(
    help="machine playtesting of designs and playstyles (Keehl 2018)",
    description="Searches It's Alive! and 2D Roguelike for the best score, as the thesis did: playstyles, designs, "
    "flat and factored actions, one and many workers, terminal treatment, UCT constants, forward only, high "
    "stakes. The page compares its findings with those here: direction, p, and reasons for differences.",
    add_arguments=add_arguments,
    run=run,
)
