"""What a formula can be worth when its variables are only known to lie within ranges, and which way it goes with one.

Both answers are safe: the interval holds every value (its ends are computed with the operations of the formula itself,
whose rounding is monotonic, so a bound that is reached is reached exactly), and a direction is named only where it
follows from the formula's form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula import Formula
from persona_evo.formula.primitives import EXPONENT_LIMIT, LIMIT, PRIMITIVES, clean

CONSTANT, RISING, FALLING, UNKNOWN = 0, 1, -1, 2
"""How a value goes with the chosen variable: does not depend on it, never falls, never rises, or nothing is known."""

_SMALLEST_LOG = -746.0
"""Below the logarithm of the smallest positive number."""

ROUNDING = 2.0**-51
"""Four times the relative error of an operation."""

Spans = NDArray[np.float64]
"""Many intervals at once: the low ends and the high ends along the first axis, which has length 1 where they are
equal."""


class Span(NamedTuple):
    """A value between low and high (both included), and how it goes with the chosen variable."""

    low: float
    high: float
    way: int = CONSTANT


def span(formula: Formula, ranges: Mapping[str, tuple[float, float]], symbol: str = "") -> Span:
    """The interval of a formula's values over boxes of its variables, and its direction in `symbol`.

    Args:
        ranges: (low, high) of every symbol of the formula; infinities are allowed.
    """
    stack: list[Span] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(Span(token, token))
        elif token in PRIMITIVES:
            arity = PRIMITIVES[token].arity
            operands = stack[-arity:]
            del stack[-arity:]
            stack.append(_apply(token, operands))
        else:
            low, high = ranges[token]
            stack.append(Span(clean(low), clean(high), RISING if token == symbol else CONSTANT))
    return stack[0]


def _apply(name: str, operands: list[Span]) -> Span:
    if name == "if":
        return _if(*operands)
    if len(operands) == 1:
        return _unary(name, operands[0])
    return _binary(name, *operands)


def _back(way: int) -> int:
    return way if way == UNKNOWN else -way


def _both(a: int, b: int) -> int:
    """The direction of something that rises with two parts."""
    if a in (CONSTANT, b):
        return b
    return a if b == CONSTANT else UNKNOWN


def _unary(name: str, x: Span) -> Span:
    apply = PRIMITIVES[name].function
    if name == "neg":
        return Span(-x.high, -x.low, _back(x.way))
    if name == "exp":
        return Span(math.nextafter(apply(x.low), 0.0), min(LIMIT, math.nextafter(apply(x.high), math.inf)), x.way)
    ends = sorted((apply(x.low), apply(x.high)))
    if x.low > 0.0 or x.high < 0.0:
        way = x.way if x.low > 0.0 else _back(x.way)
    elif name != "log" and (x.low == 0.0 or x.high == 0.0):
        way = x.way if x.low == 0.0 else _back(x.way)
    else:
        way = CONSTANT if x.way == CONSTANT else UNKNOWN
    if name == "log":
        low = _SMALLEST_LOG if x.low <= 0.0 <= x.high and x.low < x.high else math.nextafter(ends[0], -math.inf)
        high = max(ends[1], 0.0) if x.low <= 0.0 <= x.high else ends[1]
        return Span(low, math.nextafter(high, math.inf), way)
    return Span(0.0 if x.low <= 0.0 <= x.high else ends[0], ends[1], way)


def _binary(name: str, a: Span, b: Span) -> Span:
    apply = PRIMITIVES[name].function
    if name in ("+", "min", "max"):
        return Span(apply(a.low, b.low), apply(a.high, b.high), _both(a.way, b.way))
    if name == "-":
        return Span(apply(a.low, b.high), apply(a.high, b.low), _both(a.way, _back(b.way)))
    if name in (">", ">="):
        return Span(apply(a.low, b.high), apply(a.high, b.low), _both(a.way, _back(b.way)))
    if name in ("<", "<="):
        return Span(apply(a.high, b.low), apply(a.low, b.high), _both(_back(a.way), b.way))
    if name == "*":
        ends = [apply(x, y) for x in a[:2] for y in b[:2]]
        return Span(min(ends), max(ends), _product(a, b))
    return _quotient(a, b)


def _times(way: int, other: Span) -> int:
    """The direction of a part of this direction times a part that does not depend on the variable."""
    if way == CONSTANT or other.low >= 0.0:
        return way
    return _back(way) if other.high <= 0.0 else UNKNOWN


def _product(a: Span, b: Span) -> int:
    if b.way == CONSTANT:
        return _times(a.way, b)
    if a.way == CONSTANT:
        return _times(b.way, a)
    return _both(a.way, b.way) if a.low >= 0.0 and b.low >= 0.0 else UNKNOWN


def _quotient(a: Span, b: Span) -> Span:
    apply = PRIMITIVES["/"].function
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
        ends = [apply(x, y) for x in a[:2] for y in b[:2]]
        return Span(min(ends), max(ends), way)
    if b.low == 0.0 and a.low >= 0.0:
        return Span(min(1.0, apply(a.low, b.high)), LIMIT if a.high > 0.0 else 1.0, way)
    return Span(-LIMIT, LIMIT, way)


def _if(c: Span, a: Span, b: Span) -> Span:
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


def spans(formula: Formula, ranges: Mapping[str, Spans]) -> Spans:
    """The intervals of a formula's values over many boxes of its variables.

    Args:
        ranges: of every symbol of the formula, within ±LIMIT; shapes broadcast.
    """
    axes = max((x.ndim for x in ranges.values()), default=1)
    stack: list[Spans] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(np.full((1,) * axes, token))
        elif token in PRIMITIVES:
            arity = PRIMITIVES[token].arity
            stack[-arity:] = [_vector(token, *stack[-arity:])]
        else:
            stack.append(ranges[token])
    return stack[0]


def _limited(x: Spans) -> Spans:
    return np.minimum(np.maximum(x, -LIMIT), LIMIT)


def _hull(ends: Spans) -> Spans:
    """The interval of values that monotonic operations give at the ends of two intervals: float64[2, 2, ...]."""
    return np.stack((ends.min(axis=(0, 1)), ends.max(axis=(0, 1))))


def _vector(name: str, *operands: Spans) -> Spans:
    """The interval of an operation's values."""
    a, b = operands[0], operands[-1]
    match name:
        case "+":
            return _limited(a + b)
        case "-":
            return _limited(a - b[::-1])
        case "*":
            return _limited(_hull(a[:, None] * b[None]))
        case "/":
            return _vector_quotient(a, b)
        case "min":
            return np.minimum(a, b)
        case "max":
            return np.maximum(a, b)
        case ">":
            return np.where(a > b[::-1], 1.0, 0.0)
        case ">=":
            return np.where(a >= b[::-1], 1.0, 0.0)
        case "<":
            return np.where(a[::-1] < b, 1.0, 0.0)
        case "<=":
            return np.where(a[::-1] <= b, 1.0, 0.0)
        case "if":
            a, either = operands[1], np.stack((np.minimum(operands[1][0], b[0]), np.maximum(operands[1][-1], b[-1])))
            return np.where(operands[0][0] > 0.0, a, np.where(operands[0][-1] <= 0.0, b, either))
        case "neg":
            return -a[::-1]
    return _vector_unary(name, a)


