"""Tests and intervals against scipy, against exact values, and in the cases where textbooks divide by zero."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo import intervals, statistics
from persona_evo.intervals import Interval
from tests.cli.tool import environment

scipy_stats = pytest.importorskip("scipy.stats")

VALUES = st.lists(st.floats(-1e300, 1e300), min_size=0, max_size=12)
FEW = st.lists(st.sampled_from([0.0, 0.1, 1.0, 1e-300, -3.0, 1e300]), min_size=0, max_size=12)


def samples(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(7)
    made = []
    for i in range(count):
        n, m = rng.integers(2, 60, 2)
        x = rng.normal(0, 1, n) * 10 ** rng.uniform(-3, 3)
        y = rng.normal(rng.normal(), 2, m)
        made.append((x.round(), y.round()) if i % 3 == 0 else (x, y))
    return [(x, y) for x, y in made if np.ptp(x) > 0 and np.ptp(y) > 0]


def close(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-9, abs=1e-250)


def test_welch_is_scipys() -> None:
    for x, y in samples(300):
        expected = scipy_stats.ttest_ind(x, y, equal_var=False)
        found = statistics.welch(x, y)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
        assert found.df == pytest.approx(expected.df, rel=1e-9) and close(found.p, expected.pvalue)


def test_mann_whitney_is_scipys_exact_and_approximate() -> None:
    exact = 0
    for x, y in samples(150) + [(x[:7], y[:30]) for x, y in samples(60)]:
        if np.ptp(np.concatenate([x, y])) == 0:
            continue
        expected = scipy_stats.mannwhitneyu(x, y)
        found = statistics.mann_whitney(x, y)
        exact += min(len(x), len(y)) <= 8
        assert found.statistic == expected.statistic and close(found.p, expected.pvalue)
    assert exact > 30


def test_mann_whitney_counts_every_order() -> None:
    a, b = [1.0, 4.0, 9.0], [2.0, 5.0, 6.0, 7.0]
    seen = statistics.mann_whitney(a, b)
    extreme = 0
    for first in itertools.combinations(sorted(a + b), 3):
        u = sum(x > y for x in first for y in set(a + b) - set(first))
        extreme += abs(u - 6) >= abs(seen.statistic - 6)
    assert seen.p == pytest.approx(extreme / math.comb(7, 3), rel=1e-12)


def test_fisher_is_scipys() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        n, m = (int(v) for v in rng.integers(1, 60, 2))
        k, j = int(rng.integers(0, n + 1)), int(rng.integers(0, m + 1))
        expected = scipy_stats.fisher_exact([[k, n - k], [j, m - j]]).pvalue
        assert close(statistics.fisher(k, n, j, m).p, expected), (k, n, j, m)


def test_fishers_own_example_and_ties_of_symmetric_tables() -> None:
    assert statistics.fisher(3, 4, 1, 4).p == pytest.approx(float(Fraction(34, 70)), rel=1e-12)
    assert statistics.fisher(10, 10, 0, 10).p == pytest.approx(2 / math.comb(20, 10), rel=1e-12)


def test_wilson_is_scipys() -> None:
    for k, n in [(0, 1), (1, 1), (0, 50), (50, 50), (13, 50), (49, 50), (7, 1000)]:
        expected = scipy_stats.binomtest(k, n).proportion_ci(method="wilson")
        found = intervals.wilson(k, n)
        assert found.low == pytest.approx(expected.low, rel=1e-9, abs=1e-15)
        assert found.high == pytest.approx(expected.high, rel=1e-9)


def test_mean_interval_is_scipys() -> None:
    for x, _ in samples(40):
        low, high = scipy_stats.t.interval(0.95, len(x) - 1, loc=x.mean(), scale=scipy_stats.sem(x))
        found = intervals.mean_interval(x)
        assert found.low == pytest.approx(low, rel=1e-9)
        assert found.high == pytest.approx(high, rel=1e-9)
        assert found.half == pytest.approx((high - low) / 2, rel=1e-9)


def test_tests_are_loaded_when_one_is_computed() -> None:
    code = (
        "import sys; from persona_evo import intervals as s; s.mean_interval([1, 2]); "
        "s.difference([1], [2]); s.vargha_delaney([1], [2]); print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "their import takes a second"


def test_the_signed_rank_test_is_scipys_and_exact_with_ties() -> None:
    rng = np.random.default_rng(5)
    for count in (1, 4, 6, 12, 40, 51, 200):
        x = rng.normal(0.3, 1, count)
        method = "exact" if count <= 50 else "asymptotic"
        assert close(statistics.wilcoxon(x).p, scipy_stats.wilcoxon(x, method=method, correction=True).pvalue), count
    tied = np.rint(rng.normal(0.2, 1, 90) * 2)
    assert close(statistics.wilcoxon(tied).p, scipy_stats.wilcoxon(tied, correction=True, method="asymptotic").pvalue)
    # by hand: equal distances share their mean rank, and every sign is as likely
    x = [1.0, 1.0, 2.0, -1.0, 3.0, 3.0, 0.0, -2.0]
    ranks = [2, 2, 4.5, 2, 6.5, 6.5, 4.5]
    signs = itertools.product((0, 1), repeat=7)
    far = sum(abs(sum(r * s for r, s in zip(ranks, own, strict=True)) - 14) >= 7.5 for own in signs)
    found = statistics.wilcoxon(x)
    assert (found.statistic, found.p) == (21.5, far / 128)
    assert statistics.wilcoxon([0.0, 0.0]) == (0.0, 1.0, 0.0, statistics.NO_VARIATION)
    assert statistics.wilcoxon([]).note == statistics.TOO_FEW
    assert statistics.wilcoxon([1e300] * 6).p == 2 / 2**6 == statistics.wilcoxon([-1e-300] * 6).p


def test_vargha_delaney_counts_pairs() -> None:
    a, b = [1.0, 4.0, 4.0, 9.0], [2.0, 4.0, 5.0]
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for x in a for y in b]
    effect = intervals.vargha_delaney(a, b)
    assert effect.value == pytest.approx(sum(pairs) / len(pairs)) and effect.n == 3
    turned = intervals.vargha_delaney(b, a)
    assert turned.value == pytest.approx(1 - effect.value) and turned.low == pytest.approx(1 - effect.high)
    apart = intervals.vargha_delaney([1.0] * 10, [0.0] * 10)
    assert apart.value == apart.high == 1 and 0.6 < apart.low < 0.9, "ten against ten are not certain"
    assert intervals.vargha_delaney([3.0], [3.0]).value == 0.5
    with pytest.raises(ValueError, match="no values"):
        intervals.vargha_delaney([], [1.0])


def test_the_share_of_higher_pairs_counts_ties_half() -> None:
    assert intervals.share_higher([1.0, 0.0, -2.0, 3.0]) == intervals.score(2.5 / 4, 4)
    assert intervals.share_higher(np.array([-1.0])).value == 0.0


def test_vargha_delaneys_interval_covers_the_truth() -> None:
    """Normal samples one standard deviation apart: A is Phi(1 / sqrt 2) = 0.7602."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        low, high = intervals.vargha_delaney(rng.normal(1, 1, 12), rng.normal(0, 1, 15))[1:3]
        covered += low <= 0.76025 <= high
    assert 0.92 <= covered / 400 <= 0.99


