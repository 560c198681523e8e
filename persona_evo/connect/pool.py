"""Plays rollouts with several game processes; results are returned in the order in which the rollouts were ordered.

Which process plays an order, and how fast, affects nothing outside this module: a ROLLOUT determines its RESULT, so the
sequence of results is the same for any processes. Each process may hold a few orders at once (`queue`), so that it
never waits for the driver between two of them. Orders for the same process are sent together, because sending one
frame costs as much as sending ten.

A process that ends, or that does not answer in time, is restarted, and its orders go back to the queue. The order that
it was playing is blamed and is played once more. If it fails again, it is given up: its result is `Lost`, and a
`FailingRollout` holds what is needed to make the game fail again. If it succeeds, its result counts, and the finding
says so. An exception in the game (status 3) is treated in the same way, but needs no restart.
"""

from __future__ import annotations

import contextlib
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.connect.asking import Decision
from persona_evo.connect.findings import MOST_FINDINGS, FailingRollout, Lost, failing
from persona_evo.connect.hello_frame import check_same_game
from persona_evo.connect.pictures import GamePicture, decode_picture
from persona_evo.connect.process_start import Start
from persona_evo.connect.restarts import RestartLedger, Restarts
from persona_evo.connect.result_check import check_result, not_deterministic
from persona_evo.connect.seat import WorkerSeat
from persona_evo.connect.shutdown import close_all
from persona_evo.connect.worker import Worker
from persona_evo.errors import ConnectError, ProtocolError

MOST_WORKERS = 256
_LOOK = 0.25
"""Seconds between two checks of processes that send nothing."""


