"""The rules of Colosseum Survival! as pure functions over a state row (see `board` for both rows' layout).

An action is 4 * cell + direction: walk to the cell, then wall that side of it. Legal actions come in the order of rows,
columns and directions. Every action is accepted: one that is not legal becomes the random walk's move.
"""

from __future__ import annotations


from persona_evo.compiling import compiled, row
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow
from persona_evo.games.catalog.colosseum.board import (
    word,
    Cells,
    CELLS,
    MOVES,
    REACH,
    RESULT,
    ROWS,
    SEATS,
    SIDE,
    SIZE,
    WALLS,
    WORDS,
    build,
    component,
    count_cells,
    is_open,
    may_divide,
    nearer,
    neighbour,
    open_sides,
    read_walls,
    walk_area,
    walls_around,
)
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Rules, rule
from persona_evo.games.rollouts import rollout_by
from persona_evo.games.rows import Row
from persona_evo.seeds import below

(
    STEPS,
    TO_MOVE,
    WIN,
    LOSS,
    MARGIN,
    WALLED,
    OTHER_WALLED,
    BESIDE,
    REACHED,
    OTHER_REACHED,
    MOVES_LEFT,
    OTHER_MOVES,
    WAY,
    NEARER,
    OTHER_NEARER,
) = range(15)
"""The order of the metrics."""


@compiled
def count_moves(n: int, east: Cells, south: Cells, seen: Cells) -> int:
    """Return the number of moves that end in the cells of a set."""
    total = 0
    for r in range(n):
        if seen[r]:
            total += open_sides(n, east, south, r, seen[r])
    return total


@compiled
def list_moves(n: int, east: Cells, south: Cells, seen: Cells, actions: IntRow) -> int:
    """Write all moves that end in the cells of a set; return their number."""
    count = 0
    for r in range(n):
        cells = seen[r]
        c = 0
        while cells:
            if cells & 1:
                for d in range(4):
                    if is_open(n, east, south, r, c, d):
                        actions[count] = 4 * (r * n + c) + d
                        count += 1
            cells >>= 1
            c += 1
    return count


@compiled
def nth_move(n: int, east: Cells, south: Cells, seen: Cells, number: int) -> int:
    """Return the move that `list_moves` writes at an index, without listing the moves; -1 if there is none."""
    for r in range(n):
        here = open_sides(n, east, south, r, seen[r])
        if number >= here:
            number -= here
            continue
        cells = seen[r]
        c = 0
        while cells:
            if cells & 1:
                for d in range(4):
                    if is_open(n, east, south, r, c, d):
                        if number == 0:
                            return 4 * (r * n + c) + d
                        number -= 1
            cells >>= 1
            c += 1
    return -1


@compiled
def random_walk(n: int, reach: int, east: Cells, south: Cells, me: int, other: int, rng: IntRow) -> int:
    """Return a move of the course's random player, which is not uniform over legal moves; -1 if all sides are walls.

    The player takes up to below(K + 1) steps, each through a random open side that does not lead to the opponent, and
    then walls a random open side.
    """
    cell = me
    steps = below(rng, reach + 1)
    for _ in range(steps):
        r = cell // n
        c = cell - r * n
        ways = 0
        for d in range(4):
            if is_open(n, east, south, r, c, d) and neighbour(n, cell, d) != other:
                ways += 1
        if ways == 0:
            break
        chosen = below(rng, ways)
        for d in range(4):
            if is_open(n, east, south, r, c, d) and neighbour(n, cell, d) != other:
                if chosen == 0:
                    cell = neighbour(n, cell, d)
                    break
                chosen -= 1
    r = cell // n
    c = cell - r * n
    ways = open_sides(n, east, south, r, 1 << c)
    if ways == 0:
        return -1
    chosen = below(rng, ways)
    for d in range(4):
        if is_open(n, east, south, r, c, d):
            if chosen == 0:
                return 4 * cell + d
            chosen -= 1
    return -1


