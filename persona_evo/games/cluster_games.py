"""Plays connected games with the workers of a cluster, each of which starts game processes of its own on its machine.

A game talks to its worker alone, over that machine's loopback. Nothing goes over the network but the cluster's own
messages: playthroughs to make, and playthroughs that were made. The game's file and everything that it names have to be
at the same path on every machine.

A worker keeps its game between the parts that it is given, and ends it when the playtest or the evolution ends
(`released`), or after IDLE seconds without work, as after the end of the process that gave it work.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from persona_evo.errors import InputError, SettingsError
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.jobs.workers import Workers, lent
from persona_evo.version import __version__

IDLE = 60.0
"""Seconds without work after which a worker ends its game processes."""


@dataclass(frozen=True)
class Home:
    """The process that gives work to the workers of a cluster.

    Attributes:
        process: name of its machine, and its number.
        release: version of this program.
        version: version of the game, which includes what the game says about itself.
        work: a random name of the playtest or the evolution.
    """

    process: str
    release: str
    version: int
    work: str

    @classmethod
    def of(cls, game: Game) -> Home:
        """Return this process."""
        return cls(_process(), __version__, game.version, secrets.token_hex(8))


class _Held:
    """The games that this worker has started, and when to end them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.over: set[str] = set()  # names of work that has ended
        self._games: dict[str, Game] = {}
        self._timer: threading.Timer | None = None

    def take(self, address: str) -> Game:
        """Return a game, which is not ended until it is left."""
        if self._timer is not None:
            self._timer.cancel()
        game = registry.get(address)
        if self._games.get(address, game) is not game:  # its description has changed
            self.end(address)
        self._games[address] = game
        return game

    def leave(self) -> None:
        """End all games in a while, unless one is taken before."""
        self._timer = threading.Timer(IDLE, self._idle)
        self._timer.daemon = True
        self._timer.start()

    def end(self, address: str) -> Sequence[object]:
        """End a game, even while it is played; return its failures.

        It is not forgotten, since what is being played may start it again.
        """
        game = self._games.get(address)
        if game is None or game.outside is None:
            return []
        failed = game.outside.hand_over()
        game.outside.close()
        return failed

    def _idle(self) -> None:
        with self.lock:
            for game in self._games.values():
                if game.outside is not None:
                    game.outside.close()


_held = _Held()


@contextlib.contextmanager
def playing(address: str, home: Home | None) -> Iterator[None]:
    """Play a game in this context as a worker of a cluster; does nothing in the process that gives the work.

    A worker with several threads plays one playthrough at a time, since each uses all game processes of the worker.

    Args:
        address: of the game.
        home: who gives the work; None if it is not given to a cluster.

    Raises:
        SettingsError: the game is missing on this machine, the game or this program has another version, or the work
            has ended.
    """
    if home is None or home.process == _process():
        yield
        return
    here = f"on {socket.gethostname()}, a worker of the cluster"
    with _held.lock:
        if home.work in _held.over:
            raise SettingsError("the work of this game has ended")
        try:
            try:
                _check(_held.take(address), home)
            except InputError as e:
                raise e.hinting(f"{here}; the game has to be installed there at the same path") from e
            try:
                yield
            except InputError as e:
                raise e.hinting(here) from e
        finally:
            _held.leave()
            if home.work in _held.over:  # what was being played when the work ended may have started it again
                _held.end(address)


async def released(ended: tuple[str, str]) -> Sequence[object]:
    """End a game in this worker, and return its failures; a cluster runs this on each worker.

    Args:
        ended: the address of the game, and the name of the work.
    """
    address, work = ended
    _held.over.add(work)
    return await asyncio.to_thread(_held.end, address)


def hired(
    game: Game, workers: Workers | None, jobs: int = 1, backend: str = "loky", address: str | None = None
) -> contextlib.AbstractContextManager[Workers]:
    """Provide workers that can play a game (arguments as for `lent`): a cluster's can start a connected one."""
    cluster = backend == "dask" if workers is None else workers.elsewhere
    return lent(workers, jobs, backend, address, alone=registry.alone(game, cluster))


@contextlib.contextmanager
def given_to(workers: Workers, game: Game, address: str) -> Iterator[Home | None]:
    """Give playthroughs of a game to workers in this context: provide this process if they are a cluster's.

    In the end all workers end the game, and its failures there are kept here. The context provides None if the game is
    not a connected one, or if this process plays it.
    """
    if game.outside is None or not workers.elsewhere:
        yield None
        return
    home = Home.of(game)
    try:
        yield home
    finally:
        found = workers.everywhere(released, (address, home.work))
        game.outside.take_over([failure for own in found for failure in own])


def _check(game: Game, home: Home) -> None:
    for what, own, wanted in (
        ("persona_evo", __version__, home.release),
        (f"the game {game.name}", str(game.version), str(home.version)),
    ):
        if own != wanted:
            raise SettingsError(f"{what} has another version on this machine", found=own, expected=wanted)


def _process() -> str:
    return f"{socket.gethostname()}.{os.getpid()}"
