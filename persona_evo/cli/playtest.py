"""Let personas play levels many times, and report what that says about the levels."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import ci, option_values, options
from persona_evo.cli.parser import Commands, filled, number, path
from persona_evo.cli.playtest_options import (
    BOUND_SECONDS,
    FEWEST_LEVELS,
    REQUIREMENTS,
    SKILL_TABLE,
    add_playing,
)
from persona_evo.cli.say import StatusLine, note, say, teller
from persona_evo.errors import SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.api import Results
    from persona_evo.api.options import ExpectationOptions, PlayingOptions
    from persona_evo.games.core import Game
    from persona_evo.jobs.progress import Progress
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest.analysis import Analysis

ROOT = Path("runs") / "playtests"
"""The folder of playtests without a named folder."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("playtest", description=__doc__, epilog=f"{REQUIREMENTS}\n{SKILL_TABLE}")
    parser.add_argument("levels", nargs="*", type=filled, metavar="LEVEL", help=options.LEVELS)
    add_playing(parser)
    parser.add_argument(
        "--baseline",
        nargs="?",
        const="ucb1",
        type=filled,
        metavar="POLICY",
        help="each persona also plays by this policy, as a baseline for comparison (default: ucb1)",
    )
    parser.add_argument(
        "--calibrate",
        type=path,
        metavar="FILE",
        help="CSV file with the columns level and pass_rate (0.75 or 75%%); the report says how the players' "
        ""
        f"win rates correlate with these rates. At least {FEWEST_LEVELS} levels are needed",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        type=filled,
        metavar="REQUIREMENT",
        help="[PLAYER[@LEVEL].]MEASURE >= NUMBER, such as 'runner.win_rate >= 95%%'; the exit code is 1 if "
        "it fails; may be repeated (see below)",
    )
    options.add_accept(parser)
    options.add_watch(parser)
    parser.add_argument(
        "--bound-seconds",
        type=number(0, options.MOST_BOUND_SECONDS),
        default=BOUND_SECONDS,
        metavar="S",
        help="seconds to search for the best possible utility of each persona in each level, 0 for no search "
        "(default: %(default)s)",
    )
    ci.add(parser)
    parser.add_argument("--no-pictures", action="store_true", help="do not draw maps and replays")
    parser.add_argument(
        "--no-replays", action="store_true", help="do not draw replays, nor film strips of connected games"
    )
    options.add_out(
        parser,
        "folder for everything; one that holds the beginning of the same playtest is continued "
        "(default: a new one below runs/playtests/)",
    )
    parser.add_argument("--resume", type=path, metavar="FOLDER", help="continue the playtest in this folder")
    options.add_trust(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play, compute bounds, analyse, write and print; return 1 if a requirement fails."""
    options.check_backend(args)
    ci.check(args)
    with workers_of(args, len(args.levels)) as workers:
        return _run(args, workers)


def workers_of(args: argparse.Namespace, levels: int) -> Workers:
    """Return the workers for a number of levels or sets of levels."""
    return option_values.workers_of(
        args, "persona_evo.playtest.playing", option_values.thought(args, args.trials * levels)
    )


def _run(args: argparse.Namespace, workers: Workers) -> int:
    from persona_evo.api.playtests import playtest_levels, resume_playtest

    line = StatusLine()
    expected: ExpectationOptions = {
        "require": args.require,
        "calibrate": args.calibrate,
        "accept": args.accept,
        "bound_seconds": args.bound_seconds,
        "bound_progress": lambda done, total: line.show(f"limits: {done}/{total}", last=done == total),
    }
    if args.resume is not None:
        if args.levels or args.out is not None or args.skill or args.watch is not None:
            raise SettingsError(
                "levels, --out, --skill and --watch cannot be combined with --resume",
                hint="a resumed playtest takes what it plays from its folder",
            )
        options.accept(args, args.resume)
        moved = option_values.moved(args)
        results = resume_playtest(
            args.resume, game=moved, workers=workers, progress=tell_playthroughs(), notice=note, **expected
        )
        note(_sizes(results))
    else:
        if not args.levels:
            raise SettingsError(
                "no levels are named",
                expected="persona-evo playtest LEVELS..., or --resume FOLDER",
                hint="persona-evo level list shows those that ship",
            )
        game = option_values.game_of(args)
        players = option_values.players_of(args, game)
        levels = option_values.levels_of(args, game, args.levels)
        more = [f"and-{len(levels) - 1}-more"] if len(levels) > 1 else []
        folder = args.out or option_values.new_folder(ROOT, [levels[0].name, *more])
        search = option_values.search_options(args)
        with option_values.watching(args, game):
            results = playtest_levels(levels, players, **search, **playing(args, game, folder, workers), **expected)
    option_values.report_findings(results.game)
    if not results.complete:
        return interrupted(results, _wanted(args))
    results.command = option_values.typed(args, results.seed)
    return 0 if finish(args, results, workers).passed else 1


def playing(args: argparse.Namespace, game: Game, folder: Path, workers: Workers) -> PlayingOptions:
    """Return how much is played, and where it is kept, for `playtest_levels`."""
    return {
        "game": game,
        "trials": args.trials,
        "iterations": args.iterations,
        "seconds": args.seconds,
        "seed": args.seed,
        "continuation": args.continuation,
        "folder": folder,
        "workers": workers,
        "progress": tell_playthroughs(),
        "begun": _announce,
        "notice": note,
    }


def _announce(results: Results) -> None:
    """Print what is about to be played, and by whom."""
    note(f"{_sizes(results)}, into {results.folder}")
    if results.league is None:
        for text in results.unused_lists:
            note(text)
    elif results.league.opponents:
        note(f"against {', '.join(results.opponents)}")
        if results.unmet:
            note(results.unmet)
    else:
        who = results.movers
        note(f"{', '.join(who)} {plural(len(who), 'plays', 'play')} move by move")


def _sizes(results: Results) -> str:
    """Return the sizes of a playtest, the effort of its players unless it is played already, and its seed."""
    effort = [] if results.records else [results.effort]
    return ", ".join(
        [
            counted(len(results.players), "player"),
            counted(len(results.levels), "level"),
            counted(results.trials, "trial"),
            *effort,
            f"seed {results.seed}",
        ]
    )


def tell_playthroughs() -> Callable[[Progress], None]:
    """Return a function that shows the progress of the playthroughs."""
    return teller(lambda p: f"{p.done}/{p.total} {plural(p.total, 'playthrough')}, {p.what}")


def _wanted(args: argparse.Namespace) -> list[str]:
    """Return the options, as typed, for output that the folder does not record."""
    words = [f"--{name}" for name in ("no-pictures", "no-replays") if getattr(args, name.replace("-", "_"))]
    if args.bound_seconds != BOUND_SECONDS:
        words += ["--bound-seconds", f"{args.bound_seconds:g}"]
    words += ["--accept", str(args.accept)] if args.accept is not None else []
    words += [] if args.calibrate is None else ["--calibrate", str(args.calibrate)]
    return words + [word for text in args.require for word in ("--require", text)] + ci.words(args)


def interrupted(results: Results, wanted: Sequence[str] = ()) -> int:
    """Print what is kept after Ctrl-C, and how to continue; return the exit code.

    Args:
        wanted: further options for the command that continues.
    """
    from persona_evo.games.commands import command

    if results.folder is None:
        note(f"stopped after {counted(len(results.records), 'playthrough')}, not kept")
    else:
        note(f"stopped; kept in {results.folder}: {counted(len(results.records), 'playthrough')}")
        note(f"resume with: {command(results.game, 'playtest', '--resume', results.folder, *wanted)}")
    return 130


def finish(args: argparse.Namespace, results: Results, workers: Workers) -> Analysis:
    """Analyse the playthroughs, write the folder and print the summary."""
    from persona_evo.report.text import summary_text

    look = StatusLine()

    def tell(done: int, total: int) -> None:
        look.show(f"level analysis: {done}/{total}", last=done == total)

    results.look(None if results.game.outside is not None else tell, workers)
    line = StatusLine()
    line.show(f"analysing {counted(len(results.records), 'playthrough')}")
    analysis = results.analysis
    folder = results.folder or Path()
    page = results.write(
        folder,
        analysis=analysis,
        pictures=not args.no_pictures,
        replays=not args.no_replays,
        workers=workers,
        progress=line.show,
        missing=lambda text: note(f"note: {text}"),
    )
    StatusLine.done_with_line()
    say(summary_text(analysis))
    if ci.wanted(args):
        _write_ci(args, results, analysis, page)
    say(f"\nseed {results.seed}; everything is in {folder}, start with {page}")
    return analysis


def _write_ci(args: argparse.Namespace, results: Results, analysis: Analysis, page: Path) -> None:
    """Write the files of --junit and --summary. Levels are test cases if a requirement is on findings."""
    from persona_evo.report.ci import level_cases, requirement_cases

    cases = requirement_cases(analysis.checks)
    if results.counts_findings:
        cases += level_cases({level.name: level.source for level in results.levels}, analysis.findings)
    facts = {"page": str(page), "seed": str(results.seed), **({"command": results.command} if results.command else {})}
    ci.write(args, results.title, cases, analysis.checks, analysis.findings, facts)
