"""Limits how often the processes of a game are restarted before the game is given up."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from persona_evo.connect.findings import FailingRollout, group_similar
from persona_evo.errors import ConnectError

WELL = 10
"""The number of successful rollouts that is required for each restart that is not counted. A game that fails
occasionally, and succeeds when its rollout is repeated, is therefore not given up, however fast it is; a game that
fails all the time is."""
MORE = "a_minute and in_all in the table [restarts] of the game's description allow more"
_MINUTE = 60.0


@dataclass(frozen=True)
class Restarts:
    """How often processes may be restarted.

    A restart does not count if the rollout that was being played succeeds when it is repeated, provided that there are
    WELL successful rollouts for each restart of this kind.

    Attributes:
        a_minute: the largest number of restarts within any 60 s.
        in_all: the largest number of restarts in total.
    """

    a_minute: int = 3
    in_all: int = 10


class RestartLedger:
    """Counts the restarts of a pool and raises an error if there are too many.

    Args:
        allowed: how many restarts are allowed.
    """

    def __init__(self, allowed: Restarts) -> None:
        self.allowed = allowed
        self._entries: list[tuple[float, int]] = []
        self._well = self._pardoned = 0

    def count_rollout(self) -> None:
        """Count a successful rollout."""
        self._well += 1

    def pardon(self, order: int) -> None:
        """Remove the restart that this rollout was blamed for, because the rollout succeeded when it was repeated."""
        if self._well >= WELL * self._pardoned:
            self._pardoned += 1
            self._entries = [(when, blamed) for when, blamed in self._entries if blamed != order]

    def enter(self, failure: ConnectError, order: int, findings: Iterable[FailingRollout]) -> None:
        """Count a restart.

        Args:
            failure: the reason for the restart.
            order: the id of the rollout that was being played; -1 for none.
            findings: what the pool has found so far, for the message.

        Raises:
            ConnectError: there are too many restarts.
        """
        now, allowed = time.monotonic(), self.allowed
        recent = [when for when, _ in self._entries if now - when < _MINUTE]
        if len(recent) >= allowed.a_minute or len(self._entries) >= allowed.in_all:
            seen = "".join(
                f"\n  finding: {finding}" + (f" ({n} times)" if n > 1 else "")
                for finding, n in group_similar(findings)[:5]
            )
            raise ConnectError(
                f"the game fails too often: {failure.what}",
                place=failure.place,
                found=failure.found,
                expected=f"at most {allowed.a_minute} restarts in 60 s and {allowed.in_all} in all",
                hint="; ".join(filter(None, (failure.hint, MORE))) + seen,
            )
        self._entries.append((now, order))
