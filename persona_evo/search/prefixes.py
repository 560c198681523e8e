"""Monte Carlo tree search over prefixes of choices, without states, for games that run outside this program.

A node is a prefix of choices. It is made when a rollout through it is ordered. What the game reports of it (the number
of choices, the metrics) is filled in when the first result comes back; until then, the node only waits. Each rollout
under way counts as a visit that returned the lowest utility seen so far (virtual loss), so that the next rollout takes
another way.

A node with many choices is *wide*: its choices do not all become children. Now and then a rollout starts at the node
itself, and the choice that the game makes there becomes a child; in between the tree policy selects among the children
made so far. With n rollouts through the node there are up to sqrt(n) such draws. At a wide node UCB1's own constant
counts in standard deviations of all utilities so far, since only few of the choices can be tried more than once.

If the weights are known that the game gives the choices of a wide node, such a rollout does not draw: it starts at the
choice with the largest weight that has no child yet. UCB1's exploration term is then multiplied by the prior
of the choice, its weight as a share of the largest one.

The tree is that of `tree`; a node's ACTION is the choice that leads to it. The search never calls the game, so the
rules in `SearchSpace` are empty.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from persona_evo.compiling import compiled, entry
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, IntTable
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
FEW = 16
"""The number of slots that the children of a wide node get at first."""
PATIENCE = 2
"""The number of failures of the game at a prefix, never played to an end, after which the prefix is given up."""


class Prefixes(NamedTuple):
    """The working memory of a search by prefixes.

    Attributes:
        search: the tree, settings and buffers.
        choices: int64[capacity], the number of choices at each node: UNKNOWN until the first result, 0 if the game is
            over.
        metrics: float64[capacity, metrics], what the game reports of each node.
        losses: int64[capacity], the number of rollouts from each node in which the game failed.
        draws: int64[capacity], the number of rollouts from each wide node that were to draw a choice.
        lowest: float64[1], the lowest utility seen.
        scale: float64[1], what UCB1 divides utilities by.
        pairs: int64[2 depths + 2], for each step of a way the choice and the number of choices.
        rows: float64[depths + 1, metrics], the metrics before each of these steps and at the end.
        grafting: whether whole traces are put into the tree.
        wide: the number of choices from which a node is wide; 0 if no node is.
        spread: float64[1], what UCB1's constant is multiplied by at wide nodes.
        priors: float64[capacity], the prior of the choice that leads to each node: its weight as a share of the largest
            weight at its parent, 1 if that is not known.
        seen: int64[capacity, worlds], the number of choices at each node in each world (see `open_prefixes`); without
            rows and columns if there is only one world.
    """

    search: SearchSpace
    choices: IntRow
    metrics: FloatTable
    losses: IntRow
    draws: IntRow
    lowest: FloatRow
    scale: FloatRow
    pairs: IntRow
    rows: FloatTable
    grafting: int
    wide: int
    spread: FloatRow
    priors: FloatRow
    seen: IntTable


@compiled
def pending(columns: Columns) -> int:
    """Return the column of `links` that counts rollouts under way."""
    return 2 * columns.pending


@compiled
def make(work: Prefixes, slot: int, choice: int) -> int:
    """Make the child that a choice leads to and return its slot."""
    tree, node = work.search.tree, work.search.buffers.counts[NODES]
    child = take_slot(work.search, slot, node)
    parent = tree.links[slot, NODE]
    tree.nodes[node, PARENT] = parent
    tree.nodes[node, ACTION] = choice
    tree.nodes[node, DEPTH] = tree.nodes[parent, DEPTH] + 1
    tree.nodes[node, SLOT] = child
    work.choices[node] = UNKNOWN
    work.losses[node] = work.draws[node] = 0
    work.priors[node] = 1.0
    clear(tree, child, node)
    return child


@compiled
def is_wide(work: Prefixes, count: int) -> bool:
    """Return whether a node with so many choices is wide."""
    return bool(0 < work.wide <= count)


@compiled
def draws_next(work: Prefixes, slot: int) -> bool:
    """Return whether the next rollout through a wide node draws a choice there."""
    links, node = work.search.tree.links, work.search.tree.links[slot, NODE]
    passed = links[slot, VISITS] + links[slot, pending(work.search.tree.columns)]
    return bool(links[slot, KIDS] == 0 or work.draws[node] < math.sqrt(passed))


@compiled
def next_choice(work: Prefixes, slot: int) -> int:
    """Return the choice to try next at a slot."""
    node = work.search.tree.links[slot, NODE]
    left = work.search.tree.links[slot, LEFT]
    return untried(work.search.options, work.search.buffers.order, node, work.choices[node], left)


@compiled
def first_untried(work: Prefixes, slot: int) -> int:
    """Return the first choice without a child in a slot's shuffled order, which changes with the node's number."""
    tree, node = work.search.tree, work.search.tree.links[slot, NODE]
    for left in range(work.choices[node], 0, -1):
        choice = untried(work.search.options, work.search.buffers.order, node, work.choices[node], left)
        if child_by(tree, slot, choice) == NOBODY:
            return choice
    return 0


@compiled
def pass_known(work: Prefixes, slot: int) -> None:
    """Skip choices that have a child, so that LEFT is above 0 only if a choice without one is left."""
    links = work.search.tree.links
    while links[slot, LEFT] > 0 and child_by(work.search.tree, slot, next_choice(work, slot)) != NOBODY:
        links[slot, LEFT] -= 1


@compiled
def select(work: Prefixes, slot: int, depth: int) -> int:
    """Return the child to descend to, NOBODY if all are closed.

    This is the best of the children with results; ties are broken at random. If no child has results, it is the child
    with the fewest rollouts under way.
    """
    search, tree, column = work.search, work.search.tree, pending(work.search.tree.columns)
    first, kids = tree.links[slot, FIRST], tree.links[slot, KIDS]
    visits, scores = tree.links[slot, VISITS] + tree.links[slot, column], search.buffers.scores
    for child in range(first, first + kids):
        tree.values[child, tree.columns.pending + 1] = work.lowest[0]
    if search.options.holds == IS_UCB1:
        log_visits = math.log(max(1, visits))
        wide = is_wide(work, work.choices[tree.links[slot, NODE]])
        for k in range(kids):
            under_way = tree.links[first + k, column]
            n = tree.links[first + k, VISITS] + under_way
            total = tree.values[first + k, TOTAL] + under_way * work.lowest[0]
            scores[k] = ucb1(search.options, total / work.scale[0], n, log_visits)
            if wide:
                mean = total / work.scale[0] / max(1, n)
                prior = work.priors[tree.links[first + k, NODE]]
                scores[k] = mean + prior * work.spread[0] / work.scale[0] * (scores[k] - mean)
    else:
        search.codes.score(tree.values[first : first + kids], kids, visits, depth + 1, scores)
    for k in range(kids):
        if tree.links[first + k, VISITS] == 0:
            scores[k] = -math.inf
    found = pick(search, first, kids)
    return found // 2 if found >= 0 else least_pending(work, first, kids)


@compiled
def least_pending(work: Prefixes, first: int, kids: int) -> int:
    """Return the open child with the fewest rollouts under way, NOBODY if there is none."""
    links, column, closed = work.search.tree.links, pending(work.search.tree.columns), work.search.options.cut_off
    chosen = NOBODY
    for back in range(1, kids + 1):
        child = first + kids - back
        if links[child, STATUS] & closed == 0 and (chosen < 0 or links[child, column] <= links[chosen, column]):
            chosen = child
    return chosen


@compiled
def reveal(work: Prefixes, node: int, count: int) -> None:
    """Fill in the number of choices at a node. Its metrics are already in place."""
    search, tree = work.search, work.search.tree
    slot = tree.nodes[node, SLOT]
    work.choices[node] = count
    room = min(count, FEW) if is_wide(work, count) else count
    tree.links[slot, LEFT] = room
    search.buffers.counts[WIDEST] = max(search.buffers.counts[WIDEST], room + 1)
    if tree.columns.kept >= 0:
        search.codes.keep(work.metrics[node], tree.values[slot])
    if tree.nodes[node, DEPTH] >= search.options.horizon and tree.links[slot, STATUS] & DONE == 0:
        shut(work, slot, DONE)
    else:
        close(tree, slot)


@compiled
def shut(work: Prefixes, slot: int, status: int) -> None:
    """Mark a node as done (or dead), and all its ancestors that have nothing left."""
    tree = work.search.tree
    tree.links[slot, STATUS] |= status
    parent = tree.nodes[tree.links[slot, NODE], PARENT]
    if parent != ROOTLESS:
        close(tree, tree.nodes[parent, SLOT])


@compiled
def settle(work: Prefixes, node: int) -> None:
    """Stop counting one rollout from a node as under way."""
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
    work.losses[ROOT] = work.draws[ROOT] = 0
    clear(tree, ROOT, ROOT)
    return 0


@entry
def descend(work: Prefixes) -> int:
    """Choose the node to roll out from, new or known, and count the rollout as under way.

    Returns:
        The node, NOBODY if nothing is left to try, or NO_ROOM - FULL if there are too few slots. FULL is added to the
        node if only the lack of room kept a new one from being made.
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
        node = links[slot, NODE]
        if work.choices[node] <= 0 or depth >= options.horizon:
            break
        wide = is_wide(work, work.choices[node])
        if wide and draws_next(work, slot):
            work.draws[node] += 1
            break
        if not wide and links[slot, LEFT] > 0 and counts[NODES] >= tree.nodes.shape[0]:
            full = FULL
            break
        depth += 1
        if not wide and links[slot, LEFT] > 0:
            choice = next_choice(work, slot)
            if options.shuffle and child_by(tree, slot, choice) != NOBODY:
                choice = first_untried(work, slot)
            links[slot, LEFT] -= 1
            path[depth] = make(work, slot, choice)
            if work.grafting:
                pass_known(work, slot)
            break
        path[depth] = select(work, slot, depth - 1)
        if path[depth] == NOBODY and wide and links[slot, LEFT] > 0:
            work.draws[node] += 1
            depth -= 1
            break
        if path[depth] == NOBODY:
            return NOBODY
    for d in range(depth + 1):
        links[path[d], pending(tree.columns)] += 1
    return int(links[path[depth], NODE] + full)


@entry
def prefix(work: Prefixes, node: int) -> int:
    """Write the choices that lead to a node, each with the number of choices, to `pairs`; return how many numbers."""
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
    """Enter a result, whose utility is in `utils`.

    Args:
        count: the number of choices at the node, 0 if the game is over there.
    """
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
    """Take back a rollout in which the game failed. A node at which the game has only failed is given up."""
    links, slot = work.search.tree.links, work.search.tree.nodes[node, SLOT]
    settle(work, node)
    work.losses[node] += 1
    waiting = links[slot, VISITS] + links[slot, pending(work.search.tree.columns)]
    if waiting == 0 and work.losses[node] >= PATIENCE and links[slot, STATUS] & DONE == 0:
        shut(work, slot, DONE | DEAD)
    return 0