class ProcessPool:
    """The game processes for one map and variant.

    Args:
        start: how the processes are started.
        workers: the number of processes.
        queue: the number of orders that a process may hold.
        restarts: how often processes may be restarted.
        first: the number of the first worker.

    Attributes:
        broken: whether a call has ended in an error, so that logs should be kept.
        chooser: answers a DECIDE with a choice, for rollouts in mode ASK.
        pictures: takes the pictures that the game sends; None if no rollout asks for any.

    Raises (when the processes start):
        ConnectError: a process does not start, or the processes are not the same game.
    """

    def __init__(
        self, start: Start, workers: int = 1, *, queue: int = 2, restarts: Restarts | None = None, first: int = 0
    ) -> None:
        self.start, self.size, self.queue, self.first = start, workers, max(1, queue), first
        self.restarts = RestartLedger(restarts or Restarts())
        self.hello: p.Hello | None = None
        self.findings: list[FailingRollout] = []
        self.dropped = self.restarted = self.recycled = self.failures = 0
        self._seats: list[WorkerSeat] = []
        self._selector: selectors.BaseSelector | None = None
        self._waiting: deque[p.Rollout] = deque()
        self._expected: deque[int] = deque()
        self._done: dict[int, p.Result | Lost] = {}
        self._blamed: dict[int, tuple[str, str]] = {}
        self._deserted: set[int] = set()
        self._probes: set[int] = set()
        self._next_id = 0
        self._told_frames: list[bytes] = []
        self.chooser: Callable[[Decision], int] | None = None
        self.pictures: Callable[[GamePicture], None] | None = None
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
        """Return what the game reports about itself; start only one process for that."""
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
            seat = WorkerSeat(worker)
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
        """The system's numbers of the processes."""
        return [seat.worker.pid for seat in self._seats]

    @property
    def outstanding(self) -> int:
        """The number of orders whose results have not been returned yet."""
        return len(self._expected)

    def submit(self, order: p.Rollout, probe: bool = False) -> int:
        """Order a rollout without waiting, and return the id that it is given. The result of a probe is not checked."""
        self.open()
        number, self._next_id = self._next_id, self._next_id + 1
        self._waiting.append(order._replace(id=number))
        self._expected.append(number)
        if probe:
            self._probes.add(number)
        return number

    def next(self) -> p.Result | Lost:
        """Wait for the result of the oldest order and return it. After an error all processes are ended.

        Raises:
            ConnectError: the game can no longer be played.
            ProtocolError: the game violates the protocol.
            GameError: the game is not deterministic.
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
        """Yield the results of orders in their order, with as many under way as the processes can hold."""
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
        for seat in self._seats:
            seat.kept.clear()

    def change(self, map_: str, variant: str, settings: dict[str, Any]) -> None:
        """Change to another map or variant with the same processes (capability `maps`)."""
        self.settle()
        self.start = replace(self.start, map=map_, variant=variant, settings=settings)
        for seat in self._seats:
            seat.worker.start = self.start
            assert seat.worker.hello is not None
            seat.worker.send(p.json_frame(p.Kind.WELCOME, seat.worker.welcome(map_, variant, seat.worker.hello)))

    def tell(self, frame: bytes) -> None:
        """Send a frame to every process, including those that start later."""
        self._told_frames.append(frame)
        for seat in self._seats:
            seat.worker.send(frame)

    def _same(self, hello: p.Hello) -> None:
        """Raise an error if a process is not the same game as the others."""
        self.hello = self.hello or hello
        check_same_game(self.hello, hello, str(self.start.path))

    def _hand_out(self) -> None:
        """Give waiting orders to the processes that hold the fewest."""
        if not self._waiting:
            return
        for seat in self._seats:
            if seat.spent and not seat.orders:
                self._unregister(seat)
                close_all([seat.worker])
                self._start_again(seat)
                self.recycled += 1
        frames: dict[WorkerSeat, list[bytes]] = {}
        while self._waiting:
            seat = min(self._seats, key=lambda one: (one.is_closed, len(one.orders)))
            if seat.is_closed or len(seat.orders) >= self.queue:
                break
            frames.setdefault(seat, []).append(p.encode_rollout(seat.take(self._waiting.popleft())))
        for seat, parts in frames.items():
            try:
                seat.worker.send(b"".join(parts))
            except ConnectError as e:
                self._replace(seat, e, "crash")
                continue
            self._watch(seat)

    def _watch(self, seat: WorkerSeat) -> None:
        """Wake up when more data can be sent, as long as there is any."""
        if seat.worker.unsent != seat.writing and self._selector is not None:
            seat.writing = seat.worker.unsent
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if seat.writing else 0)
            self._selector.modify(seat.worker, events, seat)

    def _wait(self) -> None:
        """Wait briefly for frames and handle them; check on processes that send nothing."""
        assert self._selector is not None
        ready = self._selector.select(_LOOK)
        for key, events in ready:
            seat: WorkerSeat = key.data
            if seat not in self._seats:
                continue
            try:
                if events & selectors.EVENT_WRITE:
                    seat.worker.flush()
                    self._watch(seat)
                frames = seat.worker.receive() if events & selectors.EVENT_READ else ()
            except ProtocolError as e:
                raise seat.locate(e) from e
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
        """Replace processes that have exceeded their time or have ended."""
        limit = self.start.timeouts.rollout
        assert self._selector is not None
        unread = {id(key.data) for key, events in self._selector.select(0) if events & selectors.EVENT_READ}
        for seat in list(self._seats):
            if seat.overdue(now, limit, id(seat) in unread):
                if not self._warned:
                    seat.warn_late(limit, self.restarts.allowed)
                self._warned = True
                self._replace(seat, seat.lateness(limit), "timeout")
            elif id(seat) not in unread and seat.worker.exit_code is not None and now - seat.since > 2 * _LOOK:
                self._replace(seat, seat.worker.failure("the game ended", "between two results"), "crash")

    def _take(self, seat: WorkerSeat, kind: int, payload: bytes) -> None:
        if kind == p.Kind.BYE:
            self._replace(seat, seat.worker.failure("the game said BYE", "before it was told to"), "crash")
            return
        try:
            if kind == p.Kind.RESULT:
                self._result(seat, p.decode_result(payload))
            elif kind == p.Kind.PICTURE:
                self._show(seat, decode_picture(payload))
            elif kind == p.Kind.DECIDE:
                seat.worker.send(seat.answer(payload, self.chooser))
                seat.restart_clock()
            elif kind == p.Kind.ERROR:
                raise seat.reported_error(payload)
            elif kind == p.Kind.PING:
                seat.count_ping()
            else:
                raise ProtocolError("only the driver may send this frame", found=p.Kind(kind).name)
        except ProtocolError as e:
            raise seat.locate(e) from e

    def _show(self, seat: WorkerSeat, picture: GamePicture) -> None:
        """Hand on a picture; the time of a rollout counts from the last one."""
        if self.pictures is None or not seat.orders or picture.id != seat.orders[0].id:
            raise ProtocolError("the game sent a PICTURE that no ROLLOUT under way asks for")
        self.pictures(picture)
        seat.restart_clock()

    def _result(self, seat: WorkerSeat, result: p.Result) -> None:
        order = seat.order(result.id)
        if order is None:
            self.dropped += 1
            return
        assert self.hello is not None
        if order.id not in self._deserted and order.id not in self._probes:
            check_result(order, result, self.hello)
        result = seat.complete(order, result)
        if order.id in self._deserted:
            return
        if order.id in self._probes:
            self._done[order.id] = result
            return
        if result.status == p.ILLEGAL and not order.may_be_rejected(result.trace):
            raise not_deterministic(order, result, self.hello, str(self.start.path))
        if result.status == p.EXCEPTION:
            self._fail(order, "exception", result.message or "no message")
            return
        if order.id in self._blamed:
            kind, message = self._blamed.pop(order.id)
            self._find(kind, order, message, again=False)
            self.restarts.pardon(order.id)
        self.restarts.count_rollout()
        self._done[order.id] = result

    def _fail(self, order: p.Rollout, kind: str, message: str) -> None:
        """Order a failed rollout once more; give it up the second time."""
        if self._blamed.pop(order.id, None) is None:
            self._blamed[order.id] = kind, message
            self._waiting.appendleft(order)
        else:
            self._done[order.id] = Lost(order.id, self._find(kind, order, message))

    def _find(self, kind: str, order: p.Rollout, message: str, again: bool = True) -> FailingRollout:
        found = failing(kind, (self.start.map, self.start.variant), order, message, again)
        self.failures += again
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(found)
        return found

    def _replace(self, seat: WorkerSeat, failure: ConnectError, kind: str) -> None:
        """Start a new process in place of a failed one, whose orders go back to the queue."""
        kind = "memory" if seat.worker.out_of_memory else kind
        self._unregister(seat)
        seat.worker.kill()
        orders = [order for order in seat.orders if order.id not in self._deserted]
        blamed = seat.orders[0].id if seat.orders else -1
        seat.orders.clear()
        first = orders.pop(0) if orders and orders[0].id == blamed else None
        self._waiting.extendleft(reversed(orders))
        if first is not None:
            self._fail(first, kind, f"{failure.what}; {failure.found}")
        self.restarts.enter(failure, blamed, self.findings)
        self._start_again(seat)
        self.restarted += 1

    def _start_again(self, seat: WorkerSeat) -> None:
        """Start a new process in place of one that has ended."""
        worker = Worker(self.start, seat.worker.number)
        worker.launch()
        try:
            self._same(worker.connect())
        except BaseException:
            worker.kill()
            raise
        for frame in self._told_frames:
            worker.send(frame)
        seat.reseat(worker)
        assert self._selector is not None
        self._selector.register(worker, selectors.EVENT_READ, seat)

    def _unregister(self, seat: WorkerSeat) -> None:
        """Stop waiting for frames of a process."""
        if self._selector is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(seat.worker)
