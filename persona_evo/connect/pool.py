"""Several game processes that play rollouts: orders in, results out in the order of the orders.

Which process plays an order, and how fast, is nobody's business but this module's: every ROLLOUT says all that decides
its RESULT, so whoever takes results one by one sees the same row of them whatever the processes do. Each process may
hold a few orders at once (`queue`), so that it never waits for the driver between two of them; what has come together
is answered together, since one frame costs as much to send as ten.

A process that ends, or that lets a rollout's time go by, is started anew, and its orders go back to the queue. The one
that it was playing is blamed: at the second time it is set aside, its result is Lost, and what is needed to see the
game fail again is kept as a Finding. So it is where it went well at the second time, but its result counts then. A
game's own exceptions (status 3) are findings, too.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import MOST_FINDINGS, FailingRollout, Lost, alike, shown
from persona_evo.connect.process_start import Start
from persona_evo.connect.worker import Worker, close_all
from persona_evo.errors import ConnectError, GameError, Place, ProtocolError, printable
from persona_evo.words import counted

LOG = logging.getLogger(__name__)
"""Warnings to whoever waits; a command prints them, a program that uses this package does with them what it likes."""

MOST_WORKERS = 256
WELL = 10
"""Rollouts that have to go well for each restart that is not counted. A game that dies now and then, and goes well when
it is played again, is so not given up, however fast it is; one that dies all the time is."""
MORE = "a_minute and in_all in the table [restarts] of the game's description allow more"
_LOOK = 0.25
"""Seconds between two looks at processes that say nothing."""


@dataclass(frozen=True)
class Restarts:
    """How many times processes may be started again: within any 60 s, and in all. Not counted is a restart after which
    the rollout went well that was being played, as long as a good many rollouts go well for each of these (WELL)."""

    a_minute: int = 3
    in_all: int = 10


class _Seat:
    """A worker, the orders it holds, and since when it plays the first of them."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.orders: deque[p.Rollout] = deque()
        self.since = 0.0
        self.writing = False


