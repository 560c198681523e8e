"""Tests comparisons of runs against closed forms and against resampling by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from persona_evo.playtest.bootstrap import difference, fewer

pytestmark = pytest.mark.quick


def test_equal_runs_leave_the_levels_alone_to_chance() -> None:
    levels = np.linspace(0.0, 1.0, 50)
    found = difference([levels + 0.1] * 20, [levels])
    assert found.value == pytest.approx(0.1) and found.low == pytest.approx(0.1) and found.high == pytest.approx(0.1)
    assert found.n == 50
    assert difference([levels], [levels])[:3] == (0.0, 0.0, 0.0)


def test_the_interval_is_that_of_the_normal_approximation() -> None:
    rng = np.random.default_rng(3)
    runs, levels = rng.normal(0, 0.2, 20), rng.normal(0, 0.3, 50)
    a = 0.5 + runs[:, None] + levels[None, :]
    found = difference(a, [np.zeros(50)])
    spread = math.sqrt(runs.var() / 20 + levels.var() / 50)
    assert found.value == pytest.approx(a.mean())
    assert found.half == pytest.approx(1.96 * spread, rel=0.04)
    assert found.low < found.value < found.high


def test_pairing_takes_the_difficulty_of_levels_out() -> None:
    rng = np.random.default_rng(4)
    difficulty, noise = rng.normal(0, 1, 60), rng.normal(0, 0.01, (2, 60))
    a, b = [difficulty + 0.02 + noise[0]], [difficulty + noise[1]]
    assert difference(a, b).half < 0.01
    assert difference(a, [np.roll(difficulty, 7)]).half > 0.2


def test_runs_of_both_sides_are_drawn() -> None:
    a, b = [[0.0] * 10, [1.0] * 10], [[0.0] * 10, [1.0] * 10]
    found = difference(a, b, level=0.99)
    assert found.value == 0 and (found.low, found.high) == pytest.approx((-1.0, 1.0))  # a chance of 1 in 16 each
    one = difference(a, [[0.5] * 10])
    assert (one.low, one.high) == pytest.approx((-0.5, 0.5))


def test_the_draws_follow_from_the_seed() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(5, 12)), rng.normal(size=(3, 12))
    assert difference(a, b) == difference(a, b) and difference(a, b) != difference(a, b, seed=1)


@pytest.mark.parametrize(("a", "b"), [([], [[1.0]]), ([[]], [[]]), ([[1.0, 2.0]], [[1.0]])])
def test_what_cannot_be_compared_is_refused(a: list[list[float]], b: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="matrices of"):
        difference(a, b)


def test_fewer_is_fishers_test_on_one_side() -> None:
    from scipy.stats import fisher_exact

    for table in ((14, 20, 20, 20), (0, 20, 6, 20), (20, 20, 20, 20), (3, 7, 2, 9), (55, 100, 80, 100)):
        k, n, j, m = table
        assert fewer(*table) == pytest.approx(fisher_exact([[k, n - k], [j, m - j]], alternative="less").pvalue)
    assert fewer(8, 10, 10, 10) == pytest.approx(45 / 190)  # by hand: C(10,8) C(10,10) / C(20,18)
    with pytest.raises(ValueError, match="21 successes of 20"):
        fewer(21, 20, 1, 20)
