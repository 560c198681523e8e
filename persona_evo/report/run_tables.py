"""Runs as text for a terminal: a list, the progress of one run, its findings, and the changes between two.

Lists and progress import nothing slow; the findings of a run are read by the modules of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.report.layout import clean, columns, terminal_width
from persona_evo.report.layout import table as laid_out
from persona_evo.words import counted, duration, percent, plural

if TYPE_CHECKING:
    from persona_evo.playtest.analysis import Analysis
    from persona_evo.playtest.changes import MeasureChange, PlaytestChanges
    from persona_evo.store.folders import RunEntry

_LEAST = 16
"""Minimum width of a list's last column; other columns are left out to make room for it."""

NEARLY = 1e-9


def listing(entries: Sequence[RunEntry], width: int | None = None) -> str:
    """Return one line per run; columns that do not fit the terminal are left out, and titles cut short."""
    room = width or terminal_width()
    rows = [
        [
            e.folder.as_posix(),
            e.kind,
            e.state,
            _done(e),
            _ago(e.started),
            "–" if e.seed is None else str(e.seed),
            size(e.size),
            e.problem or e.title,
        ]
        for e in entries
    ]
    heads = ["run", "kind", "state", "done", "started", "seed", "size", "about"]
    shown = list(range(len(heads)))
    for column in (5, 6, 4, 7, 1):  # seed, size, started, about, kind
        if _wide(rows, heads, shown) - 2 <= room:
            break
        shown.remove(column)
    short = [
        [
            _cut(row[7], max(_LEAST, room - _wide(rows, heads, [i for i in shown if i != 7])))
            if i == 7
            else clean(row[i])
            for i in shown
        ]
        for row in rows
    ]
    left = {shown.index(i) for i in (1, 2, 7) if i in shown}
    return laid_out("", [[heads[i] for i in shown], *short], [], left, 1, room)


def _wide(rows: Iterable[Sequence[str]], heads: Sequence[str], shown: Sequence[int]) -> int:
    """Return the minimum width of some columns of a table; the texts on what a run is about may be cut."""
    grid = [heads, *rows]
    wide = {i: max(columns(clean(row[i])) for row in grid) for i in shown}
    return sum((min(w, _LEAST) if i == 7 else w) + 2 for i, w in wide.items())


def _cut(text: str, width: int) -> str:
    text = clean(text)
    if columns(text) <= width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _done(entry: RunEntry) -> str:
    if entry.state == "unreadable":
        return "–"
    return f"{entry.done}/{entry.total}" if entry.total is not None else str(entry.done)


