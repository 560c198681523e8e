"""Reports to a listener what is being compiled, which takes seconds, once on each machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from persona_evo.compiling import estimates

START = "the compiler itself"
"""What is reported while the compiler starts and is timed, before the first estimate."""


@dataclass(frozen=True)
class Work:
    """A report on a function that is being compiled.

    Attributes:
        what: the function, with its module, or START.
        seconds: the estimated time on one core of this machine; 0 for START, which nothing is known about.
        depth: 0 for a function that was asked for, more for a part of one.
        done: whether compiling has ended, rather than begun.
    """

    what: str
    seconds: float
    depth: int = 0
    done: bool = False


Listener = Callable[[Work], None]

_listeners: list[Listener] = []
_deadlines: list[float] = []
_depth = [0]


class CompilesTooLong(Exception):
    """Compiling would, by the estimate, go on after a deadline.

    Attributes:
        seconds: the estimated time of compiling.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.0f} s")
        self.seconds = seconds


@contextlib.contextmanager
def deadline(moment: float) -> Iterator[None]:
    """Refuse within this context to begin what is not compiled by a moment on `time.monotonic`.

    Raises:
        CompilesTooLong: there was such a function.
    """
    _deadlines.append(moment)
    try:
        yield
    finally:
        _deadlines.remove(moment)


def listen(listener: Listener | None) -> None:
    """Set the function that is called when compiling begins and ends; None removes it."""
    _listeners[:] = [] if listener is None else [listener]


@contextlib.contextmanager
def told(what: str, seconds: float, measured: bool = True) -> Iterator[None]:
    """Report to the listener that a function is being compiled within this context.

    Args:
        what: the function.
        seconds: the estimated time (see `estimates`).
        measured: whether the time that it takes says something about later times.

    Raises:
        CompilesTooLong: it would take until after a deadline (see `deadline`).
    """
    if measured and not _depth[0] and not estimates.is_measured():
        _calibrate()
    work, began = Work(what, seconds * estimates.factor(), _depth[0]), time.monotonic()
    if not work.depth and _deadlines and began + work.seconds > min(_deadlines):
        raise CompilesTooLong(work.seconds)
    _report(work)
    _depth[0] += 1
    try:
        yield
    finally:
        _depth[0] -= 1
        if measured and not _depth[0]:
            estimates.learn(seconds, time.monotonic() - began)
        _report(replace(work, done=True))


def _calibrate() -> None:
    """Start the compiler and time it, so that the first estimate on this machine is about right."""
    from persona_evo.compiling.calibration import slowness

    work = Work(START, 0.0)
    _report(work)
    estimates.start_with(slowness())
    _report(replace(work, done=True))


def _report(work: Work) -> None:
    for listener in _listeners:
        listener(work)
