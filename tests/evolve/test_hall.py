"""The hall of fame keeps good and small formulas."""

from __future__ import annotations

import pytest

from persona_evo.evolve import hall
from persona_evo.evolve.records import Individual

pytestmark = pytest.mark.quick


def individual(name: str, fitness: float, size: int, trials: int = 1) -> Individual:
    return Individual(name, size, [fitness], trials, key=name)


def test_the_front_has_nobody_who_is_beaten_in_both() -> None:
    crowd = [
        individual("a", 3, 9),
        individual("b", 2, 5),
        individual("c", 2, 7),
        individual("d", 1, 1),
        individual("e", 0.5, 1),
    ]
    assert [i.formula for i in hall.front(crowd)] == ["a", "b", "d"]


def test_update_fills_up_with_later_fronts_and_keeps_its_capacity() -> None:
    crowd = [individual(f"f{k}", k, 1) for k in range(10)]
    kept = hall.update([], crowd, 4)
    assert [i.formula for i in kept] == ["f9", "f8", "f7", "f6"]
    assert [i.formula for i in hall.update(kept, [individual("new", 20, 50)], 4)] == ["new", "f9", "f8", "f7"]


def test_of_duplicates_the_one_that_is_known_best_stays() -> None:
    lucky, tested = individual("x", 9.0, 3, trials=1), individual("x", 2.0, 3, trials=5)
    kept = hall.update([lucky], [tested], 5)
    assert [(i.fitness, i.trials) for i in kept] == [(2.0, 5)]


def test_members_are_copies() -> None:
    one = individual("x", 1.0, 3)
    kept = hall.update([], [one], 5)
    one.learn([-99.0])
    assert kept[0].fitness == 1.0
