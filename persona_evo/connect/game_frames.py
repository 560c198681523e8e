"""What only a game reads and writes: orders that have to do with kept states, and the ids of its questions."""

from __future__ import annotations

from persona_evo.connect import protocol as p
from persona_evo.errors import ProtocolError


def decode_restore(payload: bytes) -> p.Rollout:
    """Read the payload of RESTORE.

    Raises:
        ProtocolError: It is not as PROTOCOL.md has it.
    """
    order = p.decode_rollout(payload[p.RESTORE_HEAD.size :])
    restore, depth, snapshot = p.RESTORE_HEAD.unpack_from(payload)
    if depth * p.PAIR > len(order.prefix):
        raise ProtocolError(
            "RESTORE names a state beyond its prefix",
            found=f"depth {depth}",
            expected=f"at most {len(order.prefix) // p.PAIR}",
        )
    return order._replace(restore=restore, depth=depth, snapshot=snapshot)


def json_id(number: int) -> int | str:
    """The id of DECIDE or CHOICE: a text where it has more digits than every JSON reader keeps."""
    return number if number < 2**53 else str(number)


def read_id(value: object) -> int | None:
    """The number that such an id stands for, None if it is none of 64 bits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20:
        value = int(value)
    return value if p.is_whole(value, 0, 2**64 - 1) else None
