"""The page of a playtest: what is wrong first, then the maps, then the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.games.core import Metric, main_metrics
from persona_evo.games.findings import Finding, where
from persona_evo.playtest.compare import CorrelationRow, Row, headlines
from persona_evo.playtest.duels import Standing
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.require import Check
from persona_evo.report import charts, duels, maps, pages, tables
from persona_evo.report.pages import (
    Document,
    Facts,
    Figure,
    Folded,
    Gallery,
    Grid,
    Heading,
    Lines,
    Section,
    Svg,
    Text,
)

COORDINATES = "Places are row:column, both counted from 1 at the top left, as on the maps."

MOST_PLACES = 8
"""Places of a finding that are named."""


@dataclass(frozen=True)
class Picture:
    """A picture of a level: "map" or "replay", a file, and a line below it."""

    level: str
    kind: str
    path: Path
    caption: str


@dataclass
class Page:
    """What a page shows; what is empty is left out.

    Attributes:
        title, subtitle: its heading.
        summaries, infos: results, and what the metrics mean.
        standings: results of games for two.
        findings: in the order in which they are told; a finding's number on the maps is its place here, from 1.
        accepted: findings that are meant so, with the reasons.
        gone: sentences on accepted findings that no longer occur.
        checks: requirements.
        pictures: maps and replays.
        health: hit points over turns, as charts by level.
        baseline, players, versions: rows of `versus_baseline`, `between_players` and `compare_levels`.
        correlations: level structure and results.
        facts: how the playtest was made (seed, budget, versions, command), by name.
        notes: what could not be shown and why.
        routes: sentences by level, on players whose trials all show one route.
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
    health: Mapping[str, str] = field(default_factory=dict)
    baseline: Sequence[Row] = ()
    players: Sequence[Row] = ()
    versions: Sequence[Row] = ()
    correlations: Sequence[CorrelationRow] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    subtitle: str = ""
    routes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def levels(self) -> list[str]:
        """The levels' names."""
        return list(dict.fromkeys(s.level for s in self.summaries if s.level != EVERY))

    @property
    def is_pair(self) -> bool:
        """Whether the page is about two versions of a level, so that their pictures stand side by side."""
        return bool(self.versions) and len(self.levels) == 2


@dataclass
class Cards:
    """Findings as cards with the numbers that they have on the maps. brief: a line each, with a link to the card."""

    items: Sequence[_Card]
    brief: bool = False

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class _Card:
    """A finding and its number, 0 for none. reason: why it is accepted."""

    finding: Finding
    number: int = 0
    reason: str = ""

    @property
    def places(self) -> str:
        """The first places."""
        spots = self.finding.places
        more = f" and {len(spots) - MOST_PLACES} more" if len(spots) > MOST_PLACES else ""
        return ", ".join(map(where, spots[:MOST_PLACES])) + more


@dataclass
class Checks:
    """Requirements and whether they hold."""

    items: Sequence[Check]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass
class Rates:
    """Win rates with their intervals: levels down and players across."""

    players: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Summary | None]]]

    @property
    def exact(self) -> bool:
        """Whether a rate is known, and has no interval."""
        return any(s.win_rate.note for _, cells in self.rows for s in cells if s is not None)


@dataclass
class Legend:
    """What the signs of maps mean. hit_points: whether the game has any."""

    hit_points: bool

    @property
    def colours(self) -> tuple[str, str]:
        """Of few and of many visits."""
        cool, hot = (f"rgb({r} {g} {b})" for r, g, b in (maps.COOL, maps.HOT))
        return cool, hot


def write(page: Page, path: Path | str, embed: bool = True) -> Path:
    """Write the page. With `embed` pictures are within the file; without, it names them relative to its folder."""
    return pages.write(document(page), path, embed)


def document(page: Page) -> Document:
    """The page as sections."""
    return Document(page.title, page.subtitle, [
        _versions(page),
        _findings(page),
        Section("requirements", "Requirements", [Checks(page.checks)]),
        *(_level(page, name, number) for number, name in enumerate(page.levels)),
        _overview(page),
        _comparisons(page),
        Section("structure", "Level structure and results",
                [tables.correlation_table(page.correlations) if page.correlations else None]),
        Section("made", "How it was made", [Facts(page.facts), Lines(page.notes)]),
    ])  # fmt: skip


def _cards(page: Page, level: str = EVERY) -> list[_Card]:
    """The findings that concern a level, or all, with their numbers."""
    return [_Card(f, number) for number, f in enumerate(page.findings, 1)
            if level == EVERY or level in f.level.split(", ") or f.level == level]  # fmt: skip


