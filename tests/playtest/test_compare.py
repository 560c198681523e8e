"""Summaries and comparisons of groups of playthroughs."""

from __future__ import annotations

import dataclasses

import pytest

from persona_evo import intervals, statistics
from persona_evo.formula import parse
from persona_evo.games.core import Metric
from persona_evo.intervals import score, wilson
from persona_evo.playtest import compare, compare_versions, metrics
from persona_evo.playtest.correlations import correlations
from persona_evo.playtest.metrics import EVERY, Bound
from persona_evo.playtest.summaries import summarise
from tests.playtest.makers import INFOS, group, played


def test_summaries_per_level_and_over_all() -> None:
    records = group("one", "runner", 10, 10) + group("one", "collector", 4, 10) + group("two", "runner", 5, 10)
    bounds = {("one", "runner"): Bound(1.0, True), ("two", "runner"): Bound(0.5, False)}
    rows = summarise(records, INFOS, bounds)
    assert [(s.level, s.player) for s in rows] == [
        ("one", "runner"),
        ("one", "collector"),
        ("two", "runner"),
        (EVERY, "runner"),
        (EVERY, "collector"),
    ]
    one, collector, _, every, _ = rows
    assert (one.win_rate, one.lost, one.deaths) == (intervals.wilson(10, 10), 0, {})
    assert collector.deaths == {"ogre": 6} and collector.bound is None and collector.ratio is None
    assert list(one.metrics) == ["ST", "TO", "TU", "WON"] and one.metrics["ST"] == one.steps
    assert one.ratio == pytest.approx(one.utility.value)
    assert every.trials == 20 and every.win_rate.value == 0.75
    assert every.bound == Bound(0.75, False) and every.best_utility == pytest.approx(
        (rows[0].best_utility + rows[2].best_utility) / 2
    )
    assert every.best_utility < max(rows[0].best_utility, rows[2].best_utility)


def test_a_limit_missing_for_one_level_leaves_the_whole_without_one() -> None:
    records = [played("one"), played("two")]
    rows = summarise(records, INFOS, {("one", "runner"): Bound(1.0)})
    assert rows[0].bound is not None and rows[-1].bound is None
    assert summarise([played()], (), {("one", "runner"): Bound(-1.0)})[0].ratio is None


def test_causes_that_the_game_does_not_tell_are_unknown_and_the_rest_is_counted() -> None:
    records = [played(outcome="lost"), played(outcome="running"), played(proven=True)]
    summary = summarise(records)[0]
    assert (summary.deaths, summary.unfinished, summary.proven) == ({"unknown": 1}, 1, 1)
    assert summarise([]) == []


def test_measures_leave_out_what_is_said_twice() -> None:
    records = group("one", "runner", 5, 10)
    keys = [m.key for m in metrics.measures(records, INFOS)]
    assert keys == ["win_rate", "TO", "TU", "steps", "utility", "seconds"]


def test_a_metric_of_noughts_and_ones_is_a_rate_only_if_its_range_says_so() -> None:
    records = [played(treasure=t, teleports=t) for t in (0, 1, 1)]
    kinds = {m.key: m.rate for m in metrics.measures(records, INFOS)}
    assert kinds["TO"] is True and kinds["TU"] is False


def test_rows_use_the_test_that_fits() -> None:
    a, b = group("one", "runner", 50, 50, treasure=0.2), group("one", "base", 10, 50, treasure=0.5)
    rows = {r.measure.key: r for r in compare.compare_groups(a, b, INFOS)}
    assert rows["win_rate"].test == "Fisher" and rows["win_rate"].p == statistics.fisher(50, 50, 10, 50).p
    values = [[r.metrics["TO"] for r in side] for side in (a, b)]
    assert rows["TO"].p == statistics.welch(*values).p and rows["TO"].p_rank == statistics.mann_whitney(*values).p
    assert rows["TO"].differs() and rows["TO"].higher == "b" and rows["win_rate"].higher == "a"
    assert rows["TU"].p_holm == 1 and rows["TU"].note == statistics.NO_VARIATION and not rows["TU"].differs()
    with pytest.raises(ValueError, match="no playthroughs"):
        compare.compare_groups([], b)


