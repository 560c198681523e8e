"""The progress of a job, and an estimate of the remaining time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Progress(NamedTuple):
    """The progress that a job reports while it runs.

    Attributes:
        done: number of finished pieces of work.
        total: number of all pieces of work.
        eta: estimated remaining seconds; None before there is an estimate.
        what: the piece of work that was finished last or is in progress, in words.
        part: the part of the job that this is about, "" for the whole job.
        ended: whether that part is finished.
    """

    done: int
    total: int
    eta: float | None
    what: str = ""
    part: str = ""
    ended: bool = False

    @property
    def share(self) -> float:
        """Share of the work that is finished, 0 to 1."""
        return self.done / self.total


Tell = Callable[[Progress], None]
"""A function that is called with the progress of a job from time to time."""


PRIOR = 2.0
"""Seconds of work for which an expectation counts as much as a measurement."""


class Forecast:
    """Estimates the remaining seconds from the pace so far.

    Args:
        costs: expected cost of each piece of work on one core, in seconds or in another measure of work.
        jobs: number of cores.
        prior: work for which the expectation counts as much as a measurement; 0 if `costs` are not seconds.
    """

    def __init__(self, costs: Sequence[float], jobs: int, prior: float = PRIOR) -> None:
        self._left, self._jobs = sum(costs), jobs
        self._expected = self._taken = prior

    def skip(self, costs: Sequence[float]) -> None:
        """Remove pieces of work that were finished before."""
        self._left -= sum(costs)

    def made(self, costs: Sequence[float], seconds: float, cores: int | None = None) -> None:
        """Take account of pieces of work that `cores` cores (all by default) finished in `seconds` seconds."""
        self._left -= sum(costs)
        self._expected += sum(costs)
        self._taken += seconds * (cores or self._jobs)

    @property
    def pace(self) -> float | None:
        """Seconds of one core for a unit of work; None before anything is known."""
        return self._taken / self._expected if self._expected else None

    @property
    def left(self) -> float | None:
        """Remaining seconds; None before anything is known."""
        return None if self.pace is None else max(0.0, self._left) / self._jobs * self.pace
