"""Ctrl-C in processes that have workers: the terminal and Jupyter send it to the whole group of processes.

Workers leave it to their parent, from their first moment on. The parent does not notice it in the middle of a call that
must not be left half done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from persona_evo.jobs import windows

_MASKS = hasattr(signal, "pthread_sigmask")


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done, for this process and for those that the block starts.

    Processes that are started in the block cannot be interrupted before they call `ignore`. In another thread than the
    main one, which Python never interrupts, only these processes are affected.
    """
    came: list[FrameType | None] = []
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread() and callable(before)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else set()
    try:
        if main:
            signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
        yield
    finally:
        if _MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if main:
            signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(signal.SIGINT, came[0])


def ignore() -> None:
    """Ignore Ctrl-C in this process from now on, also if it was held back."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def quiet_worker(parent: int) -> None:
    """Prepare a worker process: it leaves Ctrl-C to its parent, and ends when the parent does."""
    ignore()

    def watch() -> None:
        windows.wait_for_parent(parent)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