def test_the_correction_counts_only_what_varies() -> None:
    a, b = group("one", "runner", 8, 10), group("one", "base", 8, 10, seed=1)
    rows = compare.compare_groups(a, b, INFOS)
    varying = [r for r in rows if r.note != statistics.NO_VARIATION]
    assert 0 < len(varying) < len(rows)
    assert [r.p_holm for r in varying] == statistics.holm([r.p for r in varying])


def test_how_fast_the_machine_was_is_in_no_other_p_value() -> None:
    a, b = group("one", "runner", 10, 10), group("one", "base", 4, 10, seed=1)

    def corrected(*seconds: float) -> dict[str, float]:
        timed = [dataclasses.replace(r, seconds=seconds[i % len(seconds)]) for i, r in enumerate(b)]
        return {r.measure.key: r.p_holm for r in compare.compare_groups(a, timed, INFOS)}

    quick, slow = corrected(*(a[0].seconds + step for step in (0.0, 0.1, -0.1))), corrected(50.0, 60.0)
    assert quick.pop("seconds") != slow.pop("seconds") and quick == slow
    structure = {name: {"walls": float(i)} for i, name in enumerate("abcde")}
    records = [r for i, name in enumerate("abcde") for r in group(name, "x", 5 + i, 10, steps=20 + 3 * i)]
    timed = [dataclasses.replace(r, seconds=float(i % 7)) for i, r in enumerate(records)]
    found = [
        {r.result: r.p_holm for r in correlations(structure, of, INFOS) if r.result != "seconds"}
        for of in (records, timed)
    ]
    assert found[0] == found[1] != {}


def test_a_rank_test_that_disagrees_is_said() -> None:
    # one value far out hides from Welch what the ranks show
    a = [played(steps=s) for s in [10, 11, 12, 13, 14, 15, 16, 17, 18, 5000]]
    b = [played(steps=s) for s in range(30, 40)]
    rows = {r.measure.key: r for r in compare.compare_groups(a, b, INFOS)}
    assert "rank test disagrees" in rows["steps"].note and not rows["steps"].differs()


def test_counts_as_in_the_paper() -> None:
    records = []
    for level, treasure in (("one", 0.9), ("two", 0.9), ("three", 0.5)):
        records += group(level, "collector", 50, 50, treasure=treasure) + group(level, "base", 10, 50, treasure=0.5)
    rows = compare.versus_baseline(records, [("collector", "base")], INFOS)
    table = compare.counts(rows, corrected=True)
    assert table["TO", "collector"] == (2, 0, 3) and table["win_rate", "collector"] == (3, 0, 3)
    assert compare.versus_baseline(records, [("collector", "nobody")], INFOS) == []


def test_verdict_of_a_harder_level() -> None:
    a = group("a", "monster_killer", 50, 50)
    b = group("b", "monster_killer", 31, 50)
    rows = compare_versions.compare_levels(a, b, INFOS)
    win = rows[0]
    assert win.verdict == "B is harder for the monster killer: win rate 100 % -> 62 % (p < 0.0001)"
    assert "easier" in compare_versions.compare_levels(b, a, INFOS)[0].verdict
    assert compare_versions.headlines(rows)[0] == win.verdict and "seconds" not in {r.measure.key for r in rows}


def test_without_variation_the_p_is_that_of_an_exact_test() -> None:
    def versions(trials: int) -> list[compare.ComparisonRow]:
        return compare_versions.compare_levels(
            [played("a", steps=10, trial=i) for i in range(trials)],
            [played("b", steps=14, trial=i) for i in range(trials)],
            INFOS,
        )

    steps = next(r for r in versions(3) if r.measure.key == "steps")
    assert (steps.test, steps.p, steps.p_rank) == ("exact", pytest.approx(0.1), pytest.approx(0.1))
    assert not steps.differs() and steps.constant
    said = " ".join(compare_versions.headlines(versions(3)))
    assert "too few trials to say for the runner" in said and "(3 trials each): steps 10 -> 14" in said
    assert "p <" not in said
    many = " ".join(compare_versions.headlines(versions(50)))
    assert "B changes what the runner does: steps 10 -> 14 (p < 0.0001, no variation in either)" in many
    assert "too few" not in many.partition(";")[0]


