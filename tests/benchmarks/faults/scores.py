"""Rules for found faults and false findings, and the tables.

A fault is found if one of the first three findings of its level (of the pair, for pairs) is of a kind that names it and
names one of the case's places. A finding must not name too many tiles: at least a quarter of those that it names have
to belong to the case. On a sound level or a look-alike each problem is false; a notice is false if it is untrue or
names nothing (see `claims`).
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .cases import FAULT, HAND, Case, Spot
from .claims import Finding, places_of, spots, untrue

FIRST = 3
"""Number of first findings of a level that have to include the fault."""
SHARE = 0.25
"""Smallest share of a finding's tiles that have to belong to the case."""
REACH = {"recall": 0.9, "kind": 0.7, "problems": 0.5, "notices": 2.0}
"""Goals: recall over all kinds, recall of each kind, and false problems and notices per sound level."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on the diagnosis of a case.

    Attributes:
        case: the case.
        findings: all findings in the product's order.
        rank: number of the finding that names the fault, from 1; 0 without one.
        hint: the closest finding if the fault was not found.
        problems, notices: their numbers.
        false: why each false notice is false.
    """

    case: Case
    findings: tuple[Finding, ...]
    rank: int
    hint: str
    problems: int
    notices: int
    false: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the fault is among the first findings."""
        return 0 < self.rank <= FIRST


def hits(finding: Finding, places: frozenset[Spot]) -> bool:
    """Return whether a finding names one of the places, and not too many others."""
    listed = places_of(finding) or spots(finding)
    right = listed & places
    return bool(right) and len(right) >= SHARE * len(listed)


def names(finding: Finding, case: Case) -> bool:
    """Return whether a finding is of the right kind, on the right level, and names a right place or word."""
    levels = str(finding.get("level", "")).split(", ")
    if finding["kind"] not in case.kinds or not set(levels) & set(case.level_names):
        return False
    if not case.places and not case.words:
        return True
    text = str(finding.get("text", "")).lower()
    return hits(finding, case.places) or any(word.lower() in text for word in case.words)


def judge(case: Case, findings: Sequence[Finding]) -> Verdict:
    """Judge a diagnosis."""
    rank = next((k for k, f in enumerate(findings, 1) if names(f, case)), 0) if case.faulty else 0
    problems = [f for f in findings if f["severity"] == "problem"]
    notices = [f for f in findings if f["severity"] != "problem"]
    false = () if case.faulty else tuple(f"{f['kind']}: {why}" for f in notices if (why := untrue(f, case)))
    return Verdict(case, tuple(findings), rank, _hint(case, findings, rank), len(problems), len(notices), false)


def _hint(case: Case, findings: Sequence[Finding], rank: int) -> str:
    """Return why a fault that was not found was nearly found."""
    if not case.faulty or 0 < rank <= FIRST:
        return ""
    if rank:
        return f"it is finding {rank}"
    if any(f["kind"] in case.kinds for f in findings):
        return "the kind without the place"
    if case.places and any(hits(f, case.places) for f in findings):
        return "the place with another kind"
    return "nothing" if not findings else "something else"


def wilson(found: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share, room = found / of, z * z / of
    middle = (share + room / 2) / (1 + room)
    half = z / (1 + room) * math.sqrt(share * (1 - share) / of + room / 4 / of)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes:
        what: the name of the line.
        cases: number of faults (or levels).
        found: number of those that were found.
        enough: whether the goal is met.
    """

    what: str
    cases: int
    found: int
    enough: bool

    @property
    def share(self) -> float:
        """The share of the cases that were found."""
        return self.found / self.cases if self.cases else 0.0

    @property
    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        low, high = wilson(self.found, self.cases)
        interval = f"{100 * low:.0f}–{100 * high:.0f} %"
        return (
            self.what,
            str(self.cases),
            str(self.found),
            f"{100 * self.share:.0f} %",
            interval,
            "" if self.enough else "short",
        )


def recall(verdicts: Iterable[Verdict], role: str = FAULT) -> list[Line]:
    """Return a line for each kind of fault, and one for all."""
    judged = [v for v in verdicts if v.case.role == role]
    kinds = dict.fromkeys(v.case.fault for v in judged)
    found = Counter(v.case.fault for v in judged if v.found)
    of = Counter(v.case.fault for v in judged)
    lines = [Line(kind, of[kind], found[kind], found[kind] >= REACH["kind"] * of[kind]) for kind in kinds]
    total = sum(found.values())
    return [*lines, Line("all kinds", len(judged), total, total >= REACH["recall"] * len(judged))]


