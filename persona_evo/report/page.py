"""The page of a playtest: first what is wrong, then the maps, then the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.report import between, duels, level_pairs, maps, pages, plots, skill, tables, versions
from persona_evo.report.added_sections import added
from persona_evo.report.page_content import Page, Picture
from persona_evo.report.pages import (
    Block,
    Document,
    Facts,
    Figure,
    Folded,
    Gallery,
    Heading,
    Lines,
    Links,
    Section,
    Svg,
    Text,
)
from persona_evo.report.playtest_blocks import Card, Cards, Checks, Legend, Rates
from persona_evo.report.written import Names
from persona_evo.words import enumerated, percent

COORDINATES = "Places are row:column, both counted from 1 at the top left, as on the maps."

HARDLY = 0.01
"""The win rate up to which a level is hardly ever won."""

WHOLE = 3
"""Maximum number of levels on a single page; with more, each level has its own page."""

LEVELS = "levels"
"""Folder of the levels' pages, beside the page of the playtest."""

TRACES = "To play a playthrough: persona-evo runs show RUN --trace NUMBER, where RUN is the folder of this page."


def write(page: Page, path: Path | str, embed: bool = True) -> Path:
    """Write the page, and a page for each level if there are many.

    Args:
        page: the content.
        path: path of the page.
        embed: whether pictures are embedded in the files; otherwise these link them relative to their folder.
    """
    path = Path(path)
    if len(page.levels) > WHOLE and not page.is_pair:
        names = Names(path.parent / LEVELS)
        files = {level: names.file(level, suffix=".html") for level in page.levels}
        names.folder.mkdir(exist_ok=True)
        page = replace(page, addresses={level: f"{LEVELS}/{file.name}" for level, file in files.items()})
        for number, (level, file) in enumerate(files.items()):
            pages.write(level_document(page, level, number, path.name), file, embed)
    return pages.write(document(page), path, embed)


def document(page: Page) -> Document:
    """Arrange the page as sections."""
    shown = [] if page.addresses else page.levels
    return Document(
        page.title,
        page.subtitle,
        [
            _versions(page),
            _findings(page),
            Section("requirements", "Requirements", [Checks(page.checks)]),
            Section("levels", "Levels", [Links(page.addresses)]),
            *(_level(page, name, number) for number, name in enumerate(shown)),
            _overview(page),
            _skill(page),
            _comparisons(page),
            Section(
                "structure",
                "Level structure and results",
                [tables.correlation_table(page.correlations) if page.correlations else None],
            ),
            *added(page),
            Section("made", "How it was made", [Facts(page.facts), Lines(page.notes)]),
        ],
    )


def level_document(page: Page, name: str, number: int, home: str) -> Document:
    """Create the page of one level; `home` is the file name of the playtest's page, one folder above."""
    cards = [replace(card, address="") for card in _cards(page, name)]
    own = [[r for r in rows if r.level == name] for rows in (page.baseline, page.players)]
    titles, drawn = ("Against the baseline", "Between players"), any(p.level == name for p in page.pictures)
    return Document(
        name,
        page.title,
        [
            Section(
                "findings",
                "Findings",
                [Cards(cards), Text(COORDINATES, "dim") if any(c.finding.places for c in cards) else None],
            ),
            replace(_level(page, name, number), title="Maps and results" if drawn else "Results"),
            Section("skill", "Levels of skill", [Gallery("chart", [Svg(c) for c in page.skill_health.get(name, ())])]),
            Section(
                "comparison",
                "Comparison",
                [
                    Folded(title, [tables.comparison_table(rows, title)])
                    for title, rows in zip(titles, own, strict=True)
                    if rows
                ],
            ),
        ],
        home=("all levels", f"../{home}"),
    )


def _cards(page: Page, level: str = EVERY) -> list[Card]:
    """Return the findings that concern a level, or all, with their numbers."""
    return [
        Card(f, number, address=page.addresses.get(f.level, ""))
        for number, f in enumerate(page.findings, 1)
        if level == EVERY or level in f.level.split(", ") or f.level == level
    ]


def _marked(page: Page, levels: Sequence[str]) -> list[Card]:
    """Return the findings that maps of the levels show."""
    return [card for card in _cards(page) if card.finding.places and card.finding.level in levels]


def _no_problems(page: Page) -> str:
    """Return the sentence on a page without problems, which names the levels that hardly anybody wins."""
    levels: dict[str, list[Summary]] = {}
    for summary in page.summaries:
        if summary.level != EVERY and summary.wins:
            levels.setdefault(summary.level, []).append(summary)
    lost = [name for name, own in levels.items() if all(s.win_rate.value <= HARDLY for s in own)]
    if not lost:
        return "No problems were found."
    rates = [s.win_rate.value for name in lost for s in levels[name]]
    names = enumerated(lost, most=4)
    said = f"No player wins {names} in more than {percent(max(rates))} of the playthroughs"
    return (
        f"{said if max(rates) else f'Nobody wins {names}'}, and nothing was "
        "found that explains it. Either these levels are too hard, or the players search too little."
    )


