"""How a game process is started, and how long it may take to answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.errors import Place


@dataclass(frozen=True)
class Timeouts:
    """Seconds, None for no limit. connect: from the start to a connection. handshake: from there to HELLO. rollout."""

    connect: float | None = 60.0
    handshake: float | None = 5.0
    rollout: float | None = 30.0


@dataclass(frozen=True)
class Limits:
    """What a game process may take.

    Attributes:
        memory: Megabytes of the process and all that it has started together, 0 for no limit. A process that takes more
            is ended and started again (Linux only).
        rollouts: Rollouts after which a process is replaced by a new one, 0 for no limit.
        log: Megabytes of the log of a worker, 0 for no limit.
    """

    memory: int = 0
    rollouts: int = 0
    log: int = 10


Factory = Callable[[str, int, str], "subprocess.Popen[bytes]"]
"""factory(address, port, nonce) -> the process of a game that it has started (the thesis' `create_game_process`). The
game looks for these three in its environment, as `launch.variables(address, port, nonce, settings)` makes it: PE_ADDR,
PE_PORT, PE_NONCE and PE_SETTINGS, and the older MC_ADDR, MC_PORT, MC_NONCE and MC_EXP_SETTINGS. What the driver itself
is given no settings, variant or map for is null in WELCOME, and stays as the environment has it. A process that leads
a group of its own (start_new_session=True) is ended with all that it started."""


@dataclass(frozen=True)
class Attachment:
    """A game that somebody else starts, such as Play Mode or a program in a debugger.

    Attributes:
        port: Where it is waited for, on 127.0.0.1.
        token: What it has to send as the nonce of HELLO.
    """

    port: int
    token: str


@dataclass(frozen=True)
class Start:
    """How a game is started.

    Attributes:
        path, arguments: See `launch`.
        logs: Folder of the log files.
        settings, variant, map: What the game is told.
        timeouts, limits: How long it may take, and how much.
        port: 0 for one of the system's choice, else that of worker 0; the others follow.
        port_place: Where the port is set.
        screen: Whether somebody wants to see the game.
        environment: Variables beside those of the driver.
        folder: Where the game runs, None for the driver's own working directory.
        factory: Starts the game in the place of `path`, which is then only its name.
        attachment: Nothing is started: the game connects by itself.
    """

    path: Path
    logs: Path
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""
    map: str = ""
    timeouts: Timeouts = Timeouts()
    port: int = 0
    screen: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    limits: Limits = Limits()
    factory: Factory | None = None
    port_place: Place | None = None
    attachment: Attachment | None = None
