"""What the utility can still become after a state, by what the game says can be reached (`Game.reach`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import FloatRow, IntRow, Linked, WordRow
from persona_evo.search.layout import SearchSpace
from persona_evo.search.tree import DEPTH


class Bounds(NamedTuple):
    """What is known of the states that follow.

    Attributes:
        reach: the game's function of that name, with the signature of `measure`.
        reaching: whether the game has one that can be used.
        rises: int64[metrics], whether the utility rises with a metric.
        clock: the index of the metric that counts moves, -1 without one.
        falls: whether the utility falls with the clock.
        limits: float64[depths], what no state at this depth or deeper exceeds, from the metrics' ranges alone; deeper
            states have the limit of the last.
        corner: float64[metrics], the best that all metrics can become; last: the same, for scratch.
        spans: float64[2 metrics], what `reach` writes.
    """

    reach: Annotated[Callable[[WordRow, WordRow, int, FloatRow], int], Linked()]
    reaching: int
    rises: IntRow
    clock: int
    falls: int
    limits: FloatRow
    corner: FloatRow
    last: FloatRow
    spans: FloatRow


@compiled
def corner_at(search: SearchSpace, bounds: Bounds, node: int, moves: int) -> None:
    """The best that each metric can become within so many moves from a node, to `corner`."""
    n = len(bounds.rises)
    bounds.reach(search.tables, search.tree.states[node], moves, bounds.spans)
    for i in range(n):
        bounds.corner[i] = bounds.spans[n + i] if bounds.rises[i] else bounds.spans[i]
    if bounds.clock >= 0:
        bounds.corner[bounds.clock] = search.tree.nodes[node, DEPTH] + moves


@compiled
def is_final(bounds: Bounds) -> bool:
    """Whether no metric but the clock can become better than in `corner`."""
    final = True
    for i in range(len(bounds.rises)):
        if i != bounds.clock and bounds.corner[i] != bounds.last[i]:
            final = False
    return final


@compiled
def ceiling_of(search: SearchSpace, bounds: Bounds, node: int) -> float:
    """The most that any state after a node can be worth, within the horizon.

    Where the utility falls with the clock, that is the most over all numbers of moves to come: what can be reached in
    that many, at that time. Once more moves reach no more, later is only worse.
    """
    depth = search.tree.nodes[node, DEPTH]
    left, limit = search.options.horizon - depth, bounds.limits[min(depth + 1, len(bounds.limits) - 1)]
    if bounds.reaching == 0:
        return limit
    corner_at(search, bounds, node, left)
    if bounds.falls == 0:
        return min(limit, search.codes.utility(bounds.corner))
    for i in range(len(bounds.rises)):
        bounds.last[i] = bounds.corner[i]
    top = -math.inf
    for moves in range(1, left + 1):
        corner_at(search, bounds, node, moves)
        top = max(top, search.codes.utility(bounds.corner))
        if top >= limit or is_final(bounds):
            break
    return min(limit, top)