def _findings(page: Page) -> Section:
    if not page.summaries and not page.findings:
        return Section("findings", "Findings", [])
    cards = _cards(page)
    problems = [c for c in cards if c.finding.severity == "problem"]
    notices = [c for c in cards if c.finding.severity != "problem"]
    return Section("findings", "Findings", [
        Text("No problems were found.") if not problems else None,
        Cards(problems),
        Heading("Worth a look") if problems and notices else None,
        Cards(notices),
        Folded(f"Accepted findings ({len(page.accepted)})", [Cards([_Card(f, 0, why) for f, why in page.accepted])]),
        Lines(page.gone),
        Text(COORDINATES, "dim") if any(f.places for f in page.findings) else None,
    ])  # fmt: skip


def _level(page: Page, name: str, number: int) -> Section:
    shown = [p for p in page.pictures if p.level == name]
    drawn = [] if page.is_pair else [p for p in shown if p.kind == "map"]
    chosen = [s for s in page.summaries if s.level == name]
    several = len({s.level for s in page.standings}) > 1
    return Section(f"level{number}", name, [
        Cards(_cards(page, name), brief=True) if len(page.levels) > 1 else None,
        Gallery("map", [_figure(p) for p in drawn]),
        Legend(name in page.health) if drawn else None,
        Lines(page.routes.get(name, ())),
        Svg(page.health[name]) if name in page.health else None,
        Gallery("replay", [_figure(p) for p in shown if p.kind == "replay"]),
        duels.standings_table(page.standings, name) if several else None,
        _bars(page, chosen),
        tables.summary_table(page.summaries, page.infos, name, brief=True),
    ])  # fmt: skip


def _figure(picture: Picture) -> Figure:
    if picture.kind != "map":
        return Figure(picture.path, picture.caption)
    width = pages.width_of(picture.path)
    return Figure(picture.path, picture.caption, round(width * maps.SHOWN), round(width * maps.LEAST), enlarge=True)


def _bars(page: Page, chosen: Sequence[Summary]) -> Gallery:
    """The main results of some summaries, a chart each: players down."""
    shown: list[Svg] = []
    if any(s.wins for s in chosen):
        shown.append(Svg(charts.bars("win rate", [(s.player, s.win_rate) for s in chosen], high=1, percent=True)))
    for info in main_metrics(page.infos):
        rows = [(s.player, s.metrics[info.symbol]) for s in chosen if info.symbol in s.metrics]
        if rows:
            shown.append(Svg(charts.bars(info.name, rows, high=1 if info.ratio else None, percent=info.ratio)))
    shown.append(Svg(charts.bars("steps", [(s.player, s.steps) for s in chosen])))
    shown.append(Svg(charts.bars("utility", [(s.player, s.utility) for s in chosen])))
    return Gallery("chart", shown)


def _overview(page: Page) -> Section:
    if not page.summaries:
        return Section("overview", "Results of all levels", [])
    every = [s for s in page.summaries if s.level == EVERY]
    several = len(page.levels) > 1
    return Section("overview", "Results of all levels" if several else "Results", [
        _rates(page) if any(s.wins for s in page.summaries) else None,
        duels.standings_table(page.standings, EVERY) if page.standings else None,
        _bars(page, every) if several else None,
        tables.summary_table(page.summaries, page.infos, brief=True) if several else None,
    ])  # fmt: skip


def _rates(page: Page) -> Rates:
    players = list(dict.fromkeys(s.player for s in page.summaries))
    by_key = {(s.level, s.player): s for s in page.summaries}
    names = [*page.levels, *([EVERY] if len(page.levels) > 1 else [])]
    return Rates(players, [(name, [by_key.get((name, p)) for p in players]) for name in names])


def _comparisons(page: Page) -> Section:
    parts: list[Any] = []
    if page.baseline:
        each = tables.comparison_table(page.baseline, "Against the baseline")
        parts += [Heading("Against the baseline"), tables.counts_table(page.baseline), Folded("level by level", [each])]
    if page.players:
        keys = list(dict.fromkeys(r.measure.key for r in page.players))
        rows = tables.comparison_table(page.players, "Between players", only_differing=True)
        parts += [Heading("Between players"), Grid([tables.matrix_table(page.players, key) for key in keys]),
                  Folded("level by level, what differs", [rows])]  # fmt: skip
    return Section("comparison", "Comparison", parts)


def _versions(page: Page) -> Section:
    """What differs between two versions of a level, in words, and the maps of both side by side."""
    if not page.versions:
        return Section("versions", "What differs", [])
    drawn = [[p for p in page.pictures if p.kind == "map" and p.level == name] for name in page.levels]
    pairs = zip(*drawn, strict=False) if page.is_pair else ()
    return Section("versions", "What differs", [
        Lines(headlines(page.versions)),
        *(Gallery("pair", [_figure(p) for p in pair]) for pair in pairs),
        Legend(any(name in page.health for name in page.levels)) if page.is_pair and drawn[0] else None,
        Folded("all measures", [tables.comparison_table(page.versions, "A and B")]),
    ])  # fmt: skip
