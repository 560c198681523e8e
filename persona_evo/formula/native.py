"""Compiles formulas to machine code, with llvmlite only.

A function is written in LLVM's assembly language (see `assembly`), compiled without LLVM's optimiser, and kept in
memory as long as a `Native` refers to it. Compiling many functions at once halves the time for each.

With PERSONA_EVO_INTERPRET=1, nothing is compiled and the functions run in Python.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import INTERPRET
from persona_evo.errors import FormulaError, unknown
from persona_evo.formula.assembly import AssemblyNumber, Writer, clean, declarations
from persona_evo.formula.core import Formula
from persona_evo.formula.primitives import PRIMITIVES

if TYPE_CHECKING:
    from llvmlite.binding import ExecutionEngine, TargetMachine

OPTIMISED, QUICK = 1, 0
"""LLVM's levels of code generation.

OPTIMISED is for code that is called often. QUICK is for code that is called so rarely
that halving the time to compile it pays although it takes twice as long to run.
"""

KEPT = 1024
"""The number of functions that are kept for their next use."""

_ARGUMENTS: dict[str, Any] = {
    "double*": np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS"),
    "i64*": np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS"),
    "i64": ctypes.c_int64,
}


class NativeSource(Protocol):
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
        """Return the lines of the function between its braces."""

    @property
    def run(self) -> Callable[..., float | None]:
        """Return the same function in Python."""


class Native:
    """A compiled function, which exists as long as this object.

    Args:
        source: the source that was compiled.
        address: the address of the machine code, 0 if nothing is compiled.
        engine: the owner of the machine code.
    """

    def __init__(self, source: NativeSource, address: int = 0, engine: ExecutionEngine | None = None) -> None:
        self.source, self.address = source, address
        self._engine = engine
        if address:
            given = [_ARGUMENTS[kind] for kind, _ in source.arguments]
            result = ctypes.c_double if source.gives == "double" else None
            self._call: Callable[..., Any] = ctypes.CFUNCTYPE(result, *given)(address)
        else:
            self._call = source.run

    def __call__(self, *arguments: NDArray[Any] | int) -> Any:
        """Call the function from Python; arrays must be contiguous."""
        try:
            return self._call(*arguments)
        except ctypes.ArgumentError as e:
            if KeyboardInterrupt.__name__ in str(e):  # Ctrl-C while an argument was converted
                raise KeyboardInterrupt from None
            raise


def emit(writer: Writer, formula: Formula, load: Callable[[str], AssemblyNumber]) -> AssemblyNumber:
    """Write the instructions of a formula.

    Args:
        writer: receives the instructions.
        formula: the formula.
        load: returns the value of a symbol, which may be any number.

    Returns:
        The value, within ±LIMIT, never -0.
    """
    stack: list[AssemblyNumber] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(writer.number(token))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            first = len(stack) - primitive.arity
            operands = stack[first:]
            del stack[first:]
            constants = [x.value for x in operands if x.value is not None]
            if len(constants) == len(operands):
                stack.append(writer.number(primitive.function(*constants)))
            else:
                stack.append(primitive.native(*operands))
        else:
            stack.append(clean(load(token)))
    return stack[0] + 0.0


def loaded(writer: Writer, pointer: str, index: int) -> AssemblyNumber:
    """Return the double at an index from a pointer; it must not change while the function runs."""
    at = writer.write(f"getelementptr double, double* {pointer}, i64 {index}")
    return AssemblyNumber(writer, writer.write(f"load double, double* {at}"), False)


@dataclass(frozen=True)
class RowFunction:
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
        """Return the lines of the function."""
        writer = Writer()
        result = emit(writer, self.formula, lambda symbol: loaded(writer, "%row", self.order.index(symbol)))
        return [*writer.before, f"ret double {result.name}"]

    def run(self, row: NDArray[np.float64]) -> float:
        """Compute the same in Python."""
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
        """Return the lines of the function."""
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
        """Compute the same in Python."""
        values = dict(zip(self.order, row.tolist(), strict=False))
        out[self.first : self.first + len(self.formulas)] = [formula.evaluate(values) for formula in self.formulas]


def _check(formula: Formula, order: tuple[str, ...]) -> None:
    """Check that all symbols of a formula are in the row."""
    for symbol in sorted(formula.symbols.difference(order)):
        expected, hint = unknown(symbol, order)
        raise FormulaError("unknown symbol", found=symbol, expected=expected, hint=hint)


_numbers = itertools.count()
_lock = threading.RLock()
_memory: OrderedDict[NativeSource, Native] = OrderedDict()


def compile_all(sources: Sequence[NativeSource]) -> list[Native]:
    """Return functions as machine code. Those in memory are reused; the others are compiled together."""
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


def _compile(sources: Sequence[NativeSource]) -> list[Native]:
    if INTERPRET or not sources:
        return [Native(source) for source in sources]
    import llvmlite.binding as llvm

    names = {source: f"persona_evo_{next(_numbers)}" for source in sources}
    machines = {level: _machine(level) for level in sorted({source.level for source in sources})}
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(QUICK))
    for level, machine in machines.items():
        text = assembly({name: source for source, name in names.items() if source.level == level})
        context = (
            llvm.create_context()
        )  # the module has its own context, because LLVM's global one would keep all constants forever
        data = machine.emit_object(llvm.parse_assembly(text, context))
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return [Native(source, engine.get_function_address(name), engine) for source, name in names.items()]


def assembly(functions: dict[str, NativeSource]) -> str:
    """Return functions, by name, as a module in LLVM's assembly language."""
    lines = declarations()
    for name, source in functions.items():
        given = ", ".join(f"{kind} {argument}" for kind, argument in source.arguments)
        lines += [f"define {source.gives} @{name}({given}) {{", *source.body(), "}"]
    return "\n".join(lines)


@functools.cache
def _machine(level: int) -> TargetMachine:
    """Return the code generator for the present processor."""
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

    from persona_evo.compiling.machine import host

    processor, features = host()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=processor, features=features, opt=level)


def formula_on_row(formula: Formula, order: Sequence[str]) -> Native:
    """Return the compiled function of a formula over a row of variables in this order.

    Raises:
        FormulaError: a symbol is not in `order`.
    """
    return compile_all([RowFunction(formula, tuple(order))])[0]
