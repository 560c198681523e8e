"""The rules of Puyo-Puyo as pure functions over a state row (see `tables` for the rows' layout).

A field in hand is six whole numbers: the planes 0, 1 and 2, each as columns 1 to 4 (a) and columns 5 and 6 (b), sixteen
bits a column. Neighbours of all cells at once are then shifts by one (up, down) and by sixteen (left, right).

Actions: 4 * column of the axis + side of the child. Every action is accepted; columns outside the field are moved to
its edge, and nothing happens after the last drop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.puyo.tables import (
    CHAIN,
    CLEARS,
    COLOURS,
    COLUMNS,
    DOWN,
    DROPPED,
    DROPS,
    FREE,
    GAIN_HIGH,
    GAIN_LOW,
    GARBAGE,
    HEIGHTS,
    HIDDEN,
    LEFT,
    LISTS,
    LIST,
    LONGEST,
    PAIRS,
    PLANES,
    QUEUE,
    RIGHT,
    ROWS,
    SCORE_HIGH,
    SCORE_LOW,
    THIRD,
    VISIBLE,
    VISIBLE_ROWS,
    Row,
    put,
    word,
)
from persona_evo.games.core import LOST, RUNNING, WON, Rules, rule
from persona_evo.games.rollouts import rollout_of
from persona_evo.seeds import below

SEEN_A, SEEN_B = 0x0FFF0FFF0FFF0FFF, 0x0FFF0FFF
"""The masks of rows 1 to 12 of the columns."""
LANE = 0xFFFF
ALL = 0b111110
"""The set of all colours, bit c for colour c."""
M1, M2, M4, M8 = (
    np.uint64(v) for v in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)
S1, S2, S4, S56 = (np.uint64(v) for v in (1, 2, 4, 56))


@compiled
def ones(x: int) -> int:
    """Count the bits that are set, in the form that LLVM turns into one instruction."""
    v = np.uint64(x)
    v = v - ((v >> S1) & M1)
    v = (v & M2) + ((v >> S2) & M2)
    v = (v + (v >> S4)) & M4
    return np.int64((v * M8) >> S56)


@compiled
def columns_a(s: Row, plane: int) -> int:
    """Return columns 1 to 4 of a plane."""
    at = PLANES + 6 * plane
    return word(s, at) | word(s, at + 1) << 16 | word(s, at + 2) << 32 | word(s, at + 3) << 48


@compiled
def columns_b(s: Row, plane: int) -> int:
    """Return columns 5 and 6 of a plane."""
    at = PLANES + 6 * plane + 4
    return word(s, at) | word(s, at + 1) << 16


@compiled
def of_colour(p0: int, p1: int, p2: int, colour: int, seen: int) -> int:
    """Return the cells in rows 1 to 12 that have a colour, in one half of the field."""
    return (p0 ^ ((colour & 1) - 1)) & (p1 ^ (((colour >> 1) & 1) - 1)) & (p2 ^ (((colour >> 2) & 1) - 1)) & seen


@compiled
def around_a(a: int, b: int) -> int:
    """Return the cells of half a beside cells of a set, and some outside the field that the caller has to mask."""
    return a << 1 | a >> 1 | a << 16 | a >> 16 | (b & LANE) << 48


@compiled
def around_b(a: int, b: int) -> int:
    """Return the cells of half b beside cells of a set."""
    return b << 1 | b >> 1 | b << 16 | b >> 16 | (a >> 48)


@compiled
def popping(a: int, b: int) -> tuple[int, int]:
    """Return the cells of one colour that are in groups of four or more.

    Such a group has a cell with three neighbours, or two neighbouring cells with two each; its other cells are beside
    one of those.
    """
    ua, da, la, ra = (a << 1) & a, (a >> 1) & a, ((a >> 16) | (b & LANE) << 48) & a, (a << 16) & a
    ub, db, lb, rb = (b << 1) & b, (b >> 1) & b, (b >> 16) & b, ((b << 16) | (a >> 48)) & b
    two_a = (ua & da) | (la & ra) | ((ua | da) & (la | ra))
    two_b = (ub & db) | (lb & rb) | ((ub | db) & (lb | rb))
    if two_a == 0 and two_b == 0:
        return np.int64(0), np.int64(0)
    seed_a = (ua & da & (la | ra)) | (la & ra & (ua | da)) | (two_a & around_a(two_a, two_b))
    seed_b = (ub & db & (lb | rb)) | (lb & rb & (ub | db)) | (two_b & around_b(two_a, two_b))
    if seed_a == 0 and seed_b == 0:
        return np.int64(0), np.int64(0)
    return seed_a | (around_a(seed_a, seed_b) & a), seed_b | (around_b(seed_a, seed_b) & b)


@compiled
def size_bonus(puyos: int) -> int:
    """Return the bonus of one group."""
    if puyos > 10:
        return 10
    return puyos - 3 if puyos > 4 else 0


@compiled
def sizes_bonus(a: int, b: int) -> int:
    """Return the sum of the bonuses of all groups of one colour."""
    total = 0
    while a | b:
        ga, gb = a & -a, b & -b
        if ga:
            gb &= 0
        while True:
            more_a, more_b = (ga | around_a(ga, gb)) & a, (gb | around_b(ga, gb)) & b
            if more_a == ga and more_b == gb:
                break
            ga, gb = more_a, more_b
        total += size_bonus(ones(ga) + ones(gb))
        a &= ~ga
        b &= ~gb
    return total


@compiled
def link_bonus(link: int) -> int:
    """Return the bonus of a link of the chain; links count from 1."""
    if link < 4:
        return 8 * (link - 1) if link < 3 else 16
    return 32 * (link - 3)


@compiled
def fallen(p0: int, p1: int, p2: int, gone: int) -> tuple[int, int, int]:
    """Return the three planes of one half after the cells `gone` are removed and everything above has fallen."""
    for lane in range(4):
        shift = 16 * lane
        hole = (gone >> shift) & LANE
        if hole == 0:
            continue
        c0, c1, c2 = (p0 >> shift) & LANE, (p1 >> shift) & LANE, (p2 >> shift) & LANE
        while hole:
            under = (hole & -hole) - 1
            c0 = (c0 & under) | ((c0 >> 1) & ~under)
            c1 = (c1 & under) | ((c1 >> 1) & ~under)
            c2 = (c2 & under) | ((c2 >> 1) & ~under)
            hole = (hole >> 1) & ~under
        keep: Any = ~(np.int64(LANE) << shift)
        p0, p1, p2 = (p0 & keep) | c0 << shift, (p1 & keep) | c1 << shift, (p2 & keep) | c2 << shift
    return p0, p1, p2


@compiled
def resolve(a0: int, a1: int, a2: int, b0: int, b1: int, b2: int, colours: int) -> Any:
    """Pop, fall and repeat; return the final field, the number of links of the chain, and its points.

    `colours` is the set of colours that may pop in the first link (bit c for colour c); later all may.
    """
    link = 0
    points = 0
    while True:
        gone_a, gone_b = np.int64(0), np.int64(0)
        popped, kinds, bonus = 0, 0, 0
        for colour in range(1, GARBAGE):
            if (colours >> colour) & 1 == 0:
                continue
            a, b = popping(of_colour(a0, a1, a2, colour, SEEN_A), of_colour(b0, b1, b2, colour, SEEN_B))
            if a == 0 and b == 0:
                continue
            count = ones(a) + ones(b)
            popped += count
            kinds += 1
            bonus += size_bonus(count) if count < 8 else sizes_bonus(a, b)
            gone_a |= a
            gone_b |= b
        if popped == 0:
            break
        link += 1
        bonus += link_bonus(link)
        if kinds > 1:
            bonus += 3 << (kinds - 2)
        points += 10 * popped * min(max(bonus, 1), 999)
        beside_a, beside_b = around_a(gone_a, gone_b), around_b(gone_a, gone_b)
        gone_a |= beside_a & of_colour(a0, a1, a2, GARBAGE, SEEN_A)
        gone_b |= beside_b & of_colour(b0, b1, b2, GARBAGE, SEEN_B)
        a0, a1, a2 = fallen(a0, a1, a2, gone_a)
        b0, b1, b2 = fallen(b0, b1, b2, gone_b)
        colours = ALL
    return a0, a1, a2, b0, b1, b2, link, points


@compiled
def write_plane(s: Row, plane: int, a: int, b: int) -> None:
    """Put a plane back into a state."""
    at = PLANES + 6 * plane
    for lane in range(4):
        put(s, at + lane, (a >> (16 * lane)) & LANE)
    put(s, at + 4, b & LANE)
    put(s, at + 5, (b >> 16) & LANE)


@compiled
def settle(s: Row, colours: int) -> None:
    """Resolve a state's field and count the points."""
    a0, a1, a2, b0, b1, b2, link, points = resolve(
        columns_a(s, 0), columns_a(s, 1), columns_a(s, 2), columns_b(s, 0), columns_b(s, 1), columns_b(s, 2), colours
    )
    put(s, GAIN_LOW, points & LANE)
    put(s, GAIN_HIGH, points >> 16)
    put(s, CHAIN, link)
    if link == 0:
        return
    write_plane(s, 0, a0, b0)
    write_plane(s, 1, a1, b1)
    write_plane(s, 2, a2, b2)
    full_a, full_b = a0 | a1 | a2, b0 | b1 | b2
    for lane in range(4):
        put(s, HEIGHTS + lane, ones((full_a >> (16 * lane)) & LANE))
    put(s, HEIGHTS + 4, ones(full_b & LANE))
    put(s, HEIGHTS + 5, ones(full_b >> 16))
    if full_a == 0 and full_b == 0:
        put(s, CLEARS, word(s, CLEARS) + 1)
    total = word(s, SCORE_LOW) + (word(s, SCORE_HIGH) << 16) + points
    put(s, SCORE_LOW, total & LANE)
    put(s, SCORE_HIGH, total >> 16)
    put(s, LONGEST, max(word(s, LONGEST), link))


