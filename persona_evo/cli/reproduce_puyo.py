"""`persona-evo reproduce puyo`: the searches of Hanson and Moffat (AISB 2014), their figures 2 to 6 drawn anew."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from persona_evo.cli import options
from persona_evo.cli.parser import path, whole
from persona_evo.cli.say import Progress, compiling, note, say
from persona_evo.errors import SettingsError

FROZEN = ("games", "drops", "clock", "generations", "population", "iterations", "seed", "out")
"""Options that a resumed reproduction has from its folder."""


def add(studies: Any) -> None:
    """The study's options."""
    parser = studies.add_parser(
        "puyo", help="Monte Carlo search for Puyo-Puyo (Hanson and Moffat 2014)",
        description="Plays Puyo-Puyo with exhaustive, breadth-first, depth-first, random, Monte Carlo and tree search "
        "under depth limits and budgets, and writes figures 2 to 6 beside what the publication's prose says of them.",
    )  # fmt: skip
    parser.add_argument("--games", type=whole(1, 10), metavar="N", help="starting positions (default: 10)")
    parser.add_argument("--drops", type=whole(10, 150), metavar="N", help="of a game at most (default: 150)")
    parser.add_argument("--clock", type=whole(1, 1_000_000), metavar="N", help="drops that a search may make for each "
                        "free row, in figures 3 to 5 (default: 100)")
    parser.add_argument("--generations", type=whole(1, 1_000_000), metavar="N", help="of the persona's tree policy "
                        "(default: 20)")
    parser.add_argument("--population", type=whole(2, 1_000_000), metavar="N", help="(default: 60)")
    parser.add_argument("--iterations", type=whole(1, options.MOST_ITERATIONS), metavar="N",
                        help="of the search in the evolution (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="three short games, a small evolution: about a minute")
    options.add_jobs(parser)
    options.add_backend(parser)
    parser.add_argument("--seed", type=whole(0, options.SEEDS), metavar="N",
                        help="everything random follows from it (default: 1)")
    options.add_out(parser, "folder for everything (default: reproduction-puyo)")
    parser.add_argument("--resume", type=path, metavar="FOLDER", help="go on in this folder, with its settings")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play and report what is not there yet."""
    from persona_evo.playtest.reproduce import puyo
    from persona_evo.playtest.reproduce.puyo_cells import Settings
    from persona_evo.report import puyo as report

    if args.address is not None:
        raise SettingsError("--address is not for reproductions", expected="--backend loky, threading, dask or ray")
    options.check_backend(args)
    if args.resume is not None:
        for name in (*FROZEN, "quick"):
            if getattr(args, name) not in (None, False):
                raise SettingsError(f"--{name} does not go with --resume", expected="--jobs, --backend",
                                    hint="a reproduction has everything else from its folder")  # fmt: skip
        folder, settings = args.resume, puyo.reopen(args.resume)
    else:
        given = {name: getattr(args, name) for name in FROZEN if name != "out"}
        settings = Settings.of(quick=args.quick, **given)
        folder = args.out or Path("reproduction-puyo" + "-quick" * args.quick)
        note(f"reproducing puyo, seed {settings.seed}, into {folder}")
    compiling()
    line = Progress()
    try:
        material = puyo.run(folder, settings, jobs=options.jobs_of(args), backend=args.backend,
                            tell=lambda what, share: line.show(f"{share:.0%}: {what}"))  # fmt: skip
    except KeyboardInterrupt:
        note(f"stopped; everything up to here is kept in {folder}")
        note(f"go on with: persona-evo reproduce puyo --resume {folder}")
        return 130
    written = report.write(material, lambda text: line.show(f"drawing {text}"))
    Progress.done_with_line()
    say(written.text)
    say(f"\neverything is in {folder}, start with {written.page}")
    return 0
