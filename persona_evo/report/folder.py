"""A folder with everything a playtest found: traces, tables, pictures, replays and the page.

| file | what |
|---|---|
| index.html | the page, complete in itself unless the pictures are very many (see EMBED) |
| traces.jsonl | every playthrough |
| playthroughs.csv | every playthrough as one row |
| difficulty.csv | win rate, death rate and damage by level, persona and level of skill |
| health.csv | hit points by level, player and turn |
| duels.csv | games for two: by level, player, opponent and side |
| summary.csv, comparison.csv, players.csv, correlations.csv, structure.csv, findings.csv | the tables |
| pictures/ | charts, heatmaps (PNG) and replays (GIF), named by level and player |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from persona_evo.errors import VerificationError
from persona_evo.games.core import Game, Level, closing_outside
from persona_evo.playtest import routes
from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.compare import Row
from persona_evo.playtest.metrics import EVERY, grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.records import write as write_records
from persona_evo.playtest.skill import Health, health
from persona_evo.report import duels, plots, replay, skill, tables
from persona_evo.report.page import Page, Picture
from persona_evo.report.page import write as write_page
from persona_evo.words import counted

Progress = Callable[[str], None]


EMBED = 16_000_000
"""Pictures of more bytes than this together are named by the page and not put into it."""


@dataclass
class Written:
    """What was written. notes: what could not be shown, and why."""

    page: Path
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Names:
    """Files in a folder, named by levels and players: safe on every system, and no two alike, whatever the case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._used: set[str] = set()

    def file(self, *parts: str, suffix: str) -> Path:
        """A new file, such as `map01-runner-best.gif`."""
        stem = "-".join(re.sub(r"[^\w.+]+", "_", part).strip("._") or "_" for part in parts)[:100]
        name, number = stem, 1
        while name.lower() + suffix in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name.lower() + suffix)
        return self.folder / (name + suffix)


def write(
    folder: Path | str,
    game: Game,
    levels: Iterable[Level],
    analysis: Analysis,
    *,
    title: str = "Playtest",
    facts: Mapping[str, str] | None = None,
    versions: Sequence[Row] = (),
    replays: bool = True,
    progress: Progress | None = None,
) -> Written:
    """Write the folder, which is made if it does not exist; files of the same names are written anew.

    facts: how the playtest was made (seed, budget, versions). versions: rows of a comparison of the two levels, which
    the page begins with. replays: also the animated replays, which are most of the size. progress: told what is being
    drawn.
    """
    folder = Path(folder)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    write_records(folder / "traces.jsonl", analysis.records)
    write_tables(folder, analysis)
    if versions:
        tables.write_csv(folder / "comparison.csv", tables.comparison_rows(versions))
    written = Written(folder / "index.html")
    names = Names(folder / "pictures")
    _charts(names, analysis, written, progress)
    with closing_outside(game):  # where states of a connected game are drawn, it is asked for them
        _levels(names, game, {level.name: level for level in levels}, analysis, written, replays, progress,
                bool(versions))  # fmt: skip
    played = counted(len(analysis.records), "game" if analysis.standings else "playthrough")
    page = Page(
        title=title,
        subtitle=f"{game.title}: {played} of {counted(len({r.level for r in analysis.records}), 'level')}",
        summaries=analysis.summaries, infos=analysis.infos, standings=analysis.standings, findings=analysis.findings,
        checks=analysis.checks, pictures=written.pictures, baseline=analysis.baseline, players=analysis.players,
        versions=versions,
        correlations=analysis.correlations, facts=facts or {}, notes=written.notes, routes=routes.by_level(analysis),
        steps=analysis.steps, agreements=analysis.agreements,
    )  # fmt: skip
    write_page(page, written.page, embed=sum(p.path.stat().st_size for p in written.pictures) <= EMBED)
    return written


def write_tables(folder: Path | str, analysis: Analysis) -> list[Path]:
    """The CSV files alone; tables without rows are left out."""
    folder = Path(folder)
    found = [
        {"severity": f.severity, "kind": f.kind, "level": f.level, "text": f.text, **f.numbers}
        for f in analysis.findings
    ]
    content = {
        "playthroughs": tables.record_rows(analysis.records),
        "duels": duels.standing_rows(analysis.standings),
        "difficulty": skill.difficulty_rows(analysis.steps),
        "health": skill.health_rows(health(analysis.records)),
        "summary": tables.summary_rows(analysis.summaries),
        "comparison": tables.comparison_rows(analysis.baseline),
        "players": tables.comparison_rows(analysis.players),
        "correlations": tables.correlation_rows(analysis.correlations),
        "structure": [{"level": name, **numbers} for name, numbers in analysis.structure.items()],
        "findings": found,
    }
    paths = []
    for name, rows in content.items():
        if rows:
            paths.append(folder / f"{name}.csv")
            tables.write_csv(paths[-1], rows)
    return paths


