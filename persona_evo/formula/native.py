"""Formulas as machine code, through llvmlite alone.

A function is written as text of LLVM's assembly language (`Writer`), compiled without LLVM's optimiser, which finds
nothing to do in such code, and kept for as long as somebody holds it (`Native`). Values are bit for bit those of
`Formula.evaluate`: operations keep their order, none is contracted or reassociated (they carry no fast-math flags), and
log and exp are those of the C library, which Python's own `math` calls.

What the writer saves is work that cannot change a value: an expression that occurs twice is computed once, one of
constants in advance, and a result is brought into ±LIMIT only where it can lie outside. For the last it knows of each
number how large it can be, and how close to zero where it is not zero.

With PERSONA_EVO_INTERPRET=1 nothing is compiled; the functions then run in Python.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import struct
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import INTERPRET
from persona_evo.errors import FormulaError, unknown
from persona_evo.formula import primitives as p
from persona_evo.formula.core import Formula

if TYPE_CHECKING:
    from llvmlite.binding import ExecutionEngine, TargetMachine

LANES = 4
"""Numbers in a vector; LLVM makes of it what the processor has."""

OPTIMISED, QUICK = 1, 0
"""LLVM's levels of code generation: for what is called often, and for what is called so rarely that code which takes
half as long to make and twice as long to run costs less."""

KEPT = 1024
"""Functions that are kept for their next use."""

LOG_LIMIT = 1000.0
"""More than the magnitude of the logarithm of any double."""


class Number:
    """A number while code is written: a register, or a constant.

    Operators write the plain operation of IEEE 754, as Python's do.

    Attributes:
        name: of the register, or the constant as LLVM writes it.
        wide: whether it is a vector, a number for each lane.
        most: no magnitude is larger; infinity where that is not known, or where it may be NaN.
        least: no magnitude is smaller but that of zero.
        value: of a constant.
    """

    __slots__ = ("least", "most", "name", "value", "wide", "writer")

    def __init__(
        self, writer: Writer, name: str, wide: bool, most: float = math.inf, least: float = 0.0,
        value: float | None = None,
    ) -> None:  # fmt: skip
        self.writer, self.name, self.wide, self.most, self.least, self.value = writer, name, wide, most, least, value

    def __add__(self, other: Number | float) -> Number:
        other = self.writer.number(other)
        return self.writer.operation("fadd", self, other, most=self.most + other.most)

    def __sub__(self, other: Number | float) -> Number:
        other = self.writer.number(other)
        return self.writer.operation("fsub", self, other, most=self.most + other.most)

    def __mul__(self, other: Number | float) -> Number:
        other = self.writer.number(other)
        most = self.most * other.most if self.most and other.most else 0.0
        return self.writer.operation("fmul", self, other, most=most, least=self.least * other.least)

    def __truediv__(self, other: Number | float) -> Number:
        """The quotient; `most` is that of divisors other than zero."""
        other = self.writer.number(other)
        most = self.most / other.least if other.least else math.inf
        least = self.least / other.most if other.most else 0.0
        return self.writer.operation("fdiv", self, other, most=most, least=least)

    def __rmul__(self, other: float) -> Number:
        return self.writer.number(other) * self

    def __neg__(self) -> Number:
        return self.writer.operation("fneg", self, most=self.most, least=self.least)

    def __gt__(self, other: Number | float) -> Truth:
        return self.writer.comparison("ogt", self, self.writer.number(other))

    def __ge__(self, other: Number | float) -> Truth:
        return self.writer.comparison("oge", self, self.writer.number(other))

    def __lt__(self, other: Number | float) -> Truth:
        return self.writer.comparison("olt", self, self.writer.number(other))

    def __le__(self, other: Number | float) -> Truth:
        return self.writer.comparison("ole", self, self.writer.number(other))


@dataclass(frozen=True)
class Truth:
    """The result of a comparison while code is written."""

    writer: Writer
    name: str
    wide: bool


Real = TypeVar("Real", float, Number)
"""What definitions that serve Python and machine code are written over."""


@overload
def where(condition: bool, a: float, b: float) -> float: ...
@overload
def where(condition: Truth, a: Number | float, b: Number | float) -> Number: ...
def where(condition: bool | Truth, a: Number | float, b: Number | float) -> Number | float:
    """a where the condition holds, else b; both are computed."""
    if isinstance(condition, Truth):
        return condition.writer.select(condition, condition.writer.number(a), condition.writer.number(b))
    return a if condition else b


@overload
def root(x: float) -> float: ...
@overload
def root(x: Number) -> Number: ...
def root(x: Number | float) -> Number | float:
    """The square root of a number that is not negative."""
    if isinstance(x, Number):
        return x.writer.call("sqrt", x, math.sqrt(x.most), math.sqrt(x.least))
    return math.sqrt(x)


class Writer:
    """The instructions of one function.

    Attributes:
        before: lines that compute single numbers.
        lines: those that compute a number for each lane, and whatever is done with them.
    """

    def __init__(self) -> None:
        self.before: list[str] = []
        self.lines: list[str] = []
        self._names: dict[str, str] = {}

    def number(self, x: Number | float) -> Number:
        """A number as it is, or a constant."""
        if isinstance(x, Number):
            return x
        return Number(self, f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}", False, abs(x), abs(x), x)

    def write(self, instruction: str, wide: bool = False) -> str:
        """The register that holds the result of an instruction; equal instructions are written once."""
        name = self._names.get(instruction)
        if name is None:
            name = self._names[instruction] = f"%{'v' if wide else 's'}{len(self._names)}"
            (self.lines if wide else self.before).append(f"{name} = {instruction}")
        return name

    def operation(self, name: str, *operands: Number, most: float = math.inf, least: float = 0.0) -> Number:
        """An instruction on numbers, whose result is a number."""
        wide = any(x.wide for x in operands)
        result = self.write(f"{name} {_kind(wide)} {', '.join(self.spelled(x, wide) for x in operands)}", wide)
        return Number(self, result, wide, most, least)

    def comparison(self, predicate: str, a: Number, b: Number) -> Truth:
        """Whether a stands in this relation to b."""
        wide = a.wide or b.wide
        text = f"fcmp {predicate} {_kind(wide)} {self.spelled(a, wide)}, {self.spelled(b, wide)}"
        return Truth(self, self.write(text, wide), wide)

    def select(self, condition: Truth, a: Number, b: Number) -> Number:
        """a where the condition holds, else b."""
        wide = condition.wide or a.wide or b.wide
        kind, truth = _kind(wide), condition.name
        if wide and not condition.wide:
            truth = self._splat("i1", truth)
        text = f"select {_kind(wide, 'i1')} {truth}, {kind} {self.spelled(a, wide)}, {kind} {self.spelled(b, wide)}"
        return Number(self, self.write(text, wide), wide, max(a.most, b.most), min(a.least, b.least))

    def call(self, function: str, x: Number, most: float, least: float = 0.0) -> Number:
        """One of LLVM's functions of one number."""
        kind = _kind(x.wide)
        text = f"call {kind} @llvm.{function}.{_suffix(x.wide)}({kind} {x.name})"
        return Number(self, self.write(text, x.wide), x.wide, most, least)

    def spelled(self, x: Number, wide: bool) -> str:
        """A number as an operand; a single one stands for all lanes."""
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


