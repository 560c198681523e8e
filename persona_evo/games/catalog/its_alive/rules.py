"""The rules of It's Alive! as pure functions over a state row (see `layout` for the tables).

Cells are numbered x + width y from the bottom left. Flat actions are LAND + 4 column + orientation and COLLECT + the
lowest cell of the monster. A factored player says SAY_LAND or SAY_COLLECT where both can be done, then COLUMN + column
and TURN + orientation, or COLLECT + cell. Every action is accepted. The state is laid out as

| at | what |
|---|---|
| NEXT_AT | pieces landed so far, which is the place of the next one in the sequence |
| PHASE_AT, COLUMN_AT | what a factored player is asked, and the column said |
| COLLECTED_AT | monsters collected |
| OVER_AT | RUNNING, WON or LOST |
| LIVING_AT ... FILLED_AT | what `survey` saw on the field |
| STEPS_AT ... PAIRED_AT | counters that no rule reads |
| FIELD_AT | each cell: 0, or 1 + 4 kind + orientation |
| then | each cell's group: the lowest cell that its piece is joined to |
"""

from __future__ import annotations


import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.its_alive.layout import (
    DESIGN,
    EAST,
    FACTORED,
    HEAD,
    HEART,
    HEIGHT,
    LANDING_POINTS,
    MASKS,
    MONSTER_POINTS,
    NORTH,
    PAIR_POINTS,
    PIECES,
    PLAYER,
    SOUTH,
    TENACIOUS_PIECES,
    WEST,
    WIDTH,
    WIN,
)
from persona_evo.games.core import LOST, RUNNING, WON, Rules, rule
from persona_evo.games.rollouts import rollout_of
from persona_evo.games.rows import HASH_START, Row, add, mix, put, word

LAND, COLLECT, SAY_LAND, SAY_COLLECT, COLUMN, TURN, ACTIONS = 0, 32, 80, 81, 84, 92, 96
WHAT, WHERE, HOW, WHICH = range(4)
"""The questions to a factored player: land or collect, which column, which orientation, which monster."""
REGULAR, MONOCHROMESTER, TENACIOUS = range(3)
UNRESTRICTED, GREEDY, LAZY = range(3)
SHAPES = 6

(
    NEXT_AT,
    PHASE_AT,
    COLUMN_AT,
    COLLECTED_AT,
    OVER_AT,
    LIVING_AT,
    WORTH_AT,
    GROUP_AT,
    PAIRS_AT,
    FILLED_AT,
    STEPS_AT,
    POINTS_AT,
    LARGEST_AT,
    PAIRED_AT,
) = range(14)
FIELD_AT = 14


@compiled
def shape_of(piece: int) -> int:
    """Return the shape of the piece in a cell that is not empty."""
    return ((piece - 1) >> 2) % SHAPES


@compiled
def colour_of(piece: int) -> int:
    """Return the colour of the piece in a cell that is not empty."""
    return ((piece - 1) >> 2) // SHAPES


@compiled
def connectors(t: Row, piece: int) -> int:
    """Return the sides on which a piece joins others."""
    return word(t, MASKS + 4 * shape_of(piece) + ((piece - 1) & 3))


@compiled
def joint(t: Row, a: int, b: int, side: int, opposite: int) -> int:
    """Return whether piece a joins piece b on its `side`: 0 no, 1 yes, 2 yes and both have the same colour."""
    if a == 0 or b == 0 or connectors(t, a) & side == 0 or connectors(t, b) & opposite == 0:
        return 0
    if colour_of(a) == colour_of(b):
        return 2
    return 0 if word(t, DESIGN) == MONOCHROMESTER else 1


@compiled
def joint_east(t: Row, s: Row, cell: int) -> int:
    """Return the joint of a cell with the one to its right (see `joint`)."""
    if (cell + 1) % word(t, WIDTH) == 0:
        return 0
    return joint(t, word(s, FIELD_AT + cell), word(s, FIELD_AT + cell + 1), EAST, WEST)


