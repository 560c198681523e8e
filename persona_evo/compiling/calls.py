"""Turns Python calls with NumPy rows into calls of machine code with addresses and sizes, as cheaply as ctypes can."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from persona_evo.compiling.arrays import ArrayType, ScalarType, address

WHOLE = 2**63
"""The bound of numbers that compiled code takes: they are at least -WHOLE and below WHOLE."""
_SKIPPED = (TypeError, ValueError)
"""The exceptions that ctypes raises for an array that is read-only, empty, or not contiguous in memory."""


def caller(run: Callable[..., Any], takes: Sequence[ArrayType | ScalarType]) -> Callable[..., Any]:
    """Return a function of rows, tables and numbers that calls machine code.

    The signatures of rules have specialised functions without loops. These pass any unusual call on to the function for
    all signatures, which also raises the errors.

    Args:
        run: the machine code, as a function of addresses, sizes and whole numbers.
        takes: the types of the arguments.

    Returns:
        The function. It raises a TypeError for an array whose type differs from the signature.
    """
    kinds = [np.dtype(one.dtype) if isinstance(one, ArrayType) else None for one in takes]
    general = _for_all(run, kinds)
    form = " ".join(
        "number" if isinstance(one, ScalarType) else "row" if one.dimensions == 1 else "table" for one in takes
    )
    make = _FORMS.get(form)
    return general if make is None else make(run, general, *(kind for kind in kinds if kind is not None))


def _for_all(run: Callable[..., Any], kinds: Sequence[np.dtype[Any] | None]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        parts: list[Any] = []
        for kind, value in zip(kinds, given, strict=True):
            if kind is None:
                if not -WHOLE <= value < WHOLE:
                    raise TypeError(f"compiled code takes whole numbers of 64 bits, not {value}")
                parts.append(value)
            else:
                parts.append(address(value, kind))
                parts += value.shape
        return run(*parts)

    return call


def _two_rows(run: Any, general: Any, kind_a: Any, kind_b: Any) -> Callable[..., Any]:
    at, view = ctypes.addressof, ctypes.c_char.from_buffer

    def call(a: Any, b: Any) -> Any:
        if a.dtype is kind_a and b.dtype is kind_b:
            try:
                return run(at(view(a)), len(a), at(view(b)), len(b))
            except _SKIPPED:
                pass
        return general(a, b)

    return call


def _three_rows(run: Any, general: Any, kind_a: Any, kind_b: Any, kind_c: Any) -> Callable[..., Any]:
    at, view = ctypes.addressof, ctypes.c_char.from_buffer

    def call(a: Any, b: Any, c: Any) -> Any:
        if a.dtype is kind_a and b.dtype is kind_b and c.dtype is kind_c:
            try:
                return run(at(view(a)), len(a), at(view(b)), len(b), at(view(c)), len(c))
            except _SKIPPED:
                pass
        return general(a, b, c)

    return call


def _rows_and_number(run: Any, general: Any, kind_a: Any, kind_b: Any, kind_c: Any) -> Callable[..., Any]:
    at, view = ctypes.addressof, ctypes.c_char.from_buffer

    def call(a: Any, b: Any, number: int, c: Any) -> Any:
        if a.dtype is kind_a and b.dtype is kind_b and c.dtype is kind_c and -WHOLE <= number < WHOLE:
            try:
                return run(at(view(a)), len(a), at(view(b)), len(b), number, at(view(c)), len(c))
            except _SKIPPED:
                pass
        return general(a, b, number, c)

    return call


_FORMS: dict[str, Callable[..., Callable[..., Any]]] = {
    "row row": _two_rows,
    "row row row": _three_rows,
    "row row number row": _rows_and_number,
}
