"""States that a game in Python keeps, and from which later playthroughs begin (RESTORE of PROTOCOL.md)."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import NamedTuple

from persona_evo.connect import protocol as p

MOST_KEPT = 1000
"""States that are kept; the one used longest ago makes room."""


class KeptState(NamedTuple):
    """A state, and all else that the rest of a playthrough depends on.

    Attributes:
        game_seed: of the playthrough.
        trace: pairs of choice and count up to here.
        rows: the metrics before each of these choices, as they are sent; empty where no rows were wanted.
        values: the metrics reported last.
        score: the score so far.
        hash: the hash reported last, None if there was none.
        random: the state of the game's random numbers.
        state: of the game, a copy.
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
        """Whether an order may begin here: the state is on its way, and has the rows that it asks for."""
        if order.flags == p.ALL_METRICS and len(self.rows) != len(self.trace) // p.PAIR * 4 * len(self.values):
            return False
        same = order.prefix.startswith(self.trace) and order.game_seed == self.game_seed
        return same and order.depth * p.PAIR == len(self.trace)


class KeptStates:
    """States by the numbers that the driver gives them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, KeptState] = OrderedDict()

    def keep(self, number: int, kept: KeptState) -> None:
        """Keep a state, of which a copy is made."""
        self._kept[number] = kept._replace(state=copy.deepcopy(kept.state))
        self._kept.move_to_end(number)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def find(self, order: p.Rollout) -> KeptState | None:
        """The state that an order names, with a copy of the game's own, if it is known and fits."""
        kept = self._kept.get(order.restore)
        if kept is None or not kept.fits(order):
            return None
        self._kept.move_to_end(order.restore)
        return kept._replace(state=copy.deepcopy(kept.state))

    def clear(self) -> None:
        """Forget all states."""
        self._kept.clear()
