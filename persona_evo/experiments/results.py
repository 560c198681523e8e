"""Evaluates an experiment: growth curves, and which combination gets more out of the game.

In a single level, the searches of two combinations are compared by Mann and Whitney's test. Searches of one of several
levels are not independent of each other, so combinations are then compared in pairs of levels by Wilcoxon's signed-rank
test of the differences between the levels' means. What is said then holds for other levels of the kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.connect.search import INSIDE
from persona_evo.experiments.design import Cell
from persona_evo.experiments.job import ExperimentResults, SearchRecord
from persona_evo.experiments.run import Growth
from persona_evo.intervals import Interval, clustered, difference, mean_interval, share_higher, vargha_delaney
from persona_evo.statistics import NO_VARIATION, Test, holm, mann_whitney, too_few_pairs, wilcoxon

POINTS = 200
"""Number of points of a curve."""

SIGNIFICANT = 0.05

AWAY = 10.0
"""Factor by which a constant may differ from the spread of scores, either way, before it is reported."""

_HOLM = "two-sided; p corrected for the number of comparisons by Holm's method"
CORRECTION, PAIRED = f"Mann-Whitney U, {_HOLM}", f"Wilcoxon's signed-rank test over pairs of levels, {_HOLM}"
"""How combinations are compared in a single level, and in several."""


@dataclass(frozen=True)
class CellSummary:
    """The best scores of a cell: mean with its 95 % interval, standard deviation and quartiles.

    The interval over several levels is for other levels of the kind.

    Attributes:
        goal: the goal of the searches.
        proven: number of searches that proved that no way to play scores more.
    """

    cell: str
    goal: str
    n: int
    mean: Interval
    deviation: float
    low: float
    median: float
    high: float
    rollouts: float
    seconds: float
    proven: int


class CellComparison(NamedTuple):
    """Two cells, and how far apart their scores are.

    Attributes:
        a, b: the cells.
        effect: Vargha and Delaney's A with its 95 % interval: the share of pairs of searches in which a scores more,
            with ties counting half; in several levels, the share of pairs of levels in which a's mean is higher.
        difference: difference of the mean scores, a - b, with its 95 % interval: Welch's, or Student's over the levels.
        test: Mann and Whitney's test, or Wilcoxon's.
        corrected: its p value, corrected by Holm's method over the comparisons of the experiment.
        levels: number of levels.
        family: number of comparisons.
    """

    a: str
    b: str
    effect: Interval
    difference: Interval
    test: Test
    corrected: float
    levels: int = 1
    family: int = 1

    @property
    def share(self) -> float:
        """The share of pairs of searches, or of levels, in which a scores more, with ties counting half."""
        return self.effect.value

    @property
    def reversed(self) -> CellComparison:
        """The same comparison with the cells exchanged."""
        (share, low, high, n, _), (change, least, most, m, _) = self.effect, self.difference
        return self._replace(
            a=self.b,
            b=self.a,
            effect=Interval(1 - share, 1 - high, 1 - low, n),
            difference=Interval(-change, -most, -least, m),
        )

    @property
    def higher(self) -> str:
        """The cell that scores more, "" if neither does."""
        return self.a if self.share > 0.5 else self.b if self.share < 0.5 else ""

    def words(self) -> str:
        """Put the comparison in a sentence; p is the corrected value."""
        if self.corrected < SIGNIFICANT and self.higher:
            lower = self.b if self.higher == self.a else self.a
            return f"{self.higher} scores more than {lower} ({p_words(self.corrected)})"
        few = too_few_pairs(self.levels, self.family) if self.levels > 1 else ""
        if few:
            return f"{self.a} and {self.b} cannot be compared: {few}"
        note = ", no variation" if self.test.note == NO_VARIATION else ""
        return f"{self.a} and {self.b}: no significant difference ({p_words(self.corrected)}{note})"


class Curve(NamedTuple):
    """The best score so far at some numbers of rollouts: mean and standard deviation over the searches."""

    rollouts: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def summaries(results: ExperimentResults) -> list[CellSummary]:
    """Summarise each cell that has results."""
    found = []
    for cell in results.experiment.cells:
        records = results.of(cell)
        if records:
            found.append(_summary(cell, records))
    return found


def by_level(cell: Cell, records: Sequence[SearchRecord]) -> list[list[float]]:
    """Group the best scores of a cell by its levels; levels without a search are left out."""
    found: dict[int, list[float]] = {}
    for record in records:
        found.setdefault(cell.place(record.replicate), []).append(record.score)
    return [found[place] for place in sorted(found)]


def _summary(cell: Cell, records: Sequence[SearchRecord]) -> CellSummary:
    scores = np.array([r.score for r in records])
    low, median, high = (float(np.percentile(scores, q)) for q in (25, 50, 75))
    groups = by_level(cell, records)
    return CellSummary(
        cell.label,
        cell.goal,
        len(scores),
        clustered(groups) if len(groups) > 1 else mean_interval(scores),
        _deviation(scores),
        low,
        median,
        high,
        float(np.mean([r.rollouts for r in records])),
        float(np.mean([r.seconds for r in records])),
        sum(r.proven for r in records),
    )


def comparisons(results: ExperimentResults) -> list[CellComparison]:
    """Compare each pair of cells that have results, differ in one thing only and have the same goal."""
    cells = results.experiment.cells
    records = [results.of(cell) for cell in cells]
    pairs = [(a, b) for a, b in results.experiment.pairs() if records[a] and records[b]]
    if results.experiment.levels > 1:
        found = [_paired((cells[a], records[a]), (cells[b], records[b])) for a, b in pairs]
    else:
        scores = [[r.score for r in own] for own in records]
        found = [_unpaired(cells[a], scores[a], cells[b], scores[b]) for a, b in pairs]
    return family(found)


def _unpaired(a: Cell, x: Sequence[float], b: Cell, y: Sequence[float]) -> CellComparison:
    test = mann_whitney(x, y)
    return CellComparison(a.label, b.label, vargha_delaney(x, y), difference(x, y), test, test.p)


def _paired(*sides: tuple[Cell, Sequence[SearchRecord]]) -> CellComparison:
    """Compare the means of two cells in each level that both have searched."""
    scores = [[(cell.place(r.replicate), r.score) for r in records] for cell, records in sides]
    (a, _), (b, _) = sides
    return paired_comparison(a.label, b.label, *scores)


def paired_comparison(
    a: str, b: str, first: Iterable[tuple[int, float]], second: Iterable[tuple[int, float]]
) -> CellComparison:
    """Compare two cells by the difference of their means, a - b, in each level that both have.

    Args:
        a, b: the labels of the cells.
        first, second: their scores, each with the number of its level.
    """
    groups: tuple[dict[int, list[float]], dict[int, list[float]]] = {}, {}
    for known, scores in zip(groups, (first, second), strict=True):
        for place, score in scores:
            known.setdefault(place, []).append(score)
    one, other = ({place: mean_interval(own).value for place, own in known.items()} for known in groups)
    changes = [one[place] - other[place] for place in one if place in other]
    test = wilcoxon(changes)
    return CellComparison(a, b, share_higher(changes), mean_interval(changes), test, test.p, len(changes))


def family(found: Sequence[CellComparison]) -> list[CellComparison]:
    """Correct the p values of comparisons that are shown together."""
    corrected = holm([one.test.p for one in found])
    return [one._replace(corrected=p, family=len(found)) for one, p in zip(found, corrected, strict=True)]


def apart(results: ExperimentResults) -> list[str]:
    """Return a note that cells with different goals are not compared; [] if all have the same goal."""
    goals = {
        goal: [cell.label for cell in cells if results.of(cell)] for goal, cells in results.experiment.goals().items()
    }
    goals = {goal: labels for goal, labels in goals.items() if labels}
    if len(goals) < 2:
        return []
    named = "; ".join(f"{', '.join(labels)} ({goal})" for goal, labels in goals.items())
    return [
        "scores of different goals are not comparable, so combinations are compared only with those that were "
        f"searched for the same: {named}"
    ]


def unfit_constants(results: ExperimentResults) -> list[str]:
    """Report UCB1 constants that are far from the scores found, a sentence for each goal and constant.

    Scores are not scaled. A constant that is 10 times their spread makes all parts of the tree look alike to a search,
    and one that is a tenth of it makes a search follow its first good rollouts. The spread is that from the lowest
    first score of a search to the highest best score. Inside the root a constant weighs as much as its square root does
    outside. Searches that know every way to play, or that divide scores by their range, are left out.
    """
    groups: dict[tuple[str, float, str], list[SearchRecord]] = {}
    for cell in results.experiment.cells:
        if results.experiment.is_fitted(cell):
            continue
        key = cell.goal, float(cell.search.uct_constant), cell.search.constant
        groups.setdefault(key, []).extend(r for r in results.of(cell) if not r.proven)
    told = []
    for (goal, constant, where), records in groups.items():
        low = min((r.growth[0][1] for r in records), default=0.0)
        high = max((r.score for r in records), default=0.0)
        weight = math.sqrt(constant) if where == INSIDE else constant
        if high <= low or (high - low) / AWAY <= weight <= AWAY * (high - low):
            continue
        inside = f" inside the root, so {weight:.3g} outside," if where == INSIDE else ""
        what = "little more than chance" if weight > high - low else "hardly anything but its first good rollouts"
        told.append(
            f"uct_constant {constant:g}{inside} is far from the scores found for {goal}, {low:g} to {high:g}: "
            f"the search is guided by {what}; a constant near the spread of scores, such as "
            f"{_round(high - low) ** (2 if where == INSIDE else 1):g}, suits them"
        )
    return told


def _round(value: float) -> float:
    """Round a positive number to one digit."""
    return float(f"{value:.0e}")


def curve(records: Sequence[SearchRecord], rollouts: int) -> Curve:
    """Return how the best score grows up to `rollouts`; a search that ended earlier keeps its last value."""
    points = np.unique(np.linspace(1, rollouts, min(POINTS, rollouts)).round())
    grown = np.array([_along(r.growth, points) for r in records])
    return Curve(points, grown.mean(axis=0), np.array([_deviation(column) for column in grown.T]))


def _along(growth: Growth, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the best score at each of these rollouts."""
    numbers, values = np.array([n for n, _ in growth]), np.array([v for _, v in growth])
    found: NDArray[np.float64] = values[np.maximum(0, np.searchsorted(numbers, points, side="right") - 1)]
    return found


def p_words(p: float) -> str:
    """Format a p value for display; very small ones as powers of ten."""
    digits = 3 if 0.01 <= p < 0.095 else 2
    return f"p = {p:.{digits}f}" if p >= 0.01 else f"p = {p:.1g}"


def _deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
