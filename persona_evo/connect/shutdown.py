"""Ends game processes, even if this process is interrupted or exits."""

from __future__ import annotations

import atexit
import contextlib
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from persona_evo.connect import watchdog
from persona_evo.connect.worker import GRACE, Worker, alive

_POLL = 0.005


def close_all(workers: Iterable[Worker]) -> None:
    """End games: say BYE, wait, terminate their process groups, and kill them together with all that they started.

    Ctrl-C has no effect before that is done.
    """
    rest: Sequence[Worker] = list(workers)
    with _undisturbed():
        try:
            for act in (Worker.say_bye, Worker.terminate):
                for worker in rest:
                    act(worker)
                end = time.monotonic() + GRACE
                while any(w.exit_code is None and w.pid for w in rest) and time.monotonic() < end:
                    time.sleep(_POLL)
                if all(w.exit_code is not None or not w.pid for w in rest):
                    break
        finally:
            for worker in rest:
                worker.kill()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C until the end of the block, and raise it then."""
    held: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    ours = threading.current_thread() is threading.main_thread() and before is not None
    if ours:
        signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
    if held:
        signal.raise_signal(signal.SIGINT)


@atexit.register
def _close_the_rest() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        close_all(list(alive))
        watchdog.close()
