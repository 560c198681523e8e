"""A pool that several searches share: each gets the results of its own orders."""

from __future__ import annotations

from collections import deque

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, Lost
from persona_evo.connect.pool import ProcessPool


class Share:
    """A pool as one of several searches sees it: the results of its own orders.

    Args:
        pool: plays.
        owners: who gave the orders that the pool has not answered, in their order; all searches have the same row.
    """

    def __init__(self, pool: ProcessPool, owners: deque[Share]) -> None:
        self._pool, self._owners = pool, owners
        self._results: deque[p.Result | Lost] = deque()

    @property
    def findings(self) -> list[FailingRollout]:
        """Those of all searches."""
        return self._pool.findings

    def submit(self, order: p.Rollout) -> int:
        """As `ProcessPool.submit`."""
        self._owners.append(self)
        return self._pool.submit(order)

    def next(self) -> p.Result | Lost:
        """The result of this search's oldest order; those of others that come before it are kept for them."""
        while not self._results:
            result = self._pool.next()
            self._owners.popleft()._results.append(result)
        return self._results.popleft()

    def settle(self) -> None:
        """Nothing: results that this search does not want any more are dropped when all have ended."""
