"""The open loop: Monte Carlo tree search where a node is a sequence of moves and not a state.

Each iteration plays the moves anew from the root with fresh luck, and a node's row holds the state that this iteration
came through. What is legal there is asked each time, and moves that are not legal now are passed over.

`move_root` keeps what is below one node and forgets the rest; it serves trees of `mcts`, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from persona_evo.compiling import INTERPRET, compiled, jit
from persona_evo.search import mcts
from persona_evo.search.expansion import attach, set_node
from persona_evo.search.layout import FULL, GOING_ON, HORIZON, ITERATIONS, NODES, PLAYERS, SHUFFLE
from persona_evo.search.mcts import back_up, simulate
from persona_evo.search.selection import select
from persona_evo.search.tree import ACTION, DEPTH, DONE, FIRST, NEXT, NOBODY, OVER, PARENT, ROOT, ROOTLESS, STATUS, TWIN
from persona_evo.seeds import below


@compiled
def child_by(links: Any, node: int, action: int) -> int:
    """The child that an action leads to, NOBODY if it was not tried."""
    child = links[node, FIRST]
    while child != NOBODY and links[child, ACTION] != action:
        child = links[child, NEXT]
    return child  # type: ignore[no-any-return]


@compiled
def untried_of(links: Any, node: int, actions: Any, count: int, opts: Any, rng: Any) -> int:
    """A legal action without a child, -1 if there is none: the first, or any (opts[SHUFFLE]).

    Children whose action is not legal now are marked DONE, so that `select` passes them over; the others are not.
    """
    child = links[node, FIRST]
    while child != NOBODY:
        links[child, STATUS] |= DONE
        child = links[child, NEXT]
    fresh = 0
    for k in range(count):
        child = child_by(links, node, actions[k])
        if child == NOBODY:
            actions[fresh] = actions[k]
            fresh += 1
        else:
            links[child, STATUS] &= ~DONE
    if fresh == 0:
        return -1
    return actions[below(rng, fresh)] if opts[SHUFFLE] else actions[0]  # type: ignore[no-any-return]


@compiled
def enter(step: Any, tables: Any, states: Any, node: int, child: int, action: int, rng: Any) -> None:
    """Play an action from a node's state of this iteration into the child's row."""
    for k in range(states.shape[1]):
        states[child, k] = states[node, k]
    step(tables, states[child], action, rng)


def _wander(legal: Any, step: Any, over: Any, mover: Any, measure: Any, key: Any, rollout: Any, tables: Any,
            links: Any, values: Any, states: Any, slots: Any, keys: Any, opts: Any, weights: Any, counts: Any,
            best: Any, best_moves: Any, uops: Any, uconst: Any, pops: Any, pconst: Any, fops: Any, scratch: Any,
            actions: Any, played: Any, seen: Any, vars: Any, stack: Any, utils: Any, marks: Any, rng: Any,
            iterations: int) -> int:
    """So many iterations of the open loop; arguments as for `mcts.search`; nodes keep no parts."""
    for _ in range(iterations):
        counts[ITERATIONS] += 1
        node = ROOT
        fresh = False
        while links[node, STATUS] & OVER == 0 and links[node, DEPTH] < opts[HORIZON]:
            count = legal(tables, states[node], actions)
            if count <= 0:
                break
            action = untried_of(links, node, actions, count, opts, rng)
            if action != -1 and counts[NODES] < links.shape[0]:
                child = counts[NODES]
                enter(step, tables, states, node, child, action, rng)
                set_node(over, tables, links, values, states, child, node, action, links[node, DEPTH] + 1, opts)
                attach(links, counts, node, child)
                node = child
                fresh = True
                break
            if action != -1:
                counts[FULL] = 1
            player = 0
            if opts[PLAYERS] > 1:
                player = mover(tables, states[node])
            found = select(measure, tables, links, values, states, opts, weights, pops, pconst, fops, vars, stack,
                           rng, node, player)
            if found < 0:
                break
            child = found >> 1
            enter(step, tables, states, node, child, links[child, ACTION], rng)
            links[child, STATUS] = over(tables, states[child])
            node = child
        links[node, STATUS] = over(tables, states[node])
        simulate(over, mover, measure, rollout, tables, links, states, opts, counts, best, best_moves, scratch,
                 actions, played, seen, vars, stack, uops, uconst, utils, marks, rng, node, fresh)
        back_up(mover, measure, tables, links, values, states, opts, pops, pconst, vars, stack, utils, marks, node)
    return GOING_ON


def _move_root(links: Any, values: Any, states: Any, rows: Any, counts: Any, root: int, horizon: int) -> int:
    """Make a node the root: what is below it is moved to the front, all else forgotten; how many nodes are left.

    rows int32[capacity] is scratch space: the new row of each node, NOBODY for those forgotten.
    """
    kept = 0
    for node in range(counts[NODES]):
        stays = node == root
        if node > root and rows[links[node, PARENT]] != NOBODY:
            stays = True
        rows[node] = kept if stays else NOBODY
        if stays:
            kept += 1
    up = links[root, DEPTH]
    for node in range(root, counts[NODES]):
        at = rows[node]
        if at == NOBODY:
            continue
        parent, first, following = links[node, PARENT], links[node, FIRST], links[node, NEXT]
        for k in range(links.shape[1]):
            links[at, k] = links[node, k]
        for k in range(values.shape[1]):
            values[at, k] = values[node, k]
        for k in range(states.shape[1]):
            states[at, k] = states[node, k]
        links[at, PARENT] = ROOTLESS if node == root else rows[parent]
        links[at, FIRST] = NOBODY if first == NOBODY else rows[first]
        links[at, NEXT] = NOBODY if node == root or following == NOBODY else rows[following]
        links[at, DEPTH] -= up
        links[at, TWIN] = at
        if links[at, STATUS] & OVER == 0 and links[at, DEPTH] < horizon:
            links[at, STATUS] &= OVER
    counts[NODES] = kept
    counts[FULL] = 0
    return kept


def _compile(function: Any, types: Callable[[], Any]) -> Any:
    return function if INTERPRET else jit(function, types(), final=True)


def _moving() -> Any:
    from numba import types

    whole, links, values = types.int64, types.int32[:, ::1], types.float64[:, ::1]
    return whole(links, values, types.uint16[:, ::1], types.int32[::1], types.int64[::1], whole, whole)


wander = _compile(_wander, lambda: mcts.engine_types("search"))
move_root = _compile(_move_root, _moving)
