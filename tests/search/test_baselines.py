"""Tests that the plain searches do what their names say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import WON, Level
from persona_evo.search.baselines import breadth_first, by_name, depth_first, exhaustive, flat, random_games
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN
from tests.search.levels import GAME, level, optimum, tiny

UTILITY = parse("0.7*IC + 0.3*PE - 0.01*ST - 5*DEAD", GAME.symbols)
(TRAIN,) = mapsets.resolve(GAME, ["train01"])
PROBLEM = Problem.of(GAME, TRAIN, UTILITY)


@settings(max_examples=25, deadline=None)
@given(tiny(), st.integers(1, 6))
def test_searches_that_went_everywhere_found_the_optimum(of: Level, horizon: int) -> None:
    problem = Problem.of(GAME, of, UTILITY, horizon)
    best = optimum(GAME, of, UTILITY, horizon)
    for found in (breadth_first(problem), depth_first(problem, states=100_000), exhaustive(problem, horizon)):
        assert found.proven and found.stopped == PROVEN
        assert found.utility == best == found.upper and len(found.actions) <= horizon


def test_depth_limits_hold_and_are_no_proof() -> None:
    for found in (breadth_first(PROBLEM, depth=4), depth_first(PROBLEM, depth=4), exhaustive(PROBLEM, 4)):
        assert len(found.actions) <= 4 and not found.proven and found.stopped == "budget"
        assert found.utility == optimum(GAME, TRAIN, UTILITY, 4)


def test_depth_first_takes_the_first_moves_first() -> None:
    of = level("   ", " H ", "  e")
    found = depth_first(Problem.of(GAME, of, parse("ST", GAME.symbols), 5), states=5)
    assert [GAME.action_name(of, of.start, a) for a in found.actions] == ["N", "E", "S", "N", "S"] or found.nodes == 5
    assert found.stopped == "budget" and found.utility == 5


def test_state_limits_hold() -> None:
    assert depth_first(PROBLEM, states=1234).nodes == 1234
    wide = breadth_first(PROBLEM, states=5000)
    assert wide.stopped == "budget" and wide.nodes == 5000 and not wide.proven
    with pytest.raises(SettingsError, match="too many plans of 50 moves"):
        exhaustive(PROBLEM, 50, states=10_000)


def test_time_limits_hold() -> None:
    for found in (
        depth_first(PROBLEM, states=2_000_000_000, seconds=0.05),
        breadth_first(PROBLEM, seconds=0.01),
        random_games(PROBLEM, 2_000_000_000, seconds=0.05).plan,
        flat(PROBLEM, 2_000_000_000, seconds=0.05).plan,
    ):
        assert found.stopped == "time" and found.seconds < 5


def test_random_games_are_reproducible_and_counted() -> None:
    first, again, other = (random_games(PROBLEM, 300, seed=s) for s in (1, 1, 2))
    assert (first.plan.actions, first.mean, first.deviation) == (again.plan.actions, again.mean, again.deviation)
    assert first.mean != other.mean
    assert first.games == first.plan.iterations == 300
    assert first.mean < first.plan.utility and first.deviation > 0
    end = GAME.replay(TRAIN, first.plan.actions)[-1]
    assert UTILITY.evaluate(GAME.measure(TRAIN, end)) == first.plan.utility


def test_mean_of_random_games_is_that_of_a_plain_count() -> None:
    of = level("H e")
    utility = parse("WON", GAME.symbols)
    found = random_games(Problem.of(GAME, of, utility, 2), 4000, seed=5)
    assert found.mean == pytest.approx(0.5, abs=0.03)  # E; then E or W, each half of the time
    assert found.plan.outcome == WON


def test_flat_monte_carlo_tries_each_first_move_equally_often() -> None:
    of = level("e H   T")
    found = flat(Problem.of(GAME, of, parse("PE - 0.01*ST", GAME.symbols), 10), 40, depth=2, seed=1)
    names = {GAME.action_name(of, of.start, a): s for a, s in found.scores.items()}
    assert names["W"] == pytest.approx(0.98) and names["E"] < names["W"]
    assert found.games == 40 and len(found.plan.actions) == 2
    part = flat(Problem.of(GAME, of, UTILITY, 10), 1, seed=1)
    assert len(part.scores) == 1, "stopped after one game, it knows of one move"


def test_a_negative_depth_is_refused() -> None:
    with pytest.raises(SettingsError):
        random_games(PROBLEM, 5, depth=-1)


def test_methods_are_called_by_their_names() -> None:
    of = level("   ", " H ", "  e")
    problem = Problem.of(GAME, of, UTILITY, 4)
    own = {
        "bfs": breadth_first(problem, states=400),
        "dfs": depth_first(problem, states=400),
        "exhaustive": exhaustive(problem, 4, states=400),
        "random": random_games(problem, 100, seed=3).plan,
        "flat": flat(problem, 100, seed=3).plan,
    }
    for method, plan in own.items():
        found = by_name(method, problem, 400, None, 3)
        assert replace(found, seconds=0.0) == replace(plan, seconds=0.0), method
    assert len({(plan.nodes, plan.iterations, plan.proven) for plan in own.values()}) > 2
    with pytest.raises(SettingsError, match="too many plans of 4 moves"):
        by_name("exhaustive", problem, 10, None, 3)
