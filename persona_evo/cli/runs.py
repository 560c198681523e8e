"""List, show, compare and delete the folders of evolutions, playtests, matches and experiments.

  persona-evo runs list                     all runs below runs/, the newest first
  persona-evo runs show latest              the results of the run that changed last
  persona-evo runs show RUN --trace 3       playthrough 3 of a playtest, move by move
  persona-evo runs show RUN --figures DIR   its charts and maps for a publication, as PDF, PNG or SVG
  persona-evo runs compare RUN RUN          show what changed between two playtests, or two evolutions
  persona-evo runs clean --older-than 30d   list the finished runs that would be deleted; --yes deletes them

RUN is a folder, a part of a folder's name that only one run has, or latest.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, path, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.jobs.windows import program
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.api import Results
    from persona_evo.store.folders import RunEntry

RUN = "a run's folder, a unique part of its name, or latest"


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("runs", description=__doc__)
    parts = parser.add_subparsers(dest="command_runs", metavar="list|show|compare|clean", required=True)
    listing = parts.add_parser("list", help="list all runs, newest first")
    add_roots(listing)
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=run_list)
    show = parts.add_parser(
        "show", help="show the results of a run or one of its playthroughs, or write its page again"
    )
    show.add_argument("name", type=filled, metavar="RUN", help=RUN)
    add_root(show)
    show.add_argument(
        "--trace",
        type=whole(1, 10**9),
        metavar="N",
        help="replay playthrough N of a playtest (from 1) as text, including the moves after the plan",
    )
    show.add_argument(
        "--gif", type=path, metavar="FILE", help="with --trace: write an animated picture instead of text"
    )
    show.add_argument("--page", action="store_true", help="rewrite the page of an evolution")
    show.add_argument(
        "--figures",
        type=path,
        metavar="FOLDER",
        help="write charts and maps for print into this folder, as wide as a column of a paper",
    )
    options.add_trust(show)
    show.add_argument(
        "--format", choices=("pdf", "png", "svg"), help="with --figures: format of the files (default: pdf)"
    )
    options.add_game(show)
    show.set_defaults(run=run_show)
    compare = parts.add_parser("compare", help="show what changed between two playtests, or two evolutions")
    compare.add_argument("a", type=filled, metavar="A", help=RUN)
    compare.add_argument("b", type=filled, metavar="B", help=RUN)
    add_root(compare)
    options.add_game(compare)
    compare.set_defaults(run=run_compare)
    clean = parts.add_parser("clean", help="list the finished runs that can be deleted; --yes deletes them")
    clean.add_argument(
        "names",
        nargs="*",
        type=filled,
        metavar="RUN",
        help="only these runs, even if they are unfinished (default: all finished runs)",
    )
    add_root(clean)
    clean.add_argument("--keep", type=whole(0, 10**6), metavar="N", help="keep the newest N runs of each kind")
    clean.add_argument(
        "--older-than",
        type=filled,
        metavar="TIME",
        help="only runs that have not changed for at least this long, such as 30d or 12h",
    )
    clean.add_argument("--yes", action="store_true", help="delete them; without this option, nothing is deleted")
    clean.set_defaults(run=run_clean)


def add_roots(parser: argparse.ArgumentParser) -> None:
    """Add ROOT..., the folders in which runs are searched for."""
    parser.add_argument(
        "roots", nargs="*", type=path, metavar="ROOT", help="folders to search for runs (default: runs)"
    )


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add --root."""
    parser.add_argument(
        "--root",
        action="append",
        type=path,
        metavar="FOLDER",
        help="folder to search for runs; may be repeated (default: runs)",
    )


def roots_of(given: Sequence[Path] | None) -> list[Path]:
    """Return the folders in which runs are searched for.

    Raises:
        RunError: a named one is not a folder.
    """
    from persona_evo.store.folders import ROOT

    for root in given or ():
        if not root.is_dir():
            raise RunError("there is no such folder", place=Place(str(root)), hint="check the spelling")
    return list(given or [ROOT])


def run_list(args: argparse.Namespace) -> int:
    """Print one line per run."""
    from persona_evo.report.run_tables import listing
    from persona_evo.store import folders

    roots = roots_of(args.roots)
    entries = folders.find(roots)
    if args.json:
        say(json.dumps({"schema": 1, "runs": [e.to_dict() for e in entries]}, ensure_ascii=False, indent=1))
        return 0
    if not entries:
        say(f"no runs in {', '.join(map(str, roots))}")
        return 0
    say(listing(entries))
    for entry in entries:
        if entry.problem:
            say(f"{entry.folder} cannot be read: {entry.problem}")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print a run's summary or a playthrough, or write its page or figures."""
    from persona_evo.report.run_tables import facts
    from persona_evo.store import folders

    if args.gif is not None and args.trace is None:
        raise SettingsError("--gif needs a playthrough", found=f"--gif {args.gif}", expected="--trace N beside it")
    options.check_gif(args.gif)
    if args.format is not None and args.figures is None:
        raise SettingsError(
            "--format needs figures", found=f"--format {args.format}", expected="--figures FOLDER beside it"
        )
    entry = readable(args.name, roots_of(args.root))
    options.accept(args, entry.folder)
    if args.figures is not None:
        return _figures(entry, args)
    if args.trace is not None:
        return _trace(entry, args)
    if args.page and entry.kind != "evolution":
        raise SettingsError(
            "only the page of an evolution can be written again",
            found=f"--page, {entry.kind}",
            hint=program("playtest", "--resume", entry.folder) if entry.kind == "playtest" else None,
        )
    say(facts(folders.deep(entry) if entry.state == "running" else entry))
    text = _found(entry, args)
    if text:
        say("\n" + text)
    page = entry.folder / "index.html"
    if page.is_file():
        say(f"\npage: {page}")
    return 0


