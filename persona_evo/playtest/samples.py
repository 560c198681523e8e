"""Compares two groups of playthroughs in one measure: the values that count, the tests, and the effect sizes.

Trials that show routes of one proven search are not independent (see `metrics`), and are not tested as if they were.
The values of such a group count as known. Two known groups are compared exactly, without a p value, but only in utility
and win rate, which are the same for all routes of a search. Steps or treasures are those of the routes that were drawn;
equally good routes may have other values, so these have a range (`RouteRange`) and are never significant. A group of
several searches is tested against the mean of a known one, by Student's t test or the exact binomial test; of its
trials only those count that searched themselves. The time of searches is never known, and is always tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from persona_evo.intervals import Interval, difference, rate_difference, vargha_delaney
from persona_evo.playtest.metrics import CLOCK, UNBOUNDED, Measure, certain, estimate, range_of, searches
from persona_evo.playtest.records import Playthrough
from persona_evo.statistics import NO_VARIATION, Test, binomial, fisher, mann_whitney, student, welch

EXACT = "proven"
"""Test of measures for which both groups are known."""

PAIRED = "Wilcoxon"
"""Test of pairs of levels (see `level_pairs`)."""

EACH = "one search each"
"""Note of such a measure."""


@dataclass(frozen=True)
class Sample:
    """The values of a measure in a group.

    Attributes:
        values: values of the playthroughs that count.
        known: whether all of them come from one proven search for each level.
    """

    values: Sequence[float]
    known: bool


@dataclass(frozen=True)
class RouteRange:
    """The range of a measure over the different routes that trials of one proven search show."""

    low: float
    high: float
    routes: int


class TrialGroup:
    """A group of at least one playthrough, which caches what is computed from it.

    Args:
        records: the playthroughs.
        worth: range of the player's utility.
    """

    def __init__(self, records: Sequence[Playthrough], worth: tuple[float, float] = UNBOUNDED) -> None:
        self.records, self.worth = records, worth
        self._samples: dict[Measure, Sample] = {}
        self._means: dict[Measure, Interval] = {}

    @cached_property
    def searches(self) -> Sequence[Playthrough]:
        """One playthrough for each search."""
        return searches(self.records)

    @cached_property
    def certain(self) -> bool:
        """Whether all playthroughs come from one proven search for each level."""
        return bool(certain(self.records))

    @cached_property
    def routes(self) -> int:
        """The number of different routes."""
        return len({tuple(r.actions) for r in self.records})

    def range(self, measure: Measure) -> RouteRange | None:
        """Return the range of a measure over the routes of a proven search; None if it cannot depend on the route."""
        sample = self.sample(measure)
        if not sample.known or measure.by_search:
            return None
        return RouteRange(min(sample.values), max(sample.values), self.routes)

    def sample(self, measure: Measure) -> Sample:
        """Return the values of a measure."""
        if measure not in self._samples:
            known = self.certain and measure.key != CLOCK
            values = [measure.value(r) for r in (self.records if known else self.searches)]
            self._samples[measure] = Sample(values, known)
        return self._samples[measure]

    def mean(self, measure: Measure) -> Interval:
        """Return the mean or rate over all playthroughs, with its interval."""
        if measure not in self._means:
            self._means[measure] = estimate(measure, self.records, self.worth)
        return self._means[measure]


def effects(a: TrialGroup, b: TrialGroup, measure: Measure) -> tuple[Interval, Interval]:
    """Return how far two groups differ: Vargha and Delaney's A of b against a, and b - a.

    Neither is an estimate if both groups are known.
    """
    (x, y), both = _values(a, b, measure)
    effect = vargha_delaney(y, x)
    change = rate_difference(int(sum(y)), len(y), int(sum(x)), len(x)) if measure.rate else difference(y, x)
    (low_a, high_a), (low_b, high_b) = (range_of(measure, group.worth) for group in (a, b))
    change = change.within(low_b - high_a, high_b - low_a)
    if both:
        return Interval.exact(effect.value, EACH), Interval.exact(change.value, EACH)
    return effect, change


def _values(a: TrialGroup, b: TrialGroup, measure: Measure) -> tuple[tuple[Sequence[float], Sequence[float]], bool]:
    """Return the values of both groups, and whether both are known."""
    x, y = a.sample(measure), b.sample(measure)
    return (x.values, y.values), x.known and y.known


def tested(a: TrialGroup, b: TrialGroup, measure: Measure) -> tuple[str, Test, float]:
    """Test a measure of two groups, each in one level.

    Returns:
        The test's name (see `ComparisonRow`), its result (above 0 if a is higher), and the rank test's p value.
    """
    first, second = a.sample(measure), b.sample(measure)
    x, y = first.values, second.values
    if first.known and second.known:
        apart = ((min(x) > max(y)) - (min(y) > max(x))) if measure.by_search else 0
        p = float(not apart)
        return EXACT, Test(float(apart), p, 0.0, f"proven, {EACH}" if measure.by_search else EACH), p
    if first.known or second.known:
        name, test = _against(x, y, measure) if second.known else _against(y, x, measure)
        note = "; ".join(filter(None, (test.note, f"{'b' if second.known else 'a'} is of one proven search")))
        return name, test._replace(statistic=test.statistic if second.known else -test.statistic, note=note), test.p
    if measure.rate:
        test = fisher(int(sum(x)), len(x), int(sum(y)), len(y))
        return "Fisher", test, test.p
    test = welch(x, y)
    return "exact" if test.note == NO_VARIATION and test.p < 1 else "Welch", test, mann_whitney(x, y).p


def _against(sample: Sequence[float], known: Sequence[float], measure: Measure) -> tuple[str, Test]:
    """Test values of several searches against those of a known group."""
    mean = known[0] if min(known) == max(known) else math.fsum(known) / len(known)
    if measure.rate:
        return "binomial", binomial(int(sum(sample)), len(sample), mean)
    return "Student", student(sample, mean)
