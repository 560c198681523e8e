"""Assembles the bytes that arrive at either side of a connection into frames."""

from __future__ import annotations

from persona_evo.connect import protocol as p
from persona_evo.errors import ProtocolError


class IncomingFrames:
    """Assembles incoming bytes into complete frames.

    Args:
        most: the largest payload to accept, in bytes; a driver raises it once the game is known.
    """

    def __init__(self, most: int = p.MOST_PAYLOAD) -> None:
        self.most = most
        self._held = b""

    @property
    def waiting(self) -> int:
        """The number of bytes received of a frame that is not complete yet."""
        return len(self._held)

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Add received bytes and return the frames that they complete, as (type, payload).

        Raises:
            ProtocolError: a frame is too large or of an unknown type. The check is made on the frame's head, before
                any of its payload is kept.
        """
        held = self._held + data if self._held else data
        found: list[tuple[int, bytes]] = []
        at, end = 0, len(held)
        while end - at >= 5:
            size, kind = p.HEAD.unpack_from(held, at)
            if size > self.most:
                raise ProtocolError("a frame is too large", found=f"{size} bytes", expected=f"at most {self.most}")
            if not p.Kind.HELLO <= kind <= p.Kind.PICTURE:
                raise ProtocolError("a frame of an unknown type", found=str(kind), expected=f"1 to {p.Kind.PICTURE:d}")
            if end - at - 5 < size:
                break
            found.append((kind, held[at + 5 : at + 5 + size]))
            at += 5 + size
        self._held = held[at:] if at else held
        return found
