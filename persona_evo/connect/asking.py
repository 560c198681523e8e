"""Plays a rollout in mode ASK as the game would play it by itself, to learn the weights of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.errors import ProtocolError, SettingsError
from persona_evo.seeds import SplitMix64, check_weights


class AskedRollout:
    """The driver's answers to the DECIDEs of one rollout: the choices that the game would draw in the order's own mode.

    Args:
        order: the order, whose mode is UNIFORM or WEIGHTS.

    Attributes:
        id: the id of the order.
        weights: the weights of the first decision after the prefix; empty if there was none, or none with weights.
    """

    def __init__(self, order: p.Rollout) -> None:
        self.id, self.weights = order.id, tuple[float, ...]()
        self._by_weights = order.mode == p.WEIGHTS
        self._first = len(order.prefix) // p.PAIR
        self._random = SplitMix64(order.rollout_seed)

    def choose(self, asked: Mapping[str, Any]) -> int:
        """Return the choice for a DECIDE.

        Raises:
            ProtocolError: its number of choices or its weights are not as specified.
        """
        count, given = asked.get("count"), asked.get("weights")
        if not p.is_whole(count, 1, p.MOST_CHOICES):
            raise ProtocolError(
                "DECIDE has an impossible number of choices", found=str(count)[:40], expected=f"1 to {p.MOST_CHOICES}"
            )
        if given is None:
            return self._random.below(count)
        weights = _weights(given, count)
        if asked.get("depth") == self._first:
            self.weights = weights
        return self._random.weighted(weights) if self._by_weights else self._random.below(count)


def _weights(given: Any, count: int) -> tuple[float, ...]:
    if not isinstance(given, list) or len(given) != count or not all(type(w) in (int, float) for w in given):
        raise ProtocolError(
            "DECIDE's weights do not fit", found=str(given)[:60], expected=f"null, or a list of {count} numbers"
        )
    try:
        check_weights(given)
    except SettingsError as e:
        raise ProtocolError(f"DECIDE's weights do not fit: {e.what}", found=e.found, expected=e.expected) from e
    return tuple(map(float, given))
