"""The planner: one tree, one table of states, and several open lists that take turns.

A single best-first search depends entirely on its one score. Here every open leaf waits in several heaps with different
scores, and the heaps take turns (Röger, Helmert 2010). Some heaps put novel leaves first (Lipovetzky, Geffner 2017): in
the state of such a leaf, a variable (`Game.novelty`) has a value for the first time among states with equal values of
the game's main metrics. If the game reports what can still be reached (`Game.reach`), a leaf that cannot beat the best
plan is closed. When all leaves are closed, the best plan is proven.

The slot of a node is its number (see `expansion.next_child`). A row of the tree's `values` holds the utility of the
node itself (WORTH), an upper bound on what follows it (CEILING), and then its scores, which `ranks` shows as float32
from column FIRST_SCORE on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

from persona_evo.compiling import compiled, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, Linked, Pointed, ShortRow, ShortTable, SingleTable, WordRow
from persona_evo.games.core import rule
from persona_evo.search.ceilings import Bounds, ceiling_of
from persona_evo.search.expansion import copy, next_child, place_of
from persona_evo.search.heap import lot, pop, push
from persona_evo.search.layout import (
    BEST_STEPS,
    BEST_WON,
    EXHAUSTED,
    FACTS,
    FULL,
    GOING_ON,
    HEAPED,
    ITERATIONS,
    NODES,
    OPENED,
    TURN,
    SearchSpace,
)
from persona_evo.search.mcts import consider, roll_out
from persona_evo.search.play import mixed, place_in
from persona_evo.search.tree import (
    DEPTH,
    DONE,
    EMPTY,
    FIXED,
    LEFT,
    NOBODY,
    NOVEL,
    OVER,
    PARENT,
    ROOT,
    STATUS,
    TAKEN,
    TOTAL,
    UNKNOWN,
    VISITS,
)

WORTH, CEILING, FIRST_SCORE = TOTAL, FIXED, 2 * FIXED + 2
BETTER, SHORTER, VARIETY = range(3)
"""The values of `SearchGoal.seeking`: a plan better than the best; a shorter one of equal utility; other plans whose
last state has enough utility.
"""


class Lists(NamedTuple):
    """The open lists.

    Attributes:
        heaps: int32[lists, capacity].
        sizes: int64[lists], the number of leaves in each, including those that another list has taken.
        spent: float64[lists], the iterations each has spent.
        weights: float64[lists], their shares of the iterations.
        columns: int64[lists], the column of `ranks` that holds the score.
        novel: int64[lists], whether novel leaves come first.
    """

    heaps: ShortTable
    sizes: IntRow
    spent: FloatRow
    weights: FloatRow
    columns: IntRow
    novel: IntRow


class Scores(NamedTuple):
    """The scores by which the lists order leaves.

    Attributes:
        write: a function that writes the scores of a leaf to a row.
        leaf: its input, float64[metrics + 3]: the metrics, the utility, the ceiling and the depth; then `parent`.
        found: its output, float64[scores].
        pace: float64[scores], what a score loses with each move.
        parent: float64[metrics + 2], metrics, utility and ceiling of the leaf's parent; empty if no score reads them.
        known: int64[1], the node that `parent` belongs to, NOBODY before the first.
    """

    write: Annotated[Callable[[FloatRow, FloatRow], None], Pointed()]
    leaf: FloatRow
    found: FloatRow
    pace: FloatRow
    parent: FloatRow
    known: IntRow


class TreeFacts(NamedTuple):
    """The facts seen so far in states of the tree, by which novelty is decided.

    Attributes:
        novelty: the game's function of that name, or `words_of`.
        asked: whether a list reads novelty.
        values: int64[variables], the output of `novelty`.
        main: int64[k], the indices of the main metrics.
        seen: int64[2**k], hashes of (variable, value, main metrics), 0 where free.
    """

    novelty: Annotated[Callable[[WordRow, WordRow, IntRow], int], Linked()]
    asked: int
    values: IntRow
    main: IntRow
    seen: IntRow


class SearchGoal(NamedTuple):
    """What the search is looking for.

    Attributes:
        seeking: BETTER, SHORTER or VARIETY.
        least: for VARIETY, the lowest utility of the last state.
        longest: for VARIETY, the highest number of moves.
        thorough: whether random moves are made from all new leaves, not only from novel ones.
    """

    seeking: int
    least: float
    longest: float
    thorough: int


class Planning(NamedTuple):
    """The working memory of the planner. The metrics of `search` are the first part of `scores.leaf`."""

    search: SearchSpace
    ranks: SingleTable
    lists: Lists
    scores: Scores
    bounds: Bounds
    facts: TreeFacts
    goal: SearchGoal


class ListOrder(NamedTuple):
    """The data by which one list orders leaves; see `Lists` and `Planning`."""

    links: ShortTable
    ranks: SingleTable
    column: int
    novel: int
    salt: int


@compiled
def order_of(work: Planning, number: int) -> ListOrder:
    """Return the order of a list."""
    lists, search = work.lists, work.search
    return ListOrder(search.tree.links, work.ranks, lists.columns[number], lists.novel[number], search.options.salt)


@compiled
def precedes(order: ListOrder, a: int, b: int) -> bool:
    """Return whether leaf a comes before leaf b."""
    if order.novel:
        x, y = order.links[a, STATUS] & NOVEL, order.links[b, STATUS] & NOVEL
        if x != y:
            return x > y
    p, q = order.ranks[a, order.column], order.ranks[b, order.column]
    if p != q:
        return p > q
    return lot(a, order.salt) < lot(b, order.salt)


@compiled
def is_beaten(work: Planning, node: int) -> bool:
    """Return whether nothing below a node can meet the search's goal."""
    tree, counts, best = work.search.tree, work.search.buffers.counts, work.search.buffers.best[0]
    ceiling, depth = tree.values[node, CEILING], tree.nodes[node, DEPTH]
    if work.goal.seeking == VARIETY:
        return ceiling < work.goal.least or depth >= work.goal.longest
    if ceiling != best:
        return ceiling < best
    if work.goal.seeking == SHORTER:
        return depth + 1 >= counts[BEST_STEPS]
    return counts[BEST_WON] != 0


