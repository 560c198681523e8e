"""Share the time of an evolution: most of it is for generations, the rest for choosing and describing the winner."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

END_SHARE = 0.3
"""Share of the time that is kept for the end at most."""
DESCRIBE_SECONDS = 4.0
"""Seconds that it takes to simplify a formula, to put it in words and to write it down, roughly."""
CLOSING_SECONDS = 1.0
"""Seconds kept for what is printed and for the end of the process."""
MOST_SLOWNESS = 3.0
"""The largest slowness of a busy machine that is taken into account."""
WAVE_SECONDS = 2.0
"""Time between two lines of progress, in seconds."""


@dataclass(frozen=True)
class Phase:
    """How far one of the last steps of an evolution is.

    Attributes:
        name: what is done: "comparing finalists", "comparing with others", "simplifying", "putting it in words"; "the
            first generation" before it begins.
        done, total: parts of it, such as playthroughs.
        eta: seconds to go in this phase.
        left: seconds that there are for it, where it is known before it begins that these are too few.
    """

    name: str
    done: int
    total: int
    eta: float
    left: float | None = None


TellPhase = Callable[[Phase], None]


class Schedule:
    """The clock of the last steps.

    Args:
        deadline: moment on `time.monotonic` by which everything is done, None for no hurry.
        choosing, comparing: seconds that the final comparison and that with other policies take when nothing is left
            out.
        slowness: how many times longer than on an idle machine this process takes, from 1 on.
    """

    def __init__(self, deadline: float | None, choosing: float, comparing: float, slowness: float = 1.0) -> None:
        self.deadline, self.choosing, self.comparing = deadline, choosing, comparing
        slowness = min(MOST_SLOWNESS, max(1.0, slowness))
        self.describing, self.closing = DESCRIBE_SECONDS * slowness, CLOSING_SECONDS * slowness

    def generations_until(self) -> float | None:
        """The moment after which nothing of a generation is played."""
        if self.deadline is None:
            return None
        left = max(0.0, self.deadline - time.monotonic())
        return self.deadline - min(self.choosing + self.comparing + self.describing, END_SHARE * left)

    def choosing_until(self) -> float | None:
        """The moment by which the winner is known; asked when the final comparison begins."""
        end = self.comparing_until()
        if end is None:
            return None
        return end - min(self.comparing, 0.4 * max(0.0, end - time.monotonic()))

    def comparing_until(self) -> float | None:
        """The moment by which the winner is compared with others, as seen now."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        return self.deadline - min(self.describing, 0.4 * left)

    def describing_until(self) -> float | None:
        """The moment by which the policy's file is written."""
        return None if self.deadline is None else self.deadline - self.closing
