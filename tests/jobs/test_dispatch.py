"""Tests that results come in the order of the jobs, and that the longest jobs do not come last."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from persona_evo.jobs import dispatch
from persona_evo.jobs.dispatch import Costs, Dispatch, done
from persona_evo.jobs.workers import Workers

from .tasks import sleeps


def squares(plus: int, jobs: Sequence[int]) -> Iterator[int]:
    """x * x + plus."""
    for job in jobs:
        time.sleep(0.0005 * (job % 7))
        yield job * job + plus


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_are_in_order_whatever_was_thought_of_the_costs(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    monkeypatch.setattr(dispatch, "PART_SECONDS", (0.001, 0.01))
    rng, numbers = random.Random(jobs), list(range(300))
    with Workers(jobs, "threading") as workers:
        for thought in ([0.01] * 300, [10.0 ** rng.uniform(-5, 0) for _ in numbers], [1e-9] * 300):
            course = Dispatch(workers, squares, 5, numbers, [n % 4 for n in numbers], thought)
            parts = list(course)
            assert [result for part in parts for result in part] == [n * n + 5 for n in numbers]
            assert len(parts) > 3 and all(parts) and course.left < 1e-9


def test_a_long_job_at_the_end_does_not_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    with Workers(2, "threading") as workers:
        workers.begin(sleeps.__module__)
        while not workers.ready:
            time.sleep(0.01)
        jobs = [0.02] * 20 + [0.3]
        began = time.monotonic()
        found = [r for part in Dispatch(workers, sleeps, 0.0, jobs, jobs, jobs) for r in part]
        took = time.monotonic() - began
    assert [seconds for seconds, _ in found] == jobs
    assert found[-1][1] < found[-2][1] and took < 0.6


def test_what_a_kind_takes_is_learned_and_what_comes_late_is_given_out_again() -> None:
    costs = Costs()
    assert costs.factor("a") == 1.0 and costs.measured == 0.0
    costs.learn("a", 0.1, 0.4)
    assert costs.measured > 0.0 and costs.factor("a") == pytest.approx(4.0) and 1.0 < costs.factor("b") < 2.0
    part = done((sleeps, 0.0, [0.02] * 10, 0.03))
    assert 1 <= len(part.results) < 10 and len(part.seconds) == len(part.results)


def test_little_work_is_done_here_and_workers_are_not_started() -> None:
    with Workers(2) as workers:
        assert [r for part in Dispatch(workers, squares, 0, [1, 2, 3], "abc", [0.1] * 3) for r in part] == [1, 4, 9]
        assert not workers.begun and workers.usage().workers == 1


def test_jobs_that_turn_out_wrong_are_done_again() -> None:
    class Twice(Dispatch[int, int, int]):
        again: ClassVar[set[int]] = set()

        def job(self, number: int) -> int:
            return self.jobs[number] + (10 if number in self.again else 0)

        def made(self, first: int, results: Sequence[int]) -> list[int]:
            late = [first + k for k in range(len(results)) if (first + k) % 3 == 0 and first + k not in self.again]
            self.again |= set(late)
            return late

    with Workers(2, "threading") as workers:
        workers.begin(__name__)
        found = [r for part in Twice(workers, squares, 0, list(range(40)), [0] * 40, [0.01] * 40) for r in part]
    assert found == [(n + 10 * (n % 3 == 0)) ** 2 for n in range(40)]
