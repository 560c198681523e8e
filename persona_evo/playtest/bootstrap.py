"""Compares methods that choose something anew in each run, by what they chose on the same levels.

Both runs and levels are samples, so both are resampled: intervals cover other runs on other levels.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from persona_evo.intervals import Interval

REPLICATES = 10_000

Matrix = Sequence[Sequence[float]]
"""Values by [run][level]; a single row for a method without runs."""


def difference(a: Matrix, b: Matrix, seed: int = 0, level: float = 0.95, replicates: int = REPLICATES) -> Interval:
    """Return the difference of two means over runs and levels, a - b, with its percentile bootstrap interval.

    Runs of `a` and `b` are resampled independently; levels are resampled jointly. The difference is therefore paired by
    level, and by seed if both were played with the same seeds.

    Args:
        a, b: values over the same levels; all finite.
        seed: the seed of the resampling.
        level: confidence level.
        replicates: number of bootstrap replicates.

    Returns:
        The difference; n is the number of levels.

    Raises:
        ValueError: no runs, no levels, or different levels.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or not x.size or not y.size or x.shape[1] != y.shape[1]:
        raise ValueError(f"matrices of {x.shape} and {y.shape}")
    levels = _weights((seed, 0), x.shape[1], replicates)
    drawn = [(_weights((seed, k), len(m), replicates) @ m * levels).sum(axis=1) for k, m in ((1, x), (2, y))]
    low, high = np.quantile(drawn[0] - drawn[1], [(1 - level) / 2, (1 + level) / 2])
    value = float(x.mean() - y.mean())
    return Interval(value, min(value, float(low)), max(value, float(high)), x.shape[1])


def fewer(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> float:
    """Return the one-sided p value of Fisher's exact test: how likely so few successes of `a` are at equal rates."""
    for k, n in ((successes_a, trials_a), (successes_b, trials_b)):
        if not 0 <= k <= n:
            raise ValueError(f"{k} successes of {n} trials")
    together, count = successes_a + successes_b, trials_a + trials_b
    ways = [math.comb(trials_a, k) * math.comb(trials_b, together - k) for k in range(min(successes_a, together) + 1)]
    return sum(ways) / math.comb(count, together)


@functools.lru_cache(maxsize=8)
def _weights(seed: tuple[int, int], count: int, replicates: int) -> NDArray[np.float64]:
    """Return float64[replicates, count]: the share of each item in a sample drawn with replacement."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(count, np.full(count, 1 / count), size=replicates) / count
