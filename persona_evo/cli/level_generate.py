"""`persona-evo level generate`: generate levels from a seed and write them to files."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, names, path, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import LevelError, Place, SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.api.generating import Won
    from persona_evo.games.constraints import Constraints, Generator
    from persona_evo.games.core import Game

ABOUT = """\
Generate levels from a seed, each in a file of its own. The same seed gives the same levels. Every level passes the
level check, and the planner has won it; levels that it cannot win are replaced.

Constraints apply to the numbers that `level check --structure` shows. A range is A-B, A- (no upper limit), or A
(exactly A). Levels of different streams never coincide, whatever the seeds are: `evolve` trains on the stream train,
selects by validation, and reports results on held-out.
"""

SHORT = ("monsters", "treasures", "potions", "traps", "width", "height")
"""Numbers of the structure that have their own options."""
MOST = 1_000_000
DIGITS = 20
"""Largest number of digits in a number, leading zeros included."""
_RANGE = re.compile(r"(\d+)(?:(-)(\d+)?)?", re.ASCII)


def span(text: str) -> tuple[float, float]:
    """Read a range of whole numbers, such as 3-7, 3- or 3."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a range such as 3-7, 3- or 3, found {text!r}")
    low, dash, high = match.groups()
    if any(number is not None and (len(number) > DIGITS or int(number) > MOST) for number in (low, high)):
        raise argparse.ArgumentTypeError(f"expected whole numbers up to {MOST:,}, found {text[:60]!r}")
    last = float(high) if high else math.inf if dash else float(low)
    if last < float(low):
        raise argparse.ArgumentTypeError(f"expected the lower number first, as in {high}-{low}, found {text!r}")
    return float(low), last


def constraint(text: str) -> tuple[str, tuple[float, float]]:
    """Read NAME=RANGE."""
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise argparse.ArgumentTypeError(f"expected NAME=RANGE, found {text!r}")
    return name.strip(), span(value)


