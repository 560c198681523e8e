"""The content of a playtest's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from persona_evo.games.core import Metric
from persona_evo.games.findings import Finding
from persona_evo.playtest.calibration import Agreement
from persona_evo.playtest.compare import ComparisonRow
from persona_evo.playtest.correlations import CorrelationRow
from persona_evo.playtest.duels import Standing
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.requirement import Check
from persona_evo.playtest.skill import SkillStep
from persona_evo.report import level_pairs, versions
from persona_evo.report.charts import Chart
from persona_evo.report.strips import Strip


@dataclass(frozen=True)
class Picture:
    """A picture of a level: "map" or "replay", its file, and its caption."""

    level: str
    kind: str
    path: Path
    caption: str


@dataclass
class Page:
    """The content of a page; empty parts are left out.

    Attributes:
        title, subtitle: its heading.
        summaries, infos: results, and what the metrics mean.
        standings: results of two-player games.
        findings: in the order in which they are listed; a finding's number on the maps is its position here, from 1.
        accepted: accepted findings, with the reasons.
        gone: sentences on accepted findings that no longer occur.
        checks: outcomes of requirements.
        pictures: maps and replays.
        strips: film strips of connected games.
        most, signs: visits of the hottest colour of the maps, and what else they show (see `maps.signs`), by level.
        health: charts of hit points over turns, by level.
        baseline, players: rows of `versus_baseline` and `between_players`.
        versions: a comparison of two versions of a level, or of several, None for a playtest. With it, nothing covers
            both versions together.
        correlations: level structure and results.
        facts: how the playtest was made (seed, budget, versions, command), by name.
        notes: what could not be shown and why.
        routes: sentences by level, on players whose trials all show one route.
        steps, agreements: results by skill level, and correlations with pass rates that were measured elsewhere.
        skill_health: charts of these players' hit points over turns, by level.
        addresses: addresses of the levels' own pages by level, relative to this page; empty if this page shows them.
    """

    title: str
    summaries: Sequence[Summary] = ()
    infos: Sequence[Metric] = ()
    standings: Sequence[Standing] = ()
    findings: Sequence[Finding] = ()
    accepted: Sequence[tuple[Finding, str]] = ()
    gone: Sequence[str] = ()
    checks: Sequence[Check] = ()
    pictures: Sequence[Picture] = ()
    strips: Sequence[Strip] = ()
    most: Mapping[str, float] = field(default_factory=dict)
    signs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    health: Mapping[str, Chart] = field(default_factory=dict)
    baseline: Sequence[ComparisonRow] = ()
    players: Sequence[ComparisonRow] = ()
    versions: versions.Versions | level_pairs.PairedVersions | None = None
    correlations: Sequence[CorrelationRow] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    subtitle: str = ""
    routes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    steps: Sequence[SkillStep] = ()
    agreements: Sequence[Agreement] = ()
    skill_health: Mapping[str, Sequence[Chart]] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def levels(self) -> list[str]:
        """The levels' names."""
        return list(dict.fromkeys(s.level for s in self.summaries if s.level != EVERY))

    @property
    def is_pair(self) -> bool:
        """Whether the page compares two versions of one level, so that their pictures are side by side."""
        return isinstance(self.versions, versions.Versions)
