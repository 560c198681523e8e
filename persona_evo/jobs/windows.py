"""Differences of Windows: pipes, parents of processes, files that other programs have open, and command lines.

`WINDOWS` decides which way is taken. The Windows functions are in modules that exist only there, so they are imported
when they are needed. `tests/jobs/test_windows.py` tests both ways.
"""

from __future__ import annotations

import importlib
import ntpath
import os
import select
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WINDOWS = os.name == "nt"

_TRIES, _PAUSE = 20, 0.05
"""Number of attempts to replace a file that another program has open, and seconds between them."""

_LOOK = 0.005
"""Seconds between two checks of a pipe."""

_SYNCHRONIZE, _FOREVER = 0x00100000, 0xFFFFFFFF
"""Arguments of Windows functions: the right to wait for a process, and an unlimited time."""


def replace(old: Path, new: Path) -> None:
    """Rename a file to the name of another, which it replaces.

    On Windows, this waits up to a second for programs that have the other file open.

    Raises:
        OSError: the file cannot be replaced.
    """
    for left in reversed(range(_TRIES if WINDOWS else 1)):
        try:
            os.replace(old, new)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(_PAUSE)


def readable(pipe: int, seconds: float) -> bool:
    """Wait until a pipe holds something to read or has been closed at its other end; return False if time runs out."""
    if not WINDOWS:
        return bool(select.select([pipe], [], [], max(0.0, seconds))[0])
    windows: Any = importlib.import_module("_winapi")
    handle = importlib.import_module("msvcrt").get_osfhandle(pipe)
    end = time.perf_counter() + seconds
    while True:
        try:
            if windows.PeekNamedPipe(handle, 0)[0]:
                return True
        except OSError:
            return True
        if time.perf_counter() >= end:
            return False
        time.sleep(_LOOK)


def writable(pipe: int, seconds: float) -> bool:
    """Wait until a pipe has room; return False if time runs out. On Windows, a write waits for room itself."""
    return WINDOWS or bool(select.select([], [pipe], [], max(0.0, seconds))[1])


def wait_for_parent(parent: int) -> None:
    """Wait until the process that started this one has ended.

    Args:
        parent: the number of that process.
    """
    if not WINDOWS:
        while os.getppid() == parent:
            time.sleep(1.0)
        return
    windows: Any = importlib.import_module("_winapi")
    try:
        handle = windows.OpenProcess(_SYNCHRONIZE, False, parent)
    except OSError:  # the parent has ended
        return
    windows.WaitForSingleObject(handle, _FOREVER)


def command_line(words: Iterable[str]) -> str:
    """Join words to a line that can be typed into the system's shell."""
    if WINDOWS:
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)


def program(*words: object) -> str:
    """Return a command line of this program; empty words are left out, and those with blanks are quoted."""
    return command_line(["persona-evo", *filter(None, map(str, words))])


def split_at_colon(text: str) -> tuple[str, str]:
    """Split a text at its first colon that does not belong to a drive, as in C:/lists/agents.toml#NAME:c=2."""
    drive, rest = ntpath.splitdrive(text) if text[2:3] in ("\\", "/") else ("", text)
    before, _, after = rest.partition(":")
    return drive + before, after
