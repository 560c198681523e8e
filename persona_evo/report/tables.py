"""Results as plain text tables for terminals.

Columns are aligned by display width, so names in any script line up. If the output cannot show a sign such as
plus-minus, `put` writes plain ASCII instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from persona_evo.games.core import Metric
from persona_evo.games.findings import COORDINATES, Finding, lines
from persona_evo.intervals import Interval
from persona_evo.playtest.compare import ComparisonRow, counts, p_shown, shown, span
from persona_evo.playtest.correlations import CorrelationRow
from persona_evo.playtest.metrics import EVERY, FLAGS, UNBOUNDED, UNKNOWN_CAUSE, Measure, Summary
from persona_evo.playtest.requirement import Check
from persona_evo.report import layout
from persona_evo.report.layout import clean
from persona_evo.statistics import NO_VARIATION
from persona_evo.words import counted

ASCII = str.maketrans({"±": "+-", "–": "-", "…": "...", "→": "->", "×": "x", "·": "|", "−": "-", "≥": ">=", "─": "-"})
"""ASCII substitutes for the signs used here."""


PROVEN_NOTE = (
    "proven, one search: no plan has a higher utility, and all trials show routes of the search that proved "
    "it, so there is no interval"
)
"""Note below tables whose numbers are not estimates."""


FEW_NOTE = "a mean of so few values that its interval would reach beyond what is possible has none"

PLAN_NOTE = (
    "metrics and utility are those at the end of the plan; win rate, deaths, damage and hit points left are "
    "those at the end of the game"
)
"""Note below tables whose playthroughs go on after their plan."""


NONE = "–"
"""Cell text for missing values."""


EXACT_NOTE = "players of one proven search each are compared exactly, without a p value"
"""Note below tables that compare exact values."""


class Block:
    """Base of what a page shows; each class has a template of its name in `templates/blocks/`."""


@dataclass
class Table(Block):
    """A table of texts. The first column is left-aligned, the others right-aligned unless named in `left`.

    `keys` is the number of columns at the start that say what a row is about.
    """

    title: str
    headers: Sequence[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    left: frozenset[int] = frozenset()
    keys: int = 1

    def render(self, width: int | None = None) -> str:
        """Format the table as lines of at most `width` columns, the terminal's if not given (see `layout.table`)."""
        columns = width or layout.terminal_width()
        return layout.table(self.title, [self.headers, *self.rows], self.notes, self.left, self.keys, columns)


def put(stream: TextIO, text: str) -> None:
    """Write a text and a line end, in plain ASCII if the stream's encoding cannot represent it."""
    stream.write(printable(text, stream) + "\n")


def printable(text: str, stream: TextIO | None) -> str:
    """Return a text that the stream can represent: unchanged, or in plain ASCII; unchanged without a stream."""
    if stream is None:
        return text
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(ASCII)
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text


def interval(measure: Measure, value: Interval) -> str:
    """Format a value with its 95 % interval: 98 % (90–100), 46.2 ± 2.1 %, 3.2 ± 0.3, 0.97 (0.91–1.00).

    The interval is left out if it says nothing. A value that is not an estimate has a note instead: 100 % (proven, one
    search).
    """
    if measure.rate and value.note:
        return f"{shown(measure, value.value)} ({value.note})"
    if measure.rate:
        return f"{shown(measure, value.value)} ({value.low * 100:.0f}–{value.high * 100:.0f})"
    value = value.within(measure.low, measure.high)
    if not measure.ratio:
        return mean(value)
    if not value.presentable:
        return f"{value.value * 100:.1f} %"
    if not value.symmetric:
        return f"{value.value * 100:.1f} % ({value.low * 100:.1f}–{value.high * 100:.1f})"
    return f"{value.value * 100:.1f} ± {value.half * 100:.1f} %"


