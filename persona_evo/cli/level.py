"""`persona-evo level check|list`: levels as files."""

from __future__ import annotations

import argparse
from typing import Any

from persona_evo.cli import options
from persona_evo.cli.parser import filled
from persona_evo.cli.say import note, say
from persona_evo.errors import LevelError


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("level", help="check and list levels", description=__doc__)
    parts = parser.add_subparsers(dest="command_level", metavar="check|list", required=True)
    check = parts.add_parser("check", help="read levels, say what is wrong, and what they are made of")
    check.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    options.add_level_options(check)
    check.set_defaults(run=run_check)
    listing = parts.add_parser("list", help="the levels and sets that ship with a game")
    options.add_game(listing)
    listing.set_defaults(run=run_list)


def run_check(args: argparse.Namespace) -> int:
    """Read every level, also after a wrong one; exit code 2 if one is wrong."""
    from persona_evo.games import mapsets
    from persona_evo.report.tables import Table

    game = options.game_of(args)
    given = options.options_of(args, game)
    paths = mapsets.find(game, args.levels)
    rows: dict[str, dict[str, float]] = {}
    wrong = 0
    for name, path in zip(mapsets.level_names(paths), paths, strict=True):
        try:
            level = game.load(mapsets.read_text(path), name, str(path), **given)
        except LevelError as e:
            wrong += 1
            note(f"{name}: error: {e}")
            continue
        for warning in level.warnings:
            note(f"{name}: {warning}")
        rows[name] = game.structure(level) if game.structure else {}
    measures = list(dict.fromkeys(key for row in rows.values() for key in row))
    if measures:
        body = [[key, *(f"{row[key]:.4g}" if key in row else "–" for row in rows.values())] for key in measures]
        say(Table("structure", ["", *rows], body).render(_width()))
    say(f"{len(rows)} of {len(paths)} levels are fine" if wrong else f"{len(rows)} levels are fine")
    return 2 if wrong else 0


def run_list(args: argparse.Namespace) -> int:
    """Sets, then levels with a line on each."""
    from persona_evo.games import mapsets

    known = mapsets.shipped(options.game_of(args))
    for name, members in known.sets.items():
        say(f"{name}: {', '.join(members)}")
    for name, path in known.levels.items():
        say(f"{name:<8} {known.about.get(name, path)}")
    if not known.levels:
        note("no levels ship with this game: name files or folders")
    return 0


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
