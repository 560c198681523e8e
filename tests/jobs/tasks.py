"""Tasks for workers, in a module that is imported fast."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence


def square(x: int) -> int:
    """x * x."""
    return x * x


def slow(seconds: float) -> int:
    """Sleep, and say in which process."""
    time.sleep(seconds)
    return os.getpid()


_kept = bytearray()


def grow(megabytes: int) -> int:
    """Keep some memory until the process ends, and say in which process."""
    global _kept
    _kept = bytearray(b"x" * (megabytes * 1_000_000))
    time.sleep(1.1)  # loky looks at the memory once a second
    return os.getpid()


def sleeps(own: float, jobs: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Sleep for each job, and say how long it should be and when it began."""
    for seconds in jobs:
        began = time.monotonic()
        time.sleep(seconds)
        yield own + seconds, began
