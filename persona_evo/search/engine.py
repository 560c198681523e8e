"""Runs a search in its memory, and provides the counters of every search."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from persona_evo.compiling import Entry, Handle, prepare
from persona_evo.compiling.arrays import IntRow, WordRow
from persona_evo.search import layout, mcts, relocation
from persona_evo.search.layout import SearchSpace
from persona_evo.search.object_engine import ObjectEngine, ObjectSearcher
from persona_evo.search.tree import ACTION, NOBODY, Tree, TreeMemory

CHUNK = 20_000
"""The largest number of iterations in one call of the search, for compiled games."""

SLOW_CHUNK = 200
"""The same for games in plain Python; also the number of iterations between two checks whether the plan wins."""


class Engine:
    """Runs a search in its memory, and enlarges the memory when the tree has no slots left.

    Args:
        memory: the memory of the tree.
        work: the arrays, settings and functions of the search.
        handle: the handle of an earlier search in the same memory, whose unchanged parts are reused.

    Attributes:
        work: the arrays, settings and functions of the current search.
    """

    def __init__(self, memory: TreeMemory, work: SearchSpace, handle: Handle[SearchSpace] | None = None) -> None:
        self._memory, self.handle = memory, handle or Handle(work)
        player = getattr(work.rules.step, "__self__", None)
        self._objects = None
        if player is not None and isinstance(player, ObjectSearcher) and not work.options.amaf:
            self._objects = ObjectEngine(work, player)
        self.change(work)

    def change(self, work: SearchSpace) -> None:
        """Continue with other arrays or settings of a search by the same rules."""
        self.work = self.handle.work = work
        if self._objects is not None:
            self._objects.change(work)

    def limit(self, nodes: int) -> None:
        """Limit the number of nodes of the tree."""
        work = self.work
        if nodes != len(work.tree.nodes):
            self.change(work._replace(tree=work.tree._replace(nodes=self._memory.nodes[:nodes])))

    def run(self, entry: Entry, iterations: int) -> int:
        """Make a number of iterations, and return why the search returned; this is never NO_ROOM."""
        counts = self.work.buffers.counts
        end = int(counts[layout.ITERATIONS]) + iterations
        with self._quiet():
            while True:
                left = end - int(counts[layout.ITERATIONS])
                objects = self._objects if entry is mcts.search else None
                reason = entry(self.handle, left) if objects is None else objects.search(left)
                if reason != layout.NO_ROOM:
                    return reason
                tree = self._memory.grow(self.work.tree, int(counts[layout.SLOTS]))
                self.change(self.work._replace(tree=tree))

    def move_root(self, node: int) -> None:
        """Make a node the root, and keep only what is below it."""
        work, counts = self.work, self.work.buffers.counts
        old, rows = work.tree, np.empty(int(counts[layout.NODES]), dtype=np.int32)
        new, none = self._memory.turn(old), np.empty((0, 0), dtype=np.uint16)
        move = relocation.Relocation(
            old._replace(states=none), new._replace(states=none), rows, counts, work.options.horizon
        )
        kept = relocation.move_root(Handle(move), node)
        old.states[:kept] = old.states[np.flatnonzero(rows != NOBODY)]
        self.change(work._replace(tree=new))
        if self._objects is not None:
            self._objects.forget()

    def prepare(self, entry: Entry, *functions: object) -> None:
        """Compile the entries that start and continue a search, and the functions of the game that Python calls."""
        prepare((mcts.plant, self.handle), (entry, self.handle), *functions)

    def plant(self, state: WordRow) -> None:
        """Start a new search in a state."""
        self.work.tree.states[0] = state
        if self._objects is not None:
            self._objects.forget()
        with self._quiet():
            mcts.plant(self.handle)

    def _quiet(self) -> contextlib.AbstractContextManager[object]:
        """Suppress warnings about integer overflow in plain Python, where integers wrap on purpose."""
        return np.errstate(all="ignore") if self.handle.plain else contextlib.nullcontext()


class TreePlan(NamedTuple):
    """A plan in the tree of a search.

    Attributes:
        space: the search.
        nodes: the nodes of the plan, from the root on.
        actions: all moves of the plan; the last ones may lead beyond the last node.
    """

    space: SearchSpace
    nodes: Sequence[int]
    actions: tuple[int, ...]

    @classmethod
    def of(cls, space: SearchSpace, node: int, moves: Iterable[int]) -> TreePlan:
        """Return the plan to a node and on by some moves."""
        nodes, table = space.tree.line(node), space.tree.nodes.data
        return cls(space, nodes, (*[table[one, ACTION] for one in nodes[1:]], *moves))

    def state(self, made: int) -> WordRow:
        """Return the state after the first `made` moves."""
        space, last = self.space, min(made, len(self.nodes) - 1)
        state: WordRow = space.tree.states[self.nodes[last]].copy()
        for action in self.actions[last:made]:
            space.rules.step(space.tables, state, action, space.buffers.rng)
        return state

    @property
    def end(self) -> WordRow:
        """The state after all moves."""
        return self.state(len(self.actions))


class Counted:
    """Provides the counters and the best plan of every search. A subclass sets `_counts` and has a `space`."""

    _counts: IntRow

    @property
    def space(self) -> SearchSpace:
        """The arrays, settings and functions of the search."""
        raise NotImplementedError

    @property
    def tree(self) -> Tree:
        """The tree; its first rows are the nodes."""
        return self.space.tree

    @property
    def best_end(self) -> tuple[int, tuple[int, ...]]:
        """The last node of the best plan in the tree (under `first_win` the winner), and the moves after it."""
        counts = self._counts
        if counts[layout.WINNER] >= 0:
            return int(counts[layout.WINNER]), ()
        moves = self.space.buffers.best_moves[: counts[layout.BEST_LENGTH]].tolist()
        return int(counts[layout.BEST_NODE]), tuple(moves)

    @property
    def best(self) -> TreePlan:
        """The best plan from the state in which the search began."""
        return TreePlan.of(self.space, *self.best_end)

    @property
    def best_utility(self) -> float:
        """The utility of the best plan."""
        return float(self.space.buffers.best[0])

    @property
    def iterations(self) -> int:
        """The number of iterations made."""
        return int(self._counts[layout.ITERATIONS])

    @property
    def nodes(self) -> int:
        """The number of nodes in the tree."""
        return int(self._counts[layout.NODES])

    @property
    def won(self) -> bool:
        """Whether the best plan wins."""
        return bool(self._counts[layout.BEST_WON])
