"""`persona-evo reproduce evolution`: compare evolved tree policies with policies found in other ways."""

from __future__ import annotations

import argparse

from persona_evo.api.studies import Study
from persona_evo.cli import option_values
from persona_evo.cli.parser import filled, path, whole
from persona_evo.cli.say import note, teller
from persona_evo.jobs.windows import program
from persona_evo.studies.commands import add_running, check_running, drawing, finished, stopped

FROZEN = ("setting", "persona", "runs", "playthroughs", "training", "held_out")
"""Options whose values a resumed study takes from its folder."""
SETTINGS = ("single", "planner-300", "planner-1000", "casual")
PERSONAS = ("runner", "monster_killer", "treasure_collector", "completionist")
STAGES = ("pools", "lines", "train", "measure", "budgets", "transfer", "report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's options to a parser."""
    parser.add_argument(
        "--stage",
        choices=STAGES,
        action="append",
        help="run only this stage; may be repeated (default: all, in this order)",
    )
    parser.add_argument(
        "--setting",
        choices=SETTINGS,
        action="append",
        help="the setting in which policies play; may be repeated (default: all)",
    )
    parser.add_argument(
        "--persona",
        choices=PERSONAS,
        action="append",
        help="the persona that policies are for; may be repeated (default: all)",
    )
    parser.add_argument(
        "--runs", type=whole(1, 1000), metavar="N", help="runs of each method, persona and setting (default: 20)"
    )
    parser.add_argument(
        "--playthroughs",
        type=whole(60, 10_000_000),
        metavar="N",
        help="playthroughs of each run (default: 16000 with a single list, 8000 and 18000 in the planner, 5000 "
        "from move to move)",
    )
    parser.add_argument(
        "--training", type=whole(1, 10_000), metavar="N", help="generated levels to train on (default: 1,000)"
    )
    parser.add_argument(
        "--held-out", type=whole(1, 10_000), metavar="N", help="generated levels to compare on (default: 500)"
    )
    parser.add_argument("--paper", type=filled, metavar="FOLDER", help="the paper's maps, for further comparisons")
    parser.add_argument(
        "--levels", type=filled, metavar="FOLDER", help="levels of other designers, for further comparisons"
    )
    parser.add_argument(
        "--long",
        type=path,
        metavar="FOLDER",
        help="folder with policies of long runs, SETTING-PERSONA.json, for further comparisons",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a quick look with tiny numbers; takes about three minutes, and longer the first time, when code is "
        "compiled",
    )
    parser.add_argument(
        "--for",
        dest="for_",
        type=filled,
        metavar="TIME",
        help="time for this call, such as 8h; the next call continues",
    )
    add_running(parser, "runs/reproduction-evolution")


def run(args: argparse.Namespace) -> int:
    """Run the missing parts and write the report; return the exit code."""
    check_running(args, FROZEN, free="--stage, --paper, --levels, --long, --for, ")
    from persona_evo.jobs.deadline import duration as seconds
    from persona_evo.studies.evolution import levels, report, study
    from persona_evo.studies.keeping import usual_folder
    from persona_evo.studies.time_limit import deadline

    if args.resume is not None:
        folder, settings = args.resume, study.reopen(args.resume)
    else:
        given = {name: getattr(args, name) for name in ("runs", "playthroughs", "training", "held_out", "seed")}
        folder = args.out or usual_folder("evolution", "quick" * args.quick)
        settings = study.settings_for(
            folder, quick=args.quick, chosen=args.setting or (), personas=args.persona or (), **given
        )
        note(f"the study of evolution, seed {settings.seed}, into {folder}")
    end = deadline(None if args.for_ is None else seconds(args.for_), report.seconds(folder))
    named = {
        name: levels.named(name, where)
        for name, where in ((levels.PAPER, args.paper), (levels.OTHERS, args.levels))
        if where is not None
    }
    try:
        late = study.run(
            folder,
            settings,
            args.stage or STAGES,
            named,
            jobs=option_values.jobs_of(args),
            backend=args.backend,
            end=end,
            tell=teller(lambda p: f"{p.part} {p.done}/{p.total}: {p.what}"),
            long=args.long,
        )
    except KeyboardInterrupt:
        return stopped(args, folder)
    if late:
        note(f"time ran out in stage {late}; everything that is finished is kept")
        note(f"resume with: {program('reproduce', 'evolution', '--resume', folder)}")
    if late == "pools":
        note("there is nothing to report before the levels exist")
    if late == "pools" or (args.stage and "report" not in args.stage):
        return 0
    written = report.write(folder, settings, drawing())
    return finished(folder, written.text, written.page)


STUDY = Study(
    help="what evolution is worth compared with other ways to get a tree policy",
    description="Evolves tree policies for the four personas on generated levels, many runs of each method with "
    "the same number of playthroughs, as well as random search, hill climbing, UCB1 and formulas written by hand, and "
    "compares them on levels that none of them has seen. This takes hours; every stage can be stopped, and "
    "resumes where it was.",
    add_arguments=add_arguments,
    run=run,
)
