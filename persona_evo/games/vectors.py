"""Bytes of a row, and sixteen of them at once, for rules in which many things are asked the same question.

Each operation is a plain function on plain values (`bytes` of length 16 for a vector, whole numbers for the rest) that
becomes a few machine instructions where it is compiled. A set of lanes is a whole number with bit i set for lane i.

What is emitted is LLVM's own vector code, the same for every processor, but for one instruction: that which looks up
sixteen bytes in a table of sixteen has another name on each (see `lookup_instruction`), and is done lane by lane where
there is none.

Rows are uint16 as everywhere; offsets `at` count bytes here. Compiled code checks none of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from persona_evo.games.rows import Row

LANES = 16
ROW, VECTOR, WHOLE, REAL, NOTHING = "row", "vector", "whole", "real", "nothing"
"""What operations take and give."""


class Operation:
    """A plain function together with what it is in machine code.

    Args:
        plain: the function.
        kinds: what its arguments are, each one of the five words above, and last what it gives.
        emit: (IR builder, arguments as IR values, a row as an i8*) -> the IR value of the result.
    """

    def __init__(self, plain: Callable[..., Any], kinds: tuple[str, ...], emit: Callable[..., Any]) -> None:
        functools.update_wrapper(self, plain)
        self.plain, self.kinds, self.emit = plain, kinds, emit

    def __call__(self, *arguments: Any) -> Any:
        """The result in plain Python."""
        return self.plain(*arguments)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """How numba sees the function, which is asked when something that calls it is compiled."""
        from numba.core import types
        from numba.core.typing.templates import ConcreteTemplate, signature
        from numba.extending import lower_builtin

        *taken, given = (_numba_types()[kind] for kind in self.kinds)

        def lower(context: Any, builder: Any, of: Any, arguments: Any) -> Any:
            values = [
                _address(context, builder, kind, value) if name == ROW else value
                for name, kind, value in zip(self.kinds, of.args, arguments, strict=False)
            ]
            builder.features = getattr(context.codegen(), "_tm_features", "")
            return self.emit(builder, *values) or context.get_dummy_value()

        lower_builtin(self, *taken)(lower)
        template = type(self.plain.__name__, (ConcreteTemplate,), {"key": self, "cases": [signature(given, *taken)]})
        return types.Function(template)


def operation(*kinds: str, emit: Callable[..., Any]) -> Callable[[Callable[..., Any]], Operation]:
    """Mark a plain function as an `Operation`."""
    return lambda plain: Operation(plain, kinds, emit)


@functools.cache
def _numba_types() -> dict[str, Any]:
    """The numba type of each kind of value."""
    from numba.core import types
    from numba.extending import models, register_model

    class Vector(types.Type):
        def __init__(self) -> None:
            super().__init__(name="Bytes16")

    @register_model(Vector)
    class Model(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, _vector())

    return {ROW: types.uint16[::1], VECTOR: Vector(), WHOLE: types.int64, REAL: types.float64, NOTHING: types.void}


def _address(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return builder.bitcast(context.make_array(kind)(context, builder, value).data, _int(8).as_pointer())


# ---------------------------------------------------------------- machine code


def _int(bits: int) -> Any:
    from llvmlite import ir

    return ir.IntType(bits)


def _vector() -> Any:
    from llvmlite import ir

    return ir.VectorType(_int(8), LANES)


def _lanes(values: Any) -> Any:
    """A constant vector."""
    from llvmlite import ir

    return ir.Constant(_vector(), list(values))


def _at(b: Any, row: Any, at: Any, kind: Any) -> Any:
    return b.bitcast(b.gep(row, [at]), kind.as_pointer())


def _emit_load(b: Any, row: Any, at: Any, kind: Any, align: int) -> Any:
    value = b.load(_at(b, row, at, kind))
    value.align = align
    return value


def _emit_store(b: Any, row: Any, at: Any, value: Any, align: int) -> None:
    b.store(value, _at(b, row, at, value.type)).align = align


def _widened(b: Any, value: Any) -> Any:
    return b.zext(value, _int(64))


def _splat(b: Any, value: Any) -> Any:
    from llvmlite import ir

    empty = ir.Constant(_vector(), ir.Undefined)
    one = b.insert_element(empty, b.trunc(value, _int(8)), ir.Constant(_int(32), 0))
    return b.shuffle_vector(one, empty, ir.Constant(ir.VectorType(_int(32), LANES), [0] * LANES))


def _mask(b: Any, comparison: Any) -> Any:
    return _widened(b, b.bitcast(comparison, _int(LANES)))


def lookup_instruction(triple: str, features: str) -> str:
    """The LLVM intrinsic that looks up bytes in a vector (indices below 16); "" where the target has none."""
    processor = triple.split("-")[0]
    if processor in ("aarch64", "arm64"):
        return "llvm.aarch64.neon.tbl1.v16i8"
    if processor in ("x86_64", "amd64", "i686") and "+ssse3" in features:
        return "llvm.x86.ssse3.pshuf.b.128"
    return ""


def _emit_lookup(b: Any, table: Any, index: Any) -> Any:
    from llvmlite import ir

    kind = _vector()
    if name := lookup_instruction(b.module.triple, b.features):
        function = b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(kind, [kind, kind]), name)
        return b.call(function, [table, index])
    found = ir.Constant(kind, ir.Undefined)
    for i in range(LANES):
        lane = ir.Constant(_int(32), i)
        found = b.insert_element(found, b.extract_element(table, b.extract_element(index, lane)), lane)
    return found


def _emit_among(b: Any, values: Any, row: Any, at: Any) -> Any:
    index = b.and_(b.lshr(values, _lanes([3] * LANES)), _lanes([15] * LANES))
    eight = _emit_lookup(b, _emit_load(b, row, at, _vector(), 2), index)
    bit = _emit_lookup(b, _lanes([1, 2, 4, 8, 16, 32, 64, 128] * 2), b.and_(values, _lanes([7] * LANES)))
    return _mask(b, b.icmp_unsigned("==", b.and_(eight, bit), bit))


def _emit_with_lane(b: Any, values: Any, i: Any, value: Any) -> Any:
    return b.select(b.icmp_unsigned("==", _lanes(range(LANES)), _splat(b, i)), _splat(b, value), values)


def _emit_lowest(b: Any, lanes: Any) -> Any:
    from llvmlite import ir

    return b.cttz(lanes, ir.Constant(_int(1), 0))


def _emit_real(b: Any, row: Any, at: Any) -> Any:
    from llvmlite import ir

    return _emit_load(b, row, at, ir.DoubleType(), 2)


# ---------------------------------------------------------------- the operations


@operation(ROW, WHOLE, WHOLE, emit=lambda b, row, at: _widened(b, _emit_load(b, row, at, _int(8), 1)))
def byte(row: Row, at: int) -> int:
    """One byte of a row."""
    return int(row.view(np.uint8)[at])


@operation(
    ROW, WHOLE, WHOLE, NOTHING, emit=lambda b, row, at, value: _emit_store(b, row, at, b.trunc(value, _int(8)), 1)
)
def put_byte(row: Row, at: int, value: int) -> None:
    """Write one byte of a row, a value from 0 to 255."""
    row.view(np.uint8)[at] = value


@operation(ROW, WHOLE, REAL, emit=_emit_real)
def real(row: Row, at: int) -> float:
    """A float64 that is kept in eight bytes of a row."""
    return float(row.view(np.uint8)[at : at + 8].view(np.float64)[0])


@operation(ROW, WHOLE, VECTOR, emit=lambda b, row, at: _emit_load(b, row, at, _vector(), 2))
def load(row: Row, at: int) -> bytes:
    """Sixteen bytes of a row."""
    return row.view(np.uint8)[at : at + LANES].tobytes()


@operation(ROW, WHOLE, VECTOR, NOTHING, emit=lambda b, row, at, values: _emit_store(b, row, at, values, 2))
def store(row: Row, at: int, values: bytes) -> None:
    """Write sixteen bytes of a row."""
    row.view(np.uint8)[at : at + LANES] = np.frombuffer(values, dtype=np.uint8)


@operation(
    VECTOR, WHOLE, WHOLE,
    emit=lambda b, values, i: _widened(b, b.extract_element(values, b.trunc(i, _int(32)))),
)  # fmt: skip
def lane(values: bytes, i: int) -> int:
    """The byte in lane i."""
    return values[i]


@operation(VECTOR, WHOLE, WHOLE, VECTOR, emit=_emit_with_lane)
def with_lane(values: bytes, i: int, value: int) -> bytes:
    """The same vector with another byte in lane i."""
    return values[:i] + bytes([value]) + values[i + 1 :]


@operation(
    VECTOR, WHOLE, WHOLE,
    emit=lambda b, values, value: _mask(b, b.icmp_unsigned("==", values, _splat(b, value))),
)  # fmt: skip
def equal(values: bytes, value: int) -> int:
    """The lanes that hold a value."""
    return sum(1 << i for i in range(LANES) if values[i] == value)


@operation(VECTOR, ROW, WHOLE, WHOLE, emit=_emit_among)
def among(values: bytes, row: Row, at: int) -> int:
    """The lanes whose value, its highest bit left out, is in a set: that of the bits set in 16 bytes from `at` on."""
    bits = row.view(np.uint8)[at : at + LANES]
    return sum(1 << i for i in range(LANES) if bits[values[i] >> 3 & 15] >> (values[i] & 7) & 1)


@operation(VECTOR, WHOLE, emit=lambda b, values: _mask(b, b.icmp_signed("<", values, _lanes([0] * LANES))))
def high(values: bytes) -> int:
    """The lanes whose value is 128 or more."""
    return sum(1 << i for i in range(LANES) if values[i] >= 128)


@operation(WHOLE, WHOLE, emit=_emit_lowest)
def lowest(lanes: int) -> int:
    """The number of the lowest bit that is set in a whole number other than 0."""
    return (int(lanes) & -int(lanes)).bit_length() - 1


@operation(WHOLE, WHOLE, emit=lambda b, lanes: b.ctpop(lanes))
def ones(lanes: int) -> int:
    """How many bits are set in a whole number >= 0."""
    return int(lanes).bit_count()
