"""Interval rules: for each operation, the interval of its values if its operands lie in intervals.

Every rule is safe: the interval contains every value. Its ends are computed with the operation itself, whose rounding
is monotonic, so a bound that is reached is reached exactly. A direction is named only if it follows from the form.

A rule comes in two versions: over one interval (`Span`), which also gives the direction, and over arrays of intervals
(`Spans`). The latter takes the module numpy as its first argument, so that reading a formula does not load it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from persona_evo.formula import arithmetic
from persona_evo.formula.arithmetic import EXPONENT_LIMIT, LIMIT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Spans: TypeAlias = NDArray[np.float64]
    """Many intervals at once: the low ends and the high ends along the first axis, which has length 1 where they are
    equal."""

CONSTANT, RISING, FALLING, UNKNOWN = 0, 1, -1, 2
"""How a value changes with the chosen variable: it does not depend on it, never falls, never rises, or is unknown."""

ROUNDING = 2.0**-51
"""Four times the relative error of an operation."""

_SMALLEST_LOG = -746.0
"""A bound below the logarithm of the smallest positive number."""


class Span(NamedTuple):
    """A value between low and high (both included), and its direction in the chosen variable."""

    low: float
    high: float
    way: int = CONSTANT


def _back(way: int) -> int:
    return way if way == UNKNOWN else -way


def _both(a: int, b: int) -> int:
    """Return the direction of a value that rises with two parts."""
    if a in (CONSTANT, b):
        return b
    return a if b == CONSTANT else UNKNOWN


def _rising(apply: Callable[[float, float], float]) -> Callable[[Span, Span], Span]:
    """Return the rule of an operation that rises with both operands."""
    return lambda a, b: Span(apply(a.low, b.low), apply(a.high, b.high), _both(a.way, b.way))


def _rising_falling(apply: Callable[[float, float], float]) -> Callable[[Span, Span], Span]:
    """Return the rule of an operation that rises with the left operand and falls with the right one."""
    return lambda a, b: Span(apply(a.low, b.high), apply(a.high, b.low), _both(a.way, _back(b.way)))


def _falling_rising(apply: Callable[[float, float], float]) -> Callable[[Span, Span], Span]:
    """Return the rule of an operation that falls with the left operand and rises with the right one."""
    return lambda a, b: Span(apply(a.high, b.low), apply(a.low, b.high), _both(_back(a.way), b.way))


add = _rising(arithmetic.add)
smaller = _rising(arithmetic.smaller)
larger = _rising(arithmetic.larger)
sub = _rising_falling(arithmetic.sub)
gt = _rising_falling(arithmetic.gt)
ge = _rising_falling(arithmetic.ge)
lt = _falling_rising(arithmetic.lt)
le = _falling_rising(arithmetic.le)


def neg(x: Span) -> Span:
    """Return the interval of the negative."""
    return Span(-x.high, -x.low, _back(x.way))


def exp(x: Span) -> Span:
    """Return the interval of the exponential, one digit wider, since the library's may be off in the last one."""
    low, high = arithmetic.exp(x.low), arithmetic.exp(x.high)
    return Span(math.nextafter(low, 0.0), min(LIMIT, math.nextafter(high, math.inf)), x.way)


def _of_magnitude(apply: Callable[[float], float]) -> Callable[[Span], Span]:
    """Return the rule of an operation that rises with the magnitude and is 0 at 0."""

    def rule(x: Span) -> Span:
        if x.low >= 0.0:
            way = x.way
        elif x.high <= 0.0:
            way = _back(x.way)
        else:
            way = CONSTANT if x.way == CONSTANT else UNKNOWN
        ends = sorted((apply(x.low), apply(x.high)))
        return Span(0.0 if x.low <= 0.0 <= x.high else ends[0], ends[1], way)

    return rule


magnitude = _of_magnitude(abs)
sqrt = _of_magnitude(arithmetic.sqrt)


def log(x: Span) -> Span:
    """Return the interval of the logarithm of the magnitude, one digit wider; it jumps to 0 at 0."""
    ends = sorted((arithmetic.log(x.low), arithmetic.log(x.high)))
    if x.low > 0.0 or x.high < 0.0:
        way = x.way if x.low > 0.0 else _back(x.way)
        return Span(math.nextafter(ends[0], -math.inf), math.nextafter(ends[1], math.inf), way)
    way = CONSTANT if x.way == CONSTANT else UNKNOWN
    low = _SMALLEST_LOG if x.low < x.high else math.nextafter(ends[0], -math.inf)
    return Span(low, math.nextafter(max(ends[1], 0.0), math.inf), way)


def _times(way: int, other: Span) -> int:
    """Return the direction of a part of direction `way` times a part that does not depend on the variable."""
    if way == CONSTANT or other.low >= 0.0:
        return way
    return _back(way) if other.high <= 0.0 else UNKNOWN


def mul(a: Span, b: Span) -> Span:
    """Return the interval of the product."""
    if b.way == CONSTANT:
        way = _times(a.way, b)
    elif a.way == CONSTANT:
        way = _times(b.way, a)
    else:
        way = _both(a.way, b.way) if a.low >= 0.0 and b.low >= 0.0 else UNKNOWN
    ends = [arithmetic.mul(x, y) for x in a[:2] for y in b[:2]]
    return Span(min(ends), max(ends), way)


