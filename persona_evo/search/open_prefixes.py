"""Monte Carlo tree search over prefixes that averages over several worlds: the open loop of `prefixes`.

A world is a game seed. It decides what the player of the game cannot know: dice, and what is hidden. A node is a
prefix of choices in whatever world, its statistics are those of all worlds, and each rollout is played in one of them.
The same choices lead to different states in different worlds, so that a node can have different numbers of choices.
`seen` holds the numbers that are known. At a node where a world's number is not known, the search takes the number
of the world that was there last and tries to go on. If that is wrong, the game says so, and the rollout is ordered
again.

Only the children whose choices exist in the current world can be selected; the others are marked DONE until then. As in
`open_loop`, a node can therefore get more children than it has choices at first, and LEFT holds the number of free
slots in its block. Only nodes at which the game fails are ever closed.
"""

from __future__ import annotations

from persona_evo.compiling import compiled, entry
from persona_evo.search.expansion import child_by
from persona_evo.search.layout import NO_ROOM, NODES, SLOTS
from persona_evo.search.mcts import enter
from persona_evo.search.open_loop import make_room
from persona_evo.search.prefixes import (
    FULL,
    PATIENCE,
    Prefixes,
    draws_next,
    is_wide,
    make,
    pending,
    plant,
    select,
    settle,
)
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
    UNKNOWN,
    VISITS,
)
from persona_evo.seeds import below

plant_closed = plant.plain


@compiled
def count_in(work: Prefixes, node: int, world: int) -> int:
    """Return the number of choices at a node in a world, as far as it is known or can be guessed, or else UNKNOWN.

    Other worlds tell the number, but not that the game is over.
    """
    count = work.seen[node, world]
    if count == UNKNOWN and work.choices[node] > 0:
        count = work.choices[node]
    return int(count)


@compiled
def clear_node(work: Prefixes, node: int) -> None:
    """Set the numbers of choices at a new node to UNKNOWN, and its metrics to 0."""
    for world in range(work.seen.shape[1]):
        work.seen[node, world] = UNKNOWN
    for k in range(work.metrics.shape[1]):
        work.metrics[node, k] = 0.0


@compiled
def count_fresh(work: Prefixes, slot: int, count: int) -> int:
    """Return how many of `count` choices have no child, and mark the children of other choices DONE."""
    tree, links, first = work.search.tree, work.search.tree.links, work.search.tree.links[slot, FIRST]
    fresh = count
    for child in range(first, first + links[slot, KIDS]):
        if tree.nodes[links[child, NODE], ACTION] < count:
            links[child, STATUS] &= ~DONE
            fresh -= 1
        else:
            links[child, STATUS] |= DONE
    return fresh


@compiled
def without_result(work: Prefixes, slot: int, count: int) -> int:
    """Return a child by one of `count` choices that has no result and no rollout under way, NOBODY if there is none.

    Its rollout was of no use. A child that is given up is left out.
    """
    tree, links, first = work.search.tree, work.search.tree.links, work.search.tree.links[slot, FIRST]
    for child in range(first, first + links[slot, KIDS]):
        used = links[child, VISITS] + links[child, pending(tree.columns)]
        used += links[child, STATUS] & DEAD
        if used == 0 and tree.nodes[links[child, NODE], ACTION] < count:
            return child
    return NOBODY


@compiled
def has_room(work: Prefixes, slot: int, count: int) -> bool:
    """Return whether there are enough slots for `make_room`."""
    tree, links = work.search.tree, work.search.tree.links
    needed = work.search.buffers.counts[SLOTS] + links[slot, KIDS] + count
    return bool(links[slot, LEFT] > 0 or needed <= tree.values.shape[0])


@compiled
def fresh_choice(work: Prefixes, slot: int, fresh: int) -> int:
    """Return one of the `fresh` choices without a child: the first, or any."""
    left = below(work.search.buffers.rng, fresh) if work.search.options.shuffle else 0
    choice = 0
    while True:
        if child_by(work.search.tree, slot, choice) == NOBODY:
            if left == 0:
                return choice
            left -= 1
        choice += 1


@compiled
def add_child(work: Prefixes, slot: int, choice: int, count: int) -> int:
    """Make the child that one of `count` choices leads to, and return its slot."""
    make_room(work.search, slot, count)
    child = make(work, slot, choice)
    clear_node(work, work.search.tree.links[child, NODE])
    return child


@entry
def plant_open(work: Prefixes, count: int) -> int:
    """Make the root with the number of choices that it has; UNKNOWN if that is not known."""
    plant_closed(work)
    clear_node(work, ROOT)
    work.choices[ROOT] = count
    return 0


