"""Level files of Puyo-Puyo: TOML text to a `Setup`, every mistake with its line.

| key | what |
|---|---|
| seed | whole number that all pairs follow from (default 1) |
| colours | 3 to 5 (default 4) |
| drops | pairs until the level is won, 1 to 10,000 (default 150) |
| visible | pairs that a player sees, 1 to 8 (default 3): the one that falls and those after it |
| pairs | first pairs by hand, such as "RG BB" (axis, then child); the seed makes the rest |
| field | rows from top to bottom, at most 13, of the letters `.RYGBP#`; # is garbage |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.errors import LevelError, Place, unknown
from persona_evo.games import textfile
from persona_evo.games.catalog.puyo import tables
from persona_evo.seeds import SEED_LIMIT, below, derive, stream
from persona_evo.words import counted

LIMITS = {"seed": (0, SEED_LIMIT - 1, 1), "colours": (3, 5, 4), "drops": (1, 10_000, 150), "visible": (1, 8, 3)}
"""Lowest, highest and default of the numbers."""
KEYS = (*LIMITS, "pairs", "field")


@dataclass(frozen=True)
class Setup:
    """A level as its file says it. pairs: of the whole game, axis + 8 * child. rows: 13 strings of 6 letters."""

    seed: int
    colours: int
    drops: int
    visible: int
    pairs: tuple[int, ...]
    rows: tuple[str, ...]


def parse(text: str, source: str) -> Setup:
    """Read a level.

    Raises:
        LevelError: with the line of what is wrong.
    """
    data = textfile.toml(text, source, LevelError, "lines such as  colours = 4")
    for key in data:
        if key not in KEYS:
            expected, hint = unknown(key, KEYS)
            raise LevelError("no such key", place=_place(text, source, key), found=key, expected=expected, hint=hint)
    seed, colours, drops, visible = (_number(data, key, text, source) for key in LIMITS)
    first = _pairs(data, colours, text, source)[:drops]
    rest = random_pairs(seed, colours, drops)[len(first) :]
    rows = _field(data, colours, text, source)
    return Setup(seed, colours, drops, visible, (*first, *rest), rows)


def random_pairs(seed: int, colours: int, count: int) -> tuple[int, ...]:
    """Pairs with both colours uniform, axis + 8 * child; a longer sequence begins with the shorter one."""
    rng = stream(derive(seed, "puyo", colours))
    with np.errstate(over="ignore"):
        return tuple(int(1 + below(rng, colours) + 8 * (1 + below(rng, colours))) for _ in range(count))


def spelled(pair: int) -> str:
    """A pair as two letters, the axis first."""
    return tables.LETTERS[pair & 7] + tables.LETTERS[pair >> 3]


def _place(text: str, source: str, key: str, row: int = 0, column: int = 0) -> Place:
    hit = re.search(rf"^\s*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    line = text.count("\n", 0, hit.end()) + 1 if hit else 0
    return Place(source, line + row if line else 0, column)


def _number(data: dict[str, Any], key: str, text: str, source: str) -> int:
    low, high, usual = LIMITS[key]
    value = data.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise LevelError(
            f"{key} is out of range", place=_place(text, source, key), found=textfile.shown(value),
            expected=f"a whole number from {low} to {high}",
        )  # fmt: skip
    return value


def _text(data: dict[str, Any], key: str, text: str, source: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise LevelError(f"{key} is no text", place=_place(text, source, key), found=textfile.shown(value),
                         expected="letters in quotes")  # fmt: skip
    return value


def _pairs(data: dict[str, Any], colours: int, text: str, source: str) -> tuple[int, ...]:
    allowed = tables.LETTERS[1 : colours + 1]
    found = []
    for pair in _text(data, "pairs", text, source).split():
        if len(pair) != 2 or not set(pair) <= set(allowed):
            raise LevelError(
                "not a pair", place=_place(text, source, "pairs"), found=pair[:20],
                expected=f"two letters of {allowed} ({colours} colours)", hint="the axis first, then the child",
            )  # fmt: skip
        found.append(tables.LETTERS.index(pair[0]) + 8 * tables.LETTERS.index(pair[1]))
    return tuple(found)


def _field(data: dict[str, Any], colours: int, text: str, source: str) -> tuple[str, ...]:
    given = [row.strip() for row in _text(data, "field", text, source).strip().splitlines()]
    allowed = "." + tables.LETTERS[1 : colours + 1] + "#"
    for number, row in enumerate(given):
        place = _place(text, source, "field", number + 1)
        wrong = next((c for c in row if c not in allowed), None)
        if wrong is not None:
            raise LevelError("no such cell", place=place, found=repr(wrong), expected=f"one of {allowed}")
        if len(row) != tables.COLUMNS:
            raise LevelError("a row of another length", place=place, found=counted(len(row), "cell"),
                             expected=f"{tables.COLUMNS} cells, . for an empty one")  # fmt: skip
    if len(given) > tables.ROWS:
        raise LevelError("the field has too many rows", place=_place(text, source, "field"), found=str(len(given)),
                         expected=f"at most {tables.ROWS}, the topmost being the ghost row")  # fmt: skip
    rows = ("." * tables.COLUMNS,) * (tables.ROWS - len(given)) + tuple(given)
    _settled(rows, len(given), text, source)
    return rows


def _settled(rows: tuple[str, ...], given: int, text: str, source: str) -> None:
    """Nothing floats, nothing pops of itself, and the game is not over."""
    for r in range(1, tables.ROWS):
        for x in range(tables.COLUMNS):
            if rows[r][x] == "." != rows[r - 1][x]:
                place = _place(text, source, "field", r - 1 - (tables.ROWS - given) + 1)
                raise LevelError("a puyo floats", place=place, found=f"{rows[r - 1][x]} in column {x + 1} over nothing",
                                 hint="puyos stand on the ground or on others")  # fmt: skip
    place = _place(text, source, "field")
    if rows[tables.ROWS - tables.VISIBLE_ROWS][tables.THIRD] != ".":
        raise LevelError("the game is over before it begins", place=place, found="a third column full up to row 12",
                         expected="room in the third column")  # fmt: skip
    group = _group(rows)
    if group:
        raise LevelError("the field pops before the first drop", place=place, found=f"a group of {group}",
                         expected="groups of three at most")  # fmt: skip


def _group(rows: tuple[str, ...]) -> str:
    """A group of four and more, in words; "" without any."""
    seen: set[tuple[int, int]] = set()
    for r in range(1, tables.ROWS):
        for x in range(tables.COLUMNS):
            group, colour = [(r, x)], rows[r][x]
            if colour in ".#" or (r, x) in seen:
                continue
            for y, z in group:
                for at in ((y + 1, z), (y - 1, z), (y, z + 1), (y, z - 1)):
                    inside = 0 < at[0] < tables.ROWS and 0 <= at[1] < tables.COLUMNS
                    if inside and at not in group and rows[at[0]][at[1]] == colour:
                        group.append(at)
            seen.update(group)
            if len(group) >= 4:
                return f"{len(group)} {colour} at column {x + 1}, row {tables.ROWS - r}"
    return ""
