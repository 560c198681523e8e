"""Tests that a seed still gives the same evolution, on which shipped policies and unfinished studies depend.

The digests stand for what was bred, asked and chosen when they were written. A change that is meant to breed otherwise
states them anew, and with them that the commands in `policies/README.md` no longer repeat the shipped policies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest

from persona_evo.evolve import genetics, genome, tuning
from persona_evo.evolve.islands import generations
from persona_evo.evolve.records import Individual, Request
from persona_evo.evolve.setting_values import FORMULA, LISTS, MUTATIONS
from persona_evo.evolve.settings import EvolutionSettings
from tests.evolve.synthetic import METRICS, POINTS

pytestmark = pytest.mark.quick

SEED, LEVELS, VALIDATION = 20300101, 12, 6
SMALL: dict[str, Any] = {"population": 24, "islands": 2, "generations": 5, "elites": 2, "migrants": 2}
DRAWN: dict[str, Any] = {**SMALL, "levels_a_generation": 8, "race_from": 2, "first": ("PE - 0.1 * ST",)}


class Ledger:
    """A fitness that costs nothing, and a digest of everything that it was asked.

    Values are whole numbers of hundredths, so that they are the same on every machine.
    """

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=8)

    def note(self, *values: object) -> None:
        self.digest.update(repr(values).encode())

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        self.note([(r.formula, r.seeds, r.cases, r.shares) for r in requests])
        return [
            [
                self._worth(r.formula, case, own)
                for case, own in zip(r.cases or range(len(r.seeds)), r.seeds, strict=True)
            ]
            for r in requests
        ]

    def _worth(self, text: str, case: int, seeds: Sequence[int]) -> float:
        point = POINTS[case % len(POINTS)]
        distance = sum(abs(score.evaluate(point) - 1.0 - case % 4) for score in genome.scores(text))
        luck = sum(seed % 17 for seed in seeds) / len(seeds)
        return round(-min(10.0, round(distance, 3)) * 100 + luck) / 100


def evolved(settings: EvolutionSettings, validation: int = 0) -> tuple[Ledger, list[Individual]]:
    ledger, hall = Ledger(), list[Individual]()
    first = settings.first if settings.individual == FORMULA else ()
    for generation in generations(
        settings, SEED, ledger, metrics=METRICS, levels=LEVELS, validation=validation, first=first
    ):
        for island in generation.state.islands:
            ledger.note([(i.formula, i.origin, i.born, i.trials, i.size) for i in island.individuals])
        hall = generation.state.hall
        ledger.note([i.formula for i in hall], [(r.evaluations, r.remembered) for r in generation.rows])
    return ledger, hall


@pytest.mark.parametrize(
    ("settings", "digest"),
    [
        (EvolutionSettings.paper(**SMALL), "7e43c518caed098e"),
        (
            EvolutionSettings.paper(**SMALL, pool="top5", topology="random", growth="full"),
            "fb368b5463d1aec1",
        ),
        (EvolutionSettings.modern(**SMALL, first=(), individual=FORMULA), "89e254a2ac6b5a7a"),
        (
            EvolutionSettings.modern(**SMALL, first=(), individual=FORMULA, pool="rank", variables="extended"),
            "b07a35241e7d86d9",
        ),
        (EvolutionSettings.modern(**SMALL, first=(), individual=LISTS), "dc8ef91cae8d3a88"),
        (
            EvolutionSettings.modern(
                **SMALL, first=(), individual=FORMULA, mutation=1.0, mutations=dict.fromkeys(MUTATIONS, 1.0)
            ),
            "392c1a5036ad734b",
        ),
    ],
    ids=["paper", "paper as its text has it", "modern", "ranks", "lists", "every mutation alike"],
)
def test_an_evolution_on_all_levels(settings: EvolutionSettings, digest: str) -> None:
    ledger, _ = evolved(settings)
    assert ledger.digest.hexdigest() == digest


@pytest.mark.parametrize(("individual", "digest"), [(FORMULA, "6204cdeaef6f4ed9"), (LISTS, "81ac080182e72c50")])
def test_an_evolution_on_drawn_levels_with_its_end(individual: str, digest: str) -> None:
    settings = EvolutionSettings.sampling(**DRAWN, individual=individual, budgets=(1.0, 0.5))
    ledger, hall = evolved(settings, VALIDATION)
    primitives = genetics.Primitives.of(settings, METRICS)
    ending = tuning.EvolutionEnd(settings, SEED, primitives, LEVELS, VALIDATION, ledger)
    winner, _ = ending.finalist(hall, 1_000)
    best = [winner, *(step for step, _ in ending.tuned(winner, 2_000))][-1]
    ledger.note(best.formula, best.validation)
    assert ledger.digest.hexdigest() == digest


def test_the_ledger_notices_what_is_asked() -> None:
    one, other = Ledger(), Ledger()
    one([Request("PE", ((1,), (2,)), (0, 1))])
    other([Request("PE", ((1,), (3,)), (0, 1))])
    assert one.digest.hexdigest() != other.digest.hexdigest()
