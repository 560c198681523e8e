"""The output of a process: its beginning and its end are kept, and the process never waits for a reader."""

from __future__ import annotations

import os
import threading

HEAD, TAIL = 16_384, 4_096
"""Bytes that are kept of the beginning and of the end."""

_PIECE = 1 << 16


class PipeReader(threading.Thread):
    """Reads a pipe to its end in the background, and then closes it.

    Args:
        pipe: the file descriptor of the pipe's reading end, which belongs to the reader from now on.
    """

    def __init__(self, pipe: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._head, self._tail, self._count = bytearray(), bytearray(), 0
        self._lock = threading.Lock()
        self.start()

    def run(self) -> None:
        """Read until no process can write to the pipe any more."""
        try:
            while piece := os.read(self._pipe, _PIECE):
                with self._lock:
                    self._count += len(piece)
                    room = HEAD - len(self._head)
                    self._head += piece[:room]
                    self._tail = (self._tail + piece[max(0, room) :])[-TAIL:]
        except OSError:
            pass
        finally:
            os.close(self._pipe)

    @property
    def count(self) -> int:
        """The number of bytes read so far."""
        return self._count

    def since(self, count: int) -> str:
        """Return what was read after so many bytes, or its end if that is too long to keep."""
        with self._lock:
            new = self._count - count
            return bytes((self._head + self._tail)[-new:] if new else b"").decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """What was read so far; a line in the middle says how many bytes are left out there."""
        with self._lock:
            missing = self._count - len(self._head) - len(self._tail)
            cut = f"\n... {missing} bytes are left out ...\n".encode() if missing else b""
            return bytes(self._head + cut + self._tail).decode("utf-8", "replace")
