"""What an experiment says: curves of growth, and which combination gets more out of the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.playtest.experiment.course import Record, Results
from persona_evo.playtest.experiment.design import Cell
from persona_evo.playtest.experiment.one import Growth
from persona_evo.playtest.statistics import NO_VARIATION, Interval, Test, holm, mann_whitney, mean_interval

POINTS = 200
"""Points of a curve."""

SIGNIFICANT = 0.05

CORRECTION = "Mann-Whitney U, two-sided; p corrected for the number of comparisons by Holm's method"


@dataclass(frozen=True)
class Summary:
    """The best scores of a cell: mean with its 95 % interval, standard deviation, quartiles. proven: how many searches
    proved that no way to play scores more."""

    cell: str
    n: int
    mean: Interval
    deviation: float
    low: float
    median: float
    high: float
    rollouts: float
    seconds: float
    proven: int


class Comparison(NamedTuple):
    """Two cells. share: of the pairs of searches in which the first one scores more, ties counting half. corrected: p
    of the test, by Holm over the comparisons of the experiment."""

    a: str
    b: str
    share: float
    test: Test
    corrected: float

    @property
    def higher(self) -> str:
        """The cell that scores more, "" where neither does."""
        return self.a if self.share > 0.5 else self.b if self.share < 0.5 else ""

    def words(self) -> str:
        """The comparison in a sentence; p is the corrected one."""
        if self.corrected < SIGNIFICANT and self.higher:
            lower = self.b if self.higher == self.a else self.a
            return f"{self.higher} scores more than {lower} ({p_words(self.corrected)})"
        note = ", no variation" if self.test.note == NO_VARIATION else ""
        return f"{self.a} and {self.b}: no significant difference ({p_words(self.corrected)}{note})"


class Curve(NamedTuple):
    """The best score so far: mean and standard deviation over the searches, at these rollouts."""

    rollouts: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def summaries(results: Results) -> list[Summary]:
    """One for each cell that has results."""
    found = []
    for cell in results.experiment.cells:
        records = results.of(cell)
        if records:
            found.append(_summary(cell, records))
    return found


def _summary(cell: Cell, records: Sequence[Record]) -> Summary:
    scores = np.array([r.score for r in records])
    low, median, high = (float(np.percentile(scores, q)) for q in (25, 50, 75))
    return Summary(
        cell.label, len(scores), mean_interval(scores), _deviation(scores), low, median, high,
        float(np.mean([r.rollouts for r in records])), float(np.mean([r.seconds for r in records])),
        sum(r.proven for r in records),
    )  # fmt: skip


def comparisons(results: Results) -> list[Comparison]:
    """The cells that differ in one thing alone, each pair that has results."""
    cells = results.experiment.cells
    scores = [[r.score for r in results.of(cell)] for cell in cells]
    pairs = [(a, b) for a, b in results.experiment.pairs() if scores[a] and scores[b]]
    tests = [mann_whitney(scores[a], scores[b]) for a, b in pairs]
    corrected = holm([test.p for test in tests])
    return [
        Comparison(cells[a].label, cells[b].label, test.statistic / (len(scores[a]) * len(scores[b])), test, p)
        for (a, b), test, p in zip(pairs, tests, corrected, strict=True)
    ]  # fmt: skip


def curve(records: Sequence[Record], rollouts: int) -> Curve:
    """How the best score grows, up to so many rollouts. A search that ended before keeps what it had."""
    points = np.unique(np.linspace(1, rollouts, min(POINTS, rollouts)).round())
    grown = np.array([_along(r.growth, points) for r in records])
    return Curve(points, grown.mean(axis=0), np.array([_deviation(column) for column in grown.T]))


def _along(growth: Growth, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best score at each of these rollouts."""
    numbers, values = np.array([n for n, _ in growth]), np.array([v for _, v in growth])
    found: NDArray[np.float64] = values[np.maximum(0, np.searchsorted(numbers, points, side="right") - 1)]
    return found


def p_words(p: float) -> str:
    """A p value as people read it; very small ones as powers of ten."""
    digits = 3 if 0.01 <= p < 0.095 else 2
    return f"p = {p:.{digits}f}" if p >= 0.01 else f"p = {p:.1g}"


def _deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
