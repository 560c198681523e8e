"""Makes a node the root of a tree: everything below it is kept, everything else is forgotten."""

from __future__ import annotations

from typing import NamedTuple

from persona_evo.compiling import compiled, entry
from persona_evo.compiling.arrays import IntRow, ShortRow
from persona_evo.search.layout import FULL, NODES, SLOTS
from persona_evo.search.tree import (
    ACTION,
    DEPTH,
    DONE,
    FIRST,
    KIDS,
    LEFT,
    NOBODY,
    NODE,
    OVER,
    PARENT,
    ROOT,
    ROOTLESS,
    SLOT,
    STATUS,
    UNKNOWN,
    Tree,
)


class Relocation(NamedTuple):
    """Holds the arrays of a move of the root.

    Nodes move within their arrays, and slots move from one array to another. States are left to the caller.

    Attributes:
        old, new: the tree with its current slots, and with room for as many.
        rows: int32[nodes], scratch space: the new number of each node, NOBODY for nodes that are forgotten.
        counts: see `layout`.
        horizon: the largest number of moves from the root.
    """

    old: Tree
    new: Tree
    rows: ShortRow
    counts: IntRow
    horizon: int


@compiled
def number(work: Relocation, root: int) -> int:
    """Number the nodes that are kept, and return how many there are."""
    kept = 0
    for node in range(work.counts[NODES]):
        stays = node == root
        if node > root and work.rows[work.old.nodes[node, PARENT]] != NOBODY:
            stays = True
        work.rows[node] = kept if stays else NOBODY
        if stays:
            kept += 1
    return kept


@compiled
def take(work: Relocation, slot: int, to: int) -> None:
    """Move a slot."""
    for column in range(work.old.columns.width):
        work.new.values[to, column] = work.old.values[slot, column]
    work.old.nodes[work.old.links[slot, NODE], SLOT] = to


@compiled
def take_children(work: Relocation, slot: int, to: int) -> int:
    """Move the block of children of a slot that has been moved, and return the first free slot after it."""
    links = work.new.links
    first, kids = links[slot, FIRST], links[slot, KIDS]
    if first == UNKNOWN:
        return to
    for k in range(kids):
        take(work, first + k, to + k)
    links[slot, FIRST] = to
    return to + kids + links[slot, LEFT]


@entry
def move_root(work: Relocation, root: int) -> int:
    """Move everything below a node to the front, and return the number of nodes that are left."""
    nodes, links = work.old.nodes, work.new.links
    kept, last, up = number(work, root), work.counts[NODES], nodes[root, DEPTH]
    take(work, nodes[root, SLOT], ROOT)
    used = 1
    for node in range(root, last):
        at = work.rows[node]
        if at == NOBODY:
            continue
        slot = nodes[node, SLOT]
        used = take_children(work, slot, used)
        links[slot, NODE] = at
        nodes[at, PARENT] = ROOTLESS if node == root else work.rows[nodes[node, PARENT]]
        nodes[at, ACTION] = nodes[node, ACTION]
        nodes[at, DEPTH] = nodes[node, DEPTH] - up
        nodes[at, SLOT] = slot
        if links[slot, STATUS] & OVER == 0 and nodes[at, DEPTH] < work.horizon:
            links[slot, STATUS] &= ~DONE
    work.counts[NODES] = kept
    work.counts[SLOTS] = used
    work.counts[FULL] = 0
    return kept
