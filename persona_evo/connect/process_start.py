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


Factory = Callable[[str, int, str], "subprocess.Popen[bytes]"]
"""factory(address, port, nonce) -> the process of a game that it has started (the thesis' `create_game_process`). The
game looks for these three in its environment, as `launch.variables(address, port, nonce, settings)` makes it: PE_ADDR,
PE_PORT, PE_NONCE and PE_SETTINGS, and the older MC_ADDR, MC_PORT, MC_NONCE and MC_EXP_SETTINGS. What the driver itself
is given no settings, variant or map for is null in WELCOME, and stays as the environment has it. A process that leads
a group of its own (start_new_session=True) is ended with all that it started."""


@dataclass(frozen=True)
class Start:
    """How a game is started.

    path, arguments: see `launch`. logs: folder of log files. port: 0 for one of the system's choice, else that of
    worker 0, others follow; port_place: where that is said. screen: whether somebody wants to see the game.
    environment: variables beside the driver's. factory: starts the game in the place of `path`, which is then no more
    than its name.
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
    factory: Factory | None = None
    port_place: Place | None = None