def add(parts: Commands) -> None:
    """Add the command and its options."""
    parser = parts.add_parser("generate", help="generate sound, winnable levels from a seed", description=ABOUT)
    parser.add_argument(
        "--count", type=whole(1, 10_000), default=10, metavar="N", help="number of levels (default: %(default)s)"
    )
    options.add_seed(parser)
    parser.add_argument(
        "--stream",
        choices=("train", "validation", "held-out"),
        default="train",
        help="the stream of levels (default: %(default)s)",
    )
    parser.add_argument(
        "--kinds",
        type=names,
        default=(),
        metavar="NAMES",
        help="kinds of levels, separated by commas; they take turns (default: all kinds that the game has)",
    )
    parser.add_argument(
        "--min-path", type=whole(0, MOST), metavar="N", help="minimum length of the shortest path to the end, in moves"
    )
    parser.add_argument(
        "--max-path", type=whole(0, MOST), metavar="N", help="maximum length of the shortest path to the end, in moves"
    )
    for name in SHORT:
        parser.add_argument(
            f"--{name}",
            type=span,
            metavar="A-B",
            help=f"range of the number of {name}"
            if name not in ("width", "height")
            else f"range of the level's {name}",
        )
    parser.add_argument(
        "--constraint",
        action="append",
        default=[],
        type=constraint,
        metavar="NAME=A-B",
        help="range of any other number of the level's structure; may be repeated",
    )
    parser.add_argument("--out", type=path, metavar="FOLDER", help="folder for the files (default: generated-SEED)")
    parser.add_argument("--force", action="store_true", help="overwrite files that hold something else")
    options.add_jobs(parser)
    options.add_level_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the levels, and describe each on one line."""
    from persona_evo.api.generating import each_level
    from persona_evo.games.commands import command
    from persona_evo.games.generating import generator

    game = option_values.game_of(args)
    drawn = generator(game)
    seed = option_values.seed_of(args)
    folder: Path = args.out or Path(f"generated-{seed}")
    note(f"seed {seed}, stream {args.stream}, kinds {', '.join(args.kinds or drawn.kinds)}")
    if drawn.from_seed:
        note(f"{game.title} makes its levels from a seed: each file holds a seed and a few settings")
    if not game.planned:
        note(f"levels of {game.title} are checked but not solved: nothing proves that they can be won")
    constraints = constraints_of(args, game)
    check_folder(folder)
    made, line = 0, StatusLine()

    def looking() -> None:
        if made < args.count:
            line.show(f"looking for level {made + 1:,} of {args.count:,} ...")

    looking()
    try:
        stream, given = args.stream.replace("-", " "), option_values.options_of(args, game)
        for won in each_level(game, args.count, seed, stream, option_values.jobs_of(args), constraints, given):
            write(folder / f"{won.level.name}{game.level_suffixes[0]}", won.level.text, args.force)
            StatusLine.done_with_line()
            say(f"{won.level.name}: {in_words(won, game, drawn)}")
            made += 1
            looking()
    except KeyboardInterrupt:
        note(
            f"stopped: {made} of {counted(args.count, 'level')} {plural(made, 'is', 'are')} in {folder}; "
            f"the same command with  --seed {seed}  writes them all"
        )
        raise
    say(f"{counted(made, 'level')} in {folder}")
    say(f"next: {command(game, 'level', 'check', folder)}")
    return 0


def constraints_of(args: argparse.Namespace, game: Game) -> Constraints:
    """Return the requested constraints.

    Raises:
        SettingsError: a path in a game without paths, an impossible path, or a number that is named twice.
    """
    from persona_evo.games.constraints import AllowedRange, Constraints

    spans: dict[str, AllowedRange] = {}
    given = [(name, getattr(args, name)) for name in SHORT if getattr(args, name) is not None]
    for name, (low, high) in [*given, *args.constraint]:
        if name in spans:
            raise SettingsError("a constraint is given twice", found=name, expected="one range for each number")
        spans[name] = AllowedRange(low, high)
    if args.min_path is not None or args.max_path is not None:
        from persona_evo.api.generating import path_between

        spans.update(path_between(game, args.min_path, args.max_path))
    return Constraints(tuple(args.kinds), spans)


def in_words(won: Won, game: Game, drawn: Generator) -> str:
    """Describe a level on one line."""
    numbers: Mapping[str, float] = game.structure(won.level.load(game)) if game.structure is not None else {}
    said = [f"{name} {numbers[name]:g}" for name in drawn.shown if name in numbers]
    return ", ".join([*said, *([f"won in {won.moves} moves"] if won.moves else [])])


def check_folder(folder: Path) -> None:
    """Check that files can be written into a folder, which need not exist yet.

    Raises:
        LevelError: files cannot be written.
    """
    import os

    place = folder.absolute()
    there = next(parent for parent in (place, *place.parents) if os.path.lexists(parent))
    if not there.is_dir():
        why = f"{there} is not a folder"
    elif not os.access(there, os.W_OK | os.X_OK):
        why = f"you may not write into {there}"
    else:
        return
    raise LevelError(
        "levels cannot be written there", place=Place(str(folder)), found=why, expected="another folder: --out FOLDER"
    )


def write(target: Path, text: str, force: bool) -> None:
    """Write a level, whole or not at all.

    Raises:
        LevelError: the file holds something else, or cannot be written.
    """
    from persona_evo.jobs.files import write_atomically

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_file() and not force and target.read_bytes() != text.encode():
            raise LevelError(
                "another file of this name exists",
                place=Place(str(target)),
                expected="another folder: --out FOLDER",
                hint="--force overwrites it",
            )
        write_atomically(target, text)
    except OSError as e:
        raise LevelError(
            "the level cannot be written",
            place=Place(str(target)),
            found=e.strerror or str(e),
            hint="choose another folder: --out FOLDER",
        ) from e
