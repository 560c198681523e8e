"""The order in which a search tries the choices of wide nodes, by the weights that the game gives them.

A node's weights are known once a rollout that starts there has asked for them. If the game fails in that rollout, the
game draws the choices of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from persona_evo.compiling.arrays import IntRow
from persona_evo.connect.ordering import PendingRollout
from persona_evo.search.prefix_engine import PrefixEngine
from persona_evo.search.tree import NOBODY
from persona_evo.seeds import SplitMix64


def prior_order(weights: Sequence[float], seed: int) -> list[int]:
    """Return the choices by falling weight. Those of equal weights are shuffled with a seed (see PROTOCOL.md)."""
    choices = list(range(len(weights)))
    SplitMix64(seed).shuffle(choices)
    return sorted(choices, key=lambda choice: -weights[choice])


class PriorOrders:
    """What is known of the weights at the wide nodes of a tree."""

    def __init__(self) -> None:
        self._left: dict[int, list[tuple[int, float]]] = {}
        self._asked: set[int] = set()

    def place(self, engine: PrefixEngine, order: PendingRollout) -> PendingRollout:
        """Return the rollout to order in place of one that was to draw a choice at a wide node.

        It starts at the next choice in order. The first rollout at a node asks for its weights instead, and those
        before the answer only add to its statistics.
        """
        node, asked = order.node, order.node in self._asked
        left = self._left.get(node, [])
        while left and not engine.is_full:
            child = engine.widen(node, *left.pop())
            if child != NOBODY:
                return replace(order, node=child, depth=order.depth + 1, draw=False)
        self._asked.add(node)
        return replace(order, draw=node in self._left, ask=not asked)

    def enter(self, engine: PrefixEngine, order: PendingRollout, weights: Sequence[float] | None) -> None:
        """Enter the weights that a rollout was to tell; None if the game failed in it."""
        if not order.ask:
            return
        if weights is not None:
            engine.work.draws[order.node] = 0
            weights = weights or [1.0] * int(engine.work.choices[order.node])
        known = weights or ()
        most = max(known, default=1.0)
        ranked = [(choice, known[choice] / most) for choice in prior_order(known, order.seed)]
        self._left[order.node] = ranked[::-1]

    def renumber(self, former: IntRow) -> None:
        """Take over new numbers of the nodes; `former` has the old number of each node."""
        old = former.tolist()
        self._left = {new: self._left[node] for new, node in enumerate(old) if node in self._left}
        self._asked = {new for new, node in enumerate(old) if node in self._asked}
