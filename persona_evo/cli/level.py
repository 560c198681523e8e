"""`persona-evo level new|check|list`: levels as files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from persona_evo.cli import options
from persona_evo.cli.parser import filled
from persona_evo.cli.say import compiling_levels, note, say
from persona_evo.cli.starting import begun
from persona_evo.errors import LevelError
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Level

FORMAT = """\
Each game has a format of its own: `persona-evo level list --game GAME` says what stands in a level's file, and
`persona-evo level new NAME --game GAME` writes one to start from.
Sets of levels: a TOML file with arrays, such as  night = ["maps/a.txt", "train01"], named as FILE.toml#night.
"""


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("level", help="start, check and list levels", description=f"{__doc__}\n\n{FORMAT}")
    parts = parser.add_subparsers(dest="command_level", metavar="new|check|list", required=True)
    new = parts.add_parser("new", help="write a small level to start from, and say what its characters mean")
    options.add_new(new, "txt")
    new.set_defaults(run=run_new)
    check = parts.add_parser("check", help="read levels, say what is wrong, and what they are made of",
                             description=FORMAT)
    check.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    options.add_level_options(check)
    check.set_defaults(run=run_check)
    listing = parts.add_parser("list", help="the levels and sets that ship with a game, and the format of its levels")
    options.add_game(listing)
    listing.set_defaults(run=run_list)


def run_new(args: argparse.Namespace) -> int:
    """Write a level that can be played as it is, and say what its characters mean."""
    from persona_evo.games.commands import command
    from persona_evo.games.guides import guide

    game = options.game_of(args)
    words = guide(game)
    if not words.example:
        raise LevelError(
            f"{game.title} has no level to start from",
            hint="its levels are no files: they are named MAP:VARIANT@SEED" if game.outside is not None
            else "a level of a game of your own is a text that its from_text reads",
        )  # fmt: skip
    target = begun(args, "a level", game.level_suffixes[0], lambda _: words.example, LevelError, digits=True)
    say(f"wrote {target}\n\n{words.example}\n{words.legend}\n")
    say(f"next: edit it, then  {command(game, 'level', 'check', target)}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Read every level, also after a wrong one; exit code 2 if one is wrong."""
    from persona_evo.games import mapsets
    from persona_evo.games.guides import guide
    from persona_evo.report.tables import Table

    game = options.game_of(args)
    given = options.options_of(args, game)
    paths = mapsets.find(game, args.levels)
    rows: dict[str, dict[str, float]] = {}
    wrong = 0
    with compiling_levels(game):
        for name, file in zip(mapsets.level_names(paths), paths, strict=True):
            try:
                level = mapsets.load(game, file, name, given)
            except LevelError as e:
                wrong += 1
                note(f"{name}: error: {e}")
                continue
            for warning in (*level.warnings, *open_border(level)):
                note(f"{name}: {warning}")
            rows[name] = game.structure(level) if game.structure else {}
    measures = list(dict.fromkeys(key for row in rows.values() for key in row))
    if measures:
        said = guide(game).meanings
        body = [
            [key, *(f"{row[key]:.4g}" if key in row else "–" for row in rows.values()), said.get(key, "")]
            for key in measures
        ]
        say(Table("structure", ["", *rows, "meaning"], body, left=frozenset({len(rows) + 1})).render())
    fine = f"{counted(len(paths), 'level')} {'is' if len(paths) == 1 else 'are'} fine"
    say(f"{len(rows)} of {fine}" if wrong else fine)
    return 2 if wrong else 0


def run_list(args: argparse.Namespace) -> int:
    """Sets, then levels with a line on each, then the format of a level."""
    from persona_evo.games import mapsets
    from persona_evo.games.guides import guide

    game = options.game_of(args)
    known = mapsets.shipped(game)
    for name, members in known.sets.items():
        say(f"{name}: {', '.join(members)}")
    width = max(map(len, known.levels), default=0)
    for name in known.levels:
        say(f"{name:<{width}}  {known.about.get(name, '')}".rstrip())
    if legend := guide(game).legend:
        say(f"\n{legend}")
    if not known.levels and game.outside is not None:
        note("levels of a connected game are named MAP:VARIANT@SEED, each part of which may be left out")
    elif not known.levels:
        note("no levels ship with this game: name files or folders")
    return 0


def open_border(level: Level) -> list[str]:
    """A warning where floor lies at the edge of the board: allowed, and seldom meant."""
    grid: Any = level.facts.get("grid")
    if not all(hasattr(grid, name) for name in ("passable", "width", "height", "exit")):
        return []
    edge = [
        (x, y) for y in range(grid.height) for x in range(grid.width)
        if (x in (0, grid.width - 1) or y in (0, grid.height - 1)) and grid.passable(x, y) and (x, y) != grid.exit
    ]  # fmt: skip
    if not edge:
        return []
    spots = ", ".join(f"{y + 1}:{x + 1}" for x, y in edge[:5]) + (", ..." if len(edge) > 5 else "")
    return [f"no wall at the edge of the board: {counted(len(edge), 'tile')} (line:column {spots}); the edge stops "
            "movement as a wall does"]
