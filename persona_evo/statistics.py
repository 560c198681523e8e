"""Intervals, effect sizes, tests and correlations, with defined results for constant and tiny samples: never NaN.

Every test returns a `Test`. Its `note` says why a p value is not the usual one:

| case | p | note |
|---|---|---|
| a sample has fewer values than the test needs | 1 | "too few values" |
| all values of both samples are the same | 1 | "no variation" |
| each sample is constant, the constants differ | that of the exact test (see `_apart`) | "no variation" |
| a correlation with a constant sample | 1, r = 0 | "no variation" |

Values have to be finite; otherwise ValueError is raised. SciPy computes the distributions; it is slow to
import and loaded by the first interval or test that needs it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from persona_evo.intervals import NEAR, Floats, Values, finite, scaled, vargha_delaney, welch_df
from persona_evo.words import counted

ALPHA = 0.05
"""Significance level: a difference counts if its p value is below this."""

TOO_FEW = "too few values"
NO_VARIATION = "no variation"


_TIED = 1e-7
"""Relative difference of probabilities below which two results count as equally likely."""

_EXACT, _WHOLE, _COUNTED, _SIGNED = 8, 2**53, 4000, 50
"""Limits of exact tests: values of the smaller sample and orders for ranks, trials for tables counted here, and pairs
of the signed-rank test.
"""


class Test(NamedTuple):
    """The result of a test.

    Attributes:
        statistic: the test's statistic.
        p: the two-sided p value.
        df: the degrees of freedom, if it has them.
        note: why p is not the usual one (see module).
    """

    statistic: float
    p: float
    df: float = 0.0
    note: str = ""


class Correlation(NamedTuple):
    """A correlation coefficient in [-1, 1] with the p value of the hypothesis that there is no correlation."""

    r: float
    p: float
    n: int
    note: str = ""


def welch(a: Values, b: Values) -> Test:
    """Perform Welch's t test of two means with unequal variances, two-sided (Welch 1947, Biometrika 34:28).

    The statistic is positive if `a` is larger; it is infinite if two different constants are compared.
    """
    x, y = finite(a), finite(b)
    if len(x) < 2 or len(y) < 2:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    if x.min() == x.max() and y.min() == y.max():
        if x[0] == y[0]:
            return Test(0.0, 1.0, 0.0, NO_VARIATION)
        return Test(math.copysign(math.inf, x[0] - y[0]), _apart(len(x), len(y)), 0.0, NO_VARIATION)
    (x, y), _, _ = scaled(x, y)
    u, v = float(x.var(ddof=1)) / len(x), float(y.var(ddof=1)) / len(y)
    difference = float(x.mean() - y.mean())
    if u + v == 0.0:  # the variation is so small relative to the difference that their ratio overflows
        return Test(math.copysign(math.inf, difference), _apart(len(x), len(y)), 0.0, NO_VARIATION)
    t = difference / math.sqrt(u + v)
    df = welch_df(u, v, len(x), len(y))
    return Test(t, _two_sided(t, df), df)


def student(a: Values, known: float) -> Test:
    """Perform Student's t test of a mean against a known value, two-sided.

    If the sample is a constant other than the known value, p is that of the sign test: 2^(1 - n).
    """
    x = finite(a)
    if len(x) < 2:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    if x.min() == x.max():
        if math.isclose(x[0], known, rel_tol=NEAR, abs_tol=NEAR):
            return Test(0.0, 1.0, 0.0, NO_VARIATION)
        return Test(math.copysign(math.inf, x[0] - known), 2.0 ** (1 - len(x)), 0.0, NO_VARIATION)
    (x, at), _, _ = scaled(x, finite([known]))
    deviation = float(x.std(ddof=1)) / math.sqrt(len(x))
    difference = float(x.mean() - at[0])
    t = difference / deviation if deviation else math.copysign(math.inf, difference)
    return Test(t, _two_sided(t, len(x) - 1), len(x) - 1)


def binomial(successes: int, trials: int, known: float) -> Test:
    """Perform the exact binomial test of a rate against a known one, two-sided: all results no likelier than this one.

    The statistic is the difference of the rates. Against a known 0 or 1, any other result certainly has another rate.
    """
    if trials == 0:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    difference = successes / trials - known
    if known in (0.0, 1.0):
        return Test(difference, float(difference == 0), 0.0, NO_VARIATION if difference == 0 else "")
    from scipy.special import gammaln

    counts = np.arange(trials + 1)
    chances = np.exp(
        gammaln(trials + 1)
        - gammaln(counts + 1)
        - gammaln(trials - counts + 1)
        + counts * math.log(known)
        + (trials - counts) * math.log1p(-known)
    )
    likelier = chances > chances[successes] * (1 + _TIED)
    p, rest = float(chances[~likelier].sum()), float(chances[likelier].sum())
    return Test(difference, min(1.0, p if p < 0.5 else 1.0 - rest))


def mann_whitney(a: Values, b: Values) -> Test:
    """Perform the Mann-Whitney rank test, two-sided (Mann and Whitney 1947, Ann. Math. Stat. 18:50).

    The statistic is U of `a`: the number of pairs in which `a` is larger; ties count half. The p value is exact if the
    smaller sample has at most 8 values and there are no ties; otherwise it is the normal approximation with the
    correction for ties and for continuity.
    """
    x, y = finite(a), finite(b)
    n, m = len(x), len(y)
    if n == 0 or m == 0:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    if x.min() == x.max() and y.min() == y.max():
        u = n * m * vargha_delaney(x, y).value
        return Test(u, 1.0 if x[0] == y[0] else _apart(n, m), 0.0, NO_VARIATION)
    both = np.concatenate([x, y])
    u = float(_ranks(both)[:n].sum()) - n * (n + 1) / 2
    larger = max(u, n * m - u)
    _, ties = np.unique(both, return_counts=True)
    if min(n, m) <= _EXACT and int(ties.max()) == 1 and math.comb(n + m, n) < _WHOLE:
        orders = _orders(n, m)
        return Test(u, min(1.0, 2 * float(orders[round(larger) :].sum()) / math.comb(n + m, n)))
    if min(n, m) <= _EXACT and int(ties.max()) == 1:
        from scipy.stats import mannwhitneyu

        return Test(u, float(mannwhitneyu(x, y).pvalue))
    from scipy.special import ndtr

    count = n + m
    spread = math.sqrt(n * m / 12 * (count + 1 - float((ties**3.0 - ties).sum()) / (count * (count - 1))))
    return Test(u, min(1.0, 2 * float(ndtr((n * m / 2 + 0.5 - larger) / spread))))


def _orders(n: int, m: int) -> Floats:
    """Count the orders of n and m values for each U from 0 to n m: float64[n m + 1], whole numbers."""
    found = np.zeros(n * m + 1)
    found[0] = 1.0
    for i in range(1, n + 1):  # the coefficients of a Gaussian binomial: times 1 - x^(m+i), by 1 - x^i
        found[m + i :] -= found[: max(0, n * m + 1 - m - i)].copy()
        for start in range(i):
            found[start::i] = np.cumsum(found[start::i])
    return found


def wilcoxon(differences: Values) -> Test:
    """Perform the signed-rank test of paired values, two-sided (Wilcoxon 1945, Biometrics Bull. 1:80).

    Pairs without a difference are left out. The statistic is the sum of the ranks of the positive differences; equal
    distances share their mean rank. With at most 50 pairs that differ, p is exact, ties included; otherwise it is the
    normal approximation with the corrections for ties and for continuity.

    Args:
        differences: the difference of each pair.
    """
    x = finite(differences)
    if len(x) == 0:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    x = x[x != 0]
    count = len(x)
    if count == 0:
        return Test(0.0, 1.0, 0.0, NO_VARIATION)
    ranks = _ranks(np.abs(x))
    positive, total = float(ranks[x > 0].sum()), count * (count + 1) / 2
    larger = max(positive, total - positive)
    if count <= _SIGNED:
        ways = np.zeros(2 * round(total) + 1)  # by twice the sum of the positive ranks, which is a whole number
        ways[0] = 1.0
        for step in np.rint(2 * ranks).astype(int):
            ways[step:] += ways[:-step].copy()
        return Test(positive, min(1.0, 2 * float(ways[round(2 * larger) :].sum()) / 2.0**count))
    from scipy.special import ndtr

    _, ties = np.unique(np.abs(x), return_counts=True)
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24 - float((ties**3.0 - ties).sum()) / 48)
    return Test(positive, min(1.0, 2 * float(ndtr((total / 2 + 0.5 - larger) / spread))))


def fewest_pairs(family: int, alpha: float = ALPHA) -> int:
    """Return the fewest pairs whose difference can be significant by the signed-rank test, among `family` tests."""
    return math.floor(1 - math.log2(alpha / max(1, family))) + 1


def too_few_pairs(count: int, family: int) -> str:
    """Return a sentence if no difference between so few pairs of levels can be significant among `family` tests."""
    needed = fewest_pairs(family)
    if count >= needed:
        return ""
    return f"{counted(count, 'pair')} of levels are too few to see any difference; it takes at least {needed}"


def fisher(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> Test:
    """Perform Fisher's exact test of two rates, two-sided: all tables with these margins no likelier than this one.

    The statistic is the difference of the rates, a - b.
    """
    for k, n in ((successes_a, trials_a), (successes_b, trials_b)):
        if not 0 <= k <= n:
            raise ValueError(f"{k} successes of {n} trials")
    if trials_a == 0 or trials_b == 0:
        return Test(0.0, 1.0, 0.0, TOO_FEW)
    difference = successes_a / trials_a - successes_b / trials_b
    if successes_a + successes_b in (0, trials_a + trials_b):
        return Test(difference, 1.0, 0.0, NO_VARIATION)
    together = successes_a + successes_b
    if trials_a + trials_b > _COUNTED:
        from scipy.stats import fisher_exact

        table = [[successes_a, trials_a - successes_a], [successes_b, trials_b - successes_b]]
        return Test(difference, min(1.0, float(fisher_exact(table).pvalue)))
    ways = {
        k: math.comb(trials_a, k) * math.comb(trials_b, together - k)
        for k in range(max(0, together - trials_b), min(trials_a, together) + 1)
    }
    return Test(difference, sum(w for w in ways.values() if w <= ways[successes_a]) / sum(ways.values()))


def _apart(n: int, m: int) -> float:
    """Return p of two constant samples: the probability that n and m values are separated in this way by chance.

    This is the exact test of which sample has which value. A t test does not apply, since there is no spread to compare
    with: its p would be 0 for any two values.
    """
    return (2 if n == m else 1) / math.comb(n + m, n)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down method (Holm 1979, Scand. J. Stat. 6:65).

    The corrected values are in the order of the given ones.
    """
    count = len(p_values)
    corrected = [0.0] * count
    largest = 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def pearson(a: Values, b: Values) -> Correlation:
    """Return Pearson's correlation; p comes from t = r sqrt((n - 2) / (1 - r^2)) with n - 2 degrees of freedom.

    With fewer than 3 pairs r has no meaning, and p is 1.
    """
    x, y = finite(a), finite(b)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values against {len(y)}")
    n = len(x)
    if n < 2:
        return Correlation(0.0, 1.0, n, TOO_FEW)
    if x.min() == x.max() or y.min() == y.max():
        return Correlation(0.0, 1.0, n, NO_VARIATION)
    (x,), _, _ = scaled(x)
    (y,), _, _ = scaled(y)
    x, y = x - x.mean(), y - y.mean()
    x, y = x / math.sqrt(float(x @ x)), y / math.sqrt(float(y @ y))
    sign = math.copysign(1.0, float(x @ y))
    apart = x - sign * y
    missing = float(apart @ apart) / 2  # 1 - |r|, exact even if r is close to 1
    if missing < 1e-30:
        missing = 0.0
    r = sign * (1 - missing)
    if n < 3:
        return Correlation(r, 1.0, n, TOO_FEW)
    rest = missing * (2 - missing)
    if rest <= 0:
        return Correlation(r, 0.0, n)
    return Correlation(r, _two_sided(r * math.sqrt((n - 2) / rest), n - 2), n)


def spearman(a: Values, b: Values) -> Correlation:
    """Return Spearman's rank correlation: Pearson's of the ranks, with its t approximation.

    Ties share their mean rank.
    """
    x, y = finite(a), finite(b)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values against {len(y)}")
    if len(x) < 2:
        return Correlation(0.0, 1.0, len(x), TOO_FEW)
    return pearson(_ranks(x), _ranks(y))


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: Floats = (np.cumsum(counts) - (counts - 1) / 2)[which]
    return shared


def _two_sided(t: float, df: float) -> float:
    """Return the probability that a Student t variable is at least as far from 0 as t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(df, -abs(t)))