@rule("step")
def settle_all(t: Row, s: Row, action: int, rng: NDArray[np.int64]) -> int:
    """Resolve any field as it stands, as `step` does after each drop."""
    settle(s, ALL)
    return 0


@compiled
def drop(s: Row, x: int, colour: int) -> None:
    """Let a puyo fall into a column; it vanishes if the column is full up to the ghost row."""
    height = word(s, HEIGHTS + x)
    if height >= ROWS:
        return
    put(s, HEIGHTS + x, height + 1)
    for plane in range(3):
        at = PLANES + 6 * plane + x
        put(s, at, word(s, at) | ((colour >> plane) & 1) << height)


@compiled
def next_pair(t: Row, s: Row, rng: NDArray[np.int64]) -> int:
    """Return the pair that falls now; a hidden queue moves up, and a new pair comes into sight."""
    if word(t, HIDDEN) == 0:
        return word(t, PAIRS + word(s, DROPPED))
    pair = word(s, QUEUE)
    last = QUEUE + word(t, VISIBLE) - 1
    for k in range(QUEUE, last):
        put(s, k, word(s, k + 1))
    axis = 1 + below(rng, word(t, COLOURS))
    put(s, last, axis + 8 * (1 + below(rng, word(t, COLOURS))))
    return pair


@rule("step")
def step(t: Row, s: Row, action: int, rng: NDArray[np.int64]) -> int:
    """Carry out one drop: both puyos fall, then the field resolves."""
    if word(s, DROPPED) >= word(t, DROPS):
        return 0
    pair = next_pair(t, s, rng)
    put(s, DROPPED, word(s, DROPPED) + 1)
    axis, child = pair & 7, pair >> 3
    side = action & 3
    x = min(max(action >> 2, 0), COLUMNS - 1)
    beside = x
    if side == RIGHT:
        beside = min(x + 1, COLUMNS - 1)
    elif side == LEFT:
        beside = max(x - 1, 0)
    if side == DOWN:
        drop(s, x, child)
        drop(s, x, axis)
    else:
        drop(s, x, axis)
        drop(s, beside, child)
    settle(s, 1 << axis | 1 << child)
    return 0


