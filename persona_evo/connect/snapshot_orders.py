"""Adds to the orders of a search which states of the game may be kept, and from which a rollout may begin.

A state is that of a node of the tree. Its number holds the number of the search, so that the states that a game keeps
for different searches do not get mixed up.
"""

from __future__ import annotations

import itertools

from persona_evo.connect import protocol as p
from persona_evo.search.prefix_engine import PrefixEngine
from persona_evo.search.tree import DEPTH, PARENT, ROOTLESS

_searches = itertools.count(1)
_WAY = 16
"""The number of ancestors of a rollout's start node whose states a game may begin from."""


class SnapshotOrders:
    """The numbers of the states of one search from one start.

    Args:
        worlds: the number of worlds that the search plays in, each with states of its own.
    """

    def __init__(self, worlds: int = 1) -> None:
        self._worlds, self._number = worlds, next(_searches)

    def complete(
        self, order: p.Rollout, engine: PrefixEngine, node: int, before: int, *, new: bool, world: int = 0
    ) -> p.Rollout:
        """Return an order with the states that the game may keep or begin from.

        The game keeps the state of a new node. It begins from the state of an ancestor, or of a node that is known.

        Args:
            order: the order of a rollout.
            engine, node: the tree, and the node from which the rollout starts.
            before: the number of choices before the tree's root.
            new: whether the state of the node is new.
            world: the world in which the rollout is played.
        """
        nodes, states = engine.work.search.tree.nodes, list[tuple[int, int]]()
        at = int(nodes[node, PARENT]) if new else node
        while at != ROOTLESS and len(states) < _WAY:
            states.append((before + int(nodes[at, DEPTH]), self._state(at, world)))
            at = int(nodes[at, PARENT])
        return order._replace(snapshot=self._state(node, world) if new else 0, states=tuple(states))

    def _state(self, node: int, world: int) -> int:
        return self._number << 32 | (node * self._worlds + world + 1)
