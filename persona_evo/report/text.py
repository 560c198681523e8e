"""What a playtest found, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.findings import Finding
from persona_evo.playtest.metrics import EVERY
from persona_evo.report import tables
from persona_evo.report.duels import standings_table
from persona_evo.report.tables import Table
from persona_evo.words import counted

NOTICES = 15
"""Most notices in a text; problems are all there."""


def summary_text(analysis: Analysis, width: int | None = None) -> str:
    """Findings, tables and requirements for a terminal of `width` columns (its own width if not given)."""
    levels = list(dict.fromkeys(s.level for s in analysis.summaries if s.level != EVERY))
    whole = EVERY if len(levels) > 1 else levels[0]
    shown = [tables.summary_table(analysis.summaries, analysis.infos, whole, brief=True)]
    if analysis.standings:
        shown.append(standings_table(analysis.standings))
    if len(levels) > 1:
        shown.append(level_table(analysis))
        if analysis.baseline:
            shown.append(tables.counts_table(analysis.baseline))
    parts = ["findings\n" + _findings(analysis.findings), *(table.render(width) for table in shown)]
    if analysis.checks:
        parts.append(tables.check_table(analysis.checks).render(width))
    return "\n\n".join(parts)


def _findings(findings: Sequence[Finding]) -> str:
    """All problems, and as many notices as are read."""
    problems = [f for f in findings if f.severity == "problem"]
    notices = [f for f in findings if f.severity != "problem"]
    text = tables.findings_text([*problems, *notices[:NOTICES]])
    rest = len(notices) - NOTICES
    return text + (f"\n... and {counted(rest, 'more notice')}, on the page and in findings.csv" if rest > 0 else "")


def level_table(analysis: Analysis) -> Table:
    """Win rate (where an end can count as won), mean utility and its limit for each player, a level a line."""
    players = list(dict.fromkeys(s.player for s in analysis.summaries))
    levels = list(dict.fromkeys(s.level for s in analysis.summaries if s.level != EVERY))
    cells: dict[tuple[str, str], str] = {}
    for s in analysis.summaries:
        limit = "" if s.bound is None else f" of {s.bound.utility:.3f}{'' if s.bound.proven else '?'}"
        rate = f"{s.win_rate.value * 100:.0f} %  " if s.wins else ""
        cells[s.level, s.player] = f"{rate}{s.utility.value:.3f}{limit}{' *' if s.utility.note else ''}"
    rows = [[level, *(cells.get((level, p), "–") for p in players)] for level in levels]
    bounds = [s.bound for s in analysis.summaries if s.bound is not None]
    note = "win rate, " if any(s.wins for s in analysis.summaries) else ""
    note += "mean utility" + (" and its limit" if bounds else "")
    note += "; ? is best known and not proven" if any(not b.proven for b in bounds) else ""
    note += "; * proven, one search" if any(s.utility.note for s in analysis.summaries) else ""
    return Table("level by level", ["", *players], rows, [note])
