"""Reads and writes bytes of a row, one or sixteen at once, for rules that ask many things the same question."""

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
    """Return one byte of a row."""
    return int(row.view(np.uint8)[at])


@_operation
def put_byte(row: Row, at: int, value: int) -> None:
    """Write one byte of a row, a value from 0 to 255."""
    row.view(np.uint8)[at] = value


@_operation
def real(row: Row, at: int) -> float:
    """Return a float64 that is stored in eight bytes of a row."""
    return float(row.view(np.uint8)[at : at + 8].view(np.float64)[0])


@_operation
def load(row: Row, at: int) -> bytes:
    """Return sixteen bytes of a row."""
    return row.view(np.uint8)[at : at + LANES].tobytes()


@_operation
def store(row: Row, at: int, values: bytes) -> None:
    """Write sixteen bytes of a row."""
    row.view(np.uint8)[at : at + LANES] = np.frombuffer(values, dtype=np.uint8)


@_operation
def lane(values: bytes, i: int) -> int:
    """Return the byte in lane i."""
    return values[i]


@_operation
def with_lane(values: bytes, i: int, value: int) -> bytes:
    """Return the vector with another byte in lane i."""
    return values[:i] + bytes([value]) + values[i + 1 :]


@_operation
def equal(values: bytes, value: int) -> int:
    """Return the lanes that hold a value, as bits."""
    return sum(1 << i for i in range(LANES) if values[i] == value)


@_operation
def among(values: bytes, row: Row, at: int) -> int:
    """Return the lanes whose value, without its highest bit, is in the set of bits that begins at byte `at`."""
    bits = row.view(np.uint8)[at : at + LANES].tobytes()
    return sum(1 << i for i in range(LANES) if bits[values[i] >> 3 & 15] >> (values[i] & 7) & 1)


@_operation
def high(values: bytes) -> int:
    """Return the lanes whose value is at least 128, as bits."""
    return sum(1 << i for i in range(LANES) if values[i] >= 128)


@_operation
def lowest(bits: int) -> int:
    """Return the number of the lowest bit that is set; at least one must be."""
    return (int(bits) & -int(bits)).bit_length() - 1


@_operation
def ones(bits: int) -> int:
    """Return how many bits are set in a whole number >= 0."""
    return int(bits).bit_count()
