"""What makes a game fail: enough to see it fail again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persona_evo.connect import protocol as p
from persona_evo.errors import printable

MOST_FINDINGS = 1000
"""Findings that are kept; further ones are only counted."""


@dataclass(frozen=True)
class Finding:
    """A way to make the game fail: play `prefix` of this level with these seeds.

    kind: crash, timeout, exception, or chance where it came to another end. message: what was seen, as the game has
    it. again: whether it failed each time that this was played.
    """

    kind: str
    map: str
    variant: str
    game_seed: int
    rollout_seed: int
    mode: int
    prefix: tuple[tuple[int, int], ...]
    message: str
    again: bool = True

    def __str__(self) -> str:
        choices = " ".join(str(choice) for choice, _ in self.prefix) or "(none)"
        where = ":".join(filter(None, (self.map or "default map", self.variant)))
        once = "" if self.again else " (once; played again, it went well)"
        return (f"{self.kind}{once} in {where}, game seed {self.game_seed}, rollout seed {self.rollout_seed}, choices "
                f"{choices}: {shown(self.message)}")  # fmt: skip


def shown(text: str) -> str:
    """What a game says, on one line and without characters that a terminal obeys."""
    return printable(text).replace("\n", "\\n")


@dataclass(frozen=True)
class Lost:
    """What comes in place of a result where the game fails."""

    id: int
    finding: Finding


def changed(
    pairs: Sequence[tuple[int, int]], metrics: Mapping[str, float], score: float, again: p.Result,
    symbols: Sequence[str],
) -> list[str]:  # fmt: skip
    """In what a game that was played again differs, in words; [] where it came to the same end.

    pairs, metrics, score: choices with their counts, and the end, as they were. symbols: of the metrics of `again`.
    """
    now = dict(zip(symbols, again.last(), strict=True))
    found = [f"{k} was {metrics[k]:g} and is {v:g}" for k, v in now.items() if metrics.get(k, v) != v]
    if again.decisions != len(pairs):
        found.insert(0, f"it had {len(pairs)} decisions and has {again.decisions}")
    if again.score != score:
        found.append(f"the score was {score:g} and is {again.score:g}")
    return found
