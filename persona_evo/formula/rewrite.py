"""Rewriting a formula by rules that are exact: the value is the same number on every input, to the last bit.

That rests on three facts about every operation here: operands and results are finite and within ±LIMIT; limiting is
symmetric, so a sign can be moved through it; and no operation tells -0 from 0. What floating point does not allow is
not done: sums and products are not regrouped, and a sign is not moved out of a dividend (-x / 0 is 1, not -1).

The result is one form for many ways of writing the same thing, so that an evolution need not score them twice.
"""

from __future__ import annotations

from persona_evo.formula.core import Formula, arity
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import PRIMITIVES
from persona_evo.formula.rewrite_rules import Expression, number


def canonical(formula: Formula) -> Formula:
    """The canonical form of a formula: never larger, and bit for bit equal on every input."""
    stack: list[Expression] = []
    for token in formula.tokens:
        needed = arity(token)
        args = stack[len(stack) - needed :]
        del stack[len(stack) - needed :]
        stack.append(build(str(token), *args) if needed else Expression(token, (), (token,)))
    return Formula(stack[0].tokens)


def build(name: str, *args: Expression) -> Expression:
    """An operation on expressions in canonical form, in canonical form."""
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
    """Order of the operands of a commutative operation: large ones first; constants lead a product and end the rest."""
    last = (a.value is None) if primitive.constant_first else (a.value is not None)
    key = tuple((True, t, "") if isinstance(t, float) else (False, 0.0, t) for t in a.tokens)
    return last, -len(a.tokens), key
