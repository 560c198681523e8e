"""Changes from one playtest to the next: findings that appeared or disappeared, and how often players win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persona_evo.games.findings import Finding
from persona_evo.intervals import Interval
from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import UNBOUNDED, UTILITY, WIN_RATE, Measure, grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import TrialGroup, effects

Key = tuple[str, str, tuple[tuple[int, int], ...]]
"""Kind, level and places of a finding: two findings with the same key are the same finding."""


@dataclass(frozen=True)
class MeasureChange:
    """A measure of one player in one level, before and after.

    Attributes:
        level, player: names; the level's name is that of the second playtest.
        measure: the win rate or the utility.
        before, after: means.
        change: after - before with its 95 % interval.
        effect: Vargha and Delaney's A of after against before; 0.5 means that neither tends to be larger.
        exact: whether both sides are proven, so that nothing is uncertain and there is no interval.
    """

    level: str
    player: str
    measure: Measure
    before: float
    after: float
    change: Interval
    effect: Interval
    exact: bool

    @property
    def clear(self) -> bool:
        """Whether the values differ, as far as can be told."""
        if self.exact:
            return self.before != self.after
        return not self.change.low <= 0 <= self.change.high


@dataclass(frozen=True)
class PlaytestChanges:
    """The changes between two playtests.

    Attributes:
        appeared: findings that only the second playtest has.
        gone: findings that only the first playtest has.
        rates, utilities: changes for each player in each level that both playtests have.
    """

    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    rates: tuple[MeasureChange, ...]
    utilities: tuple[MeasureChange, ...]

    @property
    def findings(self) -> bool:
        """Whether any finding appeared or disappeared."""
        return bool(self.appeared or self.gone)


def changes(before: Analysis, after: Analysis, renamed: Mapping[str, str] | None = None) -> PlaytestChanges:
    """Compare two playtests.

    Args:
        before, after: the playtests.
        renamed: level of the first -> level of the second, for versions with another name.
    """
    names = renamed or {}
    known = {_key(f, names) for f in before.findings}
    found = {_key(f, {}) for f in after.findings}
    first = {(names.get(level, level), player): own for (level, player), own in grouped(before.records).items()}
    pairs = [
        (_group(first[key], before), _group(own, after)) for key, own in grouped(after.records).items() if key in first
    ]
    return PlaytestChanges(
        tuple(f for f in after.findings if _key(f, {}) not in known),
        tuple(f for f in before.findings if _key(f, names) not in found),
        tuple(_change(WIN_RATE, a, b) for a, b in pairs),
        tuple(_change(UTILITY, a, b) for a, b in pairs),
    )


def _group(records: Sequence[Playthrough], analysis: Analysis) -> TrialGroup:
    return TrialGroup(records, analysis.worth.get(records[0].player, UNBOUNDED))


def _key(finding: Finding, names: Mapping[str, str]) -> Key:
    levels = [names.get(name, name) for name in finding.level.split(", ")]
    return finding.kind, ", ".join(levels), tuple(finding.places)


def _change(measure: Measure, a: TrialGroup, b: TrialGroup) -> MeasureChange:
    effect, change = effects(a, b, measure)
    before, after = (group.mean(measure).value for group in (a, b))
    last = b.records[0]
    return MeasureChange(last.level, last.player, measure, before, after, change, effect, bool(change.note))
