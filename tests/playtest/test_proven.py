"""Tests groups whose trials show routes of one proven search: known values, no intervals, no p values."""

from __future__ import annotations

import dataclasses

import pytest

from persona_evo import personas
from persona_evo.games import registry
from persona_evo.intervals import Interval, score, wilson
from persona_evo.playtest import behaviour, compare, compare_versions, require, samples
from persona_evo.playtest.bounds import bounds
from persona_evo.playtest.metrics import EVERY, ONE_EACH, ONE_SEARCH, Bound, certain, searches
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.summaries import summarise
from persona_evo.statistics import binomial, fisher, student
from tests.playtest.makers import INFOS, drawn, group, played


def rows_of(a: list[Playthrough], b: list[Playthrough]) -> dict[str, compare.ComparisonRow]:
    return {r.measure.key: r for r in compare.compare_groups(a, b, INFOS)}


def test_searches_are_counted_once() -> None:
    records = drawn("one", "runner", 20, 2)
    assert [r.trial for r in searches(records)] == [0, 1, 2]
    assert [r.trial for r in searches(records[5:])] == [5], "a route stands for a search that is not at hand"
    assert len(searches([played(), played()])) == 2, "those that searched themselves are not told apart by trial"
    assert certain(records) == "" and certain(records[2:]) == ONE_SEARCH and certain([]) == ""
    assert certain(records[2:] + drawn("two", "runner", 3)) == ONE_EACH
    assert certain([dataclasses.replace(r, proven=False) for r in records[2:]]) == ""


def test_a_group_of_one_proven_search_has_no_interval() -> None:
    every = summarise(drawn("one", "runner", 20) + drawn("two", "runner", 20, best=0.5), INFOS)
    one, _, both = every
    assert one.utility == Interval.exact(0.9, ONE_SEARCH) and one.win_rate == Interval.exact(1.0, ONE_SEARCH)
    assert one.best_utility == 0.9 and one.proven == 20 and one.steps.known, "routes vary in everything else"
    assert both.level == EVERY and both.utility == Interval.exact(pytest.approx(0.7), ONE_EACH)


def test_routes_of_a_later_proof_make_nothing_more_certain() -> None:
    records = drawn("one", "runner", 20, 2)
    (summary, _) = summarise(records, INFOS)
    assert summary.win_rate == score(0.9, 3) and summary.win_rate.low < wilson(18, 20).low
    assert summary.utility.value == pytest.approx(0.9 * 0.95) and summary.utility.n == 3
    assert summary.utility.half > 0.5, "three searches say little"
    assert summarise(group("one", "runner", 18, 20), INFOS)[0].win_rate == wilson(18, 20)


def test_limits_and_requirements_are_of_the_best_plan() -> None:
    summaries = summarise(drawn("one", "runner", 20), INFOS, {("one", "runner"): Bound(0.9, True)})
    wanted = [require.parse(t) for t in ("utility >= 0.9", "best_utility == 0.9", "bound_ratio >= 100%")]
    assert all(c.passed for c in require.evaluate(wanted, summaries))


def test_two_known_groups_are_compared_exactly() -> None:
    same = rows_of(drawn("one", "runner", 20), drawn("one", "base", 20))
    assert {k: (r.test, r.differs()) for k, r in same.items() if k != "seconds"} == dict.fromkeys(
        same.keys() - {"seconds"}, (compare.EXACT, False)
    )
    rows = rows_of(drawn("one", "runner", 20), drawn("one", "base", 20, best=0.9 + 1e-6, treasure=0.6))
    assert rows["utility"].differs() and rows["utility"].higher == "b" and rows["utility"].note
    assert not rows["win_rate"].differs()
    assert not rows["TO"].differs(), "other routes as good may have other treasures"
    assert rows["seconds"].test == "Welch"
    long = rows_of(drawn("one", "runner", 20), drawn("one", "base", 20, steps=30))
    assert not long["steps"].differs() and long["steps"].note == samples.EACH


def test_a_sample_is_held_against_what_is_known() -> None:
    sample = group("one", "base", 17, 20)
    rows = rows_of(drawn("one", "runner", 20), sample)
    values = [r.utility for r in sample]
    assert rows["utility"].test == "Student" and rows["utility"].p == student(values, 0.9).p < 0.01
    assert rows["utility"].statistic > 0 and rows["utility"].higher == "a"
    assert (rows["win_rate"].test, rows["win_rate"].p) == ("binomial", binomial(17, 20, 1.0).p)
    turned = rows_of(sample, drawn("one", "runner", 20))
    assert turned["utility"].p == rows["utility"].p and turned["utility"].statistic == -rows["utility"].statistic
    won = rows_of(drawn("one", "runner", 20), group("one", "base", 20, 20))["win_rate"]
    assert won.p == 1 and not won.differs() and won.note.startswith("no variation")


def test_of_a_sample_only_searches_count() -> None:
    mixed, sample = drawn("one", "runner", 20, 2), group("one", "base", 2, 20)
    row = rows_of(mixed, sample)["win_rate"]
    assert row.test == "Fisher" and row.p == fisher(1, 3, 2, 20).p and not row.differs()
    assert row.a.value == 0.9


def test_exact_rows_are_in_no_correction_and_say_how_they_were_compared() -> None:
    a = drawn("A", "runner", 10) + group("A", "killer", 10, 10)
    b = drawn("B", "runner", 10, best=0.5) + group("B", "killer", 0, 10)
    rows = compare_versions.compare_levels(a, b, INFOS)
    by_key = {(r.player_a, r.measure.key): r for r in rows}
    killer = by_key["killer", "win_rate"]
    assert killer.p_holm == killer.p, "one win rate is tested"
    told = by_key["runner", "utility"].verdict
    assert told == "B changes what the runner does: utility 0.9 -> 0.5 (proven, one search each)"
    assert by_key["runner", "win_rate"].verdict == "no difference for the runner: win rate 100 % in both"
    assert any(told in sentence for sentence in compare_versions.headlines(rows))


def test_findings_take_no_route_for_a_search() -> None:
    levels = [drawn(name, "runner", 20, best=best) for name, best in (("one", 0.9), ("two", 0.9), ("three", 0.8))]
    pairs = [f.level for f in behaviour.indistinguishable([r for rows in levels for r in rows], INFOS)]
    assert pairs == ["one, two"]


def test_a_limit_ends_as_the_best_plan_does_and_not_as_the_route() -> None:
    game = registry.get("minidungeons2")
    level = game.load("XXXXX\nXH eX\nXXXXX", "hall")
    runner = personas.resolve(["R"], game)[0]
    moves: list[int] = []
    states = [game.start(level)]
    while not game.over(level, states[-1]):
        right = next(
            a
            for a in game.legal(level, states[-1])
            if game.locate(level, game.replay(level, [*moves, a])[-1])[0] == len(moves) + 2
        )  # type: ignore
        moves.append(right)
        states = game.replay(level, moves)
    names = [game.action_name(level, s, a) for s, a in zip(states, moves, strict=False)]
    end = game.measure(level, states[-1])
    route = dataclasses.replace(
        played("hall", "runner", proven=True),
        metrics=dict.fromkeys(game.symbols, 0.0),
        utility=0.1,
        actions=["x"],
        best_utility=runner.utility.evaluate(end),
        best_actions=names,
    )
    found = bounds(game, [level], [runner], [route], seconds=0)["hall", "runner"]
    assert found == Bound(runner.utility.evaluate(end), True, end, True, won=True)
