"""Best-first search, for tree policies whose scores never change: the best open leaf of the whole tree comes next.

A tree policy that reads nothing of the search scores a state once and for all. Descending by the scores of children
would then be a depth-first search, which leaves a subtree only when nothing is left there. With the setting
`selection = "leaf"`, the search takes the open leaf with the highest score, wherever it is in the tree, makes all its
children, plays a rollout from each, and continues with the next leaf. If the score is the cost so far plus the
estimated distance to the goal, this is A* (Hart, Nilsson, Raphael 1968).

The open leaves are a binary heap of nodes (`SearchSpace.heap`), ordered by their scores. Ties are broken by a hash of
node and seed. Utilities are not backed up, because nothing would read them. The slot of a node is its number (see
`expansion.next_child`).
"""

from __future__ import annotations

from persona_evo.compiling import compiled, entry
from persona_evo.games.core import WON
from persona_evo.search.expansion import next_child
from persona_evo.search.heap import lot, pop, push
from persona_evo.search.layout import (
    EXHAUSTED,
    FULL,
    GOING_ON,
    HEAPED,
    ITERATIONS,
    NO_ROOM,
    OPENED,
    SLOTS,
    WIN,
    WINNER,
    SearchSpace,
)
from persona_evo.search.mcts import assess, roll_out
from persona_evo.search.tree import DEPTH, DONE, NOBODY, OVER, ROOT, STATUS
from persona_evo.seeds import below


@compiled
def before(work: SearchSpace, a: int, b: int) -> bool:
    """Return whether leaf a is taken before leaf b."""
    column, salt = work.tree.columns.score, work.options.salt
    x, y = work.tree.values[a, column], work.tree.values[b, column]
    if x != y:
        return x > y
    return lot(a, salt) < lot(b, salt)


@compiled
def grow(work: SearchSpace) -> int:
    """Make the next child of the leaf being expanded, or of the best open leaf.

    Returns:
        The child, or NOBODY if there is no open leaf or no room.
    """
    counts = work.buffers.counts
    while True:
        if counts[OPENED] == NOBODY:
            if counts[HEAPED] == 0:
                return NOBODY
            counts[OPENED] = pop(work.heap, counts[HEAPED], before, work)
            counts[HEAPED] -= 1
        child = next_child(work)
        if child != NOBODY or counts[OPENED] != NOBODY:
            return child


@entry
def search(work: SearchSpace, iterations: int) -> int:
    """Make up to `iterations` states, play a rollout from each, and return why the search returned."""
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
            push(work.heap, counts[HEAPED], child, before, work)
            counts[HEAPED] += 1
        elif work.options.first_win and tree.links[child, STATUS] & OVER == WON:
            counts[WINNER] = child
            return WIN
    return GOING_ON
