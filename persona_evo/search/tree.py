"""The tree as three arrays: one row of whole numbers, one of values and one state per node.

Rows rather than one array per field: what a step of the descent reads of a child lies in one cache line.

`links` int32[capacity, 10]:

| column | what |
|---|---|
| PARENT | the parent's row, ROOTLESS at the root |
| FIRST, NEXT | first child and next sibling, NOBODY at the end |
| VISITS | N, how often a result was backed up through the node |
| ACTION | the action that led here |
| LEFT | legal actions not tried yet, UNKNOWN before the node is first descended to |
| DEPTH | D, moves from the root |
| STATUS | what the game's `over` says of the state, DONE set once nothing new can be found below |
| OPEN | children that are not DONE |
| TWIN | the node that keeps the statistics of this state: itself, or an equal one (`merge`) |

`values` float64[capacity, 4 or more]: TOTAL and BEST and SQUARES of the utilities backed up, as the player who moved
into the node sees them; SCORE, the tree policy's score where it does not change between visits; from KEPT_PART on,
what of the tree policy's formula never changes (see `coding`), in as many columns as it needs, and behind that the two
columns of `amaf` where they are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.search.layout import MOST_KEPT

PARENT, FIRST, NEXT, VISITS, ACTION, LEFT, DEPTH, STATUS, OPEN, TWIN = range(10)
LINKS = 10
TOTAL, BEST, SQUARES, SCORE = range(4)
KEPT_PART = VALUES = 4

ROOT = 0
ROOTLESS = NOBODY = UNKNOWN = -1
OVER, DONE, TAKEN, NOVEL = 15, 16, 32, 64
"""STATUS: the bits that hold `over`; the bit set when nothing new can be found below; with open lists also whether a
node was taken out of them (expanded, or closed by its bound), and whether it shows something new."""

EMPTY = -1


@dataclass(eq=False)
class Tree:
    """The arrays of one search.

    links int32[capacity, LINKS], values float64[capacity, VALUES and up], states uint16[capacity, state size]; slots
    int32[2**k] and keys int64[capacity] are the hash table of states (one entry where transpositions are off). memory
    float64[capacity * (VALUES + MOST_KEPT)] is where `values` has its place.
    """

    links: NDArray[np.int32]
    values: NDArray[np.float64]
    states: NDArray[Any]
    slots: NDArray[np.int32]
    keys: NDArray[np.int64]
    memory: NDArray[np.float64]

    @classmethod
    def allocate(
        cls, capacity: int, state_size: int, hashed: bool, dtype: Any = np.uint16, spare: int = 0
    ) -> Tree:  # fmt: skip
        """Room for `capacity` nodes; pages of memory are taken as the tree grows.

        spare: rows behind them, for states that are looked at and not kept.
        """
        slots = 1
        while hashed and slots < 2 * capacity:
            slots *= 2
        capacity += spare
        memory = np.empty(capacity * (VALUES + MOST_KEPT), dtype=np.float64)
        return cls(
            np.empty((capacity, LINKS), dtype=np.int32),
            memory[: capacity * VALUES].reshape(capacity, VALUES),
            np.empty((capacity, state_size), dtype=dtype),
            np.full(slots, EMPTY, dtype=np.int32),
            np.empty(capacity if hashed else 1, dtype=np.int64),
            memory,
        )

    def lay_out(self, more: int) -> None:
        """Give `values` so many columns more than VALUES (there is room for MOST_KEPT); what it held is lost."""
        columns = VALUES + more
        if self.capacity * columns > len(self.memory):
            self.memory = np.empty(self.capacity * columns, dtype=np.float64)
        self.values = self.memory[: self.capacity * columns].reshape(self.capacity, columns)

    @property
    def capacity(self) -> int:
        """How many nodes there is room for."""
        return len(self.links)

    def bytes_per_node(self) -> float:
        """Memory of a full tree divided by its nodes, with as many parts of a formula as there can be."""
        arrays = (self.links, self.memory, self.states, self.slots, self.keys)
        return sum(a.nbytes for a in arrays) / self.capacity

    def path(self, node: int) -> list[int]:
        """The actions from the root to a node."""
        actions: list[int] = []
        while self.links[node, PARENT] != ROOTLESS:
            actions.append(int(self.links[node, ACTION]))
            node = int(self.links[node, PARENT])
        return actions[::-1]

    def children(self, node: int) -> list[int]:
        """The rows of a node's children, the newest first."""
        found = []
        child = int(self.links[node, FIRST])
        while child != NOBODY:
            found.append(child)
            child = int(self.links[child, NEXT])
        return found
