"""Rows of uint16 (tables and states) as compiled rules read and write them."""

from __future__ import annotations

import numpy as np

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import WordRow

Row = WordRow


@compiled
def word(row: Row, at: int) -> int:
    """Return an entry as a number of 64 bits, in which hashes and boards of bits wrap as they do in machine code."""
    return np.int64(row[at])  # type: ignore[return-value]


@compiled
def put(row: Row, at: int, value: int) -> None:
    """Write one entry."""
    row[at] = value


@compiled
def add(row: Row, at: int, value: int) -> None:
    """Add to one entry."""
    put(row, at, word(row, at) + value)


@compiled
def add_long(row: Row, at: int, value: int) -> None:
    """Add to a number from 0 to 2**32 - 1 that is kept in two entries, the low one first."""
    total = word(row, at) + (word(row, at + 1) << 16) + value
    put(row, at, total & 0xFFFF)
    put(row, at + 1, total >> 16)


@compiled
def mix(h: int, value: int) -> int:
    """Return a hash with one more whole number in it (FNV-1a in words); begin with HASH_START."""
    h = ((h ^ value) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
    return h ^ (h >> 29)


HASH_START = 0x1B873593


def same_state(a: Row, b: Row) -> bool:
    """Return whether two states are equal; Python objects are compared by what they hold."""
    if a.dtype != object:
        return bool((a == b).all())
    from persona_evo.games.python_game.contents import number_of

    return a[0] is b[0] or number_of(a[0]) == number_of(b[0])
