"""Tests that the solver finds the best plan, claims so only if it is, and bounds what it could not settle."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import WON, Level
from persona_evo.personas.core import load
from persona_evo.personas.lists import OpenList
from persona_evo.search.bounds import METHODS, solve
from persona_evo.search.layers import Layers
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN, STOPPED
from tests.search.levels import GAME, level, optimum, tiny
from tests.shared import shared

UTILITIES = [
    parse(text, GAME.symbols)
    for text in (
        "PE - 0.01*ST - 5*DEAD",
        "0.7*TO + 0.3*PE - 5*DEAD",
        "0.7*IC + 0.3*PE - 5*DEAD",
        "0.01*ST - TO + 0.2*MS",
        "HL * (1 - PE) - 0.02*ST",
        "if(TO - 0.4, PE - 0.01*ST, 0.1*TO) - DEAD",
        "TS / (1 + JT)",
    )
]

LIMITS = {
    "R": (0.80, 0.80, 0.79, 0.74, 0.88, 0.68, 0.73, 0.92, 0.80, 0.73, 0.82),
    "MK": (1.0,) * 11,
    "TC": (1.0, 0.860, 0.738, 0.650, 0.650, 1.0, 1.0, 0.800, 1.0, 1.0, 1.0),
    "C": (1.0, 0.926, 0.841, 0.896, 0.794, 1.0, 1.0, 0.900, 1.0, 0.963, 1.0),
}
"""Known limits of the paper's maps."""


@pytest.mark.parametrize("persona", ["R", "MK", *(pytest.param(p, marks=pytest.mark.slow) for p in ("TC", "C"))])
def test_the_limits_of_the_papers_maps_are_reached_and_proven(persona: str) -> None:
    utility = load(persona, GAME).utility
    for number, limit in enumerate(LIMITS[persona], start=1):
        path = shared(f"levels/md2/map{number:02d}.txt")
        found = solve(GAME, GAME.load(path.read_text(encoding="utf-8"), path.stem), utility)
        assert found.utility == pytest.approx(limit, abs=6e-4), path.stem
        assert found.proven and found.upper == found.utility and found.outcome == WON, path.stem


@settings(max_examples=40, deadline=None)
@given(tiny(), st.sampled_from(UTILITIES), st.integers(1, 8), st.integers(0, 3))
def test_what_is_proven_is_the_optimum(of: Level, utility: Any, horizon: int, seed: int) -> None:
    found = solve(GAME, of, utility, horizon=horizon, seed=seed)
    best = optimum(GAME, of, utility, horizon)
    assert found.proven and found.stopped == PROVEN and found.method == "open lists"
    assert found.utility == best == found.upper
    assert len(found.actions) <= horizon


@settings(max_examples=40, deadline=None)
@given(tiny(objects="XTPMotRbmm"), st.sampled_from(UTILITIES), st.integers(2, 7), st.integers(1, 60))
def test_layers_bound_what_they_missed(of: Level, utility: Any, horizon: int, states: int) -> None:
    found = Layers(Problem.of(GAME, of, utility, horizon), states).search()
    best = optimum(GAME, of, utility, horizon)
    assert found.utility <= best <= found.upper and found.made <= states
    assert found.stopped == (PROVEN if found.complete else "budget")
    if found.complete:
        assert found.utility == best


@settings(max_examples=25, deadline=None)
@given(tiny(), st.sampled_from(UTILITIES), st.integers(1, 60))
def test_a_small_budget_leaves_a_true_bound(of: Level, utility: Any, iterations: int) -> None:
    found = solve(GAME, of, utility, horizon=7, iterations=iterations)
    assert found.utility <= optimum(GAME, of, utility, 7) <= found.upper
    assert found.states <= iterations + 1 and found.stopped in STOPPED  # shares of a budget are rounded
    assert found.proven == (found.utility == found.upper) == (found.stopped == PROVEN)


def test_same_call_same_solution() -> None:
    (of,) = mapsets.resolve(GAME, ["train03"])
    a, b = (solve(GAME, of, UTILITIES[2], iterations=20_000, seed=5) for _ in range(2))
    assert dataclasses.replace(a, seconds=b.seconds) == b


def test_limits_end_the_search_and_leave_a_true_bound() -> None:
    (of,) = mapsets.resolve(GAME, ["train05"])
    short = solve(GAME, of, UTILITIES[2], iterations=300)
    whole = solve(GAME, of, UTILITIES[2], iterations=100_000)
    assert not short.proven and short.stopped == "budget" and short.states <= 300
    assert short.utility <= whole.utility <= whole.upper <= short.upper
    late = solve(GAME, of, UTILITIES[2], seconds=1e-9)
    assert late.stopped == "time" and not late.proven and late.upper >= whole.utility


