"""The arithmetic of formulas in Python: each operation returns a number within ±LIMIT for all operands."""

from __future__ import annotations

import math

LIMIT = 1e300
"""The largest magnitude of any value in a formula."""

EXPONENT_LIMIT = 700.0
"""exp(x) limits x to ± this value."""


def clean(x: float) -> float:
    """Return a value from outside as formulas see it: NaN as 0, anything beyond ±LIMIT as ±LIMIT."""
    return 0.0 if x != x else limit(x)


def limit(x: float) -> float:
    """Return x limited to ±LIMIT (x is not NaN)."""
    return LIMIT if x > LIMIT else -LIMIT if x < -LIMIT else x


def add(a: float, b: float) -> float:
    """Return the sum."""
    return limit(a + b)


def sub(a: float, b: float) -> float:
    """Return the difference."""
    return limit(a - b)


def mul(a: float, b: float) -> float:
    """Return the product."""
    return limit(a * b)


def div(a: float, b: float) -> float:
    """Return the quotient, 1 if the divisor is 0."""
    return 1.0 if b == 0.0 else limit(a / b)


def neg(a: float) -> float:
    """Return the negative."""
    return -a


def sqrt(a: float) -> float:
    """Return the square root of the magnitude."""
    return math.sqrt(abs(a))


def log(a: float) -> float:
    """Return the logarithm of the magnitude, 0 for 0."""
    return 0.0 if a == 0.0 else math.log(abs(a))


def exp(a: float) -> float:
    """Return e to the power x, with x limited to ±EXPONENT_LIMIT."""
    return limit(math.exp(min(max(a, -EXPONENT_LIMIT), EXPONENT_LIMIT)))


def smaller(a: float, b: float) -> float:
    """Return the smaller operand, the first of equal ones."""
    return b if b < a else a


def larger(a: float, b: float) -> float:
    """Return the larger operand, the first of equal ones."""
    return b if b > a else a


def gt(a: float, b: float) -> float:
    """Return 1 if a > b, else 0."""
    return 1.0 if a > b else 0.0


def ge(a: float, b: float) -> float:
    """Return 1 if a >= b, else 0."""
    return 1.0 if a >= b else 0.0


def lt(a: float, b: float) -> float:
    """Return 1 if a < b, else 0."""
    return 1.0 if a < b else 0.0


def le(a: float, b: float) -> float:
    """Return 1 if a <= b, else 0."""
    return 1.0 if a <= b else 0.0


def choose(condition: float, a: float, b: float) -> float:
    """Return a if the condition is above 0, else b."""
    return a if condition > 0.0 else b
