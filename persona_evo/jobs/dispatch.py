"""The distribution of jobs to workers: their order, their grouping, and their results in order.

Jobs are sent in parts. A part is long enough to justify its way to a worker, and parts get shorter towards the end, so
that all workers finish at about the same time. Jobs are started in their order, so that results can be written as they
arrive. Near the end, when one long job could keep all workers waiting, the longest jobs come first. The duration of a
job is estimated from finished jobs of its kind.

Neither the results nor their order depend on any of this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from persona_evo.jobs.workers import Workers, worker_name

PART_SECONDS = (0.05, 1.0)
"""Shortest and longest time of a part: shorter ones cost too much traffic, longer ones leave workers waiting and show
progress late.
"""

PARTS = 4
"""The remaining work is divided into about this many parts for each worker."""

AHEAD = 2
"""Number of parts for each worker that are sent at once, so that no worker waits for this process."""

LAST = 3.0
"""The longest jobs come first when the remaining work is less than this many of them for each worker."""

LATE = 2.0
"""A part ends early when it takes this many times longer than planned; its other jobs are sent again."""

WORTH = 1.5
"""Seconds of work below which it is done in this process, since starting workers takes longer."""

PRIOR = 0.5
"""Seconds of work for which the first estimate counts as much as measurements."""

_LOOK = 0.1
"""Seconds after which the remaining work is estimated again."""

S = TypeVar("S")
J = TypeVar("J")
R = TypeVar("R")

Run = Callable[[S, Sequence[J]], Iterator[R]]
"""Yields the results of some jobs one by one, and starts no job before its result is requested.

