"""Bytes of a row, and sixteen of them at once, for rules in which many things are asked the same question.

Each function is plain Python on plain values (`bytes` of length 16 for a vector, whole numbers for the rest) and a few
machine instructions where it is compiled (see `vector_code`). A set of lanes is a whole number with bit i set for lane
i, and a set of bits is a whole number, too.

Rows are uint16 as everywhere, but offsets `at` count bytes here. Compiled code checks none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from persona_evo.compiling import primitive
from persona_evo.games.rows import Row

F = TypeVar("F", bound=Callable[..., object])

LANES = 16


def _operation(function: F) -> F:
    return primitive(f"persona_evo.games.vector_code:{function.__name__}")(function)


@_operation
def byte(row: Row, at: int) -> int:
    """One byte of a row."""
    return int(row.view(np.uint8)[at])


@_operation
def put_byte(row: Row, at: int, value: int) -> None:
    """Write one byte of a row, a value from 0 to 255."""
    row.view(np.uint8)[at] = value


@_operation
def real(row: Row, at: int) -> float:
    """A float64 that is kept in eight bytes of a row."""
    return float(row.view(np.uint8)[at : at + 8].view(np.float64)[0])


@_operation
def load(row: Row, at: int) -> bytes:
    """Sixteen bytes of a row."""
    return row.view(np.uint8)[at : at + LANES].tobytes()


@_operation
def store(row: Row, at: int, values: bytes) -> None:
    """Write sixteen bytes of a row."""
    row.view(np.uint8)[at : at + LANES] = np.frombuffer(values, dtype=np.uint8)


@_operation
def lane(values: bytes, i: int) -> int:
    """The byte in lane i."""
    return values[i]


@_operation
def with_lane(values: bytes, i: int, value: int) -> bytes:
    """The same vector with another byte in lane i."""
    return values[:i] + bytes([value]) + values[i + 1 :]


@_operation
def equal(values: bytes, value: int) -> int:
    """The lanes that hold a value."""
    return sum(1 << i for i in range(LANES) if values[i] == value)


@_operation
def among(values: bytes, row: Row, at: int) -> int:
    """The lanes whose value, its highest bit left out, is in a set: that of the bits set in 16 bytes from `at` on."""
    bits = row.view(np.uint8)[at : at + LANES].tobytes()
    return sum(1 << i for i in range(LANES) if bits[values[i] >> 3 & 15] >> (values[i] & 7) & 1)


@_operation
def high(values: bytes) -> int:
    """The lanes whose value is 128 or more."""
    return sum(1 << i for i in range(LANES) if values[i] >= 128)


@_operation
def lowest(bits: int) -> int:
    """The number of the lowest bit that is set; there is one."""
    return (int(bits) & -int(bits)).bit_length() - 1


@_operation
def ones(bits: int) -> int:
    """How many bits are set in a whole number >= 0."""
    return int(bits).bit_count()
