"""A cache that a worker keeps from one job to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class WorkerCache(threading.local, Generic[V]):
    """Values that are expensive to make. Each thread of each worker has its own.

    Args:
        size: largest number of values of a thread; the oldest value is removed first.
        close: called with each value that is removed.
    """

    def __init__(self, size: int, close: Callable[[V], Any] = lambda _: None) -> None:
        self._size, self._close = size, close
        self._kept: dict[Hashable, V] = {}

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if it is missing."""
        if key not in self._kept:
            while len(self._kept) >= self._size:
                self._close(self._kept.pop(next(iter(self._kept))))
            self._kept[key] = make()
        return self._kept[key]

    def clear(self) -> None:
        """Close and forget all values of this thread."""
        while self._kept:
            self._close(self._kept.popitem()[1])
