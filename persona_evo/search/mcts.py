"""Monte Carlo tree search: selection, expansion, rollout, backup.

The engine, never a tree policy, guarantees a sound search: untried actions come first, finished subtrees are closed,
the horizon and the memory limit hold, and ties are broken at random by the search's own random stream.

The rules of the game, the utility and the tree policy are inputs of the search, so one engine serves all games.
"""

from __future__ import annotations

import math

from persona_evo.compiling import compiled, entry
from persona_evo.compiling.arrays import FloatRow
from persona_evo.games.core import RUNNING, WON
from persona_evo.search.amaf import credit, mark, roll
from persona_evo.search.expansion import close, copy, expand, place_of, set_node, status_of
from persona_evo.search.layout import (
    BEST_LENGTH,
    BEST_NODE,
    BEST_STEPS,
    BEST_WON,
    COUNTS,
    EXHAUSTED,
    FULL,
    GOING_ON,
    ITERATIONS,
    MERGE,
    NO_ROOM,
    NODES,
    SLOTS,
    STUCK,
    WATCH_ALL,
    WIN,
    WINNER,
    SearchSpace,
)
from persona_evo.search.play import is_better
from persona_evo.search.selection import select, share
from persona_evo.search.tree import (
    ACTION,
    DONE,
    EMPTY,
    LEFT,
    MOVER,
    NOBODY,
    NODE,
    OVER,
    ROOT,
    ROOTLESS,
    SLOT,
    STATUS,
    TOTAL,
    UNKNOWN,
    VISITS,
    Tree,
)
from persona_evo.search.tree_policy import ALONG_PATH, STATIC

TIED, FRESH, DOWN = 1, 2, 4
"""The position of a descent, encoded as one number: DOWN times its depth, plus the bits TIED (a child on the way was
drawn at random among equals) and FRESH (the last node was just made).
"""

NEEDED = -1
"""The value that `needless` returns if a rollout is needed."""


@compiled
def consider(work: SearchSpace, node: int, depth: int, made: int, over: int, utility: float) -> None:
    """Keep the plan to `node` and `made` moves beyond it if it is the best: by utility, then winning, then brevity."""
    counts, best = work.buffers.counts, work.buffers.best
    won = 1 if over == WON else 0
    steps = depth + made
    if is_better(utility, won, steps, best[0], counts[BEST_WON], counts[BEST_STEPS]):
        best[0] = utility
        counts[BEST_NODE] = node
        counts[BEST_LENGTH] = made
        counts[BEST_WON] = won
        counts[BEST_STEPS] = steps
        for k in range(made):
            work.buffers.best_moves[k] = work.buffers.played[k]


@compiled
def descend(work: SearchSpace, at: int) -> int:
    """Continue a descent as long as the node has been expanded and no action is untried; return the new position."""
    links, path, counts = work.tree.links, work.buffers.path, work.buffers.counts
    while True:
        depth = at // DOWN
        slot = path[depth]
        if links[slot, STATUS] & OVER or depth >= work.options.horizon or links[slot, LEFT] == UNKNOWN:
            return at
        if links[slot, LEFT] > 0:
            if counts[NODES] < work.tree.nodes.shape[0]:
                return at
            counts[FULL] = 1
        found = select(work, slot, depth)
        if found < 0:
            return at
        at += DOWN
        at |= found & TIED
        path[depth + 1] = found // 2


@compiled
def grow(work: SearchSpace) -> int:
    """Select a node and expand it. Return the position of the descent after that."""
    tree, path, counts = work.tree, work.buffers.path, work.buffers.counts
    at = 0
    while True:
        at = descend(work, at)
        depth = at // DOWN
        slot = path[depth]
        if tree.links[slot, STATUS] & OVER or depth >= work.options.horizon:
            return at
        left, full = tree.links[slot, LEFT], counts[NODES] >= tree.nodes.shape[0]
        if left == 0 or (full and left != UNKNOWN):
            return at
        count = work.rules.legal(work.tables, tree.states[tree.links[slot, NODE]], work.buffers.actions)
        if left == UNKNOWN:
            tree.links[slot, LEFT] = count
        if count > 0 and not full:
            child = expand(work, slot, depth, count)
            if child != NOBODY:
                path[depth + 1] = child
                return (at + DOWN) | FRESH


