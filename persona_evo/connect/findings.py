"""What makes a game fail: enough to see it fail again."""

from __future__ import annotations

from dataclasses import dataclass

MOST_FINDINGS = 1000
"""Findings that are kept; further ones are only counted."""


@dataclass(frozen=True)
class Finding:
    """A way to make the game fail: play `prefix` of this level with these seeds.

    kind: crash, timeout or exception. message: what was seen.
    """

    kind: str
    map: str
    variant: str
    game_seed: int
    rollout_seed: int
    mode: int
    prefix: tuple[tuple[int, int], ...]
    message: str

    def __str__(self) -> str:
        choices = " ".join(str(choice) for choice, _ in self.prefix) or "(none)"
        where = ":".join(filter(None, (self.map or "default map", self.variant)))
        return (f"{self.kind} in {where}, game seed {self.game_seed}, rollout seed {self.rollout_seed}, choices "
                f"{choices}: {self.message}")  # fmt: skip


@dataclass(frozen=True)
class Lost:
    """What comes in place of a result where the game fails."""

    id: int
    finding: Finding
