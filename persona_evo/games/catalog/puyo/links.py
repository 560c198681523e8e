"""Splits a drop into its links, in plain Python: for pictures, which show step by step what `rules` does at once.

A field is 13 rows of 6 numbers, the ghost row first, as `tables.cells` returns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from persona_evo.games.catalog.puyo import tables as t

Field = Sequence[Sequence[int]]
Cell = tuple[int, int]
"""The row and column of a cell, from 0 at the top left; row 0 is the ghost row."""


class ChainLink(NamedTuple):
    """A link of a chain: the groups that pop, the garbage that goes with them, the points, and the field afterwards."""

    groups: tuple[frozenset[Cell], ...]
    garbage: frozenset[Cell]
    points: int
    after: list[list[int]]


def groups(field: Field) -> list[frozenset[Cell]]:
    """Return every connected group of one colour in rows 1 to 12, including single puyos, from the top left."""
    found: list[frozenset[Cell]] = []
    seen: set[Cell] = set()
    for y in range(1, t.ROWS):
        for x in range(t.COLUMNS):
            colour = field[y][x]
            if colour in (0, t.GARBAGE) or (y, x) in seen:
                continue
            group = [(y, x)]
            for cell in group:
                group += [c for c in beside(cell) if field[c[0]][c[1]] == colour and c not in group]
            seen.update(group)
            found.append(frozenset(group))
    return found


def beside(cell: Cell) -> list[Cell]:
    """Return the neighbours of a cell in rows 1 to 12."""
    y, x = cell
    near = ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1))
    return [(r, c) for r, c in near if 0 < r < t.ROWS and 0 <= c < t.COLUMNS]


def placed(field: Field, pair: int, action: int) -> list[list[int]]:
    """Return the field after a drop, before any pops; `pair` is axis + 8 * child, `action` 4 * axis column + side."""
    rows = [list(row) for row in field]
    x, side = action >> 2, action & 3
    other = x + {t.RIGHT: 1, t.LEFT: -1}.get(side, 0)
    falling = [(x, pair & 7), (other, pair >> 3)]
    for column, colour in falling[::-1] if side == t.DOWN else falling:
        free = [y for y in range(t.ROWS) if not rows[y][column]]
        if free:
            rows[free[-1]][column] = colour
    return rows


def chain(field: Field) -> list[ChainLink]:
    """Return the links that a field sets off, in order; none if nothing pops."""
    found: list[ChainLink] = []
    rows = [list(row) for row in field]
    while popping := [g for g in groups(rows) if len(g) >= 4]:
        gone = frozenset(cell for group in popping for cell in group)
        garbage = frozenset(c for cell in gone for c in beside(cell) if rows[c[0]][c[1]] == t.GARBAGE)
        points = _points(len(found) + 1, [len(g) for g in popping], len({rows[y][x] for y, x in gone}))
        rows = _fallen(rows, gone | garbage)
        found.append(ChainLink(tuple(popping), garbage, points, rows))
    return found


def _points(link: int, sizes: Sequence[int], colours: int) -> int:
    from persona_evo.games.catalog.puyo.rules import link_bonus, size_bonus

    bonus = link_bonus(link) + sum(map(size_bonus, sizes))
    bonus += 3 << (colours - 2) if colours > 1 else 0
    return int(10 * sum(sizes) * min(max(bonus, 1), 999))


def _fallen(field: Field, gone: frozenset[Cell]) -> list[list[int]]:
    rows = [[0] * t.COLUMNS for _ in range(t.ROWS)]
    for x in range(t.COLUMNS):
        left = [field[y][x] for y in range(t.ROWS) if field[y][x] and (y, x) not in gone]
        for k, colour in enumerate(left[::-1]):
            rows[t.ROWS - 1 - k][x] = colour
    return rows
