"""Best-first search: what the tree search becomes when a score never changes and the best leaf anywhere comes next.

A tree policy that reads nothing of the search scores a state once and for all. Descending by the child's own score
would then be a depth-first search, which leaves a subtree only when nothing is left there; so with the setting
`selection = "leaf"` the open leaf with the highest score is taken up, wherever in the tree it is, all its children are
made, each is rolled out from, and so on. With the way to the goal and the steps made as the score this is A* (Hart,
Nilsson, Raphael 1968).

The open leaves are a binary heap: `heap` int32[capacity] of rows, by the score in `values`. Ties are broken by a hash
of row and seed. Nothing is backed up, since nobody would read it. Names of the other arguments as in `layout`.
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import compiled
from persona_evo.games.core import WON
from persona_evo.search.expansion import expand
from persona_evo.search.layout import (
    EXHAUSTED,
    FIRST_WIN,
    FULL,
    GOING_ON,
    HEAPED,
    ITERATIONS,
    NODES,
    OPENED,
    SALT,
    WIN,
    WINNER,
)
from persona_evo.search.mcts import engine, simulate
from persona_evo.search.selection import score
from persona_evo.search.tree import BEST, DONE, LEFT, NOBODY, OVER, ROOT, SCORE, SQUARES, STATUS, TOTAL, UNKNOWN, VISITS
from persona_evo.seeds import below


@compiled
def before(values: Any, opts: Any, a: int, b: int) -> bool:
    """Whether leaf a is taken up before leaf b."""
    if values[a, SCORE] != values[b, SCORE]:
        return values[a, SCORE] > values[b, SCORE]  # type: ignore[no-any-return]
    mix = 0x9E3779B1
    return ((a ^ opts[SALT]) * mix) & 0xFFFFFFFF < ((b ^ opts[SALT]) * mix) & 0xFFFFFFFF  # type: ignore[no-any-return]


@compiled
def push(heap: Any, values: Any, opts: Any, counts: Any, node: int) -> None:
    """Add an open leaf."""
    at = counts[HEAPED]
    counts[HEAPED] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not before(values, opts, node, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@compiled
def pop(heap: Any, values: Any, opts: Any, counts: Any) -> int:
    """Take the best open leaf out."""
    best = heap[0]
    counts[HEAPED] -= 1
    size = counts[HEAPED]
    last = heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and before(values, opts, heap[child + 1], heap[child]):
            child += 1
        if not before(values, opts, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return best  # type: ignore[no-any-return]


@compiled
def grow(legal: Any, step: Any, over: Any, measure: Any, key: Any, tables: Any, links: Any, values: Any, states: Any,
         slots: Any, keys: Any, opts: Any, counts: Any, actions: Any, vars: Any, rng: Any, heap: Any) -> int:
    """The next child of the leaf being expanded, or of the best open one; NOBODY without any, or without room."""
    while True:
        node = counts[OPENED]
        if node == NOBODY:
            if counts[HEAPED] == 0:
                return NOBODY
            node = pop(heap, values, opts, counts)
            counts[OPENED] = node
        if links[node, LEFT] == UNKNOWN:
            links[node, LEFT] = legal(tables, states[node], actions)
        while links[node, LEFT] > 0:
            if counts[NODES] >= links.shape[0]:
                counts[FULL] = 1
                return NOBODY
            child = expand(legal, step, over, measure, key, tables, links, values, states, slots, keys, opts, counts,
                           actions, vars, rng, node)
            if child != NOBODY:
                return child
        counts[OPENED] = NOBODY


def _search(legal: Any, step: Any, over: Any, mover: Any, measure: Any, key: Any, rollout: Any, tables: Any,
            links: Any, values: Any, states: Any, slots: Any, keys: Any, opts: Any, weights: Any, counts: Any,
            best: Any, best_moves: Any, uops: Any, uconst: Any, pops: Any, pconst: Any, fops: Any, scratch: Any,
            actions: Any, played: Any, seen: Any, vars: Any, stack: Any, utils: Any, marks: Any, rng: Any,
            heap: Any, iterations: int) -> int:
    """Up to `iterations` states made and rolled out from; why it returned."""
    if counts[ITERATIONS] == 0:
        counts[HEAPED] = 0
        counts[OPENED] = NOBODY if links[ROOT, STATUS] & DONE else ROOT
    for _ in range(iterations):
        child = grow(legal, step, over, measure, key, tables, links, values, states, slots, keys, opts, counts,
                     actions, vars, rng, heap)
        if child == NOBODY and counts[FULL] == 0:
            return EXHAUSTED
        counts[ITERATIONS] += 1
        if child == NOBODY:
            open_leaf = heap[below(rng, counts[HEAPED])] if counts[HEAPED] > 0 else counts[OPENED]
            simulate(over, mover, measure, rollout, tables, links, states, opts, counts, best, best_moves, scratch,
                     actions, played, seen, vars, stack, uops, uconst, utils, marks, rng, open_leaf, False)
            continue
        simulate(over, mover, measure, rollout, tables, links, states, opts, counts, best, best_moves, scratch,
                 actions, played, seen, vars, stack, uops, uconst, utils, marks, rng, child, True)
        links[child, VISITS] = 1
        values[child, TOTAL] = values[child, BEST] = utils[0]
        values[child, SQUARES] = utils[0] * utils[0]
        if links[child, STATUS] & DONE == 0:
            worth = score(measure, tables, links, values, states, child, 0, 0, pops, pconst, vars, stack, opts)
            values[child, SCORE] = worth if worth == worth else -math.inf
            push(heap, values, opts, counts, child)
        elif opts[FIRST_WIN] and links[child, STATUS] & OVER == WON:
            counts[WINNER] = child
            return WIN
    return GOING_ON


search = engine(_search, "heap")
