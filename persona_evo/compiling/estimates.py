"""Estimates how long compiling takes on this machine, from the size of the code and from earlier measurements."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import sys
from collections.abc import Iterable
from types import FunctionType

from persona_evo.compiling import cache
from persona_evo.compiling.marks import reached

START, TRANSLATED, OPTIMISED = 0.8, 6_000, 8_000
"""The seconds that numba takes to start, and the bytes of bytecode that are translated, and optimised, per second."""

LEARNED = 0.5
"""The weight of the last measurement against the earlier ones."""
LEAST = 1.0
"""The seconds of work from which a measurement is meaningful."""
SLOWEST = 100.0
"""The highest factor that a measurement can give; a machine that slept tells nothing about the next time."""


def translating(functions: Iterable[FunctionType]) -> float:
    """Return the estimated seconds for translating functions to bitcode; what they share is translated once."""
    found: dict[FunctionType, None] = {}
    for one in functions:
        found |= reached(one)
    start = START if found and "numba" not in sys.modules else 0.0
    return start + sum(len(one.__code__.co_code) for one in found) / TRANSLATED


def optimising(size: int) -> float:
    """Return the estimated seconds for linking and optimising this many bytes of translated bytecode."""
    return size / OPTIMISED


def factor() -> float:
    """Return how many times longer than guessed compiling took on this machine so far; 1 before any measurement."""
    found = _known()
    return 1.0 if found is None else min(SLOWEST, max(1 / SLOWEST, found))


def is_measured() -> bool:
    """Return whether compiling was measured on this machine."""
    return _known() is not None


def _known() -> float | None:
    with contextlib.suppress(ValueError):
        if (kept := cache.read(_name())) is not None:
            return float(kept)
    return None


def start_with(slowness: float) -> None:
    """Save a first measurement of `factor`."""
    cache.write(_name(), f"{slowness:.3f}".encode())


def learn(guessed: float, measured: float) -> None:
    """Save a measurement for later estimates.

    Args:
        guessed: the estimated seconds, without the factor.
        measured: the seconds that it took.
    """
    if guessed >= LEAST:
        now = measured / guessed
        start_with((1 - LEARNED) * factor() + LEARNED * now if is_measured() else now)


def _name() -> str:
    """Return the name of the file for this machine, since several may share a folder."""
    return f"pace.{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}"
