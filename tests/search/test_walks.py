"""Tests of walks home, with which a search with open lists ends its plans with a win."""

from __future__ import annotations

from dataclasses import replace

import pytest

from persona_evo.games import mapsets
from persona_evo.games.core import WON, Level
from persona_evo.games.registry import get
from persona_evo.personas import load
from persona_evo.search.plan import Budget, Plan, Planner, SearchSettings, TreePolicy, plan
from tests.search.levels import level

GAME = get("minidungeons2")
KILLER = load("monster_killer", GAME).utility
RULES = SearchSettings.anytime()


def named(name: str) -> Level:
    (found,) = mapsets.resolve(GAME, [name])
    return found


def test_a_search_with_few_iterations_walks_to_the_exit() -> None:
    of = level("H" + 26 * " " + "e")
    without, found = (
        plan(GAME, of, KILLER, TreePolicy.of("JT", GAME), Budget(9), replace(RULES, finish=finish, rollout=0))
        for finish in (0.0, 0.1)
    )
    assert without.outcome != WON and found.outcome == WON and found.utility > without.utility
    assert len(found.actions) == 27 and found.iterations <= 9


@pytest.mark.parametrize(("name", "iterations"), [("train03", 100), ("train10", 60)])
def test_a_win_may_cost_a_little_utility_but_not_more(name: str, iterations: int) -> None:
    planner = Planner(GAME, named(name), RULES, 101)

    def planned(concede: float) -> Plan:
        return planner.plan(KILLER, TreePolicy.utility(KILLER), Budget(iterations), 0, concede=concede)

    best, shown = planned(0.0), planned(0.1)
    assert best.outcome != WON and best.best_utility == best.utility
    assert shown.outcome == WON and 0.9 * best.utility <= shown.utility < best.utility
    assert (shown.best_utility, shown.best_actions) == (best.utility, best.actions), "the best plan is kept"
    assert shown.upper >= shown.best_utility and shown.iterations <= iterations


@pytest.mark.parametrize("iterations", [1, 2, 3, 10, 37, 300])
@pytest.mark.parametrize("finish", [0.1, 0.5, 0.9])
def test_walks_stay_within_the_budget(iterations: int, finish: float) -> None:
    of = named("train10")
    found = plan(GAME, of, KILLER, TreePolicy.utility(KILLER), Budget(iterations), replace(RULES, finish=finish))
    assert found.iterations <= iterations
    assert KILLER.evaluate(GAME.measure(of, GAME.replay(of, found.actions)[-1])) == found.utility
