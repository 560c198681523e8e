"""What a process prints: its beginning and its end are kept, and nothing ever waits for a reader."""

from __future__ import annotations

import os
import threading

HEAD, TAIL = 16_384, 4_096
"""Bytes that are kept of the beginning, and of the end."""

_PIECE = 1 << 16


class Ear(threading.Thread):
    """Reads a pipe to its end, and closes it then. `text` may be asked for at any time."""

    def __init__(self, pipe: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._head, self._tail, self._heard = bytearray(), bytearray(), 0
        self._lock = threading.Lock()
        self.start()

    def run(self) -> None:
        """Until nobody can write to the pipe any more."""
        try:
            while piece := os.read(self._pipe, _PIECE):
                with self._lock:
                    self._heard += len(piece)
                    room = HEAD - len(self._head)
                    self._head += piece[:room]
                    self._tail = (self._tail + piece[max(0, room) :])[-TAIL:]
        except OSError:
            pass
        finally:
            os.close(self._pipe)

    @property
    def heard(self) -> int:
        """Bytes, so far."""
        return self._heard

    def since(self, heard: int) -> str:
        """The end of what was heard since there were so many bytes."""
        with self._lock:
            new = self._heard - heard
            return bytes((self._head + self._tail)[-new:] if new else b"").decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """What was heard so far, and how much was left out in the middle."""
        with self._lock:
            missing = self._heard - len(self._head) - len(self._tail)
            cut = f"\n... {missing} bytes are left out ...\n".encode() if missing else b""
            return bytes(self._head + cut + self._tail).decode("utf-8", "replace")