def precision(verdicts: Iterable[Verdict]) -> list[tuple[str, int, float, float, float]]:
    """Return, by role, the levels without a fault, and false problems, notices and false notices per level."""
    rows = []
    judged = [v for v in verdicts if not v.case.faulty]
    for role in (*dict.fromkeys(v.case.role for v in judged), "both"):
        these = [v for v in judged if role in (v.case.role, "both")]
        levels = sum(len(v.case.texts) for v in these)
        if levels:
            sums = (sum(v.problems for v in these), sum(v.notices for v in these), sum(len(v.false) for v in these))
            rows.append((role, levels, *(s / levels for s in sums)))
    return rows


def markdown(verdicts: Sequence[Verdict], title: str) -> str:
    """Return all tables."""
    lines = [f"## {title}", ""]
    for role, heading in ((FAULT, "planted fault"), (HAND, "fault drawn by hand")):
        table = recall(verdicts, role)
        if table[-1].cases:
            reach = f"reach: {100 * REACH['recall']:.0f} % over all, {100 * REACH['kind']:.0f} % of each kind"
            lines += _table((heading, "faults", "found", "share", "95 % interval", reach), [x.cells for x in table])
    rows = [(role, str(n), f"{p:.2f}", f"{q:.2f}", f"{r:.2f}") for role, n, p, q, r in precision(verdicts)]
    heads = (
        "without a fault",
        "levels",
        f"false problems a level (reach: {REACH['problems']})",
        f"notices a level (reach: {REACH['notices']:.0f})",
        "false notices a level",
    )
    return "\n".join([*lines, *(_table(heads, rows) if rows else [])])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = [heads, *rows]
    widths = [max(len(row[k]) for row in body) for k in range(len(heads))]
    drawn = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in body]
    return [drawn[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *drawn[1:], ""]


def misses(verdicts: Iterable[Verdict]) -> str:
    """Return the smallest example of each kind that was not found, and each false problem and notice."""
    lines = []
    missed = sorted((v for v in verdicts if v.case.faulty and not v.found), key=lambda v: len("".join(v.case.texts)))
    for kind in dict.fromkeys(v.case.fault for v in missed):
        lines += ["", f"### missed: {kind}", *_told(next(v for v in missed if v.case.fault == kind))]
    for v in verdicts:
        if not v.case.faulty and (v.problems or v.false):
            lines += ["", f"### false on {v.case.name} ({v.case.role}: {v.case.fault})", *v.false, *_told(v)]
    return "\n".join(lines)


def _told(v: Verdict) -> list[str]:
    expected = f"expected: {', '.join(v.case.kinds)} at {_places(v.case.places)}"
    said = [f"{f['severity']} {f['kind']} {' '.join(f.get('places', ())[:8])}: {f.get('text', '')}" for f in v.findings]
    return [
        f"{v.case.name}: {v.case.proof}",
        *([expected, f"nearest: {v.hint}"] if v.case.faulty else []),
        "```",
        *"\n".join(v.case.texts).splitlines(),
        "```",
        *(f"- {s}" for s in said),
    ]


def _places(places: Iterable[Spot]) -> str:
    return " ".join(f"{y + 1}:{x + 1}" for x, y in sorted(places, key=lambda s: (s[1], s[0]))) or "any place"


def write(folder: Path, how: str, verdicts: Sequence[Verdict], title: str) -> None:
    """Write the tables and misses as Markdown, and all cases as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{how}.md").write_text(f"{markdown(verdicts, title)}\n{misses(verdicts)}\n", encoding="utf-8")
    with (folder / f"{how}.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            (
                "case",
                "game",
                "role",
                "fault",
                "found",
                "rank",
                "nearest",
                "problems",
                "notices",
                "false",
                "expected kinds",
                "expected places",
                "proof",
                "level",
                "said",
            )
        )
        for v in verdicts:
            said = " | ".join(
                f"{f['severity']} {f['kind']} {' '.join(f.get('places', ()))}: {f.get('text', '')}" for f in v.findings
            )
            out.writerow(
                (
                    v.case.name,
                    Path(v.case.game).name,
                    v.case.role,
                    v.case.fault,
                    ("yes" if v.found else "no") if v.case.faulty else "",
                    v.rank or "",
                    v.hint,
                    v.problems,
                    v.notices,
                    " | ".join(v.false),
                    ", ".join(v.case.kinds),
                    _places(v.case.places),
                    v.case.proof,
                    "\n".join(v.case.texts),
                    said,
                )
            )
