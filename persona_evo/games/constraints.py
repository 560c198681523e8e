"""Describes how a game draws levels (`Generator`), and the conditions for drawn levels (`Constraints`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

ATTEMPTS = 3_000
"""Texts drawn for one level at most."""


class AllowedRange(NamedTuple):
    """Lowest and highest value that is allowed, both included; infinite where there is no limit."""

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:g}"
        if math.isinf(self.high):
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if math.isinf(self.low) else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Constraints:
    """The conditions that levels have to meet.

    Attributes:
        kinds: the kinds of levels to draw in turn; empty for all kinds of the game.
        spans: number of the level's structure (`Game.structure`) -> its lowest and highest value.
    """

    kinds: tuple[str, ...] = ()
    spans: Mapping[str, AllowedRange] = field(default_factory=dict)

    def span(self, name: str, low: int, high: int) -> tuple[int, int]:
        """Return the range that a game may choose from: `low` to `high` unless the constraints say otherwise."""
        wanted = self.spans.get(name, AllowedRange())
        first = min(low, wanted.high) if math.isinf(wanted.low) else wanted.low
        last = max(high, first) if math.isinf(wanted.high) else wanted.high
        return math.ceil(first), max(math.ceil(first), math.floor(last))

    def draw(self, rng: Random, name: str, low: int, high: int) -> int:
        """Draw a whole number from `span`."""
        return rng.randint(*self.span(name, low, high))

    def unmet(self, numbers: Mapping[str, float]) -> list[str]:
        """Return the names of the numbers that do not meet the constraints."""
        return [name for name, span in self.spans.items() if numbers.get(name, math.nan) not in span]


@dataclass(frozen=True)
class Generator:
    """Describes how a game draws levels.

    Attributes:
        draw: draw(rng, kind, constraints) gives the text of a level, or None where the attempt failed. It need not keep
            the constraints, but should try. Everything random comes from `rng`.
        kinds: the kinds of levels: name -> description.
        attempts: attempts(constraints) returns the largest number of texts that are drawn for one level.
        path: the number of the structure that says how many moves lead to the end at least; "" where there is none.
        shown: numbers of the structure that say in a line what a level is like.
        limits: number of the structure -> the values that drawn levels can have at all, where that is known.
        from_seed: whether a level's file is a few settings and a seed, from which the game draws the rest.
    """

    draw: Callable[[Random, str, Constraints], str | None]
    kinds: Mapping[str, str]
    attempts: Callable[[Constraints], int] = lambda constraints: ATTEMPTS
    path: str = ""
    shown: tuple[str, ...] = ()
    limits: Mapping[str, AllowedRange] = field(default_factory=dict)
    from_seed: bool = False
