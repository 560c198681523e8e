"""Writes a folder with all results of a playtest: traces, tables, pictures, replays and the page.

| file | content |
|---|---|
| index.html | the page, self-contained unless the pictures are too large (see EMBED) |
| levels/ | a page for each level if there are more than three |
| traces.jsonl | every playthrough |
| playthroughs.csv | every playthrough as one row |
| difficulty.csv | win rate, death rate and damage by level, persona and skill level |
| calibration.csv | correlations of win rates with pass rates that were measured elsewhere |
| health.csv | hit points by level, player and turn |
| duels.csv | two-player games: results by level, player, opponent and side |
| findings.json | what is wrong with the levels (see `persona_evo.games.findings`) |
| summary_wide.csv | one row for each level and player |
| summary.csv, comparison.csv, players.csv, correlations.csv, structure.csv, findings.csv | the tables |
| pictures/ | maps (PNG) and replays (GIF), named by level and player; `album` lists those that are up to date |
| strips/ | film strips of a connected game that sends pictures (see `strips`) |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from persona_evo.agents.skill import errs
from persona_evo.games.acceptance import no_longer
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import to_json
from persona_evo.games.outside import closing_outside
from persona_evo.jobs import files
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import routes
from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import EVERY, grouped, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.records import write as write_records
from persona_evo.playtest.skill import health
from persona_evo.report import (
    charts,
    csv_rows,
    duels,
    figures,
    maps,
    pictures,
    plots,
    replay,
    skill,
    strips,
    tile_counts,
)
from persona_evo.report.album import Album
from persona_evo.report.figures import Drawing
from persona_evo.report.level_pairs import PairedVersions
from persona_evo.report.page import write as write_page
from persona_evo.report.page_content import Page, Picture
from persona_evo.report.pictures import MapDrawing, PictureDrawing, ReplayDrawing
from persona_evo.report.versions import Versions
from persona_evo.report.written import Names
from persona_evo.words import counted, enumerated

Tell = Callable[[str], None]

EMBED = 16_000_000
"""Pictures of more bytes in total than this are linked from the page instead of embedded."""


@dataclass
class Written:
    """The written files.

    Attributes:
        most, signs: visits of the hottest colour, and what else the maps show (see `maps.signs`), by level.
        notes: what could not be shown, and why.
        unfilmed: which film strips are missing, and why.
    """

    page: Path
    pictures: list[Picture] = field(default_factory=list)
    most: dict[str, float] = field(default_factory=dict)
    signs: dict[str, frozenset[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unfilmed: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Record once what could not be shown."""
        if text not in self.notes:
            self.notes.append(text)


def write(
    folder: Path | str,
    game: Game,
    levels: Iterable[Level],
    analysis: Analysis,
    *,
    title: str = "Playtest",
    facts: Mapping[str, str] | None = None,
    versions: Versions | PairedVersions | None = None,
    replays: bool = True,
    traces: bool = True,
    workers: Workers | None = None,
    progress: Tell | None = None,
) -> Written:
    """Write the folder, which is created if necessary; existing files of the same names are replaced.

    Args:
        facts: how the playtest was made (seed, budget, versions).
        versions: a comparison of two levels, or of pairs of them, with which the page begins.
        replays: whether to draw the animated replays, which make up most of the size, or the film strips of a connected
            game that sends pictures.
        traces: whether to write the playthroughs; False if the folder is the playtest's own, which holds them.
        workers: draw the pictures; None for this process.
        progress: called with a description of what is being done.
    """
    folder = Path(folder)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    if traces:
        write_records(folder / "traces.jsonl", analysis.records)
    if progress is not None:
        progress("writing tables")
    write_tables(folder, analysis)
    if versions is not None:
        csv_rows.write_csv(folder / "comparison.csv", csv_rows.comparison_rows(versions.rows))
    if isinstance(versions, PairedVersions):
        csv_rows.write_csv(folder / "pairs.csv", csv_rows.comparison_rows(versions.each))
    written = Written(folder / "index.html")
    with closing_outside(game):  # drawing states of a connected game asks that game for them
        at_hand = {level.name: level for level in levels}
        wanted = list(
            _wanted(
                Names(folder / "pictures"), game, at_hand, analysis, written, replays, isinstance(versions, Versions)
            )
        )
        album = Album(folder / "pictures", folder / "traces.jsonl", game)
        missing = [one for one in wanted if not album.holds(one.drawing, at_hand[one.picture.level])]

        def drawn(number: int) -> None:
            if progress is not None:
                one, total = missing[number - 1], counted(len(missing), "picture")
                progress(f"drawing {number} of {total}: {one.player} in {one.picture.level}")

        problems = pictures.draw(game, at_hand, [one.drawing for one in missing], workers, drawn)
        to_film = at_hand if replays else {}
        films, written.unfilmed = strips.films(folder / strips.FOLDER, game, to_film, analysis, progress)
    failed = set()
    for one, why in zip(missing, problems, strict=True):
        if why:
            failed.add(one.picture.path)
            written.note(why)
        else:
            album.add(one.drawing, at_hand[one.picture.level])
    album.save()
    written.pictures = [one.picture for one in wanted if one.picture.path not in failed]
    if progress is not None:
        progress("writing the page")
    played = counted(len(analysis.records), "game" if analysis.standings else "playthrough")
    page = replace(
        page_of(analysis, title=title, facts=facts or {}),
        versions=versions,
        pictures=written.pictures,
        strips=films,
        most=written.most,
        signs=written.signs,
        notes=[*written.notes, *written.unfilmed],
        subtitle=f"{game.title}: {played} of {counted(len({r.level for r in analysis.records}), 'level')}",
    )
    shown = [*(p.path for p in written.pictures), *(f.path for strip in films for f in strip.figures)]
    write_page(page, written.page, embed=sum(path.stat().st_size for path in shown) <= EMBED)
    return written


