"""Defines the tree of a search: the arrays that compiled code walks through, and their memory.

Nodes are numbered in the order in which they are made. The children of a node occupy one block of *slots*, which is
allocated when the search first descends to the node. Children lie in it in the order in which they are made, so the
newest has the highest slot. A slot holds what a step of the descent reads of a child, in one row of `values`
float64[slots, width]; `links` int32[slots, 2 width] shows the same memory as whole numbers:

| column | content |
|---|---|
| TOTAL (of `values`) | the sum of the utilities backed up, as seen by the player who moved into the node |
| VISITS (this and the following: of `links`) | N, how often a result was backed up |
| FIRST | the first slot of its children's block; UNKNOWN before the first descent to the node |
| KIDS | the number of children made so far |
| LEFT | the number of legal actions not tried yet; UNKNOWN before the first descent to the node |
| STATUS | the result of the game's `over`, and bits of the search (DONE, ...) |
| NODE | the number of the node |

What only some policies read follows from column FIXED of `values` on, at the places given by `Columns`. What the
descent does not read is stored separately, by node: `nodes` int32[capacity, 4] with the columns PARENT (ROOTLESS at the
root), ACTION (which led here), DEPTH (D, the number of moves from the root) and SLOT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling.arrays import FloatTable, IntRow, ShortRow, ShortTable, WordTable

TOTAL = 0
VISITS, FIRST, KIDS, LEFT, STATUS, NODE = range(2, 8)
FIXED = 4
PARENT, ACTION, DEPTH, SLOT = range(4)

ROOT = 0
"""The number of the root's node and of its slot."""
ROOTLESS = NOBODY = UNKNOWN = EMPTY = -1
OVER, DONE, TAKEN, NOVEL, DEAD, MOVER = 15, 16, 32, 64, 128, 8
"""Bits of STATUS: the result of `over`; whether nothing new can be found below; with open lists also whether a node was
taken out of them (expanded, or closed by its bound), and whether it shows something new; in the search over prefixes
also whether the game fails there. The player to move is stored from bit MOVER on."""


class Columns(NamedTuple):
    """The columns of `values` that are kept only if something reads them; -1 for those that are not kept.

    Attributes:
        best: the largest utility backed up.
        squares: the sum of the squares of the utilities.
        score: the tree policy's score, if it does not change between visits.
        kept: the first of the parts of the tree policy's formula that never change.
        moves: a count and a total of `amaf`.
        pending: the number of rollouts under way, in the first half of a column, and the utility assumed for each in
            the next column.
        width: the number of columns.
    """

    best: int = -1
    squares: int = -1
    score: int = -1
    kept: int = -1
    moves: int = -1
    pending: int = -1
    width: int = FIXED

    @classmethod
    def of(
        cls,
        *,
        best: bool = False,
        squares: bool = False,
        score: bool = False,
        kept: int = 0,
        moves: bool = False,
        pending: bool = False,
    ) -> Columns:
        """Return columns for what is read; `kept` is the number of constant parts of the formula."""
        begins, at = [], FIXED
        for size in (int(best), int(squares), int(score), kept, 2 * moves, 2 * pending):
            begins.append(at if size else -1)
            at += size
        return cls._make((*begins, at))


class Tree(NamedTuple):
    """The arrays of a tree (see the module).

    Attributes:
        links: int32[slots, 2 width], the same memory as `values`.
        values: float64[slots, width].
        nodes: int32[capacity, 4].
        states: uint16[capacity + spare, state size], by node; objects if the game is a Python class.
        twins: int32[capacity], the node that keeps the statistics of a node's state: the node itself, or an earlier one
            with an equal state; one entry if equal states share nothing.
        table: int32[2**k], the hash table of states: numbers of nodes, EMPTY if free.
        keys: int64[capacity + spare], the hash of each node's state. If equal states are not detected, `table` and
            `keys` have one entry.
        columns: the places of the optional columns.
    """

    links: ShortTable
    values: FloatTable
    nodes: ShortTable
    states: WordTable
    twins: ShortRow
    table: ShortRow
    keys: IntRow
    columns: Columns

    def line(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        nodes, found = self.nodes.data, list[int]()  # a number of a memoryview is read faster than one of an array
        while node != ROOTLESS:
            found.append(node)
            node = nodes[node, PARENT]
        return found[::-1]

    def path(self, node: int) -> list[int]:
        """Return the actions from the root to a node."""
        nodes = self.nodes.data
        return [nodes[one, ACTION] for one in self.line(node)[1:]]

    def children(self, node: int) -> range:
        """Return the slots of a node's children, the newest first."""
        slot = self.nodes[node, SLOT]
        first, kids = int(self.links[slot, FIRST]), int(self.links[slot, KIDS])
        return range(first + kids - 1, first - 1, -1)


def aligned(size: int) -> NDArray[np.float64]:
    """Return float64[size] that begins at a cache line; a few elements after its end can be read safely."""
    room = np.empty(size + 64)
    first = -int(room.__array_interface__["data"][0]) % 64 // 8
    return room[first : first + size]


class TreeMemory:
    """The memory for trees, one after the other; the system allocates its pages as a tree grows.

    Args:
        capacity: the largest number of nodes.
        start: a state, whose size and type all states have.
        hashed: whether equal states can be detected.
        merging: whether equal states can share their statistics.
        spare: the number of rows after those of nodes, for states that are examined and not kept.
    """

    def __init__(
        self, capacity: int, start: NDArray[np.uint16], hashed: bool = False, merging: bool = False, spare: int = 0
    ) -> None:
        self.capacity = capacity
        size = 1
        while hashed and size < 2 * capacity:
            size *= 2
        self.nodes = np.empty((capacity, 4), dtype=np.int32)
        self.states = np.empty((capacity + spare, len(start)), dtype=start.dtype)
        self.twins = np.empty(capacity if merging else 1, dtype=np.int32)
        self.table = np.full(size, EMPTY, dtype=np.int32)
        self.keys = np.empty(capacity + spare if hashed else 1, dtype=np.int64)
        self._numbers = self._spare = aligned(0)
        self._last: Tree | None = None

    def lay_out(self, columns: Columns, slots: int) -> Tree:
        """Return an empty tree with these columns and at least this number of slots; the previous tree is lost."""
        if len(self._numbers) < slots * columns.width:
            self._numbers = aligned(slots * columns.width)
        return self._tree(columns)

    def turn(self, tree: Tree) -> Tree:
        """Return the tree with as many slots in other memory, to which the caller moves those still needed."""
        if len(self._spare) < len(self._numbers):
            self._spare = aligned(len(self._numbers))
        self._numbers, self._spare = self._spare, self._numbers
        return self._tree(tree.columns)

    def grow(self, tree: Tree, used: int) -> Tree:
        """Return the tree with twice as many slots; the first `used` slots are copied."""
        self._numbers = aligned(2 * len(self._numbers))
        larger = self._tree(tree.columns)
        larger.values[:used] = tree.values[:used]
        return larger._replace(nodes=tree.nodes)

    def _tree(self, columns: Columns) -> Tree:
        slots, last = len(self._numbers) // columns.width, self._last
        if last is None or last.columns != columns or last.values.base is not self._numbers.base:
            values = self._numbers[: slots * columns.width].reshape(slots, columns.width)
            rows = (self.nodes, self.states, self.twins, self.table, self.keys)
            self._last = last = Tree(values.view(np.int32), values, *rows, columns)
        return last
