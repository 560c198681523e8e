"""Level files of MiniDungeons 2: text to `DungeonLevel`, with every mistake told by its place.

The format has one character a tile (`LEGEND`), rows from top to bottom, columns from left to right. A level needs no
ring of walls: the edge of the board stops movement as a wall does. Line ends may be LF, CRLF or CR, a byte order mark
and empty lines at the end are dropped, a missing last newline is fine.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from persona_evo.errors import LevelError, Place
from persona_evo.words import counted

WALL, FLOOR, HERO, EXIT, PORTAL, ENTRANCE = "X", " ", "H", "e", "p", "E"

LEGEND = {
    WALL: "wall",
    FLOOR: "floor",
    HERO: "hero start",
    EXIT: "exit",
    "T": "treasure",
    "P": "potion",
    PORTAL: "portal",
    "t": "trap",
    "M": "goblin",
    "R": "goblin wizard",
    "o": "ogre",
    "b": "blob",
    "m": "minitaur",
    ENTRANCE: "entrance (read as floor)",
}
"""Every character of a level file, and its meaning."""

OBJECTS = "TPtpeMRobm"
"""The characters of `DungeonLevel.objects`: everything except walls, floor and the hero."""

MONSTERS = "MRobm"
"""The characters of monsters."""

MAX_SIDE = 200
"""The largest number of columns and of rows of a level."""

MAX_MONSTERS = 300
"""The largest number of monsters of a level."""

MAX_OBJECTS = 2000
"""The largest number of objects of a level: monsters, treasures, potions, traps, portals and the exit together."""

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The four moves N, E, S, W as (dx, dy); y grows downwards."""

ALLOWED = ", ".join(f"{'space' if c == FLOOR else repr(c)} {meaning}" for c, meaning in LEGEND.items())

MD1_ALPHABET = frozenset("#.EXrpm")
MD1_HINT = (
    "this looks like a MiniDungeons 1 file: its importer (md1.import_md1, used by all commands) "
    "reads it when the file has no 'H' and no 'e'"
)

LIKELY = {
    **dict.fromkeys("#xW█%", WALL),
    **dict.fromkeys("._-·,\u00a0\u3000", FLOOR),
    **dict.fromkeys("h@SA", HERO),
    **dict.fromkeys("<>FDd", EXIT),
    **dict.fromkeys("$r*C", "T"),
    **dict.fromkeys("!+", "P"),
    **dict.fromkeys("^v", "t"),
    **dict.fromkeys("GgK", "M"),
    **dict.fromkeys("wZ", "R"),
    **dict.fromkeys("O0", "o"),
    **dict.fromkeys("BsQ", "b"),
    **dict.fromkeys("n", "m"),
}
"""What a user probably meant by a character that is not in the legend."""


