"""An evolution in memory for a given number of playthroughs, for studies and tests that run many of them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from persona_evo.evolve import genetics, selection
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.individuals import first_individuals, settled, symbols_of
from persona_evo.evolve.islands import generations
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.records import Individual, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.tuning import EvolutionEnd
from persona_evo.games import registry
from persona_evo.jobs.workers import Workers
from persona_evo.personas.lists import OpenList

_WITHOUT_END = 1_000_000
"""A number of generations that is never reached, since the playthroughs end first."""


@dataclass(frozen=True)
class Training:
    """The levels of a training and what is played on them.

    Attributes:
        spec: what is played, on the levels to train on, with the best known utility of each if it is known.
        validation: the levels on which elites and the hall of fame are compared.
        lists: the persona's open lists.
    """

    spec: FitnessSpec
    validation: LevelPool
    lists: tuple[OpenList, ...] = ()

    def with_validation(self, wins: float = 0.0) -> FitnessSpec:
        """Return the specification with the validation levels after those to train on, and all best known utilities."""
        return replace(
            self.spec,
            levels=(*self.spec.levels, *self.validation.levels),
            best=(*self.spec.best, *self.validation.best),
            wins=wins,
        )


class Point(NamedTuple):
    """A point of a learning curve.

    It consists of the playthroughs so far, the fitness of the best policy on the levels of its last generation and on
    the validation set, and the policy.
    """

    playthroughs: int
    training: float
    validation: float
    policy: str


@dataclass(frozen=True)
class Trained:
    """The result of an evolution: the policy's text (`genome.to_policy`), the playthroughs, and the learning curve."""

    policy: str
    playthroughs: int
    curve: tuple[Point, ...]


class Spent(Exception):
    """Signals that there are no playthroughs left. It never reaches a user."""


class Counter:
    """Has requests played as long as there are playthroughs left.

    Args:
        fitness: plays the requests.
        playthroughs: the number of playthroughs there are.

    Attributes:
        spent: the playthroughs requested so far, including those of duplicates.
    """

    def __init__(self, fitness: Fitness, playthroughs: int) -> None:
        self.fitness, self.playthroughs, self.spent = fitness, playthroughs, 0

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        """Evaluate requests as `Fitness` does.

        Raises:
            Spent: the requests need more playthroughs than are left; none was played.
        """
        asked = sum(request.playthroughs for request in requests)
        if self.spent + asked > self.playthroughs:
            raise Spent
        self.spent += asked
        return self.fitness(requests)


def train(training: Training, settings: EvolutionSettings, seed: int, playthroughs: int, workers: Workers) -> Trained:
    """Evolve until the playthroughs are spent. A generation that would need more than are left is abandoned.

    Args:
        settings: settings that draw levels for each generation (`EvolutionSettings.sampling`).
        playthroughs: enough for at least one generation; a share of them is for tuning constants.

    Raises:
        SettingsError: there are too few playthroughs for one generation.
    """
    spec = training.with_validation(settings.wins)
    settings = replace(settled(settings, training.spec), generations=_WITHOUT_END)
    levels, validation = len(training.spec.levels), len(training.validation.levels)
    ask = Counter(Fitness(spec, workers), round(playthroughs * (1.0 - settings.tuning)))
    symbols = symbols_of(settings, training.spec)
    game = registry.get(training.spec.game)
    evolution = generations(
        settings,
        seed,
        ask,
        metrics=symbols,
        levels=levels,
        validation=validation,
        game=game,
        first=first_individuals(settings, training.spec, training.lists),
    )
    better = selection.better(settings)
    curve: list[Point] = []
    hall: list[Individual] = []
    best = None
    with contextlib.suppress(Spent):
        for generation in evolution:
            hall = generation.state.hall
            best = min(hall, key=better)
            trained = max((row.best for row in generation.rows), default=0.0)
            curve.append(Point(ask.spent, trained, best.fitness, best.formula))
    if best is None:
        raise _too_few(playthroughs)
    ask.playthroughs = playthroughs
    ending = EvolutionEnd(settings, seed, genetics.Primitives.of(settings, symbols, game), levels, validation, ask)
    for step in ending.steps(hall, playthroughs - ask.spent):
        best = step.best
    curve.append(Point(ask.spent, curve[-1].training, best.fitness, best.formula))
    return Trained(best.formula, ask.spent, tuple(curve))


def _too_few(playthroughs: int) -> Exception:
    from persona_evo.errors import SettingsError

    return SettingsError(
        "too few playthroughs for one generation", found=str(playthroughs), expected="more, or a smaller population"
    )
