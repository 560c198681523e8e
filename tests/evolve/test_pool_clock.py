"""The making of levels ends as soon as it is clear that it does not fit into its time."""

from __future__ import annotations

import pytest

from persona_evo.errors import SettingsError
from persona_evo.evolve import pool_clock
from persona_evo.evolve.pool_clock import PoolClock

pytestmark = pytest.mark.quick


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    time = [100.0]
    monkeypatch.setattr(pool_clock.time, "monotonic", lambda: time[0])
    return time


def test_levels_that_fit_are_made_and_told(now: list[float]) -> None:
    told: list[tuple[str, int, int]] = []
    clock = PoolClock(16, lambda *what: told.append(what), until=120.0)
    for what in ("generating levels", "finding the best known utilities"):
        step = clock.phase(what)
        for done in range(1, 9):
            now[0] += 1.0
            step(done, 8)
    assert len(told) == 16 and told[-1] == ("finding the best known utilities", 8, 8)


def test_too_many_levels_are_refused_long_before_the_time_is_up(now: list[float]) -> None:
    step = PoolClock(200, None, until=190.0).phase("generating levels (train)")
    with pytest.raises(SettingsError) as error:
        for done in range(1, 101):
            now[0] += 3.0
            step(done, 100)
    assert now[0] < 130.0
    assert error.value.found == "generating levels (train): 8 of 100 after 24 s"
    assert "about 20 min in all" in str(error.value.hint)


def test_a_slow_first_level_alone_does_not_end_it_but_the_end_of_the_time_does(now: list[float]) -> None:
    step = PoolClock(20, None, until=150.0).phase("generating levels (train)")
    now[0] += 30.0
    step(1, 10)
    now[0] += 25.0
    with pytest.raises(SettingsError, match="no time to make so many levels"):
        step(2, 10)


def test_levels_that_are_slow_at_first_alone_are_not_refused(now: list[float]) -> None:
    step = PoolClock(200, None, until=190.0).phase("generating levels (train)")
    for done in range(1, 101):
        now[0] += 3.0 if done <= 6 else 0.3
        step(done, 100)


def test_without_a_limit_nothing_ends(now: list[float]) -> None:
    step = PoolClock(20, None, until=None).phase("generating levels (train)")
    now[0] += 1e6
    step(1, 10)


def test_what_the_first_levels_spend_on_compiling_is_not_expected_of_the_others(now: list[float]) -> None:
    step = PoolClock(40, None, until=300.0).phase("generating levels (train)")
    for done in range(1, 20):
        now[0] += 60.0 if done <= 2 else 1.0
        step(done, 20)
    assert now[0] < 300.0
