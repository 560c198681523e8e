"""Fair timing on a machine that others use as well.

The compared pieces of work run in turn, in short pieces, and the best time of each counts. Work of one thread is timed
by its own processor time, so that waiting for a core is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of this thread that `work` takes."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def best_times(works: Mapping[K, Callable[[], object]], repeats: int) -> dict[K, float]:
    """Return the best processor time of each piece of work; all run in turn `repeats` times."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], cpu_seconds(work))
    return best


def interleaved(works: Mapping[K, Callable[[], object]], rounds: int) -> dict[K, list[float]]:
    """Return the processor times of each piece of work; all run in turn `rounds` times."""
    times: dict[K, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(cpu_seconds(work))
    return times


def best_wall(work: Callable[[], float], repeats: int) -> float:
    """Return the smallest of `repeats` durations that `work` reports."""
    return min(work() for _ in range(repeats))
