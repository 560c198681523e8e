"""The arithmetic of formulas in Python: operations that give a number within ±LIMIT for every operand."""

from __future__ import annotations

import math

LIMIT = 1e300
"""Largest magnitude of any value in a formula."""

EXPONENT_LIMIT = 700.0
"""exp(x) takes x within ± this."""


def clean(x: float) -> float:
    """A value that comes from outside: NaN counts as 0, anything beyond ±LIMIT as ±LIMIT."""
    return 0.0 if x != x else limit(x)


def limit(x: float) -> float:
    """x brought into ±LIMIT (x is not NaN)."""
    return LIMIT if x > LIMIT else -LIMIT if x < -LIMIT else x


def add(a: float, b: float) -> float:
    """The sum."""
    return limit(a + b)


def sub(a: float, b: float) -> float:
    """The difference."""
    return limit(a - b)


def mul(a: float, b: float) -> float:
    """The product."""
    return limit(a * b)


def div(a: float, b: float) -> float:
    """The quotient, 1 where the divisor is 0."""
    return 1.0 if b == 0.0 else limit(a / b)


def neg(a: float) -> float:
    """The opposite."""
    return -a


def sqrt(a: float) -> float:
    """The square root of the magnitude."""
    return math.sqrt(abs(a))


def log(a: float) -> float:
    """The logarithm of the magnitude, 0 of 0."""
    return 0.0 if a == 0.0 else math.log(abs(a))


def exp(a: float) -> float:
    """e to the power, which is brought into ±EXPONENT_LIMIT."""
    return limit(math.exp(min(max(a, -EXPONENT_LIMIT), EXPONENT_LIMIT)))


def smaller(a: float, b: float) -> float:
    """The smaller operand, the first of equal ones."""
    return b if b < a else a


def larger(a: float, b: float) -> float:
    """The larger operand, the first of equal ones."""
    return b if b > a else a


def gt(a: float, b: float) -> float:
    """1 if a > b, else 0."""
    return 1.0 if a > b else 0.0


def ge(a: float, b: float) -> float:
    """1 if a >= b, else 0."""
    return 1.0 if a >= b else 0.0


def lt(a: float, b: float) -> float:
    """1 if a < b, else 0."""
    return 1.0 if a < b else 0.0


def le(a: float, b: float) -> float:
    """1 if a <= b, else 0."""
    return 1.0 if a <= b else 0.0


def choose(condition: float, a: float, b: float) -> float:
    """a where the condition is above 0, else b."""
    return a if condition > 0.0 else b
