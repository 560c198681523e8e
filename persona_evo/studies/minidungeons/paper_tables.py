"""The publication's tables with our numbers beside those published."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.intervals import Interval, mean_interval
from persona_evo.playtest.metrics import grouped
from persona_evo.report.tables import Table
from persona_evo.studies.minidungeons import results
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED, PublishedRow
from persona_evo.studies.minidungeons.results import Difference, PersonaPair, ScoreCell
from persona_evo.words import counted, percent

NONE = "–"
"""The text for a value that is unknown or does not exist."""


def table2(m: DungeonResults, scores: Sequence[ScoreCell]) -> Table:
    """Return table II; each cell is "paper | here | limit"."""
    rows: list[list[str]] = []
    names = [p.name for p in m.personas]
    by_key = {(s.kind, s.row.key, s.persona): s for s in scores}
    for kind, word in ((EVOLVED, "Evolved"), (BASELINE, "Baseline")):
        rows.append([word, *([""] * len(names))])
        for row in (*m.published.rows, *results.MORE_ROWS):
            label = row.short + (" (%)" if results.is_share(row.key) else "")
            rows.append([label, *(_score(by_key[kind, row.key, name]) for name in names)])
    notes = [
        "paper | here | at the end of the best plan; means ± half the 95 % interval over all playthroughs of all maps "
        "(Student's, of win rates Wilson's)",
        "not a limit in itself but for the utility: another plan may have more of a single metric",
        *(["? best known, not proven"] if any(s.limit is not None and not s.proven for s in scores) else []),
        "the paper's time is that of a search of at most 300 s; here the budget is one of iterations",
    ]
    return Table(f"Average scores, {setting(m)}", ["Metric", *short_names(m)], rows, notes)


def _score(s: ScoreCell) -> str:
    paper = NONE if s.paper is None else f"{s.paper[0]:g} ± {s.paper[1]:g}"
    if s.limit is None:
        limit = NONE
    else:
        limit = f"{s.limit:.3f}" if s.row.key == "utility" else f"{s.limit:.1f}"
        limit += "" if s.proven else "?"
    return f"{paper} | {_shown(s.row, s.here)} | {limit}"


def _shown(row: PublishedRow, value: Interval) -> str:
    if row.key == "seconds":
        digits = 1 if value.value >= 10 else 3
    else:
        digits = 3 if row.key == "utility" else 1
    return value.text(digits)


def table3(m: DungeonResults, cells: Sequence[Difference]) -> Table:
    """Return table III; each cell is "paper | here"."""
    by_key = {(c.row.key, c.persona): c for c in cells}
    rows = []
    for row in m.published.rows:
        line = [row.name]
        for persona in m.personas:
            c = by_key[row.key, persona.name]
            line += [f"{c.paper[k]} | {c.here[k]}" for k in (0, 1)]
        rows.append(line)
    heads = [f"{short} {side}" for short in short_names(m) for side in ("E", "B")]
    note = (
        f"paper (of {counted(len(m.published.maps), 'map')}) | here (of {len(m.levels)}); E: significantly higher for "
        "the evolved persona, B: for the baseline of the same type (t tests with unequal variances, p < 0.05, not "
        "corrected; Fisher's exact test where neither side varies)"
    )
    return Table("Maps in which a metric is significantly higher", ["Metric", *heads], rows, [note])


def table4(m: DungeonResults, pairs: Sequence[PersonaPair], row: PublishedRow) -> Table:
    """Return one block of table IV; each cell is "paper | here"."""
    by_key = {(c.kind, c.persona, c.other): c for c in pairs if c.row.key == row.key}
    rows = []
    for a in m.personas:
        line = [a.short]
        for kind in (EVOLVED, BASELINE):
            for b in m.personas:
                c = by_key.get((kind, a.name, b.name))
                line.append(NONE if c is None else f"{'?' if c.paper is None else c.paper} | {c.here}")
        rows.append(line)
    heads = [*short_names(m), *(f"{short} B" for short in short_names(m))]
    unknown = any(c.paper is None for c in by_key.values())
    note = "paper | here; maps in which the row's persona is significantly higher than the column's, B: baselines"
    return Table(row.name, ["", *heads], rows, [note + ("; ? not legible in the paper's text" if unknown else "")])


def played_table(m: DungeonResults) -> Table:
    """Return a table of wins, steps and times of every player."""
    rows = []
    for label in (p.label for p in m.played.players):
        own = [r for r in m.played.records if r.player == label]
        won = [r for r in own if r.won]
        seconds, steps = mean_interval([r.seconds for r in own]), mean_interval([float(r.steps) for r in own])
        won_seconds = f"{sum(r.seconds for r in won) / len(won):.3f}" if won else NONE
        rows.append(
            [
                label,
                f"{len(won)} of {len(own)}",
                str(sum(r.lost for r in own)),
                steps.text(1),
                seconds.text(3),
                won_seconds,
                f"{sum(r.seconds for r in own):.1f}",
                f"{sum(r.iterations for r in own) / len(own):.0f}",
                f"{sum(r.nodes for r in own) / len(own):.0f}",
            ]
        )
    heads = ["player", "wins", "deaths", "steps", "seconds", "seconds of wins", "seconds of all", "iterations", "nodes"]
    note = "seconds: of the search, on one core; iterations and nodes: means"
    return Table("Wins, steps and time", heads, rows, [note])


def extremes_table(m: DungeonResults) -> Table:
    """Return a table of the maps in which each evolved persona reaches the most and the least of its own metric."""
    groups, rows = grouped(m.played.records), []
    for persona in m.personas:
        own = {level.name: groups[level.name, m.evolved[persona.name]] for level in m.levels}
        means = {name: results.mean_of(group, "utility").value for name, group in own.items()}
        row = [results.title(m, persona.name)]
        for name in (max(means, key=lambda n: means[n]), min(means, key=lambda n: means[n])):
            row += [
                name,
                f"{means[name]:.3f}",
                percent(results.mean_of(own[name], "win_rate").value),
            ]
        rows.append(row)
    heads = ["persona", "best map", "utility", "win rate", "worst map", "its utility", "its win rate"]
    return Table("Best and worst maps", heads, rows, ["by the mean utility of the evolved persona"], keys=1)


def setting(m: DungeonResults) -> str:
    return f"{counted(m.settings.trials, 'playthrough')} of each player in each of {counted(len(m.levels), 'level')}"


def short_names(m: DungeonResults) -> list[str]:
    return [p.short for p in m.personas]
