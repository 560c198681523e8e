"""Programs of others as agents: one process a game, asked for each move in a line of JSON, ended when it misbehaves.

The game says how (`Game.programs` names a module): `RUNNER` is a Python file that runs in the other process, knows
nothing of this package, and is given the program's file and the memory it may take; `shown(level, state)` is what it is
asked with; `read(level, state, answer)` makes an action of what it says, or raises ValueError.

The runner writes {"ready": true} or {"failed": text} once, then for each line it reads {"move": anything} or
{"error": text, "kind": one of the faults}. All that the program itself prints goes nowhere.

This keeps a program from harming a match, not from harming the machine: run programs you trust, or in a container.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, SettingsError
from persona_evo.games.core import Game, Level
from persona_evo.search.contest import FAULTS, Fault

MOVE_SECONDS = 2.0
MEGABYTES = 500
"""What a move may take in the course, and what its program may take for itself."""

START_SECONDS = 30.0
"""For a program to be loaded; no move counts this time."""

GUARD = str(Path(__file__).with_name("guard.py"))

LONGEST = 1 << 20
"""Bytes of an answer at most."""


class Program:
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
        self._pending = b""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._failed = ""

    def start(self) -> None:
        """Start the process.

        Raises:
            Fault: the program cannot be loaded; it is not tried again.
        """
        if self._failed:
            raise Fault("error", self._failed)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="persona_evo_")
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")}
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._pending = b""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-u", GUARD, self._way.RUNNER, self.path, str(self.megabytes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self._folder.name, env={**keep, **one},
            start_new_session=os.name != "nt",
        )  # fmt: skip
        try:
            answer = self._answer(time.perf_counter() + START_SECONDS)
            if answer.get("ready") is not True:
                raise Fault("error", str(answer.get("failed", "it did not start")))
        except Fault as e:
            self._end()
            self._failed = f"cannot be loaded: {e.what}"
            raise Fault("error", self._failed) from e

    def choose(self, state: Any) -> int:
        """Ask for a move; a program that did not answer is ended and started anew for the next one."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        end = time.perf_counter() + self.seconds
        try:
            self._ask(self._way.shown(self.level, state))
            answer = self._answer(end)
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
        """It is shown the whole state each time."""

    def close(self) -> None:
        """End the process, and all that it has started."""
        self._end()
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.cleanup()
            self._folder = None

    def _ask(self, question: Any) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as e:
            raise Fault("error", "its process has ended") from e

    def _answer(self, end: float) -> dict[str, Any]:
        """The next line it writes, by the moment `end`."""
        assert self._process is not None and self._process.stdout is not None
        number = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = end - time.perf_counter()
            if left <= 0 or not select.select([number], [], [], left)[0]:
                raise Fault("time", f"no move after {self.seconds:g} s")
            more = os.read(number, 1 << 16)
            if not more:
                raise Fault("error", "its process has ended" + _how(self._process))
            self._pending += more
            if len(self._pending) > LONGEST:
                raise Fault("nonsense", f"an answer of more than {LONGEST} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as e:
            raise Fault("nonsense", "its answer is not JSON") from e
        if not isinstance(found, dict):
            raise Fault("nonsense", "its answer is no object")
        return found

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if os.name != "nt":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _how(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        return ""
    return f" (by signal {-code})" if code < 0 else f" (exit code {code})"


def try_out(game: Game, level: Level, path: Path) -> None:
    """See that a program starts.

    Raises:
        SettingsError: it does not, with its file and what it said.
    """
    if not path.is_file():
        raise SettingsError("there is no such program", place=Place(str(path)), expected="a Python file")
    program = Program(game, level, str(path.resolve()))
    try:
        program.start()
    except Fault as e:
        raise SettingsError("the program " + e.what.split(":")[0], place=Place(str(path)),
                            found=e.what.partition(": ")[2][:300], hint="run it alone to see why") from e  # fmt: skip
    finally:
        program.close()
