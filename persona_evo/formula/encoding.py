"""Encodes a formula's tokens as words for the interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import FormulaError, unknown
from persona_evo.formula import opcodes
from persona_evo.formula.core import Formula
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import PRIMITIVES


class StackCode(NamedTuple):
    """The code that the interpreter runs.

    Attributes:
        ops: int64[n], each opcode | argument << 8 (and a second argument << 24 if the opcode takes two). An argument is
            an index into the variables or into constants.
        constants: float64[m].
    """

    ops: NDArray[np.int64]
    constants: NDArray[np.float64]


def encode(formula: Formula, order: Sequence[str]) -> StackCode:
    """Return the code of a formula over variables in this order.

    Arithmetic on symbols and numbers becomes one word with its operands (see the opcodes in `primitives`). If an
    operation is commutative and only its left operand is a leaf, the operands change places, which is exact.
    """
    (words,), constants = encode_all([formula], order)
    return StackCode(np.array(words, dtype=np.int64), np.array(constants, dtype=np.float64))


def encode_all(formulas: Sequence[Formula], order: Sequence[str]) -> tuple[list[list[int]], list[float]]:
    """Return the words of formulas over the same variables, and the constants that they share."""
    index = {name: i for i, name in enumerate(order)}
    constants: dict[float, int] = {}
    return [_words(formula, index, constants) for formula in formulas], list(constants)


def _words(formula: Formula, index: Mapping[str, int], constants: dict[float, int]) -> list[int]:
    stack: list[list[int]] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append([opcodes.CONST | constants.setdefault(token, len(constants)) << 8])
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            first = len(stack) - primitive.arity
            operands = stack[first:]
            del stack[first:]
            stack.append(_join(primitive, operands))
        elif token in index:
            stack.append([opcodes.VAR | index[token] << 8])
        else:
            expected, hint = unknown(token, index)
            raise FormulaError("unknown symbol", found=token, expected=expected, hint=hint)
    return stack[0]


def _join(primitive: Primitive, operands: list[list[int]]) -> list[int]:
    if primitive.opcode in opcodes.FUSABLE:
        left, right = operands
        if primitive.commutative and _kind(left) is not None and _kind(right) is None:
            left, right = right, left
        fused = opcodes.FUSED.get((_kind(left), _kind(right)))
        if fused is not None and _kind(left) is None:
            return [*left, (primitive.opcode + fused) | _index(right) << 8]
        if fused is not None:
            return [(primitive.opcode + fused) | _index(left) << 8 | _index(right) << 24]
        operands = [left, right]
    return [word for part in operands for word in part] + [primitive.opcode]


def _kind(words: list[int]) -> int | None:
    """Return CONST or VAR for a leaf, None for anything that is computed."""
    kind = words[0] & 255
    return kind if len(words) == 1 and kind in (opcodes.CONST, opcodes.VAR) else None


def _index(words: list[int]) -> int:
    return words[0] >> 8
