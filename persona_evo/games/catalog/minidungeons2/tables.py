"""A level's tables: everything that a level fixes, as one row of uint16, and the two grid searches that fill it.

Tiles are the passable cells of the board, numbered row by row. The row is laid out as

| from | length | what |
|---|---|---|
| 0 | 32 | the header, named below |
| X | n | x of each tile |
| Y | n | y of each tile |
| NEXT | 4 n | the tile to the north, east, south and west, NOWHERE for walls and the board's edge |
| WAY | n | moves of the original's path from the tile to the exit, NOWHERE without a path |
| THING | n | what lies there: kind, and number << 3 for potions and treasures |
| AFTER | n | how many monsters stand in the list before what lies there |
| SIGHT | n | bit 0: a potion can be in sight of here, bit 1: a treasure |
| KIND | m | kind of each monster |
| PAIR | n n | what holds between two tiles (see `pair`), if n <= PAIR_TILES |
| MOVES | n n | moves between two tiles around walls, NOWHERE without a way, if n <= PAIR_TILES |
| BOARD | w h | the tile of each cell, NOWHERE for walls |
| TARGETS | p + t | tile of each potion, then of each treasure |
| SCRATCH | 5 n | space for path searches (so tables are not to be shared between threads) |

The path search is that of the original game, with its ordering of equal candidates and its way of correcting an entry,
since the choice among equally short paths decides where a monster goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from persona_evo.compiling import apart, callback, compiled
from persona_evo.games.rows import Row, put, word

if TYPE_CHECKING:
    from persona_evo.games.catalog.minidungeons2.levels import DungeonLevel

NOWHERE = 0xFFFF
(TILES, MONSTERS, THINGS, WORDS, HERO, EXIT, PORTAL_A, PORTAL_B) = range(8)
(POTIONS, TREASURES, MORTALS, FARTHEST, WIDTH, HEIGHT, PAIRED) = range(8, 15)
(HP_CAP, WIZARD_RANGE, OBJECT_WINS_TIE, GOBLINS_AVOID, NPC_AFTER_END) = range(15, 20)
SWITCHES = {
    "hp_cap": HP_CAP,
    "wizard_range": WIZARD_RANGE,
    "object_wins_tie": OBJECT_WINS_TIE,
    "goblins_avoid": GOBLINS_AVOID,
    "npc_after_end": NPC_AFTER_END,
}
PAIR_AT, BOARD_AT, MOVES_AT, SCRATCH_AT = 20, 22, 24, 26
"""Offsets that need two words: low, high."""
HEADER = 32

NOTHING, POTION, TREASURE, TRAP, PORTAL, DOOR = range(6)
GOBLIN, WIZARD, OGRE, BLOB, MINITAUR = range(1, 6)
MONSTER_KINDS = {"M": GOBLIN, "R": WIZARD, "o": OGRE, "b": BLOB, "m": MINITAUR}
THING_KINDS = {"P": POTION, "T": TREASURE, "t": TRAP, "p": PORTAL, "e": DOOR}

PAIR_TILES = 4000
"""Levels with more tiles than this have no table of pairs (32 MB at this size); what it holds is computed each time."""
PAIR_FILL = 260
"""Levels with more tiles than this fill the table of pairs as it is asked for."""
WAY_TILES = 4000
"""Levels with more tiles than this measure the way to the exit by breadth-first search (the original's path is now
and then longer by a move or two; its search from each tile would take minutes)."""

NO_STEP = 4
SEES, SEEN = 8, 16


@compiled
def offset(row: Row, at: int) -> int:
    """Return an offset that is kept in two words."""
    return word(row, at) + (word(row, at + 1) << 16)


@compiled
def swap(row: Row, a: int, b: int) -> None:
    """Exchange two entries."""
    kept = word(row, a)
    put(row, a, word(row, b))
    put(row, b, kept)


@compiled
def line_of_sight(t: Row, a: int, b: int) -> int:
    """Return 1 if the integer walk from tile a to tile b meets no wall, else 0. The result is not symmetric."""
    n = word(t, TILES)
    w = word(t, WIDTH)
    board = offset(t, BOARD_AT)
    x = word(t, HEADER + a)
    y = word(t, HEADER + n + a)
    dx = word(t, HEADER + b) - x
    dy = word(t, HEADER + n + b) - y
    sx = 1 if dx > 0 else -1
    sy = 1 if dy > 0 else -1
    dx = abs(dx)
    dy = abs(dy)
    e = dx - dy
    for _ in range(1 + dx + dy):
        if word(t, board + y * w + x) == NOWHERE:
            return 0
        if e > 0:
            x += sx
            e -= 2 * dy
        else:
            y += sy
            e += 2 * dx
    return 1


@apart
def find_path(t: Row, start: int, goal: int) -> int:
    """Search a path with the original's A*; return (moves << 3) | direction of the first step, or NO_STEP.

    It uses the scratch space at the end of the tables: the heap, then f, g, parent and mark of each tile.
    """
    if start == goal:
        return NO_STEP
    n = word(t, TILES)
    gx = word(t, HEADER + goal)
    gy = word(t, HEADER + n + goal)
    heap = offset(t, SCRATCH_AT)
    f = heap + n
    g = f + n
    parent = g + n
    mark = parent + n
    for i in range(n):
        put(t, mark + i, 0)
    put(t, heap + 0, start)
    size = 1
    put(t, g + start, 0)
    put(t, f + start, abs(word(t, HEADER + start) - gx) + abs(word(t, HEADER + n + start) - gy))
    put(t, parent + start, NOWHERE)
    put(t, mark + start, 1)
    while size > 0:
        here = word(t, heap)
        if here == goal:
            moves = word(t, g + goal)
            while word(t, parent + here) != start:
                here = word(t, parent + here)
            for d in range(4):
                if word(t, HEADER + 2 * n + 4 * start + d) == here:
                    return (moves << 3) | d
        size -= 1
        put(t, heap + 0, word(t, heap + size))
        i = 0
        while True:
            best = i
            if 2 * i + 1 < size and word(t, f + word(t, heap + best)) > word(t, f + word(t, heap + 2 * i + 1)):
                best = 2 * i + 1
            if 2 * i + 2 < size and word(t, f + word(t, heap + best)) > word(t, f + word(t, heap + 2 * i + 2)):
                best = 2 * i + 2
            if best == i:
                break
            swap(t, heap + i, heap + best)
            i = best
        put(t, mark + here, 2)
        for k in range(4):
            d = (k * 3) & 3 if k < 2 else (1 if k == 2 else 2)  # north, west, east, south
            to = word(t, HEADER + 2 * n + 4 * here + d)
            if to == NOWHERE or word(t, mark + to) == 2:
                continue
            cost = word(t, g + here) + 1
            if word(t, mark + to) == 0:
                put(t, mark + to, 1)
                put(t, g + to, cost)
                put(t, f + to, cost + abs(word(t, HEADER + to) - gx) + abs(word(t, HEADER + n + to) - gy))
                put(t, parent + to, here)
                i = size
                put(t, heap + i, to)
                size += 1
                while i > 0 and word(t, f + word(t, heap + i)) < word(t, f + word(t, heap + (i - 1) // 2)):
                    up = (i - 1) // 2
                    swap(t, heap + i, heap + up)
                    i = up
            elif cost < word(t, g + to):
                put(t, f + to, word(t, f + to) - (word(t, g + to) - cost))
                put(t, g + to, cost)
                put(t, parent + to, here)
                i = 0
                while word(t, heap + i) != to:
                    i += 1
                while i > 0 and word(t, f + word(t, heap + i - 1)) > word(t, f + to):
                    swap(t, heap + i, heap + i - 1)
                    i -= 1
                while i + 1 < size and word(t, f + word(t, heap + i + 1)) < word(t, f + to):
                    swap(t, heap + i, heap + i + 1)
                    i += 1
    return NO_STEP


@apart
def entry(t: Row, target: int, start: int) -> int:
    n = word(t, TILES)
    step = find_path(t, start, target) & 7
    far = abs(word(t, HEADER + start) - word(t, HEADER + target))
    far += abs(word(t, HEADER + n + start) - word(t, HEADER + n + target))
    return (far << 6) | step | (SEES * line_of_sight(t, start, target)) | (SEEN * line_of_sight(t, target, start))


@compiled
def pair_row(t: Row, target: int) -> int:
    """Return where the pairs of one target begin; -1 on levels without a table of pairs."""
    if word(t, PAIRED) == 0:
        return -1
    return offset(t, PAIR_AT) + target * word(t, TILES)


@compiled
def pair_in(t: Row, row: int, target: int, start: int) -> int:
    """Return the relation between a target (hero, potion, treasure) and a tile `start` (where a monster is).

    Bits 0-2 are the direction of the first step from start to target (0 N, 1 E, 2 S, 3 W, NO_STEP without a path).
    SEES: the line of sight from start to target is free. SEEN: that from target to start is free. From bit 6 on: the
    Manhattan distance. `row` is `pair_row(t, target)`.
    """
    if row < 0:
        return entry(t, target, start)  # type: ignore[no-any-return]
    known = word(t, row + start)
    if known == NOWHERE:
        known = entry(t, target, start)
        put(t, row + start, known)
    return known


@compiled
def pair(t: Row, target: int, start: int) -> int:
    """Return the result of `pair_in` for a single query."""
    return pair_in(t, pair_row(t, target), target, start)


@callback()
def fill_pairs(t: Row) -> int:
    n = word(t, TILES)
    for target in range(n):
        for start in range(n):
            pair(t, target, start)
    return 0


@compiled
def spread(t: Row, row: int, source: int) -> int:
    """Write the number of moves from tile `source` to each tile to t[row:], NOWHERE without a path (breadth-first).

    Returns:
        The largest of these numbers.
    """
    n = word(t, TILES)
    queue = offset(t, SCRATCH_AT)
    for i in range(n):
        put(t, row + i, NOWHERE)
    put(t, row + source, 0)
    put(t, queue, source)
    size = 1
    at = 0
    moves = 0
    while at < size:
        here = word(t, queue + at)
        at += 1
        moves = word(t, row + here)
        for d in range(4):
            to = word(t, HEADER + 2 * n + 4 * here + d)
            if to != NOWHERE and word(t, row + to) == NOWHERE:
                put(t, row + to, moves + 1)
                put(t, queue + size, to)
                size += 1
    return moves


@callback()
def fill_ways(t: Row, exact: int) -> int:
    """Write the length of the way from each tile to the exit; return the longest."""
    n = word(t, TILES)
    door = word(t, EXIT)
    way = HEADER + 6 * n
    longest = spread(t, way, door)
    if exact:
        longest = 0
        for i in range(n):
            if i != door and word(t, way + i) != NOWHERE:
                moves = find_path(t, i, door) >> 3
                put(t, way + i, moves)
                longest = max(longest, moves)
    return longest


@callback()
def fill_moves(t: Row) -> int:
    """Write the moves between all pairs of tiles."""
    n = word(t, TILES)
    for start in range(n):
        spread(t, offset(t, MOVES_AT) + start * n, start)
    return 0


@callback()
def fill_sight(t: Row) -> int:
    n = word(t, TILES)
    targets = offset(t, BOARD_AT) + word(t, WIDTH) * word(t, HEIGHT)
    potions = word(t, POTIONS)
    for k in range(potions + word(t, TREASURES)):
        bit = 1 if k < potions else 2
        for i in range(n):
            if pair(t, word(t, targets + k), i) & SEES:
                t[HEADER + 9 * n + i] |= bit
    return 0


def build(grid: DungeonLevel, flags: dict[str, int]) -> tuple[Row, Row]:
    """Return the tables and the start state of a level; `flags` holds the rule set's switches (see `RULE_SETS`)."""
    w, h = grid.width, grid.height
    cells = {(x, y): c for y, row in enumerate(grid.rows) for x, c in enumerate(row) if c != "X"}
    tiles = sorted(cells, key=lambda p: (p[1], p[0]))
    number = {p: i for i, p in enumerate(tiles)}
    n = len(tiles)
    monsters = [(c, x, y) for c, x, y in grid.objects if c in MONSTER_KINDS]
    potions = [(x, y) for c, x, y in grid.objects if c == "P"]
    treasures = [(x, y) for c, x, y in grid.objects if c == "T"]
    m, things = len(monsters), len(potions) + len(treasures)
    words = (things + 15) // 16
    paired = n <= PAIR_TILES
    pair_at = HEADER + 10 * n + m
    moves_at = pair_at + (n * n if paired else 0)
    board_at = moves_at + (n * n if paired else 0)
    scratch_at = board_at + w * h + things
    t = np.zeros(scratch_at + 5 * n, dtype=np.uint16)
    t[[TILES, MONSTERS, THINGS, WORDS]] = n, m, things, words
    t[[HERO, EXIT]] = number[grid.hero], number[grid.exit]
    t[[PORTAL_A, PORTAL_B]] = [number[p] for p in grid.portals] or [NOWHERE, NOWHERE]
    t[[POTIONS, TREASURES]] = len(potions), len(treasures)
    t[MORTALS] = sum(c != "m" for c, _, _ in monsters)
    t[[WIDTH, HEIGHT, PAIRED]] = w, h, paired
    for at, value in ((PAIR_AT, pair_at), (MOVES_AT, moves_at), (BOARD_AT, board_at), (SCRATCH_AT, scratch_at)):
        t[[at, at + 1]] = value & 0xFFFF, value >> 16
    for name, at in SWITCHES.items():
        t[at] = flags[name]
    t[board_at:scratch_at] = NOWHERE
    before: dict[tuple[int, int], int] = {}
    seen = 0
    for c, x, y in grid.objects:
        before[x, y] = seen
        seen += c in MONSTER_KINDS
    lying = {p: k for k, p in enumerate(potions)} | {p: k + len(potions) for k, p in enumerate(treasures)}
    for p, i in number.items():
        x, y = p
        t[HEADER + i], t[HEADER + n + i] = x, y
        for d, (dx, dy) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
            t[HEADER + 2 * n + 4 * i + d] = number.get((x + dx, y + dy), NOWHERE)
        t[HEADER + 7 * n + i] = THING_KINDS.get(cells[p], NOTHING) | lying.get(p, 0) << 3
        t[HEADER + 8 * n + i] = before.get(p, 0)
        t[board_at + y * w + x] = i
    t[HEADER + 10 * n : pair_at] = [MONSTER_KINDS[c] for c, _, _ in monsters]
    t[board_at + w * h : scratch_at] = [number[p] for p in potions + treasures]
    t[FARTHEST] = fill_ways(t, int(n <= WAY_TILES))
    if paired:
        t[pair_at:moves_at] = NOWHERE
        fill_moves(t)
    if n <= PAIR_FILL:
        fill_pairs(t)
        fill_sight(t)
    else:
        t[HEADER + 9 * n : HEADER + 10 * n] = 3
    return t, _start(t, [number[x, y] for _, x, y in monsters])


