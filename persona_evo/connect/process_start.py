"""Describes how a game process is started, and what time and memory it may take."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from persona_evo.errors import ConnectError, Place


@dataclass(frozen=True)
class Timeouts:
    """Limits in seconds; None for no limit.

    Attributes:
        connect: from the start of the process until it has connected.
        handshake: from the connection until HELLO is complete.
        rollout: for each rollout.
    """

    connect: float | None = 60.0
    handshake: float | None = 5.0
    rollout: float | None = 30.0


@dataclass(frozen=True)
class Limits:
    """Resource limits of a game process.

    Attributes:
        memory: megabytes of the process and everything that it has started, together; 0 for no limit. A process that
            exceeds it is ended and restarted (Linux only).
        rollouts: the number of rollouts after which the process is replaced by a new one; 0 for no limit.
        log: megabytes of the log of a worker; 0 for no limit.
    """

    memory: int = 0
    rollouts: int = 0
    log: int = 10


Factory = Callable[[str, int, str], "subprocess.Popen[bytes]"]
"""factory(address, port, nonce) starts a game and returns its process (`create_game_process` in the thesis).

The game reads these values from its environment, which `launch.variables(address, port, nonce, settings)` returns:
PE_ADDR, PE_PORT, PE_NONCE and PE_SETTINGS, and the older MC_ADDR, MC_PORT, MC_NONCE and MC_EXP_SETTINGS. Settings,
variant or map that the driver does not know are null in WELCOME, and those of the environment apply. If the process
leads a process group of its own (start_new_session=True), it is ended together with everything that it started."""


@dataclass(frozen=True)
class Attachment:
    """Describes a game that someone else starts, such as Play Mode or a program in a debugger.

    Attributes:
        port: the port on 127.0.0.1 at which the driver waits for the game.
        token: the nonce that the game has to send in HELLO.
        tell: called with the error of each connection that is refused; None for nobody.
    """

    port: int
    token: str
    tell: Callable[[ConnectError], None] | None = None


class View(Enum):
    """Whether a game is seen, which decides how a Unity player is started."""

    HIDDEN = "neither a window nor graphics"
    DRAWN = "graphics for pictures of the game, without a window"
    SHOWN = "a window"


@dataclass(frozen=True)
class Start:
    """Describes how a game is started.

    Attributes:
        path, arguments: the game; see `launch`.
        logs: the folder for log files.
        settings, variant, map: what the game is told in WELCOME.
        timeouts, limits: limits of time and resources.
        port: the port of worker 0, which the other workers count up from; 0 to let the system choose.
        port_place: where the port is set, for messages.
        view: whether the game is seen.
        environment: further environment variables.
        folder: the working directory; None for that of the driver.
        factory: starts the game instead of `path`, which is then only a name.
        attachment: how the game connects if it is not started here.
    """

    path: Path
    logs: Path
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""
    map: str = ""
    timeouts: Timeouts = Timeouts()
    port: int = 0
    view: View = View.HIDDEN
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    limits: Limits = Limits()
    factory: Factory | None = None
    port_place: Place | None = None
    attachment: Attachment | None = None
