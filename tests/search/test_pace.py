"""Tests that the clock is checked neither too often nor too rarely."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest

from persona_evo.search.layout import COUNTS, GOING_ON, ITERATIONS
from persona_evo.search.pace import LOOK, IterationPace, SearchProgress
from persona_evo.search.plan import Planner
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.games.test_python_game import GAME, LEVEL, UTILITY

pytestmark = pytest.mark.quick


def course(seconds: float, speed: float, most: int = 10**9) -> list[int]:
    """The chunks of a search that makes `speed` iterations a second."""
    now, chunks = 100.0, []
    with patch.object(time, "perf_counter", lambda: now):
        pace = IterationPace(seconds, most)
        late = False
        while not late:
            chunks.append(pace.chunk)
            now += pace.chunk / speed
            late = pace.is_late()
    return chunks


def test_without_a_limit_nothing_depends_on_the_clock() -> None:
    pace = IterationPace(None, 500)
    assert not pace.is_late() and pace.chunk == 500


def test_a_fast_search_looks_every_few_milliseconds() -> None:
    chunks = course(1.0, 200_000)
    assert chunks[-1] == round(LOOK * 200_000) and 0.9 / LOOK < len(chunks) < 1.1 / LOOK + 10


def test_a_slow_search_looks_after_each_iteration() -> None:
    chunks = course(1.0, 20)
    assert set(chunks[1:]) == {1} and sum(chunks) <= 21


def test_a_short_budget_is_overrun_by_little() -> None:
    assert sum(course(0.002, 100_000)) / 100_000 < 0.0025


def test_a_chunk_has_its_limit() -> None:
    assert max(course(0.5, 1e9, most=20_000)) == 20_000


@pytest.mark.parametrize(
    ("speed", "pieces"), [(1000, [1, 4, 16, 64, 256, 659]), (2, [1, 2, 2]), (0.1, [1, 1, 1])], ids=str
)
def test_a_search_reports_about_once_a_second(speed: float, pieces: list[int]) -> None:
    now, counts, told = 100.0, np.zeros(COUNTS, dtype=np.int64), [0]

    def search(iterations: int) -> int:
        nonlocal now
        counts[ITERATIONS] += iterations
        now += iterations / speed
        return GOING_ON

    with patch.object(time, "perf_counter", lambda: now):
        assert SearchProgress(told.append).run(search, sum(pieces), counts) == GOING_ON
    assert [after - before for before, after in pairwise(told)] == pieces


def test_a_search_that_comes_to_its_end_is_not_run_again() -> None:
    counts, told, calls = np.zeros(COUNTS, dtype=np.int64), list[int](), list[int]()

    def stopping(reason: int) -> Callable[[int], int]:
        def search(iterations: int) -> int:
            calls.append(iterations)
            counts[ITERATIONS] += len(calls) == 1
            return GOING_ON if len(calls) == 1 else reason

        return search

    for reason in (GOING_ON + 1, GOING_ON):  # at an end, and where the memory is full
        calls.clear()
        assert SearchProgress(told.append).run(stopping(reason), 100, counts) == reason
        assert calls == [1, 4]
    assert told == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "settings", [replace(SearchSettings.single(), watch="tree"), SearchSettings.anytime()], ids=str
)
@pytest.mark.parametrize("policy", [TreePolicy.ucb1(), TreePolicy.utility(UTILITY)], ids=lambda p: p.name)
def test_a_search_that_reports_finds_the_same(settings: SearchSettings, policy: TreePolicy) -> None:
    told: list[int] = []
    planner = Planner(GAME, LEVEL, replace(settings, rollout=0, hedge=0.3), 500)
    quiet = planner.plan(UTILITY, policy, Budget(30), seed=3)
    heard = planner.plan(UTILITY, policy, Budget(30), seed=3, progress=told.append)
    assert replace(quiet, seconds=0.0) == replace(heard, seconds=0.0)
    assert told == sorted(told) and told[-1] == quiet.iterations and len(told) > 3
