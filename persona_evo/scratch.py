"""Short rows of numbers within compiled functions, which must not make arrays of their own (see `compiling`).

`row(n)` is int64[n] on the stack of the function that calls it, gone when that returns; what it holds at first is not
defined. n has to be written out as a number or named by a global.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import INTERPRET


def _row(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def _compiled_row() -> Any:
    """`row` for compiled code: memory of the stack frame, described as an array that nobody counts references to."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np import arrayobj

    def row(typing_context: Any, n: Any) -> Any:
        if not isinstance(n, types.IntegerLiteral):
            return None
        kind, count = types.Array(types.int64, 1, "C"), n.literal_value

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(64)
            place = cgutils.alloca_once(builder, word, size=ir.Constant(word, count))
            array = arrayobj.make_array(kind)(context, builder)
            arrayobj.populate_array(
                array, data=place, shape=[ir.Constant(word, count)], strides=[ir.Constant(word, 8)],
                itemsize=ir.Constant(word, 8), meminfo=None,
            )  # fmt: skip
            return array._getvalue()

        return kind(n), build

    found = intrinsic(prefer_literal=True)(row)
    found.py_func = _row
    return found


row = _row if INTERPRET else _compiled_row()
