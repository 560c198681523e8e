"""Bounds the utility of all states after a given one, using what the game says can be reached (`Game.reach`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import FloatRow, IntRow, Linked, WordRow
from persona_evo.search.layout import SearchSpace
from persona_evo.search.tree import DEPTH


class Bounds(NamedTuple):
    """Holds what is known about the states that follow a state.

    Attributes:
        reach: the game's function of this name, with the signature of `measure`.
        reaching: whether the game has such a function and it can be used.
        rises: int64[metrics], whether the utility rises with a metric.
        clock: the index of the metric that counts moves; -1 if there is none.
        falls: whether the utility falls with the clock.
        limits: float64[depths], an upper bound for all states at this depth or deeper, from the metrics' ranges alone;
            deeper states have the last limit.
        corner: float64[metrics], the best value that each metric can reach.
        last: float64[metrics], scratch space for an earlier `corner`.
        spans: float64[2 metrics], the output of `reach`.
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
    """Write to `corner` the best value that each metric can reach within `moves` moves from a node."""
    n = len(bounds.rises)
    bounds.reach(search.tables, search.tree.states[node], moves, bounds.spans)
    for i in range(n):
        bounds.corner[i] = bounds.spans[n + i] if bounds.rises[i] else bounds.spans[i]
    if bounds.clock >= 0:
        bounds.corner[bounds.clock] = search.tree.nodes[node, DEPTH] + moves


@compiled
def is_final(bounds: Bounds) -> bool:
    """Return whether no metric other than the clock can become better than in `corner`."""
    final = True
    for i in range(len(bounds.rises)):
        if i != bounds.clock and bounds.corner[i] != bounds.last[i]:
            final = False
    return final


@compiled
def ceiling_of(search: SearchSpace, bounds: Bounds, node: int) -> float:
    """Return an upper bound of the utility of all states after a node, within the horizon.

    If the utility falls with the clock, the bound is the maximum over all numbers of remaining moves: the utility of
    what can be reached in that number of moves, at that time. The loop ends when more moves reach no more, since a
    later time is then only worse.
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
