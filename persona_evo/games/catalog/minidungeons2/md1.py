"""Importer of MiniDungeons 1 level files.

Those have other characters (`#` wall, `.` floor, `E` entrance, `X` exit, `r` treasure, `p` potion, `m` monster), no
ring of walls, and monsters that stand still. A level becomes a MiniDungeons 2 text with a ring of walls around it, so
it grows by two columns and two rows.
"""

from __future__ import annotations

from typing import Literal

from persona_evo.errors import LevelError, Place
from persona_evo.games.catalog.minidungeons2 import levels
from persona_evo.words import counted

MEANINGS = {
    "#": ("X", "wall"),
    ".": (" ", "floor"),
    "E": ("H", "entrance -> hero start"),
    "X": ("e", "exit"),
    "r": ("T", "treasure"),
    "p": ("P", "potion"),
    "m": ("M", "monster -> goblin"),
}
"""Character of MiniDungeons 1 -> (character of MiniDungeons 2, what it is)."""

_EXPECTED = ", ".join(f"{old!r} {meaning.split(' -> ')[0]}" for old, (_, meaning) in MEANINGS.items())
_LIKELY = {" ": ".", "H": "E", "e": "X", "T": "r", "t": "r", "P": "p", "M": "m", "R": "m", "o": "m", "b": "m"}


def detect(text: str) -> Literal["md2", "md1"] | None:
    """Return the format of a level text, judged by its characters; None if it is neither (empty, or another alphabet).

    A text with a hero `H` or an exit `e` is MiniDungeons 2 whatever else it contains, so that a mistake such as `#` for
    a wall is reported instead of silently imported.
    """
    rows = text.removeprefix("\ufeff").replace("\r", "\n").split("\n")
    chars = set("".join(rows))
    if levels.looks_like_md1(rows):
        return "md1"
    return "md2" if chars & set(levels.LEGEND) and chars - {levels.FLOOR, "\t"} else None


def import_md1(text: str, name: str, source: str) -> tuple[str, list[str]]:
    """Convert a MiniDungeons 1 level to MiniDungeons 2 text; also return what was converted, one line for each fact.

    Args:
        text: the file's content.
        name: the name of the level in results.
        source: the file, for messages.

    Raises:
        LevelError: rows differ in length, a character is unknown, or there is not exactly one entrance and one exit;
            positions are those of the original file.
    """
    rows = levels.split_rows(text, source)
    _check_characters(rows, source)
    width = levels.check_shape(rows, source, floor=".")
    for what, char in (("entrance", "E"), ("exit", "X")):
        _check_single(rows, char, what, source)
    table = str.maketrans({old: new for old, (new, _) in MEANINGS.items()})
    wall = levels.WALL
    ring = wall * (width + 2)
    body = [wall + row.translate(table) + wall for row in rows]
    whole = "".join(rows)
    mapped = [
        f"{name}: MiniDungeons 1 file imported: {old!r} -> {'space' if new == ' ' else repr(new)} "
        f"({meaning}), {counted(whole.count(old), 'tile')}"
        for old, (new, meaning) in MEANINGS.items()
        if old in whole
    ]
    mapped.append(
        f"{name}: a ring of walls was added: {width}x{len(rows)} -> {width + 2}x{len(rows) + 2}, "
        f"so tile (x, y) of the file is (x + 1, y + 1) here"
    )
    if "m" in whole:
        mapped.append(
            f"{name}: monsters differ: they stand still and hurt by chance in MiniDungeons 1, "
            f"here they are goblins that walk to a hero they see and deal 1 damage"
        )
    mapped.append(f"{name}: the hero differs: 40 HP and no javelin in MiniDungeons 1, 10 HP and a javelin here")
    return "\n".join([ring, *body, ring]) + "\n", mapped


def _check_characters(rows: list[str], source: str) -> None:
    for y, row in enumerate(rows, 1):
        for x, char in enumerate(row, 1):
            if char not in MEANINGS:
                likely = _LIKELY.get(char)
                raise LevelError(
                    f"unknown character {levels.show(char)} in a MiniDungeons 1 level",
                    place=Place(source, y, x),
                    found=levels.show(char),
                    expected=_EXPECTED,
                    hint=f"did you mean {likely!r}?" if likely else "use a character of that game's legend",
                )


def _check_single(rows: list[str], char: str, what: str, source: str) -> None:
    places = [(x, y) for y, row in enumerate(rows, 1) for x, c in enumerate(row, 1) if c == char]
    if len(places) == 1:
        return
    x, y = places[1] if places else (1, 1)
    raise LevelError(
        f"the level has {len(places) or 'no'} {what}{'s' if len(places) > 1 else ''}",
        place=Place(source, y, x),
        found=f"{len(places)} times {char!r}",
        expected=f"exactly one {char!r}",
        hint=f"{char!r} is the {what} in MiniDungeons 1 files",
    )
