"""Who is told what is compiled: it takes seconds, once for a machine. Nobody is, unless `listen` says so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Work:
    """Something that is compiled.

    Attributes:
        what: the function, with the module it stands in.
        seconds: about how long it takes on one core.
        depth: 0 for what was asked for, more for a part of it.
        done: whether this is the end of it, not the beginning.
    """

    what: str
    seconds: float
    depth: int = 0
    done: bool = False


Listener = Callable[[Work], None]

_listeners: list[Listener] = []
_depth = [0]


def listen(listener: Listener | None) -> None:
    """Have a function called when something begins to be compiled, and when that is done; None for nobody."""
    _listeners[:] = [] if listener is None else [listener]


@contextlib.contextmanager
def told(what: str, seconds: float) -> Iterator[None]:
    """Something is compiled within this."""
    work = Work(what, seconds, _depth[0])
    for listener in _listeners:
        listener(work)
    _depth[0] += 1
    try:
        yield
    finally:
        _depth[0] -= 1
        for listener in _listeners:
            listener(replace(work, done=True))
