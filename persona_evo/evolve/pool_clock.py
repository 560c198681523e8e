"""Follows the making of pools of levels, and ends it as soon as it is clear that there is no time for all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from persona_evo.errors import SettingsError
from persona_evo.words import duration

POOL_SHARE = 0.5
"""The share of an evolution's time in which its levels are made."""
SURE = 4
"""The number of levels after which the time for the others is estimated."""
FIRST = 2
"""The number of levels of a phase that say nothing about the others, since compiling is part of their time."""
EARLY, SOON = 0.25, 30.0
"""No estimate is made in this share of the time for the levels, at most in these seconds: levels differ, and a busy
machine is slow at times.
"""
LATE = 2.0
"""The factor by which an estimate may exceed the time that is left, since levels differ."""

Counted = Callable[[int, int], None]
"""Receives the number of finished levels and the total."""

Tell = Callable[[str, int, int], None]
"""Receives the current step, the number of finished levels and the total."""


class PoolClock:
    """Reports the making of pools, and ends it as soon as it is clear that it does not fit into its time.

    Args:
        steps: the number of levels in all pools times two, as each is won first and then played for its best utility.
        tell: receives progress.
        until: the moment on `time.monotonic` by which all is done; None for no limit.
    """

    def __init__(self, steps: int, tell: Tell | None, until: float | None) -> None:
        self.steps, self.tell, self.until = steps, tell, until
        self.began, self.before = time.monotonic(), 0
        self.early = self.began + min(SOON, EARLY * (0.0 if until is None else until - self.began))
        self.warm = self.began

    def phase(self, what: str) -> Counted:
        """Return the receiver of the progress of one phase, which begins now."""
        return partial(self._step, what)

    def _step(self, what: str, done: int, total: int) -> None:
        """Report a step.

        Raises:
            SettingsError: the time is up, or a phase needs more than LATE times what is left for it.
        """
        if self.tell is not None:
            self.tell(what, done, total)
        now, made = time.monotonic(), self.before + done
        if done == total:
            self.before = made
        if done <= FIRST:
            self.warm = now
        if self.until is None or done == total or now < min(self.early, self.until):
            return
        each = (now - self.warm) / (done - FIRST) if done >= SURE else 0.0
        if now + each * (total - done) / LATE <= self.until:
            return
        each = each or (now - self.began) / made
        minutes = math.ceil((now - self.began + each * (self.steps - made)) / POOL_SHARE / 60)
        raise SettingsError(
            "there is no time to make so many levels",
            found=f"{what}: {done} of {total} after {duration(now - self.began)}",
            expected="all levels in half of the time",
            hint=f"allow more time with --for (about {minutes} min in all), or generate fewer levels",
        )
