"""Writes a formula with the fewest brackets that read back as the same formula."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.formula.primitive import ATOM, COMPARISON, SIGN, Primitive
from persona_evo.formula.primitives import PRIMITIVES


def number(value: float) -> str:
    """Return the shortest text that reads back as exactly this number."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def write(tokens: Sequence[str | float]) -> str:
    """Return the text of an expression in postfix order."""
    stack: list[tuple[str, int]] = []
    for token in tokens:
        if isinstance(token, float):
            stack.append((number(token), SIGN if token < 0 else ATOM))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            first = len(stack) - primitive.arity
            operands = stack[first:]
            del stack[first:]
            stack.append((_operation(primitive, operands), primitive.precedence))
        else:
            stack.append((token, ATOM))
    return stack[0][0]


def _operation(primitive: Primitive, operands: list[tuple[str, int]]) -> str:
    if primitive.infix:
        (left, left_binds), (right, right_binds) = operands
        lowest = primitive.precedence + (primitive.precedence == COMPARISON)
        left = left if left_binds >= lowest else f"({left})"
        right = right if right_binds > primitive.precedence else f"({right})"
        return f"{left} {primitive.name} {right}"
    if primitive.precedence == SIGN:
        text, binds = operands[0]
        plain = binds >= SIGN and not text[0].isdigit()
        return f"-{text}" if plain else f"-({text})"
    return f"{primitive.name}({', '.join(text for text, _ in operands)})"
