"""The random numbers of connected games: SplitMix64, the same numbers here and in a game of any language.

The generator is that of Steele, Lea and Flood (2014), in the form of Vigna's public domain code. A game has one stream
for itself and one for the choices of a rollout; both are set anew by every ROLLOUT (see unity_support/PROTOCOL.md).
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import Any

from persona_evo.errors import SettingsError

MASK = 0xFFFFFFFFFFFFFFFF


class SplitMix64:
    """A stream of 64-bit numbers. seed: the first state; what goes beyond 64 bits is cut off."""

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        """A whole number in [0, 2**64)."""
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number in [0, n), 1 <= n <= 2**32; one draw."""
        return ((self.next() >> 32) * n) >> 32

    def unit(self) -> float:
        """A number in [0, 1) with 53 bits; one draw."""
        return (self.next() >> 11) * 2.0**-53

    def weighted(self, weights: Sequence[float]) -> int:
        """An index, as likely as its share of the weights; one draw.

        Raises:
            SettingsError: the weights are not finite, or negative, or none is positive.
        """
        total = check_weights(weights)
        wanted = self.unit() * total
        reached = 0.0
        last = 0
        for i, weight in enumerate(weights):
            reached += weight
            if reached > wanted:
                return i
            if weight > 0.0:
                last = i
        return last

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Bring items in a random order, in place; len(items) - 1 draws."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def check_weights(weights: Sequence[float]) -> float:
    """The sum of weights, added up from the first to the last.

    Raises:
        SettingsError: as `SplitMix64.weighted`.
    """
    total = 0.0
    for weight in weights:
        if not (math.isfinite(weight) and weight >= 0.0):
            raise SettingsError("a weight is out of range", found=str(weight), expected="a finite number >= 0")
        total += weight
    if not 0.0 < total < math.inf:
        raise SettingsError("the weights have no finite sum above 0", found=str(total))
    return total
