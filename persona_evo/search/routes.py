"""Draws routes: plans in the tree of a search that are as good as its best plan, or nearly so.

The trials of a playtest show different routes. The last state of a route is drawn among the states whose utility is
high enough. Its path to the root is then drawn among all equally short paths into each state. The tree holds one of
them; the others are found with the table of states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from persona_evo.compiling.arrays import IntRow, ShortRow, ShortTable
from persona_evo.formula import Formula
from persona_evo.games.core import WON
from persona_evo.search.open_lists import WORTH
from persona_evo.search.settings import least_worth, longest_route
from persona_evo.search.tree import ACTION, DEPTH, NOBODY, OVER, PARENT, ROOT, STATUS
from persona_evo.seeds import below, derive, stream

if TYPE_CHECKING:
    from persona_evo.search.list_search import ListSearch


class Routes:
    """The plans within a tolerance of the best one.

    Args:
        search: the search from whose tree routes are drawn.
        utility: the utility by which plans are compared.
        best: the best plan, which a search for a win may have found outside this tree.
        worth, won: its utility, and whether it wins.
        tolerance: how much lower the utility of a route may be, as a share of |worth|.
    """

    def __init__(
        self, search: ListSearch, utility: Formula, best: tuple[int, ...], worth: float, won: bool, tolerance: float
    ) -> None:
        self.utility, self._search, self._best = utility, search, best
        tree, nodes = search.tree, search.nodes
        enough = tree.values[:nodes, WORTH] >= least_worth(worth, tolerance)
        short = tree.nodes[:nodes, DEPTH] <= longest_route(len(best))
        winning = (tree.links[:nodes, STATUS] & OVER == WON) | (not won)
        self._ends = [int(node) for node in np.flatnonzero(enough & short & winning)]
        self._beyond, self._tail = search.best_end
        if search.best.actions == best and self._beyond not in self._ends:  # the best plan continues beyond the tree
            self._ends.append(self._beyond)
        else:
            self._beyond = NOBODY
        self._ways: tuple[ShortRow, ShortTable] | None = None

    def draw(self, seed: int) -> tuple[int, ...]:
        """Return the actions of the route that belongs to a seed, from the level's start."""
        if not self._ends:
            return self._best
        rng = stream(derive(seed, "route"))
        node = self._ends[below(rng, len(self._ends))]
        return self._back(node, rng) + (self._tail if node == self._beyond else ())

    def _back(self, node: int, rng: IntRow) -> tuple[int, ...]:
        """Draw a path from the root to a node, move by move from its end."""
        nodes = self._search.tree.nodes
        if self._ways is None:
            self._ways = self._search.other_ways()
        heads, rows = self._ways
        actions: list[int] = []
        while node != ROOT:
            ways = [(int(nodes[node, PARENT]), int(nodes[node, ACTION]))]
            row = int(heads[node])
            while row != NOBODY:
                ways.append((int(rows[row, 0]), int(rows[row, 1])))
                row = int(rows[row, 2])
            node, action = ways[below(rng, len(ways))]
            actions.append(action)
        return tuple(reversed(actions))
