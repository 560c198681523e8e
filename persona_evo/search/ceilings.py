"""What the utility can still become after a state, by what the game says can be reached (`Game.reach`).

Names of arguments:

| name | what |
|---|---|
| reach | the game's function of that name, with the signature of `measure` |
| rises int64[metrics] | whether the utility rises with a metric |
| corner, last float64[metrics] | the best that all metrics can become |
| spans float64[2 metrics] | what `reach` writes |
| clock | the index of the metric that counts moves, -1 without one |
| limit | what the utility can be at most, from the metrics' ranges alone |
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import compiled
from persona_evo.formula.machine import run


@compiled
def corner_at(reach: Any, tables: Any, state: Any, depth: int, moves: int, clock: int, rises: Any, corner: Any,
              spans: Any) -> None:
    """The best that each metric can become within so many moves from a state at this depth, to `corner`."""
    n = len(rises)
    reach(tables, state, moves, spans)
    for i in range(n):
        corner[i] = spans[n + i] if rises[i] else spans[i]
    if clock >= 0:
        corner[clock] = depth + moves


@compiled
def ceiling_of(reach: Any, tables: Any, state: Any, depth: int, left: int, clock: int, falls: int, limit: float,
               rises: Any, corner: Any, last: Any, spans: Any, uops: Any, uconst: Any, stack: Any) -> float:
    """The most that any state after this one can be worth, within `left` moves.

    Where the utility falls with the clock, that is the most over all numbers of moves to come: what can be reached in
    that many, at that time. Once more moves reach no more, later is only worse.
    """
    corner_at(reach, tables, state, depth, left, clock, rises, corner, spans)
    if falls == 0:
        return min(limit, run(uops, uconst, corner, stack))
    n = len(rises)
    for i in range(n):
        last[i] = corner[i]
    top = -math.inf
    for moves in range(1, left + 1):
        corner_at(reach, tables, state, depth, moves, clock, rises, corner, spans)
        top = max(top, run(uops, uconst, corner, stack))
        final = True
        for i in range(n):
            if i != clock and corner[i] != last[i]:
                final = False
        if final or top >= limit:
            break
    return min(limit, top)
