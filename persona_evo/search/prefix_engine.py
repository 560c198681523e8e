"""Runs a search over prefixes in memory of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Entry, Handle
from persona_evo.compiling.arrays import IntRow
from persona_evo.formula.assembly import LANES
from persona_evo.search.layout import (
    COUNTS,
    NO_MARKS,
    NO_ROOM,
    NO_RULES,
    NODES,
    SLOTS,
    Buffers,
    Codes,
    Options,
    SearchSpace,
)
from persona_evo.search.moves import Option
from persona_evo.search.open_prefixes import (
    adopt,
    back_up_open,
    descend_open,
    learn_counts,
    lose_open,
    plant_open,
    prefix_in,
    withdraw,
)
from persona_evo.search.prefix_growth import graft, widen
from persona_evo.search.prefixes import FULL, Prefixes, back_up, descend, lose, plant, prefix
from persona_evo.search.relocation import Relocation, move_root
from persona_evo.search.tree import ACTION, DEPTH, NOBODY, NODE, ROOT, TOTAL, UNKNOWN, VISITS, Columns, TreeMemory


class PrefixEngine:
    """A search over prefixes with its memory, which grows as needed.

    Args:
        options: the settings.
        codes, columns: the functions and columns of the utility and the tree policy.
        metrics: the number of metrics of the game.
        most: the largest number of nodes.
        choices: the largest number of choices of a node.
        rng: the search's random stream.
        grafting: whether whole traces are added to the tree.
        wide: as in `Prefixes`.
        worlds: the number of worlds that an `OpenPrefixEngine` averages over; 0 in a search of one world.
    """

    def __init__(
        self,
        options: Options,
        codes: Codes,
        columns: Columns,
        metrics: int,
        most: int,
        choices: int,
        rng: IntRow,
        grafting: bool,
        wide: int = 0,
        worlds: int = 0,
    ) -> None:
        none = np.zeros(0, dtype=np.uint16)
        self._memory = TreeMemory(most, none)
        tree = self._memory.lay_out(columns, min(2 * most, 4096) + choices)
        depths = min(options.horizon, most) + 2

        def whole(n: int) -> IntRow:
            return np.zeros(n, dtype=np.int64)

        buffers = Buffers(
            whole(COUNTS),
            np.zeros(1),
            whole(1),
            rng,
            whole(depths),
            np.zeros(choices + LANES),
            none,
            whole(1),
            whole(choices),
            whole(1),
            np.zeros((1, metrics)),
            np.zeros(metrics),
            np.zeros(1),
            NO_MARKS,
        )
        search = SearchSpace(NO_RULES, none, tree, options, codes, buffers, np.zeros(0, dtype=np.int32))
        self._handle = Handle(
            Prefixes(
                search,
                np.empty(most, dtype=np.int64),
                np.empty((most, metrics)),
                np.empty(most, dtype=np.int64),
                np.empty(most, dtype=np.int64),
                np.zeros(1),
                np.ones(1),
                whole(2 * options.horizon + 4),
                np.zeros((options.horizon + 2, metrics)),
                grafting,
                wide,
                np.ones(1),
                np.empty(most),
                np.empty((most if worlds else 0, worlds), dtype=np.int64),
            )
        )
        self.plant()

    @property
    def work(self) -> Prefixes:
        """The arrays and settings of the search."""
        return self._handle.work

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.work.search.buffers.counts[NODES])

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another node."""
        return self.nodes >= len(self.work.choices)

    def descend(self) -> tuple[int, bool]:
        """Return the node to roll out from (NOBODY if there is none), and whether there was no room for a new node."""
        found = self._run(descend, NO_ROOM - FULL)
        return (found - FULL, True) if found >= FULL else (found, False)

    def prefix(self, node: int) -> IntRow:
        """Return the choices that lead to a node, each followed by the number of choices."""
        return self.work.pairs[: prefix(self._handle, node)]

    def back_up(self, node: int, count: int, utility: float) -> None:
        """Back up a result (see `prefixes.back_up`)."""
        self.work.search.buffers.utils[0] = utility
        back_up(self._handle, node, count)

    def lose(self, node: int) -> None:
        """Remove a rollout that failed (see `prefixes.lose`)."""
        lose(self._handle, node)

    def graft(self, node: int, steps: int, utility: float) -> None:
        """Add the rest of a trace, which is already in the buffers, to the tree (see `prefix_growth.graft`)."""
        self.work.search.buffers.utils[0] = utility
        self._run(graft, NO_ROOM, node, steps)

    def widen(self, node: int, choice: int, prior: float) -> int:
        """Make a child of a wide node by a choice with this prior, and return its node (see `prefix_growth.widen`)."""
        child = self._run(widen, NO_ROOM - FULL, node, choice)
        if child != NOBODY:
            self.work.priors[child] = prior
        return child

    def find(self, way: Sequence[tuple[int, int]]) -> int:
        """Return the node that choices lead to, each with how many there were; NOBODY if nothing is known of it."""
        node, tree, known = ROOT, self.work.search.tree, self.work.choices
        for choice, count in way:
            below = tree.children(node) if known[node] == count else ()
            nodes = (int(tree.links[slot, NODE]) for slot in below)
            node = next((n for n in nodes if tree.nodes[n, ACTION] == choice), NOBODY)
            if node == NOBODY:
                return NOBODY
        return node if known[node] != UNKNOWN else NOBODY

    def options(self) -> tuple[Option, ...]:
        """Return what is known of the choices at the root that were tried, in the game's order."""
        tree = self.work.search.tree
        found = []
        for slot in tree.children(ROOT):
            visits, row = int(tree.links[slot, VISITS]), tree.values[slot]
            if visits:
                action = int(tree.nodes[tree.links[slot, NODE], ACTION])
                found.append(Option(action, visits, float(row[TOTAL]) / visits, float(row[tree.columns.best])))
        return tuple(sorted(found, key=lambda option: option.action))

    def depths(self) -> NDArray[np.int32]:
        """Return the depth of each node of the tree."""
        depths: NDArray[np.int32] = self.work.search.tree.nodes[: self.nodes, DEPTH]
        return depths

    def move_root(self, node: int) -> IntRow:
        """Make a node the root, and keep only what is below it. No rollout may be under way.

        Returns:
            The former numbers of the nodes that are kept, in the order of their new ones.
        """
        work = self.work
        old, counts = work.search.tree, work.search.buffers.counts
        rows, none = np.empty(int(counts[NODES]), dtype=np.int32), np.empty((0, 0), dtype=np.uint16)
        new = self._memory.turn(old)
        move = Relocation(
            old._replace(states=none), new._replace(states=none), rows, counts, work.search.options.horizon
        )
        kept = move_root(Handle(move), node)
        stays = np.flatnonzero(rows != NOBODY)
        for row in (work.choices, work.metrics, work.losses, work.draws, work.priors):
            row[:kept] = row[stays]
        self._handle.work = work._replace(search=work.search._replace(tree=new))
        return stays

    def plant(self) -> None:
        """Begin anew with a root of which nothing is known."""
        plant(self._handle)

    def _run(self, function: Entry, no_room: int, *numbers: int) -> int:
        while True:
            found = function(self._handle, *numbers)
            if found != no_room:
                return found
            work = self.work
            tree = self._memory.grow(work.search.tree, int(work.search.buffers.counts[SLOTS]))
            self._handle.work = work._replace(search=work.search._replace(tree=tree))