def limit(x: Number) -> Number:
    """A number, which is never NaN, brought into ±LIMIT."""
    if x.most <= p.LIMIT:
        return x
    x = where(x < p.LIMIT, x, p.LIMIT)
    x = where(x > -p.LIMIT, x, -p.LIMIT)
    x.most = p.LIMIT
    return x


def clean(x: Number) -> Number:
    """A number that comes from outside as formulas see it: NaN counts as 0, beyond ±LIMIT it is ±LIMIT."""
    if x.most <= p.LIMIT:
        return x
    x = where(x.writer.comparison("ord", x, x), x, 0.0)
    return limit(x)


def _divide(a: Number, b: Number) -> Number:
    if b.value is not None:
        return limit(a / b) if b.value else b.writer.number(1.0)
    return where(b.writer.comparison("oeq", b, b.writer.number(0.0)), 1.0, limit(a / b))


def _magnitude(x: Number) -> Number:
    return x.writer.call("fabs", x, x.most, x.least)


def _log(x: Number) -> Number:
    x = where(x.writer.comparison("oeq", x, x.writer.number(0.0)), 1.0, _magnitude(x))
    return x.writer.call("log", x, LOG_LIMIT)


def _exp(x: Number) -> Number:
    if x.most > p.EXPONENT_LIMIT:
        x = where(x < p.EXPONENT_LIMIT, x, p.EXPONENT_LIMIT)
        x = where(x > -p.EXPONENT_LIMIT, x, -p.EXPONENT_LIMIT)
        x.most = p.EXPONENT_LIMIT
    return limit(x.writer.call("exp", x, 1.01 * math.exp(x.most)))


