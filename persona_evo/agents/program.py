"""Programs of others as agents: one process a game, asked for each move in a line of JSON, ended when it misbehaves.

The game says how (`Game.programs` names a module): `EXPECTED` is what the file has to have, in words; `RUNNER` is a
Python file that runs in the other process, knows nothing of this package, and is given the program's file and the
memory it may take; `shown(level, state)` is what it is asked with; `read(level, state, answer)` makes an action of what
it says, or raises ValueError.

The runner writes {"ready": true} or {"failed": text} once, then for each line it reads {"move": anything} or
{"error": text, "kind": one of the faults}, each with the "number" that the line has (0 for the first words). Answers of
another number are late ones, and dropped. All that the program itself prints is kept (`ProgramSeat.said`) and cut where
it is long, and so are tracebacks. The time to load it does not count as a move's.

With a program ends what it has started, as `persona_evo.connect.guard` does it.

This keeps a program from harming a match, not from harming the machine: run programs you trust, or in a container.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from persona_evo.agents.contest import FAULTS, Fault
from persona_evo.agents.output import OutputReader
from persona_evo.connect import guard, watchdog
from persona_evo.errors import Place, SettingsError, json_fault
from persona_evo.games.core import Game, Level, State
from persona_evo.jobs import windows

MOVE_SECONDS = 2.0
MEGABYTES = 500
"""The limits of the course: the seconds for a move, and the megabytes for the program itself."""

START_SECONDS = 30.0
"""Seconds for loading a program; they do not count for any move."""

DUMP_SECONDS = 0.3
"""Seconds in which a late program can report where it is, before it is ended."""

GUARD_SECONDS = 5.0
"""Seconds in which the guard can end a program's processes, before it is ended itself."""

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
"""A line of the output of faulthandler."""

INTERPRETER_MEGABYTES = 60
"""The memory of an interpreter with NumPy, which does not count as the program's."""

AGAIN = "--- its process had ended: it is loaded again and does not know the game so far\n"
"""The line in the log of a program that is loaded again."""

LOADED = "cannot be loaded: "
LINES = 12
"""The number of last lines that are shown of the output of a program that cannot be loaded."""

LONGEST = 1 << 20
"""The largest size of an answer in bytes."""

_PIPE = 4096
"""The number of bytes that a pipe accepts at once if it accepts any (PIPE_BUF)."""


def is_file(path: Path, word: str = "") -> None:
    """Check that there is a program file; `word` is the path as it was typed.

    Raises:
        SettingsError: there is nothing, or it is a folder.
    """
    if path.is_file():
        return
    what, found, hint = "there is no such program", "nothing of this name", "check the spelling and the folder"
    if path.is_dir():
        what, found, hint = "this is a folder, not a program", "a folder", "name the file in it"
    raise SettingsError(what, place=Place(word or str(path)), found=found, expected="a Python file", hint=hint)


