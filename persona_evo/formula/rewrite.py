"""Rewrites a formula by exact rules: the value is the same number for every input, to the last bit.

This rests on three facts about every operation: operands and results are finite and within ±LIMIT; limiting is
symmetric, so a sign can be moved through it; and no operation tells -0 from 0. Rewriting respects floating point: sums
and products are not regrouped, and a sign is not moved out of a dividend (-x / 0 is 1, not -1).

Many ways of writing the same formula get one form, so an evolution need not score them twice.
"""

from __future__ import annotations

from persona_evo.formula.core import Formula, arity
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import PRIMITIVES
from persona_evo.formula.rewrite_rules import Expression, number


def canonical(formula: Formula) -> Formula:
    """Return the canonical form of a formula: never larger, and equal bit for bit on every input."""
    stack: list[Expression] = []
    for token in formula.tokens:
        needed = arity(token)
        args = stack[len(stack) - needed :]
        del stack[len(stack) - needed :]
        stack.append(build(str(token), *args) if needed else Expression(token, (), (token,)))
    return Formula(stack[0].tokens)


def build(name: str, *args: Expression) -> Expression:
    """Return an operation on expressions in canonical form, itself in canonical form."""
    primitive = PRIMITIVES[name]
    values = [a.value for a in args]
    if None not in values:
        return number(primitive.function(*values))
    found = primitive.rewrite(build, *args)
    if found is not None:
        return found
    if primitive.commutative:
        args = tuple(sorted(args, key=lambda a: _rank(primitive, a)))
    tokens = tuple(t for a in args for t in a.tokens)
    return Expression(name, args, (*tokens, name))


def _rank(primitive: Primitive, a: Expression) -> tuple[bool, int, tuple[tuple[bool, float, str], ...]]:
    """Return the sort key of a commutative operation's operands: large ones first.

    Constants come first in a product and last in other operations.
    """
    last = (a.value is None) if primitive.constant_first else (a.value is not None)
    key = tuple((True, t, "") if isinstance(t, float) else (False, 0.0, t) for t in a.tokens)
    return last, -len(a.tokens), key