def _ago(moment: datetime) -> str:
    """Describe how long ago something happened."""
    seconds = (datetime.now(UTC) - moment).total_seconds()
    days = int(seconds // 86400)
    return f"{counted(days, 'day')} ago" if days > 1 else f"{duration(seconds)} ago"


def size(size: int) -> str:
    """Format a number of bytes for display."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return counted(size, "byte")


def facts(entry: RunEntry) -> str:
    """Describe a run in a few lines: what it is, its progress, and how long it takes."""
    total = "" if entry.total is None else f" of {entry.total:,}"
    share = f", {percent(entry.done / entry.total)}" if entry.total else ""
    done = f"{entry.done:,}{total} {plural(entry.total or entry.done, entry.unit)}{share}"
    state: str = entry.state
    if entry.state == "running":
        state += f" (process {entry.pid} on {entry.host})"
    rows = [
        ("run", entry.folder.as_posix()),
        ("kind", f"{entry.kind}{f', {entry.game}' if entry.game else ''}"),
        ("about", entry.title),
        ("state", f"{state}{f', {entry.phase}' if entry.phase and entry.state != 'complete' else ''}"),
        ("done", done),
        ("to go", "" if entry.eta is None else duration(entry.eta)),
        ("last", entry.last),
        ("started", f"{entry.started:%Y-%m-%d %H:%M:%S} UTC, {_ago(entry.started)}"),
        ("seed", "" if entry.seed is None else str(entry.seed)),
        ("size", size(entry.size)),
    ]
    return "\n".join(clean(f"{name:<9} {text}") for name, text in rows if text)


def match(folder: Path) -> str:
    """Return the current standings of a match."""
    from persona_evo.matches.reopening import reopen
    from persona_evo.report import match_tables

    kept = reopen(folder)
    if not kept.records:
        return "no games yet"
    seed = 0  # affects only the resampling; two decimals are shown
    tables = match_tables.shown(kept.records, kept.agents, [level.name for level in kept.levels], seed)
    return "\n\n".join(table.render(terminal_width()) for table in tables)


def experiment(folder: Path) -> str:
    """Return the current best scores of an experiment."""
    from persona_evo.experiments import job
    from persona_evo.experiments.results import comparisons, summaries
    from persona_evo.report.experiment import summary_table

    made = job.reopen(folder)
    results = job.ExperimentResults(made, job.kept(folder, made), folder)
    if not results.records:
        return "no searches yet"
    sentences = [c.words() for c in comparisons(results)]
    table = summary_table([s for s in summaries(results) if s.n])
    return "\n\n".join([table.render(terminal_width()), "\n".join(sentences)]).rstrip()


def parts(folder: Path) -> str:
    """List the runs that a reproduction consists of."""
    from persona_evo.store import folders

    inside = folders.find([folder / "runs"])
    return listing(inside[::-1]) if inside else ""


def changed(changes: PlaytestChanges) -> str:
    """Describe the changes from A to B: findings, then win rates and utilities of each player."""
    lines = [*findings_lines(changes), ""]
    for title, rows in (("win rate", changes.rates), ("utility", changes.utilities)):
        several = len({c.level for c in rows}) > 1
        lines.append(f"{title}, A -> B")
        lines += [f"  {_who(c, several)}: {_change(c)}" for c in rows]
    return "\n".join(lines)


def findings_lines(changes: PlaytestChanges) -> list[str]:
    """List the findings that appeared and disappeared, one per line."""
    if not changes.findings:
        return ["findings: no change"]
    rows = [("+", "appeared", f) for f in changes.appeared] + [("-", "gone", f) for f in changes.gone]
    return [clean(f"{sign} {word:<8} {f.severity:<7} {f.level}: {f.text}") for sign, word, f in rows]


def rates_lines(changes: PlaytestChanges) -> list[str]:
    """List the win rates that changed."""
    moved = [c for c in changes.rates if abs(c.after - c.before) > NEARLY]
    if not moved:
        return ["win rates: no change"]
    several = len({c.level for c in changes.rates}) > 1
    return _rates([(c.level, f"{c.player} {_share(c.before)} -> {_share(c.after)}") for c in moved], several)


def _rates(rates: Sequence[tuple[str, str]], several: bool) -> list[str]:
    """List win rates given as (level, text): on one line, or one line per level if there are several."""
    levels: dict[str, list[str]] = {}
    for level, text in rates:
        levels.setdefault(level, []).append(text)
    return [clean(f"win rates{f' in {level}' if several else ''}: {', '.join(own)}") for level, own in levels.items()]


def _who(change: MeasureChange, several: bool) -> str:
    return f"{change.player} in {change.level}" if several else change.player


def _share(value: float) -> str:
    return f"{value * 100:.0f} %"


def _change(change: MeasureChange) -> str:
    """Format a change with its interval and its effect size."""
    rate = change.measure.rate
    pair = [_share(v) if rate else f"{v:.3g}" for v in (change.before, change.after)]
    text = " -> ".join(pair)
    if change.exact:
        return f"{text}, proven" if change.clear else f"{pair[1]} in both, proven"
    unit, factor = (" points", 100) if rate else ("", 1)
    low, high = change.change.low * factor, change.change.high * factor
    span = f"{low:+.0f} to {high:+.0f}" if rate else f"{low:+.3g} to {high:+.3g}"
    clear = "" if change.clear else ", no difference shown"
    sure = f" ({span}{unit})" if change.change.low < change.change.high else ""
    return f"{text}, by {change.change.value * factor:+.3g}{unit}{sure}, A = {change.effect.value:.2f}{clear}"


def standing_lines(analysis: Analysis) -> list[str]:
    """List all findings and win rates of a playtest."""
    found = [clean(f"* {f.severity:<7} {f.level}: {f.text}") for f in analysis.findings]
    return [*(found or ["findings: none"]), *standing_rates(analysis)]


def standing_rates(analysis: Analysis) -> list[str]:
    """List the win rates of a playtest."""
    from persona_evo.playtest.metrics import EVERY

    rows = [s for s in analysis.summaries if s.level != EVERY and s.wins]
    several = len({s.level for s in rows}) > 1
    return _rates([(s.level, f"{s.player} {_share(s.win_rate.value)}") for s in rows], several)
