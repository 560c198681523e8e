"""Formats the results of a playtest as text for a terminal."""

from __future__ import annotations

from persona_evo.games.acceptance import no_longer
from persona_evo.games.findings import lines
from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import EVERY
from persona_evo.report import tables
from persona_evo.report.duels import standings_table
from persona_evo.report.skill import calibration_table, difficulty_tables
from persona_evo.report.tables import Table
from persona_evo.words import counted

NOTICES = 15
"""Maximum number of notices in a text, which lists all problems."""


def summary_text(analysis: Analysis, width: int | None = None) -> str:
    """Format findings, tables and requirements for a terminal of `width` columns (its own width if not given)."""
    levels = list(dict.fromkeys(s.level for s in analysis.summaries if s.level != EVERY))
    if not levels:
        return "no playthroughs yet"
    whole = EVERY if len(levels) > 1 else levels[0]
    shown = [tables.summary_table(analysis.summaries, analysis.infos, whole, brief=True)]
    if analysis.standings:
        shown.append(standings_table(analysis.standings))
    if len(levels) > 1:
        shown.append(level_table(analysis))
        if analysis.baseline:
            shown.append(tables.counts_table(analysis.baseline))
    shown += difficulty_tables(analysis.steps, brief=True, wins=any(s.wins for s in analysis.summaries))
    if analysis.agreements:
        shown.append(calibration_table(analysis.agreements))
    parts = [f"findings\n{_findings(analysis, width)}", *(table.render(width) for table in shown)]
    if analysis.checks:
        parts.append(tables.check_table(analysis.checks).render(width))
    return "\n\n".join(parts)


def _findings(analysis: Analysis, width: int | None) -> str:
    """Format all problems and the first notices, then accepted findings and those that no longer occur."""
    problems = [f for f in analysis.findings if f.severity == "problem"]
    notices = [f for f in analysis.findings if f.severity != "problem"]
    rest = len(notices) - NOTICES
    aside = [f"... and {counted(rest, 'more notice')}, on the page and in findings.csv"] if rest > 0 else []
    aside += [*lines((), analysis.accepted), *(no_longer(entry) for entry in analysis.gone)]
    text = tables.findings_text([*problems, *notices[:NOTICES]], width)
    return f"{text}\n{tables.told(aside, width)}" if aside else text


def level_table(analysis: Analysis) -> Table:
    """Tabulate each player's win rate (if an end can count as a win), mean utility and limit, one level per line."""
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
    note += "; ? marks a best known limit that is not proven" if any(not b.proven for b in bounds) else ""
    note += "; * proven, one search" if any(s.utility.note for s in analysis.summaries) else ""
    return Table("level by level", ["", *players], rows, [note])
