"""Lets only one process at a time make the same piece of code; the others wait, and then read it from disk.

The lock is one of the operating system's, so a process that is killed releases it. The lock files are empty and stay in
the cache's folder; what is made goes to one of them by the first digits of its name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from persona_evo import file_locks
from persona_evo.compiling import cache
from persona_evo.compiling.news import told

PATIENCE = 180.0
"""The seconds after which a process stops waiting for another one, which may be suspended, and makes the code."""
_DIGITS, _PAUSE = 2, 0.05
"""The digits of a name that choose its lock file, and the seconds between two attempts to take the lock."""


@contextlib.contextmanager
def turn(name: str, title: str, seconds: float) -> Iterator[None]:
    """Keep other processes from making the same code within this context, after waiting for one that already does.

    Without a folder that can be written there is no lock, since nothing can be shared then.

    Args:
        name: the name under which the code will be kept (see `cache`).
        title: the function's name for people, for the report that this process waits.
        seconds: the estimated time for making the code.
    """
    handle = _opened(name)
    if handle is None:
        yield
        return
    try:
        taken = _taken(handle, title, seconds)
        try:
            yield
        finally:
            if taken:
                file_locks.free(handle)
    finally:
        os.close(handle)


def _opened(name: str) -> int | None:
    """Open the lock file for a name; return None if that is not possible."""
    folder = cache.cache_folder()
    if folder is None:
        return None
    try:
        return os.open(folder / f"{name[:_DIGITS]}{Path(name).suffix}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None


def _taken(handle: int, title: str, seconds: float) -> bool:
    """Take a lock, waiting for it if necessary; return False if there is none or it was not released in time."""
    try:
        return file_locks.take(handle) or _waited(handle, title, seconds)
    except OSError:  # the file system has no locks
        return False


def _waited(handle: int, title: str, seconds: float) -> bool:
    """Wait for a lock; return False if it was not released in time."""
    end = time.monotonic() + PATIENCE
    with told(f"{title} in another process", seconds, measured=False):
        while time.monotonic() < end:
            if file_locks.take(handle):
                return True
            time.sleep(_PAUSE)
    return False