def test_verdict_of_no_difference_says_what_could_not_be_seen() -> None:
    a, b = group("a", "runner", 50, 50), group("b", "runner", 49, 50)
    verdict = compare_versions.compare_levels(a, b, INFOS)[0].verdict
    assert verdict.startswith("no difference shown for the runner: win rate 100 % -> 98 % (p = 1.00)")
    assert "with 50 trials each a difference below about 12 points cannot be seen" in verdict
    assert statistics.fisher(50, 50, 44, 50).p < 0.05 < statistics.fisher(50, 50, 45, 50).p
    tiny = compare_versions.compare_levels(a[:2], b[:2], INFOS)[0].verdict
    assert "2 trials each are too few to see any difference" in tiny


def test_win_rates_are_corrected_among_themselves() -> None:
    a = [r for p in ("x", "y") for r in group("a", p, 50, 50)]
    b = [r for p in ("x", "y") for r in group("b", p, 43, 50)]
    rows = [r for r in compare_versions.compare_levels(a, b, INFOS) if r.measure.key == "win_rate"]
    assert [r.p_holm for r in rows] == pytest.approx([2 * rows[0].p] * 2)
    assert compare_versions.compare_levels(a, group("b", "z", 1, 2), INFOS) == []


@pytest.mark.parametrize(("wins", "gap"), [(50, 0.12), (0, 0.12), (25, 0.22)])
def test_detectable_is_the_first_significant_difference(wins: int, gap: float) -> None:
    assert compare_versions.detectable(wins, 50, 50) == pytest.approx(gap)
    assert compare_versions.detectable(1, 1, 1) is None


