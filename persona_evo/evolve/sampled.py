"""Runs whose generations draw their levels: what they compare on, and how they come to their policy."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

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
"""One of so many levels that are named is set apart to compare on, as long as these are not more than a pool's."""

MEASURED = 2
"""Playthroughs of each level in which the final policy is measured."""

COMPARED = 100
"""Playthroughs of each policy in the comparison at the end at most, as long as each level has MEASURED."""


def training_of(
    spec: FitnessSpec,
    settings: EvolutionSettings,
    seed: int,
    workers: Workers,
    pools: Mapping[str, LevelPool] | None = None,
    lists: Sequence[OpenList] = (),
) -> Training:
    """What a run trains on and compares on.

    Args:
        spec: what is played, with all levels that were named.
        seed: of the run; it says which levels are set apart where there are no pools.
        pools: solved levels by their streams; those of the stream "train" are the levels of `spec`.
        lists: the persona's open lists.

    Returns:
        All levels to train on, and none to compare on, where the generations do not draw levels.

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
    """How many cases there are to train on, and to compare on, which follow these."""

    train: int
    validation: int

    @classmethod
    def of(cls, training: Training) -> CaseCounts:
        """Those of a run: its levels, or the pairs of a level and an opponent."""
        each = len(training.spec.cases) // len(training.spec.levels)
        return cls(len(training.spec.cases), each * len(training.validation.levels))

    def first_generation(self, settings: EvolutionSettings) -> int:
        """Playthroughs that the first generation asks for, roughly; later ones ask for fewer."""
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
        return round(plays) + settings.islands * (settings.elites + 1) * self.validation

    @property
    def ending(self) -> int:
        """Playthroughs of the end without the tuning."""
        return tuning.race_size(self.validation) + self.measuring

    @property
    def measuring(self) -> int:
        """Playthroughs in which the final policy is measured."""
        return (1 + MEASURED) * self.validation


def trials_beside_others(settings: EvolutionSettings, levels: int) -> int:
    """Trials of each of so many held-out levels, so that many levels do not take all night."""
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
    """The best of the hall on drawn levels, with tuned constants, and what it scores on the validation set.

    Args:
        hall: best first; of a first generation that could not be finished nobody has a validation.
        fitness: plays the levels to train on and those to compare on behind them.
        played: playthroughs of the run so far, of which the tuning gets its share.
        until: moment on `time.monotonic` by which to know; the tuning ends early where there has to be an end.
    """
    cases = CaseCounts.of(training)
    better = selection.better(settings)
    best, cut = min(hall, key=lambda i: (-len(i.utilities), *better(i))), False
    if best.validation:
        fitness.stop = None if until is None else until - fitness.seconds(cases.measuring)
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
    """The best of the hall with tuned constants, and whether the time was up before that was done."""

    def show(name: str, done: int, total: int) -> None:
        left = fitness.seconds(total - done)
        if fitness.stop is not None:
            left = max(0.0, min(left, fitness.stop - time.monotonic()))
        if tell and total:
            tell(Phase(name, done, total, left))

    meeting = cases.ending - cases.measuring
    show("comparing the finalists", 0, meeting)
    try:
        best = tuning.finalist(hall, settings, seed, cases.train, fitness)
        show("comparing the finalists", meeting, meeting)
        primitives = Primitives.of(settings, symbols_of(settings, training.spec))
        for step in tuning.steps(
            best, settings, seed, primitives, cases.train, cases.validation, fitness, playthroughs
        ):
            best = step.best
            fitness.check()
            show("tuning the constants", min(step.spent, playthroughs - 1), playthroughs)
    except OutOfTime:
        return best, True
    show("tuning the constants", playthroughs, playthroughs)
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
    """The winner, played again on the validation set and on drawn levels, or as measured if no time is left."""
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
