"""News of what is being compiled, which takes seconds, once on each machine, for whoever listens."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from persona_evo.compiling import estimates


@dataclass(frozen=True)
class Work:
    """Something that is compiled.

    Attributes:
        what: the function, with the module it stands in.
        seconds: about how long it takes on one core of this machine.
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
    """Call a function when compiling begins and when it is done, instead of any other one; None calls nobody."""
    _listeners[:] = [] if listener is None else [listener]


@contextlib.contextmanager
def told(what: str, seconds: float) -> Iterator[None]:
    """Tell that something is compiled within this context.

    Args:
        what: the function.
        seconds: a guess (see `estimates`).
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