The first argument is the data that all jobs share.
"""


SURE = 1.0
"""Seconds of measured work after which estimates are shown. The first jobs are often much faster than the others."""


class Costs:
    """Durations of jobs on one core, as a multiple of their first estimate, for each kind of job."""

    def __init__(self) -> None:
        self._all = [PRIOR, PRIOR]
        self._kinds: dict[Hashable, list[float]] = {}

    def learn(self, kind: Hashable, thought: float, took: float) -> None:
        """Add the measured duration of a finished job."""
        for known in (self._all, self._kinds.setdefault(kind, [0.0, 0.0])):
            known[0] += thought
            known[1] += took

    def factor(self, kind: Hashable) -> float:
        """Return the ratio of measured to estimated durations for a kind of job; if it is unknown, that of all jobs."""
        thought, took = self._kinds.get(kind, self._all)
        return max(took, 1e-9) / thought

    @property
    def measured(self) -> float:
        """The measured seconds of work; estimates are shown from SURE seconds on."""
        return self._all[1] - PRIOR


class Part(NamedTuple):
    """The results of the first jobs of a part.

    Attributes:
        results: the results.
        seconds: the duration of each job.
        worker: the name of the worker.
        fresh: whether these were the worker's first jobs of this kind.
    """

    results: list[Any]
    seconds: list[float]
    worker: str
    fresh: bool


class _Sent(NamedTuple):
    """A part that a worker has: the numbers of its first job and of the one after its last."""

    first: int
    end: int


class Dispatch(Generic[S, J, R]):
    """Runs jobs with workers. Iteration yields the results in the order of the jobs, some at a time.

    Args:
        workers: the workers, which are not closed.
        run: makes results; a function that can be imported.
        shared: data that `run` needs in addition to the jobs.
        jobs: the jobs.
        kinds: the kind of each job; the durations of one kind are their estimates times a common factor.
        thought: the estimated seconds of each job on one core, above 0.
        costs: measured durations of earlier jobs, to which these are added.

    Attributes:
        then: jobs that the same workers start when all jobs here are started; it is iterated afterwards.
        left: estimated seconds of work on one core that is not started yet.
        here: whether this process does jobs, too, as long as no worker is ready.
    """

    then: Dispatch[Any, Any, Any] | None = None
    left = 0.0
    here = True

    def __init__(
        self,
        workers: Workers,
        run: Run[S, J, R],
        shared: S,
        jobs: Sequence[J],
        kinds: Sequence[Hashable],
        thought: Sequence[float],
        costs: Costs | None = None,
    ) -> None:
        self.workers, self.run, self.shared = workers, run, shared
        self.jobs = list(jobs)
        self.costs = costs or Costs()
        numbers: dict[Hashable, int] = {}
        self._kind = np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds], dtype=np.int64)
        self._kinds = list(numbers)
        self._thought = np.maximum(np.asarray(thought, dtype=np.float64), 1e-9)
        self._open = np.ones(len(self.jobs), dtype=np.bool_)
        self._results: list[Any] = [None] * len(self.jobs)
        self._there = np.zeros(len(self.jobs), dtype=np.bool_)
        self._next = 0
        self._cost: NDArray[np.float64] = self._thought
        self._looked = 0.0
        self._sent: dict[Future[Part], _Sent] = {}

    def __iter__(self) -> Iterator[list[R]]:
        try:
            while self._next < len(self.jobs):
                started = time.perf_counter()
                self._step()
                self.workers.count(time.perf_counter() - started)
                found = self._ready()
                if found:
                    yield found
        finally:
            for answer in self._sent:
                answer.cancel()

    @property
    def eta(self) -> float:
        """Estimated seconds until all jobs are finished."""
        sent = sum(float(self._cost[part.first : part.end].sum()) for part in self._sent.values())
        return (self.left + sent / 2) / self.workers.jobs

    def begin(self) -> bool:
        """Start the workers if there is enough work; return whether they are started.

        Iteration does this as well.
        """
        self.look()
        if self.workers.begun or self.left >= WORTH:
            self.workers.begin(self.run.__module__)
        return self.workers.begun

    # methods that subclasses override

    def job(self, number: int) -> J:
        """Return a job in the form in which it is sent to a worker."""
        return self.jobs[number]

    def made(self, first: int, results: Sequence[R]) -> Sequence[int]:
        """Take account of results, and return the numbers of jobs that have to be done again."""
        return ()

    def size(self, first: int, most: int, seconds: float) -> tuple[int, float]:
        """Decide how many jobs from number `first` on form a part, at most `most`, and how long it should take.

        Args:
            seconds: present duration of a part.
        """
        until = np.cumsum(self._cost[first : first + most])
        return max(1, int(np.searchsorted(until, seconds * (1 + 1e-9), side="right"))), seconds

    # the loop

    def _step(self) -> None:
        """Do some jobs in this process, or wait for one of the workers."""
        if self.here and (not self.begin() or not (self.workers.ready or self._sent or self._long())):
            first, end, seconds = self._part()
            self._take(_Sent(first, end), done((self.run, self.shared, self._taken(first, end), seconds)))
            return
        room = AHEAD * self.workers.jobs
        self._send(room)
        if self.then is not None and not self._open.any():
            self.then.look()
            self.then._send(room - len(self._sent))
        answered, _ = wait(self._sent, return_when=FIRST_COMPLETED)
        for answer in answered:
            self._take(self._sent.pop(answer), answer.result())

    def _send(self, room: int) -> None:
        """Send parts until `room` are with workers."""
        while len(self._sent) < room and self._open.any():
            first, end, seconds = self._part()
            task = self.run, self.shared, self._taken(first, end), seconds
            self._sent[self.workers.submit(done, task)] = _Sent(first, end)

    def _long(self) -> bool:
        """Return whether the next job may take so long in this process that the workers would wait for it."""
        first = int(np.argmax(self._open))
        return float(self._cost[first]) > PART_SECONDS[1] / 2

    def look(self) -> None:
        """Estimate the remaining work, unless that was done a moment ago."""
        now = time.perf_counter()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        self._cost = self._thought * np.array([self.costs.factor(kind) for kind in self._kinds])[self._kind]
        self.left = float(self._cost[self._open].sum())

    def _part(self) -> tuple[int, int, float]:
        """Choose the next part: its first job, the one after its last, and its longest duration in seconds."""
        first = int(np.argmax(self._open))
        longest = int(np.argmax(np.where(self._open, self._cost, 0.0)))
        if not self.workers.alone and self.left <= LAST * self.workers.jobs * self._cost[longest]:
            first = longest
        low, high = PART_SECONDS
        wanted = min(high, max(low, self.left / (PARTS * self.workers.jobs))) if self.costs.measured else 0.0
        closed = np.flatnonzero(~self._open[first:])
        count, seconds = self.size(first, int(closed[0]) if len(closed) else len(self.jobs) - first, wanted)
        return first, first + count, LATE * seconds

    def _taken(self, first: int, end: int) -> list[J]:
        self._open[first:end] = False
        self.left = max(0.0, self.left - float(self._cost[first:end].sum()))
        return [self.job(number) for number in range(first, end)]

    def _take(self, sent: _Sent, part: Part) -> None:
        """Keep the results of a part, and mark jobs that have to be sent (again)."""
        self.workers.count(0.0, sum(part.seconds), (part.worker,))
        end = sent.first + len(part.results)
        for k, seconds in enumerate(part.seconds):
            if k or not part.fresh:  # a worker's first job includes loading
                number = sent.first + k
                self.costs.learn(self._kinds[self._kind[number]], float(self._thought[number]), seconds)
        self._results[sent.first : end] = part.results
        self._there[sent.first : end] = True
        again = [*range(end, sent.end), *self.made(sent.first, part.results)]
        for number in again:
            self._open[number], self._there[number], self._results[number] = True, False, None

    def _ready(self) -> list[R]:
        """Return the next results in order, as far as they have arrived."""
        missing = np.flatnonzero(~self._there[self._next :])
        end = self._next + int(missing[0]) if len(missing) else len(self.jobs)
        found: list[R] = self._results[self._next : end]
        self._results[self._next : end] = [None] * len(found)
        self._next = end
        return found


_used: set[Run[Any, Any, Any]] = set()
"""The functions that this worker has run."""


def done(task: tuple[Run[S, J, R], S, Sequence[J], float]) -> Part:
    """Run the jobs of a part until time runs out, but at least one (workers call this)."""
    run, shared, jobs, limit = task
    part = Part([], [], worker_name(), run not in _used)
    _used.add(run)
    began = before = time.perf_counter()
    for result in run(shared, jobs):
        now = time.perf_counter()
        part.results.append(result)
        part.seconds.append(now - before)
        before = now
        if now - began > limit:
            break
    return part
