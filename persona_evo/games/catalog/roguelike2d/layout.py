"""The days of a level: their layouts, drawn from the level's seed, and the level's tables, which hold them all.

Cells are numbered x + 8 y from the bottom left. The tables are laid out as

| from | length | what |
|---|---|---|
| 0 | 8 | the header, named below |
| 8 | 84 a day | one block a day, whose parts are named below |
| then | 2053 a day | what a day's items are worth, see `tours_at` |

README.md has the order of the draws, which the C# twin keeps too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.rows import Row
from persona_evo.seeds import SplitMix64

SIDE = 8
CELLS = SIDE * SIDE
START, EXIT = 0, CELLS - 1
WAY = 2 * (SIDE - 1)
"""The number of moves from the start to the exit."""

WALLS, ITEMS = (5, 9), (1, 5)
"""The fewest and the most of a day."""
MOST_WALLS, MOST_ITEMS, MOST_ENEMIES = WALLS[1], ITEMS[1], 6
MAX_DAYS = 99
"""The largest number of days of a level; with more days, a day could have more than MOST_ENEMIES enemies."""
START_FOOD = 100
WALL_HITS = 4
"""The number of bumps that destroy an inner wall."""

VARIANTS = {"default": (10, 20, 10, 20), "high_stakes": (15, 30, 15, 30)}
"""The food points that Food and Soda give, and that the enemies of the first and second kind take."""
PLAYERS = ("unrestricted", "factored", "forward_only")

(DAYS, PLAYER, GAINS, _, HURTS, _, _, _) = range(8)
"""The header: the days of the level, the number of the player model, two gains, two losses."""
HEADER = 8
BOARD, ENEMIES, ENEMY_CELLS, ENEMY_KINDS, ITEMS_COUNT, ITEM_KINDS, WALL_COUNT = 0, 64, 65, 71, 77, 78, 83
"""A day's block: what lies on each cell (0, a wall's number from 1, ITEM + an item's number from 0), enemies, their
cells and kinds, items, their kinds, walls."""
DAY = 84
ITEM = 16


TOUR, TOUR_BIAS = MOST_ITEMS + (CELLS << MOST_ITEMS), 1000
"""The length of a day's tours, and the bias added to them, since a way can cost more than it gives."""


@dataclass(frozen=True)
class DayLayout:
    """The layout of a day, in the order laid: cells of walls, and (cell, kind) of items and enemies, kinds 0 or 1."""

    walls: tuple[int, ...]
    items: tuple[tuple[int, int], ...]
    enemies: tuple[tuple[int, int], ...]


def enemies_on(day: int) -> int:
    """Return the number of enemies on a day, counted from 1: floor(log2(day))."""
    return day.bit_length() - 1


def lay_out(rng: SplitMix64, day: int) -> DayLayout:
    """Draw one day's layout."""
    free = [x + SIDE * y for x in range(1, SIDE - 1) for y in range(1, SIDE - 1)]

    def cell() -> int:
        return free.pop(rng.below(len(free)))

    def count(low: int, high: int) -> int:
        return low + rng.below(high - low + 1)

    walls = tuple(cell() for _ in range(count(*WALLS)))
    items = tuple((cell(), rng.below(2)) for _ in range(count(*ITEMS)))
    return DayLayout(walls, items, tuple((cell(), rng.below(2)) for _ in range(enemies_on(day))))


def layouts(seed: int, days: int) -> tuple[DayLayout, ...]:
    """Return the layouts of all days, which depend only on the seed."""
    rng = SplitMix64(seed)
    return tuple(lay_out(rng, day) for day in range(1, days + 1))


def tours_at(days: int, day: int) -> int:
    """Return the place of a day's tours (the first day is 1) in the tables of a level with this number of days.

    The cells of the day's items come first. Then, at CELLS * set + cell, follows the most food (plus TOUR_BIAS) that
    can be gained from there to the exit if the items of the set are still there (bit k for item k): their food less the
    moves, with nothing in the way.
    """
    return HEADER + DAY * days + TOUR * (day - 1)


def tours(days: tuple[DayLayout, ...], gains: tuple[int, int]) -> NDArray[np.int64]:
    """Return the food that can be gained on the way to the exit, without TOUR_BIAS: [day, set of items, cell]."""
    x, y = np.arange(CELLS) % SIDE, np.arange(CELLS) // SIDE
    apart = abs(x[:, None] - x) + abs(y[:, None] - y)
    found = np.full((len(days), 1 << MOST_ITEMS, CELLS), -apart[EXIT])
    for items in range(1, 1 << MOST_ITEMS):
        for number, day in enumerate(days):
            for k, (cell, kind) in enumerate(day.items):
                if items >> k & 1:
                    after = found[number, items & ~(1 << k), cell] + gains[kind]
                    np.maximum(found[number, items], after - apart[cell], out=found[number, items])
    return found


def build(days: tuple[DayLayout, ...], variant: str, player: str) -> Row:
    """Build the level's tables."""
    row = np.zeros(tours_at(len(days), len(days) + 1), dtype=np.uint16)
    row[DAYS], row[PLAYER] = len(days), PLAYERS.index(player)
    row[GAINS : GAINS + 2], row[HURTS : HURTS + 2] = VARIANTS[variant][:2], VARIANTS[variant][2:]
    worth = tours(days, VARIANTS[variant][:2])
    for number, day in enumerate(days):
        block = row[HEADER + DAY * number : HEADER + DAY * (number + 1)]
        block[ENEMIES], block[ITEMS_COUNT], block[WALL_COUNT] = len(day.enemies), len(day.items), len(day.walls)
        for k, cell in enumerate(day.walls):
            block[BOARD + cell] = k + 1
        for k, (cell, kind) in enumerate(day.items):
            block[BOARD + cell], block[ITEM_KINDS + k] = ITEM + k, kind
        for k, (cell, kind) in enumerate(day.enemies):
            block[ENEMY_CELLS + k], block[ENEMY_KINDS + k] = cell, kind
        at = tours_at(len(days), number + 1)
        row[at : at + len(day.items)] = [cell for cell, _ in day.items]
        row[at + MOST_ITEMS : at + TOUR] = worth[number].ravel() + TOUR_BIAS
    return row
