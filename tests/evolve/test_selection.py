"""Tests selection and survival against answers that are known beforehand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from persona_evo.evolve import selection
from persona_evo.evolve.records import Individual
from persona_evo.evolve.settings import EvolutionSettings

pytestmark = pytest.mark.quick


def individual(name: str, *utilities: float, size: int = 3) -> Individual:
    return Individual(name, size, list(utilities), 1, key=name)


CROWD = [individual(f"f{k}", float(k), float(k)) for k in range(20)]


def test_top5_are_the_five_fittest() -> None:
    pool = selection.mating_pool(CROWD, EvolutionSettings.paper(pool="top5"), random.Random(1))
    assert [i.formula for i in pool] == ["f19", "f18", "f17", "f16", "f15"]


def test_binary_tournaments_prefer_the_fitter_with_the_known_chance() -> None:
    stream = random.Random(1)
    wins = Counter(
        i.formula for _ in range(500) for i in selection.mating_pool(CROWD, EvolutionSettings.paper(), stream)
    )
    assert sum(wins.values()) == 500 * 20
    for k in (0, 10, 19):
        assert wins[f"f{k}"] / 10_000 == pytest.approx((2 * k + 1) / 400, abs=0.012)


def test_elites_are_copies_of_the_best_and_different_where_duplicates_count() -> None:
    twins = [individual("a", 1.0), individual("a", 1.0), individual("b", 0.5), individual("c", 0.2)]
    paper = selection.elites(twins, EvolutionSettings.paper(elites=2))
    assert [e.formula for e in paper] == ["a", "a"] and paper[0] is not twins[0]
    paper[0].learn([0.0])
    assert twins[0].fitness == 1.0
    modern = selection.elites(twins, EvolutionSettings.modern(elites=2))
    assert [e.formula for e in modern] == ["a", "b"]


def test_small_ones_are_preferred_only_where_asked() -> None:
    pair = [individual("large", 1.0, size=9), individual("small", 1.0, size=3)]
    assert selection.elites(pair, EvolutionSettings.paper(elites=1))[0].formula == "large"
    assert selection.elites(pair, EvolutionSettings.modern(elites=1))[0].formula == "small"


def test_mean_ranks_share_ties() -> None:
    crowd = [individual("a", 3.0, 1.0), individual("b", 2.0, 1.0), individual("c", 1.0, 5.0)]
    assert selection.mean_ranks(crowd) == [(0 + 1.5) / 2, (1 + 1.5) / 2, (2 + 0) / 2]


def test_lexicase_finds_specialists_that_the_mean_overlooks() -> None:
    crowd = [individual("specialist", 1.0, -50.0, -50.0)]
    crowd += [individual(f"average{k}", 0.1 + 0.001 * k, 0.1, 0.1) for k in range(9)]
    stream = random.Random(2)
    lexicase = Counter(i.formula for i in selection.lexicase(crowd, 600, stream))
    assert lexicase["specialist"] / 600 == pytest.approx(1 / 3, abs=0.08)
    order = sorted(range(10), key=lambda i: -crowd[i].fitness)
    assert Counter(selection.tournaments(order, 600, 2, stream))[0] < 30


@pytest.mark.parametrize("pool", ["tournament", "rank", "lexicase", "top5"])
def test_every_pool_is_repeatable(pool: str) -> None:
    settings = EvolutionSettings.paper(pool=pool)
    first = selection.mating_pool(CROWD, settings, random.Random(9))
    again = selection.mating_pool(CROWD, settings, random.Random(9))
    assert [i.formula for i in first] == [i.formula for i in again]
    assert len(first) == (5 if pool == "top5" else 20)
