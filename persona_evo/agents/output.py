"""Reads what a process prints, keeps the beginning and the end, and so never lets the process wait."""

from __future__ import annotations

import os
import threading

HEAD, TAIL = 16_384, 4_096
"""The numbers of bytes that are kept of the beginning and of the end."""

_PIECE = 1 << 16


class OutputReader(threading.Thread):
    """Reads a pipe to its end and then closes it; `text` may be read at any time."""

    def __init__(self, pipe: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._head, self._tail, self._length = bytearray(), bytearray(), 0
        self._lock = threading.Lock()
        self.start()

    def run(self) -> None:
        """Read until nobody can write to the pipe any more."""
        try:
            while piece := os.read(self._pipe, _PIECE):
                with self._lock:
                    self._length += len(piece)
                    room = HEAD - len(self._head)
                    self._head += piece[:room]
                    self._tail = (self._tail + piece[max(0, room) :])[-TAIL:]
        except OSError:
            pass
        finally:
            os.close(self._pipe)

    @property
    def length(self) -> int:
        """The number of bytes read so far."""
        return self._length

    def since(self, length: int) -> str:
        """Return the end of the output that has been read since `length` had this value."""
        with self._lock:
            new = self._length - length
            return bytes((self._head + self._tail)[-new:] if new else b"").decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """What has been read so far, with a line that says how much was left out in the middle."""
        with self._lock:
            missing = self._length - len(self._head) - len(self._tail)
            cut = f"\n... {missing} bytes are left out ...\n".encode() if missing else b""
            return bytes(self._head + cut + self._tail).decode("utf-8", "replace")
