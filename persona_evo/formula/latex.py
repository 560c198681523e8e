"""Writes a formula in LaTeX. Fractions and powers are set as such; guards of protected operations are not shown."""

from __future__ import annotations

from persona_evo.formula.core import Formula
from persona_evo.formula.primitive import ATOM, COMPARISON, PRODUCT, SIGN, Primitive
from persona_evo.formula.primitives import PRIMITIVES
from persona_evo.formula.printing import number

Part = tuple[str, int, tuple[str, int] | None]
"""(text, how tightly it binds, (base, exponent) if it is a power)."""


def latex(formula: Formula) -> str:
    """Return the formula in LaTeX's math mode."""
    stack: list[Part] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(_number(token))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            operands = stack[len(stack) - primitive.arity :]
            del stack[len(stack) - primitive.arity :]
            stack.append(_operation(primitive, operands))
        else:
            stack.append((f"\\mathrm{{{token.replace('_', chr(92) + '_')}}}", ATOM, None))
    return stack[0][0]


def _number(value: float) -> Part:
    text = number(value)
    binds = SIGN if value < 0 else ATOM
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa} \\cdot 10^{{{int(exponent)}}}", min(binds, PRODUCT), None
    return text, binds, None


def _operation(primitive: Primitive, operands: list[Part]) -> Part:
    if primitive.name == "*" and (power := _power(*operands)):
        return power
    binds = primitive.precedence if primitive.latex_precedence is None else primitive.latex_precedence
    if primitive.infix and not primitive.latex_encloses:
        lowest = primitive.precedence + (primitive.precedence == COMPARISON)
        left = _bracketed(operands[0], lowest)
        right = _bracketed(operands[1], primitive.precedence + 1)
        if right.startswith("-"):
            right = f"\\left({right}\\right)"
        return primitive.latex.format(left, right), binds, None
    if primitive.precedence == SIGN:
        return primitive.latex.format(_bracketed(operands[0], ATOM)), binds, None
    return primitive.latex.format(*(text for text, _, _ in operands)), binds, None


def _bracketed(part: Part, lowest: int) -> str:
    return part[0] if part[1] >= lowest else f"\\left({part[0]}\\right)"


def _power(left: Part, right: Part) -> Part | None:
    """Return x * x or x^n * x as a power, None for other products."""
    base, exponent = left[2] or (left[0], 1)
    if base != right[0] or right[2] is not None:
        return None
    simple = right[1] == ATOM and (base.startswith("\\mathrm") or "\\" not in base)
    inside = base if simple else f"\\left({base}\\right)"
    return f"{inside}^{{{exponent + 1}}}", ATOM, (base, exponent + 1)
