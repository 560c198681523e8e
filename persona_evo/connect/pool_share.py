"""Lets several searches share a pool; each search gets the results of its own orders."""

from __future__ import annotations

from collections import deque

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, Lost
from persona_evo.connect.pool import ProcessPool


class Share:
    """One search's view of a pool, which returns only the results of that search's orders.

    Args:
        pool: plays the rollouts.
        owners: who gave each order that the pool has not answered yet, oldest first; all searches share this queue.
    """

    def __init__(self, pool: ProcessPool, owners: deque[Share]) -> None:
        self._pool, self._owners = pool, owners
        self._results: deque[p.Result | Lost] = deque()

    @property
    def findings(self) -> list[FailingRollout]:
        """The findings of all searches."""
        return self._pool.findings

    def submit(self, order: p.Rollout) -> int:
        """Order a rollout; see `ProcessPool.submit`."""
        self._owners.append(self)
        return self._pool.submit(order)

    def next(self) -> p.Result | Lost:
        """Return the result of this search's oldest order; keep earlier results of other searches for them."""
        while not self._results:
            result = self._pool.next()
            self._owners.popleft()._results.append(result)
        return self._results.popleft()

    def settle(self) -> None:
        """Do nothing: results that this search no longer needs are dropped when all searches have ended."""
