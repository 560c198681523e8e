"""The machine code of `vectors`, imported only when something is compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 16
BYTE, WORD, WIDE = ir.IntType(8), ir.IntType(16), ir.IntType(64)
BYTES = ir.VectorType(BYTE, LANES)


class Vector(types.Type):
    """The type of sixteen bytes in compiled code."""

    def __init__(self) -> None:
        super().__init__(name="Bytes16")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, BYTES)  # type: ignore[no-untyped-call]


class RowAddress:
    """A row in compiled code, as an address; `at` is a number of bytes from there."""

    def __init__(self, builder: Any, start: Any) -> None:
        self.builder, self.start = builder, start

    def _at(self, at: Any, kind: Any) -> Any:
        b = self.builder
        return b.bitcast(b.gep(b.bitcast(self.start, BYTE.as_pointer()), [at]), kind.as_pointer())

    def load(self, at: Any, kind: Any) -> Any:
        """Return a value of this kind, which need not be aligned."""
        value = self.builder.load(self._at(at, kind))
        value.align = 1
        return value

    def store(self, at: Any, value: Any) -> None:
        """Write a value."""
        self.builder.store(value, self._at(at, value.type)).align = 1


def _operation(*kinds: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return an intrinsic with these argument types and, last, result type; `RowAddress` stands for any row.

    Its attribute `emit` takes (IR builder with the target's features as `features`, values) and returns a value.
    """
    *takes, gives = kinds

    def mark(emit: Callable[..., Any]) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def given(kind: Any, of: Any, value: Any) -> Any:
                if kind is not RowAddress:
                    return value
                row = cgutils.create_struct_proxy(of)(context, builder, value=value)  # type: ignore[no-untyped-call]
                return RowAddress(builder, row.data)

            values = map(given, takes, signature.args, args)
            builder.features = getattr(context.codegen(), "_tm_features", "")
            found = emit(builder, *values)
            return context.get_dummy_value() if found is None else found

        def typed(context: Any, *given: Any) -> Any:
            return gives(*[one if kind is RowAddress else kind for kind, one in zip(takes, given, strict=True)]), build

        typed.__name__, typed.__signature__ = emit.__name__, inspect.signature(emit)  # type: ignore[attr-defined]
        made = intrinsic(typed)
        made.emit = emit  # type: ignore[attr-defined]
        return made

    return mark


def lanes(values: Any) -> Any:
    """Return a constant vector."""
    return ir.Constant(BYTES, list(values))


def splat(b: Any, value: Any) -> Any:
    """Return the low byte of a whole number in each lane."""
    empty = ir.Constant(BYTES, ir.Undefined)
    one = b.insert_element(empty, b.trunc(value, BYTE), ir.Constant(ir.IntType(32), 0))
    return b.shuffle_vector(one, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def mask(b: Any, comparison: Any) -> Any:
    """Return the lanes where a comparison holds, as a whole number."""
    return b.zext(b.bitcast(comparison, WORD), WIDE)


def lookup_instruction(triple: str, features: str) -> str:
    """Return the LLVM intrinsic that looks up bytes in a vector (indices below 16); "" if the target has none."""
    processor = triple.split("-")[0]
    if processor in ("aarch64", "arm64"):
        return "llvm.aarch64.neon.tbl1.v16i8"
    if processor in ("x86_64", "amd64", "i686") and "+ssse3" in features:
        return "llvm.x86.ssse3.pshuf.b.128"
    return ""


def lookup(b: Any, table: Any, index: Any) -> Any:
    """Return in each lane the byte of `table` at the lane's index."""
    if name := lookup_instruction(b.module.triple, b.features):
        kind = ir.FunctionType(BYTES, [BYTES, BYTES])
        return b.call(b.module.globals.get(name) or ir.Function(b.module, kind, name), [table, index])
    found = ir.Constant(BYTES, ir.Undefined)
    for i in range(LANES):
        lane = ir.Constant(ir.IntType(32), i)
        found = b.insert_element(found, b.extract_element(table, b.extract_element(index, lane)), lane)
    return found


VECTOR = Vector()


@_operation(RowAddress, types.int64, types.int64)
def byte(b: Any, row: RowAddress, at: Any) -> Any:
    return b.zext(row.load(at, BYTE), WIDE)


@_operation(RowAddress, types.int64, types.int64, types.void)
def put_byte(b: Any, row: RowAddress, at: Any, value: Any) -> None:
    row.store(at, b.trunc(value, BYTE))


@_operation(RowAddress, types.int64, types.float64)
def real(b: Any, row: RowAddress, at: Any) -> Any:
    return row.load(at, ir.DoubleType())


@_operation(RowAddress, types.int64, VECTOR)
def load(b: Any, row: RowAddress, at: Any) -> Any:
    return row.load(at, BYTES)


@_operation(RowAddress, types.int64, VECTOR, types.void)
def store(b: Any, row: RowAddress, at: Any, values: Any) -> None:
    row.store(at, values)


@_operation(VECTOR, types.int64, types.int64)
def lane(b: Any, values: Any, i: Any) -> Any:
    return b.zext(b.extract_element(values, b.trunc(i, ir.IntType(32))), WIDE)


@_operation(VECTOR, types.int64, types.int64, VECTOR)
def with_lane(b: Any, values: Any, i: Any, value: Any) -> Any:
    return b.select(b.icmp_unsigned("==", lanes(range(LANES)), splat(b, i)), splat(b, value), values)


@_operation(VECTOR, types.int64, types.int64)
def equal(b: Any, values: Any, value: Any) -> Any:
    return mask(b, b.icmp_unsigned("==", values, splat(b, value)))


@_operation(VECTOR, RowAddress, types.int64, types.int64)
def among(b: Any, values: Any, row: RowAddress, at: Any) -> Any:
    index = b.and_(b.lshr(values, lanes([3] * LANES)), lanes([15] * LANES))
    eight = lookup(b, row.load(at, BYTES), index)
    bit = lookup(b, lanes([1, 2, 4, 8, 16, 32, 64, 128] * 2), b.and_(values, lanes([7] * LANES)))
    return mask(b, b.icmp_unsigned("==", b.and_(eight, bit), bit))


@_operation(VECTOR, types.int64)
def high(b: Any, values: Any) -> Any:
    return mask(b, b.icmp_signed("<", values, lanes([0] * LANES)))


@_operation(types.int64, types.int64)
def lowest(b: Any, bits: Any) -> Any:
    return b.cttz(bits, ir.Constant(ir.IntType(1), 0))


@_operation(types.int64, types.int64)
def ones(b: Any, bits: Any) -> Any:
    return b.ctpop(bits)
