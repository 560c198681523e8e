"""Tests that every backend and number of jobs gives the same results and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from persona_evo.errors import SettingsError
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict, spec_to_dict
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.islands import Request, generations
from persona_evo.evolve.playthroughs import FitnessTrial, play
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.jobs.workers import Workers
from persona_evo.search.plan import plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.evolve.synthetic import small
from tests.shared import hear_ctrl_c

from .tasks import grow, slow, square

ROOT = Path(__file__).resolve().parents[2]
GAME = registry.get("minidungeons2")
UTILITY = parse("0.7 * MS + 0.3 * PE - 5 * DEAD")
LEVELS = mapsets.resolve(GAME, ["train"])[:2]
SPEC = FitnessSpec.of(GAME.name, LEVELS, UTILITY, SearchSettings.paper(), Budget(iterations=200), "MS")
REQUESTS = [
    Request(formula, ((k, k + 100), (k + 200,)))
    for k, formula in enumerate(["R", "PE + R", "MS - 0.1 * ST", "R * IC + HL", "PE / MS", "R + PE * MS"])
]


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with Workers(2) as workers:
        yield workers


@pytest.fixture(scope="module")
def alone() -> list[list[float]]:
    with Workers(1) as workers:
        return Fitness(SPEC, workers)(REQUESTS)


def test_a_request_is_the_mean_of_plain_searches(alone: list[list[float]]) -> None:
    policy = TreePolicy.of("PE + R", GAME)
    first = [plan(GAME, LEVELS[0], UTILITY, policy, SPEC.budget, SPEC.search, s).utility for s in (1, 101)]
    second = plan(GAME, LEVELS[1], UTILITY, policy, SPEC.budget, SPEC.search, 201).utility
    assert alone[1] == [sum(first) / 2, second]


def test_reused_planners_give_what_new_ones_give() -> None:
    task = [FitnessTrial("R * PE", 0, 1), FitnessTrial("MS", 1, 2), FitnessTrial("R * PE", 0, 1)]
    scores = list(play((SPEC, None), task))
    assert scores[0] == scores[2] == next(play((SPEC, None), task[:1]))


def test_two_jobs_do_not_change_the_result(alone: list[list[float]], two: Workers) -> None:
    two.usage()
    fitness = Fitness(SPEC, two)
    assert fitness(REQUESTS) == alone
    assert fitness(REQUESTS[::-1]) == alone[::-1]
    usage = fitness.usage()
    assert usage.jobs == 2 and 1 <= usage.workers <= 2 and 0 < usage.share <= 1


@pytest.mark.parametrize(("jobs", "backend"), [(2, "threading"), (3, "threading")])
def test_jobs_and_backends_do_not_change_the_result(alone: list[list[float]], jobs: int, backend: str) -> None:
    with Workers(jobs, backend) as workers:
        fitness = Fitness(SPEC, workers)
        assert fitness(REQUESTS) == alone
        assert fitness(REQUESTS[::-1]) == alone[::-1]
        usage = fitness.usage()
    assert usage.jobs == jobs and 1 <= usage.workers <= jobs and 0 < usage.share <= 1


def test_a_whole_evolution_is_the_same_with_two_jobs(two: Workers) -> None:
    settings = small("modern", population=6, islands=2, elites=1, generations=3)
    rows = []
    for workers in (Workers(1), two):
        course = generations(
            settings, 1, Fitness(SPEC, workers), metrics=metrics_of(settings, GAME), levels=len(LEVELS)
        )
        rows.append([g.rows for g in course])
    assert rows[0] == rows[1]


def test_dask_with_a_local_cluster_of_two_workers(alone: list[list[float]]) -> None:
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    with Workers(2, "dask") as workers:
        fitness = Fitness(SPEC, workers)
        assert fitness(REQUESTS) == alone
        assert fitness.usage().workers >= 1


def test_ray(alone: list[list[float]]) -> None:
    pytest.importorskip("ray", reason="the package ray is not installed")
    with Workers(2, "ray") as workers:
        assert Fitness(SPEC, workers)(REQUESTS) == alone


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


SLEEPER = """
import sys, time
from persona_evo.jobs.workers import Workers
from tests.jobs.tasks import slow
if __name__ == "__main__":
    with Workers(2) as workers:
        print(*set(workers.map(slow, [0.05] * 8)), flush=True)
        try:
            workers.map(slow, [30.0] * 4)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals to process groups are POSIX")
@pytest.mark.parametrize("how", ["ctrl-c", "kill"])
def test_workers_end_with_the_parent_and_without_a_word(how: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    assert pids
    time.sleep(0.3)
    if how == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=20)
        assert out == "interrupted\n" and errors == ""
    else:
        process.kill()
        process.communicate(timeout=20)
    end = time.monotonic() + 5
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(alive, pids))


STARTER = """
import time
from persona_evo.jobs.workers import Workers
from tests.jobs.tasks import slow
with Workers(2) as workers:
    workers.submit(slow, 0.0)
    answers = [workers.submit(slow, 0.1) for _ in range(40)]
    print("begun", flush=True)
    try:
        for answer in answers:
            answer.result()
    except KeyboardInterrupt:
        for answer in answers:
            answer.cancel()
        print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals to process groups are POSIX")
@pytest.mark.parametrize(("after", "group"), [(0.1, True), (0.3, True), (1.5, True), (1.5, False)])
def test_ctrl_c_is_silent_at_every_moment(after: float, group: bool) -> None:
    """Jupyter interrupts the kernel and its workers, even while these start; more work waits than workers can hold."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(after)
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30) == ("interrupted\n", "")


def test_specifications_survive_json_and_name_themselves() -> None:
    again = spec_from_dict(GAME.name, "MS", spec_to_dict(SPEC))
    assert again == SPEC and again.digest == SPEC.digest
    other = FitnessSpec.of(GAME.name, LEVELS[:1], UTILITY, SPEC.search, SPEC.budget)
    assert other.digest != SPEC.digest


@pytest.mark.parametrize(
    ("jobs", "backend", "said"), [(0, "loky", "number of jobs"), (-2, "loky", "-1"), (2, "lokky", "mean 'loky'")]
)
def test_workers_that_make_no_sense(jobs: int, backend: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Workers(jobs, backend)


def test_the_pool_is_kept_between_calls_and_gone_afterwards() -> None:
    with Workers(2) as workers:
        first, second = workers.map(slow, [0.02] * 4), workers.map(slow, [0.02] * 4)
        assert os.getpid() not in first and len(set(first) | set(second)) <= 2
        assert workers.map(square, range(50)) == [x * x for x in range(50)]
    assert not any(alive(pid) for pid in {*first, *second})


def test_workers_that_have_grown_keep_what_they_have(recwarn: pytest.WarningsRecorder) -> None:
    pytest.importorskip("psutil")  # loky looks at the memory only with it
    with Workers(2) as workers:
        first = workers.map(grow, [1, 1])
        workers.map(grow, [400, 400])
        later = [workers.submit(slow, 0.2) for _ in range(4)]
        assert {answer.result() for answer in later} <= set(first), "a renewed process would have lost its caches"
    assert not recwarn.list
