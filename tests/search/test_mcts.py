"""Tests that the tree search is sound, reproducible, and the same compiled and in plain Python."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import LevelError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.minidungeons2.tables import FARTHEST
from persona_evo.games.core import WON, Level, Rules
from persona_evo.search.bounds import solve
from persona_evo.search.plan import Planner, plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import SLOT
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.search.tree_search import TreeSearch
from tests import shared

GAME = registry.get("minidungeons2")
RUNNER = parse("PE - 0.01*ST - 5*DEAD", GAME.symbols)
KILLER = parse("0.7*MS + 0.3*PE - 5*DEAD", GAME.symbols)
UCB1 = TreePolicy.ucb1()
ANYTIME, PAPER = SearchSettings.anytime(), SearchSettings.paper()


def level(*rows: str) -> Level:
    return GAME.load("\n".join(rows) + "\n", "tiny")


CORRIDOR = level("XXXXXXX", "XH   eX", "XXXXXXX")


def exhaustive(of: Level, horizon: int, utility: Any) -> float:
    """Return the best utility of any action sequence of at most `horizon` moves, by trying all."""
    best = utility.evaluate(GAME.measure(of, GAME.start(of)))
    for length in range(1, horizon + 1):
        for actions in product(range(4), repeat=length):
            state = GAME.start(of)
            for action in actions:
                if GAME.over(of, state) or action not in GAME.legal(of, state):
                    break
                GAME.rules().step(of.tables, state, action, np.ones(2, dtype=np.int64))
            else:
                best = max(best, utility.evaluate(GAME.measure(of, state)))
    return float(best)


def test_corridor_is_solved_and_proven() -> None:
    found = plan(GAME, CORRIDOR, RUNNER, UCB1, Budget(10_000), ANYTIME, seed=1)
    assert [GAME.action_name(CORRIDOR, None, a) for a in found.actions] == ["E"] * 4
    assert found.utility == pytest.approx(0.96)
    assert (found.outcome, found.stopped, found.proven) == (WON, "proven best", True)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from("  XTtP"), min_size=9, max_size=9), st.sampled_from(["off", "prune"]), st.integers(0, 9)
)
def test_an_exhausted_tree_holds_the_optimum(tiles: list[str], transpositions: str, seed: int) -> None:
    tiles[0], tiles[8] = "H", "e"
    rows = ["".join(tiles[i : i + 3]) for i in (0, 3, 6)]
    try:
        small = level(*rows)
    except LevelError:
        return
    utility = parse("0.5*TO + 0.3*PE + 0.1*HL - 0.01*ST - 5*DEAD", GAME.symbols)
    rules = dataclasses.replace(ANYTIME, transpositions=transpositions, horizon=5)
    found = plan(GAME, small, utility, UCB1, Budget(50_000), rules, seed)
    assert found.proven and found.stopped == "proven best"
    assert found.utility == pytest.approx(exhaustive(small, 5, utility))


@pytest.mark.parametrize(
    "rules",
    [
        ANYTIME,
        PAPER,
        dataclasses.replace(ANYTIME, selection="child", finish=0.5),
        dataclasses.replace(ANYTIME, transpositions="merge", value="mean"),
        dataclasses.replace(ANYTIME, expansion="random", watch="ends"),
    ],
)
@pytest.mark.parametrize("text", ["", "MS - 0.1*NM + PE", "R + 0.3*sqrt(log(P)/N) + 0.01*RSD - 0.001*D + 0*RMAX"])
def test_compiled_and_interpreted_search_agree(rules: SearchSettings, text: str) -> None:
    (of,) = mapsets.resolve(GAME, ["train01"])
    policy = TreePolicy.of(text, GAME) if text else UCB1
    compiled = Planner(GAME, of, rules, 400)
    functions = {costly: Rules(*(rule.plain for rule in GAME.rules(costly=costly))) for costly in (False, True)}
    plain_game = dataclasses.replace(GAME, compiled=False, rules=lambda costly=False: functions[costly])
    plain = Planner(plain_game, of, rules, 400)
    a = compiled.plan(KILLER, policy, Budget(150), seed=3)
    b = plain.plan(KILLER, policy, Budget(150), seed=3)
    assert dataclasses.replace(a, seconds=0) == dataclasses.replace(b, seconds=0)
    if not rules.finish:  # what is left of that share when a win is found is not spent
        assert a.iterations == 150 or a.stopped in ("win", "stuck")
    assert 100 < a.iterations <= 150 or a.stopped in ("win", "stuck")
    assert a.nodes > 20


def test_same_seed_same_plan_and_other_seed_another_search() -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    planner = Planner(GAME, of, ANYTIME, 3001)
    first = planner.plan(KILLER, UCB1, Budget(3000), seed=5)
    planner.plan(KILLER, TreePolicy.of("PE", GAME), Budget(500), seed=9)
    again = planner.plan(KILLER, UCB1, Budget(3000), seed=5)
    other = planner.plan(KILLER, UCB1, Budget(3000), seed=6)
    assert dataclasses.replace(first, seconds=0) == dataclasses.replace(again, seconds=0)
    assert dataclasses.replace(first, seconds=0, seed=6) != dataclasses.replace(other, seconds=0)


def test_plan_replays_to_its_utility() -> None:
    (of,) = mapsets.resolve(GAME, ["train04"])
    found = plan(GAME, of, KILLER, UCB1, Budget(5000), ANYTIME, seed=1)
    assert KILLER.evaluate(GAME.measure(of, GAME.replay(of, found.actions)[-1])) == found.utility
    assert len(found.actions) == found.metrics["ST"] <= 200


def test_ucb1_as_a_formula_chooses_like_ucb1() -> None:
    (of,) = mapsets.resolve(GAME, ["train03"])
    rules = dataclasses.replace(PAPER, value="mean")
    built_in = plan(GAME, of, KILLER, UCB1, Budget(2000), rules, seed=2)
    formula = TreePolicy.of("R + 1.4142135623730951*sqrt(log(P)/N)", GAME)
    written = plan(GAME, of, KILLER, formula, Budget(2000), rules, seed=2)
    assert (written.nodes, written.iterations) == (built_in.nodes, built_in.iterations)


def test_memory_cap_stops_expansion_and_is_told() -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    whole = dataclasses.replace(ANYTIME, finish=0.0)
    found = Planner(GAME, of, whole, 100).plan(KILLER, UCB1, Budget(1000), seed=1)
    assert (found.nodes, found.stopped, found.iterations) == (100, "memory", 1000)
    assert plan(GAME, of, KILLER, UCB1, Budget(None, nodes=50), ANYTIME).stopped == "nodes"


def test_horizon_holds() -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    found = plan(GAME, of, KILLER, UCB1, Budget(3000), dataclasses.replace(ANYTIME, horizon=7), seed=1)
    assert len(found.actions) <= 7


def test_paper_preset_ends_at_the_first_selected_win() -> None:
    found = plan(GAME, CORRIDOR, RUNNER, TreePolicy.of("PE", GAME), Budget(10_000), PAPER, seed=1)
    assert (found.stopped, found.outcome, len(found.actions)) == ("win", WON, 4)


def test_a_policy_that_never_changes_its_mind_stops_where_it_is_stuck() -> None:
    trap = level("XXXXXXXXXX", "XeH      X", "XXXXXXXXXX")
    rules = dataclasses.replace(PAPER, horizon=3)
    found = plan(GAME, trap, RUNNER, TreePolicy.of("ST - 10*PE - 100*WON", GAME), Budget(10_000), rules, seed=1)
    assert found.stopped == "stuck" and found.iterations < 100


@pytest.mark.parametrize("text", ["log(0)/0 - exp(9999)", "1e300*1e300 - 1e300*1e300*R", "(R - R)/(N - N)"])
def test_wild_formulas_do_no_harm(text: str) -> None:
    found = plan(GAME, CORRIDOR, RUNNER, TreePolicy.of(text, GAME), Budget(500), ANYTIME, seed=1)
    assert found.utility == pytest.approx(0.96)


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"seconds": float("nan")}, {"iterations": None}, {"nodes": -1}])
def test_budgets_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Budget(**wrong)


def test_a_node_takes_little_memory() -> None:
    """Bytes a node under UCB1 in large trees, with the slots that blocks of children leave free."""
    for of in mapsets.resolve(GAME, ["train01", "train07", "test06"]):
        planner = Planner(GAME, of, dataclasses.replace(PAPER, stop="budget"), 20_001)
        run = TreeSearch(planner, planner.level.start, 0, KILLER, UCB1, 1, None)
        run.spend(Budget(20_000), 0.0)
        slots = int(run.tree.nodes[: run.nodes, SLOT].max()) / run.nodes
        assert run.nodes > 15_000
        assert shared.bytes_per_node(planner.memory, run.tree, slots) <= 68 + 2 * len(planner.level.start)


def test_leaf_selection_is_best_first_search_over_the_whole_tree() -> None:
    """With way to the exit + steps as the score it is A*, so the first way found to the exit is a shortest one."""
    for name in ("train01", "train06", "test02"):
        (of,) = mapsets.resolve(GAME, [name])
        way = 1.0 / of.tables[FARTHEST]
        policy = TreePolicy.of(f"-NE - {way} * ST", GAME)
        runner = parse("PE - 0.01 * ST - 5 * DEAD", GAME.symbols)
        rules = dataclasses.replace(ANYTIME, rollout=0, finish=0.0)
        found = plan(GAME, of, runner, policy, Budget(20_000), rules)
        best = solve(GAME, of, runner)
        assert best.proven and found.utility == best.utility
        by_child = plan(GAME, of, runner, policy, Budget(20_000), dataclasses.replace(rules, selection="child"))
        assert by_child.utility <= found.utility


def test_a_persona_goes_on_to_the_exit_where_that_costs_nothing() -> None:
    """All treasures are worth all there is, wherever the hero ends; with `finish` he ends at the exit."""
    collector = parse("TO - 5 * DEAD", GAME.symbols)
    for level in mapsets.resolve(GAME, ["train04", "train11"]):
        policy = TreePolicy.of("TO - 0.1 * NT - 0.001 * ST", GAME)
        stays = plan(GAME, level, collector, policy, Budget(8000), dataclasses.replace(ANYTIME, finish=0.0))
        goes = plan(GAME, level, collector, policy, Budget(8000), ANYTIME)
        assert goes.outcome == WON and goes.utility >= stays.utility
        assert goes.iterations <= 8000
    dear = parse("TO - 0.01 * ST - 5 * DEAD", GAME.symbols)
    stays = plan(GAME, level, dear, policy, Budget(8000), dataclasses.replace(ANYTIME, finish=0.0))
    assert plan(GAME, level, dear, policy, Budget(8000), ANYTIME).utility >= stays.utility


def test_a_small_share_goes_to_the_best_state_first() -> None:
    """A hundred iterations find a way out from there, a quarter of them do not."""
    (level,) = mapsets.resolve(GAME, ["test01"])
    wins = [plan(GAME, level, KILLER, TreePolicy.ucb1(), Budget(1000), seed=s).outcome == WON for s in range(8)]
    assert sum(wins) >= 2


@pytest.mark.parametrize("finish", [float("nan"), -0.1, 1.0, "much", True])
def test_finish_is_a_share(finish: object) -> None:
    with pytest.raises(SettingsError, match="finish"):
        SearchSettings(finish=finish)  # type: ignore[arg-type]
