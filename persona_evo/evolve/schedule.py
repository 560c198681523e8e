"""Shares the time of an evolution: most of it is for generations, the rest for choosing and describing the winner."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

END_SHARE = 0.3
"""The highest share of the time that is reserved for the final steps."""
DESCRIBE_SECONDS = 4.0
"""The approximate seconds it takes to simplify a formula, put it in words and write it down."""
CLOSING_SECONDS = 1.0
"""The seconds reserved for the printed output and for the end of the process."""
MOST_SLOWNESS = 3.0
"""The largest slowness of a busy machine that is taken into account."""
WAVE_SECONDS = 2.0
"""The seconds between two lines of progress."""


@dataclass(frozen=True)
class Phase:
    """The progress of one of the final steps of an evolution.

    Attributes:
        name: the step: "comparing finalists", "comparing with others", "simplifying", "putting it in words"; "the first
            generation" before it begins.
        done, total: the finished parts of it, such as playthroughs, and all parts.
        eta: the seconds to go in this phase.
        left: the seconds available, if they are known to be too few before the phase begins.
    """

    name: str
    done: int
    total: int
    eta: float
    left: float | None = None


TellPhase = Callable[[Phase], None]


class Schedule:
    """The clock of the final steps.

    Args:
        deadline: the moment on `time.monotonic` by which everything is done, None for no deadline.
        choosing, comparing: the seconds that the final comparison and that with other policies take if nothing is left
            out.
        slowness: how many times longer this process takes than on an idle machine, at least 1.
    """

    def __init__(self, deadline: float | None, choosing: float, comparing: float, slowness: float = 1.0) -> None:
        self.deadline, self.choosing, self.comparing = deadline, choosing, comparing
        slowness = min(MOST_SLOWNESS, max(1.0, slowness))
        self.describing, self.closing = DESCRIBE_SECONDS * slowness, CLOSING_SECONDS * slowness

    def generations_until(self) -> float | None:
        """Return the moment after which nothing of a generation is played."""
        if self.deadline is None:
            return None
        left = max(0.0, self.deadline - time.monotonic())
        return self.deadline - min(self.choosing + self.comparing + self.describing, END_SHARE * left)

    def choosing_until(self) -> float | None:
        """Return the moment by which the winner is known. Call it when the final comparison begins."""
        end = self.comparing_until()
        if end is None:
            return None
        return end - min(self.comparing, 0.4 * max(0.0, end - time.monotonic()))

    def comparing_until(self) -> float | None:
        """Return the moment by which the winner is compared with others, as estimated now."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        return self.deadline - min(self.describing, 0.4 * left)

    def describing_until(self) -> float | None:
        """Return the moment by which the policy's file is written."""
        return None if self.deadline is None else self.deadline - self.closing
