"""Write a template for a game of your own, and check that a game follows the rules that the search relies on."""

from __future__ import annotations

import argparse
import time

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, path
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.cli.template_file import write_template
from persona_evo.errors import SettingsError
from persona_evo.jobs.windows import program
from persona_evo.words import counted

SILENT = 3.0
"""Seconds after which a check shows its progress."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("game", description=__doc__)
    parts = parser.add_subparsers(dest="command_game", metavar="new|check", required=True)
    new = parts.add_parser("new", help="write a small game in Python as a template")
    new.add_argument("name", type=filled, metavar="NAME", help="letters, digits and _")
    new.add_argument(
        "--compiled",
        action="store_true",
        help="add compiled rules to the class: more to write, but over fifty times faster",
    )
    new.add_argument("-o", "--out", type=path, metavar="FILE", help="file to write (default: NAME.py)")
    new.add_argument("--force", action="store_true", help="overwrite an existing file")
    new.set_defaults(run=run_new)
    check = parts.add_parser("check", help="check every state of random games")
    check.add_argument("game", type=filled, metavar="GAME", help="FILE.py, FILE.py:NAME, or a game of the catalog")
    check.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help="files, folders, or names of levels")
    check.add_argument(
        "--like",
        type=filled,
        metavar="GAME",
        help="compare with another game that must behave the same, such as the class that the compiled rules replace",
    )
    options.add_level_options(check)
    options.add_seed(check)
    check.set_defaults(run=run_check)


def run_new(args: argparse.Namespace) -> int:
    """Write a game."""
    from persona_evo.games.game_templates import LEVEL, class_file, compiled_file

    if "-" in args.name:
        raise SettingsError(
            "not a name for a game",
            found=repr(args.name),
            expected="letters, digits and _, so that Python can import it",
        )
    target = write_template(args, "a game", ".py", compiled_file if args.compiled else class_file, SettingsError)
    level = target.with_suffix(".txt")
    if not level.exists() or args.force:
        level.write_text(LEVEL, encoding="utf-8", newline="\n")
    like = ("--like", f"{target}:CLASS") if args.compiled else ()
    again = program("game", "check", target, level, *like)
    say(f"wrote {target} and a level, {level}; edit them, then  {again}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Check a game by itself, and compare it with another one if requested."""
    from persona_evo.games import registry
    from persona_evo.games.check import check_game
    from persona_evo.games.twins import check_rows, check_twins

    game = registry.get(args.game)
    levels, seed = option_values.levels_of(args, game, args.levels), option_values.seed_of(args)
    say(f"seed {seed}")
    check_rows(game, levels, seed)
    looked = check_game(game, levels, seed, progress=_Progress(), notice=lambda text: note(f"notice: {text}"))
    StatusLine.done_with_line()
    say(f"{game.title}: {counted(looked, 'state')} of random games on {counted(len(levels), 'level')}, nothing wrong")
    if args.like:
        other = registry.get(args.like)
        looked = check_twins(game, other, [(level.name, level.text) for level in levels], seed)
        say(f"the same game as {args.like}: {counted(looked, 'state')} compared")
    return 0


class _Progress:
    """Shows the progress of a check that takes more than a moment."""

    def __init__(self) -> None:
        self._line, self._from = StatusLine(), time.monotonic() + SILENT

    def __call__(self, text: str) -> None:
        if time.monotonic() >= self._from:
            self._line.show(text)
