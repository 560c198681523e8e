"""Keeps states of a game in Python from which later games can begin (RESTORE in PROTOCOL.md)."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import NamedTuple

from persona_evo.connect import protocol as p

MOST_KEPT = 1000
"""The largest number of states that are kept; the least recently used one is dropped first."""


class KeptState(NamedTuple):
    """A state of the game together with everything else that the rest of the game depends on.

    Attributes:
        game_seed: the seed of the game.
        trace: the pairs of choice and count so far.
        rows: the encoded metrics before each of these choices; empty if the driver did not ask for them.
        values: the metrics reported last.
        score: the score so far.
        hash: the hash reported last; None if there was none.
        random: the state of the random number generator.
        state: a copy of the game's own state.
    """

    game_seed: int
    trace: bytes
    rows: bytes
    values: tuple[float, ...]
    score: float
    hash: int | None
    random: int
    state: object

    def fits(self, order: p.Rollout) -> bool:
        """Return whether an order can begin here: this state is on its prefix, and has the rows that it needs."""
        rows = len(self.trace) // p.PAIR * 4 * len(self.values)
        if order.flags & ~p.PICTURES == p.ALL_METRICS and len(self.rows) != rows:
            return False
        same = order.prefix.startswith(self.trace) and order.game_seed == self.game_seed
        return same and order.depth * p.PAIR == len(self.trace)


class KeptStates:
    """Stores states under the numbers that the driver gives them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, KeptState] = OrderedDict()

    def keep(self, number: int, kept: KeptState) -> None:
        """Store a copy of a state."""
        self._kept[number] = kept._replace(state=copy.deepcopy(kept.state))
        self._kept.move_to_end(number)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def find(self, order: p.Rollout) -> KeptState | None:
        """Return a copy of the state that an order names; None if it is unknown or does not fit."""
        kept = self._kept.get(order.restore)
        if kept is None or not kept.fits(order):
            return None
        self._kept.move_to_end(order.restore)
        return kept._replace(state=copy.deepcopy(kept.state))

    def clear(self) -> None:
        """Forget all states."""
        self._kept.clear()