@compiled
def put_down(t: Row, s: Row, east: Cells, south: Cells, action: int) -> int:
    """Make a legal move in the state and in its unpacked walls; return 1 if it ended the game."""
    n = word(t, SIZE)
    side = word(s, SIDE)
    cell = action >> 2
    d = action & 3
    s[SEATS + side] = cell
    build(t, s, cell, d)
    r = cell // n
    c = cell - r * n
    if d == 0:
        south[r - 1] |= 1 << c
    elif d == 1:
        east[r] |= 1 << c
    elif d == 2:
        south[r] |= 1 << c
    else:
        east[r] |= 1 << (c - 1)
    s[SIDE] = 1 - side
    s[MOVES] = word(s, MOVES) + 1
    if may_divide(n, east, south, cell, d) == 0:
        return 0
    return settle(n, s, east, south)


@compiled
def settle(n: int, s: Row, east: Cells, south: Cells) -> int:
    """Check whether the players are separated, and if so who has more cells; return 1 if they are."""
    seen = row(ROWS)
    if component(n, east, south, word(s, SEATS), word(s, SEATS + 1), seen):
        return 0
    mine = count_cells(n, seen)
    component(n, east, south, word(s, SEATS + 1), -1, seen)
    others = count_cells(n, seen)
    s[CELLS] = mine
    s[CELLS + 1] = others
    s[RESULT] = WON if mine > others else LOST if mine < others else ENDED
    return 1


@compiled
def can_make(n: int, east: Cells, south: Cells, seen: Cells, action: int) -> int:
    """Return 1 if a move ends in a cell of the set, at an open side of it, else 0."""
    if action < 0 or action >= 4 * n * n:
        return 0
    cell = action >> 2
    r = cell // n
    c = cell - r * n
    return ((seen[r] >> c) & 1) & is_open(n, east, south, r, c, action & 3)


@compiled
def area_of_mover(t: Row, s: Row, east: Cells, south: Cells, seen: Cells) -> int:
    """Write where the player to move can walk; return the board's size. The walls must be unpacked."""
    n = word(t, SIZE)
    side = word(s, SIDE)
    walk_area(n, east, south, word(s, SEATS + side), word(s, SEATS + 1 - side), word(t, REACH), seen)
    return n


@rule("legal")
def legal(t: Row, s: Row, actions: IntRow) -> int:
    """Write all moves of the player to move."""
    east, south, seen = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    n = area_of_mover(t, s, east, south, seen)
    return list_moves(n, east, south, seen, actions)


@rule("step")
def step(t: Row, s: Row, action: int, rng: IntRow) -> int:
    """Walk and build. Nothing happens once the game is over."""
    if word(s, RESULT) != RUNNING:
        return 0
    east, south, seen = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    n = area_of_mover(t, s, east, south, seen)
    if can_make(n, east, south, seen, action) == 0:
        side = word(s, SIDE)
        action = random_walk(n, word(t, REACH), east, south, word(s, SEATS + side), word(s, SEATS + 1 - side), rng)
    if action >= 0:
        put_down(t, s, east, south, action)
    return 0


@rule("over")
def over(t: Row, s: Row) -> int:
    """Return the result as player 0 sees it."""
    return word(s, RESULT)


@rule("mover")
def mover(t: Row, s: Row) -> int:
    """Return the player to move."""
    return word(s, SIDE)


