"""What each metric can still become: objects that are gone stay gone, and what was counted stays counted."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.minidungeons2.rules import (
    HAS_WON,
    IS_DEAD,
    is_there,
    measure_cheap,
    ratio,
    way_out,
)
from persona_evo.games.catalog.minidungeons2.tables import (
    DRUNK_AT,
    FARTHEST,
    FLAGS_AT,
    HEADER,
    HERO_AT,
    HP_AT,
    HP_BIAS,
    MINITAUR,
    MONSTERS,
    MORTALS,
    OPENED_AT,
    PAIRED,
    POTIONS,
    SLAIN_AT,
    THINGS_AT,
    TILES,
    TREASURES,
    WORDS,
)
from persona_evo.games.core import rule
from persona_evo.games.rows import Row, word

METRICS = 17


@compiled
def left(s: Row, first: int, count: int) -> int:
    """How many of these potions or treasures are still there."""
    there = 0
    for k in range(first, first + count):
        there += is_there(s, k)
    return there


@compiled
def mortals_alive(t: Row, s: Row) -> int:
    """Living monsters that can die."""
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    alive = 0
    for i in range(m):
        if word(t, HEADER + 10 * word(t, TILES) + i) != MINITAUR and word(s, places + m + i) > 0:
            alive += 1
    return alive


@rule("measure")
def reach(t: Row, s: Row, moves: int, out: NDArray[np.float64]) -> int:
    """The lowest value of each metric within so many moves from this state on, then the highest of each."""
    measure_cheap(t, s, out)
    potions = word(t, POTIONS)
    treasures = word(t, TREASURES)
    to_drink = left(s, 0, potions)
    drunk = word(s, DRUNK_AT) + to_drink
    opened = word(s, OPENED_AT) + left(s, potions, treasures)
    slain = word(s, SLAIN_AT) + mortals_alive(t, s)
    dead = word(s, FLAGS_AT) & IS_DEAD != 0
    everything = potions + treasures + word(t, MORTALS)
    for i in range(METRICS):
        out[METRICS + i] = math.inf
    far = way_out(t, word(s, HERO_AT)) - moves if word(t, PAIRED) else 0
    out[METRICS + 1] = 1.0 if far <= 0 else max(0.0, 1.0 - far / word(t, FARTHEST))
    out[METRICS + 2] = ratio(drunk, potions)
    out[METRICS + 3] = ratio(opened, treasures)
    out[METRICS + 4] = ratio(slain, word(t, MORTALS))
    out[METRICS + 5] = max(0, word(s, HP_AT) - HP_BIAS + to_drink) / 10.0
    out[METRICS + 10] = ratio(drunk + opened + slain, everything)
    out[METRICS + 11] = 1.0
    out[METRICS + 12] = 0.0 if dead else 1.0
    out[1] = 0.0
    out[5] = 0.0
    out[12] = 0.0 if word(s, FLAGS_AT) & HAS_WON == 0 or not dead else out[12]
    for i in range(13, METRICS):
        out[i] = 0.0
    return 0