class OpenPrefixEngine(PrefixEngine):
    """A search over prefixes that averages over several worlds (see `open_prefixes`)."""

    def plant(self, count: int = UNKNOWN) -> None:
        """Begin anew with a root of which no more is known than the number of choices."""
        plant_open(self._handle, count)

    def forget(self, world: int) -> None:
        """Forget the numbers of choices in a world, whose seed has changed."""
        self.work.seen[: self.nodes, world] = UNKNOWN

    def descend_in(self, world: int) -> tuple[int, bool]:
        """Return the node to roll out from in a world, and whether there was no room for a new node."""
        found = self._run(descend_open, NO_ROOM - FULL, world)
        return (found - FULL, True) if found >= FULL else (found, False)

    def prefix_in(self, node: int, world: int) -> IntRow:
        """Return the choices that lead to a node, each followed by the number of choices in a world."""
        return self.work.pairs[: prefix_in(self._handle, node, world)]

    def learn_counts(self, node: int, world: int, counts: Sequence[int]) -> None:
        """Enter the numbers of choices in a world on the way to a node, from the root on."""
        counts = counts[: len(self.work.pairs) // 2]
        self.work.pairs[1 : 2 * len(counts) : 2] = counts
        learn_counts(self._handle, node, world, len(counts))

    def known(self, node: int, world: int) -> int:
        """Return the number of choices at a node in a world, UNKNOWN if it is not known."""
        return int(self.work.seen[node, world])

    def expected(self, node: int, world: int) -> int:
        """Return the number of choices at a node in a world, known or guessed; UNKNOWN or 0 without either."""
        known = self.known(node, world)
        return int(self.work.choices[node]) if known == UNKNOWN else known

    def back_up_open(self, node: int, utility: float) -> None:
        """Back up a result (see `open_prefixes.back_up_open`)."""
        self.work.search.buffers.utils[0] = utility
        back_up_open(self._handle, node)

    def withdraw(self, node: int) -> None:
        """Stop counting a rollout from a node as under way."""
        withdraw(self._handle, node)

    def lose_open(self, node: int) -> None:
        """Take in that the game failed in a rollout from a node (see `open_prefixes.lose_open`)."""
        lose_open(self._handle, node)

    def adopt(self, node: int, choice: int, count: int, utility: float) -> int:
        """Add a drawn choice to the tree, with its result (see `open_prefixes.adopt`)."""
        self.work.search.buffers.utils[0] = utility
        return self._run(adopt, NO_ROOM - FULL, node, choice, count)
