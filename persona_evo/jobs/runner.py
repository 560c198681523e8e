"""Functions that run jobs and collect results in their order, or as soon as each is finished.

`collect` is for jobs whose results are written in their order, such as the playthroughs of a playtest. `Runner` is for
independent jobs that may take long, such as the training runs of a study: each result is kept at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from persona_evo.jobs.journal import Journal
from persona_evo.jobs.progress import Forecast, Progress, Tell
from persona_evo.jobs.workers import Workers

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 1
"""Number of jobs that wait for workers, in addition to those at work."""


def collect(
    parts: Iterable[Sequence[R]],
    results: list[R],
    journal: Journal[R] | None = None,
    report: Callable[[Sequence[R]], object] | None = None,
) -> bool:
    """Write results as they arrive, then keep and report them.

    Args:
        parts: the missing results, some at a time, in their order (such as a `Dispatch`).
        results: the known results, to which new ones are added.
        journal: the journal to which each part is written first; None for none.
        report: called with each part when it is kept.

    Returns:
        Whether the job is complete; False if Ctrl-C ended it.
    """
    try:
        for made in parts:
            if journal is not None:
                journal.append(made)
            results += made
            if report is not None:
                report(made)
    except KeyboardInterrupt:
        return False
    return True


@dataclass
class Job(Generic[T]):
    """A job that does not depend on others.

    Attributes:
        name: the job in words.
        task: the argument of the runner's function, which can be sent to a worker.
        weight: amount of work, relative to other jobs.
    """

    name: str
    task: T
    weight: float = 1.0


class Runner:
    """Runs jobs until a deadline.

    Args:
        workers: the workers.
        end: deadline on `time.monotonic`, None for none. A job that would not be finished by then is not started. If
            jobs are still at work then, their results are lost; they end with the workers.
        tell: called after each job.
    """

    def __init__(self, workers: Workers, end: float | None = None, tell: Tell | None = None) -> None:
        self.workers, self.end, self.tell = workers, end, tell

    def run(
        self, part: str, function: Callable[[T], R], jobs: Sequence[Job[T]], keep: Callable[[R], None], known: int = 0
    ) -> bool:
        """Run jobs in their order, as many at a time as there are workers.

        Args:
            part: the name of the part that the jobs belong to, for messages.
            function: called with a job's task; can be imported.
            jobs: the jobs.
            keep: called with each result at once, in the order in which jobs are finished.
            known: number of jobs of the part that were finished before.

        Returns:
            Whether all jobs are finished; False if time ran out.
        """
        forecast, last = Forecast([job.weight for job in jobs], self.workers.jobs, prior=0), time.monotonic()
        room = self.workers.jobs + (0 if self.workers.alone else AHEAD)
        waiting = list(reversed(jobs))
        under_way: dict[Future[R], Job[T]] = {}
        done, total = known, known + len(jobs)
        self._say(Progress(done, total, None, "begun", part))
        while waiting or under_way:
            while waiting and len(under_way) < room and not self._late(waiting[-1], forecast):
                job = waiting.pop()
                under_way[_begun(self.workers, function, job.task)] = job
            if not under_way:
                return False
            left = None if self.end is None else max(0.0, self.end - time.monotonic())
            finished = wait(under_way, left, FIRST_COMPLETED).done
            if not finished:
                return False
            for future in finished:
                job = under_way.pop(future)
                keep(future.result())
                now, done = time.monotonic(), done + 1
                forecast.made([job.weight], now - last)
                last = now
                self._say(Progress(done, total, forecast.left, job.name, part))
        return True

    def _late(self, job: Job[Any], forecast: Forecast) -> bool:
        """Return whether a job would be finished after the deadline."""
        return self.end is not None and time.monotonic() + (forecast.pace or 0.0) * job.weight > self.end

    def _say(self, progress: Progress) -> None:
        if self.tell is not None:
            self.tell(progress)


def _begun(workers: Workers, function: Callable[[T], R], task: T) -> Future[R]:
    if not workers.alone:
        return workers.submit(function, task)
    future: Future[R] = Future()
    future.set_result(function(task))
    return future
