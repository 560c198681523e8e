"""The time that a study's command has, which covers its report.

A report's cost is given in seconds of a processor that has nothing else to do. How much longer it takes on this machine
now is measured with a bit of work.
"""

from __future__ import annotations

import time

SAMPLE = 0.05
"""Seconds of the processor for the measurement."""

STARTED = 1.0
"""Seconds of the processor that a command takes before it counts its time."""

GROWTH = 0.005
"""Share of the time for what the report grows by in this time, and for ending."""


def deadline(seconds: float | None, report: float) -> float | None:
    """Return when the work has to end, on the clock `time.monotonic`, so that there is time for the report.

    Args:
        seconds: the time for the whole command; None without a limit.
        report: seconds that the report takes on an idle processor.
    """
    if seconds is None:
        return None
    return time.monotonic() + max(0.0, seconds * (1 - GROWTH) - (STARTED + report) * slowness())


def slowness() -> float:
    """Return how many seconds by the clock a second of the processor takes at present; at least 1."""
    began, used = time.monotonic(), time.process_time()
    while time.process_time() < used + SAMPLE:
        pass
    return max(1.0, (time.monotonic() - began) / SAMPLE)
