"""Writes formulas in LLVM's assembly language.

Values equal those of `Formula.evaluate` bit for bit: operations keep their order, none is contracted or reassociated
(they carry no fast-math flags), and log and exp are those of the C library, which Python's own `math` calls.

The writer only saves work that cannot change a value. An expression that occurs twice is computed once, a constant
expression is computed in advance, and a result is limited to ±LIMIT only if it can exceed it. To decide this, the
writer tracks for each number how large it can be, and how close to zero if it is not zero. LLVM's optimiser would
therefore find nothing to do.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass
from typing import TypeVar, overload

from persona_evo.formula.arithmetic import EXPONENT_LIMIT, LIMIT

LANES = 4
"""The numbers in a vector. LLVM maps it to what the processor has."""

LOG_LIMIT = 1000.0
"""A bound above the magnitude of the logarithm of any double."""


class AssemblyNumber:
    """A number in code being written: a register, or a constant.

    Operators write the plain operation of IEEE 754, as Python's do.

    Attributes:
        name: the name of the register, or the constant in LLVM's notation.
        wide: whether it is a vector, with a number for each lane.
        most: an upper bound on the magnitude; infinity if none is known, or if the number may be NaN.
        least: a lower bound on the magnitude of values other than zero.
        value: the value of a constant.
    """

    __slots__ = ("least", "most", "name", "value", "wide", "writer")

    def __init__(
        self,
        writer: Writer,
        name: str,
        wide: bool,
        most: float = math.inf,
        least: float = 0.0,
        value: float | None = None,
    ) -> None:
        self.writer, self.name, self.wide, self.most, self.least, self.value = writer, name, wide, most, least, value

    def __add__(self, other: AssemblyNumber | float) -> AssemblyNumber:
        other = self.writer.number(other)
        return self.writer.operation("fadd", self, other, most=self.most + other.most)

    def __sub__(self, other: AssemblyNumber | float) -> AssemblyNumber:
        other = self.writer.number(other)
        return self.writer.operation("fsub", self, other, most=self.most + other.most)

    def __mul__(self, other: AssemblyNumber | float) -> AssemblyNumber:
        other = self.writer.number(other)
        most = self.most * other.most if self.most and other.most else 0.0
        return self.writer.operation("fmul", self, other, most=most, least=self.least * other.least)

    def __truediv__(self, other: AssemblyNumber | float) -> AssemblyNumber:
        """Return the quotient; `most` is that of divisors other than zero."""
        other = self.writer.number(other)
        most = self.most / other.least if other.least else math.inf
        least = self.least / other.most if other.most else 0.0
        return self.writer.operation("fdiv", self, other, most=most, least=least)

    def __rmul__(self, other: float) -> AssemblyNumber:
        return self.writer.number(other) * self

    def __neg__(self) -> AssemblyNumber:
        return self.writer.operation("fneg", self, most=self.most, least=self.least)

    def __gt__(self, other: AssemblyNumber | float) -> Truth:
        return self.writer.comparison("ogt", self, self.writer.number(other))

    def __ge__(self, other: AssemblyNumber | float) -> Truth:
        return self.writer.comparison("oge", self, self.writer.number(other))

    def __lt__(self, other: AssemblyNumber | float) -> Truth:
        return self.writer.comparison("olt", self, self.writer.number(other))

    def __le__(self, other: AssemblyNumber | float) -> Truth:
        return self.writer.comparison("ole", self, self.writer.number(other))


@dataclass(frozen=True)
class Truth:
    """The result of a comparison in code being written."""

    writer: Writer
    name: str
    wide: bool


Real = TypeVar("Real", float, AssemblyNumber)
"""The type variable of definitions that serve both Python and machine code."""


@overload
def where(condition: bool, a: float, b: float) -> float: ...
@overload
def where(condition: Truth, a: AssemblyNumber | float, b: AssemblyNumber | float) -> AssemblyNumber: ...
def where(condition: bool | Truth, a: AssemblyNumber | float, b: AssemblyNumber | float) -> AssemblyNumber | float:
    """Return `a` if the condition holds, otherwise `b`; both are computed."""
    if isinstance(condition, Truth):
        return condition.writer.select(condition, condition.writer.number(a), condition.writer.number(b))
    return a if condition else b


@overload
def root(x: float) -> float: ...
@overload
def root(x: AssemblyNumber) -> AssemblyNumber: ...
def root(x: AssemblyNumber | float) -> AssemblyNumber | float:
    """Return the square root of a number that is not negative."""
    if isinstance(x, AssemblyNumber):
        return x.writer.call("sqrt", x, math.sqrt(x.most), math.sqrt(x.least))
    return math.sqrt(x)


class Writer:
    """The instructions of one function.

    Attributes:
        before: lines that compute single numbers.
        lines: lines that compute a number for each lane, and whatever is done with them.
    """

    def __init__(self) -> None:
        self.before: list[str] = []
        self.lines: list[str] = []
        self._names: dict[str, str] = {}

    def number(self, x: AssemblyNumber | float) -> AssemblyNumber:
        """Return a number unchanged, or a constant for a float."""
        if isinstance(x, AssemblyNumber):
            return x
        return AssemblyNumber(self, f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}", False, abs(x), abs(x), x)

    def write(self, instruction: str, wide: bool = False) -> str:
        """Return the register that holds the result of an instruction. Equal instructions are written once."""
        name = self._names.get(instruction)
        if name is None:
            name = self._names[instruction] = f"%{'v' if wide else 's'}{len(self._names)}"
            (self.lines if wide else self.before).append(f"{name} = {instruction}")
        return name

    def operation(
        self, name: str, *operands: AssemblyNumber, most: float = math.inf, least: float = 0.0
    ) -> AssemblyNumber:
        """Write an instruction on numbers, whose result is a number."""
        wide = any(x.wide for x in operands)
        result = self.write(f"{name} {_kind(wide)} {', '.join(self.spelled(x, wide) for x in operands)}", wide)
        return AssemblyNumber(self, result, wide, most, least)

    def comparison(self, predicate: str, a: AssemblyNumber, b: AssemblyNumber) -> Truth:
        """Write the comparison of a with b."""
        wide = a.wide or b.wide
        text = f"fcmp {predicate} {_kind(wide)} {self.spelled(a, wide)}, {self.spelled(b, wide)}"
        return Truth(self, self.write(text, wide), wide)

    def select(self, condition: Truth, a: AssemblyNumber, b: AssemblyNumber) -> AssemblyNumber:
        """Write the choice of a where the condition holds, else b."""
        wide = condition.wide or a.wide or b.wide
        kind, truth = _kind(wide), condition.name
        if wide and not condition.wide:
            truth = self._splat("i1", truth)
        text = f"select {_kind(wide, 'i1')} {truth}, {kind} {self.spelled(a, wide)}, {kind} {self.spelled(b, wide)}"
        return AssemblyNumber(self, self.write(text, wide), wide, max(a.most, b.most), min(a.least, b.least))

    def call(self, function: str, x: AssemblyNumber, most: float, least: float = 0.0) -> AssemblyNumber:
        """Write a call of one of LLVM's functions of one number."""
        kind = _kind(x.wide)
        text = f"call {kind} @llvm.{function}.{_suffix(x.wide)}({kind} {x.name})"
        return AssemblyNumber(self, self.write(text, x.wide), x.wide, most, least)

    def spelled(self, x: AssemblyNumber, wide: bool) -> str:
        """Return a number as an operand. A single number stands for all lanes."""
        if not wide or x.wide:
            return x.name
        return _repeated("double", x.name) if x.value is not None else self._splat("double", x.name)

    def _splat(self, kind: str, name: str) -> str:
        one = self.write(f"insertelement {_vector(kind)} poison, {kind} {name}, i32 0")
        zeros = f"<{LANES} x i32> zeroinitializer"
        return self.write(f"shufflevector {_vector(kind)} {one}, {_vector(kind)} poison, {zeros}")