@compiled
def wait_in_line(work: Planning, node: int) -> None:
    """Add an open leaf to all lists."""
    lists = work.lists
    work.search.buffers.counts[HEAPED] += 1
    for number in range(len(lists.sizes)):
        push(lists.heaps[number], lists.sizes[number], node, precedes, order_of(work, number))
        lists.sizes[number] += 1


@compiled
def whose_turn(lists: Lists) -> int:
    """Return the non-empty list that has spent least of its share."""
    number = -1
    least = math.inf
    for k in range(len(lists.sizes)):
        if lists.sizes[k] > 0 and lists.spent[k] / lists.weights[k] < least:
            least = lists.spent[k] / lists.weights[k]
            number = k
    return number


@compiled
def next_leaf(work: Planning) -> int:
    """Return the best leaf of the list whose turn it is, NOBODY if none is open; close beaten leaves on the way."""
    links, counts, lists = work.search.tree.links, work.search.buffers.counts, work.lists
    while counts[HEAPED] > 0:
        number = whose_turn(lists)
        while lists.sizes[number] > 0:
            node = pop(lists.heaps[number], lists.sizes[number], precedes, order_of(work, number))
            lists.sizes[number] -= 1
            if links[node, STATUS] & TAKEN:
                continue
            links[node, STATUS] |= TAKEN
            counts[HEAPED] -= 1
            if not is_beaten(work, node):
                counts[TURN] = number
                return node
    return NOBODY


@compiled
def is_news(facts: TreeFacts, counts: IntRow, fact: int) -> bool:
    """Return whether a fact is new, and remember it while the table is at most half full."""
    at = place_in(facts.seen, fact)
    if facts.seen[at] == fact or 2 * counts[FACTS] >= len(facts.seen):
        return False
    facts.seen[at] = fact
    counts[FACTS] += 1
    return True