OPERATIONS: dict[str, Callable[..., Number]] = {
    "+": lambda a, b: limit(a + b),
    "-": lambda a, b: limit(a - b),
    "*": lambda a, b: limit(a * b),
    "/": _divide,
    "neg": lambda a: -a,
    "abs": _magnitude,
    "sqrt": lambda a: root(_magnitude(a)),
    "log": _log,
    "exp": _exp,
    "min": lambda a, b: where(b < a, b, a),
    "max": lambda a, b: where(b > a, b, a),
    ">": lambda a, b: where(a > b, 1.0, 0.0),
    ">=": lambda a, b: where(a >= b, 1.0, 0.0),
    "<": lambda a, b: where(a < b, 1.0, 0.0),
    "<=": lambda a, b: where(a <= b, 1.0, 0.0),
    "if": lambda condition, a, b: where(condition > 0.0, a, b),
}
"""How each primitive is written; operands are within ±LIMIT and so is the result."""


def emit(writer: Writer, formula: Formula, load: Callable[[str], Number]) -> Number:
    """Write the instructions of a formula.

    Args:
        writer: what they are added to.
        formula: the formula.
        load: the value of a symbol, whatever it is.

    Returns:
        The value, within ±LIMIT, never -0.
    """
    stack: list[Number] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(writer.number(token))
        elif token in p.PRIMITIVES:
            primitive = p.PRIMITIVES[token]
            first = len(stack) - primitive.arity
            operands = stack[first:]
            del stack[first:]
            constants = [x.value for x in operands if x.value is not None]
            if len(constants) == len(operands):
                stack.append(writer.number(primitive.function(*constants)))
            else:
                stack.append(OPERATIONS[token](*operands))
        else:
            stack.append(clean(load(token)))
    return stack[0] + 0.0


_ARGUMENTS: dict[str, Any] = {
    "double*": np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS"),
    "i64*": np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS"),
    "i64": ctypes.c_int64,
}


