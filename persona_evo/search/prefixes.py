"""The search by prefixes: Monte Carlo tree search without states, for games that are played by somebody else.

A node is a prefix of choices. It is made when a rollout through it is ordered, and what the game says of it (how many
choices there are, the metrics) is filled in when the first result comes back; until then it is only waited for. All
rollouts that are under way count as visits that brought the lowest utility seen so far (virtual loss), so that the next
one is drawn elsewhere.

The tree is that of `tree`, with the choice that leads to a node as its ACTION. The game is never asked, so the rules in
`SearchSpace` are none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from persona_evo.compiling import compiled, entry
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow
from persona_evo.search.expansion import child_by, clear, close, take_slot, untried
from persona_evo.search.layout import (
    IS_UCB1,
    NO_ROOM,
    NODES,
    SLOTS,
    WIDEST,
    SearchSpace,
)
from persona_evo.search.mcts import enter
from persona_evo.search.selection import pick, ucb1
from persona_evo.search.tree import (
    ACTION,
    DEAD,
    DEPTH,
    DONE,
    FIRST,
    KIDS,
    LEFT,
    NOBODY,
    NODE,
    PARENT,
    ROOT,
    ROOTLESS,
    SLOT,
    STATUS,
    TOTAL,
    UNKNOWN,
    VISITS,
    Columns,
)

FULL = 1 << 62
PATIENCE = 2
"""Failures of the game at a prefix that was never played to an end, after which it is given up."""


class Prefixes(NamedTuple):
    """What a search by prefixes works on.

    Attributes:
        search: tree, settings and buffers.
        choices: int64[capacity], how many there are at each node: UNKNOWN until the first result, 0 where the game is
            over.
        metrics: float64[capacity, metrics], what the game says of each node.
        losses: int64[capacity], rollouts from each node in which the game failed.
        lowest: float64[1], the lowest utility seen.
        pairs: int64[2 depths], a choice and how many there were, for each step of a way.
        rows: float64[depths + 1, metrics], the metrics before each of these steps and at the end.
        grafting: whether whole traces are put into the tree (`graft`).
    """

    search: SearchSpace
    choices: IntRow
    metrics: FloatTable
    losses: IntRow
    lowest: FloatRow
    pairs: IntRow
    rows: FloatTable
    grafting: int


@compiled
def pending(columns: Columns) -> int:
    """The column of `links` that counts rollouts under way."""
    return 2 * columns.pending


@compiled
def make(work: Prefixes, slot: int, choice: int) -> int:
    """Make the child that a choice leads to; its slot."""
    tree, node = work.search.tree, work.search.buffers.counts[NODES]
    child = take_slot(work.search, slot, node)
    parent = tree.links[slot, NODE]
    tree.nodes[node, PARENT] = parent
    tree.nodes[node, ACTION] = choice
    tree.nodes[node, DEPTH] = tree.nodes[parent, DEPTH] + 1
    tree.nodes[node, SLOT] = child
    work.choices[node] = UNKNOWN
    work.losses[node] = 0
    clear(tree, child, node)
    return child


@compiled
def next_choice(work: Prefixes, slot: int) -> int:
    """The choice to try next at a slot."""
    node = work.search.tree.links[slot, NODE]
    left = work.search.tree.links[slot, LEFT]
    return untried(work.search.options, work.search.buffers.order, node, work.choices[node], left)


@compiled
def pass_known(work: Prefixes, slot: int) -> None:
    """Go on in the order of choices to the next without a child, so that LEFT is above 0 only if there is one."""
    links = work.search.tree.links
    while links[slot, LEFT] > 0 and child_by(work.search.tree, slot, next_choice(work, slot)) != NOBODY:
        links[slot, LEFT] -= 1


@compiled
def select(work: Prefixes, slot: int, depth: int) -> int:
    """The child to go on to, NOBODY if all are closed: the best of those that are known, by lot among equals; where
    none is known, the one that the fewest rollouts are under way to."""
    search, tree, column = work.search, work.search.tree, pending(work.search.tree.columns)
    first, kids = tree.links[slot, FIRST], tree.links[slot, KIDS]
    visits, scores = tree.links[slot, VISITS] + tree.links[slot, column], search.buffers.scores
    for child in range(first, first + kids):
        tree.values[child, tree.columns.pending + 1] = work.lowest[0]
    if search.options.holds == IS_UCB1:
        log_visits = math.log(max(1, visits))
        for k in range(kids):
            under_way = tree.links[first + k, column]
            n = tree.links[first + k, VISITS] + under_way
            scores[k] = ucb1(search.options, tree.values[first + k, TOTAL] + under_way * work.lowest[0], n, log_visits)
    else:
        search.codes.score(tree.values[first : first + kids], kids, visits, depth + 1, scores)
    for k in range(kids):
        if tree.links[first + k, VISITS] == 0:
            scores[k] = -math.inf
    found = pick(search, first, kids)
    return found // 2 if found >= 0 else least_pending(work, first, kids)


@compiled
def least_pending(work: Prefixes, first: int, kids: int) -> int:
    """The open child that the fewest rollouts are under way to, NOBODY without one."""
    links, column, closed = work.search.tree.links, pending(work.search.tree.columns), work.search.options.cut_off
    chosen = NOBODY
    for back in range(1, kids + 1):
        child = first + kids - back
        if links[child, STATUS] & closed == 0 and (chosen < 0 or links[child, column] <= links[chosen, column]):
            chosen = child
    return chosen


@compiled
def reveal(work: Prefixes, node: int, count: int) -> None:
    """Fill in how many choices there are at a node; its metrics are in place."""
    search, tree = work.search, work.search.tree
    slot = tree.nodes[node, SLOT]
    work.choices[node] = count
    tree.links[slot, LEFT] = count
    search.buffers.counts[WIDEST] = max(search.buffers.counts[WIDEST], count + 1)
    if tree.columns.kept >= 0:
        search.codes.keep(work.metrics[node], tree.values[slot])
    if tree.nodes[node, DEPTH] >= search.options.horizon and tree.links[slot, STATUS] & DONE == 0:
        shut(work, slot, DONE)
    else:
        close(tree, slot)


@compiled
def shut(work: Prefixes, slot: int, status: int) -> None:
    """Mark a node as done (or dead), and all above it that have nothing left."""
    tree = work.search.tree
    tree.links[slot, STATUS] |= status
    parent = tree.nodes[tree.links[slot, NODE], PARENT]
    if parent != ROOTLESS:
        close(tree, tree.nodes[parent, SLOT])


@compiled
def settle(work: Prefixes, node: int) -> None:
    """A rollout from a node is no longer under way."""
    tree, column = work.search.tree, pending(work.search.tree.columns)
    while node != ROOTLESS:
        tree.links[tree.nodes[node, SLOT], column] -= 1
        node = tree.nodes[node, PARENT]


@entry
def plant(work: Prefixes) -> int:
    """Make the root, of which nothing is known yet."""
    tree, counts = work.search.tree, work.search.buffers.counts
    for k in range(len(counts)):
        counts[k] = 0
    counts[NODES] = counts[SLOTS] = 1
    tree.nodes[ROOT, PARENT] = ROOTLESS
    tree.nodes[ROOT, ACTION] = NOBODY
    tree.nodes[ROOT, DEPTH] = 0
    tree.nodes[ROOT, SLOT] = ROOT
    work.choices[ROOT] = UNKNOWN
    work.losses[ROOT] = 0
    clear(tree, ROOT, ROOT)
    return 0


@entry
def descend(work: Prefixes) -> int:
    """Choose the node to roll out from, new or known, and count the rollout as under way.

    Returns:
        The node, NOBODY where nothing is left to be tried, NO_ROOM - FULL where there are too few slots; FULL is added
        where a node would have been made but for the room.
    """
    tree, links, options = work.search.tree, work.search.tree.links, work.search.options
    path, counts = work.search.buffers.path, work.search.buffers.counts
    if counts[SLOTS] + counts[WIDEST] > tree.values.shape[0]:
        return NO_ROOM - FULL
    full = 0
    depth = 0
    path[0] = ROOT
    while True:
        slot = path[depth]
        if links[slot, STATUS] & options.cut_off:
            return NOBODY
        if work.choices[links[slot, NODE]] <= 0 or depth >= options.horizon:
            break
        if links[slot, LEFT] > 0 and counts[NODES] >= tree.nodes.shape[0]:
            full = FULL
            break
        depth += 1
        if links[slot, LEFT] > 0:
            choice = next_choice(work, slot)
            links[slot, LEFT] -= 1
            path[depth] = make(work, slot, choice)
            if work.grafting:
                pass_known(work, slot)
            break
        path[depth] = select(work, slot, depth - 1)
        if path[depth] == NOBODY:
            return NOBODY
    for d in range(depth + 1):
        links[path[d], pending(tree.columns)] += 1
    return int(links[path[depth], NODE] + full)


@entry
def prefix(work: Prefixes, node: int) -> int:
    """Write to `pairs` the choices that lead to a node with their counts; how many numbers that were."""
    nodes = work.search.tree.nodes
    size = int(2 * nodes[node, DEPTH])
    k = size
    while nodes[node, PARENT] != ROOTLESS:
        k -= 2
        work.pairs[k] = nodes[node, ACTION]
        node = nodes[node, PARENT]
        work.pairs[k + 1] = work.choices[node]
    return int(size)


@entry
def back_up(work: Prefixes, node: int, count: int) -> int:
    """Enter a result, whose utility is in `utils`. count: choices at the node, 0 if the game is over there."""
    tree, utility = work.search.tree, work.search.buffers.utils[0]
    settle(work, node)
    at = node
    while at != ROOTLESS:
        enter(tree, tree.nodes[at, SLOT], utility)
        at = tree.nodes[at, PARENT]
    if work.choices[node] == UNKNOWN:
        reveal(work, node, count)
    return 0


@entry
def lose(work: Prefixes, node: int) -> int:
    """Take back a rollout in which the game failed; a node that was only seen to fail is given up."""
    links, slot = work.search.tree.links, work.search.tree.nodes[node, SLOT]
    settle(work, node)
    work.losses[node] += 1
    waiting = links[slot, VISITS] + links[slot, pending(work.search.tree.columns)]
    if waiting == 0 and work.losses[node] >= PATIENCE and links[slot, STATUS] & DONE == 0:
        shut(work, slot, DONE | DEAD)
    return 0


@entry
def graft(work: Prefixes, node: int, steps: int) -> int:
    """Put the rest of a trace into the tree below the node that it was rolled out from, each node with this result.

    The trace is in `pairs` and `rows`, its utility in `utils`.

    Returns:
        0, or NO_ROOM where there are too few slots.
    """
    tree, counts = work.search.tree, work.search.buffers.counts
    needed = counts[WIDEST]
    for i in range(steps):
        needed += work.pairs[2 * i + 1] + 1
    if counts[SLOTS] + needed > tree.values.shape[0]:
        return NO_ROOM
    for i in range(steps):
        if tree.nodes[node, DEPTH] >= work.search.options.horizon:
            break
        slot = tree.nodes[node, SLOT]
        child = child_by(tree, slot, work.pairs[2 * i])
        if child == NOBODY:
            if counts[NODES] >= tree.nodes.shape[0]:
                break
            child = make(work, slot, work.pairs[2 * i])
            pass_known(work, slot)
        enter(tree, child, work.search.buffers.utils[0])
        node = tree.links[child, NODE]
        if work.choices[node] == UNKNOWN:
            for k in range(work.metrics.shape[1]):
                work.metrics[node, k] = work.rows[i + 1, k]
            reveal(work, node, work.pairs[2 * i + 3] if i + 1 < steps else 0)
    return 0