def mean(value: Interval) -> str:
    """Format a mean of plain numbers with its 95 % interval, with digits that suit its size."""
    digits = decimals(value.value)
    text = _fixed(value.value, digits) + (f" ({value.note})" if value.note else "")
    if not value.presentable:
        return text
    if value.symmetric:
        return f"{text} ± {value.half:.{digits}f}"
    return f"{text} ({_fixed(value.low, digits)}–{_fixed(value.high, digits)})"


def _fixed(value: float, digits: int) -> str:
    """Format a number with a fixed number of decimals, without the sign of a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def decimals(value: float) -> int:
    """Return the number of decimals with which a value of this size is shown."""
    return 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3


def summary_lines(summary: Summary, infos: Sequence[Metric] = (), without: Iterable[str] = ()) -> dict[str, str]:
    """Return a summary's content as label -> text, in the order of reports, without the symbols in `without`."""
    by_symbol = {m.symbol: m for m in infos}
    lines = {}
    if summary.wins:
        lines["win rate"] = interval(_measure("win_rate", "win rate", ratio=True, rate=True), summary.win_rate)
    for symbol, value in summary.metrics.items():
        if symbol in without:
            continue
        info = by_symbol.get(symbol)
        label = f"{symbol} {info.name}" if info else symbol
        lines[label] = interval(_measure(symbol, label, ratio=bool(info and info.ratio), info=info), value)
    if not any(m.clock and summary.metrics.get(m.symbol) == summary.steps for m in infos):
        lines["steps"] = interval(_measure("steps", "steps"), summary.steps)
    lines["utility"] = interval(_measure("utility", "utility"), summary.utility)
    lines["best utility" if summary.level != EVERY else "best of each level"] = _fixed(summary.best_utility, 3)
    lines["limit"] = _limit(summary)
    lines["share of limit"] = _share(summary.ratio)
    untold = [*summary.deaths] == [UNKNOWN_CAUSE]  # a game that names no causes
    lines["lost to" if summary.opponents else "deaths"] = (
        ", ".join(f"{n:,}" if untold else f"{cause} {n}" for cause, n in summary.deaths.items()) or "none"
    )
    for end in ("unfinished", "stuck"):
        lines[end] = f"{summary.ends[end]} of {summary.trials}" if summary.ends[end] else NONE
    if summary.damage is not None and summary.health is not None:
        lines["damage"] = interval(_measure("damage", "damage"), summary.damage)
        lines["hit points left"] = interval(_measure("health", "hit points left"), summary.health)
    lines["seconds"] = interval(_measure("seconds", "seconds"), summary.seconds)
    return lines


def summary_table(
    summaries: Sequence[Summary], infos: Sequence[Metric] = (), level: str = EVERY, brief: bool = False
) -> Table:
    """Tabulate one level (or all together), one measure per row and one player per column, as in table II of the paper.

    With `brief`, metrics that are 0 for all players or only repeat how games end are left out.
    """
    chosen = [s for s in summaries if s.level == level]
    zero, again = _silent(chosen) if brief else ([], [])
    lines = {s.player: summary_lines(s, infos, {*zero, *again}) for s in chosen}
    labels = [
        label
        for label in dict.fromkeys(label for row in lines.values() for label in row)
        if any(row.get(label, NONE) != NONE for row in lines.values())
    ]
    if all(s.bound is None for s in chosen):
        labels = [label for label in labels if label not in ("limit", "share of limit")]
    trials = sorted({s.trials for s in chosen})
    name = "all levels" if level == EVERY else level
    title = f"{name} · {_span(trials, 'trial')}" if trials else name
    rows = [[label, *(lines[player].get(label, NONE) for player in lines)] for label in labels]
    notes = ["means ± half the 95 % interval; rates with Wilson's interval in %"]
    ranges = {m.symbol: (m.low, m.high) for m in infos}
    cut_off = (v.within(*ranges.get(k, UNBOUNDED)) for s in chosen for k, v in s.metrics.items())
    notes += [FEW_NOTE] if any(v.known and not v.presentable for v in cut_off) else []
    notes += [PLAN_NOTE] if any(s.damage is not None for s in chosen) else []
    notes += [PROVEN_NOTE] if any(s.utility.note for s in chosen) else []
    notes += [f"no limit: {why}" for why in dict.fromkeys(s.unbound for s in chosen if s.unbound)]
    notes += [f"0 for all players: {', '.join(zero)}"] if zero else []
    some = dict.fromkeys(k for s in summaries if level == EVERY for k in s.metrics if k in s.absent)
    notes += [f"only over the levels that have such things: {', '.join(some)}"] if some else []
    return Table(title, ["", *lines], rows, notes)


