"""Tests requirements: how they are read, what they are checked against, and messages about mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.errors import SettingsError
from persona_evo.games.core import Metric
from persona_evo.playtest import ranges, require
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.requirement import Requirement
from persona_evo.playtest.summaries import summarise
from tests.playtest.makers import INFOS, group, played

pytestmark = pytest.mark.quick

RECORDS = (
    group("map01", "runner", 10, 10)
    + group("map02", "runner", 8, 10)
    + group("map01", "monster killer", 3, 10)
    + group("map02", "monster killer", 10, 10)
)
SUMMARIES = summarise(RECORDS, INFOS, {("map01", "runner"): Bound(0.8)})


@pytest.mark.parametrize(
    ("text", "passed", "value", "where"),
    [
        ("runner.win_rate >= 0.9", True, 0.9, "runner"),
        ("runner.win_rate > 90%", False, 0.9, "runner"),
        ("runner@map01.win_rate >= 95 %", True, 1.0, "runner@map01"),
        ("runner@*.win_rate>=0.95", False, 0.8, "runner@map02"),
        ("*.deaths <= 2", False, 7.0, "monster killer"),
        ("win_rate >= .6", True, 0.65, "monster killer"),
        ("*@map02.deaths == 0", False, 2.0, "runner@map02"),
        ("monster killer@map02.death_rate == 0", True, 0.0, "monster killer@map02"),
        ("runner.trials != 20", False, 20.0, "runner"),
        ("runner.trials < 2.1e1", True, 20.0, "runner"),
        ("runner.TU == 0", True, 0.0, "runner"),
        ("runner.unfinished < 1", True, 0.0, "runner"),
    ],
)
def test_results(text: str, passed: bool, value: float, where: str) -> None:
    (check,) = require.evaluate([require.parse(text)], SUMMARIES)
    assert (check.passed, check.where) == (passed, where)
    assert check.value == pytest.approx(value)
    assert check.text == text.strip()


@pytest.mark.parametrize("measure", ["steps", "utility", "best_utility", "seconds", "TO"])
def test_means_are_those_of_the_summary(measure: str) -> None:
    (check,) = require.evaluate(require.parse_all([f"runner@map01.{measure} > -1"]), SUMMARIES)
    summary = SUMMARIES[0]
    expected = {
        "steps": summary.steps.value,
        "utility": summary.utility.value,
        "best_utility": summary.best_utility,
        "seconds": 0.0,
        "TO": summary.metrics["TO"].value,
    }
    assert check.passed and check.value == expected[measure]


def test_a_baseline_is_judged_only_where_it_is_named() -> None:
    wanted = require.parse_all(["win_rate >= 90%; *@*.win_rate >= 80%; monster killer.win_rate >= 90%"])
    judged = require.evaluate(wanted, SUMMARIES, {"monster killer"})
    assert [c.passed for c in judged] == [True, True, False]
    assert [c.where for c in judged] == ["runner", "runner@map02", "monster killer"]


def test_missing_data_fails_and_says_so() -> None:
    ok, missing = require.evaluate(
        require.parse_all(["runner@map01.bound_ratio > .5; runner@map02.bound_ratio > .5"]), SUMMARIES
    )
    assert ok.passed and not missing.passed
    assert missing.value is None and missing.reason == "bound_ratio is not known"
    (nothing,) = require.evaluate([require.parse("runner.win_rate > 0")], [])
    assert not nothing.passed and nothing.reason == "no playthroughs of this player and level"


def test_how_many_fail_is_said() -> None:
    (check,) = require.evaluate([require.parse("*@*.win_rate > 0.9")], SUMMARIES)
    assert check.reason == "2 of 4 fail" and check.where == "monster killer@map01"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("runner.win_rate", 16, "no operator"),
        ("runner.win_rate = 1", 17, "write =="),
        ("runner.win_rate => 1", 17, "no such operator"),
        ("runner.win_rate >= ", 20, "no number"),
        ("runner.win_rate >= lots", 20, "no number"),
        ("runner.win_rate >= nan", 20, "no number"),
        ("runner.win_rate >= 1e999", 20, "out of range"),
        (".win_rate > 0.1", 1, "no player"),
        ("runner. > 1", 8, "no measure"),
        ("> 1", 1, "no measure"),
        ("runner@.win_rate > 0.1", 8, "no level"),
        ("runner@map01 > 1", 14, "no measure"),
    ],
)
def test_bad_syntax_is_told_by_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        require.parse(text)
    assert said in str(caught.value) and caught.value.place is not None
    assert (caught.value.place.source, caught.value.place.column) == ("--require", column)


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("runer.win_rate > 0.1", 1, "runner"),
        ("runner@map1.win_rate > 0.1", 8, "map01"),
        ("steps > 0; runner.win_rat > 1", 19, "win_rate"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(text: str, column: int, hint: str) -> None:
    with pytest.raises(SettingsError, match=f"did you mean '{hint}'") as caught:
        require.evaluate(require.parse_all([text]), SUMMARIES)
    assert caught.value.place is not None and caught.value.place.column == column


def test_names_can_be_checked_before_anything_is_played() -> None:
    requirement = require.parse("runner@map01.TO > 0.5")
    requirement.check_names(["runner"], ["map01"], ["TO"])
    with pytest.raises(SettingsError, match="no such level"):
        requirement.check_names(["runner"], ["map02"], ["TO"])
    require.parse("*@*.steps > 1").check_names(["a"], ["b"], [])


def test_names_with_dots_and_signs() -> None:
    requirement = require.parse("a/b@v1.2 <x>.win_rate >= 1")
    assert (requirement.player, requirement.level, requirement.measure) == ("a/b", "v1.2 <x>", "win_rate")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" runner@map01.win_rate >= 1", ("runner", "map01", "win_rate")),
        ("runner.steps > 1", ("runner", "", "steps")),
        ("  problems@map01 == 0", ("problems", "map01", "problems")),
    ],
)
def test_columns_are_those_of_the_words(text: str, words: tuple[str, str, str]) -> None:
    found = require.parse(text).columns
    assert [text[column - 1 :].startswith(word) for column, word in zip(found, words, strict=True)] == [True] * 3


def test_rates_are_shares_of_the_trials() -> None:
    ends = ("won", "lost", "lost", "running", "running", "running", "stuck", "stuck")
    records = [played("map01", "runner", end, trial=k) for k, end in enumerate(ends)]
    texts = {"win_rate": 1, "death_rate": 2, "loss_rate": 2, "unfinished_rate": 3, "stuck_rate": 2}
    checks = require.evaluate(require.parse_all([f"runner.{name} <= 1" for name in texts]), summarise(records, INFOS))
    assert [check.value for check in checks] == pytest.approx([count / 8 for count in texts.values()])


def test_nothing_is_no_requirement() -> None:
    with pytest.raises(SettingsError, match="empty"):
        require.parse_all(["deaths == 0", "  ;"])
    assert require.parse_all([]) == []


@pytest.mark.parametrize("text", ["x >= 0.5 >= 0.3", "0.3 < win_rate < 0.5"])
def test_two_operators_are_told(text: str) -> None:
    with pytest.raises(SettingsError, match="more than one operator"):
        require.parse(text)


@pytest.mark.parametrize(
    ("text", "column", "said", "hint"),
    [
        ("win_rate > 95", 12, "a rate is at most 100 %", "did you mean 95%?"),
        ("runner@map01.death_rate <= -1%", 28, "a rate is at least 0 %", ""),
        ("win_rate > 100%", 12, "a rate is at most 100 %", "did you mean >= 100%?"),
        ("deaths < 0", 10, "a number of things is at least 0", "did you mean <= 0?"),
        ("deaths == 2.5", 11, "deaths is a whole number", ""),
        ("steps < 0", 9, "steps cannot be negative", "did you mean <= 0?"),
        ("steps > 0; bound_ratio >= 101%", 27, "100 % of the limit", ""),
    ],
)
def test_what_can_never_hold_is_refused(text: str, column: int, said: str, hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        require.parse_all([text])
    assert said in str(caught.value) and hint in str(caught.value)
    assert caught.value.place is not None and caught.value.place.column == column


KNOWN = ranges.Known((*INFOS, Metric("X", "plain", "")), trials=10, levels=2, horizon=50)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("steps > 50", "ends after 50 steps"),
        ("runner.deaths > 20", "over 20 playthroughs"),
        ("runner@*.deaths > 10", "over 10 playthroughs"),
        ("trials == 10", "20 trials are played"),
        ("TO >= 1.2", r"TO \(treasures opened\) is at most 100 %"),
    ],
)
def test_what_is_known_of_the_playtest_decides_too(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        ranges.check(require.parse(text), KNOWN)


@pytest.mark.parametrize(
    ("text", "always"),
    [
        ("win_rate >= 0", True),
        ("win_rate <= 100%", True),
        ("win_rate >= 1%", False),
        ("deaths <= 20", True),
        ("deaths <= 19", False),
        ("deaths == 0", False),
        ("trials == 20", True),
        ("trials != 21", True),
        ("steps <= 50", True),
        ("X < 0", False),
        ("utility > -1e9", False),
        ("TO >= 0", True),
        ("TU > -1", False),
    ],
)
def test_what_always_holds_is_a_warning(text: str, always: bool) -> None:
    warning = ranges.check(require.parse(text), KNOWN)
    assert ("always holds: " in warning and text in warning) if always else warning == ""


@given(
    st.sampled_from(["win_rate", "deaths", "trials", "steps", "TO"]),
    st.sampled_from([">=", ">", "<", "<=", "==", "!="]),
    st.sampled_from([-1, 0, 0.5, 1, 10, 20, 50, 60]),
)
def test_what_is_said_of_ranges_is_true_of_the_values_in_them(measure: str, sign: str, number: float) -> None:
    wanted = Requirement("", "*", None, measure, sign, number)
    span = ranges.range_of(wanted, KNOWN)
    within = {span.low, span.high, (span.low + span.high) / 2, number} & {v / 2 for v in range(200)}
    values = [v for v in within if span.low <= v <= span.high and not (span.whole and v != int(v))]
    held = {wanted.holds(v) for v in values}
    try:
        warning = ranges.check(wanted, KNOWN)
    except SettingsError:
        assert held == {False}
    else:
        assert True in held and (not warning or held == {True})
