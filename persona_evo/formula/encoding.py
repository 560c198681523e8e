"""From a formula's tokens to the words that the compiled machine runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from persona_evo.errors import FormulaError, unknown
from persona_evo.formula import primitives as p

if TYPE_CHECKING:
    from persona_evo.formula.core import Code, Formula


def encode(formula: Formula, order: Sequence[str]) -> Code:
    """The code of a formula over variables in this order.

    A sum, difference, product or quotient whose right operand is a symbol or a number becomes one word. Where the
    operation is commutative and only the left operand is one, the two change places first, which is exact.
    """
    import numpy as np

    from persona_evo.formula.core import Code

    index = {name: i for i, name in enumerate(order)}
    constants: dict[float, int] = {}
    stack: list[list[int]] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append([p.CONST | constants.setdefault(token, len(constants)) << 8])
        elif token in p.PRIMITIVES:
            primitive = p.PRIMITIVES[token]
            first = len(stack) - primitive.arity
            operands = stack[first:]
            del stack[first:]
            stack.append(_join(primitive, operands))
        elif token in index:
            stack.append([p.VAR | index[token] << 8])
        else:
            expected, hint = unknown(token, order)
            raise FormulaError("unknown symbol", found=token, expected=expected, hint=hint)
    return Code(np.array(stack[0], dtype=np.int64), np.array(list(constants), dtype=np.float64))


def _join(primitive: p.Primitive, operands: list[list[int]]) -> list[int]:
    if primitive.opcode in p.FUSABLE:
        left, right = operands
        if primitive.commutative and len(left) == 1 and len(right) > 1:
            left, right = right, left
        if len(right) == 1:
            word = right[0]
            fused = p.FUSED_VAR if word & 255 == p.VAR else p.FUSED_CONST
            return [*left, (primitive.opcode + fused) | (word & ~255)]
        operands = [left, right]
    return [word for part in operands for word in part] + [primitive.opcode]
