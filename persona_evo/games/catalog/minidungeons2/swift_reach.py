"""`reach` for levels in the layout of `packed`: the same numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.minidungeons2.packed import (
    DRUNK_AT,
    EXIT,
    FARTHEST,
    FLAGS_AT,
    HEALTH,
    HERO_AT,
    HP_AT,
    HP_BIAS,
    IC_SHARES,
    JAVELIN_AT,
    MINITAURS,
    MORTALS,
    MS_SHARES,
    NONE,
    OPENED_AT,
    PD_SHARES,
    PLACES,
    PORTAL_A,
    PORTAL_B,
    POTIONS,
    THINGS_AT,
    TILES_AT,
    TO_SHARES,
    TREASURES,
)
from persona_evo.games.catalog.minidungeons2.reach import DAMAGE, METRICS, stay
from persona_evo.games.catalog.minidungeons2.swift import far, measure_cheap
from persona_evo.games.catalog.minidungeons2.tables import NOWHERE
from persona_evo.games.catalog.minidungeons2.turn import half, hit_points
from persona_evo.games.core import rule
from persona_evo.games.rows import Row
from persona_evo.games.vectors import byte, lowest, ones, real


@compiled
def ways(t: Row, a: int, b: int) -> int:
    """Return the fewest moves from tile a to tile b; NOWHERE without a way."""
    moves = far(t, a, b)
    return NOWHERE if moves == NONE else moves


@compiled
def near(t: Row, s: Row, things: int, moves: int) -> int:
    """Return how many of these potions or treasures are still there and near enough to take, at most one per move."""
    hero = byte(s, HERO_AT)
    left = half(s, THINGS_AT) & things
    found = 0
    while left:
        if ways(t, hero, byte(t, PLACES + lowest(left))) <= moves:
            found += 1
        left &= left - 1
    return min(found, moves)


@compiled
def most_throws(t: Row, s: Row, moves: int) -> int:
    """Return the most throws of the javelin, which has to be fetched before the first throw and between two."""
    if half(t, MORTALS) | half(t, MINITAURS) == 0:
        return 0
    lies = byte(s, JAVELIN_AT)
    if lies != NONE:
        moves -= max(1, ways(t, byte(s, HERO_AT), lies))
    return (max(0, moves) + 1) >> 1


@compiled
def most_ports(t: Row, s: Row, moves: int) -> int:
    """Return how often the hero can walk into a portal."""
    if half(t, PORTAL_A) == NONE:
        return 0
    hero = byte(s, HERO_AT)
    way = max(1, min(ways(t, hero, half(t, PORTAL_A)), ways(t, hero, half(t, PORTAL_B))))
    return max(0, moves - way + 1)


@rule("measure")
def reach(t: Row, s: Row, moves: int, out: NDArray[np.float64]) -> int:
    """Write the lowest value of each metric within this many moves from this state, then the highest of each."""
    measure_cheap(t, s, out)
    stay(out)
    if byte(s, FLAGS_AT) != 0 or moves <= 0:
        return 0
    minitaurs, hp = ones(half(t, MINITAURS)), byte(s, HP_AT)
    to_drink = near(t, s, half(t, POTIONS), moves)
    to_open = near(t, s, half(t, TREASURES), moves)
    drunk, opened, slain = byte(s, DRUNK_AT), byte(s, OPENED_AT), ones(half(t, MORTALS))
    way = ways(t, byte(s, HERO_AT), half(t, EXIT)) - moves
    out[METRICS + 0] = out[0] + moves
    out[METRICS + 1] = 1.0 if way <= 0 else max(0.0, 1.0 - way / half(t, FARTHEST))
    out[METRICS + 2] = real(t, PD_SHARES + 8 * (drunk + to_drink))
    out[METRICS + 3] = real(t, TO_SHARES + 8 * (opened + to_open))
    out[METRICS + 4] = real(t, MS_SHARES + 8 * slain)
    out[METRICS + 5] = real(t, HEALTH + 8 * (hp + to_drink))
    out[METRICS + 6] = out[6] + minitaurs * ((moves + 1) >> 1)
    out[METRICS + 7] = out[7] + most_throws(t, s, moves)
    out[METRICS + 8] = out[8] + most_ports(t, s, moves)
    out[METRICS + 9] = out[9] + moves
    out[METRICS + 10] = real(t, IC_SHARES + 8 * (drunk + opened + min(moves, to_drink + to_open) + slain))
    out[METRICS + 11] = 1.0
    out[METRICS + 12] = 1.0 if way <= 0 else 0.0
    out[METRICS + DAMAGE] = out[DAMAGE] + max(0, hp - HP_BIAS) + to_drink
    out[1] = 0.0
    out[5] = 0.0
    return 0


@rule("novelty")
def novelty(t: Row, s: Row, out: NDArray[np.int64]) -> int:
    """Write the tiles of hero and javelin, hit points, each monster's tile and hit points, each object there or not."""
    lies = byte(s, JAVELIN_AT)
    out[0] = byte(s, HERO_AT)
    out[1] = NOWHERE if lies == NONE else lies
    out[2] = byte(s, HP_AT) - HP_BIAS
    monsters = ones(half(t, MORTALS) | half(t, MINITAURS))
    for i in range(monsters):
        out[3 + i] = (byte(s, TILES_AT + i) << 16) + hit_points(s, i)
    things = ones(half(t, POTIONS) | half(t, TREASURES))
    for k in range(things):
        out[3 + monsters + k] = (half(s, THINGS_AT) >> k) & 1
    return 3 + monsters + things
