"""Ends the game processes of a driver that was killed, with a small process that runs beside the driver.

A driver that gets SIGKILL cannot end its games, and a game that hangs at that moment does not notice that the
connection is closed. The first game process therefore brings along a watchdog, which does nothing but read a pipe. Its
lines are `+N` and `-N` to add and remove a process, where N is a number as for kill(2), negative for a process group,
and `+/PATH` and `-/PATH` for temporary folders. When the driver is gone for whatever reason, the pipe closes and the
watchdog's parent changes. The watchdog waits a moment, in which healthy games quit by themselves. It then sends SIGTERM
to the rest (which makes a `guard` end its processes), kills what remains together with its process groups, and removes
the folders. All this works only on systems with process groups (POSIX).

The watchdog process runs this file itself (`python -I -S watchdog.py`), so the file imports nothing from the package.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import IO, Any

_MOMENT = 1.0
"""Seconds that games have to quit by themselves; also the seconds between two checks of the parent."""

_ENDING = 5.0
"""Seconds that a guard has to end its processes."""

_process: Any = None
_owner = 0
_known: set[str] = set()


def add(process: int, group: bool = True) -> None:
    """End a process when this one ends. This has no effect if the watchdog cannot be started.

    Args:
        process: the number of the process.
        group: whether it leads a process group, which is then ended as a whole.
    """
    _add(str(-process if group else process))


def add_folder(folder: str) -> None:
    """Remove a temporary folder if this process ends without removing it."""
    _add(os.path.abspath(folder))


def remove(process: int) -> None:
    """Forget a process, or its group, that has ended."""
    _remove(str(process))
    _remove(str(-process))


def remove_folder(folder: str) -> None:
    """Forget a folder that has been removed or is to be kept."""
    _remove(os.path.abspath(folder))


def _add(name: str) -> None:
    global _process, _owner
    if os.name == "nt" or "\n" in name:
        return
    if _owner != os.getpid():  # the watchdog belongs to the process that forked this one
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
    """End the watchdog."""
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
    """Read from the pipe until the driver is gone, then end its processes and remove its folders."""
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
