"""Estimates with their confidence intervals: rates, means, differences, and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

FEWEST = 5
"""With fewer values, Student's interval of a mean may reach far beyond the possible range; then what is left of it says
little and is not shown."""


NEAR = 1e-12
"""Relative difference below which two numbers count as equal."""


Floats = NDArray[np.float64]


Values = Sequence[float] | Floats


class Interval(NamedTuple):
    """An estimate with its confidence interval. With one value the spread is unknown: low = high = value.

    Attributes:
        value: the estimate.
        low, high: the ends of the interval.
        n: number of values.
        note: why there is no interval although the value is certain, "" for a usual estimate.
    """

    value: float
    low: float
    high: float
    n: int
    note: str = ""

    @classmethod
    def exact(cls, value: float, note: str) -> Self:
        """Return a value that is not an estimate."""
        return cls(value, value, value, 1, note)

    @property
    def half(self) -> float:
        """Half the interval's width: the number after the plus-minus sign."""
        return (self.high - self.low) / 2

    @property
    def known(self) -> bool:
        """Whether there is an interval: the mean of one value has none, a rate of one trial has one."""
        return self.n > 1 or self.low < self.high

    @property
    def symmetric(self) -> bool:
        """Whether both ends are equally far from the value, as before `within` cuts one off."""
        return abs((self.high - self.value) - (self.value - self.low)) <= 1e-9 * (self.high - self.low)

    @property
    def presentable(self) -> bool:
        """Whether the interval of a mean may be shown: one of few values may not if an end is cut off."""
        return self.known and (self.n >= FEWEST or self.symmetric)

    def within(self, low: float, high: float) -> Interval:
        """Return the interval, cut off at the ends of the range of its quantity.

        What lies beyond the range is impossible, so the interval covers the truth as often as before. A value outside
        the range, which a game may declare wrongly, keeps its interval.
        """
        if not low <= self.value <= high:
            return self
        return self._replace(low=max(self.low, low), high=min(self.high, high))

    @property
    def ends(self) -> tuple[float, float] | tuple[str, str]:
        """Low and high for a file, empty without an interval."""
        return (self.low, self.high) if self.known else ("", "")

    def text(self, digits: int) -> str:
        """Format value and half width with `digits` decimal places, or the ends if one is cut off.

        One value has no interval: 908 (one).
        """
        number = f"{self.value:.{digits}f}"
        if self.known and not self.symmetric:
            return f"{number} ({self.low:.{digits}f}–{self.high:.{digits}f})"
        return f"{number} ± {self.half:.{digits}f}" if self.known else f"{number} ({self.note or 'one'})"


def wilson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return a rate with its score interval (Wilson 1927, J. Am. Stat. Assoc. 22:209), always within [0, 1].

    Without trials, the rate is 0 and the interval is [0, 1].
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    return Interval(0.0, 0.0, 1.0, 0) if trials == 0 else score(successes / trials, trials, level)


