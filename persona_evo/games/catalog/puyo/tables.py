"""The rows of Puyo-Puyo: what the level's tables and a state hold, word by word.

| tables | what |
|---|---|
| COLOURS, DROPS, VISIBLE, HIDDEN | the level's numbers; HIDDEN is 1 where pairs that are out of sight are drawn |
| LISTS | for each reach (see `reach_list`): how many placements, then 22 of them |
| PAIRS | one word a drop: axis + 8 * child, colours from 1 |

| state | what |
|---|---|
| DROPPED | drops made |
| PLANES | three bit planes of six columns: bit r of plane p in column x is bit p of the colour in row r + 1 |
| HEIGHTS | puyos in each column, 0 to 13 |
| SCORE_LOW, SCORE_HIGH | points, 32 bits |
| LONGEST | links of the longest chain |
| GAIN_LOW, GAIN_HIGH | points of the last drop |
| CHAIN | links of the last drop |
| CLEARS | drops that left the field empty |
| QUEUE | the visible pairs, in levels whose queue is hidden |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.core import State

Row = NDArray[np.uint16]

COLUMNS, ROWS, VISIBLE_ROWS = 6, 13, 12
THIRD = 2
"""The index of the column that decides whether the game is lost."""
FREE = 11
"""The largest height of a column that a pair can pass."""
GARBAGE = 6
PLACEMENTS = 22

COLOURS, DROPS, VISIBLE, HIDDEN = 0, 1, 2, 3
LISTS = 4
LIST = 1 + PLACEMENTS
PAIRS = LISTS + 12 * LIST

DROPPED, PLANES, HEIGHTS = 0, 1, 19
SCORE_LOW, SCORE_HIGH, LONGEST, GAIN_LOW, GAIN_HIGH, CHAIN, CLEARS = 25, 26, 27, 28, 29, 30, 31
QUEUE = 32

UP, RIGHT, DOWN, LEFT = range(4)
SIDES = "URDL"
"""The side of the axis that the child is on."""
LETTERS = ".RYGBP#"
"""The letters of cells in level files, by number."""


@compiled
def word(row: Row, at: int) -> int:
    """Return one entry as a signed whole number."""
    return np.int64(row[np.uint64(at)])  # type: ignore[return-value]


@compiled
def put(row: Row, at: int, value: int) -> None:
    """Write one entry."""
    row[np.uint64(at)] = value


def reach_list(left: int, right: int) -> int:
    """Return where the placements are for pairs that reach the columns `left` (0 to 2) to `right` (2 to 5)."""
    return LISTS + (4 * left + right - THIRD) * LIST


def placements(left: int, right: int) -> list[int]:
    """Return all placements between two columns, 4 * axis column + side: up, right, down, left, each from the left."""
    first = {UP: 0, RIGHT: 0, DOWN: 0, LEFT: 1}
    last = {UP: 0, RIGHT: 1, DOWN: 0, LEFT: 0}
    return [4 * x + side for side in range(4) for x in range(left + first[side], right - last[side] + 1)]


def build(colours: int, visible: int, pairs: Sequence[int], rows: Sequence[str], hidden: bool) -> tuple[State, State]:
    """Build the tables and the start of a level; `rows` is the field, 13 strings of 6 letters, the ghost row first."""
    tables = np.zeros(PAIRS + len(pairs), dtype=np.uint16)
    tables[[COLOURS, DROPS, VISIBLE, HIDDEN]] = colours, len(pairs), visible, hidden
    for left in range(THIRD + 1):
        for right in range(THIRD, COLUMNS):
            found = placements(left, right)
            at = reach_list(left, right)
            tables[at] = len(found)
            tables[at + 1 : at + 1 + len(found)] = found
    tables[PAIRS:] = pairs
    start = np.zeros(QUEUE + (visible if hidden else 0), dtype=np.uint16)
    fill(start, rows)
    if hidden:
        start[QUEUE:] = pairs[:visible]
    return tables, start


def fill(state: State, rows: Sequence[str]) -> None:
    """Write a settled field, in the form that `build` takes, to a state."""
    for x in range(COLUMNS):
        column = [LETTERS.index(rows[ROWS - 1 - r][x]) for r in range(ROWS)]
        state[HEIGHTS + x] = sum(cell > 0 for cell in column)
        for plane in range(3):
            state[PLANES + 6 * plane + x] = sum((cell >> plane & 1) << r for r, cell in enumerate(column))


def points(state: State) -> int:
    """Return the score of a state."""
    return int(state[SCORE_LOW]) + (int(state[SCORE_HIGH]) << 16)


def cells(state: State) -> list[list[int]]:
    """Return the field of a state as numbers: 13 rows of 6, the ghost row first."""
    planes = [[int(state[PLANES + 6 * p + x]) for x in range(COLUMNS)] for p in range(3)]
    return [
        [sum((planes[p][x] >> r & 1) << p for p in range(3)) for x in range(COLUMNS)] for r in range(ROWS - 1, -1, -1)
    ]


def text(state: State) -> str:
    """Return the field of a state as 78 letters, the ghost row first."""
    return "".join(LETTERS[cell] for row in cells(state) for cell in row)
