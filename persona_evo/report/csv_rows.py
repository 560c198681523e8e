"""Converts results to rows of CSV files, and writes the files."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from persona_evo.games.findings import Finding, where
from persona_evo.intervals import Interval
from persona_evo.jobs import files
from persona_evo.playtest.compare import ComparisonRow
from persona_evo.playtest.correlations import CorrelationRow
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import PAIRED


def finding_rows(findings: Iterable[Finding], accepted: Iterable[tuple[Finding, str]] = ()) -> list[dict[str, object]]:
    """Return findings for a CSV file, one per row; accepted ones come last, with their reasons."""
    rows: list[dict[str, object]] = []
    for finding, reason in [*((f, "") for f in findings), *accepted]:
        plain = finding.to_dict()
        rows.append(
            {
                "severity": finding.severity,
                "kind": finding.kind,
                "level": finding.level,
                "places": " ".join(plain["places"]),
                "players": "; ".join(finding.players),
                "text": finding.text,
                "look": finding.look,
                "trace": finding.trace or "",
                "accepted": reason,
                "evidence": json.dumps(plain["evidence"], ensure_ascii=False) if finding.evidence else "",
            }
        )
    return rows


def write_csv(path: Path | str, rows: Iterable[Mapping[str, object]]) -> int:
    """Write a CSV file (UTF-8, RFC 4180 quoting) and return the number of rows.

    Numbers have DIGITS significant digits; whole numbers keep all their digits. Text that a spreadsheet would evaluate,
    such as a level called "=A1", is prefixed with an apostrophe. The columns are the keys of all rows.
    """
    body = [{key: _cell(value) for key, value in row.items()} for row in rows]
    names = list(dict.fromkeys(key for row in body for key in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", extrasaction="ignore")
    writer.writerow({name: _cell(name) for name in names})
    writer.writerows(body)
    files.write_atomically(Path(path), text.getvalue())
    return len(body)


DIGITS = 8
"""Significant digits of a number in a CSV file."""


_COMPUTED = re.compile(r"[=+@\t\r]|-(?![0-9.])")
"""Beginnings of text that spreadsheets take for a formula."""


def _cell(value: object) -> object:
    """Return a value as it is written to a CSV file."""
    if isinstance(value, str):
        return f"'{value}" if _COMPUTED.match(value) else value
    return _rounded(value)


def _rounded(value: object) -> object:
    """Round away the digits left by binary fractions: 0.3 for 0.30000000000000004, 20 for 20.0."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return int(value) if value.is_integer() and abs(value) < 1e15 else f"{value:.{DIGITS}g}"


def summary_rows(summaries: Iterable[Summary]) -> list[dict[str, object]]:
    """Return summaries for a CSV file, one measure per row; the level EVERY stands for all levels."""
    rows: list[dict[str, object]] = []
    for s in summaries:
        start: dict[str, object] = {"level": s.level, "player": s.player, "persona": s.persona}
        for key, v in _measured(s).items():
            rows.append(
                {
                    **start,
                    "measure": key,
                    "value": v.value,
                    "low": v.ends[0],
                    "high": v.ends[1],
                    "n": s.trials if v.note or s.level == EVERY else v.n,
                    "note": v.note,
                }
            )
        counts = {**_single(s), **_causes(s)}
        rows += [{**start, "measure": key, "value": value, "n": s.trials} for key, value in counts.items()]
    return rows


def wide_rows(summaries: Sequence[Summary]) -> list[dict[str, object]]:
    """Return summaries for a CSV file, one level and player per row, with the interval's ends beside each measure."""
    causes = dict.fromkeys(column for s in summaries for column in _causes(s))
    return [
        {
            "level": s.level,
            "player": s.player,
            "persona": s.persona,
            "trials": s.trials,
            **{
                name: value
                for key, v in _measured(s).items()
                for name, value in ((key, v.value), (f"{key}_low", v.ends[0]), (f"{key}_high", v.ends[1]))
            },
            **_single(s),
            **{column: _causes(s).get(column, 0) for column in causes},
        }
        for s in summaries
    ]


def _causes(s: Summary) -> dict[str, int]:
    """Return how often a player lost, by column."""
    return {f"{'losses' if s.opponents else 'deaths'}:{cause}": count for cause, count in s.deaths.items()}


