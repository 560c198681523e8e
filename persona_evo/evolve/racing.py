"""Evaluates a generation by a race on drawn levels, in which the worse half of each island repeatedly drops out.

All individuals play the first few levels. Then the worse half of each island stops, and again whenever twice as many
levels have been played (successive halving: Jamieson and Talwalkar 2016), so that many candidates cost little.
Individuals that do not finish do not breed. Those at least as good as the worst elite then play the validation set,
which is the same in all generations. Elites and the hall of fame are chosen by it, since results on the levels of two
generations cannot be compared. As a validation set is small, and the luckiest of many look good on it, elites prove
themselves: in each generation they play as many more levels, taken from those to train on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import fsum

from persona_evo import seeds
from persona_evo.evolve import selection
from persona_evo.evolve.duplicates import EvaluationCache
from persona_evo.evolve.records import EvolutionState, Individual, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.standing import estimates

FEWEST = 4
"""The number of individuals of an island that always play on."""

Ask = Callable[[Sequence[Request]], list[list[float]]]


def race(
    settings: EvolutionSettings, seed: int, state: EvolutionState, levels: int, validation: int, ask: Ask
) -> list[int]:
    """Give all individuals of a generation their utilities, and the best ones their validation.

    Args:
        state: the state whose islands hold the generation; elites are those that already have a validation.
        levels: the number of levels to draw from.
        validation: the number of levels that follow them.
        ask: a function that has requests played.

    Returns:
        The number of formulas of each island that played.
    """
    drawn = draw(settings, seed, state.generation, levels)
    better = selection.better(settings)
    running: list[list[Individual]] = []
    memory = EvaluationCache(state.memory, settings.memory)
    for island in state.islands:
        for individual in island.individuals:
            if not individual.validation:
                individual.born = state.generation
            individual.utilities, individual.trials = [], 1
            memory.keep(individual.key, individual.validation, 1)
        running.append(list(island.individuals))
    counts = [len({i.key for i in island}) for island in running]
    done = 0
    for rung in rungs(settings, len(drawn.cases)):
        if done:
            running = [_better_half(island, better) for island in running]
        _play(running, drawn, done, rung, ask)
        done = rung
    _validate(settings, seed, running, levels, validation, ask, memory)
    _rank(state)
    _prove(settings, seed, state, levels, validation, ask)
    return counts


def rungs(settings: EvolutionSettings, levels: int) -> list[int]:
    """Return the numbers of levels after which the worse half stops. The last one is the number of all levels."""
    found, rung = [], settings.race_from or levels
    while rung < levels:
        found.append(rung)
        rung *= 2
    return [*found, levels]


def draw(settings: EvolutionSettings, seed: int, generation: int, levels: int) -> Request:
    """Return what a generation plays, without a formula: levels, their seeds, and their shares of the budget."""
    count = min(settings.levels_a_generation, levels)
    cases = random.Random(seeds.derive(seed, "levels", generation)).sample(range(levels), count)
    shares = [settings.budgets[i % len(settings.budgets)] for i in range(count)] if settings.budgets else []
    plan = tuple(
        tuple(seeds.derive(seed, "play", generation, "level", case, trial) for trial in range(settings.trials))
        for case in cases
    )
    return Request("", plan, tuple(cases), tuple(shares))


def part(drawn: Request, formula: str, first: int, end: int) -> Request:
    """Return the request for a formula to play a draw's levels from `first` up to, but not including, `end`."""
    return Request(formula, drawn.seeds[first:end], drawn.cases[first:end], drawn.shares[first:end])


def validating(formula: str, seed: int, levels: int, validation: int, first: int, end: int) -> Request:
    """Return the request for a formula to play the levels of comparisons from `first` up to, but not including, `end`.

    These are the validation levels, numbered after the `levels` to train on, then those in an order of the run's own,
    again and again with new seeds.
    """
    order = random.Random(seeds.derive(seed, "proof")).sample(range(levels), levels) if end > validation else []
    cases, own = [], []
    for number in range(first, end):
        round_, place = divmod(number - validation, levels)
        case = levels + number if number < validation else order[place]
        cases.append(case)
        own.append((seeds.derive(seed, "validation", case, *([round_] if round_ > 0 else [])),))
    return Request(formula, tuple(own), tuple(cases))


