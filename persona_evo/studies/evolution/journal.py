"""Files of lines, and jobs whose results become lines: each is written as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from persona_evo.jobs.journal import Journal, Row, plain_rows
from persona_evo.jobs.progress import Forecast, Progress, Tell
from persona_evo.jobs.workers import Workers

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 1
"""Jobs that wait for workers, beside those at work."""


def lines(path: Path) -> Journal[Row]:
    """A file of lines, which come in any order."""
    return Journal(path, plain_rows("line", hint="delete the line; what it says is worked out again"))


def read(path: Path) -> list[Row]:
    """Read the lines of a file, [] where there is none; a torn last line is ignored.

    Raises:
        RunError: a line cannot be read.
    """
    return lines(path).read()


def add(path: Path, rows: Iterable[Row]) -> None:
    """Add lines to a file."""
    lines(path).append(rows)


@dataclass
class Job(Generic[T]):
    """What a worker does. name: in words. task: of the stage's function. weight: work, relative to others."""

    name: str
    task: T
    weight: float = 1.0


class Shift:
    """Workers with an end to their time.

    Args:
        workers: at work.
        end: moment on `time.monotonic` after which nothing is begun, None for never.
        tell: called after each job.
    """

    def __init__(self, workers: Workers, end: float | None = None, tell: Tell | None = None) -> None:
        self.workers, self.end, self.tell = workers, end, tell

    def do(
        self, stage: str, function: Callable[[T], R], jobs: Sequence[Job[T]], keep: Callable[[R], None], known: int = 0
    ) -> bool:
        """Have jobs done in their order, as many at a time as there are workers.

        Args:
            function: of a job's task; can be imported.
            keep: called with each result as soon as it is there.
            known: jobs of the stage that were done before.

        Returns:
            Whether all are done; False where the time was up.
        """
        clock = _Clock(jobs, self.workers.jobs, self.end)
        room = self.workers.jobs + (0 if self.workers.alone else AHEAD)
        waiting = list(reversed(jobs))
        under_way: dict[Future[R], Job[T]] = {}
        done = 0
        self._say(stage, known, known + len(jobs), clock.eta, "begun")
        while waiting or under_way:
            while waiting and len(under_way) < room and not clock.late(waiting[-1]):
                job = waiting.pop()
                under_way[_begun(self.workers, function, job.task)] = job
            if not under_way:
                return False
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                job = under_way.pop(future)
                keep(future.result())
                clock.took(job)
                done += 1
                self._say(stage, known + done, known + len(jobs), clock.eta, job.name)
        return True

    def _say(self, stage: str, done: int, total: int, eta: float | None, what: str) -> None:
        if self.tell is not None:
            self.tell(Progress(done, total, eta, what, stage))


class _Clock:
    """What jobs take, as far as is known from those that are done."""

    def __init__(self, jobs: Sequence[Job[Any]], workers: int, end: float | None) -> None:
        self._forecast = Forecast([job.weight for job in jobs], workers, prior=0)
        self._end, self._last = end, time.monotonic()

    def took(self, job: Job[Any]) -> None:
        now = time.monotonic()
        self._forecast.made([job.weight], now - self._last)
        self._last = now

    @property
    def eta(self) -> float | None:
        return self._forecast.left

    def late(self, job: Job[Any]) -> bool:
        """Whether a job would end too late."""
        return self._end is not None and time.monotonic() + (self._forecast.pace or 0.0) * job.weight > self._end


def _begun(workers: Workers, function: Callable[[T], R], task: T) -> Future[R]:
    if not workers.alone:
        return workers.submit(function, task)
    future: Future[R] = Future()
    future.set_result(function(task))
    return future