def page_of(analysis: Analysis, *, title: str, facts: Mapping[str, str]) -> Page:
    """Create the page of an analysis, without pictures."""
    return Page(
        title,
        summaries=analysis.summaries,
        infos=analysis.infos,
        standings=analysis.standings,
        findings=analysis.findings,
        accepted=analysis.accepted,
        gone=[no_longer(entry) for entry in analysis.gone],
        checks=analysis.checks,
        health=hit_points(analysis),
        baseline=analysis.baseline,
        players=analysis.players,
        correlations=analysis.correlations,
        facts=facts,
        routes=routes.by_level(analysis),
        steps=analysis.steps,
        agreements=analysis.agreements,
        skill_health=skill.health_charts(health(analysis.records)) if analysis.steps else {},
    )


def hit_points(analysis: Analysis) -> dict[str, charts.Plot]:
    """Return charts of hit points over turns by level: the median playthrough of each player that makes no mistakes.

    Baselines are players, too. Those who make mistakes have charts of their own (see `skill`).
    """
    found: dict[str, list[charts.Series]] = {}
    players = players_of(analysis.records)
    for (level, player), group in grouped(analysis.records).items():
        if group[0].hit_points and not errs(group[0].skill):
            record = replay.choose(group).median
            points = list(enumerate(record.hit_points))
            end = "skull" if record.lost else "dot"
            found.setdefault(level, []).append(charts.Series(player, points, "steps", players.index(player), end=end))
    return {
        level: charts.Plot(
            series,
            charts.Axis("turn", low=0, whole=True),
            charts.Axis("hit points", low=0, whole=True),
            title="Hit points in the median playthrough",
            width=336,
            height=230,
        )
        for level, series in found.items()
    }


def drawings(game: Game, levels: Iterable[Level], analysis: Analysis) -> Iterator[Drawing]:
    """Yield the figures: results, hit points and maps of each level, results of all levels, and difficulty."""
    curve, groups = skill.difficulty_chart(analysis.steps), grouped(analysis.records)
    if curve is not None:
        yield Drawing(("difficulty",), curve)
    for name in dict.fromkeys(s.level for s in analysis.summaries):
        word = "all" if name == EVERY else name
        own = [s for s in analysis.summaries if s.level == name]
        yield from (Drawing((word, chart.title), chart) for chart in plots.main_charts(own, analysis.infos))
        if any(s.wins for s in own):
            yield Drawing((word, "outcomes"), plots.outcomes(own))
    for name, chart in hit_points(analysis).items():
        yield Drawing((name, "hit points"), chart)
    for name, drawn in skill.health_charts(health(analysis.records) if analysis.steps else []).items():
        yield from (Drawing((name, "hit points", str(number)), chart) for number, chart in enumerate(drawn, 1))
    for level in levels:
        own_groups = {p: groups[level.name, p] for p in analysis.personas if (level.name, p) in groups}
        most = tile_counts.most_visits(own_groups.values())
        for player, group in own_groups.items():
            drawn_map = figures.heat(game, level, group, most)
            if drawn_map is not None:
                yield Drawing((level.name, "map", player), drawn_map)


