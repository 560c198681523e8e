"""The exact rewriting rules of each operation: the value stays the same to the last bit.

A rule takes `build`, which makes an operation on rewritten operands, and the operands, of which at least one is not a
number. It returns what the operation becomes, or None if it stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from persona_evo.formula import arithmetic


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """An expression to which no rule applies.

    Attributes:
        token: its operation, symbol or number.
        args: its operands.
        tokens: the whole expression in postfix order.
    """

    token: str | float
    args: tuple[Expression, ...]
    tokens: tuple[str | float, ...]

    @property
    def value(self) -> float | None:
        """The number, if it is one."""
        return self.token if isinstance(self.token, float) else None


Build: TypeAlias = Callable[..., Expression]
"""Makes an operation in canonical form from its name and its operands."""

Rule: TypeAlias = Callable[..., Expression | None]
"""Returns what an operation becomes, from `Build` and the operands; None if no rule applies."""


def number(value: float) -> Expression:
    """Return a constant."""
    value += 0.0
    return Expression(value, (), (value,))


def same(a: Expression, b: Expression) -> bool:
    """Return whether two expressions are written the same."""
    return a.tokens == b.tokens


def _is(a: Expression, name: str) -> bool:
    return a.token == name and bool(a.args)


def _truth(a: Expression) -> bool:
    """Return whether the value is always 0 or 1."""
    return a.token in (">", ">=") and bool(a.args)


def _not_negative(a: Expression) -> bool:
    if a.value is not None:
        return a.value >= 0.0
    if _is(a, "*"):
        return same(*a.args)
    return _truth(a) or (a.token in ("abs", "sqrt", "exp") and bool(a.args))


def add(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a + b."""
    if a.value is not None:
        a, b = b, a
    if b.value is not None:
        if b.value == 0.0:
            return a
        return build("-", a, number(-b.value)) if b.value < 0.0 else None
    if _is(a, "neg"):
        return build("neg", build("+", a.args[0], b.args[0])) if _is(b, "neg") else build("-", b, a.args[0])
    if _is(b, "neg"):
        return build("-", a, b.args[0])
    return build("*", number(2.0), a) if same(a, b) else None


def sub(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a - b."""
    if same(a, b):
        return number(0.0)
    if a.value == 0.0:
        return build("neg", b)
    if a.value == 1.0 and _truth(b):
        return build(">=" if b.token == ">" else ">", b.args[1], b.args[0])
    if b.value is not None:
        if b.value == 0.0:
            return a
        if b.value < 0.0:
            return build("+", a, number(-b.value))
    if _is(b, "neg"):
        return build("+", a, b.args[0])
    if _is(a, "neg"):
        return build("neg", build("+", a.args[0], b))
    return None


def mul(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a * b."""
    if b.value is not None:
        a, b = b, a
    if a.value is not None:
        if a.value == 0.0:
            return number(0.0)
        if a.value == 1.0:
            return b
        if a.value == -1.0:
            return build("neg", b)
        return build("*", number(-a.value), b.args[0]) if _is(b, "neg") else None
    if _is(a, "neg"):
        return build("neg", build("*", a.args[0], b))
    if _is(b, "neg"):
        return build("neg", build("*", a, b.args[0]))
    if _is(a, "abs") and same(a, b):
        return build("*", a.args[0], a.args[0])
    return None


def div(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a / b."""
    if b.value == 0.0 or same(a, b):
        return number(1.0)
    if b.value is not None:
        if _is(a, "neg"):
            return build("/", a.args[0], number(-b.value))
        inverse = 1.0 / b.value
        power_of_two = abs(math.frexp(b.value)[0]) == 0.5 and 1e-290 < abs(inverse) < 1e290
        return build("*", number(inverse), a) if power_of_two else None
    if _is(a, "neg") and _is(b, "neg"):
        return build("/", a.args[0], b.args[0])
    return None


def neg(build: Build, a: Expression) -> Expression | None:
    """Rewrite -a."""
    if _is(a, "neg"):
        return a.args[0]
    if _is(a, "-"):
        return build("-", a.args[1], a.args[0])
    if a.args and (value := a.args[0].value) is not None and _is(a, "*"):
        return build("*", number(-value), a.args[1])
    if _is(a, "/") and (value := a.args[1].value) is not None:
        return build("/", a.args[0], number(-value))
    return None


def _of_magnitude(name: str) -> Rule:
    """Return the rule of sqrt and log, which depend on the magnitude only."""

    def rule(build: Build, a: Expression) -> Expression | None:
        return build(name, a.args[0]) if _is(a, "neg") or _is(a, "abs") else None

    return rule


def magnitude(build: Build, a: Expression) -> Expression | None:
    """Rewrite abs(a)."""
    if _not_negative(a):
        return a
    return build("abs", a.args[0]) if _is(a, "neg") else None


def keep(build: Build, *args: Expression) -> Expression | None:
    """Leave the operation as it is."""
    return None


def _extreme(name: str, other: str, apply: Callable[[float, float], float]) -> Rule:
    """Return the rule of min and max, which mirror each other."""

    def rule(build: Build, a: Expression, b: Expression) -> Expression | None:
        if same(a, b):
            return a
        if _is(a, "neg") and _is(b, "neg"):
            return build("neg", build(other, a.args[0], b.args[0]))
        for x, y in ((a, b), (b, a)):
            if not (_is(y, name) or _is(y, other)):
                continue
            if any(same(x, z) for z in y.args):
                return y if y.token == name else x
            inner = y.args[1].value
            if y.token == name and x.value is not None and inner is not None:
                return build(name, y.args[0], number(apply(x.value, inner)))
        return None

    return rule


def gt(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a > b."""
    if same(a, b):
        return number(0.0)
    if a.value == 0.0 and _not_negative(b):
        return number(0.0)
    return a if b.value == 0.0 and _truth(a) else None


def ge(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a >= b."""
    if same(a, b) or (b.value == 0.0 and _not_negative(a)):
        return number(1.0)
    return None


def choose(build: Build, condition: Expression, a: Expression, b: Expression) -> Expression | None:
    """Rewrite if(condition, a, b)."""
    if same(a, b):
        return a
    if condition.value is not None:
        return a if condition.value > 0.0 else b
    if _is(condition, "exp"):
        return a
    if _is(condition, ">") and condition.args[1].value == 0.0:
        return build("if", condition.args[0], a, b)
    return None


def lt(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a < b."""
    return build(">", b, a)


def le(build: Build, a: Expression, b: Expression) -> Expression | None:
    """Rewrite a <= b."""
    return build(">=", b, a)


sqrt = _of_magnitude("sqrt")
log = _of_magnitude("log")
smaller = _extreme("min", "max", arithmetic.smaller)
larger = _extreme("max", "min", arithmetic.larger)