@compiled
def assess(work: SearchSpace, slot: int, depth: int, player: int) -> None:
    """Evaluate a new node, and store what the tree policy of the player who moved into it reads of it."""
    tree, metrics = work.tree, work.buffers.metrics
    node = tree.links[slot, NODE]
    work.rules.measure(work.tables, tree.states[node], 0, metrics)
    consider(work, node, depth, 0, tree.links[slot, STATUS] & OVER, work.codes.utility(metrics))
    if keeps(work):
        if player:
            work.rules.measure(work.tables, tree.states[node], player, metrics)
        keep_parts(work, slot, metrics)


@compiled
def keeps(work: SearchSpace) -> bool:
    """Return whether the tree policy stores anything for a node."""
    return work.tree.columns.kept >= 0 or work.options.holds == STATIC


@compiled
def keep_parts(work: SearchSpace, slot: int, metrics: FloatRow) -> None:
    """Store what the tree policy reads of a node; `metrics` are those of the player who moved into it."""
    tree = work.tree
    work.codes.keep(metrics, tree.values[slot])
    if work.options.hashed == MERGE and work.options.holds == STATIC:
        twin = tree.nodes[tree.twins[tree.links[slot, NODE]], SLOT]
        tree.values[slot, tree.columns.score] = tree.values[twin, tree.columns.score]


@compiled
def roll_out(work: SearchSpace, slot: int, depth: int) -> None:
    """Play random moves from a node. The utility of the final state for each player goes to `utils`."""
    rules, tables, options, buffers = work.rules, work.tables, work.options, work.buffers
    node, state = work.tree.links[slot, NODE], work.buffers.scratch
    ended = work.tree.links[slot, STATUS] & OVER
    copy(work.tree.states[node], state)
    made = 0
    length = min(options.length, options.horizon - depth)
    if options.amaf:
        roll(work, length)
        ended = rules.over(tables, state)
    elif length > 0 and ended == RUNNING:
        every = 1 if options.watch == WATCH_ALL else 0
        made = rules.rollout(tables, state, buffers.actions, buffers.played, length, buffers.rng, buffers.seen, every)
        if every:
            for k in range(made):
                consider(work, node, depth, k + 1, 0, work.codes.utility(buffers.seen[k]))
        ended = rules.over(tables, state)
    for p in range(options.players):
        rules.measure(tables, state, p, buffers.metrics)
        buffers.utils[p] = work.codes.utility(buffers.metrics)
    if options.watch and made:
        consider(work, node, depth, made, ended, buffers.utils[0])


@compiled
def back_up(work: SearchSpace, depth: int) -> None:
    """Add a result to every node of the path, each with the utility of the player who moved into it."""
    tree, path, utils, options = work.tree, work.buffers.path, work.buffers.utils, work.options
    for up in range(depth):
        slot, parent = path[depth - up], path[depth - up - 1]
        player = tree.links[parent, STATUS] >> MOVER if options.players > 1 else 0
        add(work, slot, utils[player])
        if options.amaf:
            mark(work.buffers.marks, tree.nodes[tree.links[slot, NODE], ACTION], player)
            credit(tree, work.buffers.marks, parent, player, utils[player])
    add(work, path[0], utils[0])
    if options.holds == ALONG_PATH:
        work.codes.rescore(tree.values, path[1 : depth + 1], depth, 1)


@compiled
def add(work: SearchSpace, slot: int, utility: float) -> None:
    """Add a result to a node, or to the node that represents all nodes with an equal state."""
    tree = work.tree
    if work.options.hashed == MERGE:
        enter(tree, tree.nodes[tree.twins[tree.links[slot, NODE]], SLOT], utility)
        share(tree, slot)
    else:
        enter(tree, slot, utility)


