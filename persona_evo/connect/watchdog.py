"""Ends the games of a driver that was killed at once: a small process beside the driver, and what speaks to it.

A driver that gets SIGKILL cannot end anything, and a game that hangs at that moment does not see the end of its
connection. So the first game that is started brings along a process that does nothing but read a pipe: lines `+N` and
`-N`, what runs, as kill(2) has it: -N a process group, N a process that a factory started in the driver's own group.
When the driver is gone, whatever ended it, the pipe ends (and the parent is another one); after a moment, in which
sound games quit by themselves, what is left is killed, groups with all that the games have started. Only where there
are process groups (POSIX).

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
_running: set[int] = set()


def add(process: int, group: bool = True) -> None:
    """Have a process ended with this one. Without effect where no process can be started beside it.

    process: its number. group: whether it leads a group, which is then ended whole.
    """
    global _process, _owner
    if os.name == "nt":
        return
    if _owner != os.getpid():  # of whoever forked this process
        _running.clear()
        _process, _owner = None, os.getpid()
    target = -process if group else process
    _running.add(target)
    if _process is not None and _tell(f"+{target}\n"):
        return
    import subprocess

    with contextlib.suppress(OSError):
        _process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        _tell("".join(f"+{known}\n" for known in _running))


def remove(process: int) -> None:
    """A process, or its group, has been ended."""
    for target in _running & {process, -process}:
        _running.discard(target)
        if _process is not None and _owner == os.getpid():
            _tell(f"-{target}\n")


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

    parent, running, held = os.getppid(), set[int](), b""
    while os.getppid() == parent:
        if not select.select([0], [], [], _MOMENT)[0]:
            continue
        data = os.read(0, 1 << 16)
        if not data:
            break
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            (running.add if line[:1] == b"+" else running.discard)(int(line[1:]))
    if running:
        time.sleep(_MOMENT)
    for target in running:
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGKILL)


if __name__ == "__main__":
    main()
