"""The rules as some players search with them: fewer moves are tried, or random games go another way.

| variant | moves tried | random games |
|---|---|---|
| `random` | all | moves of the course's random player |
| `killers` | as `narrow` | as `killer_games` |
| `narrow` | a killer move alone; else the 20 with most own moves afterwards, none that encloses oneself | uniform |
| `killer_games` | all | a killer move where there is one, else any that does not enclose oneself |
| `wide` | a killer move alone; else all that do not enclose oneself | as `killer_games` |
| `blind` | the 20 with most own moves afterwards, killer or not | as `killer_games` |
| `calm` | those that end in the 5 cells of least danger | uniform |
| `unswapped` | all, the last first | uniform; in the tree the mover never changes, as in a published program |

A killer move encloses the other in a single cell. Random games of `unswapped` are one piece: whose turn it is is turned
round once, at their begin (`Game.whole_games`).
"""

from __future__ import annotations


from typing import Any

from persona_evo.compiling import compiled, row
from persona_evo.compiling.arrays import FloatTable, IntRow
from persona_evo.games.catalog.colosseum.board import (
    word,
    Cells,
    MOST,
    REACH,
    RESULT,
    ROWS,
    SEATS,
    SIDE,
    is_open,
    neighbour,
    open_sides,
    read_walls,
    walk_area,
    walls_around,
)
from persona_evo.games.catalog.colosseum.rules import (
    ALL_METRICS,
    RULES,
    area_of_mover,
    count_moves,
    list_moves,
    measure,
    measure_all,
    nth_move,
    put_down,
    rollout_all,
    step,
    walks,
)
from persona_evo.games.core import RUNNING, Rules, rule
from persona_evo.games.rollouts import rollout_by
from persona_evo.games.rows import Row
from persona_evo.seeds import below

WIDTH = 20
"""The number of moves that `narrow` keeps."""

CALM = 5
"""The number of cells that `calm` keeps."""

NEAR = 2
"""The distance to which a wall spreads danger, in rows and columns: a square of 5 x 5 cells."""

TRIES = 12
"""The number of draws of a move before one that encloses the mover is accepted."""

CELLS_MOST = MOST * MOST
MOVES_MOST = 4 * (2 * 16 * 17 + 1)


@compiled
def killer_move(n: int, east: Cells, south: Cells, area: Cells, other: int) -> int:
    """Return the move that encloses the opponent in its cell; -1 if there is none."""
    if walls_around(n, east, south, other) != 3:
        return -1
    r = other // n
    c = other - r * n
    for d in range(4):
        if is_open(n, east, south, r, c, d):
            cell = neighbour(n, other, d)
            y = cell // n
            if (area[y] >> (cell - y * n)) & 1:
                return 4 * cell + ((d + 2) & 3)
    return -1


@compiled
def encloses(n: int, east: Cells, south: Cells, action: int) -> int:
    """Return 1 if a move encloses the mover in a single cell, else 0."""
    return 1 if walls_around(n, east, south, action >> 2) == 3 else 0


@compiled
def toggle(n: int, east: Cells, south: Cells, action: int) -> None:
    """Add a wall if it is missing, or remove it if it is there."""
    cell = action >> 2
    d = action & 3
    r = cell // n
    c = cell - r * n
    if d == 0:
        south[r - 1] ^= 1 << c
    elif d == 1:
        east[r] ^= 1 << c
    elif d == 2:
        south[r] ^= 1 << c
    else:
        east[r] ^= 1 << (c - 1)


@compiled
def best_moves(n: int, reach: int, east: Cells, south: Cells, other: int, actions: IntRow, count: int) -> int:
    """Put the WIDTH moves with the most own moves afterwards in front, best first; return how many are kept."""
    values, area = row(MOVES_MOST), row(ROWS)
    for k in range(count):
        toggle(n, east, south, actions[k])
        walk_area(n, east, south, actions[k] >> 2, other, reach, area)
        values[k] = count_moves(n, east, south, area)
        toggle(n, east, south, actions[k])
    left = min(WIDTH, count)
    for k in range(left):
        best = k
        for j in range(k + 1, count):
            if values[j] > values[best]:
                best = j
        value = values[best]
        action = actions[best]
        for j in range(best, k, -1):
            values[j] = values[j - 1]
            actions[j] = actions[j - 1]
        values[k] = value
        actions[k] = action
    return left


@compiled
def fewer(t: Row, s: Row, actions: IntRow, looks: int, most: int) -> int:
    """Move the moves worth trying to the front, and return their number.

    With `looks` these are a killer move, or the moves that do not enclose the mover (all, if all do); with `most` only
    the WIDTH of them with the most own moves afterwards.
    """
    east, south, area = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    n = area_of_mover(t, s, east, south, area)
    other = word(s, SEATS + 1 - word(s, SIDE))
    if looks:
        killer = killer_move(n, east, south, area, other)
        if killer >= 0:
            actions[0] = killer
            return 1
    count = list_moves(n, east, south, area, actions)
    safe = 0
    if looks:
        for k in range(count):
            action = actions[k]
            if encloses(n, east, south, action) == 0:
                actions[k] = actions[safe]
                actions[safe] = action
                safe += 1
    left = safe if safe > 0 else count
    return best_moves(n, word(t, REACH), east, south, other, actions, left) if most else left


