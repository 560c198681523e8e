"""Waits for a game at a port and accepts only a connection whose HELLO contains the nonce.

Any program on this machine can connect and send anything or nothing. All connections are therefore read at the same
time, each for at most the handshake timeout. A connection that is not the game's is closed, and the wait for the game
goes on until its own timeout. The error message mentions the other connections only if the game never connects.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from persona_evo.connect import hello_frame
from persona_evo.connect import protocol as p
from persona_evo.connect.incoming import IncomingFrames
from persona_evo.errors import ConnectError, Place, ProtocolError

_POLL = 0.02
_MOST_CALLERS = 64
"""The largest number of connections that are read at the same time; further ones wait."""


@dataclass(frozen=True)
class ExpectedGame:
    """What is known about the game that should connect.

    Attributes:
        place: the game and its worker, for messages.
        nonce: the nonce that the game has to send back.
        connect: seconds to wait for a valid HELLO; None for no limit.
        handshake: seconds to wait for the HELLO of a connection; None for no limit.
        ended: tells whether the process has ended.
        failure: failure(what, stage, ending) returns an error that describes the state of the process; `ending` says
            whether it is probably about to end.
    """

    place: Place
    nonce: str
    connect: float | None
    handshake: float | None
    ended: Callable[[], bool]
    failure: Callable[[str, str, bool], ConnectError]
    tell: Callable[[ConnectError], None] | None = None


class GamePort:
    """A listening port on the loopback interface.

    Args:
        port: the number; 0 to let the system choose one.
        place: where the number was set, for messages.

    Raises:
        ConnectError: the port is in use, or there is no port with this number.
    """

    def __init__(self, port: int, place: Place | None = None) -> None:
        if not 0 <= port <= p.MOST_PORT:
            raise ConnectError(
                "the port for the game does not exist",
                place=place,
                found=str(port),
                expected=f"at most {p.MOST_PORT}; each worker uses one, counting up from `port`",
            )
        self._listener = socket.socket()
        try:
            # On Windows, SO_REUSEADDR would share a port that is in use; elsewhere it only permits one whose
            # connections have ended.
            alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None) if os.name == "nt" else socket.SO_REUSEADDR
            if alone is not None:
                self._listener.setsockopt(socket.SOL_SOCKET, alone, 1)
            self._listener.bind(("127.0.0.1", port))
            self._listener.listen(16)
            self._listener.setblocking(False)
        except OSError as e:
            self._listener.close()
            raise ConnectError(
                "the port for the game is already in use",
                place=place,
                found=f"127.0.0.1:{port}: {e.strerror or e}",
                expected="a free port",
                hint="remove `port`, so that the system chooses a free one",
            ) from e
        self._callers: list[_Caller] = []

    @property
    def address(self) -> tuple[str, int]:
        """The address and the port."""
        address, port = self._listener.getsockname()
        return str(address), int(port)

    def close(self) -> None:
        """Stop listening and close all connections that have not been accepted."""
        for stream in (self._listener, *(caller.socket for caller in self._callers)):
            with contextlib.suppress(OSError):
                stream.close()
        self._callers.clear()

    def accept(self, game: ExpectedGame) -> tuple[socket.socket, p.Hello]:
        """Wait for the game; return its connection, which does not block, and its HELLO.

        Raises:
            ConnectError: the game ended or did not connect in time (the error says who connected instead), or its
                version of the protocol is incompatible.
            ProtocolError: its HELLO has the right nonce but is not valid.
        """
        end = _after(game.connect)
        refused: ConnectError | None = None
        while True:
            ready = self._ready()
            for caller in ready:
                try:
                    payload = caller.first(game)
                    if payload is not None:
                        found = caller.hello(game, payload)
                        self._callers.remove(caller)
                        return found
                except _Refused as e:
                    refused = e.error
                    self._leave(caller, game, refused)
            for caller in [c for c in self._callers if time.monotonic() > c.end]:
                limit = f"within {game.handshake:g} s" if game.handshake else ""
                refused = game.failure(f"no HELLO came {limit}", "from a connection", False)
                self._leave(caller, game, refused)
            if not ready and game.ended():
                stage = "before it said HELLO" if refused or self._callers else "before it connected"
                raise _unheard(game.failure("the game ended", stage, True), refused)
            if time.monotonic() > end:
                limit = f"within {game.connect:g} s" if game.connect else ""
                raise _unheard(game.failure(f"no game connected {limit}", "after its start", False), refused)

    def _ready(self) -> list[_Caller]:
        """Wait briefly; return the connections that have sent something, and any new connection."""
        listening = [self._listener] if len(self._callers) < _MOST_CALLERS else []
        heard = select.select([*listening, *(c.socket for c in self._callers)], [], [], _POLL)[0]
        ready = [caller for caller in self._callers if caller.socket in heard]
        if self._listener in heard:
            with contextlib.suppress(OSError):
                self._callers.append(_Caller(self._listener.accept()[0]))
                return [*ready, self._callers[-1]]
        return ready

    def _leave(self, caller: _Caller, game: ExpectedGame, why: ConnectError) -> None:
        self._callers.remove(caller)
        caller.socket.close()
        if game.tell is not None:
            game.tell(why)


class _Refused(Exception):
    """Signals that a connection is not the game's and has to be closed."""

    def __init__(self, error: ConnectError) -> None:
        super().__init__(str(error))
        self.error = error