def _span(numbers: Sequence[int], thing: str) -> str:
    """State how many things there are, from the fewest to the most if the numbers differ; `numbers` are sorted."""
    few, most = numbers[0], numbers[-1]
    return counted(few, thing) if few == most else f"{few:,}–{counted(most, thing)}"


def _silent(summaries: Sequence[Summary]) -> tuple[list[str], list[str]]:
    """Return the symbols of metrics that are always 0 for every player, and of redundant metrics.

    Redundant metrics repeat other rows, or are shares of things that the level does not have.
    """
    symbols = list(dict.fromkeys(symbol for s in summaries for symbol in s.metrics))
    values = {symbol: [(s.metrics[symbol], s) for s in summaries if symbol in s.metrics] for symbol in symbols}
    zero = [k for k, found in values.items() if all(v.low == v.value == v.high == 0 for v, _ in found)]
    again = [
        k
        for k, found in values.items()
        if all(k in s.absent or (k in s.repeated and (k in FLAGS or s.damage is not None)) for _, s in found)
    ]
    return [k for k in zero if k not in again], again


def comparison_table(rows: Sequence[ComparisonRow], title: str = "comparison", only_differing: bool = False) -> Table:
    """Tabulate a comparison, one row per line, with p values corrected by Holm's method.

    A single level is not named. Rows in which nothing varies and nothing differs are left out. `only_differing` also
    leaves out rows in which nothing varies within a group and whose sentence (`ComparisonRow.verdict`) says everything.
    """
    same = [r for r in rows if not r.higher and (r.note.startswith(NO_VARIATION) or r.exact)]
    said = [r for r in rows if only_differing and r.constant and r.verdict]
    chosen = [r for r in rows if (r.differs() or not only_differing) and r not in same and r not in said]
    several = len({r.level for r in rows}) > 1
    body = [
        [
            *([r.level] if several else []),
            f"{r.player_a} · {r.player_b}" if r.player_a != r.player_b else r.player_a,
            r.measure.name,
            *_both(r),
            r.test,
            *(("–", "–") if r.exact else (p_shown(r.p_holm), p_shown(r.p_rank_holm))),
            "*" if r.differs() else "",
            r.note,
        ]
        for r in chosen
    ]
    headers = [*(["level"] if several else []), "players", "measure", "a", "b", "test", "p", "p of ranks", "", "note"]
    left = frozenset({1, *(k + several for k in (1, 4, 7, 8))})
    if not any(row[-1] for row in body):
        headers, body = headers[:-1], [row[:-1] for row in body]
    notes = [f"{counted(len(rows), 'row')} compared; p corrected by Holm; * differs (p < 0.05)"]
    notes += _exact_note(chosen)
    notes += [f"{counted(len(same), 'row')} omitted: all playthroughs of both have the same value"] * bool(
        same and not only_differing
    )
    return Table(title, headers, body, notes, left, keys=2 + several)


def _both(row: ComparisonRow) -> list[str]:
    """Return the values of both groups: means with intervals, or ranges over routes."""
    if row.ranges:
        return [span(row.measure, found) for found in row.ranges]
    return [interval(row.measure, value) for value in (row.a, row.b)]