@pytest.mark.parametrize(("name", "shortest"), [("train03", 18), ("train09", 31), ("test06", 22)])
def test_plans_are_not_padded(name: str, shortest: int) -> None:
    (of,) = mapsets.resolve(GAME, [name])
    found = solve(GAME, of, load("MK", GAME).utility)
    assert found.proven and found.utility == 1 and found.outcome == WON
    assert shortest <= len(found.actions) <= 1.1 * shortest
    end = GAME.replay(of, found.actions)[-1]
    assert GAME.measure(of, end) == found.metrics and GAME.over(of, end) == WON


def test_a_plan_that_wins_is_not_shortened_to_one_that_does_not() -> None:
    found = solve(GAME, level("H     e"), parse("-DEAD", GAME.symbols))
    assert (found.utility, found.outcome, len(found.actions)) == (0, WON, 6) and found.proven


def test_the_planner_says_how_far_it_is() -> None:
    (of,) = mapsets.resolve(GAME, ["train09"])
    told: list[str] = []
    found = solve(GAME, of, load("MK", GAME).utility, iterations=40_000, progress=told.append)
    made = [int(text.removesuffix(" iterations").replace(",", "")) for text in told]
    assert len(made) > 2 and made == sorted(made) and made[-1] <= found.states <= 40_000


def test_lists_replace_those_of_the_planner() -> None:
    (of,) = mapsets.resolve(GAME, ["train01"])
    usual = solve(GAME, of, UTILITIES[0], iterations=5_000)
    listed = solve(GAME, of, UTILITIES[0], iterations=5_000, lists=[OpenList(parse("-ST"))])
    assert usual.proven and listed.utility <= usual.utility <= listed.upper
    assert listed.states != usual.states


@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves_a_corridor(method: str) -> None:
    of = level("H  e")
    found = solve(GAME, of, UTILITIES[0], method=method, horizon=6, seed=3, states=20_000)
    assert found.utility == pytest.approx(0.97) and found.metrics["WON"] == 1
    assert found.proven == (method not in ("random", "flat"))
    assert found.stopped == (PROVEN if found.proven else "budget")


def test_a_level_that_is_over_at_the_start_needs_no_moves() -> None:
    found = solve(GAME, level("H e"), parse("-ST", GAME.symbols))
    assert (found.actions, found.utility, found.proven) == ((), 0.0, True)


def test_equal_utilities_are_told_apart_by_winning_then_by_length() -> None:
    found = solve(GAME, level("H  e"), parse("1 - DEAD", GAME.symbols))
    assert found.metrics["WON"] == 1 and len(found.actions) == 3


def test_wrong_limits_are_refused() -> None:
    of = level("H e")
    wrong: Any
    for wrong in (
        {"iterations": 0},
        {"iterations": 2_000_000_001},
        {"states": -1},
        {"seconds": 0.0},
        {"seconds": float("nan")},
        {"horizon": -2},
        {"method": "magic"},
        {"method": "beam"},
    ):
        with pytest.raises(SettingsError) as refused:
            solve(GAME, of, UTILITIES[0], **wrong)
        assert refused.value.found and refused.value.expected


@settings(max_examples=40, deadline=None)
@given(tiny(objects="XTPMotRbmm"), st.lists(st.integers(0, 5), max_size=12), st.integers(1, 6))
def test_what_the_game_says_can_be_reached_holds(of: Level, choices: list[int], moves: int) -> None:
    assert GAME.reach is not None
    reach, rules, n = GAME.reach(), GAME.rules(costly=True), len(GAME.metrics)
    state, spans, out = GAME.start(of), np.zeros(2 * n), np.zeros(n)
    pending: list[tuple[int, Any, Any]] = []
    for made, choice in enumerate(choices):
        reach(of.tables, state, moves, spans)
        pending.append((made, spans[:n].copy(), spans[n:].copy()))
        actions = GAME.legal(of, state)
        if GAME.over(of, state) or not actions:
            break
        rules.step(of.tables, state, actions[choice % len(actions)], np.ones(2, dtype=np.int64))
        rules.measure(of.tables, state, 0, out)
        for begin, low, high in pending:
            if made + 1 - begin <= moves:
                assert (out >= low).all() and (out <= high).all(), (out, low, high)


def test_a_bound_that_is_none_is_not_told_as_a_number() -> None:
    game = registry.get("roguelike2d")
    (of,) = mapsets.resolve(game, ["train01"])
    endless = solve(game, of, parse("RW", game.symbols), method="random", states=2_000)
    assert not endless.proven and endless.at_most == "without a known upper bound"
    bounded = solve(game, of, parse("PR - DEAD", game.symbols), method="random", states=2_000)
    assert bounded.at_most == "at most 1"
