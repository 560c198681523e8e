"""Two versions of several levels, compared in pairs."""

from __future__ import annotations

import pytest

from persona_evo import intervals, statistics
from persona_evo.errors import SettingsError
from persona_evo.playtest import level_pairs
from persona_evo.playtest.answer import answer
from persona_evo.playtest.level_pairs import LevelPairs
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.versions import AnalysisDifference
from persona_evo.report import csv_rows
from tests.playtest.makers import INFOS, group

SEEDS = range(11, 21)
PAIRS = LevelPairs.of([f"cave@{n}" for n in SEEDS], [f"cave:hard@{n}" for n in SEEDS])


def both(wins_a: int, wins_b: int, steps: int = 20, trials: int = 10) -> list[Playthrough]:
    """Return playthroughs of all pairs, in each of which A and B are won equally often, and B takes other steps."""
    return [
        record
        for a, b in PAIRS.names
        for name, wins, own in ((a, wins_a, 20), (b, wins_b, steps))
        for record in group(name, "runner", wins, trials, steps=own)
    ]


@pytest.mark.parametrize(
    ("a", "b", "by", "first"),
    [
        (("cave@2", "cave@1"), ("cave:hard@1", "cave:hard@2"), "seed", ("cave@2", "cave:hard@2")),
        (("old@1", "old@2"), ("new@2", "new@1"), "seed", ("old@1", "new@1")),
        (("old/map1", "old/map2"), ("new/map2", "new/map1"), "name", ("old/map1", "new/map1")),
        (("one", "two"), ("three", "four"), "order", ("one", "three")),
        (("a@1", "b@1"), ("c@1", "d@1"), "order", ("a@1", "c@1")),
    ],
)
def test_levels_are_paired_by_seed_name_or_place(
    a: tuple[str, ...], b: tuple[str, ...], by: str, first: tuple[str, str]
) -> None:
    pairs = LevelPairs.of(a, b)
    assert (pairs.by, pairs.names[0]) == (by, first)
    assert pairs.words.startswith("2 pairs of levels, paired ") and f"{first[0]} with {first[1]}" in pairs.words


def test_both_sides_have_equally_many_levels() -> None:
    with pytest.raises(SettingsError, match="as many levels") as e:
        LevelPairs.of(["a", "b"], ["c"])
    assert "found: 2 and 1" in str(e.value)


def test_a_pair_is_one_observation() -> None:
    rows = {r.measure.key: r for r in level_pairs.compare_pairs(both(9, 6, 30), PAIRS, INFOS)}
    rate, steps = rows["win_rate"], rows["steps"]
    assert (steps.a.n, rate.difference.n, rate.effect.n) == (10, 10, 10)
    assert rate.test == "Wilcoxon" and rate.p == 2 / 2**10, "all ten pairs agree"
    assert rate.difference.value == pytest.approx(-0.3) and rate.effect.value == 0.0
    assert steps.p == 2 / 2**10 and steps.higher == "b" and steps.effect == intervals.score(1.0, 10)
    assert steps.difference.low < 10 < steps.difference.high
    # ten times the playthroughs of the same levels are no further levels
    more = {r.measure.key: r for r in level_pairs.compare_pairs(both(90, 60, 30, 100), PAIRS, INFOS)}
    assert more["win_rate"].p == rate.p and more["steps"].p == steps.p


def test_win_rates_are_corrected_apart_and_no_difference_is_told() -> None:
    rows = level_pairs.compare_pairs(both(5, 5), PAIRS, INFOS)
    assert rows[0].measure.key == "win_rate" and rows[0].note == statistics.NO_VARIATION
    others = [r for r in rows[1:] if not r.note]
    assert [r.p_holm for r in others] == statistics.holm([r.p for r in others]) and not any(r.differs() for r in rows)
    assert "a difference that fewer than 6 of the 10 pairs" in rows[0].verdict
    said = answer(rows, PAIRS, AnalysisDifference())
    assert said.lines[0] == "no difference shown between A and B for the runner" and PAIRS.words in said.lines


def test_too_few_pairs_are_not_called_equal() -> None:
    """Found with 6 pairs and two players: "win rates do not differ (50 % -> 25 %)", where nothing could be seen."""
    few = LevelPairs.of(*zip(*PAIRS.names[:5], strict=True))
    named = {name for pair in few.names for name in pair}
    rows = level_pairs.compare_pairs([r for r in both(9, 6, 30) if r.level in named], few, INFOS)
    assert rows[0].verdict.startswith("cannot be compared for the runner: win rate 90 % -> 60 %")
    said = "\n".join(answer(rows, few, AnalysisDifference()).lines)
    assert "win rates cannot be compared (runner 90 % -> 60 %): 5 pairs of levels are too few" in said
    assert "do not differ" not in said


def test_differences_keep_to_the_range_of_their_measure() -> None:
    rows = {r.measure.key: r for r in level_pairs.compare_pairs(both(10, 1), PAIRS, INFOS)}
    for row, low, high in ((rows["win_rate"], 0.0, 1.0), (rows["TO"], 0.0, 1.0), (rows["steps"], 0.0, 1e9)):
        assert low <= row.a.low <= row.a.high <= high and low - high <= row.difference.low


def test_the_answer_says_how_many_pairs_show_it() -> None:
    rows = level_pairs.compare_pairs(both(9, 6, 30), PAIRS, INFOS)
    lines = answer(rows, PAIRS, AnalysisDifference()).lines
    assert lines[0] == "B is harder than A for the runner" and "win rate: runner 90 % -> 60 % (-30 points" in lines[1]
    steps = next(line for line in lines if line.startswith("steps"))
    assert "in 100 % of pairs of levels B takes more steps" in steps and "Vargha" not in steps
    row = csv_rows.comparison_rows(rows)[0]
    assert row["pairs_b_higher"] == 0.0 and "vargha_delaney" not in row


@pytest.mark.parametrize(("family", "needed"), [(1, 6), (2, 7), (4, 8), (10, 9)])
def test_the_fewest_pairs_that_can_show_anything(family: int, needed: int) -> None:
    for count, enough in ((needed, True), (needed - 1, False)):
        p_values = [statistics.wilcoxon([1.0] * count).p] + [1.0] * (family - 1)
        assert (min(statistics.holm(p_values)) < statistics.ALPHA) is enough
        assert bool(statistics.too_few_pairs(count, family)) is not enough


def test_each_pair_alone_is_compared_as_two_levels_are() -> None:
    each = level_pairs.compare_each(both(9, 6, 30), PAIRS, INFOS)
    assert {r.level for r in each} == {f"{a} | {b}" for a, b in PAIRS.names}
    rate = next(r for r in each if r.measure.key == "win_rate")
    assert rate.test == "Fisher" and rate.p == statistics.fisher(9, 10, 6, 10).p < rate.p_holm
