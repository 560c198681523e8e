"""How often a search looks at the clock and reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from persona_evo.compiling.arrays import IntRow
from persona_evo.search.layout import GOING_ON, ITERATIONS

LOOK = 0.005
"""Seconds of work between two looks, for budgets that are much longer."""

FIRST = 1
"""Iterations before the first look, when nothing is known of their speed: one can take a second."""

REPORT = 1.0
"""Seconds between two reports of progress, unless a single iteration takes longer."""


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


class SearchProgress:
    """Reports the iterations of a search about once a second.

    The search runs in pieces whose length follows its speed. Its result does not depend on where it is cut.

    Args:
        report: called with the number of iterations that the search has made; None if nobody wants to know.
    """

    def __init__(self, report: Callable[[int], None] | None) -> None:
        self._report, self._piece = report, FIRST

    def run(self, search: Callable[[int], int], iterations: int, counts: IntRow) -> int:
        """Run a search for a number of iterations.

        Args:
            search: makes up to so many iterations and returns why it stopped, GOING_ON if it did not come to an end.
            iterations: how many to make.
            counts: int64[COUNTS] of the search.

        Returns:
            What the last call of `search` returned.
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
    """What reports the progress of a search that follows on others, which have made so many iterations."""
    return None if report is None else lambda made: report(before + made)