def write_tables(folder: Path | str, analysis: Analysis) -> list[Path]:
    """Write only the findings and the CSV files; tables without rows are left out."""
    folder = Path(folder)
    found = to_json(analysis.findings, analysis.accepted)
    files.write_atomically(folder / "findings.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    content = {
        "playthroughs": csv_rows.record_rows(analysis.records),
        "duels": duels.standing_rows(analysis.standings),
        "difficulty": skill.difficulty_rows(analysis.steps),
        "calibration": skill.calibration_rows(analysis.agreements),
        "health": skill.health_rows(health(analysis.records)),
        "summary": csv_rows.summary_rows(analysis.summaries),
        "summary_wide": csv_rows.wide_rows(analysis.summaries),
        "comparison": csv_rows.comparison_rows(analysis.baseline),
        "players": csv_rows.comparison_rows(analysis.players),
        "correlations": csv_rows.correlation_rows(analysis.correlations),
        "structure": [{"level": name, **numbers} for name, numbers in analysis.structure.items()],
        "findings": csv_rows.finding_rows(analysis.findings, analysis.accepted),
    }
    paths = [folder / "findings.json"]
    for name, rows in content.items():
        if rows:
            paths.append(folder / f"{name}.csv")
            csv_rows.write_csv(paths[-1], rows)
    return paths


class _Wanted(NamedTuple):
    """A picture of a page, how it is drawn, and the player that it shows."""

    picture: Picture
    drawing: PictureDrawing
    player: str


def _wanted(
    names: Names,
    game: Game,
    levels: Mapping[str, Level],
    analysis: Analysis,
    written: Written,
    replays: bool,
    compared: bool = False,
) -> Iterator[_Wanted]:
    """Yield maps and replays of each persona in each available level; `compared` gives all maps the same colours."""
    groups = grouped(analysis.records)
    baselines = dict(analysis.pairs)
    for (name, player), group in groups.items():
        level = levels.get(name)
        is_baseline = player not in analysis.personas
        if level is None:
            continue
        why = maps.skipped(game, level, group)
        if why:
            written.note(why)
        else:
            path = names.file(name, player, suffix=".png")
            together = [own for (where, _), own in groups.items() if compared or where == name]
            written.signs[name] = written.signs.get(name, frozenset()) | maps.signs(group)
            high = written.most[name] = tile_counts.most_visits(together)
            text = _told(group, analysis.tolerances.get(player), f" in {name}" if compared else "")
            drawing = MapDrawing(group, str(path), _markers(analysis, name, player), high)
            yield _Wanted(Picture(name, "map", path, text), drawing, player)
        filmed = game.outside is not None and bool(game.outside.filmed)
        if is_baseline or filmed or not replays:
            continue
        if errs(group[0].skill):
            written.note(
                "There are no replays of players who make mistakes; persona-evo runs show plays their playthroughs."
            )
        else:
            yield from _replays(names, game, level, group, groups.get((name, baselines.get(player, "")), []))


def _markers(analysis: Analysis, level: str, player: str) -> list[maps.Marker]:
    """Return the findings on a level that concern a player, with the numbers that the page gives them."""
    return [
        maps.Marker(
            number, f.severity, f.places[:1] if f.kind == "no_choice" else f.places
        )  # the path itself is drawn anyway
        for number, f in enumerate(analysis.findings, 1)
        if f.level == level and (not f.players or player in f.players)
    ]


def _told(group: Sequence[Playthrough], tolerance: float | None, where: str) -> str:
    """Describe a map: whose ways it shows, how often the player won and died, and which playthroughs they are."""
    ends = Counter(r.final for r in group)
    told = enumerated([f"{word} {ends[end]}" for end, word in ENDED.items() if ends[end]])
    drawn = "" if tolerance is None else f"; {routes.shown(group, tolerance)}"
    return f"{group[0].player}{where}: {told} of {counted(len(group), 'playthrough')}{drawn}"


ENDED = {"won": "won", "lost": "died in", "unfinished": "did not finish", "stuck": "stood still in", "ended": "ended"}
"""How playthroughs end, for captions."""


def _replays(
    names: Names, game: Game, level: Level, group: list[Playthrough], baseline: list[Playthrough]
) -> Iterator[_Wanted]:
    """Yield the median, best and worst playthroughs and the baseline's median one."""
    chosen = list(replay.worth_watching(group))
    if baseline:
        chosen.append((replay.choose(baseline).median, ["baseline"], "baseline, median"))
    for record, (name, *_), words in chosen:
        path = names.file(level.name, record.player, name, suffix=".gif")
        picture = Picture(level.name, "replay", path, replay.caption(game, level, record, words))
        yield _Wanted(picture, ReplayDrawing([record], str(path)), group[0].player)
