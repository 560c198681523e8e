"""Looks at the clock are neither too many nor too few."""

from __future__ import annotations

import time
from unittest.mock import patch

import pytest

from persona_evo.search.pace import LOOK, IterationPace

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