def _vector(kind: str) -> str:
    return f"<{LANES} x {kind}>"


def _kind(wide: bool, kind: str = "double") -> str:
    return _vector(kind) if wide else kind


def _suffix(wide: bool) -> str:
    return f"v{LANES}f64" if wide else "f64"


def _repeated(kind: str, name: str) -> str:
    return f"<{', '.join([f'{kind} {name}'] * LANES)}>"


def limit(x: AssemblyNumber) -> AssemblyNumber:
    """Return a number, which is never NaN, limited to ±LIMIT."""
    if x.most <= LIMIT:
        return x
    x = where(x < LIMIT, x, LIMIT)
    x = where(x > -LIMIT, x, -LIMIT)
    x.most = LIMIT
    return x


def clean(x: AssemblyNumber) -> AssemblyNumber:
    """Return a number from outside as formulas see it: NaN as 0, anything beyond ±LIMIT as ±LIMIT."""
    if x.most <= LIMIT:
        return x
    x = where(x.writer.comparison("ord", x, x), x, 0.0)
    return limit(x)


def add(a: AssemblyNumber, b: AssemblyNumber) -> AssemblyNumber:
    """Return the sum."""
    return limit(a + b)


def sub(a: AssemblyNumber, b: AssemblyNumber) -> AssemblyNumber:
    """Return the difference."""
    return limit(a - b)


def mul(a: AssemblyNumber, b: AssemblyNumber) -> AssemblyNumber:
    """Return the product."""
    return limit(a * b)


def div(a: AssemblyNumber, b: AssemblyNumber) -> AssemblyNumber:
    """Return the quotient, 1 where the divisor is 0."""
    if b.value is not None:
        return limit(a / b) if b.value else b.writer.number(1.0)
    return where(b.writer.comparison("oeq", b, b.writer.number(0.0)), 1.0, limit(a / b))


def magnitude(x: AssemblyNumber) -> AssemblyNumber:
    """Return the magnitude."""
    return x.writer.call("fabs", x, x.most, x.least)


def log(x: AssemblyNumber) -> AssemblyNumber:
    """Return the logarithm of the magnitude, 0 for 0."""
    x = where(x.writer.comparison("oeq", x, x.writer.number(0.0)), 1.0, magnitude(x))
    return x.writer.call("log", x, LOG_LIMIT)


def exp(x: AssemblyNumber) -> AssemblyNumber:
    """Return e to the power x, with x limited to ±EXPONENT_LIMIT."""
    if x.most > EXPONENT_LIMIT:
        x = where(x < EXPONENT_LIMIT, x, EXPONENT_LIMIT)
        x = where(x > -EXPONENT_LIMIT, x, -EXPONENT_LIMIT)
        x.most = EXPONENT_LIMIT
    return limit(x.writer.call("exp", x, 1.01 * math.exp(x.most)))


def declarations() -> list[str]:
    """Return the lines that declare the functions which formulas call."""
    functions = itertools.product(("fabs", "sqrt", "log", "exp"), (False, True))
    return [f"declare {_kind(wide)} @llvm.{name}.{_suffix(wide)}({_kind(wide)})" for name, wide in functions]
