"""Connects a game in Python to its driver, and reads the settings in the game's environment variables."""

from __future__ import annotations

import contextlib
import json
import socket
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from persona_evo.connect import hello_frame
from persona_evo.connect import protocol as p
from persona_evo.connect.incoming import IncomingFrames
from persona_evo.errors import ConnectError, InputError, PersonaEvoError, ProtocolError, in_one_line, json_fault

_CHUNK = 1 << 16


class ExperimentFinished(Exception):
    """Signals that the driver has said BYE or is gone, so the game should quit."""


class DriverConnection:
    """A socket that carries frames to and from the driver.

    Args:
        address: the driver's host.
        port: the driver's port.

    Raises:
        ConnectError: the driver cannot be reached.
    """

    def __init__(self, address: str, port: int) -> None:
        try:
            self._socket = socket.create_connection((address, port), timeout=60)
            self._socket.settimeout(None)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as e:
            raise ConnectError("the driver cannot be reached", found=f"{address}:{port}: {e}") from e
        self._frames = IncomingFrames()
        self._waiting: list[tuple[int, bytes]] = []
        self._finished = False

    def greet(self, hello: p.Hello) -> tuple[int, bytes]:
        """Send HELLO and return the answer, which is WELCOME or ERROR.

        Raises:
            ProtocolError: the driver answers with another frame.
        """
        self.send(hello_frame.encode_hello(hello))
        kind, payload = self.read()
        if kind not in (p.Kind.WELCOME, p.Kind.ERROR):
            raise ProtocolError("the driver's first frame", found=p.Kind(kind).name, expected="WELCOME")
        return kind, payload

    def send(self, data: bytes) -> None:
        """Send complete frames.

        Raises:
            ExperimentFinished: the driver is gone.
        """
        try:
            self._socket.sendall(data)
        except OSError as e:
            self._finished = True
            raise ExperimentFinished from e

    def read(self) -> tuple[int, bytes]:
        """Wait for the next frame and return its type and its payload.

        Raises:
            ExperimentFinished: the driver is gone, or `finish` has been called.
            ProtocolError: the driver sent something that is not a frame.
        """
        if self._finished:
            raise ExperimentFinished
        while not self._waiting:
            try:
                data = self._socket.recv(_CHUNK)
            except OSError as e:
                raise ExperimentFinished from e
            if not data:
                self.finish()
            try:
                self._waiting = self._frames.feed(data)
            except ProtocolError as e:
                self.send(fatal_error(e.code, str(e)))
                raise
        return self._waiting.pop(0)

    def finish(self) -> NoReturn:
        """Mark the connection as finished, so that nothing more is read.

        Raises:
            ExperimentFinished: always.
        """
        self._finished = True
        raise ExperimentFinished

    def close(self) -> None:
        """Say BYE and close the socket."""
        with contextlib.suppress(OSError):
            self._socket.sendall(p.frame(p.Kind.BYE))
        self._socket.close()


def fatal_error(code: str, message: str) -> bytes:
    """Return an ERROR frame after which the connection ends."""
    return p.json_frame(p.Kind.ERROR, {"code": code, "message": message, "fatal": True})


def failure_text(error: BaseException) -> str:
    """Return what the game raised and where, and below it the stack of the game's own calls, the innermost first."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent != Path(__file__).parent]
    where = f" (in {frames[-1].name}, {Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    whole = in_one_line(error) if isinstance(error, PersonaEvoError) else f"{type(error).__name__}: {error}"
    said, *more = whole.splitlines()
    stack = (f"  at {f.name} in {f.filename}:{f.lineno}: {f.line}" for f in reversed(frames))
    return "\n".join([said + where, *more, *stack])


def variable(environment: Mapping[str, str], name: str, older: str) -> str:
    """Return the value of a variable under its current or its older name; "" if neither is set."""
    return environment.get(name) or environment.get(older) or ""


def settings_in(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the experiment's settings, with `variant` and `map` among them, from environment variables.

    Raises:
        ConnectError: the settings are not JSON.
        InputError: the settings are not a JSON object.
    """
    text = variable(environment, "PE_SETTINGS", "MC_EXP_SETTINGS")
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError) as e:
        raise ConnectError(f"the settings are not JSON: {json_fault(e)}", found=text[:100]) from e
    if not isinstance(value, dict):
        raise InputError("the settings are not a JSON object", found=text[:100])
    return value
