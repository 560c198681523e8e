"""The growth of the tree: the next untried action of a node becomes a child."""

from __future__ import annotations

import math

import numpy as np

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import IntRow, ShortTable, WordRow
from persona_evo.games.core import RUNNING
from persona_evo.search.layout import FULL, MERGE, NODES, OPENED, SLOTS, Options, SearchSpace
from persona_evo.search.tree import (
    ACTION,
    DEPTH,
    DONE,
    EMPTY,
    FIRST,
    FIXED,
    KIDS,
    LEFT,
    MOVER,
    NOBODY,
    NODE,
    OVER,
    PARENT,
    ROOTLESS,
    SLOT,
    STATUS,
    TOTAL,
    UNKNOWN,
    VISITS,
    Tree,
)


@compiled
def place_of(work: SearchSpace, node: int) -> int:
    """Return the index of a node's state in the hash table.

    Two states are equal if everything that decides the future is equal, and all metrics that the utility and the tree
    policy read (except the clock, which depth stands for).
    """
    key = work.rules.key(work.tables, work.tree.states[node])
    if work.options.used:
        work.rules.measure(work.tables, work.tree.states[node], 0, work.buffers.metrics)
    return look_up(work, node, key)


@compiled
def look_up(work: SearchSpace, node: int, key: int) -> int:
    """Return the index of an equal state, or else a free one, for a state with this key and the current metrics."""
    tree, metrics, used = work.tree, work.buffers.metrics, work.options.used
    h: int | np.int64 = key
    if used:
        for i in range(len(metrics)):
            if (used >> i) & 1:
                h = ((h ^ np.int64(metrics[i] * 1048576.0)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF  # type: ignore[assignment]
                h ^= h >> 31
    tree.keys[node] = h
    mask = len(tree.table) - 1
    at = (h ^ (h >> 17)) & mask
    while tree.table[at] != EMPTY and tree.keys[tree.table[at]] != h:
        at = (at + 1) & mask
    return at


@compiled
def is_new(work: SearchSpace, node: int, depth: int, at: int) -> bool:
    """Return whether a state becomes a node, and enter it in the hash table at its index `at` if so."""
    tree, held = work.tree, work.tree.table[at]
    if work.options.hashed == MERGE:
        tree.twins[node] = node if held == EMPTY else tree.twins[held]
    elif held != EMPTY and tree.nodes[held, DEPTH] <= depth:
        return False
    if held == EMPTY or work.options.hashed != MERGE:
        tree.table[at] = node
    return True


@compiled
def set_node(tree: Tree, slot: int, node: int, parent: int, action: int, depth: int) -> None:
    """Fill in the data of a new node."""
    tree.nodes[node, PARENT] = parent
    tree.nodes[node, ACTION] = action
    tree.nodes[node, DEPTH] = depth
    tree.nodes[node, SLOT] = slot
    clear(tree, slot, node)


@compiled
def clear(tree: Tree, slot: int, node: int) -> None:
    """Reset the slot of a new node."""
    tree.values[slot, TOTAL] = 0.0
    tree.links[slot, VISITS] = 0
    tree.links[slot, FIRST] = UNKNOWN
    tree.links[slot, KIDS] = 0
    tree.links[slot, LEFT] = UNKNOWN
    tree.links[slot, STATUS] = 0
    tree.links[slot, NODE] = node
    for k in range(FIXED, tree.columns.width):
        tree.values[slot, k] = 0.0
    if tree.columns.best >= 0:
        tree.values[slot, tree.columns.best] = -math.inf


@compiled
def status_of(work: SearchSpace, node: int, depth: int) -> int:
    """Return the STATUS of a node by its state: the outcome so far and the player to move."""
    status = work.rules.over(work.tables, work.tree.states[node])
    if status == RUNNING and work.options.players > 1:
        status |= work.rules.mover(work.tables, work.tree.states[node]) << MOVER
    if status & OVER != RUNNING or depth >= work.options.horizon:
        status |= DONE
    return status


@compiled
def take_slot(work: SearchSpace, slot: int, node: int) -> int:
    """Take the slot for another child, whose node number is `node`, below a slot, whose LEFT no longer counts it."""
    links, counts = work.tree.links, work.buffers.counts
    if links[slot, FIRST] == UNKNOWN:
        links[slot, FIRST] = counts[SLOTS]
        counts[SLOTS] += links[slot, LEFT] + 1
    child = links[slot, FIRST] + links[slot, KIDS]
    links[slot, KIDS] += 1
    counts[NODES] = node + 1
    return child


@compiled
def close(tree: Tree, slot: int) -> None:
    """Mark a node as done if nothing new can be found below it, and then its ancestors in the same way."""
    while is_explored(tree.links, slot):
        tree.links[slot, STATUS] |= DONE
        parent = tree.nodes[tree.links[slot, NODE], PARENT]
        if parent == ROOTLESS:
            return
        slot = tree.nodes[parent, SLOT]


@compiled
def child_by(tree: Tree, slot: int, action: int) -> int:
    """Return the child that an action leads to, NOBODY if the action is untried."""
    first = tree.links[slot, FIRST]
    for child in range(first, first + tree.links[slot, KIDS]):
        if tree.nodes[tree.links[child, NODE], ACTION] == action:
            return child
    return NOBODY


@compiled
def is_explored(links: ShortTable, slot: int) -> bool:
    """Return whether all actions of a node are tried and all children done while the node is not yet marked as done."""
    if links[slot, LEFT] != 0 or links[slot, STATUS] & DONE:
        return False
    first = links[slot, FIRST]
    for child in range(first, first + links[slot, KIDS]):
        if links[child, STATUS] & DONE == 0:
            return False
    return True


@compiled
def untried(options: Options, order: IntRow, node: int, count: int, left: int) -> int:
    """Return the index of the next untried action out of `count`: in the game's order, or shuffled by the node."""
    tried = count - left
    if options.shuffle == 0:
        return tried
    for k in range(count):
        order[k] = k
    x = options.salt ^ (np.int64(node) * 0x9E3779B1)
    for k in range(tried + 1):
        x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF
        other = k + (x >> 16) % (count - k)
        order[k], order[other] = order[other], order[k]
    return order[tried]


@compiled
def next_action(work: SearchSpace, slot: int, count: int) -> int:
    """Return the action to try next out of `count`, which the buffer `actions` holds.

    A shuffled order depends on the node's number, which changes when the root moves; tried actions are skipped then.
    """
    tree, buffers, node = work.tree, work.buffers, work.tree.links[slot, NODE]
    action = buffers.actions[untried(work.options, buffers.order, node, count, tree.links[slot, LEFT])]
    left = count
    while work.options.shuffle and left > 0 and child_by(tree, slot, action) != NOBODY:
        action = buffers.actions[untried(work.options, buffers.order, node, count, left)]
        left -= 1
    return action


@compiled
def copy(source: WordRow, target: WordRow) -> None:
    """Copy a state."""
    for k in range(len(target)):
        target[k] = source[k]


@compiled
def expand(work: SearchSpace, slot: int, depth: int, count: int) -> int:
    """Try the next of a node's `count` legal actions, which the buffer `actions` holds.

    Returns:
        The slot of the new child, or NOBODY if the tree already holds its state.
    """
    tree, buffers = work.tree, work.buffers
    node, child = tree.links[slot, NODE], buffers.counts[NODES]
    action = next_action(work, slot, count)
    tree.links[slot, LEFT] -= 1
    copy(tree.states[node], tree.states[child])
    work.rules.step(work.tables, tree.states[child], action, buffers.rng)
    if work.options.hashed and not is_new(work, child, depth + 1, place_of(work, child)):
        return NOBODY
    return attach(work, slot, child, action, depth + 1, status_of(work, child, depth + 1))


@compiled
def next_child(work: SearchSpace) -> int:
    """Return the next child of the node being expanded (OPENED). One node is expanded fully before the next.

    The blocks of slots are cut to the number of children, so the slot of a node is its number.

    Returns:
        The child, or NOBODY. In that case OPENED is NOBODY if all actions are tried, and unchanged if there is no room.
    """
    tree, counts = work.tree, work.buffers.counts
    node = counts[OPENED]
    count = 0
    if tree.links[node, LEFT] != 0:
        count = work.rules.legal(work.tables, tree.states[node], work.buffers.actions)
    if tree.links[node, LEFT] == UNKNOWN:
        tree.links[node, LEFT] = count
    while tree.links[node, LEFT] > 0:
        if counts[NODES] >= tree.nodes.shape[0]:
            counts[FULL] = 1
            return NOBODY
        child = expand(work, node, tree.nodes[node, DEPTH], count)
        counts[SLOTS] = counts[NODES]
        if child != NOBODY:
            return child
    counts[OPENED] = NOBODY
    return NOBODY


@compiled
def attach(work: SearchSpace, slot: int, child: int, action: int, depth: int, status: int) -> int:
    """Attach a new node below a slot and return the node's own slot."""
    at = take_slot(work, slot, child)
    set_node(work.tree, at, child, work.tree.links[slot, NODE], action, depth)
    work.tree.links[at, STATUS] = status
    return at