def counts_table(rows: Sequence[ComparisonRow]) -> Table:
    """Count levels in which a player is significantly better / worse than its baseline, as in table III of the paper.

    If neither direction is better, the numbers are higher / lower, and the row says so.
    """
    found = counts(rows)
    moved = {r.measure.key for r in rows if any((r.a.low, r.a.high, r.b.low, r.b.high))}
    measured = {r.measure.key: r.measure for r in rows if r.measure.key in moved}
    zero = list(dict.fromkeys(r.measure.name for r in rows if r.measure.key not in moved))
    players = list(dict.fromkeys(player for _, player in found))
    bases = dict.fromkeys(r.player_b.rpartition("/")[2] for r in rows)
    totals = sorted({total for _, _, total in found.values()})
    body = []
    for key, measure in measured.items():
        cells = [found.get((key, player)) for player in players]
        turned = [c[1::-1] if c and measure.better == "lower" else c for c in cells]
        name = measure.name + (" (higher / lower)" if measure.better == "neutral" else "")
        body.append([name, *(f"{c[0]} / {c[1]}" if c else "–" for c in turned)])
    head = f"better / worse, of {_span(totals or [0], 'level')}"
    title = f"against the baseline: {', '.join(bases)}"
    notes = [
        "levels with p < 0.05, not corrected for the number of tests",
        *_exact_note(rows),
        *([f"0 for all players: {', '.join(zero)}"] if zero else []),
    ]
    return Table(title, [head, *players], body, notes)


def _exact_note(rows: Iterable[ComparisonRow]) -> list[str]:
    return [EXACT_NOTE] if any(r.exact for r in rows) else []


def correlation_table(rows: Sequence[CorrelationRow], limit: int = 20) -> Table:
    """Tabulate the correlations with the smallest p values, at most `limit`."""
    body = [
        [
            r.structure,
            r.player,
            r.result,
            f"{r.pearson.r:.2f}",
            p_shown(r.pearson.p),
            p_shown(r.p_holm),
            f"{r.spearman.r:.2f}",
            str(r.n),
        ]
        for r in rows[:limit]
    ]
    note = f"{min(limit, len(rows))} of {counted(len(rows), 'correlation')}; p (Holm) is corrected for all of them"
    headers = ["structure", "player", "result", "r", "p", "p (Holm)", "r of ranks", "levels"]
    return Table("level structure and results", headers, body, [note], frozenset({1, 2}))


def check_table(checks: Sequence[Check]) -> Table:
    """Tabulate requirements and whether they hold."""
    body = [
        ["passed" if c.passed else "FAILED", c.text, "–" if c.value is None else f"{c.value:.4g}", c.where, c.reason]
        for c in checks
    ]
    return Table("requirements", ["", "requirement", "value", "where", ""], body, left=frozenset({1, 3, 4}))


def findings_text(findings: Sequence[Finding], width: int | None = None) -> str:
    """Format findings as lines of at most `width` columns (the terminal's if not given), problems first."""
    if not findings:
        return "no findings"
    notes = [f"({COORDINATES})"] if any(f.places for f in findings) else []
    notes += ["(persona-evo runs show FOLDER --trace N shows a trace)"] if any(f.trace for f in findings) else []
    return told([*lines(findings), *notes], width)


def told(sentences: Iterable[str], width: int | None = None) -> str:
    """Format sentences one below the other, each in lines of at most `width` columns."""
    return "\n".join(
        line for text in sentences for line in layout.wrapped(clean(text), width or layout.terminal_width(), "  ")
    )


def _measure(key: str, name: str, ratio: bool = False, rate: bool = False, info: Metric | None = None) -> Measure:
    low, high = (info.low, info.high) if info else (-math.inf, math.inf)
    return Measure(key, name, lambda r: 0.0, ratio=ratio, rate=rate, low=low, high=high)


def _limit(summary: Summary) -> str:
    if summary.bound is None:
        return "–"
    return f"{summary.bound.utility:.3f} {'proven' if summary.bound.proven else 'best known'}"


def _share(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return "below 0 %" if ratio < 0 else f"{ratio * 100:.1f} %"