def readable(name: str, roots: Sequence[Path]) -> RunEntry:
    """Return the run that a name stands for.

    Raises:
        RunError: there is no such run, there are several, or it is damaged.
    """
    from persona_evo.store import folders

    entry = folders.named(name, roots)
    if entry.problem:
        raise RunError("the run cannot be read", place=Place(str(entry.folder)), found=entry.problem)
    return entry


def _found(entry: RunEntry, args: argparse.Namespace) -> str:
    """Return the results of a run so far as text."""
    from persona_evo.report import run_tables

    if entry.kind in ("playtest", "watch"):
        if entry.done == 0:
            return "no playthroughs yet"
        from persona_evo.report.text import summary_text

        return summary_text(_playtest(entry, args).analysis)
    if entry.kind == "evolution":
        from persona_evo.report import evolution

        found = evolution.read(entry.folder)
        if args.page:
            note(f"wrote {evolution.write(found)}")
        return evolution.text(found)
    if entry.kind == "match":
        return run_tables.match(entry.folder)
    if entry.kind == "experiment":
        return run_tables.experiment(entry.folder)
    if entry.kind == "reproduction":
        return run_tables.parts(entry.folder)
    return ""


def _playtest(entry: RunEntry, args: argparse.Namespace) -> Results:
    """Return the results in a playtest's folder."""
    from persona_evo.api.runs import kept_playtest

    return kept_playtest(entry.folder, option_values.moved(args))


def _figures(entry: RunEntry, args: argparse.Namespace) -> int:
    """Draw a run's figures."""
    from persona_evo.api.runs import save_figures

    line = StatusLine()
    drawn = save_figures(
        entry.folder,
        args.figures,
        args.format or "pdf",
        game_name=option_values.moved(args),
        progress=lambda name: line.show(f"drawing {name}"),
    )
    for file in drawn:
        say(f"wrote {file}")
    return 0


def _trace(entry: RunEntry, args: argparse.Namespace) -> int:
    """Show a playthrough as text or as a GIF."""
    if entry.kind not in ("playtest", "watch"):
        hint = f"persona-evo {entry.kind} replay {entry.folder}" if entry.kind in ("match", "experiment") else None
        raise SettingsError(
            f"the {entry.kind} has no playthroughs", found=str(entry.folder), expected="a playtest", hint=hint
        )
    results = _playtest(entry, args)
    from persona_evo.api.runs import playthrough
    from persona_evo.games.outside import closing_outside
    from persona_evo.report import replay, replay_text

    record = playthrough(results, args.trace)
    game = results.game
    level = next(level for level in results.levels if level.name == record.level)
    if args.gif is None:
        with closing_outside(game):
            for line in replay_text.told(game, level, record):
                say(line)
        return 0
    with closing_outside(game):
        frames = replay.frames(game, level, record, whole=True)
    if frames is None:
        raise SettingsError(
            f"{game.title} does not draw its states",
            found=f"--gif {args.gif}",
            expected="--trace alone, which plays it as text",
        )
    replay.save_gif(frames, args.gif)
    say(replay_text.heading(record))
    say(f"wrote {args.gif}")
    return 0


def run_compare(args: argparse.Namespace) -> int:
    """Print the differences between two runs."""
    roots = roots_of(args.root)
    a, b = readable(args.a, roots), readable(args.b, roots)
    kinds = {"watch": "playtest"}
    pair = {kinds.get(e.kind, e.kind) for e in (a, b)}
    say(f"A = {a.folder}\nB = {b.folder}\n")
    if pair == {"playtest"}:
        first, second = _playtest(a, args), _playtest(b, args)
        from persona_evo.api.runs import compare_playtests
        from persona_evo.report.run_tables import changed

        say(changed(compare_playtests(first, second)))
        return 0
    if pair == {"evolution"}:
        from persona_evo.report import evolution

        say(evolution.compared(evolution.read(a.folder), evolution.read(b.folder)))
        return 0
    raise SettingsError(
        "these runs cannot be compared",
        found=f"a run of the kind {a.kind} and one of {b.kind}",
        expected="two playtests, or two evolutions",
    )


def run_clean(args: argparse.Namespace) -> int:
    """List the runs that can be deleted, and with --yes delete them."""
    from persona_evo.jobs.deadline import duration
    from persona_evo.report.run_tables import size
    from persona_evo.store import cleaning, folders

    roots = roots_of(args.root)
    least = duration(args.older_than) if args.older_than else 0.0
    named = {entry.folder.resolve(): entry for entry in (readable(name, roots) for name in args.names)}
    entries = sorted(named.values(), key=folders.newest, reverse=True) or folders.find(roots)
    gone, kept = cleaning.choose(entries, named=bool(args.names), keep=args.keep or 0, older=least)
    label = "deleted" if args.yes else "would be deleted"
    for entry, why in kept:
        say(f"{'kept':<{len(label)}} {entry.folder}  {why}")
    for entry in gone:
        if args.yes:
            cleaning.delete(entry, is_named=bool(args.names))
        say(f"{label} {entry.folder}  {entry.kind}, {size(entry.size)}")
    total = size(sum(e.size for e in gone))
    said = "deleted" if args.yes else "can be deleted"
    say(f"{counted(len(gone), 'run')} of {len(entries)} {said}, {total}")
    if gone and not args.yes:
        note("nothing was deleted; --yes deletes them")
    return 0
