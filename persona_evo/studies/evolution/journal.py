"""Files of lines, and jobs whose results become lines: each is written as soon as it is there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from persona_evo.errors import Place, RunError
from persona_evo.evolve.parallel import Workers
from persona_evo.store import schema
from persona_evo.store.lines import whole_lines

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 1
"""Jobs that wait for workers, beside those at work."""


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, [] where there is none; a last line that was torn is cut off.

    Raises:
        RunError: a line cannot be read.
    """
    rows = []
    for number, line in enumerate(whole_lines(path), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise RunError(
                "a line cannot be read",
                place=Place(str(path), number),
                found=repr(line[:80]),
                expected="a line as this program wrote it",
                hint="delete the line; what it says is worked out again",
            )
        rows.append(row)
    return rows


def add(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add lines to a file."""
    schema.append_lines(path, [json.dumps(row, separators=(",", ":")) for row in rows])


class Progress(NamedTuple):
    """How far a stage is.

    Attributes:
        stage: its name.
        done, total: jobs.
        eta: seconds to go in it, None before anybody knows.
        what: was done last.
    """

    stage: str
    done: int
    total: int
    eta: float | None
    what: str


Tell = Callable[[Progress], None]


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
            self.tell(Progress(stage, done, total, eta, what))


class _Clock:
    """What jobs take, as far as is known from those that are done."""

    def __init__(self, jobs: Sequence[Job[Any]], workers: int, end: float | None) -> None:
        self._left = sum(job.weight for job in jobs)
        self._workers, self._end = workers, end
        self._began, self._worked = time.monotonic(), 0.0

    def took(self, job: Job[Any]) -> None:
        self._left -= job.weight
        self._worked += job.weight

    @property
    def _pace(self) -> float | None:
        """Seconds of all workers together for a weight of 1."""
        return (time.monotonic() - self._began) / self._worked if self._worked else None

    @property
    def eta(self) -> float | None:
        return None if self._pace is None else self._pace * self._left

    def late(self, job: Job[Any]) -> bool:
        """Whether a job would end too late."""
        if self._end is None:
            return False
        thought = (self._pace or 0.0) * job.weight * self._workers
        return time.monotonic() + thought > self._end


def _begun(workers: Workers, function: Callable[[T], R], task: T) -> Future[R]:
    if not workers.alone:
        return workers.submit(function, task)
    future: Future[R] = Future()
    future.set_result(function(task))
    return future
