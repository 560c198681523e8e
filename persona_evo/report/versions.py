"""The part of a page on two versions of a level, A and B: the answer, the tiles that changed, and charts of both.

A has one colour throughout and B another, and no number is a mean over both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Spot
from persona_evo.playtest.answer import Answer, telling
from persona_evo.playtest.compare import ComparisonRow, spoken
from persona_evo.playtest.compare_versions import headlines
from persona_evo.playtest.metrics import grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.versions import Changes
from persona_evo.report import charts, maps, pages, replay, tables
from persona_evo.report.pages import Block, Figure, Folded, Gallery, Heading, Lines, Section, Svg

LETTERS = ("A", "B")

MOST_CHARTS = 6
"""Maximum number of measures with a chart; the table has all."""

COLOURS = ("#0072b2", "#d55e00")
"""Colours of A and B on maps, the first two colours of charts."""


@dataclass(frozen=True)
class Versions:
    """A comparison as a page shows it.

    Attributes:
        answer: the differences in words.
        rows: everything that was compared.
        changes: the tiles that changed.
        maps: both maps with these tiles marked; empty if there are none.
        health: a chart of hit points over turns for each player.
    """

    answer: Answer
    rows: Sequence[ComparisonRow]
    changes: Changes
    maps: Sequence[Figure] = ()
    health: Sequence[charts.Plot] = ()


def section(versions: Versions, pairs: Iterable[Sequence[Figure]], legend: Block | None) -> Section:
    """Create the first section of the page.

    Args:
        versions: the comparison.
        pairs: maps of A and of B, for each player.
        legend: the meaning of the signs on these maps.
    """
    galleries = [Gallery("pair", pair) for pair in pairs]
    return Section(
        "versions",
        "What differs",
        [
            Lines(map(typeset, versions.answer.lines)),
            Heading("Changed tiles") if versions.maps else None,
            Gallery("pair", versions.maps),
            Heading("What players do") if any(map(telling, versions.rows)) else None,
            Gallery("chart", [Svg(chart) for chart in measure_charts(versions.rows)]),
            Heading("Where players go") if galleries else None,
            *galleries,
            legend if galleries else None,
            Gallery("chart", [Svg(chart) for chart in versions.health]),
            Folded("All measures, one by one", [tables.comparison_table(versions.rows, "A and B")]),
            Folded("All measures in words", [Lines(map(typeset, headlines(versions.rows)))]),
        ],
    )


def typeset(line: str) -> str:
    """Return a line of an answer as a page shows it: arrows instead of ->, and no option of the command line."""
    return line.replace(" -> ", " → ").replace(" (--all)", " (below)")


def changed_maps(game: Game, a: Level, b: Level, changes: Changes, paths: tuple[Path, Path]) -> list[Figure]:
    """Draw both maps with the changed tiles marked; none if the levels are not maps, or are the same."""
    if not changes.tiles:
        return []
    dx, dy = changes.offset
    found = []
    for side, (level, path) in enumerate(zip((a, b), paths, strict=True)):
        rows = changes.rows[side]
        high, wide = len(rows), len(rows[0])
        if max(wide, high) > maps.MOST_TILES:
            return []
        shift = (dx, dy) if side == 0 else (0, 0)
        places = [(t.place[0] - shift[0], t.place[1] - shift[1]) for t in changes.tiles]
        _draw(game, level, (wide, high), places, COLOURS[side], path)
        caption = f"{LETTERS[side]} = {level.name}: changed tiles are framed"
        found.append(Figure(path, caption, round(pages.width_of(path) * maps.SHOWN), enlarge=True))
    return found


def _draw(game: Game, level: Level, size: Spot, places: Sequence[Spot], colour: str, path: Path) -> None:
    sheet = maps.Sheet(game, level, *size)
    sheet.frame(places, colour, 5)
    sheet.save(path)


def health_charts(records: Sequence[Playthrough], levels: Sequence[str], players: Sequence[str]) -> list[charts.Plot]:
    """Plot hit points over turns in each player's median playthrough, A and B in one chart."""
    groups, found = grouped(records), []
    for player in players:
        own = [groups.get((level, player), []) for level in levels]
        if all(group and group[0].hit_points for group in own):
            series = [_health(letter, group) for letter, group in zip(LETTERS, own, strict=True)]
            found.append(
                charts.Plot(
                    series,
                    charts.Axis("turn", low=0, whole=True),
                    charts.Axis("hit points", low=0, whole=True),
                    title=f"{spoken(player)}: the median playthrough",
                    width=380,
                    height=220,
                )
            )
    return found


def _health(letter: str, group: Sequence[Playthrough]) -> charts.Series:
    record = replay.choose(group).median
    return charts.Series(
        letter,
        list(enumerate(record.hit_points)),
        "steps",
        LETTERS.index(letter),
        end="skull" if record.lost else "dot",
    )


def measure_charts(rows: Sequence[ComparisonRow]) -> list[charts.Plot]:
    """Plot A and B for the measures that differ for any player (columns), those that the answer begins with first."""
    keys = list(dict.fromkeys(r.measure.key for r in rows if telling(r)))
    chosen = [[r for r in rows if r.measure.key == key] for key in keys[:MOST_CHARTS]]
    return [measure_chart(own, own[0].measure.name, [spoken(r.player_a) for r in own]) for own in chosen]


def measure_chart(rows: Sequence[ComparisonRow], title: str, names: Sequence[str]) -> charts.Plot:
    """Plot A and B with their intervals, side by side, for some rows of one measure; `names` are those of the rows."""
    measure, factor = rows[0].measure, 100 if rows[0].measure.ratio else 1
    series = []
    for side, letter in enumerate(LETTERS):
        values = [(k + (side - 0.5) / 4, (r.a, r.b)[side]) for k, r in enumerate(rows)]
        series.append(
            charts.Series(
                letter,
                [(x, v.value * factor) for x, v in values],
                "dots",
                side,
                spans=[(x, v.low * factor, v.high * factor) for x, v in values if v.known and v.low < v.high],
            )
        )
    up = charts.Axis(
        "%" if measure.ratio else measure.unit,
        low=0 if measure.low >= 0 or measure.rate else None,
        high=100 if measure.rate else None,
    )
    across = charts.Axis(names=names)
    return charts.Plot(series, across, up, title=title, width=max(300, 70 + 85 * len(rows)), height=230)
