"""Student's t distribution, by the incomplete beta function, in plain Python."""

from __future__ import annotations

import functools
import math

_TINY = 1e-300
_PRECISION = 1e-16
_MAX_TERMS = 20_000


def incomplete_beta(a: float, b: float, x: float, rest: float | None = None) -> float:
    """The regularized incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1].

    rest: 1 - x, where the caller knows it more exactly than a subtraction gives.
    Continued fraction 8.17.22 of the NIST Digital Library of Mathematical Functions, summed by Lentz's method.
    """
    rest = 1.0 - x if rest is None else rest
    if x <= 0.0:
        return 0.0
    if rest <= 0.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, rest, x)
    power = a * math.log(x) + b * (math.log(rest) if rest < 0.5 else math.log1p(-x)) - _log_beta(a, b)
    return math.exp(power) / a / _fraction(a, b, x)


def _log_beta(a: float, b: float) -> float:
    """log B(a, b). Where one argument is large, the difference of two log gammas is taken from Stirling's series."""
    small, large = min(a, b), max(a, b)
    if large < 100:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    if small < 100:
        return math.lgamma(small) + _stirling(large) - _stirling(large + small) + _power_difference(large, small)
    total = a + b
    return (
        (a - 0.5) * math.log(a / total) + b * math.log(b / total) - 0.5 * math.log(b)
        + 0.5 * math.log(2 * math.pi) + _stirling(a) + _stirling(b) - _stirling(total)
    )


def _power_difference(large: float, small: float) -> float:
    """((large - 1/2) log large - large) less the same at large + small, without cancellation."""
    return -(large - 0.5) * math.log1p(small / large) - small * math.log(large + small) + small


def _stirling(x: float) -> float:
    """log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 100 (NIST 5.11.1)."""
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction's value 1 + d1/(1 + d2/(1 + ...))."""
    value = c = 1.0
    d = 0.0
    for m in range(_MAX_TERMS):
        if m:
            even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            d = 1.0 / _away(1.0 + even * d)
            c = _away(1.0 + even / c)
            value *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / _away(1.0 + odd * d)
        c = _away(1.0 + odd / c)
        value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def student_two_sided(t: float, df: float) -> float:
    """Probability that a Student t variable of `df` > 0 degrees of freedom is at least |t| away from 0."""
    if math.isinf(t):
        return 0.0
    ratio = t / math.sqrt(df)
    if abs(ratio) > 1e150:
        return 0.0
    square = ratio * ratio
    return incomplete_beta(df / 2, 0.5, 1 / (1 + square), square / (1 + square))


@functools.lru_cache(maxsize=1024)
def student_quantile(p: float, df: float) -> float:
    """The value below which a Student t variable lies with probability p in (0, 1), by bisection."""
    if not 0.0 < p < 1.0:
        raise ValueError(f"p is {p}, expected above 0 and below 1")
    if p < 0.5:
        return -student_quantile(1.0 - p, df)
    outside = 2 * (1.0 - p)
    low, high = 0.0, 1.0
    while student_two_sided(high, df) > outside:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if student_two_sided(middle, df) > outside:
            low = middle
        else:
            high = middle
