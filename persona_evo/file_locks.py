"""Locks open files, on POSIX and on Windows.

The operating system frees a lock when the process that holds it ends in any way, `kill -9` included.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _FAR = 2**30
    """The byte that is locked. Nobody can read a locked byte on Windows, so it lies behind the content."""

    def take(handle: int) -> bool:
        """Lock a file that is open for writing, without waiting; return False if another handle has the lock."""
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def free(handle: int) -> None:
        """Release the lock of an open file."""
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def take(handle: int) -> bool:
        """Lock an open file, without waiting; return False if another handle has the lock.

        Raises:
            OSError: the file system has no locks.
        """
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def free(handle: int) -> None:
        """Release the lock of an open file."""
        fcntl.flock(handle, fcntl.LOCK_UN)
