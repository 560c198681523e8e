"""The types of the arguments of compiled code: rows of numbers, functions, and named tuples of these.

A compiled function sees an array as a bare row, which is an address and a length. It reads whole numbers of any row as
int64 and real numbers as float64. An index must not be negative and is not checked. A row supports `row[i]`, `row[a:b]`
and `len(row)`. A table (two dimensions, C order) supports `table[i, j]`, `table[i]`, which is a row, and `table.shape`.
As plain Python, the same code works on NumPy arrays.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ArrayType:
    """The type of an array in compiled code: the name of its NumPy type, and its number of dimensions (1 or 2)."""

    dtype: str
    dimensions: int


@dataclass(frozen=True)
class Linked:
    """Marks a field with a function of a game, which is linked into the machine code."""


@dataclass(frozen=True)
class Pointed:
    """Marks a field with a function that is called by its address (`.address` of the value)."""


IntRow = Annotated[NDArray[np.int64], ArrayType("int64", 1)]
IntTable = Annotated[NDArray[np.int64], ArrayType("int64", 2)]
ShortRow = Annotated[NDArray[np.int32], ArrayType("int32", 1)]
ShortTable = Annotated[NDArray[np.int32], ArrayType("int32", 2)]
WordRow = Annotated[NDArray[np.uint16], ArrayType("uint16", 1)]
WordTable = Annotated[NDArray[np.uint16], ArrayType("uint16", 2)]
FloatRow = Annotated[NDArray[np.float64], ArrayType("float64", 1)]
FloatTable = Annotated[NDArray[np.float64], ArrayType("float64", 2)]
SingleTable = Annotated[NDArray[np.float32], ArrayType("float32", 2)]


@dataclass(frozen=True)
class ScalarType:
    """The type of a number that stays constant while compiled code runs: int64 or float64."""

    real: bool


@dataclass(frozen=True)
class Function:
    """The type of a function with a C signature, which is `linked` by name or else called by its address."""

    takes: tuple[ArrayType | ScalarType, ...]
    gives: ScalarType | None
    linked: bool


@dataclass(frozen=True)
class Group:
    """The type of a named tuple, with the types of its fields in their order."""

    kind: type
    members: dict[str, Field]


Field = ArrayType | ScalarType | Function | Group


@functools.cache
def describe(annotation: Any) -> Field:
    """Return the type that an annotation describes.

    Args:
        annotation: one of the rows and tables here, int, float, bool, `Annotated[Callable[[...], ...], Linked()]` (or
            `Pointed()`), or a `NamedTuple` class whose fields have such annotations.

    Raises:
        TypeError: it is anything else.
    """
    if annotation in (int, float, bool):
        return ScalarType(real=annotation is float)
    notes = getattr(annotation, "__metadata__", ())
    for note in notes:
        if isinstance(note, ArrayType):
            return note
        if isinstance(note, (Linked, Pointed)):
            takes, gives = get_args(get_args(annotation)[0])
            parts = tuple(describe(one) for one in takes)
            result = None if gives in (None, type(None)) else describe(gives)
            return Function(parts, result, isinstance(note, Linked))  # type: ignore[arg-type]
    if hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        return Group(annotation, {name: describe(hints[name]) for name in annotation._fields})
    raise TypeError(f"compiled code does not accept a value of type {annotation}")


def address(array: NDArray[Any], kind: np.dtype[Any]) -> int:
    """Return the address of an array's numbers.

    Raises:
        TypeError: the numbers are of another type, or not contiguous.
    """
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"compiled code needs contiguous {kind}, not {array.dtype} with strides {array.strides}")
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.__array_interface__["data"][0])


def fields(field: Group, path: str) -> Iterator[tuple[str, Field]]:
    """Yield the fields of a group, and of the groups in it, with the path to each field."""
    for name, member in field.members.items():
        if isinstance(member, Group):
            yield from fields(member, f"{path}.{name}")
        else:
            yield f"{path}.{name}", member


def leaves(value: Any) -> list[Any]:
    """Return the values of these fields in a named tuple."""
    found = []
    for part in value:
        if isinstance(part, tuple):
            found += leaves(part)
        else:
            found.append(part)
    return found


@functools.cache
def _size(kind: type) -> int:
    """Return the number of values that `leaves` returns for a named tuple of this kind."""
    group = describe(kind)
    assert isinstance(group, Group)
    return sum(1 for _ in fields(group, ""))


def differences(value: Any, before: Any, first: int = 0) -> dict[int, Any]:
    """Return the leaves of a named tuple that are not the same objects as before, by their place among the leaves.

    Args:
        value: the named tuple.
        before: an earlier one of the same kind; None for all leaves.
        first: the place of the first leaf.
    """
    if before is None:
        return dict(enumerate(leaves(value), first))
    found: dict[int, Any] = {}
    for part, old in zip(value, before, strict=True):
        if isinstance(part, tuple):
            if part is not old:
                found |= differences(part, old, first)
            first += _size(type(part))
        else:
            if part is not old:
                found[first] = part
            first += 1
    return found


def width(field: Field) -> int:
    """Return the number of words that `words` yields."""
    if isinstance(field, ArrayType):
        return 1 + field.dimensions
    return 0 if isinstance(field, Function) and field.linked else 1


def words(field: Field, value: Any) -> Iterator[int]:
    """Yield the 64-bit words from which compiled code reads a value; a row is its address and its sizes.

    A missing function that would be called by its address is 0; it is never called.
    """
    if isinstance(field, ArrayType):
        yield address(value, np.dtype(field.dtype))
        yield from value.shape
    elif isinstance(field, ScalarType):
        yield struct.unpack("q", struct.pack("d", value))[0] if field.real else int(value)
    elif isinstance(field, Function) and not field.linked:
        yield 0 if value is None else value.address
