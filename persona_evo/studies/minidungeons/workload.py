"""The amount of work of a reproduction, and its speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from persona_evo.jobs.progress import Progress, Tell


class Ledger:
    """The remaining work in iterations of the search, and the speed of the work."""

    def __init__(self, parts: Mapping[str, float], tell: Tell | None) -> None:
        self.left, self.total, self._tell = dict(parts), sum(parts.values()), tell
        self.worked, self._first = 0.0, (0.0, 0.0)

    def close(self, name: str) -> None:
        """Note that a part is finished."""
        self.left.pop(name, None)

    def rest(self, but: str = "") -> float:
        """Return the work that is left after a part in their order; without a name, all work that is left."""
        names = list(self.left)
        return sum(self.left[n] for n in names[names.index(but) + 1 if but in names else 0 :])

    @property
    def rate(self) -> float | None:
        """Iterations per second of this process; the time before the first report (compiling) does not count."""
        then, done = self._first
        return (self.worked - done) / (time.monotonic() - then) if self.worked > done and then else None

    def teller(self, name: str, end: float | None = None, fresh: bool = False) -> Callable[[float, str], None]:
        """Return a function to call with the finished share of a part.

        Args:
            name: the name of the part.
            end: deadline of the part on the clock `time.monotonic`.
            fresh: whether nothing of the part was done before this process.
        """
        before, first = self.worked, [0.0 if fresh else -1.0]

        def tell(share: float, detail: str) -> None:
            weight = self.left.get(name, 0.0)
            if first[0] < 0:
                first[0] = share
            self.worked = before + max(0.0, share - first[0]) * weight
            if not self._first[0]:
                self._first = time.monotonic(), self.worked
            rate, eta = self.rate, None
            if rate:
                own = (1 - share) * weight / rate
                own = own if end is None else min(own, max(0.0, end - time.monotonic()))
                eta = own + self.rest(name) / rate
            done = 1 - (sum(self.left.values()) - share * weight) / self.total
            if self._tell is not None:
                self._tell(Progress(round(done * self.total), round(self.total), eta, detail, name, share >= 1))

        return tell
