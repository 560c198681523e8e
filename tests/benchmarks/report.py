"""One table of measured figures and their goals."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

REACHED, SHORT, FIGURE, SKIPPED = "reached", "short", "figure", "skipped"
"""Verdicts: the goal is met; it is not met; there is no goal; nothing was measured, and the text says why."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: the measured quantity.
        reach: the goal in words.
        measured: the figure with its unit.
        ratio: the ratio that counts, the median if it was measured several times.
        verdict: REACHED, SHORT, FIGURE or SKIPPED.
        spread: the quartiles of the ratio.
    """

    what: str
    reach: str
    measured: str
    ratio: float | None = None
    verdict: str = FIGURE
    spread: tuple[float, float] | None = None


def judge(what: str, reach: str, measured: str, ratio: float, at_least: float = 1.0) -> Row:
    """Return a row with the goal `ratio >= at_least`."""
    return Row(what, reach, measured, ratio, REACHED if ratio >= at_least else SHORT)


def compared(what: str, reach: str, measured: str, ratios: Sequence[float], at_least: float = 0.0) -> Row:
    """Return a row with the median and the quartiles of several ratios; the goal, if any, is `median >= at_least`."""
    low, median, high = np.percentile(ratios, (25, 50, 75)).tolist()
    verdict = FIGURE if not at_least else REACHED if median >= at_least else SHORT
    return Row(what, reach, measured, median, verdict, (low, high))


def skipped(what: str, reach: str, reason: str) -> Row:
    """Return a row that says why there is no figure."""
    return Row(what, reach, reason, None, SKIPPED)


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """Return a row as text."""
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    if row.spread is not None:
        ratio += " ({:.3g} to {:.3g})".format(*row.spread)
    return row.what, row.reach, row.measured, ratio, row.verdict


HEADINGS = ("what", "reach (goal)", "measured", "ratio", "verdict")


def markdown(rows: Sequence[Row]) -> str:
    """Return the table as Markdown with aligned columns."""
    body = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[k]) for line in body) for k in range(len(HEADINGS))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in body]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """Describe the machine of the measurements."""
    facts = {"python": sys.version.split()[0], "system": platform.platform(), "processor": platform.machine()}
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x.partition(":")[2].strip() for x in info.read_text().splitlines() if x.startswith("model name")]
        facts["processor"] = f"{len(names)} x {names[0]}" if names else facts["processor"]
    for name in ("numba", "numpy", "llvmlite"):
        facts[name] = str(__import__(name).__version__)
    try:
        facts["gcc"] = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    except OSError:
        facts["gcc"] = "none"
    return facts


def write(folder: Path, rows: Sequence[Row], options: dict[str, object]) -> None:
    """Write the table as benchmarks.json and benchmarks.md."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine()
    data = {"machine": facts, "options": options, "rows": [asdict(r) for r in rows]}
    (folder / "benchmarks.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    lines = ["# Benchmarks", "", ", ".join(f"{k} {v}" for k, v in facts.items()), "", markdown(rows), ""]
    (folder / "benchmarks.md").write_text("\n".join(lines), encoding="utf-8")
