"""A clock for limits on a busy machine: it stands still while a process and its descendants wait for a processor."""

from __future__ import annotations

import os
import time
from pathlib import Path

PROC = Path("/proc")


class WorkClock:
    """Counts the seconds in which a process and its descendants work or sleep, without those in which they wait.

    The system says of each thread how long it was ready to run and did not (`/proc/PID/task/TID/schedstat`). Where it
    does not say so, this is a usual clock.

    Args:
        pid: the process, by default this one.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._pid = os.getpid() if pid is None else pid
        self._waited: dict[tuple[int, int], int] = {}
        self._look()
        self._before = sum(self._waited.values())
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the clock was made; look often, since the waiting of processes that have ended is unknown."""
        self._look()
        elapsed = time.monotonic() - self._began
        return max(0.0, elapsed - (sum(self._waited.values()) - self._before) / 1e9)

    def _look(self) -> None:
        """Read how long each thread has waited so far, in nanoseconds."""
        for pid in _family(self._pid):
            for task in (PROC / str(pid) / "task").glob("*/schedstat"):
                try:
                    self._waited[pid, int(task.parent.name)] = int(task.read_text().split()[1])
                except (OSError, IndexError, ValueError):
                    continue  # the thread has ended, or the system does not count


def _family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    children: dict[int, list[int]] = {}
    for stat in PROC.glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found
