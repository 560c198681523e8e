"""The opcodes of the formula interpreter (`machine`), with which benchmarks and tests compare."""

from __future__ import annotations

STACK = 1024
"""The length of the scratch row of the compiled machine: more than any formula of MAX_NODES can fill."""

CONST, VAR = 0, 1
ADD, SUB, MUL, DIV = 2, 3, 4, 5
ADD_VAR, SUB_VAR, MUL_VAR, DIV_VAR = 6, 7, 8, 9
ADD_CONST, SUB_CONST, MUL_CONST, DIV_CONST = 10, 11, 12, 13
ADD_VAR_VAR, SUB_VAR_VAR, MUL_VAR_VAR, DIV_VAR_VAR = 14, 15, 16, 17
ADD_VAR_CONST, SUB_VAR_CONST, MUL_VAR_CONST, DIV_VAR_CONST = 18, 19, 20, 21
ADD_CONST_VAR, SUB_CONST_VAR, MUL_CONST_VAR, DIV_CONST_VAR = 22, 23, 24, 25
NEG, ABS, SQRT, LOG, EXP = 26, 27, 28, 29, 30
MIN, MAX, GT, GE, LT, LE, IF = 31, 32, 33, 34, 35, 36, 37
"""Opcodes of the compiled machine.

Arithmetic comes in six forms: both operands from the stack; the right one from a variable or a constant; both from
variables or constants. So a formula of 15 nodes takes about 7 steps. The rest work on the stack alone.
"""

FUSABLE = frozenset((ADD, SUB, MUL, DIV))
FUSED: dict[tuple[int | None, int | None], int] = {
    (None, VAR): ADD_VAR - ADD,
    (None, CONST): ADD_CONST - ADD,
    (VAR, VAR): ADD_VAR_VAR - ADD,
    (VAR, CONST): ADD_VAR_CONST - ADD,
    (CONST, VAR): ADD_CONST_VAR - ADD,
}
"""What to add to the opcode for (kind of the left operand, kind of the right one); None is the stack."""