@entry
def descend_open(work: Prefixes, world: int) -> int:
    """Choose the node to roll out from in a world, new or known, and count the rollout as under way.

    Returns:
        The node, or NO_ROOM - FULL if there are too few slots. FULL is added to the node if only the lack of room kept
        a new one from being made.
    """
    tree, links, options = work.search.tree, work.search.tree.links, work.search.options
    path, counts = work.search.buffers.path, work.search.buffers.counts
    full = 0
    depth = 0
    path[0] = ROOT
    while True:
        slot = path[depth]
        node = links[slot, NODE]
        count = count_in(work, node, world)
        if count <= 0 or depth >= options.horizon:
            break
        fresh = count_fresh(work, slot, count)
        wide = is_wide(work, count)
        if wide and draws_next(work, slot):
            work.draws[node] += 1
            break
        if not wide and fresh > 0:
            if counts[NODES] >= tree.nodes.shape[0]:
                full = FULL
                break
            if not has_room(work, slot, count):
                return NO_ROOM - FULL
            depth += 1
            path[depth] = add_child(work, slot, fresh_choice(work, slot, fresh), count)
            break
        found = without_result(work, slot, count)
        idle = found != NOBODY
        if not idle:
            found = select(work, slot, depth)
        if found == NOBODY:
            break
        depth += 1
        path[depth] = found
        if idle:
            break
    for d in range(depth + 1):
        links[path[d], pending(tree.columns)] += 1
    return int(links[path[depth], NODE] + full)


@entry
def prefix_in(work: Prefixes, node: int, world: int) -> int:
    """Write the choices that lead to a node in a world, as `prefixes.prefix` does."""
    nodes = work.search.tree.nodes
    size = int(2 * nodes[node, DEPTH])
    k = size
    while nodes[node, PARENT] != ROOTLESS:
        k -= 2
        work.pairs[k] = nodes[node, ACTION]
        node = nodes[node, PARENT]
        work.pairs[k + 1] = count_in(work, node, world)
    return int(size)


@entry
def learn_counts(work: Prefixes, node: int, world: int, known: int) -> int:
    """Enter the numbers of choices of a world on the way to a node, and the node's metrics, which are in place.

    Args:
        known: how many numbers from the root on are known; they are in `pairs`, as `prefix_in` writes them.
    """
    tree, nodes = work.search.tree, work.search.tree.nodes
    if tree.columns.kept >= 0:
        work.search.codes.keep(work.metrics[node], tree.values[nodes[node, SLOT]])
    while node != ROOTLESS:
        if nodes[node, DEPTH] < known:
            count = work.pairs[2 * nodes[node, DEPTH] + 1]
            work.seen[node, world] = count
            work.choices[node] = count
        node = nodes[node, PARENT]
    return 0


@entry
def back_up_open(work: Prefixes, node: int) -> int:
    """Enter a result, whose utility is in `utils`. What the rollout shows of its node is in place (`learn_counts`)."""
    tree = work.search.tree
    while node != ROOTLESS:
        enter(tree, tree.nodes[node, SLOT], work.search.buffers.utils[0])
        node = tree.nodes[node, PARENT]
    return 0


@entry
def withdraw(work: Prefixes, node: int) -> int:
    """Stop counting a rollout from a node as under way."""
    settle(work, node)
    return 0


@entry
def lose_open(work: Prefixes, node: int) -> int:
    """Take in that the game failed in a rollout. A node at which it has only failed is given up, in all worlds."""
    links, slot = work.search.tree.links, work.search.tree.nodes[node, SLOT]
    work.losses[node] += 1
    if links[slot, VISITS] == 0 and work.losses[node] >= PATIENCE:
        links[slot, STATUS] |= DEAD
    return 0


@entry
def adopt(work: Prefixes, node: int, choice: int, count: int) -> int:
    """Make the child of a wide node that a rollout drew from `count` choices, and enter its result, as in `utils`.

    Returns:
        The child's node, NOBODY if there is no room for another node, or NO_ROOM - FULL if there are too few slots.
    """
    tree = work.search.tree
    slot = tree.nodes[node, SLOT]
    child = child_by(tree, slot, choice)
    if child == NOBODY:
        if work.search.buffers.counts[NODES] >= tree.nodes.shape[0]:
            return NOBODY
        if not has_room(work, slot, count):
            return NO_ROOM - FULL
        child = add_child(work, slot, choice, count)
    enter(tree, child, work.search.buffers.utils[0])
    return int(tree.links[child, NODE])