def score(rate: float, trials: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval around a rate that is as certain as that of `trials` trials (at least one)."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    scale = 1 + z * z / trials
    middle = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    low = 0.0 if rate == 0 else max(0.0, middle - half)
    high = 1.0 if rate == 1 else min(1.0, middle + half)
    return Interval(rate, low, high, trials)


def mean_interval(values: Values, level: float = 0.95) -> Interval:
    """Return the mean with its Student t interval: mean +- t(level, n - 1) s / sqrt(n).

    Raises:
        ValueError: there are no values, or one is not finite.
    """
    x = finite(values)
    if len(x) == 0:
        raise ValueError("no values, so there is no mean")
    if x.min() == x.max():
        return Interval(float(x[0]), float(x[0]), float(x[0]), len(x))
    (z,), shift, scale = scaled(x)
    mean = float(z.mean())
    half = _quantile(len(x) - 1, 0.5 + level / 2) * math.sqrt(float(z.var(ddof=1)) / len(x))
    back = [shift + v * scale for v in (mean, mean - half, mean + half)]
    return Interval(back[0], back[1], back[2], len(x))


def clustered(groups: Sequence[Values], level: float = 0.95) -> Interval:
    """Return the mean of values in groups, with an interval for further groups of the same kind.

    Values of one group are not independent of each other, as playthroughs of one level are not. So the spread is that
    of the groups' means, each weighted by its size, with Student's t of one degree of freedom less than the number of
    groups.

    Returns:
        The mean of all values; n is the number of groups.

    Raises:
        ValueError: fewer than two groups, an empty one, or a value that is not finite.
    """
    if len(groups) < 2 or not all(len(group) for group in groups):
        raise ValueError("clusters are at least two groups with values")
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    means = np.array([mean_interval(group).value for group in groups])
    weights, count = sizes / sizes.sum(), len(groups)
    value = float(weights @ means)
    variance = count / (count - 1) * float((weights**2) @ (means - value) ** 2)
    half = _quantile(count - 1, 0.5 + level / 2) * math.sqrt(variance)
    return Interval(value, value - half, value + half, count)


def clustered_rate(groups: Sequence[tuple[float, int]], level: float = 0.95) -> Interval:
    """Return a rate over groups of trials, with Wilson's interval for the effective number of independent trials.

    That is the number whose variance is that of `clustered`, at least the number of groups and at most the number of
    trials. A rate of 0 or 1 is as certain as that of one trial per group.

    Args:
        groups: successes and trials of each group; at least two groups with trials. A success may count half.
    """
    successes, trials = (sum(column) for column in zip(*groups, strict=True))
    rate, count = successes / trials, len(groups)
    weights = [n / trials for _, n in groups]
    spread = math.fsum((w * (k / n - rate)) ** 2 for w, (k, n) in zip(weights, groups, strict=True))
    if rate in (0, 1):
        worth = count
    elif spread == 0:
        worth = trials
    else:
        worth = round(rate * (1 - rate) / (spread * count / (count - 1)))
    return score(rate, min(trials, max(count, worth)), level)


def share_higher(differences: Values, level: float = 0.95) -> Interval:
    """Return the share of pairs whose difference is above 0, with Wilson's interval; pairs without one count half.

    It is the effect size of paired values, as Vargha and Delaney's A is that of two groups.

    Args:
        differences: the difference of each pair, at least one.
        level: confidence level.
    """
    x = finite(differences)
    return score(float((x > 0).sum() + (x >= 0).sum()) / (2 * len(x)), len(x), level)


def vargha_delaney(a: Values, b: Values, level: float = 0.95) -> Interval:
    """Return Vargha and Delaney's A: the probability that a value of `a` exceeds one of `b`; ties count half.

    0.5 means that neither group tends to larger values; differences are called small from 0.56, medium from 0.64 and
    large from 0.71 on (or below 0.44, 0.36, 0.29; Vargha and Delaney 2000, J. Educ. Behav. Stat. 25:101). The interval
    is Newcombe's method 5 (2006, Stat. Med. 25:559), which never leaves [0, 1] and has a width even if A is 0 or 1.

    Returns:
        A with its interval; n is the size of the smaller group.

    Raises:
        ValueError: a group has no values, or one is not finite.
    """
    x, y = finite(a), np.sort(finite(b))
    n, m = len(x), len(y)
    if n == 0 or m == 0:
        raise ValueError("no values, so there is no effect size")
    below, not_above = np.searchsorted(y, x, "left"), np.searchsorted(y, x, "right")
    value = float((below + not_above).sum()) / (2 * n * m)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    others = (n + m) / 2 - 1

    def outside(theta: float) -> bool:
        spread = theta * (1 - theta) * (1 + others * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / (n * m)
        return abs(theta - value) > z * math.sqrt(spread)

    return Interval(value, _edge(0.0, value, outside), _edge(1.0, value, outside), min(n, m))


def _edge(far: float, near: float, outside: Callable[[float], bool]) -> float:
    """Find the end of an interval by bisection between a value that may lie outside of it and one that does not."""
    if not outside(far):
        return far
    for _ in range(50):
        middle = (far + near) / 2
        far, near = (middle, near) if outside(middle) else (far, middle)
    return near


def difference(a: Values, b: Values, level: float = 0.95) -> Interval:
    """Return the difference of the means of two groups, a - b, with Welch's t interval.

    Returns:
        The difference; n is the size of the smaller group. If a group has one value, its spread is unknown, and the
        interval is not `known`. The difference of two constants is constant: low = high = value.

    Raises:
        ValueError: a group has no values, or one is not finite.
    """
    x, y = finite(a), finite(b)
    fewest = min(len(x), len(y))
    if fewest == 0:
        raise ValueError("no values, so there is no difference")
    (x, y), _, scale = scaled(x, y)
    value = float(x.mean() - y.mean())
    if fewest == 1:
        return Interval(value * scale, value * scale, value * scale, 1)
    u, v = (0.0 if s.min() == s.max() else float(s.var(ddof=1)) / len(s) for s in (x, y))
    df = welch_df(u, v, len(x), len(y))
    half = _quantile(df, 0.5 + level / 2) * math.sqrt(u + v) if u + v else 0.0
    return Interval(value * scale, (value - half) * scale, (value + half) * scale, fewest)


def rate_difference(successes_a: int, trials_a: int, successes_b: int, trials_b: int, level: float = 0.95) -> Interval:
    """Return the difference of two rates, a - b.

    The interval is Newcombe's hybrid score interval (1998, Stat. Med. 17:873, method 10).

    Returns:
        The difference in [-1, 1]; n is the smaller number of trials. Without trials in one group, its rate counts as 0
        in [0, 1].

    Raises:
        ValueError: more successes than trials, or fewer than none.
    """
    a, b = wilson(successes_a, trials_a, level), wilson(successes_b, trials_b, level)
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Interval(value, max(-1.0, low), min(1.0, high), min(trials_a, trials_b))


def welch_df(u: float, v: float, n: int, m: int) -> float:
    """Return Welch's degrees of freedom for means of n and m values with squared standard errors u and v."""
    largest = max(u, v) or 1.0
    u, v = u / largest, v / largest
    return (u + v) ** 2 / (u * u / (n - 1) + v * v / (m - 1)) if u or v else n + m - 2.0


def finite(values: Values) -> Floats:
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise ValueError("a value is not finite")
    return x


def scaled(*samples: Floats) -> tuple[list[Floats], float, float]:
    """Shift and scale samples alike into [-1, 1], so that squares neither overflow nor vanish."""
    both = np.concatenate(samples)
    shift = float(both[0]) if float(both.max()) / 2 - float(both.min()) / 2 < 1e307 else 0.0
    scale = max(float(np.abs(both - shift).max()), 5e-324)
    return [(s - shift) / scale for s in samples], shift, scale


def _quantile(df: float, share: float) -> float:
    """Return the value below which a Student t variable lies with a probability of `share`."""
    from scipy.special import stdtrit

    return float(stdtrit(df, share))