@rule("legal")
def legal(t: Row, s: Row, actions: NDArray[np.int64]) -> int:
    """Write the placements between the nearest columns that are too high to pass; none if the third column is full."""
    if word(s, HEIGHTS + THIRD) > FREE:
        return 0
    left = THIRD
    while left > 0 and word(s, HEIGHTS + left - 1) <= FREE:
        left -= 1
    right = THIRD
    while right < COLUMNS - 1 and word(s, HEIGHTS + right + 1) <= FREE:
        right += 1
    at = LISTS + (4 * left + right - THIRD) * LIST
    count = word(t, at)
    for k in range(count):
        actions[k] = word(t, at + 1 + k)
    return count


@rule("over")
def over(t: Row, s: Row) -> int:
    """Return LOST if the third column is full up to row 12, WON if all drops are made, else RUNNING."""
    if word(s, HEIGHTS + THIRD) >= VISIBLE_ROWS:
        return LOST
    return WON if word(s, DROPPED) >= word(t, DROPS) else RUNNING


@rule("mover")
def mover(t: Row, s: Row) -> int:
    """Return 0, since there is only one player."""
    return 0


@compiled
def measure_cheap(t: Row, s: Row, out: NDArray[np.float64]) -> None:
    """Write the metrics up to DEAD, in the order of METRICS."""
    puyos, highest = 0, 0
    for x in range(COLUMNS):
        height = word(s, HEIGHTS + x)
        puyos += height
        highest = max(highest, height)
    third = word(s, HEIGHTS + THIRD)
    out[0] = word(s, DROPPED)
    out[1] = word(s, SCORE_LOW) + (word(s, SCORE_HIGH) << 16)
    out[2] = word(s, LONGEST)
    out[3] = word(s, GAIN_LOW) + (word(s, GAIN_HIGH) << 16)
    out[4] = word(s, CHAIN)
    out[5] = word(s, CLEARS)
    out[6] = puyos
    out[7] = highest
    out[8] = third
    out[9] = 1.0 if third >= VISIBLE_ROWS else 0.0


