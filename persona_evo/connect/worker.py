"""Starts one game process, communicates with it, and ends it together with everything that it started.

The driver opens a separate port for each process before it starts the process. Whoever connects has to send back the
nonce that the process found in its environment. The nonce is compared in constant time, used once and written nowhere.
The process leads a process group of its own, so that Ctrl-C on the terminal does not reach it and it can be ended
together with its children.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import time
import weakref
from pathlib import Path
from typing import IO, Any

from persona_evo.connect import guard, launch, pictures, watchdog
from persona_evo.connect import protocol as p
from persona_evo.connect.incoming import IncomingFrames
from persona_evo.connect.listener import ExpectedGame, GamePort
from persona_evo.connect.process_start import Factory, Start
from persona_evo.errors import ConnectError, Place

KNOWN = ("seed", "weights", "lookahead", "hash", "maps", "snapshot", "pictures")
"""The capabilities that the driver uses."""

_CHUNK = 1 << 18
_POLL = 0.02
GRACE = 1.0
"""Seconds that a process has to quit after BYE, and again after SIGTERM."""

GUARD_SECONDS = 5.0
"""Seconds that a guard has to end its processes."""

_ENDING = 2.0
"""Seconds to wait for the end of a process whose connection broke, so that a message can say how it ended."""

_TAIL = 2000
"""The largest number of characters of a log in a message."""


alive: weakref.WeakSet[Worker] = weakref.WeakSet()
"""Workers that may have a process."""


class Worker:
    """A game process and the connection to it.

    Args:
        start: how the process is started.
        number: its number from 0, which appears in the game's environment and in the name of the log file.
    """

    def __init__(self, start: Start, number: int) -> None:
        self.start, self.number = start, number
        self.log = start.logs / f"worker-{number}.log"
        self.hello: p.Hello | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._port: GamePort | None = None
        self._socket: socket.socket | None = None
        self._log: IO[bytes] | None = None
        self._nonce = ""
        self._leads = True
        self._frames = IncomingFrames(p.MOST_HELLO)
        self._out = b""
        self._log_from = 0

    def launch(self) -> None:
        """Open the port, then start the process.

        Raises:
            ConnectError: the port is in use, or the program cannot be started.
        """
        if self.start.attachment is not None:
            self._nonce = self.start.attachment.token
            self._port = GamePort(self.start.attachment.port, self.start.port_place)
            alive.add(self)
            return
        words = (
            [str(self.start.path)]
            if self.start.factory
            else launch.command(self.start.path, self.start.arguments, log=self.log, view=self.start.view)
        )  # before opening the port
        self._nonce = secrets.token_hex(32)
        alive.add(self)
        try:
            self._port = GamePort(self.start.port + self.number if self.start.port else 0, self.start.port_place)
            if self.start.factory is not None:
                self._process = self._made(self.start.factory)
            else:
                self._open_log()
                written = str(self._printed) if self._log is None else ""
                self._process = subprocess.Popen(
                    guard.guarded(words, self.start.limits.memory, written, self.start.limits.log << 20),
                    env=self._environment(),
                    cwd=self.start.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=self._log or subprocess.DEVNULL,
                    stderr=subprocess.STDOUT,
                    **_own_group(),
                )
            watchdog.add(self._process.pid, self._leads)
        except OSError as e:
            self.kill()
            raise ConnectError(
                f"the game cannot be started: {e.strerror or e}",
                place=Place(str(self.start.path)),
                found=_named(e) or words[0],
                expected="an existing program that may be executed",
            ) from e
        except BaseException:
            self.kill()
            raise

    def connect(self) -> p.Hello:
        """Wait for the game to connect, and answer its HELLO.

        Raises:
            ConnectError: the game ended, does not connect, does not send HELLO, or uses another version of the
                protocol. The error has the stage, the way the process ended, and the end of its log.
        """
        assert self._port is not None
        limits = self.start.timeouts
        game = ExpectedGame(
            self._place(),
            self._nonce,
            limits.connect,
            limits.handshake,
            lambda: self.exit_code is not None,
            self.failure,
            None if self.start.attachment is None else self.start.attachment.tell,
        )
        try:
            connection, hello = self._port.accept(game)
            self._nonce = ""
            self._socket, self.hello = connection, hello._replace(nonce="")
            rows = (p.PAIR + 4 * len(hello.metrics)) * (hello.max_decisions + 1)
            most = rows + 4 * len(hello.metrics) + p.MOST_MESSAGE + 64
            if "pictures" in hello.capabilities:
                most = max(most, pictures.HEAD.size + pictures.MOST_BYTES)
            self._frames = IncomingFrames(min(p.MOST_PAYLOAD, most))
            self._port.close()
            self._port = None
            self.send(p.json_frame(p.Kind.WELCOME, self.welcome(self.start.map, self.start.variant, hello)))
        except BaseException:
            self.kill()
            raise
        return self.hello

    def send(self, data: bytes) -> None:
        """Send as much as possible without waiting; `flush` sends the rest."""
        self._out = self._out + data if self._out else data
        self.flush()

    def flush(self) -> None:
        """Send more of the data that waits to be sent.

        Raises:
            ConnectError: the connection is gone.
        """
        assert self._socket is not None
        try:
            while self._out:
                self._out = self._out[self._socket.send(self._out) :]
        except BlockingIOError:
            return
        except OSError as e:
            raise self.failure("the connection broke", "while an order was sent") from e

    @property
    def unsent(self) -> bool:
        """Whether data waits to be sent."""
        return bool(self._out)

    def receive(self) -> list[tuple[int, bytes]]:
        """Return the frames that have arrived; none if there is nothing to read.

        Raises:
            ProtocolError: the data is not a frame.
            ConnectError: the connection is gone.
        """
        assert self._socket is not None
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError as e:
            raise self.failure("the connection broke", "while a result was read") from e
        if not data:
            half = f", {self._frames.waiting} bytes into a frame" if self._frames.waiting else ""
            raise self.failure("the game ended the connection", "during a rollout" + half)
        return self._frames.feed(data)

    def fileno(self) -> int:
        """Return the file descriptor of the connection, for `select`."""
        assert self._socket is not None
        return self._socket.fileno()

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process; None while it runs, negative for the signal that ended it."""
        code = self._process.poll() if self._process is not None else None
        if code is not None:
            self._signal_group(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        return code

    @property
    def out_of_memory(self) -> bool:
        """Whether the process was ended because it exceeded its memory limit."""
        return bool(self.start.limits.memory) and self.exit_code == guard.MEMORY_EXIT

    @property
    def pid(self) -> int:
        """The system's number of the process; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    def failure(self, what: str, stage: str, ending: bool = True) -> ConnectError:
        """Return an error that says how the process ended, if it did, and shows the end of its log.

        With `ending` the process is probably about to end, so this waits a moment for that.
        """
        end = time.monotonic() + (_ENDING if ending else 0.0)
        while (code := self.exit_code) is None and time.monotonic() < end:
            time.sleep(_POLL / 2)
        state = "it still runs" if code is None else _ended(code)
        if self.out_of_memory:
            state = f"it took more memory than the {self.start.limits.memory} MB that [limits] allows"
        return ConnectError(
            f"{what} {stage}",
            place=self._place(),
            found=state,
            hint=self._log_end(),
        )

    def say_bye(self) -> None:
        """Ask the game to quit."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.send(p.frame(p.Kind.BYE))
                self._socket.shutdown(socket.SHUT_WR)

    def terminate(self) -> None:
        """Tell the process group to end, even if it is stopped."""
        self._signal_group(signal.SIGTERM)
        if os.name != "nt":
            self._signal_group(signal.SIGCONT)

    def kill(self) -> None:
        """End the process group and close everything that belongs to the worker."""
        for stream in (self._socket, self._port, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._socket = self._port = self._log = None
        if self._process is not None:
            if self._process.poll() is None and self.start.factory is None and os.name != "nt":
                self.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(GUARD_SECONDS)
            self._signal_group(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
            if os.name == "nt":
                self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            if self._process.returncode is not None:
                watchdog.remove(self._process.pid)
                self._process = None
        alive.discard(self)

    def _place(self) -> Place:
        return Place(f"{self.start.path}, worker {self.number}")

    @property
    def _printed(self) -> Path:
        """The file for the output of the process; a Unity player writes `log` itself, so its output goes elsewhere."""
        return self.log.with_suffix(".out") if launch.is_unity(launch.find(self.start.path)) else self.log

    def _open_log(self) -> None:
        """Make the folder for logs; on Windows, where no guard writes the log, also open the log."""
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self._log_from = self.log.stat().st_size if self.log.exists() else 0
            file = self._printed.open("ab")
        except OSError as e:
            raise ConnectError("the game's log cannot be written", place=Place(str(self.log)), found=str(e)) from e
        if os.name == "nt":
            self._log = file
        else:
            file.close()

    def _made(self, factory: Factory) -> subprocess.Popen[bytes]:
        """Return the process that a factory starts."""
        assert self._port is not None
        address, port = self._port.address
        made = factory(address, port, self._nonce)
        if not isinstance(made, subprocess.Popen):
            raise ConnectError(
                "the factory started no process",
                place=Place(str(self.start.path)),
                found=type(made).__name__,
                expected="factory(address, port, nonce) that returns subprocess.Popen(...)",
            )
        with contextlib.suppress(OSError):
            self._leads = os.name == "nt" or os.getpgid(made.pid) == made.pid
        return made

    def _environment(self) -> dict[str, str]:
        assert self._port is not None
        address, port = self._port.address
        settings = json.dumps(self._settings(), ensure_ascii=False)
        own = launch.variables(address, port, self._nonce, settings, self.number)
        return {**os.environ, **self.start.environment, **own}

    def _settings(self) -> dict[str, Any]:
        given = {k: v for k, v in (("variant", self.start.variant), ("map", self.start.map)) if v}
        return {**self.start.settings, **given}

    def welcome(self, map_: str, variant: str, hello: p.Hello) -> dict[str, Any]:
        """Return the content of WELCOME; null stands for what a factory has put into the game's environment."""
        limits, own = self.start.timeouts, self.start.factory is not None
        said = {"settings": self._settings(), "variant": variant, "map": map_}
        return {
            "protocol": list(p.VERSION),
            **{key: None if own and not value else value for key, value in said.items()},
            "capabilities": [c for c in hello.capabilities if c in KNOWN],
            "timeouts": {"connect": limits.connect, "handshake": limits.handshake, "rollout": limits.rollout},
        }

    def _signal_group(self, number: int) -> None:
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            if os.name == "nt":
                self._process.terminate()
            elif self._leads:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    def _log_end(self) -> str:
        """Return the end of this process's log."""
        try:
            text = guard.log_end(str(self.log), self._log_from, 4 * _TAIL).decode("utf-8", "replace").strip()
        except OSError:
            text = ""
        if not text:
            return f"its log is empty: {self.log}"
        return f"the end of its log, {self.log}:\n    " + "\n    ".join(text[-_TAIL:].splitlines()[-12:])


def _own_group() -> dict[str, Any]:
    if os.name == "nt":
        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return {"start_new_session": True}


def _named(e: OSError) -> str:
    """Return the file that an OSError is about, with an absolute path; "" if it names none."""
    if not isinstance(e.filename, (str, bytes, os.PathLike)):
        return ""
    name = os.fsdecode(e.filename)
    return os.path.abspath(name) if os.path.dirname(name) else name


def _ended(code: int) -> str:
    if code >= 0:
        return f"the process ended with exit code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"
