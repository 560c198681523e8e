"""Decides how often a search checks the clock and reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from persona_evo.compiling.arrays import IntRow
from persona_evo.search.layout import GOING_ON, ITERATIONS

LOOK = 0.005
"""Seconds of work between two checks of the clock, for budgets that are much longer."""

FIRST = 1
"""The number of iterations before the first check, when their speed is unknown: one can take a second."""

REPORT = 1.0
"""Seconds between two progress reports, unless a single iteration takes longer."""


class IterationPace:
    """Decides how many iterations to make at a time.

    Without a limit of seconds `chunk` stays at `most`, so nothing depends on the machine. With one it is small at first
    and then follows the measured speed.

    Args:
        seconds: the time limit, counted from `began`; None for no limit.
        most: the largest value of `chunk`.
        began: the time (`time.perf_counter`) from which the limit counts; by default now.
    """

    def __init__(self, seconds: float | None, most: int, began: float | None = None) -> None:
        self.seconds, self.most = seconds, most
        self.chunk = most if seconds is None else min(FIRST, most)
        self._looked = time.perf_counter()
        self.began = self._looked if began is None else began

    def is_late(self) -> bool:
        """Return whether the time is up after `chunk` iterations, and set the next `chunk`."""
        if self.seconds is None:
            return False
        now = time.perf_counter()
        took, self._looked = max(1e-9, now - self._looked), now
        wanted = self.chunk * min(LOOK, self.seconds / 10) / took
        self.chunk = max(1, min(self.most, 4 * self.chunk, int(wanted)))
        return now - self.began >= self.seconds


class SearchProgress:
    """Reports the iterations of a search about once a second.

    The search runs in pieces whose length follows its speed. Its result does not depend on how it is divided.

    Args:
        report: called with the number of iterations that the search has made; None for no reports.
    """

    def __init__(self, report: Callable[[int], None] | None) -> None:
        self._report, self._piece = report, FIRST

    def run(self, search: Callable[[int], int], iterations: int, counts: IntRow) -> int:
        """Run a search for a number of iterations.

        Args:
            search: makes up to the given number of iterations and returns why it stopped; GOING_ON if it has not ended.
            iterations: the number of iterations to make.
            counts: int64[COUNTS], the counters of the search.

        Returns:
            The result of the last call of `search`.
        """
        if self._report is None:
            return search(iterations)
        end = int(counts[ITERATIONS]) + iterations
        while True:
            before, began = int(counts[ITERATIONS]), time.perf_counter()
            piece = min(self._piece, end - before)
            reason = search(piece)
            made = int(counts[ITERATIONS])
            self._report(made)
            if reason != GOING_ON or made < before + piece or made >= end:
                return reason
            took = max(1e-9, time.perf_counter() - began)
            self._piece = max(1, min(4 * piece, int(piece * REPORT / took)))


def counted_from(before: int, report: Callable[[int], None] | None) -> Callable[[int], None] | None:
    """Return a progress callback for a search that follows others, which have made `before` iterations."""
    return None if report is None else lambda made: report(before + made)
