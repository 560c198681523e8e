"""Random seeds derived from one seed, and the project's own random generator.

`derive` makes independent seeds from one seed and the names of their uses, so that a result
depends on what is computed and never on the order or the process in which it is.

The generator is xoroshiro64** 1.0 (Blackman and Vigna, public domain): two 32-bit words of state, 32 bits a
draw, in arithmetic that is the same compiled, interpreted and in C#.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import MutableSequence, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo import limits
from persona_evo.compiling import compiled
from persona_evo.errors import SettingsError

SEED_LIMIT = 2**63
"""Seeds are whole numbers in [0, SEED_LIMIT)."""

_MASK, _MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def derive(seed: int, *names: int | str) -> int:
    """Return a seed in [0, 2**63) for the use called `names`, derived from `seed`."""
    text = "\x1f".join([str(int(seed)), *[f"{type(n).__name__}:{n}" for n in names]])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def fresh() -> int:
    """Return a new seed from the operating system that is short enough to be typed."""
    return secrets.randbelow(2**31)


def stream(seed: int) -> NDArray[np.int64]:
    """Return the generator's state for `seed`: int64[2], each word in [0, 2**32), never both zero."""
    word = derive(seed, "stream")
    first, second = word & _MASK, (word >> 31) & _MASK
    return np.array([first or int(not second), second], dtype=np.int64)


@compiled
def draw(rng: NDArray[np.int64]) -> int:
    """Draw the next 32 random bits of the stream `rng` as a whole number in [0, 2**32)."""
    a = int(rng[0])  # a Python number if this is not compiled, since the product has more than 63 bits
    b = int(rng[1])
    x = (a * 0x9E3779BB) & 0xFFFFFFFF
    x = (((x << 5) | (x >> 27)) & 0xFFFFFFFF) * 5 & 0xFFFFFFFF
    b ^= a
    rng[0] = (((a << 26) | (a >> 6)) ^ b ^ (b << 9)) & 0xFFFFFFFF
    rng[1] = ((b << 13) | (b >> 19)) & 0xFFFFFFFF
    return x


@compiled
def below(rng: NDArray[np.int64], n: int) -> int:
    """Draw a whole number in [0, n), 1 <= n < 2**31. The bias is below n / 2**32 (multiply and shift)."""
    return (draw(rng) * n) >> 32


class SplitMix64:
    """The generator that connected games share with the driver and with their Python twins: 64 bits a draw.

    It is that of Steele, Lea and Flood (2014), in the form of Vigna's public domain code. It gives the same numbers in
    a game in any language (`unity_support/PROTOCOL.md`).

    Args:
        seed: the first state; only the lowest 64 bits are used.
    """

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & _MASK64

    def next(self) -> int:
        """Draw a whole number in [0, 2**64)."""
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & _MASK64
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Draw a whole number in [0, n), 1 <= n <= 2**32; one draw."""
        return ((self.next() >> 32) * n) >> 32

    def unit(self) -> float:
        """Draw a number in [0, 1) with 53 bits; one draw."""
        return float(self.next() >> 11) * 2.0**-53

    def weighted(self, weights: Sequence[float]) -> int:
        """Draw an index with a probability proportional to its weight; one draw.

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
        """Shuffle items in place, from the last place down; len(items) - 1 draws."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def check_weights(weights: Sequence[float]) -> float:
    """Return the sum of weights, added from the first to the last.

    Raises:
        SettingsError: as for `SplitMix64.weighted`.
    """
    total = 0.0
    for weight in weights:
        if not 0.0 <= weight <= limits.LARGEST:
            raise SettingsError("a weight is out of range", found=limits.shown(weight), expected="a finite number >= 0")
        total += weight
    if not 0.0 < total < math.inf:
        raise SettingsError("the sum of the weights is not a finite number above 0", found=str(total))
    return total
