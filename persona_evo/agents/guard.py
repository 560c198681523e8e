"""Runs a Python file and ends all that it has started with it: `python guard.py FILE ARGUMENTS...`.

On Linux the file runs in a child of this process, which becomes the parent of whatever is left without one below it
(`prctl`, PR_SET_CHILD_SUBREAPER), in sessions of their own, too. When the file has come to its end, this process is
told to end (SIGTERM), or whoever started it is gone, it ends every process below itself, says so on standard error, and
ends as the file did. SIGUSR1 is handed on.

Elsewhere the file runs in this process, which ends within a second of the one that started it, and what the file has
started ends only as far as it has stayed in its process group.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import sys
import threading
import time
from pathlib import Path

PDEATHSIG, SUBREAPER = 1, 36
"""Options of `prctl`."""

ROUNDS = 200
"""How often it is looked whether a process is left, 0.01 s apart."""


def main() -> None:
    """Watch, and run the file."""
    del sys.argv[0]
    parent = os.getppid()
    if not sys.platform.startswith("linux") or not prctl(SUBREAPER, 1):
        if os.name != "nt":
            threading.Thread(target=watch, args=(parent,), daemon=True).start()
        runpy.run_path(sys.argv[0], run_name="__main__")
        return
    prctl(PDEATHSIG, signal.SIGTERM)
    heard = {signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    guard, child = os.getpid(), os.fork()
    if child == 0:
        prctl(PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
        runpy.run_path(sys.argv[0], run_name="__main__")
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)  # the pipes are the child's alone, so that their end is heard when it ends
    os.dup2(nowhere, 1)
    status = until_over(child, parent, heard)
    left = end_all(keep=child)
    if left:
        with contextlib.suppress(OSError):
            named = ", ".join(f"{number} ({name})" for number, name in left[:5])
            print(
                f"--- ended with it: {len(left)} process{'es' * (len(left) > 1)} that it had started: {named}",
                file=sys.stderr,
                flush=True,
            )
    end_as(status)


def prctl(option: int, value: int) -> bool:
    """Set an option of this process; False where the system has none."""
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError, TypeError):
        return False


def watch(parent: int) -> None:
    """End with the process that started this one."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def until_over(child: int, parent: int, heard: set[signal.Signals]) -> int | None:
    """Wait; how the child ended, None where it is still there and has to be ended."""
    while True:
        status = reaped(child)
        if status is not None:
            return status
        if os.getppid() != parent:
            return None
        came = signal.sigtimedwait(heard, 1.0)
        if came is not None and came.si_signo == signal.SIGTERM:
            return None
        if came is not None and came.si_signo == signal.SIGUSR1:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGUSR1)


def reaped(child: int = 0) -> int | None:
    """Let processes go that have ended; how the child did, None where it has not."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            number, status = os.waitpid(-1, os.WNOHANG)
            if number == 0:
                break
            if number == child:
                found = status
    return found


def end_all(keep: int) -> list[tuple[int, str]]:
    """End every process below this one; numbers and names of those besides `keep`."""
    ended: dict[int, str] = {}
    for _ in range(ROUNDS):
        reaped()
        below = descendants(os.getpid())
        if not below:
            break
        for number, name in below.items():
            ended.setdefault(number, name)
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.01)
    ended.pop(keep, None)
    return list(ended.items())


def descendants(root: int) -> dict[int, str]:
    """Numbers and names of the processes below one, those that have ended left out."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                head, _, tail = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
                state, above = tail.split()[:2]
                if state not in "ZX":
                    parents[int(entry.name)] = int(above), head.partition("(")[2]
    found: dict[int, str] = {}
    below = {root}
    while below:
        below = {number for number, (above, _) in parents.items() if above in below and number not in found}
        found.update({number: parents[number][1] for number in below})
    return found


def end_as(status: int | None) -> None:
    """End with the exit code, or by the signal, that another process ended with."""
    if status is None:
        os._exit(0)
    if os.WIFSIGNALED(status):
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            number = os.WTERMSIG(status)
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
            os.kill(os.getpid(), number)
        os._exit(128 + os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