@dataclass(frozen=True)
class DungeonLevel:
    """A level as read; all positions are (x, y) from the top left, starting at 0.

    Attributes:
        rows: `height` strings of `width` characters of the legend, entrances replaced by floor.
        portals: the pair's positions in row-major order; empty without portals.
        objects: (character, x, y) of everything in `OBJECTS`, row-major, which is the order in which monsters act.
    """

    name: str
    width: int
    height: int
    rows: tuple[str, ...]
    hero: tuple[int, int]
    exit: tuple[int, int]
    portals: tuple[tuple[int, int], ...]
    objects: tuple[tuple[str, int, int], ...]
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the level as a file, which reads back to the same grid."""
        return "\n".join(self.rows) + "\n"

    def passable(self, x: int, y: int) -> bool:
        """Return whether (x, y) is on the board and not a wall."""
        return 0 <= x < self.width and 0 <= y < self.height and self.rows[y][x] != WALL

    def neighbours(self, x: int, y: int) -> Iterator[tuple[int, int]]:
        """Yield the passable tiles beside (x, y), in the order N, E, S, W; portals are not followed."""
        for dx, dy in STEPS:
            if self.passable(x + dx, y + dy):
                yield x + dx, y + dy

    def positions(self, char: str) -> list[tuple[int, int]]:
        """Return the positions of the objects with this character, row-major."""
        return [(x, y) for c, x, y in self.objects if c == char]


def distances(grid: DungeonLevel, start: tuple[int, int], portals: bool) -> dict[tuple[int, int], int]:
    """Return the least number of moves from `start` to every tile on which the hero can stand, ignoring monsters.

    With `portals`, a move onto a portal ends on the other one at once, as in the game; without, portals are floor.
    """
    jump = dict(zip(grid.portals, reversed(grid.portals), strict=True)) if portals else {}
    found = {start: 0}
    queue = [start]
    for tile in queue:
        for step in grid.neighbours(*tile):
            there = jump.get(step, step)
            if there not in found:
                found[there] = found[tile] + 1
                queue.append(there)
    return found


def split_rows(text: str, source: str) -> list[str]:
    """Split a level text into rows, without line ends, byte order mark and empty lines at the end.

    Raises:
        LevelError: nothing is left, or a row contains a tab.
    """
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while rows and not rows[-1]:
        rows.pop()
    if not "".join(rows).strip():
        raise LevelError(
            "the level is empty",
            place=Place(source, 1, 1),
            expected="one row of characters a line",
            hint="draw walls with 'X', the hero's start with 'H' and the exit with 'e'",
        )
    for number, row in enumerate(rows, 1):
        if "\t" in row:
            raise LevelError(
                "the level contains a tab",
                place=Place(source, number, row.index("\t") + 1),
                found="tab character",
                expected="one character per tile: " + ALLOWED,
                hint="make the editor insert spaces; a floor tile is exactly one space",
            )
    return rows


def check_shape(rows: list[str], source: str, floor: str = FLOOR) -> int:
    """Return the width that all rows have.

    Raises:
        LevelError: rows differ in length (the most common length counts as right), or the board is too large.
    """
    counts = Counter(len(row) for row in rows)
    width = max(counts, key=lambda length: (counts[length], length))
    for number, row in enumerate(rows, 1):
        missing = width - len(row)
        if missing > 0:
            spaces = " (many editors strip trailing spaces: each is a floor tile)" if floor == FLOOR else ""
            raise LevelError(
                f"row {number} is too short: {counted(missing, 'character')} {'is' if missing == 1 else 'are'} missing",
                place=Place(source, number, len(row) + 1),
                found=counted(len(row), "character"),
                expected=f"{counted(width, 'character')}, like {counts[width]} of the {len(rows)} rows",
                hint=f"pad the row with {'spaces' if floor == FLOOR else repr(floor)} or walls{spaces}",
            )
        if missing < 0:
            raise LevelError(
                f"row {number} is too long: {counted(-missing, 'character')} too many",
                place=Place(source, number, width + 1),
                found=f"{counted(len(row), 'character')}, {row[width:]!r} beyond the others",
                expected=f"{counted(width, 'character')}, like {counts[width]} of the {len(rows)} rows",
                hint="rows must be equally long; look for trailing spaces here, or for stripped ones in the other rows",
            )
    for size, what, place in (
        (width, "wide", Place(source, 1, MAX_SIDE + 1)),
        (len(rows), "high", Place(source, MAX_SIDE + 1, 1)),
    ):
        if size > MAX_SIDE:
            raise LevelError(
                f"the level is too {what}",
                place=place,
                found=f"{counted(size, 'tile')} {what}",
                expected=f"at most {MAX_SIDE} (MAX_SIDE)",
                hint="divide it into several levels",
            )
    return width


def looks_like_md1(rows: list[str]) -> bool:
    """Return whether rows use the characters of MiniDungeons 1, without a hero or an exit of MiniDungeons 2."""
    counts = Counter("".join(rows))
    if counts[HERO] or counts[EXIT] or not counts["#"] + counts["."] + counts["r"]:
        return False
    strange = sum(n for c, n in counts.items() if c not in MD1_ALPHABET)
    return strange <= sum(counts.values()) // 4


def show(char: str) -> str:
    """Return a character for a message; invisible ones with their code point."""
    return repr(char) if char.isprintable() else f"{char!r} (U+{ord(char):04X})"


def parse(text: str, name: str, source: str, allow_unreachable: bool = False) -> DungeonLevel:
    """Read a level.

    Args:
        text: the file's content.
        name: what results call the level.
        source: the file, for messages.
        allow_unreachable: an exit that cannot be reached is a warning of the grid instead of an error.

    Raises:
        LevelError: the text is wrong; the error has line and column, what is there, what is allowed and what to do.
    """
    rows = split_rows(text, source)
    _check_characters(rows, source)
    width = check_shape(rows, source)
    warnings = [
        f"{Place(source, y, x)}: 'E' (a separate entrance) is read as floor; the hero starts at 'H'"
        for y, row in enumerate(rows, 1)
        for x, char in enumerate(row, 1)
        if char == ENTRANCE
    ]
    rows = [row.replace(ENTRANCE, FLOOR) for row in rows]
    objects = tuple((c, x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c in OBJECTS)
    hero = _single(rows, HERO, "hero start", source, entrance=bool(warnings))
    goal = _single(rows, EXIT, "exit", source)
    portals = _portals(rows, source)
    _check_limits(objects, source)
    grid = DungeonLevel(name, width, len(rows), tuple(rows), hero, goal, portals, objects, tuple(warnings))
    return _check_way(grid, source, allow_unreachable)


def read(path: str | os.PathLike[str], allow_unreachable: bool = False) -> DungeonLevel:
    """Read a level file; the level is named after the file.

    Raises:
        LevelError: the file is missing, a folder, unreadable, not UTF-8 text, or not a level.
    """
    from persona_evo.games.mapsets import read_text

    return parse(read_text(Path(path)), Path(path).stem, str(path), allow_unreachable)


def _check_characters(rows: list[str], source: str) -> None:
    known = set(LEGEND)
    for y, row in enumerate(rows, 1):
        if set(row) <= known:
            continue
        x, char = next((x, c) for x, c in enumerate(row, 1) if c not in known)
        likely = LIKELY.get(char)
        hint = f"did you mean {'a space' if likely == FLOOR else repr(likely)} ({LEGEND[likely]})?" if likely else None
        if looks_like_md1(rows):
            hint = "; ".join(filter(None, (hint, MD1_HINT)))
        raise LevelError(
            f"unknown character {show(char)}",
            place=Place(source, y, x),
            found=show(char),
            expected=ALLOWED,
            hint=hint or "use a character of the legend",
        )


def _places(rows: list[str], char: str) -> list[tuple[int, int]]:
    return [(x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c == char]


def _single(rows: list[str], char: str, what: str, source: str, entrance: bool = False) -> tuple[int, int]:
    places = _places(rows, char)
    if len(places) == 1:
        return places[0]
    if not places:
        extra = "; 'E' is not the hero's start here" if entrance else ""
        raise LevelError(
            f"the level has no {what}",
            place=Place(source, 1, 1),
            found=f"no {char!r} in {len(rows)} row{'s' if len(rows) > 1 else ''}",
            expected=f"exactly one {char!r}",
            hint=f"put {char!r} on a floor tile{extra}",
        )
    _too_many(places, char, what, source, "exactly one", f"keep one {char!r} and make the others floor (space)")


def _too_many(places: list[tuple[int, int]], char: str, what: str, source: str, expected: str, hint: str) -> NoReturn:
    shown = ", ".join(f"{y + 1}:{x + 1}" for x, y in places[:5]) + (", ..." if len(places) > 5 else "")
    surplus = places[2] if char == PORTAL and len(places) > 2 else places[-1] if char == PORTAL else places[1]
    raise LevelError(
        f"the level has {len(places)} {what}{'s' if len(places) > 1 else ''}",
        place=Place(source, surplus[1] + 1, surplus[0] + 1),
        found=f"{char!r} at line:column {shown}",
        expected=f"{expected} {char!r}",
        hint=hint,
    )


def _portals(rows: list[str], source: str) -> tuple[tuple[int, int], ...]:
    places = _places(rows, PORTAL)
    if len(places) in (0, 2):
        return tuple(places)
    hint = "add the portal's partner, or remove it" if len(places) == 1 else "a level has one pair: keep two"
    _too_many(places, PORTAL, "portal", source, "none or two", hint)


def _check_limits(objects: tuple[tuple[str, int, int], ...], source: str) -> None:
    monsters = [o for o in objects if o[0] in MONSTERS]
    for items, limit, what, constant in (
        (monsters, MAX_MONSTERS, "monsters", "MAX_MONSTERS"),
        (list(objects), MAX_OBJECTS, "objects", "MAX_OBJECTS"),
    ):
        if len(items) > limit:
            char, x, y = items[limit]
            raise LevelError(
                f"the level has too many {what}",
                place=Place(source, y + 1, x + 1),
                found=f"{len(items)} {what}; {char!r} here is the first one over the limit",
                expected=f"at most {limit} ({constant})",
                hint="remove some, or divide the level",
            )


def _check_way(grid: DungeonLevel, source: str, allow_unreachable: bool) -> DungeonLevel:
    """Check that the hero can move and reach the exit, and return the grid."""
    x, y = grid.hero
    if not any(grid.neighbours(x, y)):
        raise LevelError(
            "the hero is walled in",
            place=Place(source, y + 1, x + 1),
            found="'H' with a wall or the board's edge on all four sides",
            expected="at least one tile beside the hero that is not a wall",
            hint="open a wall north, east, south or west of it",
        )
    reached = distances(grid, grid.hero, portals=True)
    if grid.exit in reached:
        return grid
    ex, ey = grid.exit
    place = Place(source, ey + 1, ex + 1)
    tiles = counted(len(reached), "tile")
    found = f"the hero at line:column {y + 1}:{x + 1} can reach {tiles}, but not this one"
    if allow_unreachable:
        warnings = (*grid.warnings, f"{place}: the exit cannot be reached ({found})")
        return DungeonLevel(**{**vars(grid), "warnings": warnings})
    raise LevelError(
        "the exit cannot be reached",
        place=place,
        found=found,
        expected="a way from 'H' to 'e' by walking and through the portals",
        hint="open a wall, or only be warned: --allow-unreachable (in Python allow_unreachable=True)",
    )
