"""Selection: who may breed, and who survives. Every draw comes from the given stream.

Other packages add ways to choose who breeds as `SelectionOperator`.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError
from persona_evo.evolve import genome
from persona_evo.evolve.records import Individual
from persona_evo.evolve.setting_values import POOLS
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.extensions import Extension

_BITS = 100
"""The bits of a description that cost `EvolutionSettings.parsimony`."""

Select = Callable[[Sequence[Individual], EvolutionSettings, random.Random], Sequence[Individual]]


@checked_fields()
@dataclass(frozen=True)
class SelectionOperator(Extension):
    """A selection of parents that another package adds. Its name is a value of `EvolutionSettings.pool`.

    Attributes:
        select: a function that returns the mating pool: at least one of the candidates, each any number of times. It
            takes the candidates of an island, which all have `fitness` and `utilities` (one for each level), the
            settings, and the stream for all random draws. It leaves the candidates unchanged.
        help: one line on who may breed.
    """

    group: ClassVar[str] = "persona_evo.selections"
    noun: ClassVar[str] = "selection of parents"

    select: Select
    help: str = ""


_description_length = functools.lru_cache(maxsize=10_000)(genome.description_length)


def better(settings: EvolutionSettings) -> Callable[[Individual], tuple[float, int]]:
    """Return a sort key that puts the best first: by fitness minus the cost of the description, then by size.

    Size counts only if small individuals are preferred. Equal individuals keep their order.
    """
    if not settings.parsimony:
        return lambda i: (-i.fitness, i.size if settings.prefer_small else 0)
    cost = settings.parsimony / _BITS
    return lambda i: (cost * _description_length(i.formula) - i.fitness, i.size if settings.prefer_small else 0)


def elites(candidates: Sequence[Individual], settings: EvolutionSettings) -> list[Individual]:
    """Return copies of the best individuals; of different ones if duplicates are recognised.

    If there is a validation set, these are the best on it.
    """
    chosen: list[Individual] = []
    seen: set[str] = set()
    key = better(settings)
    if settings.levels_a_generation:
        candidates = [i for i in candidates if i.validation]
        order = sorted(candidates, key=lambda i: key(i.validated()))
    else:
        order = sorted(candidates, key=key)
    for individual in order:
        if len(chosen) == settings.elites:
            break
        if settings.duplicates != "off" and individual.key in seen:
            continue
        seen.add(individual.key)
        chosen.append(individual.copy())
    return chosen


def mating_pool(
    candidates: Sequence[Individual], settings: EvolutionSettings, stream: random.Random
) -> list[Individual]:
    """Return the individuals that breed, later with equal chances; one may be in the pool several times.

    Raises:
        SettingsError: the selection of another package fails, or returns something else.
    """
    if settings.pool not in POOLS:
        return _pool_from_outside(candidates, settings, stream)
    if settings.pool == "top5":
        return sorted(candidates, key=better(settings))[: settings.pool_size]
    n = settings.island_size
    if settings.pool == "lexicase":
        return lexicase(candidates, n, stream)
    if settings.pool == "rank":
        ranks = mean_ranks(candidates)
        order = sorted(range(len(candidates)), key=lambda i: (ranks[i], better(settings)(candidates[i])))
    else:
        order = sorted(range(len(candidates)), key=lambda i: better(settings)(candidates[i]))
    return [candidates[i] for i in tournaments(order, n, settings.tournament, stream)]


def _pool_from_outside(
    candidates: Sequence[Individual], settings: EvolutionSettings, stream: random.Random
) -> list[Individual]:
    """Return the mating pool chosen by an operator of another package."""
    operator = extensions.load(SelectionOperator, settings.pool)
    what = f"the selection {settings.pool!r} does not choose parents"
    with extensions.guarded(what):
        pool = list(operator.select(tuple(candidates), settings, stream))
    known = set(map(id, candidates))
    strange = [one for one in pool if id(one) not in known]
    if strange or not pool:
        raise SettingsError(what, found=repr(strange or pool)[:80], expected="at least one of the candidates")
    return pool


def tournaments(order: Sequence[int], n: int, size: int, stream: random.Random) -> list[int]:
    """Return n winners of tournaments among `size` contestants drawn with replacement. `order` has the best first."""
    return [order[min(stream.randrange(len(order)) for _ in range(size))] for _ in range(n)]


def mean_ranks(candidates: Sequence[Individual]) -> list[float]:
    """Return each individual's rank, averaged over levels. 0 is best, and equals share their mean rank."""
    n = len(candidates)
    totals = [0.0] * n
    levels = len(candidates[0].utilities)
    for level in range(levels):
        values = [c.utilities[level] for c in candidates]
        order = sorted(range(n), key=lambda i: -values[i])
        start = 0
        while start < n:
            end = start
            while end < n and values[order[end]] == values[order[start]]:
                end += 1
            for i in order[start:end]:
                totals[i] += (start + end - 1) / 2
            start = end
    return [t / levels for t in totals]


def lexicase(candidates: Sequence[Individual], n: int, stream: random.Random) -> list[Individual]:
    """Return n individuals chosen by epsilon-lexicase selection (La Cava, Spector and Danai 2016).

    Levels are taken in random order. Each keeps the individuals within its epsilon of the best one left, where epsilon
    is the median distance of all candidates from the level's median.
    """
    levels = range(len(candidates[0].utilities))
    epsilon = [_spread([c.utilities[level] for c in candidates]) for level in levels]
    chosen = []
    for _ in range(n):
        order = list(levels)
        stream.shuffle(order)
        left = list(range(len(candidates)))
        for level in order:
            if len(left) == 1:
                break
            bar = max(candidates[i].utilities[level] for i in left) - epsilon[level]
            left = [i for i in left if candidates[i].utilities[level] >= bar]
        chosen.append(candidates[left[stream.randrange(len(left))]])
    return chosen


def _spread(values: Sequence[float]) -> float:
    middle = _median(values)
    return _median([abs(v - middle) for v in values])


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