def _findings(page: Page) -> Section:
    if not page.summaries and not page.findings:
        return Section("findings", "Findings", [])
    cards = _cards(page)
    problems = [c for c in cards if c.finding.severity == "problem"]
    notices = [c for c in cards if c.finding.severity != "problem"]
    return Section(
        "findings",
        "Findings",
        [
            Text(_no_problems(page)) if not problems else None,
            Cards(problems),
            Heading("Worth a look") if problems and notices else None,
            Cards(notices),
            Folded(f"Accepted findings ({len(page.accepted)})", [Cards([Card(f, 0, why) for f, why in page.accepted])]),
            Lines(page.gone),
            Text(COORDINATES, "dim") if any(f.places for f in page.findings) else None,
            Text(TRACES, "dim") if any(f.trace for f in page.findings) else None,
        ],
    )


def _level(page: Page, name: str, number: int) -> Section:
    shown = [p for p in page.pictures if p.level == name]
    drawn = [] if page.is_pair else [p for p in shown if p.kind == "map"]
    chosen = [s for s in page.summaries if s.level == name]
    several = len({s.level for s in page.standings}) > 1
    title = f"{versions.LETTERS[number % 2]}: {name}" if page.versions is not None else name
    return Section(
        f"level{number}",
        title,
        [
            Cards(_cards(page, name), brief=True) if len(page.levels) > 1 and not page.addresses else None,
            Gallery("map", [_figure(p) for p in drawn]),
            Legend(page.most[name], page.signs.get(name, frozenset()), _marked(page, [name])) if drawn else None,
            Lines(page.routes.get(name, ())),
            None
            if page.is_pair
            else Gallery(
                "chart tiled",
                [
                    *(Svg(page.health[k]) for k in [name] if k in page.health),
                    *plots.main_results(chosen, page.infos).figures,
                ],
            ),
            Gallery("replay", [_figure(p) for p in shown if p.kind == "replay"]),
            *(strip for strip in page.strips if strip.level == name),
            duels.standings_table(page.standings, name) if several else None,
            tables.summary_table(page.summaries, page.infos, name, brief=True),
        ],
    )


def _figure(picture: Picture) -> Figure:
    drawn = maps.figure if picture.kind == "map" else Figure
    return drawn(picture.path, picture.caption)


def _overview(page: Page) -> Section:
    if not page.summaries:
        return Section("overview", "Results of all levels", [])
    every = [s for s in page.summaries if s.level == EVERY]
    several = len(page.levels) > 1 and page.versions is None
    return Section(
        "overview",
        "Results of all levels" if several else "Results",
        [
            _rates(page) if any(s.wins for s in page.summaries) else None,
            duels.standings_table(page.standings, EVERY) if page.standings else None,
            plots.main_results(every, page.infos) if several else None,
            tables.summary_table(page.summaries, page.infos, brief=True) if several else None,
        ],
    )


def _rates(page: Page) -> Rates:
    players = list(dict.fromkeys(s.player for s in page.summaries))
    by_key = {(s.level, s.player): s for s in page.summaries}
    names = [*page.levels, *([EVERY] if len(page.levels) > 1 and page.versions is None else [])]
    return Rates(players, [(name, [by_key.get((name, p)) for p in players]) for name in names], page.addresses)


def _skill(page: Page) -> Section:
    """Show the results of each skill level, and the agreement of win rates with pass rates."""
    wins = any(s.wins for s in page.summaries)
    curve = skill.difficulty_chart(page.steps) if wins else None
    return Section(
        "skill",
        "Levels of skill",
        [
            Svg(curve, skill.SIMULATED) if curve else None,
            *skill.difficulty_tables(page.steps, wins=wins),
            *(
                Folded(f"hit points in {level}", [Gallery("chart", [Svg(c) for c in drawn])])
                for level, drawn in page.skill_health.items()
                if level not in page.addresses
            ),
            skill.calibration_table(page.agreements) if page.agreements else None,
        ],
    )


def _comparisons(page: Page) -> Section:
    parts: list[Block | None] = []
    if page.versions is not None:
        return Section("comparison", "Comparison", [])
    single = not page.addresses
    if page.baseline:
        each = tables.comparison_table(page.baseline, "Against the baseline") if single else None
        parts += [Heading("Against the baseline"), tables.counts_table(page.baseline), Folded("level by level", [each])]
    if page.players:
        rows = tables.comparison_table(page.players, "Between players", only_differing=True) if single else None
        parts += [
            Heading("Between players"),
            Lines(between.sentences(page.players)),
            Folded("differences level by level", [rows]),
        ]
    return Section("comparison", "Comparison", parts)


def _versions(page: Page) -> Section:
    """Show the differences between two versions."""
    if page.versions is None:
        return Section("versions", "What differs", [])
    if isinstance(page.versions, level_pairs.PairedVersions):
        return level_pairs.section(page.versions)
    drawn = [[_figure(p) for p in page.pictures if p.kind == "map" and p.level == name] for name in page.levels]
    marked = _marked(page, page.levels)
    signs = frozenset[str]().union(*page.signs.values())
    legend = Legend(max(page.most.values()), signs, marked) if drawn and drawn[0] else None
    return versions.section(page.versions, zip(*drawn, strict=False), legend)
