"""A game process together with the rollouts that it has been ordered to play."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import shown
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.worker import Worker
from persona_evo.errors import ConnectError, Place, ProtocolError, printable
from persona_evo.words import counted

LOG = logging.getLogger(__name__)
"""Warnings for whoever waits: a command prints them, a program that uses this package does with them as it likes."""

_MOST_LOOKS = 8
"""How often an overdue process that keeps sending is given another look, in case its RESULT is still unread."""


class WorkerSeat:
    """A worker, the orders that it holds, and since when it plays the first of them.

    Attributes:
        worker: The process.
        orders: Rollouts that it has been sent and has not answered, oldest first.
        since: When it began the first of them (`time.monotonic`).
        writing: Whether the pool waits until more can be sent.
        played: Rollouts that the process has answered.
        kept: Numbers of states that the process was told to keep.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.orders: deque[p.Rollout] = deque()
        self.since = 0.0
        self.writing = False
        self.played = 0
        self.kept: set[int] = set()
        self._looks = self._pings = self._strangers = 0
        self._stranger = 0

    def restart_clock(self) -> None:
        """Begin to measure the time of the next rollout."""
        self.since = time.monotonic()
        self._looks = self._pings = 0

    def take(self, order: p.Rollout) -> p.Rollout:
        """Add an order, which begins from the last state on its way that the process keeps; return what is sent."""
        if order.snapshot or order.states:
            depth, state = next((found for found in order.states if found[1] in self.kept), (0, 0))
            order = order._replace(restore=state, depth=depth)
            self.kept.add(order.snapshot)
        if not self.orders:
            self.restart_clock()
        self.orders.append(order)
        return order

    def order(self, id_: int) -> p.Rollout | None:
        """Look up the order that a RESULT answers, None if it answers none."""
        for order in self.orders:
            if order.id == id_:
                return order
        self._strangers += 1
        self._stranger = id_
        return None

    def complete(self, order: p.Rollout) -> None:
        """Remove an order that has been answered."""
        self.orders.remove(order)
        self.played += 1
        self.restart_clock()

    @property
    def spent(self) -> bool:
        """Whether the process has played as many rollouts as it may."""
        return 0 < self.worker.start.limits.rollouts <= self.played

    def count_ping(self) -> None:
        """Count a PING, which says nothing about a rollout."""
        self._pings += 1

    def overdue(self, now: float, limit: float | None, unread: bool) -> bool:
        """Whether the time for the first order is up.

        A driver that was busy for a while finds all clocks advanced and results unread, so a process that has sent
        something gets a few more looks. A process that only sends other frames is overdue all the same.

        Args:
            now: The time.
            limit: Seconds for a rollout, None for no limit.
            unread: Whether the process has sent something that has not been read.
        """
        if not self.orders or limit is None or now - self.since <= limit:
            return False
        self._looks += 1
        return not unread or self._looks > _MOST_LOOKS

    def lateness(self, limit: float | None) -> ConnectError:
        """Make the error for a process that does not answer in time, with what it sent instead."""
        error = self.worker.failure(f"no result within {limit:g} s", "of a rollout's start", ending=False)
        said = [error.found]
        if self._pings:
            said.append(f"it sent {counted(self._pings, 'PING')}")
        if self._strangers:
            results = counted(self._strangers, "RESULT")
            said.append(f"it sent {results} with the id of no ROLLOUT, the last one {self._stranger}")
        return ConnectError(error.what, place=error.place, found="; ".join(filter(None, said)), hint=error.hint)

    def warn_late(self, limit: float | None, allowed: Restarts) -> None:
        """Warn at the first rollout that did not end in time, since the next one takes as long to be noticed."""
        LOG.warning(
            "%s, worker %d: a rollout did not end within %g s: starting the game again, up to %s a minute and "
            "%d in all ([timeouts] rollout and [restarts] in the game's description set this) ...",
            self.worker.start.path.name,
            self.worker.number,
            limit,
            counted(allowed.a_minute, "time"),
            allowed.in_all,
        )

    def reported_error(self, payload: bytes) -> ConnectError:
        """Make the error that an ERROR of the game reports."""
        value = self.read_json(p.Kind.ERROR, payload)
        text = str(value.get("message"))
        more = [printable(line) for line in text.strip().splitlines()[1:13]]
        return self.locate(
            ConnectError(
                f"the game reports an error: {shown(text)}",
                found=shown(f"code {value.get('code')}"),
                hint="\n    ".join(["the game says further:", *more]) if more else "",
            )
        )

    def read_json(self, kind: int, payload: bytes) -> dict[str, Any]:
        """Decode a JSON frame of the game.

        Raises:
            ProtocolError: It is not a JSON object.
        """
        try:
            return p.decode_json(kind, payload)
        except ProtocolError as e:
            raise self.locate(e) from e

    def locate(self, error: ConnectError) -> ConnectError:
        """Add the game's name, the worker and the prefix that was being played to an error."""
        played = ""
        if self.orders:
            choices = " ".join(str(choice) for choice, _ in p.unpack(self.orders[0].prefix)) or "none"
            played = f", while playing the choices {choices}"
        hello = self.worker.hello
        return type(error)(
            f"{hello.game[0] if hello is not None else 'the game'}: {error.what}{played}",
            place=Place(f"{self.worker.start.path}, worker {self.worker.number}"),
            found=error.found,
            expected=error.expected,
            hint=error.hint,
        )
