"""Open-loop Monte Carlo tree search, for games of chance: a node is a sequence of moves instead of a state.

Each iteration replays the moves from the root with new random numbers. A node's row holds the state that the current
iteration reached there. The legal actions are computed each time, and moves that are not legal now are skipped. A node
can therefore get more children than it has legal actions at first: LEFT holds the number of free slots in its block,
and a full block is moved to a larger one.
"""

from __future__ import annotations

from persona_evo.compiling import compiled, entry
from persona_evo.search.expansion import attach, child_by, copy, status_of
from persona_evo.search.layout import FULL, GOING_ON, ITERATIONS, NO_ROOM, NODES, SLOTS, WIDEST, SearchSpace
from persona_evo.search.mcts import assess, back_up, keep_parts, keeps, roll_out
from persona_evo.search.selection import select
from persona_evo.search.tree import ACTION, DONE, FIRST, KIDS, LEFT, MOVER, NOBODY, NODE, OVER, SLOT, STATUS
from persona_evo.seeds import below


@compiled
def count_untried(work: SearchSpace, slot: int, count: int) -> int:
    """Move those of `count` legal actions that have no child to the front, and return their number.

    Children whose action is not legal now are marked DONE, so that `select` skips them; the mark is removed from the
    others.
    """
    links, actions, first = work.tree.links, work.buffers.actions, work.tree.links[slot, FIRST]
    for child in range(first, first + links[slot, KIDS]):
        links[child, STATUS] |= DONE
    fresh = 0
    for k in range(count):
        child = child_by(work.tree, slot, actions[k])
        if child == NOBODY:
            actions[fresh] = actions[k]
            fresh += 1
        else:
            links[child, STATUS] &= ~DONE
    return fresh


@compiled
def make_room(work: SearchSpace, slot: int, count: int) -> None:
    """Make room for one more child in a slot's block; a block that has to be moved gets `count` more slots."""
    tree, links, counts = work.tree, work.tree.links, work.buffers.counts
    if links[slot, LEFT] > 0:
        links[slot, LEFT] -= 1
        return
    first, to, kids = links[slot, FIRST], counts[SLOTS], links[slot, KIDS]
    for k in range(kids):
        for column in range(tree.columns.width):
            tree.values[to + k, column] = tree.values[first + k, column]
        tree.nodes[links[to + k, NODE], SLOT] = to + k
    links[slot, FIRST] = to
    links[slot, LEFT] = count - 1
    counts[SLOTS] += kids + count
    counts[WIDEST] = max(counts[WIDEST], kids + count)


@compiled
def play(work: SearchSpace, node: int, child: int, action: int) -> None:
    """Play an action from a node's current state, and store the new state in the child's row."""
    copy(work.tree.states[node], work.tree.states[child])
    work.rules.step(work.tables, work.tree.states[child], action, work.buffers.rng)


@compiled
def go(work: SearchSpace) -> int:
    """Play down the tree to a new node or as far as possible; return twice the depth, plus 1 for a new node."""
    tree, links, buffers, options = work.tree, work.tree.links, work.buffers, work.options
    depth = 0
    while True:
        slot = buffers.path[depth]
        node = links[slot, NODE]
        if links[slot, STATUS] & OVER or depth >= options.horizon:
            return 2 * depth
        count = work.rules.legal(work.tables, tree.states[node], buffers.actions)
        if count <= 0:
            return 2 * depth
        fresh = count_untried(work, slot, count)
        if fresh and buffers.counts[NODES] < tree.nodes.shape[0]:
            action = buffers.actions[below(buffers.rng, fresh) if options.shuffle else 0]
            make_room(work, slot, count)
            play(work, node, buffers.counts[NODES], action)
            status = status_of(work, buffers.counts[NODES], depth + 1)
            buffers.path[depth + 1] = attach(work, slot, buffers.counts[NODES], action, depth + 1, status)
            return 2 * depth + 3
        if fresh:
            buffers.counts[FULL] = 1
            if options.shuffle:
                below(buffers.rng, fresh)
        found = select(work, slot, depth)
        if found < 0:
            return 2 * depth
        depth += 1
        child = found // 2
        buffers.path[depth] = child
        play(work, node, links[child, NODE], tree.nodes[links[child, NODE], ACTION])
        links[child, STATUS] = status_of(work, links[child, NODE], depth)
        if keeps(work):
            player = links[slot, STATUS] >> MOVER
            work.rules.measure(work.tables, tree.states[links[child, NODE]], player, buffers.metrics)
            keep_parts(work, child, buffers.metrics)


@entry
def search(work: SearchSpace, iterations: int) -> int:
    """Make up to `iterations` iterations of the open loop, and return why the search returned."""
    counts, path = work.buffers.counts, work.buffers.path
    for _ in range(iterations):
        if counts[SLOTS] + counts[WIDEST] + work.options.room > work.tree.values.shape[0]:
            return NO_ROOM
        counts[ITERATIONS] += 1
        at = go(work)
        depth = at // 2
        if at & 1:
            assess(work, path[depth], depth, work.tree.links[path[depth - 1], STATUS] >> MOVER)
        roll_out(work, path[depth], depth)
        back_up(work, depth)
    return GOING_ON