def _play(running: Sequence[Sequence[Individual]], drawn: Request, first: int, end: int, ask: Ask) -> None:
    """Let all running individuals play some levels. Duplicates play once."""
    sharing: dict[str, list[Individual]] = {}
    for island in running:
        for individual in island:
            sharing.setdefault(individual.key, []).append(individual)
    answers = ask([part(drawn, same[0].formula, first, end) for same in sharing.values()])
    for same, utilities in zip(sharing.values(), answers, strict=True):
        for individual in same:
            individual.utilities = [*individual.utilities, *utilities]


def _better_half(island: Sequence[Individual], better: Callable[[Individual], tuple[float, int]]) -> list[Individual]:
    """Return the elites, and the better half of the others."""
    others = sorted((i for i in island if not i.validation), key=better)
    return [*(i for i in island if i.validation), *others[: max(FEWEST, (len(others) + 1) // 2)]]


def _validate(
    settings: EvolutionSettings,
    seed: int,
    running: Sequence[Sequence[Individual]],
    levels: int,
    validation: int,
    ask: Ask,
    memory: EvaluationCache,
) -> None:
    """Play the best on the validation set. Those behind the worst elite after a third of it stop."""
    better = selection.better(settings)
    chosen: dict[str, list[Individual]] = {}
    bars: dict[str, float] = {}
    third = max(1, validation // 3)
    for island in running:
        elites = [i for i in island if i.validation]
        full = len(elites) >= settings.elites > 0
        bar = max(map(better, elites)) if full else None
        best = [i for i in sorted(island, key=better) if not i.validation and (bar is None or better(i) <= bar)]
        for individual in best[: settings.elites + 1]:
            chosen.setdefault(individual.key, []).append(individual)
            bars[individual.key] = min(fsum(i.validation[:third]) for i in elites) if full else float("-inf")
    firsts = ask([validating(same[0].formula, seed, levels, validation, 0, third) for same in chosen.values()])
    left = {key: first for (key, first) in zip(chosen, firsts, strict=True) if fsum(first) >= bars[key]}
    rest = ask([validating(chosen[key][0].formula, seed, levels, validation, third, validation) for key in left])
    for key, more in zip(left, rest, strict=True):
        values = [*left[key], *more]
        for individual in chosen[key]:
            individual.validation = list(values)
        memory.keep(key, values, 1)


def _rank(state: EvolutionState, proven: Sequence[Individual] = ()) -> None:
    """Estimate how good all those are that have a validation, the hall of fame included.

    Args:
        proven: copies of some of them, which have played more levels.
    """
    known = [*(i for island in state.islands for i in island.individuals if i.validation), *state.hall, *proven]
    longest: dict[str, Individual] = {}
    for individual in known:
        if len(individual.validation) > len(longest.setdefault(individual.key, individual).validation):
            longest[individual.key] = individual
    found = estimates([dict(enumerate(one.validation)) for one in longest.values()])
    standing = dict(zip(longest, found, strict=True))
    for individual in known:
        individual.validation = list(longest[individual.key].validation)
        individual.standing = standing[individual.key]
    state.hall = [one.validated() for one in state.hall]


def _prove(
    settings: EvolutionSettings, seed: int, state: EvolutionState, levels: int, validation: int, ask: Ask
) -> None:
    """Let those that would be elites play more levels."""
    chosen = [one for island in state.islands for one in selection.elites(island.individuals, settings)]
    short = {one.key: one for one in chosen if len(one.validation) < settings.proof}
    parts = [
        validating(
            one.formula,
            seed,
            levels,
            validation,
            len(one.validation),
            min(settings.proof, len(one.validation) + validation),
        )
        for one in short.values()
    ]
    for one, more in zip(short.values(), ask(parts), strict=True):
        one.validation += more
    _rank(state, list(short.values()))