@rule("measure")
def measure(t: Row, s: Row, player: int, out: NDArray[np.float64]) -> int:
    """Write the cheap metrics."""
    measure_cheap(t, s, out)
    for k in range(10, 13):
        out[k] = 0.0
    return 0


@compiled
def potential(t: Row, s: Row) -> int:
    """Return the most links that two more puyos of one colour, dropped into one column, would set off."""
    a0, a1, a2 = columns_a(s, 0), columns_a(s, 1), columns_a(s, 2)
    b0, b1, b2 = columns_b(s, 0), columns_b(s, 1), columns_b(s, 2)
    best = 0
    for x in range(COLUMNS):
        height = word(s, HEIGHTS + x)
        if height > FREE:
            continue
        two_a, two_b = np.int64(0), np.int64(0)
        if x < 4:
            two_a = np.int64(3) << (16 * x + height)
        else:
            two_b = np.int64(3) << (16 * (x - 4) + height)
        for colour in range(1, word(t, COLOURS) + 1):
            m0, m1, m2 = -(colour & 1), -((colour >> 1) & 1), -((colour >> 2) & 1)
            link = resolve(
                a0 | (two_a & m0),
                a1 | (two_a & m1),
                a2 | (two_a & m2),
                b0 | (two_b & m0),
                b1 | (two_b & m1),
                b2 | (two_b & m2),
                1 << colour,
            )[6]
            best = max(best, link)
    return best


@rule("measure")
def measure_all(t: Row, s: Row, player: int, out: NDArray[np.float64]) -> int:
    """Write every metric.

    In a field that has resolved, a cell with two neighbours of its colour is the middle of a group of three. Each such
    group has two connections, a group of two has one.
    """
    measure_cheap(t, s, out)
    threes, connections = 0, 0
    a0, a1, a2 = columns_a(s, 0), columns_a(s, 1), columns_a(s, 2)
    b0, b1, b2 = columns_b(s, 0), columns_b(s, 1), columns_b(s, 2)
    for colour in range(1, GARBAGE):
        a, b = of_colour(a0, a1, a2, colour, SEEN_A), of_colour(b0, b1, b2, colour, SEEN_B)
        ua, da, la, ra = (a << 1) & a, (a >> 1) & a, ((a >> 16) | (b & LANE) << 48) & a, (a << 16) & a
        ub, db, lb, rb = (b << 1) & b, (b >> 1) & b, (b >> 16) & b, ((b << 16) | (a >> 48)) & b
        threes += ones((ua & da) | (la & ra) | ((ua | da) & (la | ra)))
        threes += ones((ub & db) | (lb & rb) | ((ub | db) & (lb | rb)))
        connections += ones(ua) + ones(ub) + ones(la) + ones(lb)
    out[10] = potential(t, s)
    out[11] = connections - 2 * threes
    out[12] = threes
    return 0


@rule("key")
def key(t: Row, s: Row) -> int:
    """Return a word-wise FNV-1a hash of the field, the number of the next pair and the pairs in sight."""
    h = 0x1B873593 + 0
    for plane in range(3):
        h = ((h ^ columns_a(s, plane)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        h ^= h >> 29
        h = ((h ^ columns_b(s, plane)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        h ^= h >> 31
    h = ((h ^ word(s, DROPPED)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
    h ^= h >> 29
    for k in range(QUEUE, len(s)):
        h = ((h ^ word(s, k)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        h ^= h >> 29
    return h


rollout = rollout_of(legal, step, over, measure)
rollout_all = rollout_of(legal, step, over, measure_all)


RULES = Rules(legal, step, over, mover, measure, key, rollout)
ALL_METRICS = RULES._replace(measure=measure_all, rollout=rollout_all)