def test_correlations_need_four_levels_and_variation() -> None:
    walls = {"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0}
    structure = {name: {"walls": w, "exits": 1.0} for name, w in walls.items()}
    records = [r for name, w in walls.items() for r in group(name, "collector", 10, 10, treasure=1 - w / 50)]
    rows = correlations(structure, records, INFOS, {"collector": ["TO", "win_rate"]})
    assert [(r.structure, r.result, r.n) for r in rows] == [("walls", "TO", 4)]
    assert rows[0].pearson.r < -0.9 and rows[0].spearman.r == pytest.approx(-1) and rows[0].p_holm == rows[0].pearson.p
    few = [r for r in records if r.level != "d"]
    assert correlations(structure, few, INFOS) == []


def test_correlations_are_corrected_together_and_sorted() -> None:
    structure = {name: {"walls": float(i), "dead ends": float(i % 2)} for i, name in enumerate("abcde")}
    records = [r for i, name in enumerate("abcde") for r in group(name, "x", 5 + i, 10, steps=20 + 3 * i)]
    rows = correlations(structure, records, INFOS)
    assert [r.pearson.p for r in rows] == sorted(r.pearson.p for r in rows)
    assert sorted(r.p_holm for r in rows) == statistics.holm([r.pearson.p for r in rows])


@pytest.mark.parametrize(
    ("value", "unit", "ratio", "text"),
    [
        (0.62, "", True, "62 %"),
        (0.118, "", True, "11.8 %"),
        (20.44, "steps", False, "20.4"),
        (12345.6, "", False, "12346"),
        (0.5, "times", False, "0.5 times"),
        (1.0, "", True, "100 %"),
    ],
)
def test_values_as_people_read_them(value: float, unit: str, ratio: bool, text: str) -> None:
    measure = metrics.Measure("k", "steps", lambda r: 0.0, "neutral", unit, ratio)
    assert compare.shown(measure, value) == text


def test_rows_are_values() -> None:
    row = compare.compare_groups(group("a", "x", 1, 3), group("a", "y", 2, 3), INFOS)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.p = 0.5  # type: ignore[misc]


def test_correlations_leave_out_levels_without_a_number() -> None:
    structure = {name: {"path": float(i) if i else float("nan")} for i, name in enumerate("abcde")}
    records = [r for i, name in enumerate("abcde") for r in group(name, "x", 5 + i, 10, steps=20 + 3 * i)]
    assert {r.n for r in correlations(structure, records, INFOS)} == {4}


def test_a_distance_that_stands_for_none_is_not_a_short_way() -> None:
    infos = (
        Metric("NT", "nearest treasure", "moves to the nearest treasure, 0 without any", better="lower"),
        Metric("X", "nearest exit", "moves to the exit", better="lower"),
    )
    a, b = (
        [dataclasses.replace(played(level), metrics={"NT": v, "X": v}) for _ in range(20)]
        for level, v in (("a", 0.571), ("b", 0.0))
    )
    said = compare_versions.headlines(compare_versions.compare_levels(a, b, infos))
    assert any("nearest treasure 0.571 -> none left" in s and "nearest exit 0.571 -> 0 " in s for s in said), said


def test_losses_of_main_metrics_come_first() -> None:
    infos = (
        Metric("TU", "teleports", "", better="neutral"),
        Metric("MS", "slain", "", better="higher", main=True),
        Metric("TO", "opened", "", better="higher", main=True),
    )
    values = {"a": {"TU": 1.0, "MS": 0.2, "TO": 0.9}, "b": {"TU": 2.0, "MS": 0.4, "TO": 0.1}}
    a, b = ([dataclasses.replace(played(level), metrics=m) for _ in range(20)] for level, m in values.items())
    first = next(
        s for s in compare_versions.headlines(compare_versions.compare_levels(a, b, infos)) if "changes what" in s
    )
    assert first.index("opened") < first.index("slain") < first.index("teleports")


def test_intervals_over_levels_are_for_other_levels_and_keep_to_the_range() -> None:
    records = group("one", "runner", 10, 10) + group("two", "runner", 0, 10) + group("three", "runner", 10, 10)
    for record in records:
        record.metrics["TO"] = float(record.won)
    *each, every = summarise(records, INFOS)
    assert [s.win_rate for s in each] == [wilson(10, 10), wilson(0, 10), wilson(10, 10)], "as ever in a single level"
    assert every.win_rate == score(2 / 3, 3), "thirty trials of three levels say as much as three trials"
    assert every.metrics["TO"] == (pytest.approx(2 / 3), 0.0, 1.0, 3, ""), "a share does not leave its range"
    assert every.trials == 30


def test_intervals_of_single_levels_keep_to_the_range() -> None:
    utility = parse("TO - 0.001 * ST * TO")
    worth = metrics.utility_ranges({"runner": utility, "base": parse("TO")}, INFOS)
    assert worth["base"] == (0, 1) and worth["runner"][1] == 1 and worth["runner"][0] < -1e9, "steps have no limit"
    values = [1.0] * 9 + [0.7]
    near = [played("one", p, treasure=v, utility=v, steps=1, best_utility=v) for p in worth for v in values]
    raw = intervals.mean_interval(values)
    assert raw.high > 1, "Student's interval knows no range"
    for summary in summarise(near, INFOS, worth=worth):
        for value in (summary.metrics["TO"], summary.utility):
            assert (value.value, value.low, value.high) == (raw.value, raw.low, 1.0)
    far = [played("one", "runner", treasure=0.0, utility=v, best_utility=v) for v in (0.0, 0.0, 0.0, 0.0, 0.01)]
    rows = {r.measure.key: r for r in compare.compare_groups(near[10:], far, INFOS, worth={**worth, "runner": (0, 1)})}
    for key in ("TO", "utility"):
        row = rows[key]
        assert row.a.high == 1.0 and row.b.low >= 0 and -1 <= row.difference.low <= row.difference.high <= 1
    assert rows["utility"].b.low == 0 and rows["steps"].b.low >= 0


def test_a_difference_that_is_not_shown_comes_with_its_interval_and_with_what_would_show_it() -> None:
    row = compare.ComparisonRow(
        "one",
        "runner",
        "runner",
        metrics.WIN_RATE,
        intervals.Interval(0.6, 0.45, 0.75, 50),
        intervals.Interval(0.5, 0.35, 0.65, 50),
        "Fisher",
        0.0,
        0.4,
        0.4,
        difference=intervals.Interval(-0.1, -0.3, 0.1, 50),
    )
    assert row.needed == 410
    assert compare_versions.in_doubt(row) == (
        "; 95 % interval of the difference -30 to +10 points; if it is as measured, "
        "about 410 playthroughs each would show it"
    )
    assert compare_versions.in_doubt(dataclasses.replace(row, difference=intervals.Interval(0.0, -0.2, 0.2, 50))) == ""
    assert dataclasses.replace(row, difference=intervals.Interval(-1e-9, -0.2, 0.2, 50)).needed is None, (
        "nobody plays so many"
    )
