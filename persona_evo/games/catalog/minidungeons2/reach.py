"""Bounds what each metric can still become: objects that are gone stay gone, and counts never decrease.

The hero gets no farther than his moves take him, around walls and through portals; the monsters' actions are left open.
Nothing changes in a state in which the game is over.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.minidungeons2.rules import is_there, measure_cheap, moves_between, ratio, way_between
from persona_evo.games.catalog.minidungeons2.tables import (
    BOARD_AT,
    DRUNK_AT,
    EXIT,
    FARTHEST,
    FLAGS_AT,
    HEADER,
    HEIGHT,
    HERO_AT,
    HP_AT,
    HP_BIAS,
    HP_CAP,
    HURT_AT,
    JAVELIN_AT,
    KNOCKED_AT,
    MINITAUR,
    MONSTERS,
    MORTALS,
    NOWHERE,
    OPENED_AT,
    PAIRED,
    PORTAL_A,
    PORTAL_B,
    PORTALS_AT,
    POTIONS,
    SLAIN_AT,
    STEPS_AT,
    THINGS_AT,
    THROWN_AT,
    TILES,
    TRAPS_AT,
    TREASURES,
    WIDTH,
    WORDS,
    offset,
)
from persona_evo.games.core import rule
from persona_evo.games.rows import Row, word

METRICS = 18
CHEAP = 13
"""The number of metrics before the distances."""
DAMAGE = 17
"""The index of the metric after the distances."""


@compiled
def far(t: Row, hero: int, tile: int) -> int:
    """Return the fewest moves from the hero to a tile; 0 on levels without a table of pairs."""
    return way_between(t, hero, tile) if word(t, PAIRED) else 0


@compiled
def far_out(t: Row, hero: int) -> int:
    """Return the fewest moves from the hero to the exit."""
    if word(t, PAIRED) == 0 and word(t, PORTAL_A) == NOWHERE:
        return word(t, HEADER + 6 * word(t, TILES) + hero)
    return far(t, hero, word(t, EXIT))


@compiled
def near(t: Row, s: Row, first: int, count: int, moves: int) -> int:
    """Return how many of these potions or treasures are still there and near enough to take, at most one per move."""
    hero = word(s, HERO_AT)
    targets = offset(t, BOARD_AT) + word(t, WIDTH) * word(t, HEIGHT)
    found = 0
    for k in range(first, first + count):
        if is_there(s, k) and far(t, hero, word(t, targets + k)) <= moves:
            found += 1
    return min(found, moves)


@compiled
def mortals_alive(t: Row, s: Row) -> int:
    """Return the number of living monsters that can die."""
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    alive = 0
    for i in range(m):
        if word(t, HEADER + 10 * word(t, TILES) + i) != MINITAUR and word(s, places + m + i) > 0:
            alive += 1
    return alive


@compiled
def most_health(t: Row, s: Row, potions: int) -> int:
    """Return the hit points after this many more potions."""
    now = word(s, HP_AT) - HP_BIAS
    cap = word(t, HP_CAP)
    return now + potions if cap == 0 else max(now, min(cap, now + potions))


@compiled
def most_throws(t: Row, s: Row, moves: int) -> int:
    """Return the most throws of the javelin, which has to be fetched before the first throw and between two."""
    if word(t, MONSTERS) == 0:
        return 0
    lies = word(s, JAVELIN_AT)
    if lies != NOWHERE:
        moves -= max(1, far(t, word(s, HERO_AT), lies))
    return (max(0, moves) + 1) >> 1


@compiled
def most_ports(t: Row, s: Row, moves: int) -> int:
    """Return how often the hero can walk into a portal."""
    if word(t, PORTAL_A) == NOWHERE:
        return 0
    way = 1
    if word(t, PAIRED):
        hero = word(s, HERO_AT)
        way = max(1, min(moves_between(t, hero, word(t, PORTAL_A)), moves_between(t, hero, word(t, PORTAL_B))))
    return max(0, moves - way + 1)


@compiled
def stay(out: NDArray[np.float64]) -> None:
    """Write the bounds of a state in which no metric changes any more: its metrics, twice, and any distances."""
    for i in range(CHEAP):
        out[METRICS + i] = out[i]
    for i in range(CHEAP, DAMAGE):
        out[i] = 0.0
        out[METRICS + i] = math.inf
    out[METRICS + DAMAGE] = out[DAMAGE]


@rule("measure")
def reach(t: Row, s: Row, moves: int, out: NDArray[np.float64]) -> int:
    """Write the lowest value of each metric within this many moves from this state, then the highest of each."""
    measure_cheap(t, s, out)
    stay(out)
    if word(s, FLAGS_AT) != 0 or moves <= 0:
        return 0
    potions, treasures, mortals = word(t, POTIONS), word(t, TREASURES), word(t, MORTALS)
    to_drink = near(t, s, 0, potions, moves)
    to_open = near(t, s, potions, treasures, moves)
    drunk = word(s, DRUNK_AT) + to_drink
    opened = word(s, OPENED_AT) + to_open
    slain = word(s, SLAIN_AT) + mortals_alive(t, s)
    taken = word(s, DRUNK_AT) + word(s, OPENED_AT) + min(moves, to_drink + to_open)
    way = far_out(t, word(s, HERO_AT)) - moves
    out[METRICS + 0] = word(s, STEPS_AT) + moves
    out[METRICS + 1] = 1.0 if way <= 0 else max(0.0, 1.0 - way / word(t, FARTHEST))
    out[METRICS + 2] = ratio(drunk, potions)
    out[METRICS + 3] = ratio(opened, treasures)
    out[METRICS + 4] = ratio(slain, mortals)
    out[METRICS + 5] = max(0, most_health(t, s, to_drink)) / 10.0
    out[METRICS + 6] = word(s, KNOCKED_AT) + (word(t, MONSTERS) - mortals) * ((moves + 1) >> 1)
    out[METRICS + 7] = word(s, THROWN_AT) + most_throws(t, s, moves)
    out[METRICS + 8] = word(s, PORTALS_AT) + most_ports(t, s, moves)
    out[METRICS + 9] = word(s, TRAPS_AT) + moves
    out[METRICS + 10] = ratio(taken + slain, potions + treasures + mortals)
    out[METRICS + 11] = 1.0
    out[METRICS + 12] = 1.0 if way <= 0 else 0.0
    out[METRICS + DAMAGE] = word(s, HURT_AT) + max(0, word(s, HP_AT) - HP_BIAS) + to_drink
    out[1] = 0.0
    out[5] = 0.0
    return 0


@rule("novelty")
def novelty(t: Row, s: Row, out: NDArray[np.int64]) -> int:
    """Write the tiles of hero and javelin, hit points, each monster's tile and hit points, each object there or not."""
    out[0] = word(s, HERO_AT)
    out[1] = word(s, JAVELIN_AT)
    out[2] = word(s, HP_AT) - HP_BIAS
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    for i in range(m):
        out[3 + i] = (word(s, places + i) << 16) + word(s, places + m + i)
    things = word(t, POTIONS) + word(t, TREASURES)
    for k in range(things):
        out[3 + m + k] = is_there(s, k)
    return 3 + m + things
