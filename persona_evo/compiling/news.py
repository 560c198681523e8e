"""Reports to a listener what is being compiled, which takes seconds, once on each machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from persona_evo.compiling import estimates


@dataclass(frozen=True)
class Work:
    """A report on a function that is being compiled.

    Attributes:
        what: the function, with its module.
        seconds: the estimated time on one core of this machine.
        depth: 0 for a function that was asked for, more for a part of one.
        done: whether compiling has ended, rather than begun.
    """

    what: str
    seconds: float
    depth: int = 0
    done: bool = False


Listener = Callable[[Work], None]

_listeners: list[Listener] = []
_depth = [0]


def listen(listener: Listener | None) -> None:
    """Set the function that is called when compiling begins and ends; None removes it."""
    _listeners[:] = [] if listener is None else [listener]


@contextlib.contextmanager
def told(what: str, seconds: float) -> Iterator[None]:
    """Report to the listener that a function is being compiled within this context.

    Args:
        what: the function.
        seconds: the estimated time (see `estimates`).
    """
    work, began = Work(what, seconds * estimates.factor(), _depth[0]), time.monotonic()
    for listener in _listeners:
        listener(work)
    _depth[0] += 1
    try:
        yield
    finally:
        _depth[0] -= 1
        if not _depth[0]:
            estimates.learn(seconds, time.monotonic() - began)
        for listener in _listeners:
            listener(replace(work, done=True))
