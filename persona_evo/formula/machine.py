"""An interpreter of formulas: words on a stack, without allocation and without calls.

Nothing that plays or evolves uses it, since formulas run as machine code (`native`). It serves as a second, independent
way to the same values: tests compare the machine code with it bit by bit, and benchmarks measure the speed-up.
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import compiled
from persona_evo.formula.arithmetic import EXPONENT_LIMIT, LIMIT
from persona_evo.formula.opcodes import (
    ABS,
    ADD,
    ADD_CONST,
    ADD_CONST_VAR,
    ADD_VAR,
    ADD_VAR_CONST,
    ADD_VAR_VAR,
    CONST,
    DIV,
    DIV_CONST,
    DIV_CONST_VAR,
    DIV_VAR,
    DIV_VAR_CONST,
    DIV_VAR_VAR,
    EXP,
    GE,
    GT,
    IF,
    LE,
    LOG,
    LT,
    MAX,
    MIN,
    MUL,
    MUL_CONST,
    MUL_CONST_VAR,
    MUL_VAR,
    MUL_VAR_CONST,
    MUL_VAR_VAR,
    NEG,
    SQRT,
    STACK,
    SUB,
    SUB_CONST,
    SUB_CONST_VAR,
    SUB_VAR,
    SUB_VAR_CONST,
    SUB_VAR_VAR,
    VAR,
)

__all__ = ["STACK", "load", "run"]

MASK = STACK - 1
"""Keeps an index inside the stack; it also tells the compiler that the index is not negative, which saves a check."""


@compiled
def load(x: float) -> float:
    """Return a variable as formulas see it: NaN as 0, anything beyond ±LIMIT as ±LIMIT."""
    if abs(x) <= LIMIT:
        return x
    if x > 0.0:
        return LIMIT
    if x < 0.0:
        return -LIMIT
    return 0.0


@compiled
def bound(x: float) -> float:
    """Return a result (never NaN) limited to ±LIMIT."""
    if abs(x) <= LIMIT:
        return x
    return LIMIT if x > 0.0 else -LIMIT


@compiled
def divide(a: float, b: float) -> float:
    """Return the protected quotient."""
    if b == 0.0:
        return 1.0
    return bound(a / b)


@compiled
def run(ops: Any, constants: Any, variables: Any, stack: Any) -> float:
    """Return the value of a formula.

    Args:
        ops: int64[n], opcode | argument << 8, a second argument << 24 (`encoding.encode`).
        constants: float64[m].
        variables: float64[k], in the order given to `encoding.encode`; any value, including NaN and infinities.
        stack: float64[STACK], scratch space.

    Returns:
        A number within ±LIMIT, equal to the last bit to the result of `Formula.evaluate`; NaN for an unknown opcode.
    """
    top = 0.0
    height = 0
    for i in range(ops.shape[0]):
        word = ops[i]
        op = word & 255
        a = (word >> 8) & 0xFFFF
        b = (word >> 24) & 0xFFFF
        if op == VAR:
            stack[height & MASK] = top
            height += 1
            top = load(variables[a])
        elif op == CONST:
            stack[height & MASK] = top
            height += 1
            top = constants[a]
        elif op == ADD:
            height -= 1
            top = bound(stack[height & MASK] + top)
        elif op == ADD_VAR:
            top = bound(top + load(variables[a]))
        elif op == ADD_CONST:
            top = bound(top + constants[a])
        elif op == ADD_VAR_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) + load(variables[b]))
        elif op == ADD_VAR_CONST:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) + constants[b])
        elif op == ADD_CONST_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(constants[a] + load(variables[b]))
        elif op == SUB:
            height -= 1
            top = bound(stack[height & MASK] - top)
        elif op == SUB_VAR:
            top = bound(top - load(variables[a]))
        elif op == SUB_CONST:
            top = bound(top - constants[a])
        elif op == SUB_VAR_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) - load(variables[b]))
        elif op == SUB_VAR_CONST:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) - constants[b])
        elif op == SUB_CONST_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(constants[a] - load(variables[b]))
        elif op == MUL:
            height -= 1
            top = bound(stack[height & MASK] * top)
        elif op == MUL_VAR:
            top = bound(top * load(variables[a]))
        elif op == MUL_CONST:
            top = bound(top * constants[a])
        elif op == MUL_VAR_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) * load(variables[b]))
        elif op == MUL_VAR_CONST:
            stack[height & MASK] = top
            height += 1
            top = bound(load(variables[a]) * constants[b])
        elif op == MUL_CONST_VAR:
            stack[height & MASK] = top
            height += 1
            top = bound(constants[a] * load(variables[b]))
        elif op == DIV:
            height -= 1
            top = divide(stack[height & MASK], top)
        elif op == DIV_VAR:
            top = divide(top, load(variables[a]))
        elif op == DIV_CONST:
            top = divide(top, constants[a])
        elif op == DIV_VAR_VAR:
            stack[height & MASK] = top
            height += 1
            top = divide(load(variables[a]), load(variables[b]))
        elif op == DIV_VAR_CONST:
            stack[height & MASK] = top
            height += 1
            top = divide(load(variables[a]), constants[b])
        elif op == DIV_CONST_VAR:
            stack[height & MASK] = top
            height += 1
            top = divide(constants[a], load(variables[b]))
        elif op == NEG:
            top = -top
        elif op == ABS:
            top = abs(top)
        elif op == SQRT:
            top = math.sqrt(abs(top))
        elif op == LOG:
            top = 0.0 if top == 0.0 else math.log(abs(top))
        elif op == EXP:
            if top > EXPONENT_LIMIT:
                top = EXPONENT_LIMIT
            elif top < -EXPONENT_LIMIT:
                top = -EXPONENT_LIMIT
            top = bound(math.exp(top))
        elif op == MIN:
            height -= 1
            if stack[height & MASK] < top:
                top = stack[height & MASK]
        elif op == MAX:
            height -= 1
            if stack[height & MASK] > top:
                top = stack[height & MASK]
        elif op == GT:
            height -= 1
            top = 1.0 if stack[height & MASK] > top else 0.0
        elif op == GE:
            height -= 1
            top = 1.0 if stack[height & MASK] >= top else 0.0
        elif op == LT:
            height -= 1
            top = 1.0 if stack[height & MASK] < top else 0.0
        elif op == LE:
            height -= 1
            top = 1.0 if stack[height & MASK] <= top else 0.0
        elif op == IF:
            height -= 2
            top = stack[(height + 1) & MASK] if stack[height & MASK] > 0.0 else top
        else:
            return math.nan
    return top + 0.0
