"""How the tree grows: the next untried action of a node becomes a child.

Names of arguments as in `layout`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from persona_evo.compiling import compiled
from persona_evo.games.core import RUNNING
from persona_evo.search.layout import (
    AMAF, DEEPEST, HASHED, HORIZON, KEPT, MERGE, METRICS, NODES, PRUNED, SALT, SHUFFLE, USED,
)
from persona_evo.search.tree import (
    ACTION, BEST, DEPTH, DONE, EMPTY, FIRST, KEPT_PART, LEFT, NEXT, NOBODY, OPEN, PARENT, ROOTLESS, SCORE, SQUARES,
    STATUS, TOTAL, TWIN, UNKNOWN, VISITS,
)


@compiled
def slot_of(key: Any, measure: Any, tables: Any, links: Any, states: Any, slots: Any, keys: Any, node: int, vars: Any,
            opts: Any) -> int:
    """The slot of a node's state in the hash table: that of an equal state, or a free one.

    States are equal when all that decides the future is, and all metrics that utility and tree policy read (but for
    the clock, which depth stands for).
    """
    h = key(tables, states[node])
    used = opts[USED]
    if used:
        measure(tables, states[node], 0, vars)
        for i in range(opts[METRICS]):
            if (used >> i) & 1:
                h = ((h ^ np.int64(vars[i] * 1048576.0)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
                h ^= h >> 31
    keys[node] = h
    mask = len(slots) - 1
    at = (h ^ (h >> 17)) & mask
    while slots[at] != EMPTY and keys[slots[at]] != h:
        at = (at + 1) & mask
    return at


@compiled
def set_node(over: Any, tables: Any, links: Any, values: Any, states: Any, node: int, parent: int, action: int,
             depth: int, opts: Any) -> None:
    """Fill in a new row whose state is in place."""
    links[node, PARENT] = parent
    links[node, FIRST] = NOBODY
    links[node, NEXT] = NOBODY
    links[node, VISITS] = 0
    links[node, ACTION] = action
    links[node, LEFT] = UNKNOWN
    links[node, DEPTH] = depth
    status = over(tables, states[node])
    if status != RUNNING or depth >= opts[HORIZON]:
        status |= DONE
    links[node, STATUS] = status
    links[node, OPEN] = 0
    links[node, TWIN] = node
    values[node, TOTAL] = 0.0
    values[node, BEST] = -math.inf
    values[node, SQUARES] = 0.0
    values[node, SCORE] = 0.0
    if opts[AMAF]:
        at = KEPT_PART + opts[KEPT]
        values[node, at] = 0.0
        values[node, at + 1] = 0.0


@compiled
def attach(links: Any, counts: Any, node: int, child: int) -> None:
    """Hang a new row that is filled in below its parent."""
    links[child, NEXT] = links[node, FIRST]
    links[node, FIRST] = child
    if links[child, STATUS] & DONE == 0:
        links[node, OPEN] += 1
    counts[NODES] += 1
    counts[DEEPEST] = max(counts[DEEPEST], links[child, DEPTH])


@compiled
def close(links: Any, node: int) -> None:
    """Mark a node done when nothing new can be found below it, and so on toward the root."""
    while node != ROOTLESS and links[node, LEFT] == 0 and links[node, OPEN] == 0 and links[node, STATUS] & DONE == 0:
        links[node, STATUS] |= DONE
        node = links[node, PARENT]
        if node != ROOTLESS:
            links[node, OPEN] -= 1


@compiled
def untried(actions: Any, count: int, left: int, node: int, opts: Any) -> int:
    """The next untried action: the game's order, or a fixed shuffle of it that depends on the node."""
    tried = count - left
    if opts[SHUFFLE]:
        x = opts[SALT] ^ (np.int64(node) * 0x9E3779B1)
        for k in range(tried + 1):
            x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF
            other = k + (x >> 16) % (count - k)
            actions[k], actions[other] = actions[other], actions[k]
    return actions[tried]  # type: ignore[no-any-return]


@compiled
def expand(legal: Any, step: Any, over: Any, measure: Any, key: Any, tables: Any, links: Any, values: Any, states: Any,
           slots: Any, keys: Any, opts: Any, counts: Any, actions: Any, vars: Any, rng: Any, node: int) -> int:
    """Try the next action of a node; its new child, or NOBODY where the tree holds that state already."""
    count = legal(tables, states[node], actions)
    action = untried(actions, count, links[node, LEFT], node, opts)
    links[node, LEFT] -= 1
    child = counts[NODES]
    for k in range(states.shape[1]):
        states[child, k] = states[node, k]
    step(tables, states[child], action, rng)
    depth = links[node, DEPTH] + 1
    twin = child
    if opts[HASHED]:
        at = slot_of(key, measure, tables, links, states, slots, keys, child, vars, opts)
        held = slots[at]
        if held == EMPTY:
            slots[at] = child
        elif opts[HASHED] == MERGE:
            twin = links[held, TWIN]
        elif links[held, DEPTH] <= depth:
            counts[PRUNED] += 1
            return NOBODY
        else:
            slots[at] = child
    set_node(over, tables, links, values, states, child, node, action, depth, opts)
    links[child, TWIN] = twin
    attach(links, counts, node, child)
    return child  # type: ignore[no-any-return]
