"""Runs whose generations draw their levels: what they compare on, and how they choose their policy."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from persona_evo import seeds
from persona_evo.errors import SettingsError
from persona_evo.evolve import selection, tuning
from persona_evo.evolve.fitness import Fitness, OutOfTime
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import Primitives
from persona_evo.evolve.individuals import symbols_of
from persona_evo.evolve.playthroughs import PlaythroughScore, mean_score
from persona_evo.evolve.pools import VALIDATION, LevelPool, best_known
from persona_evo.evolve.racing import draw, part
from persona_evo.evolve.records import Individual
from persona_evo.evolve.rounds import play_rounds
from persona_evo.evolve.schedule import Phase, TellPhase
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Training
from persona_evo.evolve.winner import Winner
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.jobs.workers import Workers
from persona_evo.personas.lists import OpenList
from persona_evo.words import counted

SET_APART = 4
"""One of this many named levels is set apart to compare on, up to the size of a pool."""

MEASURED = 2
"""The playthroughs of each level in which the final policy is measured."""

COMPARED = 100
"""The highest number of playthroughs of each policy in the final comparison, if each level has MEASURED of them."""


def training_of(
    spec: FitnessSpec,
    settings: EvolutionSettings,
    seed: int,
    workers: Workers,
    pools: Mapping[str, LevelPool] | None = None,
    lists: Sequence[OpenList] = (),
) -> Training:
    """Return what a run trains on and compares on.

    Args:
        spec: what is played, with all levels that were named.
        seed: the seed of the run. It decides which levels are set apart if there are no pools.
        pools: solved levels by their streams; those of the stream "train" are the levels of `spec`.
        lists: the persona's open lists.

    Returns:
        If generations do not draw levels, all levels are to train on, and none to compare on.

    Raises:
        SettingsError: there are too few levels to set some apart.
    """
    spec = replace(spec, wins=settings.wins)
    if not settings.levels_a_generation:
        return Training(spec, LevelPool((), ()), tuple(lists))
    if pools:
        return Training(replace(spec, best=pools["train"].best), pools["validation"], tuple(lists))
    count = min(VALIDATION, len(spec.levels) // SET_APART)
    if not count:
        raise SettingsError(
            "too few levels to draw some for each generation",
            found=counted(len(spec.levels), "level"),
            expected=f"at least {SET_APART}, because a quarter of them is set apart for comparisons",
            hint="name more, such as --levels generate:200, or leave levels_a_generation out",
        )
    game = registry.get(spec.game)
    known: Sequence[float] = ()
    if game.planned:
        known = best_known(game, spec.levels, parse(spec.utility, game.symbols), seed, workers, lists=lists)
    apart = set(random.Random(seeds.derive(seed, "set apart")).sample(range(len(spec.levels)), count))
    train, validation = (
        LevelPool(tuple(spec.levels[i] for i in numbers), tuple(known[i] for i in numbers if known))
        for numbers in ([i for i in range(len(spec.levels)) if i not in apart], sorted(apart))
    )
    return Training(replace(spec, levels=train.levels, best=train.best), validation, tuple(lists))


@dataclass(frozen=True)
class CaseCounts:
    """The number of cases to train on, and of the following ones to compare on."""

    train: int
    validation: int

    @classmethod
    def of(cls, training: Training) -> CaseCounts:
        """Return the counts of a run: its levels, or the pairs of a level and an opponent."""
        each = len(training.spec.cases) // len(training.spec.levels)
        return cls(len(training.spec.cases), each * len(training.validation.levels))

    def first_generation(self, settings: EvolutionSettings) -> int:
        """Return the approximate number of playthroughs in the first generation. Later ones need fewer.

        Playthroughs with a share of the budget count as that share.
        """
        if not settings.levels_a_generation:
            again = settings.rounds * settings.islands * settings.elites if settings.reevaluations > 1 else 0
            return (settings.population + again) * settings.trials * self.train
        drawn = min(settings.levels_a_generation, self.train)
        running, done, until = float(settings.population), 0, settings.race_from or drawn
        plays = 0.0
        while done < drawn:
            until = min(until, drawn)
            plays += running * (until - done) * settings.trials
            running, done, until = running / 2, until, 2 * until
        plays *= fmean(settings.budgets or (1.0,))
        return round(plays) + settings.islands * (2 * settings.elites + 1) * self.validation

    def measuring(self, settings: EvolutionSettings) -> int:
        """Return the number of playthroughs in which the final policy is measured."""
        return (settings.trials + MEASURED) * self.validation


def trials_beside_others(settings: EvolutionSettings, levels: int) -> int:
    """Return the trials per held-out level, limited so that many levels do not take all night."""
    return min(settings.final_trials, max(MEASURED, -(-COMPARED // max(1, levels))))


def choose(
    hall: Sequence[Individual],
    training: Training,
    settings: EvolutionSettings,
    seed: int,
    fitness: Fitness,
    played: int,
    until: float | None = None,
    tell: TellPhase | None = None,
) -> Winner:
    """Return the best of the hall on drawn levels, with tuned constants, and its score on the validation set.

    Args:
        hall: the hall of fame, best first; nobody has a validation if the first generation was not finished.
        fitness: plays the levels to train on and those to compare on, which follow them.
        played: the number of playthroughs of the run so far; the end gets a share of it.
        until: the moment on `time.monotonic` by which the result is needed; the tuning ends early if necessary.
    """
    cases = CaseCounts.of(training)
    better = selection.better(settings)
    best, cut = min(hall, key=lambda i: (-len(i.utilities), *better(i))), False
    if best.validation:
        fitness.stop = None if until is None else until - fitness.seconds(cases.measuring(settings))
        best, cut = _tuned(hall, best, training, cases, settings, seed, fitness, round(settings.tuning * played), tell)
    fitness.stop = until
    finalists = min(len(hall), tuning.FINALISTS) if best.validation else 1
    return _measured(best, cut, finalists, training, cases, settings, seed, fitness, tell)


def _tuned(
    hall: Sequence[Individual],
    best: Individual,
    training: Training,
    cases: CaseCounts,
    settings: EvolutionSettings,
    seed: int,
    fitness: Fitness,
    playthroughs: int,
    tell: TellPhase | None,
) -> tuple[Individual, bool]:
    """Return the best of the hall with tuned constants, and whether the time was up before that was finished."""

    def show(name: str, done: int, total: int) -> None:
        left = fitness.seconds(total - done)
        if fitness.stop is not None:
            left = max(0.0, min(left, fitness.stop - time.monotonic()))
        if tell and total:
            tell(Phase(name, done, total, left))

    primitives = Primitives.of(settings, symbols_of(settings, training.spec), registry.get(training.spec.game))
    ending = tuning.EvolutionEnd(settings, seed, primitives, cases.train, cases.validation, fitness)
    try:
        for step in ending.steps(hall, playthroughs):
            best = step.best
            fitness.check()
            show(step.what, step.spent, step.total)
    except OutOfTime:
        return best, True
    return best, False


def _measured(
    best: Individual,
    cut: bool,
    finalists: int,
    training: Training,
    cases: CaseCounts,
    settings: EvolutionSettings,
    seed: int,
    fitness: Fitness,
    tell: TellPhase | None,
) -> Winner:
    """Measure the winner again on the validation set and on drawn levels; keep its scores if no time is left."""
    winner = Winner(best, (), finalists=finalists, names=(), cut=cut)
    if best.validation:
        winner = replace(
            winner, scores=(PlaythroughScore(best.fitness, 0.0),), names=("validation set",), validation=best.fitness
        )
    elif best.utilities:
        winner = replace(winner, scores=(PlaythroughScore(best.fitness, 0.0),), names=("drawn levels",))
    own = Fitness(replace(training.spec, levels=training.validation.levels, best=()), fitness.workers)
    own.pace = fitness.pace
    plan = tuple(
        tuple(seeds.derive(seed, "final", case, trial) for trial in range(min(MEASURED, settings.final_trials)))
        for case in range(cases.validation)
    )
    (played,) = play_rounds(own, [best.formula], plan, "measuring the policy", fitness.stop, tell)
    trials = min(len(scores) for scores in played)
    if trials:
        means = tuple(mean_score(scores) for scores in played)
        winner = replace(winner, scores=means, trials=trials, names=own.spec.cases)
    with contextlib.suppress(OutOfTime):
        drawn = draw(
            replace(settings, levels_a_generation=cases.validation, budgets=()),
            seeds.derive(seed, "training fitness"),
            0,
            cases.train,
        )
        (shares,) = fitness([part(drawn, best.formula, 0, cases.validation)])
        winner = replace(winner, training=fsum(shares) / len(shares))
    return winner
