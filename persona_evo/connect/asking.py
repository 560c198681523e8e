"""Reads DECIDE, and plays a rollout in mode ASK as the game would by itself, to learn the weights of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from persona_evo import limits
from persona_evo.connect import protocol as p
from persona_evo.connect.game_frames import read_id
from persona_evo.errors import ProtocolError, SettingsError
from persona_evo.seeds import SplitMix64, check_weights


@dataclass(frozen=True, slots=True)
class Decision:
    """What DECIDE says of a decision.

    Attributes:
        depth: the number of decisions before it.
        count: the number of its choices.
        weights: the weights of its choices; None if it has none.
    """

    depth: int
    count: int
    weights: tuple[float, ...] | None


def decode_decide(payload: bytes, id_: int, depth: int, metrics: int) -> Decision:
    """Decode the payload of DECIDE.

    Args:
        payload: the payload.
        id_: the id of the rollout under way.
        depth: the number of decisions made in it.
        metrics: the number of the game's metrics.

    Raises:
        ProtocolError: it violates PROTOCOL.md, or it is not about the next decision of this rollout.
    """
    asked = p.decode_json(p.Kind.DECIDE, payload)
    count, weights, values = asked.get("count"), asked.get("weights"), asked.get("metrics")
    if read_id(asked.get("id")) != id_:
        raise _wrong("id", asked.get("id"), f"{id_}, the id of the ROLLOUT under way")
    if not p.is_whole(asked.get("depth"), depth, depth):
        raise _wrong("depth", asked.get("depth"), f"{depth}, the number of decisions so far")
    if not p.is_whole(count, 1, p.MOST_CHOICES):
        raise _wrong("count", count, f"a whole number from 1 to {p.MOST_CHOICES}")
    if not isinstance(values, list) or len(values) != metrics or not all(map(limits.is_finite, values)):
        raise _wrong("metrics", values, f"a list of {metrics} finite numbers")
    return Decision(depth, count, None if weights is None else _weights(weights, count))


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
        self._first, self._made = len(order.prefix) // p.PAIR, b""
        self._random = SplitMix64(order.rollout_seed)

    def choose(self, asked: Decision) -> int:
        """Return the choice for a decision."""
        weights = asked.weights
        if weights is not None and asked.depth == self._first:
            self.weights = weights
        by_weights = self._by_weights and weights is not None
        choice = self._random.weighted(weights or ()) if by_weights else self._random.below(asked.count)
        self._made += p.pack([(choice, asked.count)])
        return choice

    def check(self, result: p.Result) -> None:
        """Check that a playthrough has the choices that the driver made.

        Raises:
            ProtocolError: it has others, or other numbers of choices.
        """
        made = result.trace[self._first * p.PAIR :]
        if result.status in (p.OK, p.TRUNCATED) and made != self._made:
            raise ProtocolError(
                "RESULT's trace differs from what DECIDE and CHOICE said",
                found=str(p.unpack(made))[:200],
                expected=str(p.unpack(self._made))[:200],
            )


def _wrong(key: str, found: object, expected: str) -> ProtocolError:
    return ProtocolError(f"DECIDE's {key!r} is not valid", found=limits.shown(found)[:60], expected=expected)


def _weights(given: Any, count: int) -> tuple[float, ...]:
    if not isinstance(given, list) or len(given) != count or not all(type(w) in (int, float) for w in given):
        raise ProtocolError(
            "DECIDE's weights do not fit", found=str(given)[:60], expected=f"null, or a list of {count} numbers"
        )
    try:
        check_weights(given)
    except SettingsError as e:
        raise ProtocolError(
            f"DECIDE's weights do not fit: {e.what}", found=e.found and e.found[:60], expected=e.expected
        ) from e
    return tuple(map(float, given))
