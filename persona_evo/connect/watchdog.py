"""Ends the processes of a driver that was killed: a small process beside the driver, and what speaks to it.

A driver that gets SIGKILL cannot end anything, and a game that hangs at that moment does not see the end of its
connection. So the first process that is started brings along a watchdog, which only reads a pipe. Its lines are `+N`
and `-N` for what runs, where N is a number as in kill(2), -N for a process group, and `+/PATH` and `-/PATH` for
temporary folders. When the driver is gone, however it ended, the pipe ends (and the parent is another one). After a
moment, in which sound games quit by themselves, the watchdog asks what is left to end (SIGTERM, which makes a `guard`
end all that it guards), kills the rest with its groups, and removes the folders. It works only where there are process
groups (POSIX).

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
"""Seconds that games have to quit by themselves; seconds between two looks at the parent."""

_ENDING = 5.0
"""Seconds that a guard has to end what it guards."""

_process: Any = None
_owner = 0
_known: set[str] = set()


def add(process: int, group: bool = True) -> None:
    """End a process when this one ends. This has no effect where no process can be started beside it.

    Args:
        process: Its number.
        group: Whether it leads a process group, which is then ended as a whole.
    """
    _add(str(-process if group else process))


def add_folder(folder: str) -> None:
    """Remove a temporary folder when this process ends without removing it."""
    _add(os.path.abspath(folder))


def remove(process: int) -> None:
    """Forget a process, or its group, that has been ended."""
    _remove(str(process))
    _remove(str(-process))


def remove_folder(folder: str) -> None:
    """Forget a folder: it has been removed, or is to stay."""
    _remove(os.path.abspath(folder))


def _add(name: str) -> None:
    global _process, _owner
    if os.name == "nt" or "\n" in name:
        return
    if _owner != os.getpid():  # of whoever forked this process
        _known.clear()
        _process, _owner = None, os.getpid()
    _known.add(name)
    if _process is not None and _tell(f"+{name}\n"):
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
        _tell("".join(f"+{known}\n" for known in _known))


def _remove(name: str) -> None:
    if name in _known:
        _known.discard(name)
        if _process is not None and _owner == os.getpid():
            _tell(f"-{name}\n")


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
        pipe.write(os.fsencode(lines))
        pipe.flush()
    except (OSError, ValueError):
        return False
    return True


def main() -> None:
    """Read until the driver is gone, then end and remove what it has left."""
    import select

    parent, known, held = os.getppid(), set[str](), b""
    while os.getppid() == parent:
        if not select.select([0], [], [], _MOMENT)[0]:
            continue
        data = os.read(0, 1 << 16)
        if not data:
            break
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            (known.add if line[:1] == b"+" else known.discard)(os.fsdecode(line[1:]))
    running = {int(name) for name in known if not name.startswith("/")}
    if running:
        time.sleep(_MOMENT)
    for number in running:
        _kill(abs(number), signal.SIGTERM)
        _kill(number, signal.SIGCONT)
    end = time.monotonic() + _ENDING
    while any(_kill(abs(number), 0) for number in running) and time.monotonic() < end:
        time.sleep(0.02)
    for number in running:
        _kill(number, signal.SIGKILL)
    import shutil

    for folder in known:
        if folder.startswith("/"):
            shutil.rmtree(folder, ignore_errors=True)


def _kill(number: int, signal_: int) -> bool:
    try:
        os.kill(number, signal_)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