def test_the_difference_of_means_has_welchs_interval() -> None:
    for x, y in samples(100):
        expected = scipy_stats.ttest_ind(x, y, equal_var=False).confidence_interval()
        found = intervals.difference(x, y)
        assert found.low == pytest.approx(expected.low, rel=1e-9, abs=1e-12)
        assert found.high == pytest.approx(expected.high, rel=1e-9, abs=1e-12)
        assert found.value == pytest.approx(x.mean() - y.mean(), rel=1e-9, abs=1e-12)
    assert intervals.difference([2.0] * 3, [5.0] * 4) == Interval(-3, -3, -3, 3)
    assert not intervals.difference([2.0], [5.0, 6.0]).known
    wide = intervals.difference([1e300, 2e300], [0.0, 0.0])
    assert wide.value == pytest.approx(1.5e300) and math.isfinite(wide.high)


def test_the_difference_of_rates_has_newcombes_interval() -> None:
    """Newcombe's (1998) own examples: 56/70 against 48/80, 9/10 against 3/10, 10/10 against 0/10."""
    for counts, low, high in [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ]:
        found = intervals.rate_difference(*counts)
        assert found.low == pytest.approx(low, abs=6e-5) and found.high == pytest.approx(high, abs=6e-5)
    assert intervals.rate_difference(0, 0, 1, 1).low == -1


def test_correlations_are_scipys() -> None:
    rng = np.random.default_rng(2)
    for n in [3, 4, 11, 60] * 10:
        x = rng.normal(size=n)
        y = (x + rng.normal(size=n)).round(1)
        for found, expected in (
            (statistics.pearson(x, y), scipy_stats.pearsonr(x, y)),
            (statistics.spearman(x, y), scipy_stats.spearmanr(x, y)),
        ):
            assert found.r == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
            assert found.p == pytest.approx(expected.pvalue, rel=1e-7, abs=1e-12)