HERO_AT, HP_AT, JAVELIN_AT, STEPS_AT, FLAGS_AT, DRUNK_AT, OPENED_AT, SLAIN_AT = range(8)
KNOCKED_AT, THROWN_AT, PORTALS_AT, TRAPS_AT, HURT_AT, THINGS_AT = range(8, 14)
HP_BIAS = 1000
"""The bias added to stored hit points, which can fall below zero."""
START_HP = 10
MONSTER_HP = {GOBLIN: 1, WIZARD: 1, OGRE: 2, BLOB: 1, MINITAUR: 0}


def _start(t: Row, where: list[int]) -> Row:
    """Build the start state: header words, bits of what is left, the place of each monster, its hit points."""
    n, m, words = int(t[TILES]), int(t[MONSTERS]), int(t[WORDS])
    s = np.zeros(THINGS_AT + words + 2 * m, dtype=np.uint16)
    s[HERO_AT], s[HP_AT], s[JAVELIN_AT] = t[HERO], START_HP + HP_BIAS, NOWHERE
    for k in range(int(t[THINGS])):
        s[THINGS_AT + (k >> 4)] |= 1 << (k & 15)
    s[THINGS_AT + words : THINGS_AT + words + m] = where
    s[THINGS_AT + words + m :] = [MONSTER_HP[int(k)] for k in t[HEADER + 10 * n : HEADER + 10 * n + m]]
    return s
