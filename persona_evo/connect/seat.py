"""Keeps track of one game process and of the rollouts that it has been ordered to play."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from persona_evo.connect import protocol as p
from persona_evo.connect.asking import AskedRollout, Decision, decode_decide
from persona_evo.connect.findings import shown
from persona_evo.connect.game_frames import json_id
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.worker import Worker
from persona_evo.errors import ConnectError, Place, ProtocolError, printable
from persona_evo.words import counted

LOG = logging.getLogger(__name__)
"""Warnings for the user: a command prints them, and another program can handle them as it likes."""

_MOST_LOOKS = 8
"""How many times an overdue process that keeps sending is checked again, in case its RESULT has not been read."""


class WorkerSeat:
    """A worker with the orders that it holds.

    Attributes:
        worker: the process.
        orders: the rollouts that have been sent and not answered, oldest first.
        since: when the process began the first of them (`time.monotonic`).
        writing: whether the pool waits until more can be sent.
        played: the number of rollouts that the process has answered.
        kept: the numbers of the states that the process was told to keep.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.orders: deque[p.Rollout] = deque()
        self.since = 0.0
        self.writing = False
        self.played = 0
        self.kept: set[int] = set()
        self._asked: AskedRollout | None = None
        self._looks = self._pings = self._strangers = self._decided = 0
        self._stranger = 0

    def reseat(self, worker: Worker) -> None:
        """Put a new process in place of one that has ended."""
        self.worker, self.writing, self.played, self._decided = worker, False, 0, 0
        self.kept.clear()
        self.restart_clock()

    def restart_clock(self) -> None:
        """Start measuring the time of the next rollout."""
        self.since = time.monotonic()
        self._looks = self._pings = 0

    def take(self, order: p.Rollout) -> p.Rollout:
        """Add an order and return it as it is sent: it begins from the deepest state that the process keeps."""
        if order.snapshot or order.states:
            depth, state = next((found for found in order.states if found[1] in self.kept), (0, 0))
            order = order._replace(restore=state, depth=depth)
            self.kept.add(order.snapshot)
        if not self.orders:
            self.restart_clock()
        self._asked = AskedRollout(order) if order.asks else self._asked
        self.orders.append(order)
        return order

    def order(self, id_: int) -> p.Rollout | None:
        """Return the order that a RESULT answers; None if there is no such order."""
        for order in self.orders:
            if order.id == id_:
                return order
        self._strangers += 1
        self._stranger = id_
        return None

    def answer(self, payload: bytes, chooser: Callable[[Decision], int] | None) -> bytes:
        """Return the CHOICE that answers a DECIDE.

        Args:
            payload: the payload of DECIDE.
            chooser: what chooses in an order whose own mode is ASK.

        Raises:
            ProtocolError: the payload is not as specified, or no order may ask.
        """
        order, asked, hello = self.orders[0] if self.orders else None, self._asked, self.worker.hello
        choose = asked.choose if asked is not None and order is not None and order.id == asked.id else chooser
        if order is None or not (order.asks or order.mode == p.ASK) or choose is None or hello is None:
            raise ProtocolError("the game sent a DECIDE, which no ROLLOUT under way asks for")
        depth = len(order.prefix) // p.PAIR + self._decided
        decision = decode_decide(payload, order.id, depth, len(hello.metrics))
        self._decided += 1
        return p.json_frame(p.Kind.CHOICE, {"id": json_id(order.id), "choice": choose(decision)})

    def complete(self, order: p.Rollout, result: p.Result) -> p.Result:
        """Remove an order that has been answered, and return its result with the weights that it was to tell.

        Raises:
            ProtocolError: the result does not have the choices that the driver made.
        """
        self.orders.remove(order)
        self.played += 1
        self._decided = 0
        self.restart_clock()
        if self._asked is None or self._asked.id != order.id:
            return result
        asked, self._asked = self._asked, None
        asked.check(result)
        return result._replace(weights=asked.weights)

    @property
    def spent(self) -> bool:
        """Whether the process has played as many rollouts as it may."""
        return 0 < self.worker.start.limits.rollouts <= self.played

    @property
    def is_closed(self) -> bool:
        """Whether the process gets no order now: it is spent, or its last one asks and only CHOICE may follow."""
        return self.spent or bool(self.orders and self.orders[-1].asks)

    def count_ping(self) -> None:
        """Count a PING, which says nothing about a rollout."""
        self._pings += 1

    def overdue(self, now: float, limit: float | None, unread: bool) -> bool:
        """Return whether the first order has exceeded its time.

        After a driver was busy for a while, all clocks have advanced and results are unread, so a process that has sent
        something is checked a few more times. A process that only sends other frames is overdue in the end.

        Args:
            now: the current time.
            limit: seconds for a rollout; None for no limit.
            unread: whether the process has sent something that has not been read.
        """
        if not self.orders or limit is None or now - self.since <= limit:
            return False
        self._looks += 1
        return not unread or self._looks > _MOST_LOOKS

    def lateness(self, limit: float | None) -> ConnectError:
        """Return the error for a process that does not answer in time, with what it sent instead."""
        error = self.worker.failure(f"no result within {limit:g} s", "of a rollout's start", ending=False)
        said = [error.found]
        if self._pings:
            said.append(f"it sent {counted(self._pings, 'PING')}")
        if self._strangers:
            results = counted(self._strangers, "RESULT")
            said.append(f"it sent {results} with ids that no ROLLOUT had, the last one {self._stranger}")
        return ConnectError(error.what, place=error.place, found="; ".join(filter(None, said)), hint=error.hint)

    def warn_late(self, limit: float | None, allowed: Restarts) -> None:
        """Log a warning at the first rollout that exceeds its time, as each further one takes as long to notice."""
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
        """Return the error that an ERROR frame of the game reports.

        Raises:
            ProtocolError: the payload is not a JSON object.
        """
        value = p.decode_json(p.Kind.ERROR, payload)
        text = str(value.get("message"))
        more = [printable(line) for line in text.strip().splitlines()[1:13]]
        return self.locate(
            ConnectError(
                f"the game reports an error: {shown(text)}",
                found=shown(f"code {value.get('code')}"),
                hint="\n    ".join(["the game also says:", *more]) if more else "",
            )
        )

    def locate(self, error: ConnectError) -> ConnectError:
        """Return an error with the game's name, the worker and the prefix that was being played added."""
        played = ""
        if self.orders:
            choices = " ".join(str(choice) for choice, _ in p.unpack(self.orders[0].prefix))
            played = f", while playing the choices {choices}" if choices else ""
        hello = self.worker.hello
        return type(error)(
            f"{hello.game[0] if hello is not None else 'the game'}: {error.what}{played}",
            place=Place(f"{self.worker.start.path}, worker {self.worker.number}"),
            found=error.found,
            expected=error.expected,
            hint=error.hint,
        )
