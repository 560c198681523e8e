"""Bounds what each metric can still become within a number of drops if all pairs are known, and what makes a state new.

The bounds count puyos. A colour can pop only if there are four puyos of it, on the field or in the pairs to come, and
every puyo pops once. `CHAIN_POINTS` and `ALL_POINTS` hold the most points for a number of puyos in any arrangement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.puyo.rules import (
    SEEN_A,
    SEEN_B,
    columns_a,
    columns_b,
    link_bonus,
    measure_cheap,
    ones,
    size_bonus,
)
from persona_evo.games.catalog.puyo.tables import (
    CHAIN,
    CLEARS,
    COLUMNS,
    DROPPED,
    DROPS,
    GAIN_HIGH,
    GAIN_LOW,
    GARBAGE,
    HEIGHTS,
    LONGEST,
    PAIRS,
    ROWS,
    SCORE_HIGH,
    SCORE_LOW,
    THIRD,
    VISIBLE_ROWS,
    Row,
    word,
)
from persona_evo.games.core import rule

METRICS = 13
DR, SC, LC, LS, CH, AC, PU, HC, H3, DEAD, CP, P2, P3 = range(METRICS)
CELLS = COLUMNS * ROWS
MANY = 400
"""The number of puyos up to which `ALL_POINTS` has an entry."""


def _group_bonuses() -> NDArray[np.int64]:
    """Return the highest bonus for colours and sizes of groups (not for the link) of one link of n puyos."""

    size = np.array([size_bonus(n) for n in range(CELLS + 1)])
    best = np.full((GARBAGE, CELLS + 1), -1)
    best[1, 4:] = size[4:]
    for groups in range(2, GARBAGE):
        for n in range(4 * groups, CELLS + 1):
            best[groups, n] = max(best[groups - 1, n - k] + size[k] for k in range(4, n - 4 * (groups - 1) + 1))
    for groups in range(2, GARBAGE):
        best[groups, 4 * groups :] += 3 << (groups - 2)
    return best.max(axis=0)


def _chain_points() -> NDArray[np.int64]:
    """Return the most points of one drop in which n puyos pop."""

    bonus, sizes = _group_bonuses(), np.arange(CELLS + 1)
    later = np.zeros(CELLS + 1, dtype=np.int64)
    for link in range(CELLS // 4, 0, -1):
        points = 10 * sizes * np.clip(bonus + link_bonus(link), 1, 999)
        now = np.zeros_like(later)
        for n in range(4, CELLS + 1):
            now[n] = max(now[n - 1], int((points[4 : n + 1] + later[n - 4 :: -1][: n - 3]).max()))
        later = now
    return later


def _all_points(chain: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most points of any number of drops in which n puyos pop in total."""
    found = np.zeros(MANY + 1, dtype=np.int64)
    for n in range(1, MANY + 1):
        most = min(n, CELLS)
        found[n] = max(int(chain[k] + found[n - k]) for k in range(1, most + 1))
    return found


CHAIN_POINTS = _chain_points()
ALL_POINTS = _all_points(CHAIN_POINTS)
A_PUYO = int(np.ceil((CHAIN_POINTS[1:] / np.arange(1, CELLS + 1)).max()))
"""The most points that a puyo of a chain gives on average."""


@compiled
def on_field(s: Row, colour: int) -> int:
    """Return the number of puyos of a colour, including those in the ghost row."""
    m0, m1, m2 = (colour & 1) - 1, ((colour >> 1) & 1) - 1, ((colour >> 2) & 1) - 1
    a = (columns_a(s, 0) ^ m0) & (columns_a(s, 1) ^ m1) & (columns_a(s, 2) ^ m2)
    b = (columns_b(s, 0) ^ m0) & (columns_b(s, 1) ^ m1) & (columns_b(s, 2) ^ m2)
    return ones(a & (SEEN_A | SEEN_A << 1)) + ones(b & (SEEN_B | SEEN_B << 1))


@compiled
def that_can_pop(t: Row, s: Row, drops: int) -> tuple[int, int]:
    """Return the puyos of colours that can pop within this many drops, and the most groups of four they can form."""
    puyos = 0
    groups = 0
    first = PAIRS + word(s, DROPPED)
    for colour in range(1, GARBAGE):
        count = on_field(s, colour)
        for k in range(first, first + drops):
            pair = word(t, k)
            count += (1 if pair & 7 == colour else 0) + (1 if pair >> 3 == colour else 0)
        if count >= 4:
            puyos += count
            groups += count >> 2
    return puyos, groups


@compiled
def most_points(puyos: int) -> int:
    """Return the most points that this many puyos give, in any number of drops."""
    return ALL_POINTS[puyos] if puyos <= MANY else A_PUYO * puyos  # type: ignore[no-any-return]


@rule("measure")
def reach(t: Row, s: Row, moves: int, out: NDArray[np.float64]) -> int:
    """Write the lowest value of each metric within this many drops from this state, then the highest of each."""
    measure_cheap(t, s, out)
    for i in range(CP):
        out[METRICS + i] = out[i]
    for i in range(CP, METRICS):
        out[i] = 0.0
    out[METRICS + CP] = (CELLS + 2) >> 2
    out[METRICS + P2] = CELLS >> 1
    out[METRICS + P3] = CELLS // 3
    drops = min(moves, word(t, DROPS) - word(s, DROPPED))
    third = word(s, HEIGHTS + THIRD)
    if third >= VISIBLE_ROWS or drops <= 0:
        return 0
    there = 0
    highest = 0
    for x in range(COLUMNS):
        there += word(s, HEIGHTS + x)
        highest = max(highest, word(s, HEIGHTS + x))
    puyos, groups = that_can_pop(t, s, drops)
    links = min(groups, CELLS >> 2)
    at_once = CHAIN_POINTS[min(puyos, CELLS)]
    score = word(s, SCORE_LOW) + (word(s, SCORE_HIGH) << 16)
    out[METRICS + DR] = word(s, DROPPED) + drops
    out[METRICS + SC] = score + min(most_points(puyos), drops * at_once)
    out[METRICS + LC] = max(word(s, LONGEST), links)
    out[METRICS + LS] = max(word(s, GAIN_LOW) + (word(s, GAIN_HIGH) << 16), at_once)
    out[METRICS + CH] = max(word(s, CHAIN), links)
    out[METRICS + AC] = word(s, CLEARS) + (min(drops, groups) if links > 0 else 0)
    out[METRICS + PU] = min(CELLS, there + 2 * drops)
    out[METRICS + HC] = min(ROWS, highest + 2 * drops)
    out[METRICS + H3] = min(ROWS, third + 2 * drops)
    out[METRICS + DEAD] = 1.0 if third + 2 * drops >= VISIBLE_ROWS else 0.0
    out[LS] = 0.0
    out[CH] = 0.0
    if links > 0:
        out[PU] = 0.0
        out[HC] = 0.0
        out[H3] = 0.0
    return 0


@rule("novelty")
def novelty(t: Row, s: Row, out: NDArray[np.int64]) -> int:
    """Write the content of each cell: 0 for nothing, else the colour."""
    for plane in range(3):
        a, b = columns_a(s, plane), columns_b(s, plane)
        for row in range(ROWS):
            for x in range(COLUMNS):
                bit = (a >> (16 * x + row)) & 1 if x < 4 else (b >> (16 * (x - 4) + row)) & 1
                at = COLUMNS * row + x
                out[at] = bit if plane == 0 else out[at] | bit << plane
    return CELLS