@rule("legal")
def narrow(t: Row, s: Row, actions: IntRow) -> int:
    """Write a killer move, or the moves with the most own moves afterwards that do not enclose the mover."""
    return fewer(t, s, actions, 1, 1)


@rule("legal")
def wide(t: Row, s: Row, actions: IntRow) -> int:
    """Write a killer move, or all moves that do not enclose the mover."""
    return fewer(t, s, actions, 1, 0)


@rule("legal")
def blind(t: Row, s: Row, actions: IntRow) -> int:
    """Write the moves with the most own moves afterwards."""
    return fewer(t, s, actions, 0, 1)


_step, _measure, _rollout = step.plain, measure.plain, rollout_all.plain


@compiled
def play_killers(
    t: Row, s: Row, actions: IntRow, played: IntRow, length: int, rng: IntRow, seen: FloatTable, every: int
) -> int:
    """Play random moves that look out for single cells."""
    east, south, area = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    made = 0
    while made < length and word(s, RESULT) == RUNNING:
        n = area_of_mover(t, s, east, south, area)
        action = killer_move(n, east, south, area, word(s, SEATS + 1 - word(s, SIDE)))
        if action < 0:
            count = count_moves(n, east, south, area)
            if count == 0:
                break
            for _ in range(TRIES):
                action = nth_move(n, east, south, area, below(rng, count))
                if encloses(n, east, south, action) == 0:
                    break
        put_down(t, s, east, south, action)
        played[made] = action
        if every:
            _measure(t, s, 0, seen[made])
        made += 1
    return made


@compiled
def danger(n: int, east: Cells, south: Cells, cell: int) -> int:
    """Count the walls in the 5 x 5 cells around a cell, those of the cell itself three times, the next ring's twice."""
    y = cell // n
    x = cell - y * n
    total = 0
    for r in range(max(0, y - NEAR), min(n, y + NEAR + 1)):
        for c in range(max(0, x - NEAR), min(n, x + NEAR + 1)):
            far = max(abs(r - y), abs(c - x))
            total += (NEAR + 1 - far) * (4 - open_sides(n, east, south, r, 1 << c))
    return total


@rule("legal")
def calm(t: Row, s: Row, actions: IntRow) -> int:
    """Write the moves that end in the CALM reachable cells of least danger; ties go to the first cells."""
    east, south, area, left, values = row(ROWS), row(ROWS), row(ROWS), row(ROWS), row(CELLS_MOST)
    read_walls(t, s, east, south)
    n = area_of_mover(t, s, east, south, area)
    for r in range(n):
        left[r] = 0
        for c in range(n):
            if (area[r] >> c) & 1:
                values[r * n + c] = danger(n, east, south, r * n + c)
    for _ in range(CALM):
        best = -1
        for cell in range(n * n):
            r = cell // n
            c = cell - r * n
            if (area[r] >> c) & 1 and (left[r] >> c) & 1 == 0:
                if best < 0 or values[cell] < values[best]:
                    best = cell
        if best >= 0:
            left[best // n] |= 1 << (best % n)
    return list_moves(n, east, south, left, actions)


@rule("legal")
def backwards(t: Row, s: Row, actions: IntRow) -> int:
    """Write all moves in reverse order."""
    east, south, area = row(ROWS), row(ROWS), row(ROWS)
    read_walls(t, s, east, south)
    n = area_of_mover(t, s, east, south, area)
    count = list_moves(n, east, south, area, actions)
    for k in range(count // 2):
        other = actions[count - 1 - k]
        actions[count - 1 - k] = actions[k]
        actions[k] = other
    return count


@rule("step")
def same_mover(t: Row, s: Row, action: int, rng: IntRow) -> int:
    """Make a move after which it is the same player's turn."""
    side = word(s, SIDE)
    _step(t, s, action, rng)
    s[SIDE] = side
    return 0


@rule("rollout")
def others_first(
    t: Row, s: Row, actions: IntRow, played: IntRow, length: int, rng: IntRow, seen: FloatTable, every: int
) -> int:
    """Play a uniformly random game that the other player begins."""
    s[SIDE] = 1 - word(s, SIDE)
    return _rollout(t, s, actions, played, length, rng, seen, every)


killer_games = rollout_by(play_killers, "killer_games", measure_all)

CHANGES: dict[str, dict[str, Any]] = {
    "random": {"rollout": walks},
    "killers": {"legal": narrow, "rollout": killer_games},
    "narrow": {"legal": narrow},
    "killer_games": {"rollout": killer_games},
    "wide": {"legal": wide, "rollout": killer_games},
    "blind": {"legal": blind, "rollout": killer_games},
    "calm": {"legal": calm},
    "unswapped": {"legal": backwards, "step": same_mover, "rollout": others_first},
}
"""The functions that each variant replaces."""


def variant(name: str, costly: bool) -> Rules:
    """Return the rules of a variant."""
    return (ALL_METRICS if costly else RULES)._replace(**CHANGES[name])
