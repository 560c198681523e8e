"""Tests the race of the finalists and the tuning of constants, with a fitness whose true value is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from persona_evo import seeds
from persona_evo.evolve import genetics, tuning
from persona_evo.evolve.records import Individual, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse

LEVELS, VALIDATION, NOISE = 100, 20, 0.3
SETTINGS = EvolutionSettings.sampling(parsimony=0.0)
PRIMITIVES = genetics.Primitives.of(SETTINGS, ("A", "B"))


class Noisy:
    """What a formula is worth is given by `truth`; each playthrough adds noise that its level and seed decide."""

    def __init__(self, truth: Callable[[str], float]) -> None:
        self.truth, self.spent, self.cases = truth, 0, set[int]()

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        self.spent += sum(request.playthroughs for request in requests)
        self.cases |= {case for request in requests for case in request.cases}
        return [[self.truth(r.formula) + self._noise(r.formula, own[0]) for own in r.seeds] for r in requests]

    def _noise(self, formula: str, seed: int) -> float:
        return random.Random(seeds.derive(seed, formula)).gauss(0.0, NOISE)


def ending(
    ask: Noisy, seed: int = 1, settings: EvolutionSettings = SETTINGS, primitives: genetics.Primitives = PRIMITIVES
) -> tuning.EvolutionEnd:
    return tuning.EvolutionEnd(settings, seed, primitives, LEVELS, VALIDATION, ask)


def tuned(end: tuning.EvolutionEnd, best: Individual, playthroughs: int) -> Individual:
    return [best, *(step for step, _ in end.tuned(best, playthroughs))][-1]


def member(formula: str, validation: float) -> Individual:
    values = [validation] * VALIDATION
    return Individual(formula, 1, values, 1, key=formula, validation=values)


def test_the_race_of_the_finalists_finds_who_was_only_unlucky_on_the_validation_set() -> None:
    truth = {f"{0.1 * k:.1f} * A": 0.5 for k in range(1, 8)} | {"0.8 * A": 0.9}
    hall = [member(formula, 0.75 if worth == 0.5 else 0.72) for formula, worth in truth.items()]
    ask = Noisy(truth.__getitem__)
    best, spent = ending(ask).finalist(hall, 500)
    assert best.formula == "0.8 * A"
    assert 400 < spent == ask.spent <= 500
    assert max(ask.cases) < LEVELS, "the race is run on levels to train on"
    for few in (hall[:1], 500), (hall, 10):
        assert ending(Noisy(truth.__getitem__)).finalist(*few)[0] is hall[0]


@pytest.mark.parametrize("seed", range(5))
def test_tuning_moves_a_constant_to_where_it_is_best_within_its_playthroughs(seed: int) -> None:
    def truth(formula: str) -> float:
        return 1.0 - abs(parse(formula).evaluate({"A": 1.0, "B": 0.0}) - 3.0)

    ask = Noisy(truth)
    best = tuned(ending(ask, seed), member("0.5 * A + B", -1.5), 4_000)
    assert truth(best.formula) > 0.5 and best.validation != [-1.5] * VALIDATION
    assert ask.spent <= 4_000


@pytest.mark.parametrize("seed", range(5))
def test_tuning_keeps_what_nothing_improves(seed: int) -> None:
    """The constant changes nothing: what looks better by luck has to be lucky twice."""
    start = member("0.5 * A + B", 0.5)
    ask = Noisy(lambda formula: 0.5 if formula == start.formula else 0.2)
    assert tuned(ending(ask, seed), start, 3_000) is start


def test_tuning_without_enough_playthroughs_plays_none() -> None:
    start, ask = member("0.5 * A + B", 0.5), Noisy(lambda _: 0.5)
    assert tuned(ending(ask), start, 100) is start and ask.spent == 0


def test_each_step_says_how_many_playthroughs_were_spent() -> None:
    ask = Noisy(lambda formula: 1.0 - abs(parse(formula).evaluate({"A": 1.0, "B": 0.0}) - 3.0))
    start = member("0.5 * A + B", -1.5)
    spent = [(told, ask.spent) for _, told in ending(ask).tuned(start, 3_000)]
    assert len(spent) > 3 and all(told == played for told, played in spent)


@pytest.mark.parametrize("trials", [1, 3, 10])
def test_tuning_keeps_to_its_playthroughs_however_often_each_level_is_played(trials: int) -> None:
    settings = EvolutionSettings.sampling(parsimony=0.0, trials=trials)
    ask = Noisy(lambda formula: 1.0 - abs(parse(formula).evaluate({"A": 1.0, "B": 0.0}) - 3.0))
    tuned(ending(ask, settings=settings), member("0.5 * A + B", -1.5), 8_000)
    assert 4_000 < ask.spent <= 8_000
    race = Noisy(lambda _: 0.5)
    ending(race, settings=settings).finalist([member(f"0.{k} * A", 0.5) for k in range(1, 9)], 1_000)
    assert 600 < race.spent <= 1_000


@pytest.mark.parametrize(
    "settings",
    [EvolutionSettings.paper(levels_a_generation=16), EvolutionSettings.modern(levels_a_generation=16)],
    ids=["paper", "modern"],
)
def test_a_preset_without_added_terms_is_tuned_by_constants_alone(settings: EvolutionSettings) -> None:
    ask = Noisy(lambda formula: 1.0 - abs(parse(formula).evaluate({"A": 1.0, "B": 0.0}) - 3.0))
    best = tuned(ending(ask, settings=settings), member("0.5 * A + B", -1.5), 4_000)
    assert best.formula.endswith("* A + B") and best.formula != "0.5 * A + B"


def test_tuned_constants_stay_within_the_limits_of_formulas() -> None:
    ask = Noisy(lambda formula: abs(parse(formula).evaluate({"A": 1.0, "B": 0.0})) / 1e300)
    best = tuned(ending(ask), member("9e299 * A + B", 0.0), 4_000)
    assert best.formula == "1e+300 * A + B"


def test_a_price_for_time_is_found_though_it_is_worth_little() -> None:
    """One unit of the clock should cost about .001. Races of random variants miss that in this much noise."""
    clocked = replace(PRIMITIVES, clocks=("B",))

    def truth(formula: str) -> float:
        read = parse(formula)
        return 0.5 - abs(read.evaluate({"A": 0.0, "B": 1.0}) + 0.001) * 200.0

    ask = Noisy(truth)
    best = tuned(ending(ask, primitives=clocked), member("A", 0.5), 8_000)
    assert best.formula.startswith("A - 0.001 * B") and ask.spent <= 8_000
    paper = EvolutionSettings.paper(levels_a_generation=16)
    kept = tuned(ending(Noisy(truth), 1, paper, clocked), member("A", 0.5), 8_000)
    assert "B" not in kept.formula, "this preset adds no terms"


def test_what_the_race_of_the_finalists_cannot_use_is_for_the_tuning() -> None:
    """Each draw takes a level once, so that a pool of 100 levels limits the race."""
    ask = Noisy(lambda formula: 1.0 - abs(parse(formula).evaluate({"A": 1.0, "B": 0.0}) - 3.0))
    hall = [member(f"0.{k} * A + B", -2.0 - 0.1 * k) for k in range(1, 9)]
    steps = list(ending(ask).steps(hall, 12_000))
    assert [step.what for step in steps[:3]] == ["comparing the finalists"] * 2 + ["tuning the constants"]
    raced = LEVELS * (8 + 4 + 2 + 1)
    assert steps[1].total == 6_000 > raced and steps[-1].total == 12_000 - raced
    assert raced < ask.spent <= 12_000 and steps[-1].best.formula != steps[1].best.formula
    for last in ("comparing the finalists", "tuning the constants"):
        end = [step for step in steps if step.what == last][-1]
        assert end.spent == end.total