@compiled
def is_novel(work: Planning, node: int) -> bool:
    """Return whether a variable of a node's state has a value that is new among states with these main metrics."""
    facts, search = work.facts, work.search
    group = 0x1B873593
    for k in range(len(facts.main)):
        group = mixed(group, search.buffers.metrics[facts.main[k]], 29)
    found = False
    for k in range(facts.novelty(search.tables, search.tree.states[node], facts.values)):
        fact = ((group ^ (k + 1)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        fact ^= fact >> 29
        fact = ((fact ^ facts.values[k]) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        fact ^= fact >> 31
        if is_news(facts, search.buffers.counts, fact if fact != 0 else 1):
            found = True
    return found


@compiled
def look_back(work: Planning, node: int) -> None:
    """Compute the values read of a leaf's parent. They are reused if the previous leaf has the same parent."""
    tree, scores, n = work.search.tree, work.scores, len(work.search.buffers.metrics)
    parent = node if node == ROOT else tree.nodes[node, PARENT]
    if scores.known[0] != parent:
        work.search.rules.measure(work.search.tables, tree.states[parent], 0, scores.parent)
        scores.known[0] = parent
    scores.parent[n] = tree.values[parent, WORTH]
    scores.parent[n + 1] = tree.values[parent, CEILING]


@compiled
def estimate(work: Planning, node: int) -> None:
    """Compute the scores of a leaf whose metrics were just measured."""
    tree, scores = work.search.tree, work.scores
    n, depth = len(work.search.buffers.metrics), tree.nodes[node, DEPTH]
    scores.leaf[n] = tree.values[node, WORTH]
    scores.leaf[n + 1] = tree.values[node, CEILING]
    scores.leaf[n + 2] = depth
    if len(scores.parent) > 0:
        look_back(work, node)
    scores.write(scores.leaf, scores.found)
    for k in range(len(scores.found)):
        work.ranks[node, FIRST_SCORE + k] = scores.found[k] - scores.pace[k] * depth


@compiled
def assess(work: Planning, node: int) -> bool:
    """Compare a new node with the best plan, compute its ceiling and scores, and return whether it is open."""
    search, tree, metrics = work.search, work.search.tree, work.search.buffers.metrics
    if search.options.used == 0 or search.options.hashed == 0 or node == ROOT:  # else the table of states has measured
        search.rules.measure(search.tables, tree.states[node], 0, metrics)
    tree.values[node, WORTH] = search.codes.utility(metrics)
    consider(search, node, tree.nodes[node, DEPTH], 0, tree.links[node, STATUS] & OVER, tree.values[node, WORTH])
    if tree.links[node, STATUS] & DONE:
        return False
    tree.values[node, CEILING] = ceiling_of(search, work.bounds, node)
    if is_beaten(work, node):
        tree.links[node, STATUS] |= TAKEN
        return False
    if work.facts.asked and is_novel(work, node):
        tree.links[node, STATUS] |= NOVEL
    estimate(work, node)
    wait_in_line(work, node)
    return True


@compiled
def grow(work: Planning) -> int:
    """Return the next child of the leaf being expanded, or of the best open one; NOBODY if there is none or no room."""
    counts = work.search.buffers.counts
    while True:
        if counts[OPENED] == NOBODY:
            counts[OPENED] = next_leaf(work)
            if counts[OPENED] == NOBODY:
                return NOBODY
        child = next_child(work.search)
        if child != NOBODY or counts[OPENED] != NOBODY:
            return child


@entry
def search(work: Planning, iterations: int) -> int:
    """Make up to `iterations` states and roll out from them. Return why the search stopped."""
    tree, counts = work.search.tree, work.search.buffers.counts
    if counts[ITERATIONS] == 0 and counts[OPENED] == ROOT and counts[HEAPED] == 0:
        counts[OPENED] = NOBODY
        tree.links[ROOT, VISITS] = 1
        assess(work, ROOT)
    for _ in range(iterations):
        child = grow(work)
        if child == NOBODY:
            return GOING_ON if counts[FULL] else EXHAUSTED
        counts[ITERATIONS] += 1
        work.lists.spent[counts[TURN]] += 1.0
        tree.links[child, VISITS] = 1
        if assess(work, child) and work.search.options.length > 0:
            if work.goal.thorough or tree.links[child, STATUS] & NOVEL:
                roll_out(work.search, child, tree.nodes[child, DEPTH])
    return GOING_ON


@entry
def reopen(work: Planning) -> int:
    """Refill the lists with all leaves that are not expanded and not beaten, and return their number.

    Ceilings are computed again, since the horizon may be nearer than before. Scores are computed again, too, since
    leaves that were beaten from the start have none yet.
    """
    search, tree, counts = work.search, work.search.tree, work.search.buffers.counts
    counts[HEAPED] = 0
    for number in range(len(work.lists.sizes)):
        work.lists.sizes[number] = 0
        work.lists.spent[number] = 0.0
    for node in range(counts[NODES]):
        if tree.links[node, STATUS] & DONE or tree.links[node, LEFT] != UNKNOWN:
            continue
        if tree.nodes[node, DEPTH] >= search.options.horizon:
            continue
        tree.values[node, CEILING] = ceiling_of(search, work.bounds, node)
        if is_beaten(work, node):
            continue
        tree.links[node, STATUS] &= ~TAKEN
        search.rules.measure(search.tables, tree.states[node], 0, search.buffers.metrics)
        estimate(work, node)
        wait_in_line(work, node)
    return counts[HEAPED]


class TreeEdges(NamedTuple):
    """The ways into the states of a tree.

    Attributes:
        search: the search whose tree it is; the state after the tree's last one is scratch space.
        heads: int32[nodes], the first row of each node, NOBODY if it has none.
        rows: int32[n, 3], the parent, the action and the next row of the same node; its length limits their number.
    """

    search: SearchSpace
    heads: ShortRow
    rows: ShortTable


@entry
def alternatives(ways: TreeEdges) -> int:
    """Find every other equally short way into each of the tree's states, and return their number."""
    search, tree, heads, rows = ways.search, ways.search.tree, ways.heads, ways.rows
    actions, spare, count = search.buffers.actions, tree.states.shape[0] - 1, 0
    for node in range(len(heads)):
        heads[node] = NOBODY
    for node in range(len(heads)):
        if tree.links[node, LEFT] != 0:
            continue
        for choice in range(search.rules.legal(search.tables, tree.states[node], actions)):
            copy(tree.states[node], tree.states[spare])
            search.rules.step(search.tables, tree.states[spare], actions[choice], search.buffers.rng)
            held = tree.table[place_of(search, spare)]
            if held == EMPTY or tree.nodes[held, PARENT] == node:
                continue
            if tree.nodes[held, DEPTH] != tree.nodes[node, DEPTH] + 1:
                continue
            if count == rows.shape[0]:
                return count
            rows[count, 0] = node
            rows[count, 1] = actions[choice]
            rows[count, 2] = heads[held]
            heads[held] = count
            count += 1
    return count


@rule("novelty")
def words_of(t: WordRow, s: WordRow, out: IntRow) -> int:
    """Write the words of a state to `out`, for games that do not define novelty."""
    for k in range(len(s)):
        out[k] = s[k]
    return len(s)
