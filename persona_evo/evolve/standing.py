"""Estimates the fitness of individuals that have played different numbers of levels.

The utility of an individual in a level is taken as the level's mean, plus the effect of the individual, plus chance.
Levels differ much more than good individuals do, so means over different levels cannot be compared. The effects are
shrunk toward 0 (best linear unbiased prediction: Henderson 1975), the more, the fewer levels an individual has played,
so that the best of many is not the one that was lucky on a few.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum

PRIOR = 30
"""The number of levels after which half of a difference is believed.

It is the variance of an individual's results around the means of levels (about .07 squared) as a multiple
of the variance of good individuals (about .012 squared), measured in MiniDungeons 2.
"""
_ROUNDS = 20
"""The rounds of the alternating estimation, after which it changes little."""


def estimates(played: Sequence[Mapping[Hashable, float]]) -> list[float]:
    """Return the estimated mean utility of each individual over all levels that any of them has played.

    Args:
        played: the utility in each level played, for each individual.
    """
    levels: dict[Hashable, list[int]] = {}
    for i, results in enumerate(played):
        for level in results:
            levels.setdefault(level, []).append(i)
    effects = [0.0] * len(played)
    means: dict[Hashable, float] = {}
    for _ in range(_ROUNDS):
        means = {
            level: fsum(played[i][level] - effects[i] for i in those) / len(those) for level, those in levels.items()
        }
        effects = [
            fsum(utility - means[level] for level, utility in results.items()) / (len(results) + PRIOR)
            for results in played
        ]
    middle = fsum(means.values()) / max(1, len(means))
    return [middle + effect for effect in effects]
