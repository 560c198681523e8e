"""Runs a command and ends everything that it has started: `python guard.py MEGABYTES LOG BYTES COMMAND...`.

On Linux the guard becomes the parent of all orphaned processes below it (`prctl`, PR_SET_CHILD_SUBREAPER), including
those in other sessions. It ends every process below it when the command has ended, when the guard is told to end
(SIGTERM), when the process that started it is gone, or when the processes together exceed their memory limit. It then
writes the reason to the log and ends in the same way as the command. It passes SIGUSR1 on to the command.

On other systems the guard cannot adopt orphans or measure memory: it ends only the command itself. Whoever started the
guard ends its process group, and with it what the command has started.

Two cases are not covered. If the guard is killed (SIGKILL), the command ends with it, but not what the command has
started in another session. Between two checks (`LOOK`) the processes may exceed their memory limit.

Arguments of the command line:
    MEGABYTES: the memory limit of all processes together (proportional set size); 0 for no limit.
    LOG: the file for the command's output, whose size is limited; "" to leave standard output and error unchanged.
    BYTES: the largest size of that file; 0 for no limit.

This file imports nothing from the package, so that it starts fast.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Sequence

SUBREAPER, PDEATHSIG = 36, 1
"""Options of `prctl`."""

LOOK = 0.1
"""Seconds between two checks of the memory; without a memory limit only the parent is checked, every `_PARENT` s."""

MEMORY_EXIT = 113
"""The exit code if the processes were ended because they exceeded their memory limit."""

START_EXIT = 126
"""The exit code if the command cannot be started."""

_PARENT = 0.5
_MOMENT = 1.0
"""Seconds that the command has to quit by itself when the process that started the guard is gone."""

_ROUNDS = 200
"""The largest number of times that the guard checks for remaining processes, 0.01 s apart."""

_CHUNK = 1 << 16
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def guarded(words: Sequence[str], megabytes: int = 0, log: str = "", most: int = 0) -> list[str]:
    """Return the command line that runs a command under a guard; on Windows return the command unchanged."""
    if os.name == "nt":
        return list(words)
    return [sys.executable, "-I", "-S", __file__, str(megabytes), log, str(most), *words]


class CappedLog:
    """A log file of limited size that keeps the beginning and the end of what is written to it.

    The first half of the space is for the beginning. After that, two segment files beside it are filled in turn.
    `close` appends the end of these to the file, after a line that says how much was left out.

    Args:
        path: the file; its existing content counts as the beginning.
        most: the largest size in bytes; 0 for no limit.
    """

    def __init__(self, path: str, most: int) -> None:
        self.path, self.half = path, most // 2
        self.segments = segments_of(path)
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self._room = self.half - self._file.tell() if most else sys.maxsize
        self._segment, self._size, self._written = -1, 0, 0

    def write(self, data: bytes) -> None:
        """Add to the log. If the disk is full, what does not fit is lost."""
        with contextlib.suppress(OSError):
            head = data[: max(0, self._room)]
            if head:
                self._room -= len(head)
                self._file.write(head)
                data = data[len(head) :]
            if data:
                self._write_end(data)

    def _write_end(self, data: bytes) -> None:
        if self._segment < 0 or self._size >= self.half:
            self._segment = 1 - self._segment if self._segment >= 0 else 0
            self._file.close()
            self._file = open(self.segments[self._segment], "wb", buffering=0)  # noqa: SIM115
            self._size = 0
        self._size += len(data)
        self._written += len(data)
        self._file.write(data)

    def close(self) -> None:
        """Join the end to the beginning."""
        self._file.close()
        if self._segment < 0:
            return
        end = b""
        for segment in (self.segments[1 - self._segment], self.segments[self._segment]):
            with contextlib.suppress(OSError), open(segment, "rb") as file:
                end += file.read()
        end = end[-self.half :]
        dropped = self._written - len(end)
        with contextlib.suppress(OSError), open(self.path, "r+b") as file:
            file.seek(0, os.SEEK_END)
            if dropped:
                file.write(f"\n--- {dropped:,} bytes are left out here ---\n".encode())
            file.write(end)
        for segment in self.segments:
            with contextlib.suppress(OSError):
                os.unlink(segment)


def segments_of(path: str) -> tuple[str, str]:
    """Return the names of the two files that hold the end of a capped log while it is written."""
    return path + ".1", path + ".2"


def log_end(path: str, first: int, most: int) -> bytes:
    """Return the end of a capped log, which may still be written.

    Args:
        path: the file.
        first: the earliest position to read from.
        most: the largest number of bytes to return.
    """
    newest = sorted(filter(os.path.exists, segments_of(path)), key=os.path.getmtime)
    text = b""
    for file, at in ((path, first), *((segment, 0) for segment in newest)):
        with open(file, "rb") as stream:
            stream.seek(max(at, os.path.getsize(file) - most))
            text = (text + stream.read())[-most:]
    return text


class _Guard:
    """The guard of one command, in a process of its own.

    Args:
        words: the command.
        megabytes: the memory limit of all processes together; 0 for no limit.
        log: receives the command's output; None to leave it unchanged.
    """

    def __init__(self, words: list[str], megabytes: int, log: CappedLog | None) -> None:
        self.words, self.limit, self.log = words, megabytes << 20, log
        self.parent = os.getppid()
        self.reaper = sys.platform.startswith("linux") and prctl(SUBREAPER, 1)
        self.told_to_end = False
        self.child = self.pipe = -1
        self.exit: int | None = None

    def run(self) -> None:
        """Run the command until it ends, and end in the same way."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGTERM, self._hear_end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, self._pass_on)
        self._start()
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)  # only the child holds the pipes, so they close when it ends
        os.dup2(nowhere, 1)
        memory = self._wait(wake)
        left = self._end_all()
        if memory:
            self._say(memory)
        elif left:
            named = ", ".join(f"{number} ({name})" for number, name in left[:5])
            self._say(f"ended with it: {len(left)} process{'es' * (len(left) > 1)} that it had started: {named}")
        self._read_log()
        if self.log is not None:
            self.log.close()
        if memory:
            os._exit(MEMORY_EXIT)
        end_as(self.exit)

    def _start(self) -> None:
        guard, (read, write) = os.getpid(), os.pipe() if self.log is not None else (-1, -1)
        self.child = os.fork()
        if self.child:
            self.pipe = read
            if read >= 0:
                os.close(write)
                os.set_blocking(read, False)
            return
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
        if self.reaper:
            prctl(PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guard:
                os._exit(0)
        if write >= 0:
            os.dup2(write, 1)
            os.dup2(write, 2)
        try:
            os.execvp(self.words[0], self.words)
        except OSError as e:
            os.write(2, f"{self.words[0]} cannot be started: {e.strerror}\n".encode(errors="replace"))
            os._exit(START_EXIT)

    def _wait(self, wake: int) -> str:
        """Wait until the command has ended or has to be ended; return the reason if that is its memory, else ""."""
        look = LOOK if self.limit and self.reaper else _PARENT
        end = float("inf")
        while time.monotonic() < end:
            self._reap()
            if self.exit is not None or self.told_to_end:
                break
            if os.getppid() != self.parent:
                end = min(end, time.monotonic() + _MOMENT)
            if self.limit and self.reaper and (said := self._too_large()):
                return said
            pipes = [wake] if self.pipe < 0 else [wake, self.pipe]
            ready = select.select(pipes, [], [], look)[0]
            if wake in ready:
                os.read(wake, _CHUNK)
            if self.pipe in ready:
                self._read_log(once=True)
        return ""

    def _too_large(self) -> str:
        below = descendants(os.getpid())
        used = sum(resident(number) for number in below)
        if used > self.limit:  # count shared pages only once
            used = sum(proportional(number) for number in below)
        if used <= self.limit:
            return ""
        several = f"{len(below)} processes" if len(below) > 1 else "one process"
        return f"ended because of its memory: {used >> 20} MB in {several}, with a limit of {self.limit >> 20} MB"

    def _read_log(self, once: bool = False) -> None:
        """Write the command's output to the log."""
        while self.pipe >= 0 and self.log is not None:
            try:
                data = os.read(self.pipe, _CHUNK)
            except OSError:
                return
            if not data:
                os.close(self.pipe)
                self.pipe = -1
                return
            self.log.write(data)
            if once:
                return

    def _say(self, text: str) -> None:
        line = f"--- {text}\n"
        if self.log is not None:
            self._read_log()
            self.log.write(line.encode())
            return
        with contextlib.suppress(OSError):
            print(line, end="", file=sys.stderr, flush=True)

    def _hear_end(self, *_: object) -> None:
        self.told_to_end = True

    def _pass_on(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.child, signal.SIGUSR1)

    def _reap(self) -> None:
        """Collect processes that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                number, status = os.waitpid(-1, os.WNOHANG)
                if number == 0:
                    break
                if number == self.child:
                    self.exit = status

    def _end_all(self) -> list[tuple[int, str]]:
        """End every process below this one; return the numbers and names of those other than the command."""
        if not self.reaper:
            with contextlib.suppress(OSError):
                if self.exit is None:
                    os.kill(self.child, signal.SIGKILL)
            return []
        ended: dict[int, str] = {}
        empty = 0
        for _ in range(_ROUNDS):
            self._reap()
            below = descendants(os.getpid())
            empty = 0 if below else empty + 1
            if empty == 2:  # a check can miss the children of a process that ends meanwhile
                break
            for number, name in below.items():
                ended.setdefault(number, name)
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.01)
        ended.pop(self.child, None)
        return list(ended.items())


def prctl(option: int, value: int) -> bool:
    """Set an option of this process; return False if the system does not support that."""
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError, TypeError):
        return False


def descendants(root: int) -> dict[int, str]:
    """Return the numbers and names of all running processes below a process."""
    parents: dict[int, tuple[int, str | None]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError):
                head, _, tail = read(f"/proc/{entry}/stat").rpartition(")")
                state, above = tail.split()[:2]
                parents[int(entry)] = int(above), None if state in "ZX" else head.partition("(")[2]
    found: dict[int, str | None] = {}
    below = {root}
    while below:
        below = {number for number, (above, _) in parents.items() if above in below and number not in found}
        found.update({number: parents[number][1] for number in below})
    return {number: name for number, name in found.items() if name is not None}


def read(path: str) -> str:
    """Read a short system file."""
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def resident(number: int) -> int:
    """Return the memory of a process in bytes, including shared memory; 0 if it has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(read(f"/proc/{number}/statm").split()[1]) * _PAGE
    return 0


def proportional(number: int) -> int:
    """Return the memory of a process in bytes, where shared memory counts in proportion."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in read(f"/proc/{number}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return resident(number)


def end_as(status: int | None) -> None:
    """End with the exit code of another process, or by the signal that ended it."""
    if status is None:
        os._exit(0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.waitstatus_to_exitcode(status))


def main() -> None:
    """Guard the command given on the command line."""
    megabytes, log, most, *words = sys.argv[1:]
    _Guard(words, int(megabytes), CappedLog(log, int(most)) if log else None).run()


if __name__ == "__main__":
    main()
