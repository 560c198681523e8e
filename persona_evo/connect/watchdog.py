"""Ends the games of a driver that was killed at once: a small process beside the driver, and what speaks to it.

A driver that gets SIGKILL cannot end anything, and a game that hangs at that moment does not see the end of its
connection. So the first game that is started brings along a process that does nothing but read a pipe: lines `+N` and
`-N`, the process groups that run. When the driver is gone, whatever ended it, the pipe ends (and the parent is another
one); after a moment, in which sound games quit by themselves, the groups that are left are killed, with all that the
games have started. Only where there are process groups (POSIX).

This file is the process, too (`python -I -S watchdog.py`), and imports nothing of the package for that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import IO, Any

_MOMENT = 1.0
"""Seconds that games have to quit by themselves, and seconds between two looks at the parent."""

_process: Any = None
_owner = 0
_groups: set[int] = set()


def add(group: int) -> None:
    """Have a process group ended with this process. Without effect where no process can be started beside it."""
    global _process, _owner
    if os.name == "nt":
        return
    if _owner != os.getpid():  # of whoever forked this process
        _groups.clear()
        _process, _owner = None, os.getpid()
    _groups.add(group)
    if _process is not None and _tell(f"+{group}\n"):
        return
    import subprocess

    with contextlib.suppress(OSError):
        _process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
        )  # fmt: skip
        _tell("".join(f"+{known}\n" for known in _groups))


def remove(group: int) -> None:
    """A group has been ended."""
    _groups.discard(group)
    if _process is not None and _owner == os.getpid():
        _tell(f"-{group}\n")


def close() -> None:
    """End the process beside this one."""
    global _process
    known, _process = _process, None
    if known is not None and _owner == os.getpid():
        with contextlib.suppress(OSError):
            known.stdin.close()
        with contextlib.suppress(Exception):
            known.wait(2.0)


def _tell(lines: str) -> bool:
    pipe: IO[bytes] = _process.stdin
    try:
        pipe.write(lines.encode())
        pipe.flush()
    except (OSError, ValueError):
        return False
    return True


def main() -> None:
    """Read until the driver is gone, then end what it has left."""
    import select

    parent, groups, held = os.getppid(), set[int](), b""
    while os.getppid() == parent:
        if not select.select([0], [], [], _MOMENT)[0]:
            continue
        data = os.read(0, 1 << 16)
        if not data:
            break
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    if groups:
        time.sleep(_MOMENT)
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
