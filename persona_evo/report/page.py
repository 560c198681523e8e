"""One page of HTML with everything a playtest found, made of the pieces of `html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from persona_evo.games.core import Metric
from persona_evo.playtest.calibration import Agreement
from persona_evo.playtest.compare import CorrelationRow, Row, headlines
from persona_evo.playtest.duels import Standing
from persona_evo.playtest.findings import COORDINATES, Finding
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.require import Check
from persona_evo.playtest.skill import Step
from persona_evo.report import duels, html, skill, tables
from persona_evo.store import schema
from persona_evo.words import counted

KINDS = ("chart", "heatmap", "replay")
"""Kinds of pictures, in the order in which a level shows them."""

@dataclass(frozen=True)
class Picture:
    """A picture of a level (EVERY: of all together): a file, one of KINDS, and a line below it."""

    level: str
    kind: str
    path: Path
    caption: str


@dataclass
class Page:
    """What a page shows; what is empty is left out.

    facts: how it was made (seed, budget, versions, command), by name. baseline: rows of `versus_baseline`, players: of
    `between_players`, versions: of `compare_levels`. notes: what could not be shown and why. routes: sentences by
    level, on players whose trials all show one route. steps, agreements: of players of several levels of skill.
    """

    title: str
    summaries: Sequence[Summary] = ()
    infos: Sequence[Metric] = ()
    standings: Sequence[Standing] = ()
    findings: Sequence[Finding] = ()
    checks: Sequence[Check] = ()
    pictures: Sequence[Picture] = ()
    baseline: Sequence[Row] = ()
    players: Sequence[Row] = ()
    versions: Sequence[Row] = ()
    correlations: Sequence[CorrelationRow] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    subtitle: str = ""
    routes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    agreements: Sequence[Agreement] = ()


def write(page: Page, path: Path | str, embed: bool = True) -> Path:
    """Write the page. With `embed` pictures are within the file; without, it names them relative to its folder."""
    path = Path(path)
    schema.write_atomically(path, render(page, None if embed else path.parent))
    return path


def render(page: Page, folder: Path | None = None) -> str:
    """The page as text; `folder`: where it will stand if pictures are to be named and not embedded."""
    levels = list(dict.fromkeys(s.level for s in page.summaries if s.level != EVERY))
    parts = [
        _versions(page, levels, folder),
        _checks(page.checks),
        _findings(page),
        _overview(page, levels, folder),
        *(_level(page, name, number, folder) for number, name in enumerate(levels)),
        _skill(page),
        _comparisons(page),
        _correlations(page.correlations),
        _made(page),
    ]
    return html.document(page.title, page.subtitle, _links(page, levels), parts)


def _links(page: Page, levels: Sequence[str]) -> list[tuple[str, str]]:
    links = [("#versions", "what differs")] if page.versions else []
    links += [("#findings", "findings"), ("#overview", "overview")] if page.summaries else []
    links += [(f"#level{number}", name) for number, name in enumerate(levels)]
    links += [("#skill", "levels of skill")] if page.steps or page.agreements else []
    links += [("#comparison", "comparison")] if page.baseline or page.players else []
    links += [("#structure", "structure")] if page.correlations else []
    links += [("#made", "how it was made")] if page.facts or page.notes else []
    return links


def _checks(checks: Sequence[Check]) -> str:
    rows = []
    for c in checks:
        word, style = ("passed", "good") if c.passed else ("failed", "bad")
        value = "no value" if c.value is None else f"{c.value:.4g}"
        rest = ", ".join(filter(None, (value, c.where, c.reason)))
        rows.append(
            f'<li class="{style}"><b>{word}</b> <code>{escape(c.text)}</code> '
            f'<span class="dim">{escape(rest)}</span></li>'
        )
    return html.section("requirements", "Requirements", f'<ul class="cards">{"".join(rows)}</ul>' if rows else "")


def _findings(page: Page) -> str:
    if not page.summaries and not page.findings:
        return ""
    if not page.findings:
        return html.section("findings", "Findings", "<p>No problems were found.</p>")
    style = {"problem": "bad", "notice": "warn"}
    rows = [
        f'<li class="{style[f.severity]}"><b>{f.severity}</b> <span class="tag">{escape(f.level)}</span> '
        f"{escape(f.text)}</li>"
        for f in page.findings
    ]
    places = f'<p class="dim">{COORDINATES}</p>' if any(f.places for f in page.findings) else ""
    return html.section("findings", "Findings", f'<ul class="cards">{"".join(rows)}</ul>', places)


def _overview(page: Page, levels: Sequence[str], folder: Path | None) -> str:
    if not page.summaries:
        return ""
    whole = html.table(tables.summary_table(page.summaries, page.infos, brief=True)) if len(levels) > 1 else ""
    rates = _rates(page, levels) if any(s.wins for s in page.summaries) else ""
    rates += _standings(page, EVERY)
    return html.section("overview", "Overview", rates, _gallery(page.pictures, EVERY, folder), whole)


def _rates(page: Page, levels: Sequence[str]) -> str:
    """Win rates, levels down and players across."""
    players = list(dict.fromkeys(s.player for s in page.summaries))
    by_key = {(s.level, s.player): s for s in page.summaries}
    head = "".join(f'<th scope="col">{escape(p)}</th>' for p in players)
    names = [*levels, *([EVERY] if len(levels) > 1 else [])]
    body = ""
    for name in names:
        cells = "".join(_rate(by_key.get((name, p))) for p in players)
        title = "all levels" if name == EVERY else name
        body += f'<tr{" class=total" if name == EVERY else ""}><th scope="row">{escape(title)}</th>{cells}</tr>'
    exact = "; of one proven search there is none" if any(s.win_rate.note for s in page.summaries) else ""
    return (
        f'<div class="scroll"><table><caption>Win rate, with its 95 % interval{exact}</caption><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _rate(summary: Summary | None) -> str:
    if summary is None:
        return '<td class="dim">–</td>'
    rate = summary.win_rate
    span = f"left:{rate.low * 100:.1f}%;width:{max(1.0, (rate.high - rate.low) * 100):.1f}%"
    certainty = escape(rate.note) or f"{rate.low * 100:.0f}–{rate.high * 100:.0f}"
    text = f"{rate.value * 100:.0f} %<small> {certainty}</small>"
    return f'<td>{text}<span class="bar"><i style="{span}"></i><b style="left:{rate.value * 100:.1f}%"></b></span></td>'


def _level(page: Page, name: str, number: int, folder: Path | None) -> str:
    own = [f for f in page.findings if f.level == name]
    words = f'<p class="dim">{counted(len(own), "finding")} on this level</p>' if own else ""
    words += html.lines(page.routes.get(name, ()))
    table = html.table(tables.summary_table(page.summaries, page.infos, name, brief=True))
    kinds = [kind for kind in KINDS if kind != "heatmap" or not _is_pair(page)]
    standing = _standings(page, name) if len({s.level for s in page.standings}) > 1 else ""
    return html.section(f"level{number}", name, words, standing, _gallery(page.pictures, name, folder, kinds), table)


def _standings(page: Page, level: str) -> str:
    return html.table(duels.standings_table(page.standings, level)) if page.standings else ""


def _gallery(pictures: Sequence[Picture], level: str, folder: Path | None, kinds: Sequence[str] = KINDS) -> str:
    rows = []
    for kind in kinds:
        own = [p for p in pictures if p.level == level and p.kind == kind]
        figures = "".join(html.figure(p.path, p.caption, folder) for p in own)
        if figures:
            rows.append(f'<div class="gallery {kind}">{figures}</div>')
    return "\n".join(rows)


def _skill(page: Page) -> str:
    """How players of each level of skill fare, and how their win rates agree with pass rates."""
    shown = skill.difficulty_tables(page.steps)
    shown += [skill.calibration_table(page.agreements)] if page.agreements else []
    return html.section("skill", "Levels of skill", *map(html.table, shown))


def _comparisons(page: Page) -> str:
    parts: list[str] = []
    if page.baseline:
        counts = tables.counts_table(page.baseline)
        parts += ["<h3>Against the baseline</h3>", html.table(counts)]
        each = tables.comparison_table(page.baseline, "Against the baseline")
        parts.append(html.folded("level by level", html.table(each)))
    if page.players:
        keys = list(dict.fromkeys(r.measure.key for r in page.players))
        grids = html.grid([tables.matrix_table(page.players, key) for key in keys])
        parts += ["<h3>Between players</h3>", grids]
        rows = tables.comparison_table(page.players, "Between players", only_differing=True)
        parts.append(html.folded("level by level, what differs", html.table(rows)))
    return html.section("comparison", "Comparison", *parts)


def _versions(page: Page, levels: Sequence[str], folder: Path | None) -> str:
    """What differs between two versions of a level, in words, and the heatmaps of both side by side."""
    if not page.versions:
        return ""
    sentences = "".join(f"<li>{escape(s)}</li>" for s in headlines(page.versions))
    maps = [[p for p in page.pictures if p.kind == "heatmap" and p.level == name] for name in levels]
    pairs = zip(*maps, strict=False) if _is_pair(page) else ()
    figures = ("".join(html.figure(p.path, p.caption, folder) for p in pair) for pair in pairs)
    beside = "".join(f'<div class="gallery pair">{pair}</div>' for pair in figures)
    rows = html.folded("all measures", html.table(tables.comparison_table(page.versions, "A and B")))
    return html.section("versions", "What differs", f'<ul class="plain">{sentences}</ul>', beside, rows)


def _is_pair(page: Page) -> bool:
    """Whether the page is about two versions of a level, so that their pictures stand side by side."""
    return bool(page.versions) and len({s.level for s in page.summaries} - {EVERY}) == 2


def _correlations(rows: Sequence[CorrelationRow]) -> str:
    content = html.table(tables.correlation_table(rows)) if rows else ""
    return html.section("structure", "Structure and results", content)


def _made(page: Page) -> str:
    return html.section("made", "How it was made", html.facts(page.facts), html.lines(page.notes))