def test_holm_by_hand() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == [] and statistics.holm([0.5, 0.9]) == [1.0, 1.0]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_order_and_never_lowers(p_values: list[float]) -> None:
    corrected = statistics.holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [corrected[i] for i in order] == sorted(corrected)
    assert sum(q < 0.05 for q in corrected) <= sum(p < 0.05 for p in p_values)


def test_constants_and_tiny_samples_are_defined() -> None:
    same, other = [0.1] * 5, [0.3] * 5
    assert statistics.welch(same, same) == (0, 1, 0, statistics.NO_VARIATION)
    assert statistics.welch(same, other) == (-math.inf, 2 / math.comb(10, 5), 0, statistics.NO_VARIATION)
    assert statistics.welch([0.0, 1e-300], [1e300, 1e300]) == (-math.inf, 1 / 3, 0, statistics.NO_VARIATION)
    assert statistics.mann_whitney(same[:3], other[:3]) == (0, 0.1, 0, statistics.NO_VARIATION)
    assert statistics.welch([1.0], [2.0, 3.0]) == (0, 1, 0, statistics.TOO_FEW)
    assert statistics.mann_whitney(same, same)[1:] == (1, 0, statistics.NO_VARIATION)
    assert statistics.mann_whitney(same, other).p < 0.05
    assert statistics.mann_whitney([], other).note == statistics.TOO_FEW
    assert statistics.fisher(5, 5, 7, 7)[1:] == (1, 0, statistics.NO_VARIATION)
    assert statistics.fisher(0, 0, 1, 2).p == 1
    assert statistics.pearson(same, [1, 2, 3, 4, 5]) == (0, 1, 5, statistics.NO_VARIATION)
    assert statistics.pearson([1, 2], [1, 3])[1:] == (1, 2, statistics.TOO_FEW)
    assert statistics.pearson([1, 2, 3], [2, 4, 6]).r == 1
    assert statistics.spearman([5.0], [3.0]) == (0, 1, 1, statistics.TOO_FEW)
    assert intervals.mean_interval([0.1]) == Interval(0.1, 0.1, 0.1, 1)
    assert intervals.mean_interval([0.1] * 3) == Interval(0.1, 0.1, 0.1, 3)
    assert intervals.wilson(0, 0) == Interval(0, 0, 1, 0)


@settings(deadline=None)
@given(st.one_of(VALUES, FEW), st.one_of(VALUES, FEW))
def test_nothing_is_ever_nan_and_p_is_a_probability(x: list[float], y: list[float]) -> None:
    paired = min(len(x), len(y))
    results: list[statistics.Test | statistics.Correlation] = [
        statistics.welch(x, y),
        statistics.mann_whitney(x, y),
        statistics.pearson(x[:paired], y[:paired]),
        statistics.spearman(x[:paired], y[:paired]),
    ]
    for result in results:
        assert 0 <= result.p <= 1 and not math.isnan(result[0])
    if x:
        value, low, high, n, _ = intervals.mean_interval(x)
        assert low <= value <= high and n == len(x)
    if x and y:
        for value, low, high, *_ in (intervals.vargha_delaney(x, y), intervals.difference(x, y)):
            assert low <= value <= high


