"""Rewriting a formula by rules that are exact: the value is the same number on every input, to the last bit.

That rests on three facts about every operation here: operands and results are finite and within ±LIMIT; limiting is
symmetric, so a sign can be moved through it; and no operation tells -0 from 0. What floating point does not allow is
not done: sums and products are not regrouped, and a sign is not moved out of a dividend (-x / 0 is 1, not -1).

The result is one form for many ways of writing the same thing, so that an evolution need not score them twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from persona_evo.formula.core import Formula, Token, arity
from persona_evo.formula.primitives import PRIMITIVES


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """An expression that no rule applies to. tokens: all of it in postfix order."""

    token: Token
    args: tuple[Node, ...]
    tokens: tuple[Token, ...]

    @property
    def value(self) -> float | None:
        """The number, if it is one."""
        return self.token if isinstance(self.token, float) else None


def canonical(formula: Formula) -> Formula:
    """The canonical form of a formula: never larger, and bit for bit equal on every input."""
    stack: list[Node] = []
    for token in formula.tokens:
        needed = arity(token)
        args = stack[len(stack) - needed :]
        del stack[len(stack) - needed :]
        stack.append(build(str(token), *args) if needed else Node(token, (), (token,)))
    return Formula(stack[0].tokens)


def build(name: str, *args: Node) -> Node:
    """An operation on expressions in canonical form, in canonical form."""
    values = [a.value for a in args]
    if None not in values:
        return number(PRIMITIVES[name].function(*values))
    found = RULES[name](*args)
    if found is not None:
        return found
    if PRIMITIVES[name].commutative:
        args = tuple(sorted(args, key=lambda a: _rank(name, a)))
    tokens = tuple(t for a in args for t in a.tokens)
    return Node(name, args, (*tokens, name))


def number(value: float) -> Node:
    """A constant."""
    value += 0.0
    return Node(value, (), (value,))


def same(a: Node, b: Node) -> bool:
    """Whether two expressions are written the same."""
    return a.tokens == b.tokens


def _rank(name: str, a: Node) -> tuple[bool, int, tuple[tuple[bool, float, str], ...]]:
    """Order of the operands of a commutative operation: large ones first; constants lead a product and end the rest."""
    last = (a.value is None) if name == "*" else (a.value is not None)
    key = tuple((True, t, "") if isinstance(t, float) else (False, 0.0, t) for t in a.tokens)
    return last, -len(a.tokens), key


def _is(a: Node, name: str) -> bool:
    return a.token == name and bool(a.args)


def _truth(a: Node) -> bool:
    """Whether the value is 0 or 1."""
    return a.token in (">", ">=") and bool(a.args)


def _not_negative(a: Node) -> bool:
    if a.value is not None:
        return a.value >= 0.0
    if _is(a, "*"):
        return same(*a.args)
    return _truth(a) or (a.token in ("abs", "sqrt", "exp") and bool(a.args))


def _add(a: Node, b: Node) -> Node | None:
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


def _sub(a: Node, b: Node) -> Node | None:
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


def _mul(a: Node, b: Node) -> Node | None:
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


def _div(a: Node, b: Node) -> Node | None:
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


def _neg(a: Node) -> Node | None:
    if _is(a, "neg"):
        return a.args[0]
    if _is(a, "-"):
        return build("-", a.args[1], a.args[0])
    if a.args and (value := a.args[0].value) is not None and _is(a, "*"):
        return build("*", number(-value), a.args[1])
    if _is(a, "/") and (value := a.args[1].value) is not None:
        return build("/", a.args[0], number(-value))
    return None


def _magnitude(name: str) -> Callable[[Node], Node | None]:
    """sqrt and log look at the magnitude only."""

    def rule(a: Node) -> Node | None:
        return build(name, a.args[0]) if _is(a, "neg") or _is(a, "abs") else None

    return rule


def _abs(a: Node) -> Node | None:
    if _not_negative(a):
        return a
    return build("abs", a.args[0]) if _is(a, "neg") else None


def _exp(a: Node) -> Node | None:
    return None


def _extreme(name: str, other: str) -> Callable[[Node, Node], Node | None]:
    """min and max, which mirror each other."""

    def rule(a: Node, b: Node) -> Node | None:
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
                return build(name, y.args[0], number(PRIMITIVES[name].function(x.value, inner)))
        return None

    return rule


def _gt(a: Node, b: Node) -> Node | None:
    if same(a, b):
        return number(0.0)
    if a.value == 0.0 and _not_negative(b):
        return number(0.0)
    return a if b.value == 0.0 and _truth(a) else None


def _ge(a: Node, b: Node) -> Node | None:
    if same(a, b) or (b.value == 0.0 and _not_negative(a)):
        return number(1.0)
    return None


def _if(condition: Node, a: Node, b: Node) -> Node | None:
    if same(a, b):
        return a
    if condition.value is not None:
        return a if condition.value > 0.0 else b
    if _is(condition, "exp"):
        return a
    if _is(condition, ">") and condition.args[1].value == 0.0:
        return build("if", condition.args[0], a, b)
    return None


RULES: dict[str, Callable[..., Node | None]] = {
    "+": _add,
    "-": _sub,
    "*": _mul,
    "/": _div,
    "neg": _neg,
    "abs": _abs,
    "sqrt": _magnitude("sqrt"),
    "log": _magnitude("log"),
    "exp": _exp,
    "min": _extreme("min", "max"),
    "max": _extreme("max", "min"),
    ">": _gt,
    ">=": _ge,
    "<": lambda a, b: build(">", b, a),
    "<=": lambda a, b: build(">=", b, a),
    "if": _if,
}
"""For each operation what it becomes on these operands (not all constants), None if no rule applies."""
