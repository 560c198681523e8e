"""Bounds what each metric can still become within a number of decisions, and describes what makes a state new.

The bounds ignore walls, enemies, and how far the moves of a day go for its items. For the player's cell, and for the
start of each later day, `layout.tours` gives the most food that the rest of the day can bring. A day takes at least the
moves to its exit, and food to arrive with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.roguelike2d.layout import (
    CELLS,
    DAY,
    DAYS,
    ENEMIES,
    GAINS,
    HEADER,
    HURTS,
    ITEM_KINDS,
    ITEMS_COUNT,
    MOST_ENEMIES,
    MOST_ITEMS,
    MOST_WALLS,
    PLAYER,
    SIDE,
    START,
    START_FOOD,
    TOUR,
    TOUR_BIAS,
    WAY,
)
from persona_evo.games.catalog.roguelike2d.rules import (
    BROKEN_AT,
    CELL_AT,
    DAMAGE_AT,
    DAY_AT,
    EATEN_AT,
    ENEMIES_AT,
    FACTORED,
    FLAGS_AT,
    FOOD_AT,
    GAINED_AT,
    HITS_AT,
    ITEMS_AT,
    MOVES_AT,
    REWARD_AT,
    SAID_AT,
    STEPS_AT,
    WALLS_AT,
    apart,
    measure,
)
from persona_evo.games.core import rule
from persona_evo.games.rows import Row, word

METRICS = 16
ST, MV, FD, DS, PR, EA, FG, HT, DT, WD, RW, DEAD, WON, NX, NF, NM = range(METRICS)

_measure = measure.plain


@compiled
def tours(t: Row, day: int) -> int:
    """Return where the tours of a day begin (`layout.tours_at`)."""
    return HEADER + DAY * word(t, DAYS) + TOUR * (day - 1)


@compiled
def gain_of(t: Row, day: int, item: int) -> int:
    """Return the food that an item of a day gives."""
    return word(t, GAINS + word(t, HEADER + DAY * (day - 1) + ITEM_KINDS + item))


@compiled
def moves_in(t: Row, s: Row, decisions: int) -> int:
    """Return the largest number of moves that this many decisions can make."""
    if word(t, PLAYER) != FACTORED:
        return decisions
    return (decisions + (1 if word(s, SAID_AT) else 0)) >> 1


@compiled
def today_within(t: Row, s: Row, moves: int) -> tuple[int, int]:
    """Return how many of today's remaining items lie within this many moves, and the food that they give."""
    day = word(s, DAY_AT)
    items = 0
    gain = 0
    for k in range(word(t, HEADER + DAY * (day - 1) + ITEMS_COUNT)):
        if (word(s, ITEMS_AT) >> k) & 1 and apart(word(t, tours(t, day) + k), word(s, CELL_AT)) <= moves:
            items += 1
            gain += gain_of(t, day, k)
    return items, gain


@rule("measure")
def reach(t: Row, s: Row, decisions: int, out: NDArray[np.float64]) -> int:
    """Write the lowest value of each metric within this many decisions from this state, then the highest of each."""
    _measure(t, s, 0, out)
    for i in range(METRICS):
        out[METRICS + i] = out[i]
    if word(s, FLAGS_AT) != 0 or decisions <= 0:
        return 0
    moves = moves_in(t, s, decisions)
    cell = word(s, CELL_AT)
    walked = cell % SIDE + cell // SIDE
    day, last = word(s, DAY_AT), word(t, DAYS)
    reward = word(s, REWARD_AT) + (word(s, REWARD_AT + 1) << 16)
    items, gain = today_within(t, s, moves)
    worth = word(t, tours(t, day) + MOST_ITEMS + CELLS * word(s, ITEMS_AT) + cell) - TOUR_BIAS
    food = word(s, FOOD_AT)
    fullest = food
    if items > 0:
        fullest = max(food, food + min(gain, worth + WAY))
    eaten, gained = items, gain
    way = WAY - walked
    left = moves
    before = reward
    won = False
    while left >= way and food + worth > 0:
        food += worth
        fullest = max(fullest, food)
        left -= way
        before = reward
        reward += food
        walked = 0
        way = WAY + 0
        if day == last:
            won = True
            break
        day += 1
        block = HEADER + DAY * (day - 1)
        count = word(t, block + ITEMS_COUNT)
        worth = word(t, tours(t, day) + MOST_ITEMS + CELLS * ((1 << count) - 1) + START) - TOUR_BIAS
        if left > 0:
            here = 0
            for k in range(count):
                here += gain_of(t, day, k)
            eaten += count
            gained += here
            fullest = max(fullest, food + min(here, worth + WAY))
    days_over = day - 1 + (1 if won else 0)
    enemies = word(t, HEADER + DAY * (day - 1) + ENEMIES)
    hurt = word(t, HURTS + 1)
    dies = word(s, FOOD_AT) <= moves * (1 + enemies * hurt)
    out[METRICS + ST] = word(s, STEPS_AT) + decisions
    out[METRICS + MV] = word(s, MOVES_AT) + moves
    out[METRICS + FD] = fullest
    out[METRICS + DS] = days_over
    out[METRICS + PR] = 1.0 if won else (days_over + min(WAY, walked + left) / WAY) / last
    out[METRICS + EA] = word(s, EATEN_AT) + eaten
    out[METRICS + FG] = word(s, GAINED_AT) + gained
    out[METRICS + HT] = word(s, HITS_AT) + enemies * moves
    out[METRICS + DT] = word(s, DAMAGE_AT) + enemies * hurt * moves
    out[METRICS + WD] = word(s, BROKEN_AT) + moves
    best = max(reward, before + WAY) if won else reward + (WAY if dies else 0)
    out[METRICS + RW] = best / (START_FOOD * last)
    out[METRICS + DEAD] = 1.0 if dies else 0.0
    out[METRICS + WON] = 1.0 if won else 0.0
    for i in range(NX, METRICS):
        out[i] = 0.0
        out[METRICS + i] = 1.0
    today = word(s, DAY_AT)
    here_walked = cell % SIDE + cell // SIDE
    out[FD] = max(0, word(s, FOOD_AT) - moves * (1 + enemies * hurt))
    out[PR] = (today - 1 + max(0, here_walked - moves) / WAY) / last
    out[NX] = max(0, WAY - here_walked - moves) / WAY
    return 0


@rule("novelty")
def novelty(t: Row, s: Row, out: NDArray[np.int64]) -> int:
    """Write the player's cell, whether each item is there, the bumps left of each wall, and the enemies' cells.

    Each number includes the day.
    """
    day = word(s, DAY_AT) << 8
    out[0] = day + word(s, CELL_AT)
    at = 1
    for k in range(MOST_ITEMS):
        out[at + k] = day + ((word(s, ITEMS_AT) >> k) & 1)
    at += MOST_ITEMS
    for k in range(MOST_WALLS):
        out[at + k] = day + ((word(s, WALLS_AT + (k >> 2)) >> 4 * (k & 3)) & 15)
    at += MOST_WALLS
    for k in range(MOST_ENEMIES):
        out[at + k] = day + word(s, ENEMIES_AT + k)
    return at + MOST_ENEMIES