def _measured(s: Summary) -> dict[str, Interval]:
    """Return the values of a summary that have an interval, by the measure's key."""
    harm = {"damage": s.damage, "health": s.health}
    return {
        **s.rates,
        **s.metrics,
        "steps": s.steps,
        "utility": s.utility,
        "seconds": s.seconds,
        **{key: v for key, v in harm.items() if v is not None},
    }


def _single(s: Summary) -> dict[str, object]:
    """Return the values of a summary that are single numbers, by name."""
    limits: dict[str, object] = {
        "bound": s.bound.utility if s.bound else "",
        "bound_proven": int(s.bound.proven) if s.bound else "",
        "bound_ratio": "" if s.ratio is None else s.ratio,
    }
    lost = "losses" if s.opponents else "deaths"
    return {
        "best_utility": s.best_utility,
        **({} if s.opponents else limits),
        **{end: n for end, n in s.ends.items() if end != "lost"},
        lost: s.lost,
        **_causes(s),
    }


def record_rows(records: Iterable[Playthrough]) -> list[dict[str, object]]:
    """Return playthroughs for a CSV file, one per row, without their actions and positions.

    Rows of two-player games also name the opponent, the side and the result.
    """
    plain = (
        "level",
        "player",
        "persona",
        "policy",
        "trial",
        "seed",
        "outcome",
        "cause",
        "utility",
        "best_utility",
        "steps",
        "seconds",
        "stopped",
        "iterations",
        "nodes",
        "proven",
    )
    return [
        {
            **{name: getattr(r, name) for name in plain},
            "search": "" if r.search is None else r.search,
            **r.against,
            **r.metrics,
            **_end_row(r),
            **({"skill": r.skill} if r.skill else {}),
        }
        for r in records
    ]


def _end_row(record: Playthrough) -> dict[str, object]:
    """Return how the game ended after the plan, by column; empty if it was not played to its end."""
    end = record.end
    if end is None:
        return {}
    place = "" if end.place is None else where(end.place)
    harm = {"damage": record.damage, "health": record.hit_points[-1]} if record.hit_points else {}
    return {
        "end": end.outcome,
        "end_utility": end.utility,
        "end_turn": end.turn,
        "end_cause": end.cause,
        "end_place": place,
        **harm,
    }


def comparison_rows(rows: Iterable[ComparisonRow]) -> list[dict[str, object]]:
    """Return the rows of a comparison for a CSV file.

    The effect size is Vargha and Delaney's A, or for pairs of levels the share of pairs in which b is higher.
    """
    rows = list(rows)
    effect = "pairs_b_higher" if any(r.test == PAIRED for r in rows) else "vargha_delaney"
    return [
        {
            "level": r.level,
            "player_a": r.player_a,
            "player_b": r.player_b,
            "measure": r.measure.key,
            "a": r.a.value,
            "a_low": r.a.ends[0],
            "a_high": r.a.ends[1],
            "a_n": r.a.n,
            "b": r.b.value,
            "b_low": r.b.ends[0],
            "b_high": r.b.ends[1],
            "b_n": r.b.n,
            "difference": r.difference.value,
            "difference_low": r.difference.ends[0],
            "difference_high": r.difference.ends[1],
            effect: r.effect.value,
            f"{effect}_low": r.effect.ends[0],
            f"{effect}_high": r.effect.ends[1],
            "test": r.test,
            "statistic": r.statistic,
            **{name: "" if r.exact else getattr(r, name) for name in ("p", "p_holm", "p_rank", "p_rank_holm")},
            "differs": int(r.differs()),
            "note": r.note,
            "verdict": r.verdict,
        }
        for r in rows
    ]


def correlation_rows(rows: Iterable[CorrelationRow]) -> list[dict[str, object]]:
    """Return correlations for a CSV file."""
    return [
        {
            "structure": r.structure,
            "player": r.player,
            "result": r.result,
            "r": r.pearson.r,
            "p": r.pearson.p,
            "p_holm": r.p_holm,
            "spearman": r.spearman.r,
            "p_spearman": r.spearman.p,
            "levels": r.n,
        }
        for r in rows
    ]