def _vector_unary(name: str, a: Spans) -> Spans:
    """The same of a function of one number; those of the machine's library may differ in the last digits."""
    if name == "exp":
        e = np.exp(np.minimum(np.maximum(a, -EXPONENT_LIMIT), EXPONENT_LIMIT))
        return _limited(np.stack((e[0] * (1.0 - 8 * ROUNDING), e[-1] * (1.0 + 8 * ROUNDING))))
    ends = abs(a)
    size = np.stack((np.where((a[0] < 0.0) & (a[-1] > 0.0), 0.0, ends.min(axis=0)), ends.max(axis=0)))
    if name == "abs":
        return size
    if name == "sqrt":
        roots: Spans = np.sqrt(size)
        return roots
    assert name == "log"
    low, high = np.log(size)
    low, high = low - 8 * ROUNDING * abs(low), high + 8 * ROUNDING * abs(high)
    zero, none = size[0] == 0.0, size[1] == 0.0
    low = np.where(none, 0.0, np.where(zero, _SMALLEST_LOG, low))
    return np.stack((low, np.where(none, 0.0, np.where(zero, np.maximum(high, 0.0), high))))


def _vector_quotient(a: Spans, b: Spans) -> Spans:
    zero = (b[0] <= 0.0) & (b[-1] >= 0.0)
    if not zero.any():
        return _limited(_hull(a[:, None] / b[None]))
    ends = _limited(_hull(a[:, None] / np.where(zero, 1.0, b)[None]))
    positive = (b[0] == 0.0) & (a[0] >= 0.0)
    low = np.where(positive, np.minimum(1.0, a[0] / b[-1]), -LIMIT)
    none = (b[0] == 0.0) & (b[-1] == 0.0)
    low, high = np.where(none, 1.0, low), np.where(none | (positive & (a[-1] <= 0.0)), 1.0, LIMIT)
    return np.where(zero, np.stack((low, high)), ends)
