"""How often the processes of a game may be started again before the game is given up."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from persona_evo.connect.findings import FailingRollout, group_similar
from persona_evo.errors import ConnectError

WELL = 10
"""Rollouts that have to go well for each restart that is not counted. A game that dies now and then, and goes well when
its rollout is repeated, is therefore not given up, however fast it is; one that dies all the time is."""
MORE = "a_minute and in_all in the table [restarts] of the game's description allow more"
_MINUTE = 60.0


@dataclass(frozen=True)
class Restarts:
    """How often processes may be started again.

    A restart is not counted if the rollout that was being played goes well when it is repeated, as long as WELL
    rollouts go well for each restart of this kind.

    Attributes:
        a_minute: Restarts within any 60 s.
        in_all: Restarts in all.
    """

    a_minute: int = 3
    in_all: int = 10


class RestartLedger:
    """Counts the restarts of a pool and refuses one too many.

    Args:
        allowed: How many restarts there may be.
    """

    def __init__(self, allowed: Restarts) -> None:
        self.allowed = allowed
        self._entries: list[tuple[float, int]] = []
        self._well = self._pardoned = 0

    def count_rollout(self) -> None:
        """Count a rollout that went well."""
        self._well += 1

    def pardon(self, order: int) -> None:
        """Take back the restart that the rollout with this id was blamed for: it went well when it was repeated."""
        if self._well >= WELL * self._pardoned:
            self._pardoned += 1
            self._entries = [(when, blamed) for when, blamed in self._entries if blamed != order]

    def enter(self, failure: ConnectError, order: int, findings: Iterable[FailingRollout]) -> None:
        """Count a restart.

        Args:
            failure: Why the process has to be started again.
            order: Id of the rollout that it was playing, -1 for none.
            findings: What the pool has found so far, for the message.

        Raises:
            ConnectError: This restart is one too many.
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