class ProcessPool:
    """Game processes of one map and variant.

    Args:
        start: how they are started.
        workers: how many.
        queue: orders that a process may hold.
        restarts: how often they may be started again.
        broken: (an attribute) whether a call ended in an error, so that logs are worth keeping.
        chooser: (an attribute) what answers DECIDE, from its content to the choice, for rollouts in mode ASK.
        first: number of the first worker.

    Raises (when they are started):
        ConnectError: a process does not start, or they are not the same game.
    """

    def __init__(
        self, start: Start, workers: int = 1, *, queue: int = 2, restarts: Restarts | None = None, first: int = 0
    ) -> None:
        self.start, self.size, self.queue, self.first = start, workers, max(1, queue), first
        self.restarts = restarts or Restarts()
        self.hello: p.Hello | None = None
        self.findings: list[FailingRollout] = []
        self.dropped = self.restarted = self.failures = 0
        self._seats: list[_Seat] = []
        self._selector: selectors.BaseSelector | None = None
        self._waiting: deque[p.Rollout] = deque()
        self._expected: deque[int] = deque()
        self._done: dict[int, p.Result | Lost] = {}
        self._blamed: dict[int, tuple[str, str]] = {}
        self._deserted: set[int] = set()
        self._next_id = 0
        self._restarts: list[tuple[float, int]] = []
        self._well = self._pardoned = 0
        self._told_frames: list[bytes] = []
        self.chooser: Callable[[dict[str, Any]], int] | None = None
        self._looked = 0.0
        self.broken = self._warned = False

    def __enter__(self) -> ProcessPool:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Start all processes that have not been started."""
        if len(self._seats) < self.size:
            self._start(self.size)

    def greet(self) -> p.Hello:
        """What the game says of itself; one process is started for that, the others when there is something to play."""
        if not self._seats:
            self._start(1)
        assert self.hello is not None
        return self.hello

    def _start(self, wanted: int) -> None:
        workers = [Worker(self.start, self.first + i) for i in range(len(self._seats), wanted)]
        try:
            for worker in workers:
                worker.launch()
            for worker in workers:
                self._same(worker.connect())
                for frame in self._told_frames:
                    worker.send(frame)
        except BaseException:
            self.broken = True
            close_all(workers)
            self.close()
            raise
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
        for worker in workers:
            seat = _Seat(worker)
            self._seats.append(seat)
            self._selector.register(worker, selectors.EVENT_READ, seat)

    def close(self) -> None:
        """End all processes. The pool can be opened again."""
        seats, self._seats = self._seats, []
        if self._selector is not None:
            self._selector.close()
            self._selector = None
        self._waiting.clear()
        self._expected.clear()
        self._done.clear()
        self._deserted.clear()
        close_all([seat.worker for seat in seats])

    @property
    def pids(self) -> list[int]:
        """Of the processes."""
        return [seat.worker.pid for seat in self._seats]

    @property
    def outstanding(self) -> int:
        """Results that have been ordered and not been taken."""
        return len(self._expected)

    def submit(self, order: p.Rollout) -> int:
        """Order a rollout; its number, which replaces that of `order`. Nothing waits."""
        self.open()
        number, self._next_id = self._next_id, self._next_id + 1
        self._waiting.append(order._replace(id=number))
        self._expected.append(number)
        return number

    def next(self) -> p.Result | Lost:
        """The result of the oldest order that has not been taken; waits for it. An error ends all processes.

        Raises:
            ConnectError: the game cannot be played any more.
            ProtocolError: what it sent is not what the protocol says.
            GameError: it is not deterministic.
        """
        wanted = self._expected[0]
        try:
            if 2 * len(self._waiting) >= self.size * self.queue:
                self._hand_out()
            while wanted not in self._done:
                self._hand_out()
                self._wait()
        except BaseException:
            self.broken = True
            self.close()
            raise
        self._expected.popleft()
        return self._done.pop(wanted)

    def play(self, orders: Iterable[p.Rollout]) -> Iterator[p.Result | Lost]:
        """The results of orders, in their order, with as many under way as the processes hold."""
        for order in orders:
            if self.outstanding >= self.size * self.queue:
                yield self.next()
            self.submit(order)
        while self.outstanding:
            yield self.next()

    def settle(self) -> None:
        """Forget all orders, and wait until no process is playing."""
        self._waiting.clear()
        self._expected.clear()
        self._done.clear()
        self._deserted.update(order.id for seat in self._seats for order in seat.orders)
        while any(seat.orders for seat in self._seats):
            self._wait()
            self._waiting.clear()
            self._done.clear()
        self._deserted.clear()
        self._blamed.clear()

    def change(self, map_: str, variant: str, settings: dict[str, Any]) -> None:
        """Go to another map or variant with the same processes (capability `maps`)."""
        self.settle()
        self.start = replace(self.start, map=map_, variant=variant, settings=settings)
        for seat in self._seats:
            seat.worker.start = self.start
            assert seat.worker.hello is not None
            seat.worker.send(p.json_frame(p.Kind.WELCOME, seat.worker.welcome(map_, variant, seat.worker.hello)))

    def tell(self, frame: bytes) -> None:
        """Send a frame to every process, and to those that will be started."""
        self._told_frames.append(frame)
        for seat in self._seats:
            seat.worker.send(frame)

    def _same(self, hello: p.Hello) -> None:
        """Refuse processes that are not the same game."""
        known = self.hello
        if known is None:
            self.hello = hello
        elif (known.game, known.metrics, known.max_decisions) != (hello.game, hello.metrics, hello.max_decisions):
            raise ConnectError(
                "two processes of the game report different games",
                place=Place(str(self.start.path)),
                found=_described(hello),
                expected=_described(known),
            )

    def _hand_out(self) -> None:
        """Give waiting orders to those who hold the fewest."""
        if not self._waiting:
            return
        frames: dict[int, list[bytes]] = {}
        while self._waiting:
            i = min(range(len(self._seats)), key=lambda k: len(self._seats[k].orders))
            seat = self._seats[i]
            if len(seat.orders) >= self.queue:
                break
            order = self._waiting.popleft()
            if not seat.orders:
                seat.since = time.monotonic()
            seat.orders.append(order)
            frames.setdefault(i, []).append(p.encode_rollout(order))
        for i, parts in frames.items():
            seat = self._seats[i]
            try:
                seat.worker.send(b"".join(parts))
            except ConnectError as e:
                self._replace(seat, e, "crash")
                continue
            self._watch(seat)

    def _watch(self, seat: _Seat) -> None:
        """Wake up when more can be sent, as long as there is something to send."""
        if seat.worker.unsent != seat.writing and self._selector is not None:
            seat.writing = seat.worker.unsent
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if seat.writing else 0)
            self._selector.modify(seat.worker, events, seat)

    def _wait(self) -> None:
        """Take in what comes within a moment; look after those that say nothing."""
        assert self._selector is not None
        ready = self._selector.select(_LOOK)
        for key, events in ready:
            seat: _Seat = key.data
            if seat not in self._seats:
                continue
            try:
                if events & selectors.EVENT_WRITE:
                    seat.worker.flush()
                    self._watch(seat)
                frames = seat.worker.receive() if events & selectors.EVENT_READ else ()
            except ProtocolError as e:
                raise self._told(seat, e) from e
            except ConnectError as e:
                self._replace(seat, e, "crash")
                continue
            for kind, payload in frames:
                self._take(seat, kind, payload)
        now = time.monotonic()
        if not ready or now - self._looked > _LOOK:
            self._looked = now
            self._late(now)

    def _late(self, now: float) -> None:
        """Replace those whose time is up. Who has said something that was not read yet is not late, but the driver is.

        A driver that was busy for a while, with a process to start or with what it does between two results, finds all
        clocks advanced and the results of that time unread.
        """
        limit = self.start.timeouts.rollout
        assert self._selector is not None
        unread = {id(key.data) for key, events in self._selector.select(0) if events & selectors.EVENT_READ}
        for seat in [seat for seat in self._seats if id(seat) not in unread]:
            if seat.orders and limit is not None and now - seat.since > limit:
                failure = seat.worker.failure(f"no result within {limit:g} s", "of a rollout's start", ending=False)
                self._tell_late(seat, limit)
                self._replace(seat, failure, "timeout")
            elif seat.worker.exit_code is not None and now - seat.since > 2 * _LOOK:
                self._replace(seat, seat.worker.failure("the game ended", "between two results"), "crash")

    def _tell_late(self, seat: _Seat, limit: float) -> None:
        """Warn at the first rollout that did not end in time, since the next one takes as long to be noticed."""
        if not self._warned:
            allowed = self.restarts
            LOG.warning(
                "%s, worker %d: a rollout did not end within %g s: starting the game again, up to %s a minute and "
                "%d in all ([timeouts] rollout and [restarts] in the game's description set this) ...",
                self.start.path.name,
                seat.worker.number,
                limit,
                counted(allowed.a_minute, "time"),
                allowed.in_all,
            )
        self._warned = True

    def _take(self, seat: _Seat, kind: int, payload: bytes) -> None:
        if kind == p.Kind.RESULT:
            try:
                self._result(seat, p.decode_result(payload))
            except ProtocolError as e:
                raise self._told(seat, e) from e
        elif kind == p.Kind.DECIDE and self.chooser is not None:
            asked = self._read(seat, kind, payload)
            choice = p.json_frame(p.Kind.CHOICE, {"id": asked.get("id"), "choice": self.chooser(asked)})
            seat.worker.send(choice)
            seat.since = time.monotonic()
        elif kind == p.Kind.ERROR:
            value = self._read(seat, kind, payload)
            text = str(value.get("message"))
            more = [printable(line) for line in text.strip().splitlines()[1:13]]
            raise self._told(
                seat,
                ConnectError(
                    f"the game reports an error: {shown(text)}",
                    found=shown(f"code {value.get('code')}"),
                    hint="\n    ".join(["the game says further:", *more]) if more else "",
                ),
            )
        elif kind == p.Kind.BYE:
            self._replace(seat, seat.worker.failure("the game said BYE", "before it was told to"), "crash")
        elif kind != p.Kind.PING:
            wrong = ProtocolError("only the driver may send this frame", found=p.Kind(kind).name, expected="RESULT")
            raise self._told(seat, wrong)

    def _read(self, seat: _Seat, kind: int, payload: bytes) -> dict[str, Any]:
        """A JSON object that the game sent."""
        try:
            return p.decode_json(kind, payload)
        except ProtocolError as e:
            raise self._told(seat, e) from e

    def _result(self, seat: _Seat, result: p.Result) -> None:
        order = next((o for o in seat.orders if o.id == result.id), None)
        if order is None:
            self.dropped += 1
            return
        seat.orders.remove(order)
        seat.since = time.monotonic()
        if order.id in self._deserted:
            return
        self._check(order, result)
        if order.id in self._blamed:
            failed, message = self._blamed.pop(order.id)
            self._find(failed, order, message, again=False)
            self._pardon(order)
        self._well += result.status in (p.OK, p.TRUNCATED)
        if result.status == p.ILLEGAL:
            raise self._not_deterministic(order, result)
        if result.status == p.EXCEPTION:
            self._done[order.id] = Lost(order.id, self._find("exception", order, result.message or "no message"))
        else:
            self._done[order.id] = result

    def _check(self, order: p.Rollout, result: p.Result) -> None:
        """Refuse a result that is none of this order."""
        columns = len(self.hello.metrics) if self.hello is not None and order.flags else 0
        whole = result.status in (p.OK, p.TRUNCATED)
        if result.columns != columns:
            raise ProtocolError(
                "RESULT has a wrong number of metrics", found=f"{result.columns}", expected=f"{columns}"
            )
        if whole and columns and (result.rows == 0) != (order.flags != p.ALL_METRICS or not result.trace):
            raise ProtocolError(
                "RESULT has rows that were not requested, or lacks rows that were", found=f"{result.rows} rows"
            )
        if whole and not result.trace.startswith(order.prefix):
            raise ProtocolError(
                "RESULT's trace does not begin with the prefix",
                found=str(p.unpack(result.trace))[:200],
                expected=str(p.unpack(order.prefix))[:200],
            )

    def _not_deterministic(self, order: p.Rollout, result: p.Result) -> GameError:
        asked, got = p.unpack(order.prefix), p.unpack(result.trace)
        depth = len(got) - 1
        if not 0 <= depth < len(asked):
            return self._told_plain("RESULT says that the prefix is illegal, but not where")
        game = self.hello.game[0] if self.hello is not None else "the game"
        offered = f"{got[depth][1]} choices" if got[depth][1] else "no more choices, for the game was over"
        choices = " ".join(str(choice) for choice, _ in asked[:depth]) or "none"
        return GameError(
            f"{game} is not deterministic: at decision {depth} it offered {asked[depth][1]} choices once and {offered} "
            f"now, after the choices {choices} with game seed {order.game_seed}\n"
            "  hint: all randomness must come from the game seed, and each game must start from fresh state"
        )

    def _told_plain(self, text: str) -> GameError:
        return GameError(f"{self.start.path}: {text}")

    def _told(self, seat: _Seat, error: ConnectError) -> ConnectError:
        """An error with the game's name, the worker and the prefix that was being played."""
        order = seat.orders[0] if seat.orders else None
        played = (
            ""
            if order is None
            else ", while playing the choices "
            + (" ".join(str(choice) for choice, _ in p.unpack(order.prefix)) or "none")
        )
        game = self.hello.game[0] if self.hello is not None else "the game"
        return type(error)(
            f"{game}: {error.what}{played}",
            place=Place(f"{self.start.path}, worker {seat.worker.number}"),
            found=error.found,
            expected=error.expected,
            hint=error.hint,
        )

    def _find(self, kind: str, order: p.Rollout, message: str, again: bool = True) -> FailingRollout:
        found = FailingRollout(
            kind,
            self.start.map,
            self.start.variant,
            order.game_seed,
            order.rollout_seed,
            order.mode,
            tuple(p.unpack(order.prefix)),
            message,
            again,
        )
        self.failures += again
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(found)
        return found

    def _replace(self, seat: _Seat, failure: ConnectError, kind: str) -> None:
        """Start a process anew in place of one that failed; its orders go back to the queue."""
        if self._selector is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(seat.worker)
        seat.worker.kill()
        orders = list(seat.orders)
        seat.orders.clear()
        blamed = orders[0].id if orders else -1
        if orders and orders[0].id not in self._deserted:
            first, found = orders[0], f"{failure.what}; {failure.found}"
            if self._blamed.pop(first.id, None) is not None:
                self._done[first.id] = Lost(first.id, self._find(kind, first, found))
                orders = orders[1:]
            else:
                self._blamed[first.id] = kind, found
        self._waiting.extendleft(o for o in reversed(orders) if o.id not in self._deserted)
        self._allow(failure, blamed)
        worker = Worker(self.start, seat.worker.number)
        worker.launch()
        try:
            self._same(worker.connect())
        except BaseException:
            worker.kill()
            raise
        self.restarted += 1
        for frame in self._told_frames:
            worker.send(frame)
        seat.worker, seat.writing, seat.since = worker, False, time.monotonic()
        assert self._selector is not None
        self._selector.register(worker, selectors.EVENT_READ, seat)

    def _pardon(self, order: p.Rollout) -> None:
        """Do not count a restart after all, now that its rollout went well."""
        if self._well >= WELL * self._pardoned:
            self._pardoned += 1
            self._restarts = [(when, blamed) for when, blamed in self._restarts if blamed != order.id]

    def _allow(self, failure: ConnectError, blamed: int) -> None:
        """Refuse to start a process again too often. blamed: the rollout that was being played, -1 if none was."""
        now = time.monotonic()
        recent = [when for when, _ in self._restarts if now - when < 60.0]
        if len(recent) >= self.restarts.a_minute or len(self._restarts) >= self.restarts.in_all:
            seen = "".join(
                f"\n  finding: {finding}" + (f" ({n} times)" if n > 1 else "")
                for finding, n in alike(self.findings)[:5]
            )
            raise ConnectError(
                f"the game fails too often: {failure.what}",
                place=failure.place,
                found=failure.found,
                expected=f"at most {self.restarts.a_minute} restarts in 60 s and {self.restarts.in_all} in all",
                hint="; ".join(filter(None, (failure.hint, MORE))) + seen,
            )
        self._restarts.append((now, blamed))


def _described(hello: p.Hello) -> str:
    return f"{' '.join(hello.game)} with {', '.join(m.symbol for m in hello.metrics)}, {hello.max_decisions} decisions"