@compiled
def measure_plain(t: Row, s: Row, player: int, out: FloatRow, east: Cells, south: Cells) -> int:
    """Write the cheap metrics; return the board's size."""
    n = read_walls(t, s, east, south)
    me = word(s, SEATS + player)
    other = word(s, SEATS + 1 - player)
    for k in range(NEARER + 2):
        out[k] = 0.0
    out[STEPS] = word(s, MOVES)
    result = word(s, RESULT)
    if result == RUNNING:
        out[TO_MOVE] = 1.0 if word(s, SIDE) == player else 0.0
    elif result == ENDED:
        out[WIN] = out[LOSS] = 0.5
    else:
        won = 1.0 if (result == WON) == (player == 0) else 0.0
        out[WIN] = won
        out[LOSS] = 1.0 - won
        out[MARGIN] = (word(s, CELLS + player) - word(s, CELLS + 1 - player)) / (n * n)
    out[WALLED] = walls_around(n, east, south, me)
    out[OTHER_WALLED] = walls_around(n, east, south, other)
    out[BESIDE] = abs(me // n - other // n) + abs(me % n - other % n)
    return n


@rule("measure")
def measure(t: Row, s: Row, player: int, out: FloatRow) -> int:
    """Write the cheap metrics, and 0 for the others."""
    measure_plain(t, s, player, out, row(ROWS), row(ROWS))
    return 0


@rule("measure")
def measure_all(t: Row, s: Row, player: int, out: FloatRow) -> int:
    """Write all metrics."""
    east, south, seen, counts = row(ROWS), row(ROWS), row(ROWS), row(2)
    n = measure_plain(t, s, player, out, east, south)
    me = word(s, SEATS + player)
    other = word(s, SEATS + 1 - player)
    reach = word(t, REACH)
    walk_area(n, east, south, me, other, reach, seen)
    out[REACHED] = count_cells(n, seen)
    out[MOVES_LEFT] = count_moves(n, east, south, seen)
    walk_area(n, east, south, other, me, reach, seen)
    out[OTHER_REACHED] = count_cells(n, seen)
    out[OTHER_MOVES] = count_moves(n, east, south, seen)
    out[WAY] = nearer(n, east, south, me, other, counts)
    out[NEARER] = counts[0]
    out[OTHER_NEARER] = counts[1]
    return 0


@rule("key")
def key(t: Row, s: Row) -> int:
    """Return a hash of players, turn and walls; the count of moves follows from the walls."""
    h = word(s, SEATS) | (word(s, SEATS + 1) << 12) | (word(s, SIDE) << 24)
    for k in range(WALLS, WALLS + 2 * word(t, SIZE) * word(t, WORDS)):
        h = ((h ^ word(s, k)) * 0x100000001B3) & 0x3FFFFFFFFFFFFFFF
        h ^= h >> 29
    return h


_measure = measure.plain


@compiled
def play_uniform(
    t: Row, s: Row, actions: IntRow, played: IntRow, length: int, rng: IntRow, seen: FloatTable, every: int
) -> int:
    """Play uniformly random legal moves, as `play_out` does, but without listing them."""
    east, south, area = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    made = 0
    while made < length and word(s, RESULT) == RUNNING:
        n = area_of_mover(t, s, east, south, area)
        count = count_moves(n, east, south, area)
        if count == 0:
            break
        action = nth_move(n, east, south, area, below(rng, count))
        put_down(t, s, east, south, action)
        played[made] = action
        if every:
            _measure(t, s, 0, seen[made])
        made += 1
    return made


@compiled
def play_walks(
    t: Row, s: Row, actions: IntRow, played: IntRow, length: int, rng: IntRow, seen: FloatTable, every: int
) -> int:
    """Play moves of the course's random player."""
    east, south = row(ROWS), row(ROWS)
    n = read_walls(t, s, east, south)
    made = 0
    while made < length and word(s, RESULT) == RUNNING:
        side = word(s, SIDE)
        action = random_walk(n, word(t, REACH), east, south, word(s, SEATS + side), word(s, SEATS + 1 - side), rng)
        if action < 0:
            break
        put_down(t, s, east, south, action)
        played[made] = action
        if every:
            _measure(t, s, 0, seen[made])
        made += 1
    return made


rollout = rollout_by(play_uniform, "rollout", measure)
rollout_all = rollout_by(play_uniform, "rollout_all", measure_all)
walks = rollout_by(play_walks, "walks", measure_all)
RULES = Rules(legal, step, over, mover, measure, key, rollout)
ALL_METRICS = RULES._replace(measure=measure_all, rollout=rollout_all)