class ProgramSeat:
    """A program's seat in one game.

    Args:
        path: its file. seconds: for a move. megabytes: beyond what an interpreter takes anyway; 0 for no limit.
    """

    thought = (0, 0, 0, 0)

    def __init__(
        self, game: Game, level: Level, path: str, seconds: float = MOVE_SECONDS, megabytes: int = MEGABYTES
    ) -> None:
        self.level, self.path, self.seconds, self.megabytes = level, path, seconds, megabytes
        self._way = importlib.import_module(game.programs)
        self._process: subprocess.Popen[bytes] | None = None
        self._pending, self._number = b"", 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._failed = ""
        self._output: OutputReader | None = None
        self._told: list[str] = []
        self._starts = 0

    @property
    def expected(self) -> str:
        """What the program's file has to have, in words."""
        return str(self._way.EXPECTED)

    @property
    def said(self) -> str:
        """All that the program has printed in this game, and its tracebacks."""
        return "".join([*self._told, self._output.text if self._output else ""])

    def last(self, known: str) -> list[str]:
        """Return the last lines that the program has printed, without those in `known` and frames of other code."""
        ours = tuple(f'File "{name}' for name in (self._way.RUNNER, "<frozen"))
        lines = [line for line in self.said.splitlines() if line.strip() and not line.strip().startswith(ours)]
        return [line for line in lines if line not in known and "(most recent call" not in line][-LINES:]

    def start(self) -> None:
        """Start the process.

        Raises:
            Fault: the program cannot be loaded; it is not tried again.
        """
        if self._failed:
            raise Fault("error", self._failed)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="persona_evo_")
            watchdog.add_folder(self._folder.name)
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")}
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        words = [sys.executable, "-I", "-u", self._way.RUNNER, self.path, str(self.megabytes)]
        self._pending, self._number = b"", 0
        self._process = subprocess.Popen(
            guard.guarded(words, self.megabytes + INTERPRETER_MEGABYTES if self.megabytes else 0),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder.name,
            env={**keep, **one},
            start_new_session=os.name != "nt",
        )
        assert self._process.stdin is not None and self._process.stderr is not None
        watchdog.add(self._process.pid)
        os.set_blocking(self._process.stdin.fileno(), False)
        self._output = OutputReader(os.dup(self._process.stderr.fileno()))
        self._process.stderr.close()
        if self._starts:
            self._told.append(AGAIN)
        self._starts += 1
        late = f"its import, or its __init__, did not end within {START_SECONDS:g} s"
        try:
            answer = self._answer(time.perf_counter() + START_SECONDS, late)
            if answer.get("ready") is not True:
                raise Fault("error", str(answer.get("failed", "it did not start")))
        except Fault as e:
            self._end()
            self._failed = LOADED + e.what
            raise Fault("error", self._failed) from e

    def prepare(self) -> None:
        """Make sure that the program is loaded: before the first move, and after it was ended."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self.start()

    def choose(self, state: State) -> int:
        """Ask for a move; a program that did not answer is ended."""
        self.prepare()
        end = time.perf_counter() + self.seconds
        try:
            self._number += 1
            late = f"no move after {self.seconds:g} s"
            self._ask({"number": self._number, **self._way.shown(self.level, state)}, end, late)
            answer = self._answer(end, late)
        except Fault:
            self._end()
            raise
        if "error" in answer:
            kind = answer.get("kind")
            raise Fault(kind if kind in FAULTS else "error", str(answer["error"]))
        try:
            return int(self._way.read(self.level, state, answer.get("move")))
        except (ValueError, TypeError, LookupError, OverflowError) as e:
            raise Fault("nonsense", str(e)) from e

    def follow(self, action: int) -> None:
        """Do nothing, because the program gets the whole state with each question."""

    def close(self) -> None:
        """End the process, and all that it has started."""
        self._end()
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.cleanup()
            watchdog.remove_folder(self._folder.name)
            self._folder = None

    def _ask(self, question: Any, end: float, late: str) -> None:
        """Send a question by the moment `end`; a program that is stopped does not read it."""
        assert self._process is not None and self._process.stdin is not None
        number, data = self._process.stdin.fileno(), json.dumps(question).encode() + b"\n"
        try:
            while data:
                left = end - time.perf_counter()
                if left <= 0 or not windows.writable(number, left):
                    raise Fault("time", late)
                data = data[os.write(number, data[:_PIPE]) :]
        except OSError as e:
            raise self._ended() from e

    def _ended(self) -> Fault:
        """Return the fault of a program whose process has ended."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._process.wait(1.0) == guard.MEMORY_EXIT:
                return Fault("memory", f"its processes took more than {self.megabytes} MB")
        return Fault("error", "its process has ended" + _how(self._process))

    def _answer(self, end: float, late: str) -> dict[str, Any]:
        """Return the answer to the last question, or raise a fault with the text `late` if there is none by `end`."""
        while True:
            line = self._line(end, late)
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as e:
                raise Fault("nonsense", f"its answer is not JSON: {json_fault(e)}") from e
            if not isinstance(found, dict):
                raise Fault("nonsense", "its answer is not an object")
            if found.get("number") == self._number:
                return found

    def _line(self, end: float, late: str) -> bytes:
        """Return the next line that the program writes by the time `end`."""
        assert self._process is not None and self._process.stdout is not None
        number = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = end - time.perf_counter()
            if left <= 0 or not windows.readable(number, left):
                where = self._where()
                raise Fault("time", late + (f" ({where})" if where else ""))
            more = os.read(number, 1 << 16)
            if not more:
                raise self._ended()
            self._pending += more
            if len(self._pending) > LONGEST:
                raise Fault("nonsense", f"an answer of more than {LONGEST} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _where(self) -> str:
        """Return the line of its code that the program is at; "" if that cannot be found out."""
        if self._process is None or self._output is None or not hasattr(signal, "SIGUSR1"):
            return ""
        known, folder = self._output.length, os.path.dirname(self.path) + os.sep
        with contextlib.suppress(OSError):
            self._process.send_signal(signal.SIGUSR1)
        end = time.perf_counter() + DUMP_SECONDS
        while time.perf_counter() < end and self._process.poll() is None:
            time.sleep(0.02)
            lines = [m.groups() for m in _FRAME.finditer(self._output.since(known)) if m[1].startswith(folder)]
            if lines:
                file, number, function = lines[0]
                return f"it was at {file.removeprefix(folder)}:{number}, in {function}"
        return ""

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.terminate()  # the guard ends the program and all that it has started, then itself
            process.send_signal(signal.SIGCONT)  # a guard that was stopped, too
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GUARD_SECONDS if process.poll() is None else 0)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        watchdog.remove(process.pid)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._keep_output()

    def _keep_output(self) -> None:
        """Keep what an ended process has said."""
        if self._output is not None and self._process is None:
            self._output.join(1.0)
            self._told.append(self._output.text)
            self._output = None


def _how(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        return ""
    return f" (by signal {-code})" if code < 0 else f" (exit code {code})"


def try_out(game: Game, level: Level, path: Path) -> None:
    """Check that a program starts.

    Raises:
        SettingsError: it does not; the error has its file and its output.
    """
    is_file(path)
    program = ProgramSeat(game, level, str(path.resolve()))
    try:
        program.start()
    except Fault as e:
        what = e.what.removeprefix(LOADED)[:300]
        raise SettingsError(
            "the program cannot be loaded",
            place=Place(str(path)),
            found="\n    ".join([what, *program.last(what)]),
            expected=program.expected,
            hint="run it alone to see why",
        ) from e
    finally:
        program.close()
