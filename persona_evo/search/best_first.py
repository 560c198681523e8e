"""Best-first search: what the tree search becomes when a score never changes and the best leaf anywhere comes next.

A tree policy that reads nothing of the search scores a state once and for all. Descending by the child's own score
would then be a depth-first search, which leaves a subtree only when nothing is left there; so with the setting
`selection = "leaf"` the open leaf with the highest score is taken up, wherever in the tree it is, all its children are
made, each is rolled out from, and so on. With the way to the goal and the steps made as the score this is A* (Hart,
Nilsson, Raphael 1968).

The open leaves are a binary heap of nodes (`Search.heap`), by their scores. Ties are broken by a hash of node and seed.
Nothing is backed up, since nobody would read it. All children of a node are made before those of another, so blocks are
cut to the children that there are, and the slot of a node is its number.
"""

from __future__ import annotations

from persona_evo.compiling import compiled, entry
from persona_evo.games.core import WON
from persona_evo.search.expansion import expand
from persona_evo.search.layout import (
    EXHAUSTED, FULL, GOING_ON, HEAPED, ITERATIONS, NO_ROOM, NODES, OPENED, SLOTS, WIN, WINNER, Search,
)  # fmt: skip
from persona_evo.search.mcts import assess, roll_out
from persona_evo.search.tree import DEPTH, DONE, LEFT, NOBODY, OVER, ROOT, STATUS, UNKNOWN
from persona_evo.seeds import below


@compiled
def before(work: Search, a: int, b: int) -> bool:
    """Whether leaf a is taken up before leaf b."""
    column, salt = work.tree.columns.score, work.options.salt
    x, y = work.tree.values[a, column], work.tree.values[b, column]
    if x != y:
        return x > y
    return ((a ^ salt) * 0x9E3779B1) & 0xFFFFFFFF < ((b ^ salt) * 0x9E3779B1) & 0xFFFFFFFF


@compiled
def push(work: Search, node: int) -> None:
    """Add an open leaf."""
    heap, counts = work.heap, work.buffers.counts
    at = counts[HEAPED]
    counts[HEAPED] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not before(work, node, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@compiled
def pop(work: Search) -> int:
    """Take the best open leaf out."""
    heap, counts = work.heap, work.buffers.counts
    best = heap[0]
    counts[HEAPED] -= 1
    size = counts[HEAPED]
    last = heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and before(work, heap[child + 1], heap[child]):
            child += 1
        if not before(work, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return best


@compiled
def grow(work: Search) -> int:
    """The next child of the leaf being expanded, or of the best open one; NOBODY without any, or without room."""
    tree, counts = work.tree, work.buffers.counts
    while True:
        node = counts[OPENED]
        if node == NOBODY:
            if counts[HEAPED] == 0:
                return NOBODY
            node = pop(work)
            counts[OPENED] = node
        if tree.links[node, LEFT] == UNKNOWN:
            tree.links[node, LEFT] = work.rules.legal(work.tables, tree.states[node], work.buffers.actions)
        while tree.links[node, LEFT] > 0:
            if counts[NODES] >= tree.nodes.shape[0]:
                counts[FULL] = 1
                return NOBODY
            child = expand(work, node, tree.nodes[node, DEPTH])
            counts[SLOTS] = counts[NODES]
            if child != NOBODY:
                return child
        counts[OPENED] = NOBODY


@entry
def search(work: Search, iterations: int) -> int:
    """Up to `iterations` states made and rolled out from; why it returned."""
    tree, counts = work.tree, work.buffers.counts
    if counts[ITERATIONS] == 0:
        counts[HEAPED] = 0
        counts[OPENED] = NOBODY if tree.links[ROOT, STATUS] & DONE else ROOT
    for _ in range(iterations):
        if counts[SLOTS] + work.options.room > tree.values.shape[0]:
            return NO_ROOM
        child = grow(work)
        if child == NOBODY and counts[FULL] == 0:
            return EXHAUSTED
        counts[ITERATIONS] += 1
        if child == NOBODY:
            leaf = work.heap[below(work.buffers.rng, counts[HEAPED])] if counts[HEAPED] > 0 else counts[OPENED]
            roll_out(work, leaf, tree.nodes[leaf, DEPTH])
            continue
        assess(work, child, tree.nodes[child, DEPTH], 0)
        roll_out(work, child, tree.nodes[child, DEPTH])
        if tree.links[child, STATUS] & DONE == 0:
            push(work, child)
        elif work.options.first_win and tree.links[child, STATUS] & OVER == WON:
            counts[WINNER] = child
            return WIN
    return GOING_ON
