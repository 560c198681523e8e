"""Puts comparisons between players into sentences: who is above whom, by how much, and in how many levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from persona_evo.playtest.compare import ComparisonRow, shown, spoken
from persona_evo.playtest.compare_versions import in_doubt, values
from persona_evo.playtest.metrics import CLOCK, Measure
from persona_evo.words import capital, counted, enumerated

MOST_PAIRS = 4
"""Maximum number of pairs of players that a sentence names."""


def sentences(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return one sentence for each measure in which players differ, the game's main measures first.

    Args:
        rows: the rows of `compare.between_players`; only what is significant after correction, or proven, counts.
    """
    groups: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        groups.setdefault(row.measure.key, []).append(row)
    measured = sorted(groups.values(), key=lambda own: not (own[0].measure.rate or own[0].measure.main))
    told = [text for own in measured if own[0].measure.key != CLOCK and (text := _sentence(own))]
    alike = [own for own in measured if own[0].measure.key != CLOCK and not _sentence(own)]
    if not alike:
        return told
    told.append(f"No difference was shown in {enumerated([own[0].measure.name for own in alike])}.")
    unsure = [row for own in alike for row in own if in_doubt(row)]
    if unsure:
        near = min(unsure, key=lambda row: row.p)
        names, where = f"{spoken(near.player_a)} and {spoken(near.player_b)}", f" in {near.level}"
        told.append(f"Nearest to one is {near.measure.name} of {names}{where}: {values(near)}{in_doubt(near)}.")
    return told


def _sentence(rows: Sequence[ComparisonRow]) -> str:
    """Describe one measure; "" if no players differ in it."""
    levels = len({r.level for r in rows})
    pairs: dict[tuple[str, str], list[ComparisonRow]] = {}
    for row in filter(ComparisonRow.differs, rows):
        above = (row.player_a, row.player_b) if row.higher == "a" else (row.player_b, row.player_a)
        pairs.setdefault(above, []).append(row)
    ordered = sorted(pairs.items(), key=lambda pair: (-len(pair[1]), -max(abs(r.difference.value) for r in pair[1])))
    said = [f"{spoken(high)} above {spoken(low)} {_by(own, levels)}" for (high, low), own in ordered]
    more = f"; and {counted(len(said) - MOST_PAIRS, 'more pair')}" if len(said) > MOST_PAIRS else ""
    return f"{capital(rows[0].measure.name)}: {'; '.join(said[:MOST_PAIRS])}{more}." if said else ""


def _by(rows: Sequence[ComparisonRow], levels: int) -> str:
    """State by how much one player is above another, and where."""
    if len(rows) > 1:
        gaps = sorted(abs(r.difference.value) for r in rows)
        return f"in {len(rows)} of {levels} levels, by {_span(rows[0].measure, gaps[0], gaps[-1])}"
    (row,) = rows
    where = f" in {row.level}" if levels > 1 else ""
    change = row.difference
    if row.exact:
        return f"by {_gap(row.measure, abs(change.value))}{where} (proven)"
    ends = sorted((change.low, change.high)) if change.value >= 0 else sorted((-change.high, -change.low))
    return f"by {_gap(row.measure, abs(change.value))}{where} (95 % interval {_span(row.measure, *ends)})"


def _gap(measure: Measure, value: float) -> str:
    """Format a difference: "20 points" for shares, else the value with its unit."""
    return counted(round(value * 100), "point") if measure.ratio else shown(measure, value)


def _span(measure: Measure, low: float, high: float) -> str:
    """Format a range of differences."""
    if low == high:
        return _gap(measure, low)
    first = f"{low * 100:.0f}" if measure.ratio else shown(replace(measure, unit=""), low)
    return f"{first} to {_gap(measure, high)}"
