"""Studies: the same playtest under settings that differ in one thing, with intervals, as one table.

A row is a mean over maps of the mean over seeds, with half the width of its 95 % interval (maps are fixed, seeds are
drawn), so two rows certainly differ if their intervals do not overlap.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev

from persona_evo.games.core import Level
from persona_evo.jobs.workers import cores
from persona_evo.personas import Persona, catalog
from persona_evo.playtest.batch import playtest
from persona_evo.playtest.players import Player
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings

from .levels import game

SEED = 1
Tell = Callable[["Row"], None]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        study: the name of the study.
        what: the setting that is varied.
        value: its value.
        persona: the persona.
        of: the tree policy.
        playthroughs: number of playthroughs on all maps.
        iterations: iterations of a playthrough.
        utility, half_width: mean utility, and half the width of its interval.
        win_rate: share of the playthroughs that won.
        difference, difference_half_width: difference to the base's row of the same persona, and its half width.
        best_known: the mean of the limits.
    """

    study: str
    what: str
    value: str
    persona: str
    of: str
    playthroughs: int
    iterations: int
    utility: float
    half_width: float
    win_rate: float
    seconds: float
    difference: float | None = None
    difference_half_width: float | None = None
    best_known: float | None = None


def personas() -> dict[str, Persona]:
    """Return the four personas of the paper by name."""
    return {p.name: p for p in catalog(game()) if p.set == "paper"}


def by_map(records: Iterable[Playthrough]) -> dict[str, list[float]]:
    """Return the utilities of each map."""
    found: dict[str, list[float]] = {}
    for record in records:
        found.setdefault(record.level, []).append(record.utility)
    return found


def mean_over_maps(records: Sequence[Playthrough]) -> tuple[float, float]:
    """Return the mean over maps, and half the width of its 95 % interval."""
    groups = by_map(records)
    mean = fmean(fmean(v) for v in groups.values())
    variance = sum(stdev(v) ** 2 / len(v) if len(v) > 1 else 0.0 for v in groups.values()) / len(groups) ** 2
    return mean, 1.96 * math.sqrt(variance)


def played(
    study: str,
    what: str,
    value: str,
    players: Sequence[Player],
    levels: Sequence[Level],
    trials: int,
    iterations: int,
    settings: SearchSettings,
    each: bool = False,
) -> list[Row]:
    """Play and return one row for each player.

    With `each`, rows for each player and level follow, with the level as their value.
    """
    results = playtest(
        game(), list(levels), players, trials, seed=SEED, budget=Budget(iterations), settings=settings, jobs=cores()
    )
    if not results.complete:
        raise KeyboardInterrupt
    rows = []
    for player in players:
        own = [r for r in results.records if r.player == player.label]
        parts = [(value, own)]
        if each:
            parts += [(level.name, [r for r in own if r.level == level.name]) for level in levels]
        for name, records in parts:
            mean, half = mean_over_maps(records)
            wins = sum(r.won for r in records) / len(records)
            time = fmean(r.seconds for r in records)
            rows.append(
                Row(
                    study,
                    what,
                    name,
                    player.persona.name,
                    player.policy.name,
                    len(records),
                    iterations,
                    mean,
                    half,
                    wins,
                    time,
                )
            )
    return rows


def against(rows: Sequence[Row], base: Sequence[Row]) -> list[Row]:
    """Return the rows with their difference to the base's row of the same persona and policy."""
    known = {(b.persona, b.of): b for b in base}
    found = []
    for row in rows:
        b = known[row.persona, row.of]
        half = math.hypot(row.half_width, b.half_width)
        found.append(Row(**{**asdict(row), "difference": row.utility - b.utility, "difference_half_width": half}))
    return found


class Table:
    """Rows that are added one after the other.

    Args:
        tell: called with each row.
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self.rows: list[Row] = []
        self._tell = tell

    def add(self, rows: Sequence[Row], base: Sequence[Row] | None = None) -> list[Row]:
        """Keep rows, with their difference to the base if there is one; return the rows as kept."""
        kept = list(rows) if base is None else against(rows, base)
        self.rows += kept
        for row in kept if self._tell else ():
            self._tell(row)  # type: ignore[misc]
        return kept


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        names = [f.name for f in fields(Row)]
        out.writerow(names)
        for row in rows:
            values = [getattr(row, name) for name in names]
            out.writerow(["" if v is None else f"{v:.4f}" if isinstance(v, float) else v for v in values])


def line(row: Row) -> str:
    """Format a row for the terminal."""
    against = "" if row.difference is None else f" {row.difference:+.3f} ± {row.difference_half_width:.3f}"
    against += "" if row.best_known is None else f" of {row.best_known:.3f} ({row.utility / row.best_known:.1%})"
    return (
        f"{row.study}: {row.what} {row.value}, {row.persona}, {row.of}, {row.iterations}: {row.utility:.3f} ± "
        f"{row.half_width:.3f}{against}, wins {row.win_rate:.0%}, {row.seconds:.3f} s"
    )