@compiled
def enter(tree: Tree, slot: int, utility: float) -> None:
    """Add a result to a slot."""
    values, best, squares = tree.values, tree.columns.best, tree.columns.squares
    tree.links[slot, VISITS] += 1
    values[slot, TOTAL] += utility
    if squares >= 0:
        values[slot, squares] += utility * utility
    if best >= 0:
        values[slot, best] = max(values[slot, best], utility)


@compiled
def needless(work: SearchSpace, at: int) -> int:
    """Return why an iteration needs no rollout, or NEEDED if it needs one. Close subtrees that are explored."""
    links, path, counts, options = work.tree.links, work.buffers.path, work.buffers.counts, work.options
    depth, fresh = at // DOWN, at & FRESH
    slot = path[depth]
    won = links[slot, STATUS] & OVER == WON and options.first_win
    if options.cut_off:
        close(work.tree, path[depth - 1] if fresh else slot)
        if not fresh and links[slot, STATUS] & DONE:
            return EXHAUSTED if links[ROOT, STATUS] & DONE else GOING_ON
        if fresh and won:
            counts[WINNER] = links[slot, NODE]
    elif not fresh:
        if won:
            counts[WINNER] = links[slot, NODE]
            return WIN
        if options.holds == STATIC and at & TIED == 0 and links[slot, STATUS] & DONE:
            return STUCK
    return NEEDED


@compiled
def conclude(work: SearchSpace, depth: int) -> int:
    """Back up the result of an iteration. Return GOING_ON, or why the search is over."""
    back_up(work, depth)
    if work.buffers.counts[WINNER] >= 0:
        return WIN
    return EXHAUSTED if work.options.cut_off and work.tree.links[ROOT, STATUS] & DONE else GOING_ON


@compiled
def iterate(work: SearchSpace) -> int:
    """Run one iteration. Return GOING_ON, or why the search is over."""
    at = grow(work)
    depth = at // DOWN
    slot = work.buffers.path[depth]
    reason = needless(work, at)
    if reason != NEEDED:
        return reason
    if at & FRESH:
        assess(work, slot, depth, work.tree.links[work.buffers.path[depth - 1], STATUS] >> MOVER)
    roll_out(work, slot, depth)
    return conclude(work, depth)


@entry
def plant(work: SearchSpace) -> int:
    """Make the root, whose state is in row 0, and clear the hash table."""
    tree, buffers = work.tree, work.buffers
    for k in range(COUNTS):
        buffers.counts[k] = 0
    buffers.counts[WINNER] = NOBODY
    buffers.counts[NODES] = buffers.counts[SLOTS] = 1
    buffers.best[0] = -math.inf
    buffers.path[0] = ROOT
    set_node(tree, ROOT, ROOT, ROOTLESS, NOBODY, 0)
    tree.links[ROOT, STATUS] = status_of(work, ROOT, 0)
    if work.options.hashed:
        for k in range(len(tree.table)):
            tree.table[k] = EMPTY
        tree.table[place_of(work, ROOT)] = ROOT
        if work.options.hashed == MERGE:
            tree.twins[ROOT] = ROOT
    work.rules.measure(work.tables, tree.states[ROOT], 0, buffers.metrics)
    consider(work, ROOT, 0, 0, tree.links[ROOT, STATUS] & OVER, work.codes.utility(buffers.metrics))
    return 0


@entry
def search(work: SearchSpace, iterations: int) -> int:
    """Run up to `iterations` iterations and return why the search stopped."""
    counts = work.buffers.counts
    for _ in range(iterations):
        if counts[SLOTS] + work.options.room > work.tree.values.shape[0]:
            return NO_ROOM
        counts[ITERATIONS] += 1
        reason = iterate(work)
        if reason != GOING_ON:
            return reason
    return GOING_ON
