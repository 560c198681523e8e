"""Mutations of bytes: what happens to a file on a disk that fails, or on its way."""

from __future__ import annotations

import random


def digit(data: bytearray, dice: random.Random) -> None:
    """Put another digit in place of one; data without digits get one."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        data.append(dice.randrange(48, 58))
        return
    at = dice.choice(places)
    data[at] = dice.choice([d for d in range(48, 58) if d != data[at]])


def bit(data: bytearray, dice: random.Random) -> None:
    """Flip a bit."""
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def removed(data: bytearray, dice: random.Random) -> None:
    """Remove some bytes."""
    at = dice.randrange(len(data))
    del data[at : at + dice.randint(1, 40)]


def inserted(data: bytearray, dice: random.Random) -> None:
    """Insert some bytes."""
    at = dice.randrange(len(data))
    data[at:at] = dice.randbytes(dice.randint(1, 8))


def cut(data: bytearray, dice: random.Random) -> None:
    """Cut the end off."""
    del data[dice.randrange(len(data)) :]


def repeated(data: bytearray, dice: random.Random) -> None:
    """Repeat a line."""
    lines = bytes(data).splitlines(keepends=True)
    at = dice.randrange(len(lines))
    data[:] = b"".join([*lines[: at + 1], *lines[at:]])


def exchanged(data: bytearray, dice: random.Random) -> None:
    """Exchange two lines."""
    lines = bytes(data).splitlines(keepends=True)
    a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    data[:] = b"".join(lines)


MUTATIONS = (digit, digit, bit, removed, inserted, cut, repeated, exchanged)
"""All of them; they change non-empty data in place. A digit is what people and disks change with the least notice."""
