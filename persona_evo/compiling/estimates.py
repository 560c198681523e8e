"""How long compiling takes on this machine: a guess by the size of the code, corrected by what was measured before."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
from collections.abc import Iterable
from types import FunctionType

from persona_evo.compiling import cache
from persona_evo.compiling.marks import reached

START, TRANSLATED, OPTIMISED = 0.8, 6_000, 8_000
"""Seconds in which numba starts, and bytes of bytecode that are translated, and optimised, in a second."""

LEARNED = 0.5
"""Weight of the last measurement against those before."""
LEAST = 1.0
"""Seconds of work from which on a measurement says something."""
SLOWEST = 100.0
"""Highest factor that a measurement gives: a machine that slept says nothing about the next time."""


def translating(functions: Iterable[FunctionType]) -> float:
    """Return the seconds in which several functions become bitcode; what they share is translated once."""
    found: dict[FunctionType, None] = {}
    for one in functions:
        found |= reached(one)
    start = START if found and "numba" not in sys.modules else 0.0
    return start + sum(len(one.__code__.co_code) for one in found) / TRANSLATED


def optimising(size: int) -> float:
    """Return the seconds in which so many bytes of bytecode, once translated, are linked and optimised."""
    return size / OPTIMISED


def factor() -> float:
    """Return how many times longer than guessed compiling took on this machine so far.

    Before anything was measured, it is the number of processes that wait for each core, at least 1.
    """
    with contextlib.suppress(ValueError):
        if (kept := cache.read(_name())) is not None:
            return min(SLOWEST, max(1 / SLOWEST, float(kept)))
    waiting = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1.0, waiting / (os.cpu_count() or 1))


def learn(guessed: float, measured: float) -> None:
    """Keep what was measured for later estimates.

    Args:
        guessed: seconds, without the factor.
        measured: seconds.
    """
    if guessed >= LEAST:
        known, now = cache.read(_name()), measured / guessed
        mean = now if known is None else (1 - LEARNED) * factor() + LEARNED * now
        cache.write(_name(), f"{mean:.3f}".encode())


def _name() -> str:
    """Return the name of the file for this machine, since several may share a folder."""
    return f"pace.{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}"
