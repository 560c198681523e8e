"""A lock that lets only one process work in a folder.

The operating system locks an open file, so the lock is released when its process ends in any way. The file names the
holder; it is empty without one. Such locks do not reach other machines, so the name of another machine in the file
counts as a lock.
"""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from persona_evo import file_locks
from persona_evo.errors import Place, RunError

LOCK = "lock"
"""The name of the lock file."""

_LONGEST = 4096
"""The largest number of bytes that name the holder of a lock; the rest of the file is ignored."""


_TRIES, _PAUSE = 5, 0.01
"""Number of attempts to take a lock, and seconds between them."""


class Lock:
    """Holds a folder from `acquire` (or `with`) until `release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._handle: int | None = None

    def acquire(self) -> Lock:
        """Take the lock.

        Raises:
            RunError: another process holds it, or the file names a process on another machine.
        """
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            taken = _try_often(handle)
        except OSError as e:
            raise RunError(
                "the folder cannot be locked",
                place=Place(str(self.path)),
                found=e.strerror,
                hint="make the folder writable, or name another one with --out",
            ) from e
        holder = _holder(self.path)
        if not taken:
            os.close(handle)
            raise RunError(
                "the folder is in use by another process",
                place=Place(str(self.path)),
                found=_said(holder),
                hint="wait until it ends, or stop it; the work can then be resumed",
            )
        host = socket.gethostname()
        if holder.get("host") not in (None, host):
            file_locks.free(handle)
            os.close(handle)
            raise RunError(
                "the folder was left locked on another machine",
                place=Place(str(self.path)),
                found=_said(holder),
                hint="delete this file if nothing is running there any more",
            )
        self._handle = handle
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "host": host}).encode() + b"\n")
        return self

    def release(self) -> None:
        """Release the lock; do nothing if it is not held."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            file_locks.free(self._handle)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def _holder(path: Path) -> dict[str, object]:
    if not path.is_file():  # opening a pipe would block
        return {}
    try:
        with open(path, "rb") as f:
            data = json.loads(f.read(_LONGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    fits = isinstance(data, dict) and isinstance(data.get("host"), str) and isinstance(data.get("pid"), int)
    return data if fits else {}


def holder(folder: Path) -> tuple[int, str] | None:
    """Return the process that works in a folder and its machine, or None.

    A process that was killed leaves its name without a lock, and does not count. The name of another machine is
    believed, as in `Lock.acquire`.
    """
    path = folder / LOCK
    said = _holder(path)
    if not said:
        return None
    who = int(str(said["pid"])), str(said["host"])
    if who[1] != socket.gethostname():
        return who
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return who
    try:
        if not file_locks.take(handle):
            return who
        file_locks.free(handle)
        return None
    except OSError:
        return who
    finally:
        os.close(handle)


def _try_often(handle: int) -> bool:
    """Take the lock, with several attempts, since another process may test it at the same moment (see `holder`)."""
    for _ in range(_TRIES):
        if file_locks.take(handle):
            return True
        time.sleep(_PAUSE)
    return False


def _said(holder: dict[str, object]) -> str:
    return f"process {holder.get('pid', '?')} on {holder.get('host', 'this machine')}"
