"""Converts formulas to sympy expressions and back. sympy is passed in, so that this module does not load it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from persona_evo.errors import FormulaError
from persona_evo.formula.core import Formula, Token
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import PRIMITIVES, TABLE

SIMPLIFY_UP_TO = 60
"""The number of nodes up to which sympy's own `simplify` is tried. It rarely ends beyond about twice as many."""


def to_sympy(sp: Any, formula: Formula) -> Any:
    """Return the sympy expression, in which division is the ordinary one and nothing is limited."""
    stack: list[Any] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(sp.Integer(int(token)) if token == int(token) and abs(token) < 1e15 else sp.Float(token))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            operands = stack[len(stack) - primitive.arity :]
            del stack[len(stack) - primitive.arity :]
            stack.append(primitive.sympy(sp, *operands))
        else:
            stack.append(sp.Symbol(token, real=True))
    return stack[0]


def candidates(sp: Any, formula: Formula) -> Iterator[Formula]:
    """Yield the forms that sympy finds, the cheap ones first. A step that fails, or leaves the language, is skipped."""
    expression = to_sympy(sp, formula)
    steps: list[Callable[[Any], Any]] = [lambda e: e, sp.factor_terms, sp.together]
    steps.append(lambda e: sp.factor_terms(sp.together(e)))
    if formula.size <= SIMPLIFY_UP_TO:
        steps += [sp.simplify, lambda e: sp.factor_terms(sp.simplify(e))]
    failures = (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
        RecursionError,
        sp.polys.polyerrors.BasePolynomialError,
        FormulaError,
        Untranslatable,
    )
    seen = set()
    for step in steps:
        try:
            found = from_sympy(sp, step(expression))
        except failures:
            continue
        if found not in seen:
            seen.add(found)
            yield found


class Untranslatable(Exception):
    """Signals that an expression has no counterpart among the primitives."""


def from_sympy(sp: Any, expression: Any) -> Formula:
    """Return the formula of a sympy expression.

    Raises:
        Untranslatable: the expression contains something that formulas do not have.
        FormulaError: the formula is too large, or a number is out of range.
    """
    return Formula(_tokens(sp, expression))


def _tokens(sp: Any, e: Any) -> tuple[Token, ...]:
    if e.is_Symbol:
        return (str(e.name),)
    if e.is_Number or e.is_NumberSymbol:
        if not e.is_finite:
            raise Untranslatable(str(e))
        return (float(e),)
    if e.is_Add:
        return _sum(sp, e)
    if e.is_Mul:
        return _product(sp, e)
    if e.is_Pow:
        return _power(sp, *e.as_base_exp())
    if isinstance(e, sp.Piecewise):
        return _piecewise(sp, e)
    primitive = _primitive(sp, e)
    if primitive.arity == 1:
        return (*_tokens(sp, e.args[0]), primitive.name)
    return _chain(sp, sorted(e.args, key=sp.default_sort_key), primitive.name)


def _primitive(sp: Any, e: Any) -> Primitive:
    """Return the operation that sympy's function or relation stands for."""
    for primitive in TABLE:
        if primitive.sympy_class and isinstance(e, getattr(sp, primitive.sympy_class)):
            return primitive
    raise Untranslatable(str(e))


def _chain(sp: Any, parts: list[Any], name: str) -> tuple[Token, ...]:
    tokens = _tokens(sp, parts[0])
    for part in parts[1:]:
        tokens += (*_tokens(sp, part), name)
    return tokens


def _sum(sp: Any, e: Any) -> tuple[Token, ...]:
    terms = sorted(e.args, key=lambda t: (t.is_Number, t.could_extract_minus_sign(), sp.default_sort_key(t)))
    tokens: tuple[Token, ...] = ()
    for term in terms:
        if not tokens:
            tokens = _tokens(sp, term)
        elif term.could_extract_minus_sign():
            tokens += (*_tokens(sp, -term), "-")
        else:
            tokens += (*_tokens(sp, term), "+")
    return tokens


def _product(sp: Any, e: Any) -> tuple[Token, ...]:
    above, below = [], []
    negative = False
    for factor in sorted(e.args, key=lambda f: (not f.is_Number, sp.default_sort_key(f))):
        base, exponent = factor.as_base_exp()
        if factor == -1:
            negative = True
        elif exponent.is_Number and exponent.is_negative and base != sp.E:
            below.append(base**-exponent)
        elif factor.is_Rational and factor.q != 1 and factor.p in (1, -1):
            negative = negative != (factor.p < 0)
            below.append(sp.Integer(factor.q))
        else:
            above.append(factor)
    tokens = _chain(sp, above, "*") if above else (1.0,)
    if negative:
        tokens = (*tokens, "neg") if not isinstance(tokens[0], float) or len(tokens) > 1 else (-tokens[0],)
    return (*tokens, *_chain(sp, below, "*"), "/") if below else tokens


def _power(sp: Any, base: Any, exponent: Any) -> tuple[Token, ...]:
    if base == sp.E:
        return (*_tokens(sp, exponent), "exp")
    inside = _tokens(sp, base)
    if exponent.is_Rational and exponent.q == 2:
        inside = (*inside, "sqrt")
        exponent = exponent * 2
    if not exponent.is_Integer or abs(int(exponent)) > 64:
        raise Untranslatable(str(exponent))
    times = abs(int(exponent))
    tokens = inside + (*inside, "*") * (times - 1) if times else (1.0,)
    return (1.0, *tokens, "/") if exponent.is_negative else tokens


def _piecewise(sp: Any, e: Any) -> tuple[Token, ...]:
    value, condition = e.args[-1]
    if condition != sp.true:
        raise Untranslatable(str(e))
    tokens = _tokens(sp, value)
    for value, condition in reversed(e.args[:-1]):
        tokens = (*_condition(sp, condition), *_tokens(sp, value), *tokens, "if")
    return tokens


def _condition(sp: Any, c: Any) -> tuple[Token, ...]:
    if isinstance(c, sp.And):
        return _chain_conditions(sp, c.args, "min")
    if isinstance(c, sp.Or):
        return _chain_conditions(sp, c.args, "max")
    return (*_tokens(sp, c.lhs), *_tokens(sp, c.rhs), _primitive(sp, c).name)


def _chain_conditions(sp: Any, parts: Any, name: str) -> tuple[Token, ...]:
    tokens = _condition(sp, parts[0])
    for part in parts[1:]:
        tokens += (*_condition(sp, part), name)
    return tokens
