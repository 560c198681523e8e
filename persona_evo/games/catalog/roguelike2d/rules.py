"""The rules of 2D Roguelike as pure functions over a state row (see `layout` for the tables).

Actions: 0 north, 1 east, 2 south, 3 west; a factored player says first TOWARD or AWAY (from the exit), then LATERAL or
VERTICAL. Every action is accepted. The state is laid out as

| at | what |
|---|---|
| DAY_AT | the day, from 1 |
| CELL_AT | the player's cell |
| FOOD_AT | food left |
| FLAGS_AT | HAS_WON, IS_DEAD |
| TURN_AT | 0 if the enemies act after the next move, 1 if they skip |
| SAID_AT | 0, or 1 + what a factored player said first |
| ITEMS_AT | a bit for each item that is still there |
| WALLS_AT | four bits for each wall: bumps that it still takes, four walls a word |
| ENEMIES_AT | the enemies' cells |
| STEPS_AT ... | counters; REWARD_AT takes two words |
"""

from __future__ import annotations


import numpy as np

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow
from persona_evo.games.catalog.roguelike2d.layout import (
    BOARD,
    CELLS,
    DAY,
    DAYS,
    ENEMIES,
    ENEMY_CELLS,
    ENEMY_KINDS,
    EXIT,
    GAINS,
    HEADER,
    HURTS,
    ITEM,
    ITEMS_COUNT,
    ITEM_KINDS,
    MOST_ENEMIES,
    PLAYER,
    SIDE,
    START,
    START_FOOD,
    WALL_COUNT,
    WALL_HITS,
    WAY,
)
from persona_evo.games.core import LOST, RUNNING, WON, Rules, rule
from persona_evo.games.rows import HASH_START, Row, add, add_long, mix, put, word
from persona_evo.seeds import below

NORTH, EAST, SOUTH, WEST, TOWARD, AWAY, LATERAL, VERTICAL = range(8)
UNRESTRICTED, FACTORED, FORWARD_ONLY = range(3)
TOWARD_WEIGHT, AWAY_WEIGHT = 2, 1
"""The weights with which a random factored player goes toward the exit and away from it."""

HAS_WON, IS_DEAD = 1, 2
DAY_AT, CELL_AT, FOOD_AT, FLAGS_AT, TURN_AT, SAID_AT, ITEMS_AT, WALLS_AT = range(8)
ENEMIES_AT = WALLS_AT + 3
STEPS_AT = ENEMIES_AT + MOST_ENEMIES
MOVES_AT, EATEN_AT, GAINED_AT, HITS_AT, DAMAGE_AT, BROKEN_AT, REWARD_AT = range(STEPS_AT + 1, STEPS_AT + 8)
STATE = REWARD_AT + 2


@compiled
def today(t: Row, s: Row) -> int:
    """Return where the block of the state's day begins in the tables."""
    return HEADER + DAY * (word(s, DAY_AT) - 1)


@compiled
def dawn(t: Row, s: Row, day: int) -> None:
    """Begin a day."""
    put(s, DAY_AT, day)
    put(s, CELL_AT, START)
    put(s, TURN_AT, 0)
    block = today(t, s)
    put(s, ITEMS_AT, (1 << word(t, block + ITEMS_COUNT)) - 1)
    for k in range(3):
        put(s, WALLS_AT + k, 0)
    for k in range(word(t, block + WALL_COUNT)):
        add(s, WALLS_AT + (k >> 2), WALL_HITS << 4 * (k & 3))
    for k in range(MOST_ENEMIES):
        put(s, ENEMIES_AT + k, word(t, block + ENEMY_CELLS + k))


@compiled
def bumps_left(t: Row, s: Row, cell: int) -> int:
    """Return the number of bumps that the wall on a cell can still take; 0 without a wall."""
    k = word(t, today(t, s) + BOARD + cell) - 1
    if k < 0 or k >= ITEM - 1:
        return 0
    return (word(s, WALLS_AT + (k >> 2)) >> 4 * (k & 3)) & 15


@compiled
def enemy_on(t: Row, s: Row, cell: int) -> int:
    """Return whether an enemy stands on a cell."""
    for k in range(word(t, today(t, s) + ENEMIES)):
        if word(s, ENEMIES_AT + k) == cell:
            return 1
    return 0