@settings(deadline=None)
@given(FEW, FEW)
def test_two_sided_tests_do_not_mind_which_group_is_first(x: list[float], y: list[float]) -> None:
    assert statistics.welch(x, y).p == pytest.approx(statistics.welch(y, x).p, rel=1e-6, abs=1e-12)
    assert statistics.mann_whitney(x, y).p == pytest.approx(statistics.mann_whitney(y, x).p, rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_wilson_contains_the_rate(k: int, more: int) -> None:
    rate, low, high, *_ = intervals.wilson(k, k + more)
    assert 0 <= low <= rate <= high <= 1


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        statistics.welch([1, 2, value], [1, 2])
    with pytest.raises(ValueError, match="successes"):
        intervals.wilson(3, 2)
    with pytest.raises(ValueError, match="no values"):
        intervals.mean_interval([])


def test_one_value_has_no_interval() -> None:
    one, same, rate = intervals.mean_interval([908]), intervals.mean_interval([3, 3]), intervals.wilson(1, 1)
    assert one.text(1) == "908.0 (one)" and one.ends == ("", "") and not one.known
    assert same.text(1) == "3.0 ± 0.0" and same.ends == (3, 3)
    assert rate.known and rate.ends == (rate.low, 1.0), "Wilson's interval of one trial is one"


def test_few_values_reach_beyond_what_there_can_be() -> None:
    few = intervals.mean_interval([0.0, 0.9]).within(0, 1)
    assert (few.low, few.high) == (0, 1) and not few.presentable
    assert intervals.mean_interval([0.5, 0.5]).within(0, 1).presentable
    five = intervals.mean_interval([0.9, 1.0, 1.0, 1.0, 1.0]).within(0, 1)
    assert five.presentable and five.high == 1 and not five.symmetric and five.text(2) == "0.98 (0.92–1.00)"
    assert intervals.mean_interval([0.0, 4.0]).within(0, 1).high > 4, "the declared range is wrong"


def test_a_sample_is_tested_against_a_known_value() -> None:
    x = [1.0, 2.0, 3.0, 4.0]
    test = statistics.student(x, 0.0)
    assert test.df == 3 and test.statistic == pytest.approx(2.5 / (math.sqrt(5 / 3) / 2))
    assert test.p == pytest.approx(0.0304660, rel=1e-4)
    assert statistics.student(x, 2.5).p == 1 and statistics.student(x, 9.0).statistic < 0
    assert statistics.student([1.0], 0.0) == (0, 1, 0, statistics.TOO_FEW)
    assert statistics.student([0.1] * 5, 0.1) == (0, 1, 0, statistics.NO_VARIATION)
    assert statistics.student([0.1] * 5, 0.2) == (-math.inf, 2**-4, 0, statistics.NO_VARIATION)


def test_a_rate_is_tested_against_a_known_one() -> None:
    assert statistics.binomial(9, 10, 0.5).p == pytest.approx(2 * 11 / 1024)
    assert statistics.binomial(2, 3, 0.25).p == pytest.approx(10 / 64)
    assert statistics.binomial(5, 10, 0.5).p == 1 and statistics.binomial(0, 0, 0.5).p == 1
    assert statistics.binomial(20, 20, 1.0) == (0, 1, 0, statistics.NO_VARIATION)
    assert statistics.binomial(19, 20, 1.0).p == 0 and statistics.binomial(1, 20, 0.0).p == 0
    assert 0 <= statistics.binomial(70_000, 100_000, 0.701).p <= 1


def test_a_rate_may_be_less_certain_than_its_trials_say() -> None:
    assert intervals.score(0.5, 10) == intervals.wilson(5, 10)
    wide = intervals.score(0.95, 2)
    assert wide.value == 0.95 and wide.low < intervals.wilson(19, 20).low and wide.n == 2


def test_a_known_value_has_a_note_and_no_interval() -> None:
    known = Interval.exact(0.88, "proven, one search")
    assert not known.known and known.ends == ("", "") and known.text(2) == "0.88 (proven, one search)"
    assert not known.presentable


def test_values_of_a_group_count_as_one_where_they_agree() -> None:
    alike = intervals.clustered([[1.0] * 10, [2.0] * 10, [3.0] * 10])
    assert alike == intervals.mean_interval([1.0, 2.0, 3.0])
    assert intervals.clustered([[4.0, 6.0], [5.0], [5.0, 5.0]]) == (5.0, 5.0, 5.0, 3, ""), "the groups do not differ"
    unequal = intervals.clustered([[0.0], [1.0, 1.0, 1.0]])
    assert unequal.value == 0.75 and unequal.n == 2
    assert unequal.half == pytest.approx(12.706 * math.sqrt(2 * ((0.25 * 0.75) ** 2 + (0.75 * 0.25) ** 2)), rel=1e-4)
    for groups in ([[1.0]], [[1.0], []], [[1.0], [math.nan]]):
        with pytest.raises(ValueError):
            intervals.clustered(groups)


def test_a_rate_over_groups_is_as_certain_as_the_groups_make_it() -> None:
    assert intervals.clustered_rate([(10, 10), (10, 10), (10, 10)]) == intervals.wilson(3, 3), "a trial a group"
    assert intervals.clustered_rate([(0, 9), (0, 9)]) == intervals.wilson(0, 2)
    assert intervals.clustered_rate([(5, 10), (5, 10)]) == intervals.wilson(10, 20), "the groups do not differ"
    apart = intervals.clustered_rate([(10, 10), (0, 10), (10, 10), (0, 10)])
    assert apart == intervals.score(0.5, 4), "never less than a trial a group"
    some = intervals.clustered_rate([(12, 20), (8, 20), (11, 20), (9, 20)])
    assert some == intervals.wilson(40, 80), "never more than the trials there are"
    between = intervals.clustered_rate([(16, 20), (6, 20), (12, 20), (6, 20)])
    assert between == intervals.score(0.5, 17)
