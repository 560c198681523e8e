"""Generates the machine code with which `selection_rules` reads children; imported only when a rule is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from persona_evo.compiling.arrays import ArrayType
from persona_evo.compiling.frontend import RowArray

Builder: TypeAlias = Callable[[BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]
"""Writes the machine code of a call."""

_TABLE, _ROW = RowArray(ArrayType("float64", 2)), RowArray(ArrayType("float64", 1))


@intrinsic
def float_bits(context: TypingContext, x: types.Type) -> tuple[Signature, Builder]:
    """Return the bits of a float64 as int64."""

    def build(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), build


@intrinsic
def float_table(
    context: TypingContext, address: types.Type, rows: types.Type, columns: types.Type
) -> tuple[Signature, Builder]:
    """Return the table of float64 at an address."""
    return _TABLE(types.int64, types.int64, types.int64), _row_builder(_TABLE)


@intrinsic
def float_row(context: TypingContext, address: types.Type, n: types.Type) -> tuple[Signature, Builder]:
    """Return the row of float64 at an address."""
    return _ROW(types.int64, types.int64), _row_builder(_ROW)


def _row_builder(kind: RowArray) -> Builder:
    """Return a function that builds a row or a table from its address and its sizes."""

    def build(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.data = builder.inttoptr(args[0], ir.PointerType())
        for k in range(kind.dimensions):
            setattr(made, f"n{k}", args[1 + k])
        return made._getvalue()

    return build
