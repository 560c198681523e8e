"""Progress of a job, and an estimate of the time that is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Progress(NamedTuple):
    """What a job reports while it runs.

    Attributes:
        done: pieces of work that are finished.
        total: all pieces of work.
        eta: seconds to go, None before that can be estimated.
        what: the piece of work that was finished last, or that is under way, in words.
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
"""Called with the progress of a job now and then."""


PRIOR = 2.0
"""Seconds of work for which an expectation counts as much as a measurement."""


class Forecast:
    """Estimates the seconds to go from the pace so far.

    Args:
        costs: what each piece of work is expected to take on one core: seconds, or any other measure of work.
        jobs: cores.
        prior: work for which the expectation counts as much as a measurement; 0 where `costs` are not seconds.
    """

    def __init__(self, costs: Sequence[float], jobs: int, prior: float = PRIOR) -> None:
        self._left, self._jobs = sum(costs), jobs
        self._expected = self._taken = prior

    def skip(self, costs: Sequence[float]) -> None:
        """Take out pieces of work that were finished before."""
        self._left -= sum(costs)

    def made(self, costs: Sequence[float], seconds: float, cores: int | None = None) -> None:
        """Take account of pieces of work that so many cores (all by default) finished in so many seconds."""
        self._left -= sum(costs)
        self._expected += sum(costs)
        self._taken += seconds * (cores or self._jobs)

    @property
    def pace(self) -> float | None:
        """Seconds of one core for a unit of work, None before anything is known."""
        return self._taken / self._expected if self._expected else None

    @property
    def left(self) -> float | None:
        """Seconds to go, None before anything is known."""
        return None if self.pace is None else max(0.0, self._left) / self._jobs * self.pace
