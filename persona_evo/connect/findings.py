"""Records how a game fails, with everything needed to make it fail again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.errors import ConnectError, Place, ProtocolError, RunError, printable

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")

CHANCE = "chance"
"""The kind of a playthrough that came to another end when it was played again."""

MOST_FINDINGS = 1000
"""The number of findings that are kept; further ones are only counted."""


@dataclass(frozen=True)
class FailingRollout:
    """A rollout that made the game fail.

    Attributes:
        kind: "crash", "timeout", "exception", or "chance" if a replay ended differently.
        map, variant, game_seed: the level.
        rollout_seed, mode, prefix: how the rollout was ordered.
        message: a description of the failure, in the game's own words where it gave one.
        again: whether the game failed at every attempt.
        level_seed: the seed of the level that was searched if that is not `game_seed`, as with hidden information.
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
    level_seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        values = {**self.__dict__, "prefix": [list(pair) for pair in self.prefix]}
        if self.level_seed is None:
            del values["level_seed"]
        return values

    @classmethod
    def from_dict(cls, data: Any, place: Place) -> FailingRollout:
        """Make a finding from plain values: the inverse of `to_dict`.

        Raises:
            RunError: the values are not those of a finding.
        """
        try:
            prefix = tuple((int(choice), int(count)) for choice, count in data["prefix"])
            p.pack(prefix)
            game_seed, rollout_seed, mode = (int(data[key]) for key in ("game_seed", "rollout_seed", "mode"))
            level_seed = None if data.get("level_seed") is None else int(data["level_seed"])
            if (
                not all(0 <= n < 2**64 for n in (game_seed, rollout_seed, level_seed or 0))
                or not p.UNIFORM <= mode <= p.ASK
            ):
                raise ValueError("a seed or a mode is out of range")
            kind, map_, variant, message = (str(data[key]) for key in ("kind", "map", "variant", "message"))
            again = bool(data.get("again", True))
            return cls(kind, map_, variant, game_seed, rollout_seed, mode, prefix, message, again, level_seed)
        except (KeyError, TypeError, ValueError, OverflowError, ProtocolError) as e:
            raise RunError(
                "this is not a finding of a connected game",
                place=place,
                found=f"{type(e).__name__}: {e}"[:200],
                expected="a line of findings.jsonl",
            ) from e

    @property
    def how(self) -> str:
        """The kind of the failure, and whether the game failed only once."""
        return self.kind if self.again else f"{self.kind} (once; the repetition succeeded)"

    def __str__(self) -> str:
        choices = " ".join(str(choice) for choice, _ in self.prefix)
        where = f"{self.map or 'default'}:{self.variant}" if self.variant else self.map or "the default map"
        return (
            f"{self.how} in {where}, game seed {self.game_seed}, rollout seed {self.rollout_seed}, "
            f"{f'choices {choices}' if choices else 'all choices drawn by the rollout seed'}: {shown(self.message)}"
        )


def shown(text: str) -> str:
    """Return the first line of a game's message, without control characters.

    The rest, such as a stack trace, appears only in the file of findings.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return printable(lines[0]) if lines else ""


def failure_key(finding: FailingRollout) -> tuple[str, str]:
    """Return the kind and the text of a failure with all numbers replaced, which is equal for similar failures."""
    return finding.kind, _NUMBER.sub("0", shown(finding.message))


def group_similar(findings: Iterable[FailingRollout]) -> list[tuple[FailingRollout, int]]:
    """Return the first finding of each group of similar ones, and the size of the group."""
    groups: dict[tuple[bool, str, str], list[FailingRollout]] = {}
    for finding in findings:
        groups.setdefault((finding.again, *failure_key(finding)), []).append(finding)
    return [(group[0], len(group)) for group in groups.values()]


@dataclass(frozen=True)
class Lost:
    """Takes the place of a result if the game failed."""

    id: int
    finding: FailingRollout


def failing(kind: str, level: tuple[str, str], order: p.Rollout, message: str, again: bool = True) -> FailingRollout:
    """Return the finding on an order that made the game fail; `level` is the map and the variant."""
    seeds, choices = (order.game_seed, order.rollout_seed), tuple(p.unpack(order.choices))
    return FailingRollout(kind, *level, *seeds, order.mode, choices, message, again, order.level_seed)


def completed(result: p.Result | Lost) -> p.Result:
    """Return the result of a rollout.

    Raises:
        ConnectError: the game failed.
    """
    if isinstance(result, Lost):
        raise ConnectError("the game fails", found=str(result.finding))
    return result


def replay_differences(
    pairs: Sequence[tuple[int, int]],
    metrics: Mapping[str, float],
    score: float,
    again: p.Result,
    symbols: Sequence[str],
) -> list[str]:
    """Describe how a replayed game differs from the original; return an empty list if both ended alike.

    Args:
        pairs: the choices and counts of the original.
        metrics, score: the metrics and the score at its end.
        again: the result of the replay.
        symbols: the symbols of the metrics in `again`.
    """
    now = dict(zip(symbols, again.last(), strict=True))
    found = [f"{k} was {metrics[k]:g} and is {v:g}" for k, v in now.items() if metrics.get(k, v) != v]
    if again.decisions != len(pairs):
        found.insert(0, f"it had {len(pairs)} decisions and has {again.decisions}")
    if again.score != score:
        found.append(f"the score was {score:g} and is {again.score:g}")
    return found
