"""Tests who wins an evolution: the best on seeds that it never used, whatever was measured before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import PlaythroughScore
from persona_evo.evolve.records import Individual
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.winner import choose
from persona_evo.games import mapsets, registry
from persona_evo.jobs.workers import Workers
from persona_evo.personas import load
from persona_evo.search.settings import Budget, SearchSettings

GAME = registry.get("minidungeons2")
LEVELS = mapsets.resolve(GAME, ["train01", "train02"])
SEED = 7


class Recorded(Fitness):
    """A fitness that plays nothing: each formula's utility is known, and the seeds it was asked for are kept."""

    def __init__(self, worth: dict[str, float]) -> None:
        persona = load("runner", GAME)
        spec = FitnessSpec.of(GAME.name, LEVELS, persona.utility, SearchSettings.single(), Budget(10), "PE")
        super().__init__(spec, Workers(1))
        self.worth = worth
        self.asked: dict[str, list[list[int]]] = {}

    def trials(  # type: ignore[override]
        self, policies: Sequence[str], seeds: Sequence[Sequence[Sequence[int]]], first: int, end: int, *_: object
    ) -> list[list[list[PlaythroughScore]] | None]:
        found: list[list[list[PlaythroughScore]] | None] = []
        for policy, cases in zip(policies, seeds, strict=True):
            mine = self.asked.setdefault(policy, [[] for _ in cases])
            for known, case in zip(mine, cases, strict=True):
                known += case[first:end]
            found.append([[PlaythroughScore(self.worth[policy], 0.5) for _ in case[first:end]] for case in cases])
        return found


def one(formula: str, fitness: float, size: int = 1) -> Individual:
    return Individual(formula, size, [fitness, fitness], 3, key=formula)


def settings(**changes: object) -> EvolutionSettings:
    values: dict[str, object] = {"final_trials": 4, "final_candidates": 3, **changes}
    return EvolutionSettings.modern(**values)


def test_the_winner_is_the_best_on_fresh_seeds_and_not_the_fittest_of_the_run() -> None:
    hall = [one("PE", 0.9), one("MS", 0.8), one("TO", 0.7)]
    won = choose(hall, settings(), SEED, Recorded({"PE": 0.2, "MS": 0.5, "TO": 0.6}))
    assert won.individual is hall[2] and won.utility == pytest.approx(0.6)
    assert (won.trials, won.finalists, won.priority) == (4, 3, 0.5)


def test_only_the_fittest_are_compared() -> None:
    hall = [one("HL", 0.1), one("PE", 0.9), one("MS", 0.8), one("TO", 0.7)]
    fitness = Recorded({"PE": 0.2, "MS": 0.3, "TO": 0.1, "HL": 1.0})
    assert choose(hall, settings(), SEED, fitness).individual is hall[2]
    assert set(fitness.asked) == {"PE", "MS", "TO"}
    equal = [one("PE", 0.9, 9), one("MS", 0.9, 3)]
    assert choose(equal, settings(final_candidates=1), SEED, Recorded({"PE": 1.0, "MS": 0.0})).individual is equal[1]


def test_of_equal_finalists_the_smallest_wins_and_then_the_first_by_its_text() -> None:
    hall = [one("PE", 0.9, 5), one("TO", 0.8, 3), one("MS", 0.7, 3)]
    assert choose(hall, settings(), SEED, Recorded(dict.fromkeys(("PE", "TO", "MS"), 0.5))).individual is hall[2]


def test_each_trial_of_each_level_has_a_seed_of_its_own_which_all_finalists_share() -> None:
    fitness = Recorded({"PE": 0.2, "MS": 0.3})
    choose([one("PE", 0.9), one("MS", 0.8)], settings(), SEED, fitness)
    seeds = fitness.asked["PE"]
    assert [len(case) for case in seeds] == [4, 4]
    assert len({seed for case in seeds for seed in case}) == 8
    assert fitness.asked["MS"] == seeds
    other = Recorded({"PE": 0.2})
    choose([one("PE", 0.9)], settings(), SEED + 1, other)
    assert not {s for case in seeds for s in case} & {s for case in other.asked["PE"] for s in case}


def test_evaluations_of_an_individual_are_averaged_level_by_level() -> None:
    individual = Individual("PE", 1, key="PE")
    for utilities in ([0.0, 1.0], [0.3, 1.0], [0.6, 0.4]):
        individual.learn(utilities)
    assert individual.utilities == pytest.approx([0.3, 0.8]) and individual.trials == 3
    assert individual.fitness == pytest.approx(0.55)