@compiled
def joint_north(t: Row, s: Row, cell: int) -> int:
    """Return the joint of a cell with the one above it (see `joint`)."""
    above = cell + word(t, WIDTH)
    if above >= word(t, WIDTH) * word(t, HEIGHT):
        return 0
    return joint(t, word(s, FIELD_AT + cell), word(s, FIELD_AT + above), NORTH, SOUTH)


@compiled
def unite(s: Row, groups: int, cells: int, a: int, b: int) -> None:
    """Merge the groups of cells a and b under the lower of their names."""
    low = min(word(s, groups + a), word(s, groups + b))
    high = max(word(s, groups + a), word(s, groups + b))
    if low != high:
        for cell in range(cells):
            if word(s, groups + cell) == high:
                put(s, groups + cell, low)


@compiled
def alive(t: Row, pieces: int, heads: int, hearts: int) -> bool:
    """Return whether a group of pieces with these numbers of heads and hearts lives."""
    if heads == 0 or hearts == 0:
        return False
    return word(t, DESIGN) != TENACIOUS or pieces >= TENACIOUS_PIECES


@compiled
def points_of(pieces: int, pairs: int) -> int:
    """Return the points for collecting a monster (`layout.monster_points`)."""
    return MONSTER_POINTS * (pieces * (pieces + 1) // 2 + 1) + PAIR_POINTS * pairs


@compiled
def census(t: Row, s: Row, root: int) -> int:
    """Return the facts about the group named by cell `root`: pieces | pairs << 8 | 1 << 20 if it lives."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    groups = FIELD_AT + cells
    pieces = 0
    pairs = 0
    heads = 0
    hearts = 0
    for cell in range(root, cells):
        piece = word(s, FIELD_AT + cell)
        if piece != 0 and word(s, groups + cell) == root:
            pieces += 1
            shape = shape_of(piece)
            heads += 1 if shape == HEAD else 0
            hearts += 1 if shape == HEART else 0
            pairs += 1 if joint_east(t, s, cell) == 2 else 0
            pairs += 1 if joint_north(t, s, cell) == 2 else 0
    return pieces + (pairs << 8) + ((1 << 20) if alive(t, pieces, heads, hearts) else 0)


@compiled
def is_root(t: Row, s: Row, cell: int) -> bool:
    """Return whether this cell names a group."""
    return word(s, FIELD_AT + cell) != 0 and word(s, FIELD_AT + word(t, WIDTH) * word(t, HEIGHT) + cell) == cell


@compiled
def survey(t: Row, s: Row) -> None:
    """Record what lives on the field, and end the game if the field is full and nothing lives."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    living = 0
    worth = 0
    largest = 0
    pairs = 0
    filled = 0
    for cell in range(cells):
        if word(s, FIELD_AT + cell) != 0:
            filled += 1
            if is_root(t, s, cell):
                found = census(t, s, cell)
                pieces = found & 255
                joined = (found >> 8) & 4095
                largest = max(largest, pieces)
                pairs += joined
                if found >> 20:
                    living += 1
                    worth = max(worth, points_of(pieces, joined))
    put(s, LIVING_AT, living)
    put(s, WORTH_AT, worth)
    put(s, GROUP_AT, largest)
    put(s, PAIRS_AT, pairs)
    put(s, FILLED_AT, filled)
    if filled == cells and living == 0:
        put(s, OVER_AT, LOST)


@compiled
def height_of(t: Row, s: Row, column: int) -> int:
    """Return the number of pieces in a column."""
    row = 0
    while row < word(t, HEIGHT) and word(s, FIELD_AT + column + word(t, WIDTH) * row) != 0:
        row += 1
    return row


@compiled
def land(t: Row, s: Row, column: int, orientation: int) -> None:
    """Let the next piece land on a column; if the column is full, the game ends."""
    row = height_of(t, s, column)
    if row == word(t, HEIGHT):
        put(s, OVER_AT, LOST)
        return
    width = word(t, WIDTH)
    cells = width * word(t, HEIGHT)
    groups = FIELD_AT + cells
    cell = column + width * row
    kind = word(t, PIECES + word(s, NEXT_AT))
    if word(t, MASKS + 4 * (kind % SHAPES)) == word(t, MASKS + 4 * (kind % SHAPES) + 2):
        orientation &= 1
    put(s, FIELD_AT + cell, 1 + 4 * kind + orientation)
    put(s, groups + cell, cell)
    add(s, NEXT_AT, 1)
    add(s, POINTS_AT, LANDING_POINTS)
    join(t, s, groups, cells, cell)
    if column > 0 and joint_east(t, s, cell - 1):
        unite(s, groups, cells, cell - 1, cell)
    if row > 0 and joint_north(t, s, cell - width):
        unite(s, groups, cells, cell - width, cell)
    survey(t, s)


@compiled
def join(t: Row, s: Row, groups: int, cells: int, cell: int) -> None:
    """Unite a cell's group with those to its right and above."""
    if joint_east(t, s, cell):
        unite(s, groups, cells, cell, cell + 1)
    if joint_north(t, s, cell):
        unite(s, groups, cells, cell, cell + word(t, WIDTH))


@compiled
def fall(t: Row, s: Row) -> None:
    """Let unsupported pieces fall, column by column, and find the groups again."""
    width = word(t, WIDTH)
    height = word(t, HEIGHT)
    cells = width * height
    groups = FIELD_AT + cells
    for column in range(width):
        to = column + 0
        for row in range(height):
            piece = word(s, FIELD_AT + column + width * row)
            if piece != 0:
                put(s, FIELD_AT + column + width * row, 0)
                put(s, FIELD_AT + to, piece)
                to += width
    for cell in range(cells):
        put(s, groups + cell, cell if word(s, FIELD_AT + cell) != 0 else 0)
    for cell in range(cells):
        join(t, s, groups, cells, cell)


@compiled
def collect(t: Row, s: Row, root: int) -> None:
    """Remove the living monster named by cell `root` from the field; any other cell has no effect."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    if root >= cells or not is_root(t, s, root):
        return
    found = census(t, s, root)
    if found >> 20 == 0:
        return
    pieces = found & 255
    pairs = (found >> 8) & 4095
    add(s, POINTS_AT, points_of(pieces, pairs))
    add(s, PAIRED_AT, pairs)
    add(s, COLLECTED_AT, 1)
    put(s, LARGEST_AT, max(word(s, LARGEST_AT), pieces))
    for cell in range(root, cells):
        if word(s, FIELD_AT + cells + cell) == root:
            put(s, FIELD_AT + cell, 0)
    fall(t, s)
    survey(t, s)
    if word(s, COLLECTED_AT) == word(t, WIN):
        put(s, OVER_AT, WON)


@rule("step")
def step(t: Row, s: Row, action: int, rng: NDArray[np.int64]) -> int:
    """Carry out one decision."""
    add(s, STEPS_AT, 1)
    if word(s, OVER_AT) != RUNNING:
        return 0
    phase = WHAT + 0
    if LAND <= action < LAND + 4 * word(t, WIDTH):
        land(t, s, (action - LAND) >> 2, (action - LAND) & 3)
    elif COLLECT <= action < SAY_LAND:
        collect(t, s, action - COLLECT)
    elif action == SAY_LAND:
        phase = WHERE + 0
    elif action == SAY_COLLECT:
        phase = WHICH + 0
    elif COLUMN <= action < COLUMN + word(t, WIDTH):
        put(s, COLUMN_AT, action - COLUMN)
        phase = HOW + 0
    elif TURN <= action < TURN + 4:
        land(t, s, word(s, COLUMN_AT), action - TURN)
    if phase != HOW:
        put(s, COLUMN_AT, 0)
    put(s, PHASE_AT, phase)
    return 0


@compiled
def can_land(t: Row, s: Row) -> bool:
    """Return whether the player model can land a piece: the field is not full, and nothing lives if it is greedy."""
    if word(s, FILLED_AT) == word(t, WIDTH) * word(t, HEIGHT):
        return False
    return word(t, PLAYER) != GREEDY or word(s, LIVING_AT) == 0


@compiled
def can_collect(t: Row, s: Row) -> bool:
    """Return whether the player model can collect: something lives, and a lazy player has no room left."""
    if word(s, LIVING_AT) == 0:
        return False
    return word(t, PLAYER) != LAZY or not can_land(t, s)


@compiled
def landings(t: Row, s: Row, actions: NDArray[np.int64], count: int) -> int:
    """Write every column and orientation."""
    for column in range(word(t, WIDTH)):
        if height_of(t, s, column) < word(t, HEIGHT):
            for orientation in range(4):
                actions[count] = LAND + 4 * column + orientation
                count += 1
    return count


@compiled
def monsters(t: Row, s: Row, actions: NDArray[np.int64], count: int) -> int:
    """Write the living monsters."""
    for cell in range(word(t, WIDTH) * word(t, HEIGHT)):
        if is_root(t, s, cell) and census(t, s, cell) >> 20:
            actions[count] = COLLECT + cell
            count += 1
    return count


@rule("legal")
def legal(t: Row, s: Row, actions: NDArray[np.int64]) -> int:
    """Write what the player model can do: landings column by column, then monsters by their lowest cells."""
    phase = word(s, PHASE_AT)
    lands = can_land(t, s)
    collects = can_collect(t, s)
    if word(t, FACTORED) == 0:
        count = landings(t, s, actions, 0) if lands else 0
        return monsters(t, s, actions, count) if collects else count
    if phase == HOW:
        for orientation in range(4):
            actions[orientation] = TURN + orientation
        return 4
    if phase == WHAT and lands and collects:
        actions[0] = SAY_LAND
        actions[1] = SAY_COLLECT
        return 2
    if phase == WHICH or not lands:
        return monsters(t, s, actions, 0)
    count = 0
    for column in range(word(t, WIDTH)):
        if height_of(t, s, column) < word(t, HEIGHT):
            actions[count] = COLUMN + column
            count += 1
    return count


@rule("over")
def over(t: Row, s: Row) -> int:
    """Return WON with enough monsters collected, LOST if the field is full and nothing on it lives, else RUNNING."""
    return word(s, OVER_AT)


@rule("mover")
def mover(t: Row, s: Row) -> int:
    """Return 0, since there is only one player."""
    return 0


@rule("measure")
def measure(t: Row, s: Row, player: int, out: NDArray[np.float64]) -> int:
    """Write every metric of a state."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    highest = 0
    for column in range(word(t, WIDTH)):
        highest = max(highest, height_of(t, s, column))
    out[0] = word(s, STEPS_AT)
    out[1] = word(s, POINTS_AT)
    out[2] = word(s, POINTS_AT) / (LANDING_POINTS * cells + points_of(cells, 0))
    out[3] = word(s, COLLECTED_AT)
    out[4] = word(s, COLLECTED_AT) / word(t, WIN)
    out[5] = word(s, NEXT_AT)
    out[6] = word(s, LARGEST_AT) / cells
    out[7] = word(s, PAIRED_AT)
    out[8] = word(s, LIVING_AT)
    out[9] = word(s, WORTH_AT) / (LANDING_POINTS * cells + points_of(cells, 0))
    out[10] = word(s, GROUP_AT) / cells
    out[11] = word(s, PAIRS_AT)
    out[12] = word(s, FILLED_AT) / cells
    out[13] = highest / word(t, HEIGHT)
    out[14] = 1.0 if word(s, OVER_AT) == LOST else 0.0
    out[15] = 1.0 if word(s, OVER_AT) == WON else 0.0
    return 0


@rule("key")
def key(t: Row, s: Row) -> int:
    """Return a hash of what decides the future: the place in the sequence, the phase, what is collected, the field."""
    h = HASH_START + 0
    for k in range(LIVING_AT):
        h = mix(h, word(s, k))
    for k in range(FIELD_AT, FIELD_AT + word(t, WIDTH) * word(t, HEIGHT)):
        h = mix(h, word(s, k))
    return h


rollout = rollout_of(legal, step, over, measure)


RULES = Rules(legal, step, over, mover, measure, key, rollout)
