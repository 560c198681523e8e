"""The size of the differences in table III, and the value of their directions alone.

A measure of a persona is compared map by map: the mean of the evolved player's playthroughs minus the baseline's mean.
Playthroughs of one map are not independent of each other, so the interval is over maps: a map is one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from persona_evo.intervals import Interval, mean_interval, vargha_delaney
from persona_evo.playtest.metrics import grouped
from persona_evo.report.tables import Table
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.paper_tables import short_names
from persona_evo.studies.minidungeons.published import PublishedRow
from persona_evo.studies.minidungeons.results import Difference, is_share, sign, value_of
from persona_evo.words import counted, percent


@dataclass(frozen=True)
class Magnitude:
    """The difference between an evolved persona and its baseline in a measure.

    Attributes:
        row, persona: the cell of table III.
        difference: evolved minus baseline, the mean over maps with its 95 % interval over maps; shares in percent.
        effect: mean over maps of Vargha and Delaney's A: the probability that a playthrough of the evolved persona has
            the higher value.
    """

    row: PublishedRow
    persona: str
    difference: Interval
    effect: float


def magnitudes(m: DungeonResults) -> list[Magnitude]:
    """Return the magnitudes of the cells of table III, in their order."""
    groups = grouped(m.played.records)
    found = []
    for row in m.published.rows:
        take, factor = value_of(row.key), 100.0 if is_share(row.key) else 1.0
        for persona in m.personas:
            changes, effects = [], []
            for level in m.levels:
                a, b = (
                    [take(r) for r in groups[level.name, label]]
                    for label in (m.evolved[persona.name], m.baseline[persona.name])
                )
                changes.append(factor * (fsum(a) / len(a) - fsum(b) / len(b)))
                effects.append(vargha_delaney(a, b).value)
            change = mean_interval(changes)
            if is_share(row.key):
                change = change.within(-factor, factor)
            found.append(Magnitude(row, persona.name, change, fsum(effects) / len(effects)))
    return found


def magnitude_table(m: DungeonResults, found: Sequence[Magnitude]) -> Table:
    """Return a table of the magnitudes with measures as rows and personas as columns."""
    by_key = {(one.row.key, one.persona): one for one in found}
    rows = [
        [row.short + (" (points)" if is_share(row.key) else ""), *(_cell(by_key[row.key, p.name]) for p in m.personas)]
        for row in m.published.rows
    ]
    note = (
        "evolved less UCB1, mean over maps (95 % interval over maps, each map one value), and A: how likely a "
        "playthrough of the evolved persona has more than one with UCB1, 50 % where neither tends to"
    )
    return Table("How large the differences are", ["Metric", *short_names(m)], rows, [note])


def magnitude_rows(found: Sequence[Magnitude]) -> list[dict[str, object]]:
    """Return the magnitudes as rows of a CSV file."""
    return [
        {
            "measure": one.row.key,
            "persona": one.persona,
            "difference": one.difference.value,
            "low": one.difference.ends[0],
            "high": one.difference.ends[1],
            "maps": one.difference.n,
            "effect": one.effect,
        }
        for one in found
    ]


def _cell(one: Magnitude) -> str:
    d, digits = one.difference, 1 if is_share(one.row.key) else 3
    ends = f" ({d.low:.{digits}f} to {d.high:.{digits}f})" if d.known else ""
    return f"{d.value:+.{digits}f}{ends}, A {percent(one.effect)}"


def direction_words(cells: Sequence[Difference]) -> list[str]:
    """Return sentences on the value of an agreement of directions.

    They say how many directions a rule finds that knows nothing of this study, and how far the numbers of maps differ.
    """
    decided = [c for c in cells if sign(c.paper)]
    if not decided:
        return []
    same = sum(sign(c.here) == sign(c.paper) for c in decided)
    rule = sum(sign(c.paper) == (-1 if c.row.lower else 1) for c in decided)
    apart = [abs((c.here[0] - c.here[1]) / c.levels - _share(c)) for c in cells if c.levels]
    nothing = [abs(_share(c)) for c in cells if c.levels]
    verdict = "no more than" if same <= rule else "more than"
    return [
        f'Directions alone say little: the rule "evolved has more of everything and is faster" has {rule} of these '
        f"{counted(len(decided), 'direction')} right, and chance half of them; {same} are {verdict} the rule has",
        f"Magnitudes: the share of maps above less that of maps below is {100 * fsum(apart) / len(apart):.0f} points "
        f"from the paper's in the mean of {counted(len(apart), 'comparison')}; without any difference here it would be "
        f"{100 * fsum(nothing) / len(nothing):.0f} points from it",
    ]


def _share(c: Difference) -> float:
    """Return the number of maps above minus that of maps below in the paper, as a share of its maps."""
    return (c.paper[0] - c.paper[1]) / c.maps
