"""Tasks for workers, in a module that is imported fast."""

from __future__ import annotations

import os
import time


def square(x: int) -> int:
    """x * x."""
    return x * x


def slow(seconds: float) -> int:
    """Sleep, and say in which process."""
    time.sleep(seconds)
    return os.getpid()
