"""One requirement on results, and the outcome of checking it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.games.findings import KINDS, Finding
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.words import counted

SOURCE = "--require"
"""Default source of requirements, for messages."""

MEASURES: dict[str, Callable[[Summary], float | None]] = {
    "win_rate": lambda s: s.win_rate.value,
    "deaths": lambda s: float(s.lost),
    "death_rate": lambda s: s.lost / s.trials,
    "losses": lambda s: float(s.lost),
    "loss_rate": lambda s: s.lost / s.trials,
    "unfinished": lambda s: float(s.unfinished),
    "unfinished_rate": lambda s: s.unfinished / s.trials,
    "stuck": lambda s: float(s.stuck),
    "stuck_rate": lambda s: s.stuck / s.trials,
    "damage": lambda s: None if s.damage is None else s.damage.value,
    "health": lambda s: None if s.health is None else s.health.value,
    "steps": lambda s: s.steps.value,
    "utility": lambda s: s.utility.value,
    "best_utility": lambda s: s.best_utility,
    "bound_ratio": lambda s: s.ratio,
    "seconds": lambda s: s.seconds.value,
    "trials": lambda s: float(s.trials),
}
"""What can be required besides the means of the game's metrics."""

COUNTS = ("problems", "notices", *(kind for kind in KINDS if kind not in MEASURES))
"""What can be required of findings: the number of findings of a severity or a kind."""

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_NEAR = 1e-12


class Check(NamedTuple):
    """The outcome of a requirement: `value` is the deciding number (None without one), `where` says whose it is."""

    text: str
    value: float | None
    passed: bool
    where: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Requirement:
    """One parsed requirement.

    Attributes:
        player: a label, or EVERY for each persona.
        level: a name, EVERY for each level, or None for all trials together.
        columns: positions of player, level and measure in the text, from 1.
        number_at: position of the number.
    """

    text: str
    player: str
    level: str | None
    measure: str
    operator: str
    number: float
    columns: tuple[int, int, int] = (0, 0, 0)
    source: str = SOURCE
    number_at: int = 0

    @property
    def counts(self) -> bool:
        """Whether the measure counts findings. Accepted ones do not count."""
        return self.measure in COUNTS

    def count(self, findings: Sequence[Finding], levels: Iterable[str]) -> Check:
        """Check the requirement against the number of findings of the level and, if one is named, of the player."""
        own = [f for f in findings if self.measure in (f.kind, f"{f.severity}s")]
        own = [f for f in own if self.player in (EVERY, *f.players)]
        parts = [
            (name, [f for f in own if name is None or name in f.level.split(", ")])
            for name in (levels if self.level == EVERY else [self.level])
        ]
        failed = [(name, part) for name, part in parts if not self.holds(float(len(part)))]
        name, worst = max(failed or parts, key=lambda part: self._badness(float(len(part[1]))))
        reason = f"{counted(len(worst), 'finding')}, first: {worst[0].text}" if failed and worst else ""
        return Check(self.text, float(len(worst)), not failed, name or "", reason)

    def check_names(self, players: Iterable[str], levels: Iterable[str], symbols: Iterable[str]) -> None:
        """Refuse names that do not exist; called before the first trial is played.

        Raises:
            SettingsError: with the column, the known names and the nearest one.
        """
        asked: list[tuple[str, str | None, int, list[str]]] = [
            ("player", self.player, self.columns[0], [*players]),
            ("level", self.level, self.columns[1], [*levels]),
            ("measure", self.measure, self.columns[2], [*MEASURES, *COUNTS, *symbols]),
        ]
        for kind, name, column, known in asked:
            wild = kind != "measure" and name in (None, EVERY)
            if not wild and name is not None and name not in known:
                expected, hint = unknown(name, known)
                place = Place(self.source, 1, column)
                raise SettingsError(f"no such {kind}", place=place, found=name, expected=expected, hint=hint)

    def evaluate(self, summaries: Sequence[Summary], baselines: Collection[str] = ()) -> Check:
        """Check the requirement against results; a missing result fails and says so (names: see `check_names`).

        Args:
            baselines: labels of players that are judged only if they are named.
        """
        level_of = EVERY if self.level is None else self.level
        chosen = [s for s in summaries if self._judges(s.player, baselines) and self._takes(s.level, level_of)]
        if not chosen:
            return Check(self.text, None, False, "", "no playthroughs of this player and level")
        results: list[tuple[Summary, float]] = []
        for summary in chosen:
            value = self._value(summary)
            if value is None:
                return Check(self.text, None, False, _where(summary), _unknown(self.measure, summary))
            results.append((summary, value))
        failed = [r for r in results if not self.holds(r[1])]
        summary, value = max(failed or results, key=lambda r: self._badness(r[1]))
        others = f"{len(failed)} of {len(results)} fail" if len(failed) > 1 else ""
        return Check(self.text, value, not failed, _where(summary), others)

    def _judges(self, player: str, baselines: Collection[str]) -> bool:
        return player == self.player or (self.player == EVERY and player not in baselines)

    def _takes(self, level: str, wanted: str) -> bool:
        return level != EVERY if self.level == EVERY else level == wanted

    def _value(self, summary: Summary) -> float | None:
        if self.measure in MEASURES:
            return MEASURES[self.measure](summary)
        mean = summary.metrics.get(self.measure)
        return None if mean is None else mean.value

    def holds(self, value: float) -> bool:
        """Return whether a value of the measure satisfies the requirement."""
        if abs(value - self.number) <= _NEAR * max(1.0, abs(self.number)):
            return self.operator in (">=", "<=", "==")
        return OPERATORS[self.operator](value, self.number)

    def _badness(self, value: float) -> float:
        gap = value - self.number
        return {">": -gap, ">=": -gap, "<": gap, "<=": gap, "==": abs(gap), "!=": -abs(gap)}[self.operator]


def _unknown(measure: str, summary: Summary) -> str:
    why = summary.unbound if measure == "bound_ratio" else ""
    return f"{measure} is not known{f': {why}' if why else ''}"


def _where(summary: Summary) -> str:
    return summary.player if summary.level == EVERY else f"{summary.player}@{summary.level}"