class Source(Protocol):
    """A function that can be compiled, or run in Python; equal ones are compiled once."""

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The kind ("double*", "i64*", "i64") and the name of each argument."""

    @property
    def gives(self) -> str:
        """The kind of the result: "double" or "void"."""

    @property
    def level(self) -> int:
        """OPTIMISED or QUICK."""

    def body(self) -> list[str]:
        """The lines of the function between its braces."""

    @property
    def run(self) -> Callable[..., float | None]:
        """The same in Python."""


class Native:
    """A compiled function, which is there for as long as this is held.

    Args:
        source: what was compiled.
        address: of the machine code, 0 where nothing is compiled.
        engine: what holds the machine code.
    """

    def __init__(self, source: Source, address: int = 0, engine: ExecutionEngine | None = None) -> None:
        self.source, self.address = source, address
        self._engine = engine
        if address:
            given = [_ARGUMENTS[kind] for kind, _ in source.arguments]
            result = ctypes.c_double if source.gives == "double" else None
            self._call: Callable[..., Any] = ctypes.CFUNCTYPE(result, *given)(address)
        else:
            self._call = source.run

    def __call__(self, *arguments: NDArray[Any] | int) -> Any:
        """Call it from Python; arrays are contiguous."""
        return self._call(*arguments)


@dataclass(frozen=True)
class Row:
    """The function `double f(const double *row)` of a formula.

    Attributes:
        formula: the formula.
        order: the symbols of the row.

    Raises:
        FormulaError: the formula reads a symbol that is not in `order`.
    """

    formula: Formula
    order: tuple[str, ...]
    arguments = (("double*", "%row"),)
    gives = "double"
    level = OPTIMISED

    def __post_init__(self) -> None:
        _check(self.formula, self.order)

    def body(self) -> list[str]:
        """The lines of the function."""
        writer = Writer()
        result = emit(writer, self.formula, lambda symbol: loaded(writer, "%row", self.order.index(symbol)))
        return [*writer.before, f"ret double {result.name}"]

    def run(self, row: NDArray[np.float64]) -> float:
        """The same in Python."""
        return self.formula.evaluate(dict(zip(self.order, row.tolist(), strict=False)))


@dataclass(frozen=True)
class Rows:
    """The function `void f(const double *row, double *out)` of several formulas over the same row.

    Attributes:
        formulas: the formulas; what occurs in several is computed once.
        order: the symbols of the row.
        first: the place in `out` of the first formula's value; the others follow.
        level: OPTIMISED or QUICK.

    Raises:
        FormulaError: a formula reads a symbol that is not in `order`.
    """

    formulas: tuple[Formula, ...]
    order: tuple[str, ...]
    first: int = 0
    level: int = OPTIMISED
    arguments = (("double*", "%row"), ("double*", "%out"))
    gives = "void"

    def __post_init__(self) -> None:
        for formula in self.formulas:
            _check(formula, self.order)

    def body(self) -> list[str]:
        """The lines of the function."""
        writer = Writer()
        results = [
            emit(writer, formula, lambda symbol: loaded(writer, "%row", self.order.index(symbol)))
            for formula in self.formulas
        ]
        for i, result in enumerate(results):
            place = writer.write(f"getelementptr double, double* %out, i64 {self.first + i}")
            writer.before.append(f"store double {result.name}, double* {place}")
        return [*writer.before, "ret void"]

    def run(self, row: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """The same in Python."""
        values = dict(zip(self.order, row.tolist(), strict=False))
        out[self.first : self.first + len(self.formulas)] = [formula.evaluate(values) for formula in self.formulas]


def _check(formula: Formula, order: tuple[str, ...]) -> None:
    """See that all symbols of a formula are in the row."""
    for symbol in sorted(formula.symbols.difference(order)):
        expected, hint = unknown(symbol, order)
        raise FormulaError("unknown symbol", found=symbol, expected=expected, hint=hint)


def loaded(writer: Writer, pointer: str, index: int) -> Number:
    """The double at a place behind a pointer, which does not change while the function runs."""
    at = writer.write(f"getelementptr double, double* {pointer}, i64 {index}")
    return Number(writer, writer.write(f"load double, double* {at}"), False)


_numbers = itertools.count()
_lock = threading.RLock()
_memory: OrderedDict[Source, Native] = OrderedDict()


def compile_all(sources: Sequence[Source]) -> list[Native]:
    """Functions as machine code: those in memory as they are, the others compiled at once."""
    with _lock:
        missing = [s for s in dict.fromkeys(sources) if s not in _memory]
        found = {s: _memory[s] for s in sources if s in _memory}
        found.update(zip(missing, _compile(missing), strict=True))
        for source, native in found.items():
            _memory[source] = native
            _memory.move_to_end(source)
        while len(_memory) > KEPT:
            _memory.popitem(last=False)
        return [found[s] for s in sources]


def _compile(sources: Sequence[Source]) -> list[Native]:
    if INTERPRET or not sources:
        return [Native(source) for source in sources]
    import llvmlite.binding as llvm

    names = {source: f"persona_evo_{next(_numbers)}" for source in sources}
    machines = {level: _machine(level) for level in sorted({source.level for source in sources})}
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(QUICK))
    for level, machine in machines.items():
        text = assembly({name: source for source, name in names.items() if source.level == level})
        data = machine.emit_object(llvm.parse_assembly(text))
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return [Native(source, engine.get_function_address(name), engine) for source, name in names.items()]


def assembly(functions: dict[str, Source]) -> str:
    """Functions, by name, as a module in LLVM's assembly language."""
    lines = []
    for function, wide in itertools.product(("fabs", "sqrt", "log", "exp"), (False, True)):
        lines.append(f"declare {_kind(wide)} @llvm.{function}.{_suffix(wide)}({_kind(wide)})")
    for name, source in functions.items():
        given = ", ".join(f"{kind} {argument}" for kind, argument in source.arguments)
        lines += [f"define {source.gives} @{name}({given}) {{", *source.body(), "}"]
    return "\n".join(lines)


@functools.cache
def _machine(level: int) -> TargetMachine:
    """What generates code for the processor at hand."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    for name in ("log", "exp"):
        if llvm.address_of_symbol(name) is None:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    return _new_machine(level)


def _new_machine(level: int) -> TargetMachine:
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level
    )


def formula_on_row(formula: Formula, order: Sequence[str]) -> Native:
    """The function of a formula over a row of variables in this order.

    Raises:
        FormulaError: a symbol is not in `order`.
    """
    return compile_all([Row(formula, tuple(order))])[0]
