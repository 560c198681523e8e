"""The one table of what a formula is made of.

Everything that knows an operation reads it here: the parser and the printer, the evaluator in Python, the compiled
machine, the rewriting rules, the derivation of LaTeX, Python, NumPy and C#, and the way to sympy and back.

Two promises hold for every operation on numbers within ±LIMIT: the result is a number, never NaN, and lies within
±LIMIT. Variables are brought into that range before the first operation (`clean`), constants are refused beyond it.
The sign of a zero is never visible: no operation tells -0 from 0, and the result of a whole formula is never -0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LIMIT = 1e300
"""Largest magnitude of any value in a formula."""

EXPONENT_LIMIT = 700.0
"""exp(x) takes x within ± this."""

MAX_NODES = 1023
"""Most operations, symbols and numbers in one formula."""

STACK = 1024
"""Length of the scratch row that the compiled machine needs: more than any formula of MAX_NODES can fill."""

COMPARISON, SUM, PRODUCT, SIGN, ATOM = 1, 2, 3, 4, 5
"""How tightly an operation binds, loosest first."""

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


def clean(x: float) -> float:
    """A value that comes from outside: NaN counts as 0, anything beyond ±LIMIT as ±LIMIT."""
    return 0.0 if x != x else limit(x)


def limit(x: float) -> float:
    """x brought into ±LIMIT (x is not NaN)."""
    return LIMIT if x > LIMIT else -LIMIT if x < -LIMIT else x


def _add(a: float, b: float) -> float:
    return limit(a + b)


def _sub(a: float, b: float) -> float:
    return limit(a - b)


def _mul(a: float, b: float) -> float:
    return limit(a * b)


def _div(a: float, b: float) -> float:
    return 1.0 if b == 0.0 else limit(a / b)


def _neg(a: float) -> float:
    return -a


def _sqrt(a: float) -> float:
    return math.sqrt(abs(a))


def _log(a: float) -> float:
    return 0.0 if a == 0.0 else math.log(abs(a))


def _exp(a: float) -> float:
    return limit(math.exp(min(max(a, -EXPONENT_LIMIT), EXPONENT_LIMIT)))


def _min(a: float, b: float) -> float:
    return b if b < a else a


def _max(a: float, b: float) -> float:
    return b if b > a else a


def _gt(a: float, b: float) -> float:
    return 1.0 if a > b else 0.0


def _ge(a: float, b: float) -> float:
    return 1.0 if a >= b else 0.0


def _lt(a: float, b: float) -> float:
    return 1.0 if a < b else 0.0


def _le(a: float, b: float) -> float:
    return 1.0 if a <= b else 0.0


def _if(condition: float, a: float, b: float) -> float:
    return a if condition > 0.0 else b


@dataclass(frozen=True)
class Primitive:
    """One operation.

    name: how a formula's tokens and its text call it. arity: number of operands. meaning: in words. guard: what makes
    it defined everywhere, "" where nothing has to. opcode: in the machine. precedence: ATOM for what is written as a
    call. commutative: exactly so, in floating point too. function: the reference in Python. sympy: builds the sympy
    expression from the sympy module and the operands (without the guard, which sympy does not know).
    latex, python, numpy, csharp: templates with {0}, {1}, {2}; python, numpy and csharp templates take operands that
    are atoms or bracketed, and yield the guarded value with the helpers that `formula.export` writes before them.
    """

    name: str
    arity: int
    meaning: str
    guard: str
    opcode: int
    precedence: int
    commutative: bool
    function: Callable[..., float]
    sympy: Callable[..., Any]
    latex: str
    python: str
    numpy: str
    csharp: str

    @property
    def infix(self) -> bool:
        """Written between its two operands."""
        return self.arity == 2 and self.precedence < ATOM


CLAMPED = "limited to ±1e300"
"""What is done to every result, as guards say it."""

# fmt: off
TABLE: tuple[Primitive, ...] = (
    Primitive("+", 2, "sum", CLAMPED, ADD, SUM, True, _add, lambda sp, a, b: a + b,
              "{0} + {1}", "limit({0} + {1})", "limit({0} + {1})", "Limit({0} + {1})"),
    Primitive("-", 2, "difference", CLAMPED, SUB, SUM, False, _sub, lambda sp, a, b: a - b,
              "{0} - {1}", "limit({0} - {1})", "limit({0} - {1})", "Limit({0} - {1})"),
    Primitive("*", 2, "product", CLAMPED, MUL, PRODUCT, True, _mul, lambda sp, a, b: a * b,
              "{0} \\cdot {1}", "limit({0} * {1})", "limit({0} * {1})", "Limit({0} * {1})"),
    Primitive("/", 2, "quotient", f"1 where the divisor is 0; {CLAMPED}", DIV, PRODUCT, False, _div,
              lambda sp, a, b: a / b,
              "\\frac{{{0}}}{{{1}}}", "divide({0}, {1})", "divide({0}, {1})", "Divide({0}, {1})"),
    Primitive("neg", 1, "the opposite", "", NEG, SIGN, False, _neg, lambda sp, a: -a,
              "-{0}", "(-{0})", "(-{0})", "(-{0})"),
    Primitive("abs", 1, "magnitude", "", ABS, ATOM, False, abs, lambda sp, a: sp.Abs(a),
              "\\left|{0}\\right|", "abs({0})", "np.abs({0})", "Math.Abs({0})"),
    Primitive("sqrt", 1, "square root of the magnitude", "of |x|", SQRT, ATOM, False, _sqrt,
              lambda sp, a: sp.sqrt(sp.Abs(a)),
              "\\sqrt{{\\left|{0}\\right|}}", "math.sqrt(abs({0}))", "np.sqrt(np.abs({0}))",
              "Math.Sqrt(Math.Abs({0}))"),
    Primitive("log", 1, "natural logarithm of the magnitude", "of |x|; 0 where x is 0", LOG, ATOM, False, _log,
              lambda sp, a: sp.log(sp.Abs(a)),
              "\\ln\\left|{0}\\right|", "log({0})", "log({0})", "Log({0})"),
    Primitive("exp", 1, "e to the power", f"x is taken within ±700; {CLAMPED}", EXP, ATOM, False, _exp,
              lambda sp, a: sp.exp(a),
              "\\exp\\left({0}\\right)", "exp({0})", "exp({0})", "Exp({0})"),
    Primitive("min", 2, "the smaller one", "", MIN, ATOM, True, _min, lambda sp, a, b: sp.Min(a, b),
              "\\min\\left({0}, {1}\\right)", "min({0}, {1})", "np.minimum({0}, {1})", "Math.Min({0}, {1})"),
    Primitive("max", 2, "the larger one", "", MAX, ATOM, True, _max, lambda sp, a, b: sp.Max(a, b),
              "\\max\\left({0}, {1}\\right)", "max({0}, {1})", "np.maximum({0}, {1})", "Math.Max({0}, {1})"),
    Primitive(">", 2, "1 if larger, else 0", "", GT, COMPARISON, False, _gt,
              lambda sp, a, b: sp.Piecewise((1, a > b), (0, True)),
              "\\left[{0} > {1}\\right]", "float({0} > {1})", "truth({0} > {1})", "({0} > {1} ? 1.0 : 0.0)"),
    Primitive(">=", 2, "1 if larger or equal, else 0", "", GE, COMPARISON, False, _ge,
              lambda sp, a, b: sp.Piecewise((1, a >= b), (0, True)),
              "\\left[{0} \\ge {1}\\right]", "float({0} >= {1})", "truth({0} >= {1})", "({0} >= {1} ? 1.0 : 0.0)"),
    Primitive("<", 2, "1 if smaller, else 0", "", LT, COMPARISON, False, _lt,
              lambda sp, a, b: sp.Piecewise((1, a < b), (0, True)),
              "\\left[{0} < {1}\\right]", "float({0} < {1})", "truth({0} < {1})", "({0} < {1} ? 1.0 : 0.0)"),
    Primitive("<=", 2, "1 if smaller or equal, else 0", "", LE, COMPARISON, False, _le,
              lambda sp, a, b: sp.Piecewise((1, a <= b), (0, True)),
              "\\left[{0} \\le {1}\\right]", "float({0} <= {1})", "truth({0} <= {1})", "({0} <= {1} ? 1.0 : 0.0)"),
    Primitive("if", 3, "if(c, a, b) is a where c > 0, else b", "", IF, ATOM, False, _if,
              lambda sp, c, a, b: sp.Piecewise((a, c > 0), (b, True)),
              "\\begin{{cases}} {1} & {0} > 0 \\\\ {2} & \\text{{otherwise}} \\end{{cases}}",
              "({1} if {0} > 0.0 else {2})", "np.where({0} > 0.0, {1}, {2})", "({0} > 0.0 ? {1} : {2})"),
)
# fmt: on
"""Every operation, in the order in which help texts list them."""

PRIMITIVES: dict[str, Primitive] = {p.name: p for p in TABLE}
"""The same by name."""

FUNCTIONS: dict[str, Primitive] = {p.name: p for p in TABLE if p.name.isidentifier()}
"""Those that may be written as a call; their names are reserved and cannot be symbols."""