@compiled
def die(s: Row) -> None:
    """Lose the game; the reward includes today's way toward the exit."""
    cell = word(s, CELL_AT)
    put(s, FLAGS_AT, IS_DEAD)
    add_long(s, REWARD_AT, cell % SIDE + cell // SIDE)


@compiled
def arrive(t: Row, s: Row, cell: int) -> int:
    """Let the player pick up what lies on the cell; return 1 if it is the exit, which ends the day."""
    lies = word(t, today(t, s) + BOARD + cell) - ITEM
    if lies >= 0 and (word(s, ITEMS_AT) >> lies) & 1:
        gain = word(t, GAINS + word(t, today(t, s) + ITEM_KINDS + lies))
        put(s, ITEMS_AT, word(s, ITEMS_AT) & ~(1 << lies))
        add(s, FOOD_AT, gain)
        add(s, GAINED_AT, gain)
        add(s, EATEN_AT, 1)
    if cell != EXIT:
        return 0
    add_long(s, REWARD_AT, word(s, FOOD_AT))
    if word(s, DAY_AT) == word(t, DAYS):
        put(s, FLAGS_AT, HAS_WON)
    else:
        dawn(t, s, word(s, DAY_AT) + 1)
    return 1


@compiled
def neighbour(cell: int, direction: int) -> int:
    """Return the cell one step away; -1 if it is off the board."""
    x = cell % SIDE
    y = cell // SIDE
    if direction == NORTH:
        y += 1
    elif direction == EAST:
        x += 1
    elif direction == SOUTH:
        y -= 1
    else:
        x -= 1
    if x < 0 or y < 0 or x >= SIDE or y >= SIDE:
        return -1
    return x + SIDE * y


@compiled
def attempt(t: Row, s: Row, direction: int) -> int:
    """Carry out the player's half of a turn; return 1 if the enemies' half follows."""
    put(s, FOOD_AT, word(s, FOOD_AT) - 1)
    add(s, MOVES_AT, 1)
    to = neighbour(word(s, CELL_AT), direction)
    moved = to >= 0 and enemy_on(t, s, to) == 0
    if moved and bumps_left(t, s, to) > 0:
        k = word(t, today(t, s) + BOARD + to) - 1
        put(s, WALLS_AT + (k >> 2), word(s, WALLS_AT + (k >> 2)) - (1 << 4 * (k & 3)))
        moved = bumps_left(t, s, to) == 0
        if moved:
            add(s, BROKEN_AT, 1)
    if moved:
        put(s, CELL_AT, to)
    if word(s, FOOD_AT) == 0:
        die(s)
        return 0
    if moved and arrive(t, s, to):
        return 0
    return 1


@compiled
def enemy_step(here: int, player: int) -> int:
    """Return an enemy's next cell toward the player: within the column if both share it, else along the row."""
    if here % SIDE == player % SIDE:
        return here + SIDE if player > here else here - SIDE
    return here + 1 if player % SIDE > here % SIDE else here - 1


@compiled
def enemies_act(t: Row, s: Row) -> None:
    """Let every enemy step or attack once, in the order laid, until the player is dead."""
    block = today(t, s)
    player = word(s, CELL_AT)
    for k in range(word(t, block + ENEMIES)):
        to = enemy_step(word(s, ENEMIES_AT + k), player)
        if to == player:
            hurt = word(t, HURTS + word(t, block + ENEMY_KINDS + k))
            add(s, HITS_AT, 1)
            add(s, DAMAGE_AT, hurt)
            put(s, FOOD_AT, max(0, word(s, FOOD_AT) - hurt))
            if word(s, FOOD_AT) == 0:
                die(s)
                return
        elif bumps_left(t, s, to) == 0 and enemy_on(t, s, to) == 0:
            put(s, ENEMIES_AT + k, to)


@compiled
def direction_of(s: Row, action: int) -> int:
    """Return the direction that an action means."""
    if action < TOWARD:
        return action
    away = word(s, SAID_AT) == 1 + AWAY
    if action == LATERAL:
        return WEST if away else EAST
    return SOUTH if away else NORTH


@rule("step")
def step(t: Row, s: Row, action: int, rng: IntRow) -> int:
    """Carry out one decision: the first half of a factored move, or a move and the enemies' reaction."""
    add(s, STEPS_AT, 1)
    if word(s, FLAGS_AT) != 0 or action < 0:
        return 0
    if action == TOWARD or action == AWAY:
        put(s, SAID_AT, 1 + action)
        return 0
    direction = direction_of(s, action)
    put(s, SAID_AT, 0)
    if attempt(t, s, direction):
        if word(s, TURN_AT) == 0:
            enemies_act(t, s)
        put(s, TURN_AT, 1 - word(s, TURN_AT))
    return 0


@rule("legal")
def legal(t: Row, s: Row, actions: IntRow) -> int:
    """Write what the player model can do, including bumps into walls."""
    player = word(t, PLAYER)
    if player == FACTORED:
        first = TOWARD if word(s, SAID_AT) == 0 else LATERAL
        actions[0] = first
        actions[1] = first + 1
        return 2
    count = 2 if player == FORWARD_ONLY else 4
    for k in range(count):
        actions[k] = k
    return count


@rule("over")
def over(t: Row, s: Row) -> int:
    """Return LOST if the player is dead, WON if every day is survived, else RUNNING."""
    flags = word(s, FLAGS_AT)
    if flags == HAS_WON:
        return WON
    return LOST if flags == IS_DEAD else RUNNING


@rule("mover")
def mover(t: Row, s: Row) -> int:
    """Return 0, since there is only one player."""
    return 0


@compiled
def apart(a: int, b: int) -> int:
    """Return the number of moves between two cells with nothing in the way."""
    return abs(a % SIDE - b % SIDE) + abs(a // SIDE - b // SIDE)


@compiled
def nearest_item(t: Row, s: Row) -> int:
    """Return the number of moves to the nearest item of the day; 0 without any."""
    block = today(t, s)
    best = -1
    for cell in range(CELLS):
        lies = word(t, block + BOARD + cell) - ITEM
        if lies >= 0 and (word(s, ITEMS_AT) >> lies) & 1:
            way = apart(cell, word(s, CELL_AT))
            if best < 0 or way < best:
                best = way
    return max(0, best)


@compiled
def nearest_enemy(t: Row, s: Row) -> int:
    """Return the number of moves to the nearest enemy; WAY without any."""
    best = WAY + 0
    for k in range(word(t, today(t, s) + ENEMIES)):
        best = min(best, apart(word(s, ENEMIES_AT + k), word(s, CELL_AT)))
    return best


@rule("measure")
def measure(t: Row, s: Row, player: int, out: FloatRow) -> int:
    """Write every metric of a state."""
    won = word(s, FLAGS_AT) == HAS_WON
    cell = word(s, CELL_AT)
    walked = cell % SIDE + cell // SIDE
    survived = word(s, DAY_AT) - 1
    if won:
        survived += 1
    out[0] = word(s, STEPS_AT)
    out[1] = word(s, MOVES_AT)
    out[2] = word(s, FOOD_AT)
    out[3] = survived
    out[4] = 1.0 if won else (survived + walked / WAY) / word(t, DAYS)
    out[5] = word(s, EATEN_AT)
    out[6] = word(s, GAINED_AT)
    out[7] = word(s, HITS_AT)
    out[8] = word(s, DAMAGE_AT)
    out[9] = word(s, BROKEN_AT)
    out[10] = (word(s, REWARD_AT) + (word(s, REWARD_AT + 1) << 16)) / (START_FOOD * word(t, DAYS))
    out[11] = 1.0 if word(s, FLAGS_AT) == IS_DEAD else 0.0
    out[12] = 1.0 if won else 0.0
    out[13] = (WAY - walked) / WAY
    out[14] = nearest_item(t, s) / WAY
    out[15] = nearest_enemy(t, s) / WAY
    return 0


@rule("key")
def key(t: Row, s: Row) -> int:
    """Return a hash of what decides the future: the day and where everything is, without the counters."""
    h = HASH_START + 0
    for k in range(STEPS_AT):
        h = mix(h, word(s, k))
    return h


_legal, _step, _over, _measure = (f.plain for f in (legal, step, over, measure))


@rule("rollout")
def rollout(
    t: Row,
    s: Row,
    actions: IntRow,
    played: IntRow,
    length: int,
    rng: IntRow,
    seen: FloatTable,
    every: int,
) -> int:
    """Play random moves in place; a factored player goes toward the exit as often as the weights say."""
    made = 0
    while made < length and _over(t, s) == RUNNING:
        count = _legal(t, s, actions)
        action = actions[0]
        if action == TOWARD:
            if below(rng, TOWARD_WEIGHT + AWAY_WEIGHT) >= TOWARD_WEIGHT:
                action = actions[1]
        else:
            action = actions[below(rng, count)]
        _step(t, s, action, rng)
        played[made] = action
        if every:
            _measure(t, s, 0, seen[made])
        made += 1
    return made


RULES = Rules(legal, step, over, mover, measure, key, rollout)


def first(t: Row) -> Row:
    """Return the state before the first move."""
    s = np.zeros(STATE, dtype=np.uint16)
    s[FOOD_AT] = START_FOOD
    dawn(t, s, 1)
    return s
