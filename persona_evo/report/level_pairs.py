"""The part of a page on two versions of several levels: the answer, and the pairs one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from persona_evo.playtest.answer import Answer, telling
from persona_evo.playtest.compare import ComparisonRow, spoken
from persona_evo.playtest.compare_versions import headlines
from persona_evo.playtest.level_pairs import LevelPairs
from persona_evo.playtest.metrics import UTILITY
from persona_evo.report import charts, tables, versions
from persona_evo.report.pages import Folded, Gallery, Heading, Lines, Section, Svg, Text

MOST_CHARTS = 6
"""Maximum number of charts of pairs; the table has all."""

MOST_NAMED = 12
"""Maximum number of pairs whose chart names each pair."""

WIDTHS = 320, 55, 520
"""Widths of a chart of pairs in pixels: the smallest, that of a pair, and the largest."""


@dataclass(frozen=True)
class PairedVersions:
    """A comparison of several levels as a page shows it.

    Attributes:
        answer: the differences in words.
        rows: everything that was compared over all pairs.
        each: everything that was compared in each pair alone.
        pairs: the levels.
    """

    answer: Answer
    rows: Sequence[ComparisonRow]
    each: Sequence[ComparisonRow]
    pairs: LevelPairs


def section(paired: PairedVersions) -> Section:
    """Create the first section of the page."""
    drawn = [Svg(chart) for chart in _charts(paired)]
    return Section(
        "versions",
        "What differs",
        [
            Lines(map(versions.typeset, paired.answer.lines)),
            Text(
                "Each pair of levels counts once, as the playthroughs of one level are not independent of each other. "
                "Differences are tested by Wilcoxon's signed-rank test; intervals are for other levels of the kind."
            ),
            Heading("What players do, over all pairs") if any(map(telling, paired.rows)) else None,
            Gallery("chart", [Svg(chart) for chart in versions.measure_charts(paired.rows)]),
            Heading("Pair by pair") if drawn else None,
            Gallery("chart", drawn),
            Folded("All measures over all pairs", [tables.comparison_table(paired.rows, "A and B")]),
            Folded("All measures in words", [Lines(map(versions.typeset, headlines(paired.rows)))]),
            Folded("Each pair alone, all measures", [tables.comparison_table(paired.each, "A and B, pair by pair")]),
        ],
    )


def _charts(paired: PairedVersions) -> list[charts.Plot]:
    """Plot A and B pair by pair: each player's first measure that differs, or its utility."""
    found = []
    for player in dict.fromkeys(r.player_a for r in paired.rows):
        told = [r.measure.key for r in paired.rows if r.player_a == player and telling(r)]
        key = told[0] if told else UTILITY.key
        rows = [r for r in paired.each if r.player_a == player and r.measure.key == key]
        if rows:
            title = f"{spoken(player)}: {rows[0].measure.name}"
            found.append(replace(versions.measure_chart(rows, title, _names(paired.pairs)), width=_width(len(rows))))
    return found[:MOST_CHARTS]


def _width(count: int) -> int:
    least, each, most = WIDTHS
    return min(most, max(least, 70 + each * count))


def _names(pairs: LevelPairs) -> list[str]:
    """Return a short name for each pair: its seed, the name of A's level, or nothing if there are too many."""
    if len(pairs.names) > MOST_NAMED:
        return [""] * len(pairs.names)
    return [a[a.rfind("@") :] if pairs.by == "seed" else a.rpartition("/")[2] for a, _ in pairs.names]
