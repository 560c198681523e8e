"""Tests the estimate of fitness from different numbers of levels."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.evolve.standing import PRIOR, estimates

pytestmark = pytest.mark.quick


@given(st.lists(st.lists(st.floats(-1, 1), min_size=6, max_size=6), min_size=1, max_size=6))
def test_individuals_on_the_same_levels_are_in_the_order_of_their_means(played: list[list[float]]) -> None:
    found = estimates([dict(enumerate(row)) for row in played])
    for one, mine in zip(found, played, strict=True):
        for other, theirs in zip(found, played, strict=True):
            if fmean(mine) > fmean(theirs) + 1e-9:
                assert one > other


def test_the_same_lead_counts_more_the_more_levels_have_shown_it() -> None:
    field: list[dict[object, float]] = [dict.fromkeys(range(120), 0.5) for _ in range(20)]
    few: dict[object, float] = dict.fromkeys(range(PRIOR), 0.6)
    many: dict[object, float] = dict.fromkeys(range(120), 0.6)
    *_, lucky, proven = estimates([*field, few, many])
    assert 0.5 < lucky < proven < 0.6
    assert lucky == pytest.approx(0.55, abs=0.01), "half of the difference is believed"


def test_nobody_loses_by_playing_hard_levels() -> None:
    easy, hard = dict.fromkeys(range(30), 0.9), dict.fromkeys(range(30, 60), 0.1)
    weak: dict[object, float] = {level: utility - 0.05 for level, utility in (easy | hard).items()}
    good: dict[object, float] = {**easy, **hard}
    short: dict[object, float] = {level: utility - 0.02 for level, utility in easy.items()}
    found = estimates([good, weak, short])
    assert found[0] > found[2] > found[1]


def test_the_chosen_individuals_are_better_than_those_with_the_best_means() -> None:
    stream = random.Random(5)
    by_estimate, by_mean = [], []
    for _ in range(40):
        worth = [stream.gauss(0.0, 0.012) for _ in range(24)]
        levels = [stream.gauss(0.9, 0.09) for _ in range(120)]
        played: list[dict[object, float]] = [
            {j: levels[j] + own + stream.gauss(0.0, 0.07) for j in range(stream.choice((30, 60, 120)))} for own in worth
        ]
        found = estimates(played)
        means = [fmean(results.values()) for results in played]
        by_estimate.append(worth[found.index(max(found))])
        by_mean.append(worth[means.index(max(means))])
    assert fmean(by_estimate) > fmean(by_mean) + 0.003
