"""Walks home: from many states of a tree, greedily along the way to a win.

A search with few iterations often ends at a state that is worth much, but from which there is no way out. A walk makes
the move after which `Game.homing` is highest, then `Game.care`, and never one that ends the game without a win. Walks
that meet go the same way from there, so no state is walked through twice. A walk counts as one iteration of the search,
like a new state with the random moves that follow it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from persona_evo.compiling import Handle, compiled, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, Pointed
from persona_evo.formula import Formula
from persona_evo.formula.native import Rows, compile_all
from persona_evo.games.core import RUNNING, WON, Game
from persona_evo.search.engine import TreePlan
from persona_evo.search.expansion import copy
from persona_evo.search.layout import SearchSpace
from persona_evo.search.play import is_better, place_in
from persona_evo.search.tree import DEPTH, NOBODY, PARENT, Tree
from persona_evo.search.tree_policy import own_formula

STALLED = 3
"""The highest number of moves in a row that do not come closer to a win; somebody may stand in the way."""

MOST = 1_000
"""The highest number of walks from one tree."""

FEW = 60
"""The number of walks for which a search with few iterations spends up to twice its share."""

TABLE = 2**17
"""The highest number of entries in the table of states walked through."""

CHUNK = 20
"""The number of walks between two looks at the clock."""

START, MADE, SEEN, WALKED, NEXT = range(5)
"""Indices into `Walks.counts`: the node at which the best walk starts, NOBODY if none has won; the number of its moves;
the number of states walked through; the number of walks; the number of the next start.
"""
WALK_COUNTS = 5


class Walks(NamedTuple):
    """The working memory of walks.

    Attributes:
        search: the search in whose tree the walks start; its last state is scratch space.
        order: a function that writes what a walk goes by, (homing, care), for a row of metrics.
        ways: float64[nodes], the homing of each node.
        starts: int64[n], the nodes from which to walk.
        seen: int64[2**k], hashes of the states walked through, 0 where free.
        found: float64[2], the output of `order`.
        best: float64[1], the utility of the best win.
        moves, best_moves: int64[horizon], the moves of this walk and of the best one.
        counts: int64[WALK_COUNTS], the counters.
    """

    search: SearchSpace
    order: Annotated[Callable[[FloatRow, FloatRow], None], Pointed()]
    ways: FloatRow
    starts: IntRow
    seen: IntRow
    found: FloatRow
    best: FloatRow
    moves: IntRow
    best_moves: IntRow
    counts: IntRow


@compiled
def is_fresh(work: Walks) -> bool:
    """Return whether no walk has been in the current state, and remember it while the table is at most half full."""
    search, counts = work.search, work.counts
    h = search.rules.key(search.tables, search.buffers.scratch)
    at = place_in(work.seen, h)
    if work.seen[at] == h or 2 * counts[SEEN] >= len(work.seen):
        return False
    work.seen[at] = h
    counts[SEEN] += 1
    return True


@compiled
def arrive(work: Walks, node: int, made: int, steps: int) -> None:
    """Keep a walk that has just won if it is the best; `made` moves were made from its node."""
    search, counts = work.search, work.counts
    tree, metrics = search.tree, search.buffers.metrics
    search.rules.measure(search.tables, tree.states[tree.states.shape[0] - 1], 0, metrics)
    utility = search.codes.utility(metrics)
    before = 0 if counts[START] == NOBODY else tree.nodes[counts[START], DEPTH] + counts[MADE]
    if counts[START] == NOBODY or is_better(utility, 1, steps, work.best[0], 1, before):
        work.best[0] = utility
        counts[START] = node
        counts[MADE] = made
        for k in range(made):
            work.best_moves[k] = work.moves[k]


@compiled
def next_move(work: Walks) -> int:
    """Return the best move in the current state, NOBODY without one; `found` holds its order.

    A move that wins is returned as -2 - action, and the state after it is the scratch state of the tree.
    """
    search, buffers, found = work.search, work.search.buffers, work.found
    trial = search.tree.states[search.tree.states.shape[0] - 1]
    move = NOBODY
    top = care = 0.0
    for choice in range(search.rules.legal(search.tables, buffers.scratch, buffers.actions)):
        action = buffers.actions[choice]
        copy(buffers.scratch, trial)
        search.rules.step(search.tables, trial, action, buffers.rng)
        over = search.rules.over(search.tables, trial)
        if over == WON:
            return int(-2 - action)
        if over == RUNNING:
            search.rules.measure(search.tables, trial, 0, buffers.metrics)
            work.order(buffers.metrics, found)
            if move == NOBODY or found[0] > top or (found[0] == top and found[1] > care):
                move, top, care = action, found[0], found[1]
    found[0] = top
    return move


@compiled
def follow(work: Walks, node: int) -> bool:
    """Walk from a node; return whether its state is one that no walk has been in."""
    search, buffers = work.search, work.search.buffers
    state, depth, horizon = buffers.scratch, search.tree.nodes[node, DEPTH], search.options.horizon
    copy(search.tree.states[node], state)
    search.rules.measure(search.tables, state, 0, buffers.metrics)
    work.order(buffers.metrics, work.found)
    nearest = work.found[0]
    made = stalled = 0
    while depth + made < horizon and is_fresh(work):
        move = next_move(work)
        if move < NOBODY:
            work.moves[made] = -2 - move
            arrive(work, node, made + 1, depth + made + 1)
            return True
        stalled = 0 if work.found[0] > nearest else stalled + 1
        if move == NOBODY or stalled > STALLED:
            return True
        nearest = max(nearest, work.found[0])
        work.moves[made] = move
        made += 1
        search.rules.step(search.tables, state, move, buffers.rng)
    return made > 0


@entry
def measure_ways(work: Walks) -> int:
    """Write to `ways` how near each node is to a win."""
    search = work.search
    for node in range(len(work.ways)):
        search.rules.measure(search.tables, search.tree.states[node], 0, search.buffers.metrics)
        work.order(search.buffers.metrics, work.found)
        work.ways[node] = work.found[0]
    return 0


@entry
def walk(work: Walks, most: int) -> int:
    """Walk from the next starts until `most` walks are made, and return whether starts are left.

    A start that an earlier walk has passed does not count.
    """
    counts = work.counts
    end = counts[WALKED] + most
    while counts[NEXT] < len(work.starts) and counts[WALKED] < end:
        if follow(work, work.starts[counts[NEXT]]):
            counts[WALKED] += 1
        counts[NEXT] += 1
    return int(counts[NEXT] < len(work.starts))


class WalkedHome(NamedTuple):
    """The result of walks home.

    Attributes:
        walks: the number of walks.
        way: the best plan that wins, from the root of the tree; None if no walk has won.
        utility: the utility of its last state; -inf without a plan.
    """

    walks: int
    way: TreePlan | None = None
    utility: float = -math.inf


def walking_share(finish: float, iterations: int | None) -> float:
    """Return the share of a budget that goes to walks home.

    Args:
        finish: the share that is kept for playing on to a win (`SearchSettings.finish`).
        iterations: the iterations of the budget; None if they are not limited.
    """
    return finish if iterations is None else max(finish, min(2 * finish, FEW / iterations))


def promising(tree: Tree, ways: FloatRow, worth: FloatRow, candidates: IntRow) -> IntRow:
    """Return nodes in the order of what they would be worth after a way home.

    Most moves change nothing but the place. The median over all moves of the gain in utility per gain in homing is
    therefore what coming home is worth. It counts for what is left of the way.

    Args:
        tree: the tree.
        ways: float64[nodes], the homing of each node.
        worth: float64[nodes], the utility of each node.
        candidates: int64[n], the nodes to order.
    """
    parents = tree.nodes[1 : len(ways), PARENT]
    nearer = ways[1:] - ways[parents]
    gained = worth[1:] - worth[parents]
    moved = (nearer != 0) & np.isfinite(gained) & np.isfinite(nearer)
    price = max(0.0, float(np.median(gained[moved] / nearer[moved]))) if moved.any() else 0.0
    order = np.argsort(price * ways[candidates] - worth[candidates], kind="stable")
    return candidates[order].astype(np.int64)


def walk_home(
    space: SearchSpace,
    game: Game,
    starts: IntRow,
    worth: FloatRow,
    utility: Formula,
    variant: str,
    most: int,
    until: float | None,
    enough: float,
) -> WalkedHome:
    """Walk home from nodes of a tree, the most promising first.

    Args:
        space: the search that made the tree; its codes hold the utility.
        game: the game, as the search plays it.
        starts: int64[n], the nodes to walk from.
        worth: float64[nodes], the utility of each node.
        utility: the utility, by which wins are compared. It takes the place of a homing or care that the game lacks.
        variant: the variant of the rules.
        most: the highest number of walks.
        until: the time (`time.perf_counter`) after which no more walks are begun; None for no limit.
        enough: the utility of a win after which half of the walks are enough.
    """
    by = (own_formula(game, game.homing, utility), own_formula(game, game.care, utility))
    rules = game.rules_for(utility.symbols.union(*(one.symbols for one in by)), variant)
    horizon, most = space.options.horizon, min(most, MOST)
    size = min(TABLE, 2 ** math.ceil(math.log2(2 * most * horizon)))
    work = Walks(
        space._replace(rules=rules),
        compile_all([Rows(by, game.symbols)])[0],
        np.zeros(len(worth)),
        starts,
        np.zeros(size, dtype=np.int64),
        np.zeros(2),
        np.zeros(1),
        np.zeros(horizon, dtype=np.int64),
        np.zeros(horizon, dtype=np.int64),
        np.array([NOBODY, 0, 0, 0, 0], dtype=np.int64),
    )
    counts = work.counts
    with np.errstate(all="ignore"):
        measure_ways(Handle(work))
        handle = Handle(work._replace(starts=promising(space.tree, work.ways, worth, starts)))
        while counts[WALKED] < most and walk(handle, min(CHUNK, most - int(counts[WALKED]))):
            if until is not None and time.perf_counter() >= until:
                break
            if 2 * counts[WALKED] >= most and counts[START] != NOBODY and work.best[0] >= enough:
                break
    if counts[START] == NOBODY:
        return WalkedHome(int(counts[WALKED]))
    moves = work.best_moves[: int(counts[MADE])].tolist()
    return WalkedHome(int(counts[WALKED]), TreePlan.of(space, int(counts[START]), moves), float(work.best[0]))
