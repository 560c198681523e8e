"""How often a search looks at the clock."""

from __future__ import annotations

import time

LOOK = 0.005
"""Seconds of work between two looks, for budgets that are much longer."""

FIRST = 10
"""Iterations before the first look, when nothing is known of their speed."""


class IterationPace:
    """How many iterations to make at a time.

    Without a limit of seconds `chunk` stays at `most`, so nothing depends on the machine. With one it is small at first
    and follows the speed that is measured.

    Args:
        seconds: from `began` (now, if left out).
        most: `chunk` at most.
    """

    def __init__(self, seconds: float | None, most: int, began: float | None = None) -> None:
        self.seconds, self.most = seconds, most
        self.chunk = most if seconds is None else min(FIRST, most)
        self._looked = time.perf_counter()
        self.began = self._looked if began is None else began

    def is_late(self) -> bool:
        """Whether time is up, asked after `chunk` iterations; sets the next `chunk`."""
        if self.seconds is None:
            return False
        now = time.perf_counter()
        took, self._looked = max(1e-9, now - self._looked), now
        wanted = self.chunk * min(LOOK, self.seconds / 10) / took
        self.chunk = max(1, min(self.most, 4 * self.chunk, int(wanted)))
        return now - self.began >= self.seconds