def _charts(names: Names, analysis: Analysis, written: Written, progress: Progress | None) -> None:
    levels = list(dict.fromkeys(s.level for s in analysis.summaries if s.level != EVERY))
    if len(levels) > 1:
        _tell(progress, "charts")
        if analysis.steps:
            chart = skill.difficulty_chart(analysis.steps, names.file("difficulty", suffix=".png"))
            if chart is not None:
                written.pictures.append(Picture(EVERY, "chart", chart, f"Win rates by skill; {skill.SIMULATED}"))
        if any(s.wins for s in analysis.summaries):
            path = plots.win_rates(analysis.summaries, names.file("win_rates", suffix=".png"))
            written.pictures.append(Picture(EVERY, "chart", path, "Win rates with 95 % intervals"))
    for name in [*([EVERY] if len(levels) > 1 else []), *levels]:
        title = "all levels" if name == EVERY else name
        path = names.file("metrics", title, suffix=".png")
        plots.metric_bars(analysis.summaries, path, analysis.infos, name)
        written.pictures.append(Picture(name, "chart", path, f"Metrics in {title}, means with 95 % intervals"))
    points: list[Health] = health(analysis.records) if analysis.steps else []
    for name in levels:
        chart = skill.health_chart(points, name, names.file("health", name, suffix=".png"))
        if chart is not None:
            words = "Hit points over the turns: mean, and the range from the 10 % to the 90 % quantile"
            written.pictures.append(Picture(name, "chart", chart, words))


def _levels(
    names: Names, game: Game, levels: Mapping[str, Level], analysis: Analysis, written: Written, replays: bool,
    progress: Progress | None, compared: bool = False,
) -> None:  # fmt: skip
    """Heatmaps and replays of each persona in each level that is at hand; compared: with the same colours in all."""
    for (name, player), group in grouped(analysis.records).items():
        level = levels.get(name)
        if player not in analysis.personas or level is None:
            continue
        _tell(progress, f"{name}: {player}")
        why = plots.skipped(game, level, group)
        if why:
            written.notes += [why] if why not in written.notes else []
        else:
            high = plots.most_visits(game, _walked(levels, analysis.records, player)) if compared else None
            path = plots.heatmap(game, level, group, names.file(name, player, suffix=".png"), high=high)
            if path is not None:
                tolerance = analysis.tolerances.get(player)
                times = counted(len(group), "playthrough") if tolerance is None else routes.shown(group, tolerance)
                text = f"{player}{f' in {name}' if compared else ''}: where it walks, {times}"
                written.pictures.append(Picture(name, "heatmap", path, text))
        if replays:
            _replays(names, game, level, group, written)


def _walked(
    levels: Mapping[str, Level], records: Iterable[Playthrough], player: str
) -> list[tuple[Level, list[Playthrough]]]:
    """The playthroughs of a player, level by level."""
    groups = grouped(records).items()
    return [(levels[name], group) for (name, who), group in groups if who == player and name in levels]


def _replays(names: Names, game: Game, level: Level, group: list[Playthrough], written: Written) -> None:
    """The median playthrough and the best one; once where they are the same actions."""
    median, best = replay.choose(group)
    same = median.actions == best.actions
    wanted = [("median and best", best)] if same else [("median", median), ("best", best)]
    for word, record in wanted:
        try:
            pictures = replay.frames(game, level, record) if record.actions else None
        except VerificationError as e:
            written.notes.append(f"no replay: {e}")
            continue
        if pictures is None:
            why = f"no replays: {game.title} does not draw its states, or there are no actions"
            written.notes += [why] if why not in written.notes else []
            continue
        path = names.file(level.name, record.player, word.split()[0], suffix=".gif")
        replay.save_gif(pictures, path)
        text = _caption(game, level, record, word)
        written.pictures.append(Picture(level.name, "replay", path, text))


def _caption(game: Game, level: Level, record: Playthrough, word: str) -> str:
    """What a replay shows: who, by which colour where there are two, and how it ended."""
    found = duels.labels(game, level, record, getattr(plots.drawing(game), "PLAYERS", ()))
    steps = counted(record.steps, "move" if found else "step")
    ended = record.result or ("" if record.open else record.outcome)
    how = f"{ended} in {steps}" if ended else f"not over after {steps}"
    return f"{duels.in_words(found) if found else record.player}, {word}: {how}, utility {record.utility:.3f}"


def _tell(progress: Progress | None, text: str) -> None:
    if progress is not None:
        progress(text)
