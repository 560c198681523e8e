"""Adds children to a tree of prefixes that no descent makes: at wide nodes, and for whole traces (see `prefixes`)."""

from __future__ import annotations

from persona_evo.compiling import compiled, entry
from persona_evo.search.expansion import child_by
from persona_evo.search.layout import NO_ROOM, NODES, SLOTS, WIDEST
from persona_evo.search.mcts import enter
from persona_evo.search.open_loop import make_room
from persona_evo.search.prefixes import FEW, FULL, Prefixes, is_wide, make, pass_known, pending, reveal
from persona_evo.search.tree import DEPTH, KIDS, LEFT, NOBODY, NODE, SLOT, UNKNOWN


@compiled
def reserve(work: Prefixes, slot: int) -> None:
    """Take room for another child of a wide node. LEFT is above 0 as long as it has choices without a child."""
    links = work.search.tree.links
    kids, count = links[slot, KIDS], work.choices[links[slot, NODE]]
    if links[slot, LEFT] == 1 and kids + 1 < count:
        links[slot, LEFT] = 0
        make_room(work.search, slot, kids + 1)
    else:
        links[slot, LEFT] -= 1
    if kids + 1 == count:
        links[slot, LEFT] = 0


@entry
def widen(work: Prefixes, node: int, choice: int) -> int:
    """Make a child of a wide node, from which a rollout that has come to this node goes on.

    Returns:
        The child's node; NOBODY if the choice has a child or there is no room for another node, or NO_ROOM - FULL if
        there are too few slots.
    """
    tree, counts = work.search.tree, work.search.buffers.counts
    slot = tree.nodes[node, SLOT]
    if counts[NODES] >= tree.nodes.shape[0] or child_by(tree, slot, choice) != NOBODY:
        return NOBODY
    if counts[SLOTS] + 2 * counts[WIDEST] > tree.values.shape[0]:
        return NO_ROOM - FULL
    reserve(work, slot)
    child = make(work, slot, choice)
    tree.links[child, pending(tree.columns)] += 1
    return int(tree.links[child, NODE])


@entry
def graft(work: Prefixes, node: int, steps: int) -> int:
    """Put the next steps of a trace into the tree below the node it was rolled out from; add its result to each node.

    The trace is in `pairs` and `rows`, its utility in `utils`. Behind the last step `pairs` has the number of choices
    there, 0 if the game is over.

    Returns:
        0, or NO_ROOM if there are too few slots.
    """
    tree, counts = work.search.tree, work.search.buffers.counts
    needed = 2 * counts[WIDEST]
    for i in range(steps):
        count = work.pairs[2 * i + 1]
        needed += (FEW if is_wide(work, count) else count) + 1
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
            if is_wide(work, work.choices[node]):
                reserve(work, slot)
                child = make(work, slot, work.pairs[2 * i])
            else:
                child = make(work, slot, work.pairs[2 * i])
                pass_known(work, slot)
        enter(tree, child, work.search.buffers.utils[0])
        node = tree.links[child, NODE]
        if work.choices[node] == UNKNOWN:
            for k in range(work.metrics.shape[1]):
                work.metrics[node, k] = work.rows[i + 1, k]
            reveal(work, node, work.pairs[2 * i + 3])
    return 0