class _Caller:
    """A connection that has not proved yet that it is the game's.

    Attributes:
        socket: the connection.
        end: the time by which its HELLO has to be complete; set when it is first read.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.end = float("inf")
        self._frames = IncomingFrames(p.MOST_HELLO)
        self._met = False
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def first(self, game: ExpectedGame) -> bytes | None:
        """Return the payload of the first frame; None while it is incomplete.

        Raises:
            _Refused: the connection ended, or the frame is not a HELLO.
        """
        if not self._met:
            self.end, self._met = _after(game.handshake), True
        try:
            data = self.socket.recv(p.MOST_HELLO)
        except BlockingIOError:
            return None
        except OSError as e:
            raise _Refused(game.failure("a connection broke", "before HELLO", True)) from e
        if not data:
            raise _Refused(game.failure("the connection was closed", "before HELLO", True))
        try:
            found = self._frames.feed(data)
            if found and found[0][0] != p.Kind.HELLO:
                raise ProtocolError("the first frame", found=p.Kind(found[0][0]).name, expected="HELLO")
        except ProtocolError as e:
            raise self._refused(game, e, " (before HELLO)") from e
        return found[0][1] if found else None

    def hello(self, game: ExpectedGame, payload: bytes) -> tuple[socket.socket, p.Hello]:
        """Check the nonce; return the connection and the decoded HELLO.

        Raises:
            _Refused: the nonce is wrong.
            ConnectError: it is the game, but its HELLO is invalid or its version incompatible.
        """
        try:
            said = hello_frame.nonce_in(payload)
            if not hmac.compare_digest(said.encode("utf-8", "surrogatepass"), game.nonce.encode()) or not game.nonce:
                self._answer("nonce", "the nonce is not that of this game's environment")
                raise _Refused(
                    ConnectError(
                        "somebody connected with a wrong nonce",
                        place=game.place,
                        expected="the text of PE_NONCE",
                        hint="connections without it are closed",
                    )
                )
        except ProtocolError as e:
            raise self._refused(game, e) from e
        try:
            found = hello_frame.decode_hello(payload)
        except ProtocolError as e:
            raise self._refused(game, e).error from e
        wrong = hello_frame.versions_agree(found.protocol)
        if wrong:
            self._answer("version", wrong)
            raise ConnectError(wrong, place=game.place, found=found.library or "no library named")
        return self.socket, found

    def _refused(self, game: ExpectedGame, error: ProtocolError, stage: str = "") -> _Refused:
        """Report an error to the other side, and return it."""
        self._answer(error.code, str(error))
        hint = game.failure("", "", False).hint
        return _Refused(
            ProtocolError(error.what + stage, place=game.place, found=error.found, expected=error.expected, hint=hint)
        )

    def _answer(self, code: str, message: str) -> None:
        value = {"code": code, "message": message, "fatal": True}
        with contextlib.suppress(OSError):
            self.socket.send(p.json_frame(p.Kind.ERROR, value))


def _unheard(failure: ConnectError, refused: ConnectError | None) -> ConnectError:
    """Return the error for a game that did not connect, with what connected instead."""
    if refused is None:
        return failure
    found = "; ".join(filter(None, (refused.found, failure.found)))
    return type(refused)(
        f"{failure.what}; somebody connected: {refused.what}",
        place=failure.place,
        found=found,
        expected=refused.expected,
        hint=refused.hint or failure.hint,
    )


def _after(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.monotonic() + seconds