def div(a: Span, b: Span) -> Span:
    """Return the interval of the quotient, which is 1 where the divisor is 0."""
    zero = b.low <= 0.0 <= b.high
    if b.way == CONSTANT:
        way = _times(a.way, b)
    elif a.way == CONSTANT and not zero:
        way = _times(_back(b.way), a)
    else:
        way = UNKNOWN
    if b.low == b.high == 0.0:
        return Span(1.0, 1.0)
    if not zero:
        ends = [arithmetic.div(x, y) for x in a[:2] for y in b[:2]]
        return Span(min(ends), max(ends), way)
    if b.low == 0.0 and a.low >= 0.0:
        return Span(min(1.0, arithmetic.div(a.low, b.high)), LIMIT if a.high > 0.0 else 1.0, way)
    return Span(-LIMIT, LIMIT, way)


def choose(c: Span, a: Span, b: Span) -> Span:
    """Return the interval of a where the condition holds and b elsewhere."""
    if c.low > 0.0:
        return a
    if c.high <= 0.0:
        return b
    if c.way == CONSTANT:
        way = _both(a.way, b.way)
    elif a.way == b.way == CONSTANT and (a.low >= b.high or a.high <= b.low):
        way = c.way if a.low >= b.high else _back(c.way)
    else:
        way = UNKNOWN
    return Span(min(a.low, b.low), max(a.high, b.high), way)


def limited(np: ModuleType, x: Spans) -> Spans:
    """Return intervals limited to ±LIMIT."""
    ends: Spans = np.minimum(np.maximum(x, -LIMIT), LIMIT)
    return ends


def _hull(np: ModuleType, ends: Spans) -> Spans:
    """Return the interval of a monotonic operation's values at the ends of two intervals, float64[2, 2, ...]."""
    hull: Spans = np.stack((ends.min(axis=(0, 1)), ends.max(axis=(0, 1))))
    return hull


def mul_many(np: ModuleType, a: Spans, b: Spans) -> Spans:
    """Return the intervals of products."""
    return limited(np, _hull(np, a[:, None] * b[None]))


def div_many(np: ModuleType, a: Spans, b: Spans) -> Spans:
    """Return the intervals of quotients."""
    zero = (b[0] <= 0.0) & (b[-1] >= 0.0)
    if not zero.any():
        return limited(np, _hull(np, a[:, None] / b[None]))
    ends = limited(np, _hull(np, a[:, None] / np.where(zero, 1.0, b)[None]))
    positive = (b[0] == 0.0) & (a[0] >= 0.0)
    low = np.where(positive, np.minimum(1.0, a[0] / b[-1]), -LIMIT)
    none = (b[0] == 0.0) & (b[-1] == 0.0)
    low, high = np.where(none, 1.0, low), np.where(none | (positive & (a[-1] <= 0.0)), 1.0, LIMIT)
    quotient: Spans = np.where(zero, np.stack((low, high)), ends)
    return quotient


def choose_many(np: ModuleType, c: Spans, a: Spans, b: Spans) -> Spans:
    """Return the intervals of a where the condition holds and b elsewhere."""
    either = np.stack((np.minimum(a[0], b[0]), np.maximum(a[-1], b[-1])))
    chosen: Spans = np.where(c[0] > 0.0, a, np.where(c[-1] <= 0.0, b, either))
    return chosen


def exp_many(np: ModuleType, a: Spans) -> Spans:
    """Return the intervals of exponentials, wider by the possible error of the library in the last digits."""
    e = np.exp(np.minimum(np.maximum(a, -EXPONENT_LIMIT), EXPONENT_LIMIT))
    return limited(np, np.stack((e[0] * (1.0 - 8 * ROUNDING), e[-1] * (1.0 + 8 * ROUNDING))))


def magnitude_many(np: ModuleType, a: Spans) -> Spans:
    """Return the intervals of magnitudes."""
    ends = abs(a)
    size: Spans = np.stack((np.where((a[0] < 0.0) & (a[-1] > 0.0), 0.0, ends.min(axis=0)), ends.max(axis=0)))
    return size


def sqrt_many(np: ModuleType, a: Spans) -> Spans:
    """Return the intervals of square roots of magnitudes."""
    roots: Spans = np.sqrt(magnitude_many(np, a))
    return roots


def log_many(np: ModuleType, a: Spans) -> Spans:
    """Return the intervals of logarithms of magnitudes, wider by the library's possible error in the last digits."""
    size = magnitude_many(np, a)
    low, high = np.log(size)
    low, high = low - 8 * ROUNDING * abs(low), high + 8 * ROUNDING * abs(high)
    zero, none = size[0] == 0.0, size[1] == 0.0
    low = np.where(none, 0.0, np.where(zero, _SMALLEST_LOG, low))
    logs: Spans = np.stack((low, np.where(none, 0.0, np.where(zero, np.maximum(high, 0.0), high))))
    return logs
