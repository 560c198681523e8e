"""Tests what the search guarantees beyond a good plan: long paths, separate planners, exact stops, other processes."""

from __future__ import annotations

import dataclasses
import multiprocessing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import WON, Level, Metric
from persona_evo.games.python_game import from_class
from persona_evo.search import layout
from persona_evo.search.bounds import solve
from persona_evo.search.plan import Planner, plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, FIRST, KIDS, LEFT, NODE, OVER, PARENT, SLOT, STATUS, VISITS
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy
from persona_evo.search.tree_search import TreeSearch
from tests.search.levels import GAME, level, optimum, tiny, tree_of

UCB1 = TreePolicy.ucb1()
ANYTIME, PAPER = SearchSettings.anytime(), SearchSettings.paper()
UTILITY = parse("0.7*IC + 0.3*PE - 0.01*ST - 5*DEAD", GAME.symbols)


@settings(max_examples=25, deadline=None)
@given(
    tiny(objects="XXTPMotRbm"),
    st.sampled_from(["off", "prune"]),
    st.sampled_from(["ordered", "random"]),
    st.sampled_from(["0.7*IC + 0.3*PE - 0.01*ST - 5*DEAD", "0.02*ST - IC", "HL*PE + 0.1*TS"]),
)
def test_an_exhausted_tree_is_a_proof_with_and_without_transpositions(
    of: Level, transpositions: str, expansion: str, text: str
) -> None:
    utility = parse(text, GAME.symbols)
    rules = SearchSettings(transpositions=transpositions, expansion=expansion, horizon=6)
    found = plan(GAME, of, utility, UCB1, Budget(200_000), rules, seed=1)
    assert (found.stopped, found.proven) == ("proven best", True)
    assert found.utility == optimum(GAME, of, utility, 6)


@pytest.mark.quick
def test_waiting_is_found_where_it_pays() -> None:
    of = level("H e")
    survivor = parse("0.01*ST - 1*WON", GAME.symbols)
    found = plan(GAME, of, survivor, UCB1, Budget(5000), SearchSettings(horizon=7), seed=1)
    assert found.proven and found.utility == pytest.approx(0.07) and len(found.actions) == 7
    assert solve(GAME, of, survivor, horizon=7).utility == pytest.approx(0.07)


@pytest.mark.quick
def test_ucb1_written_as_a_formula_makes_the_same_choices() -> None:
    (of,) = mapsets.resolve(GAME, ["train05"])
    rules = dataclasses.replace(PAPER, value="mean", stop="budget")
    planners = [Planner(GAME, of, rules, 1501) for _ in range(2)]
    a, b = (
        tree_of(planner, UTILITY, policy, 1500, 4)
        for planner, policy in zip(planners, (UCB1, TreePolicy.of(UCB1_FORMULA, GAME)), strict=True)
    )
    assert (a.nodes == b.nodes).all(), "the trees differ"
    assert (a.states == b.states).all()


@pytest.mark.quick
def test_ties_are_broken_by_the_seed() -> None:
    of = level("   ", " H ", "  e")
    shapes = set()
    for seed in range(8):
        planner = Planner(GAME, of, SearchSettings(rollout=0, terminal="revisit", transpositions="off"), 60)
        shapes.add(tree_of(planner, parse("0*PE", GAME.symbols), TreePolicy.of("1", GAME), 40, seed).nodes.tobytes())
    assert len(shapes) > 3


@pytest.mark.quick
def test_planners_do_not_share_states() -> None:
    (one,), (two,) = mapsets.resolve(GAME, ["train01"]), mapsets.resolve(GAME, ["train02"])
    alone = [plan(GAME, of, UTILITY, UCB1, Budget(1000), PAPER, seed=1) for of in (one, two)]
    starts = [of.start.copy() for of in (one, two)]
    first, second = Planner(GAME, one, PAPER, 2000), Planner(GAME, two, PAPER, 2000)
    for planner, expected in ((first, alone[0]), (second, alone[1]), (first, alone[0]), (second, alone[1])):
        found = planner.plan(UTILITY, UCB1, Budget(1000), seed=1)
        assert (found.actions, found.utility, found.nodes) == (expected.actions, expected.utility, expected.nodes)
    assert (one.start == starts[0]).all() and (two.start == starts[1]).all()


@pytest.mark.quick
def test_the_stop_at_a_win_is_exact() -> None:
    of = level("H  e")
    policy = TreePolicy.of("PE", GAME)
    found = plan(GAME, of, UTILITY, policy, Budget(1000), PAPER, seed=1)
    fewer = plan(GAME, of, UTILITY, policy, Budget(found.iterations - 1), PAPER, seed=1)
    assert (found.stopped, found.outcome) == ("win", WON)
    assert fewer.stopped == "budget" and fewer.iterations == found.iterations - 1


def test_being_stuck_changes_nothing_but_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that stops as stuck has the tree that it would have had at the end of the budget."""
    monkeypatch.setattr(TreeSearch, "_watch", lambda self, budget: None)
    of = level("eH   ")
    rules = dataclasses.replace(PAPER, horizon=3)
    policies = [TreePolicy.of(f"ST - 10*PE - 100*WON{rest}", GAME) for rest in ("", " + 0*R")]
    planner = Planner(GAME, of, rules, 100)
    found, longer = (planner.plan(UTILITY, policy, Budget(5000), seed=1) for policy in policies)
    assert found.stopped == "stuck" and longer.stopped == "budget" and longer.iterations == 5000
    tree, later = (tree_of(Planner(GAME, of, rules, 100), UTILITY, policy, 5000, 1) for policy in policies)
    assert found.nodes == longer.nodes and (tree.nodes == later.nodes).all()


@pytest.mark.quick
def test_a_start_with_one_action() -> None:
    of = level("He")
    found = plan(GAME, of, UTILITY, UCB1, Budget(1), ANYTIME, seed=1)
    assert [GAME.action_name(of, of.start, a) for a in found.actions] == ["E"] and found.proven
    assert plan(GAME, of, UTILITY, UCB1, Budget(10), PAPER, seed=1).stopped == "win"


def test_a_path_of_100_000_moves() -> None:
    """No recursion, and nothing in an iteration that grows with more than the path itself."""
    of = level("H    e")
    rules = SearchSettings(horizon=100_000, rollout=0, terminal="revisit", transpositions="off", watch="tree")
    run = grown(Planner(GAME, of, rules, 100_002), 100_000)
    path = run.tree.path(100_000)
    assert len(path) == 100_000 and set(path) == {1, 3}
    assert GAME.measure(of, GAME.replay(of, path[:50_000])[-1])["ST"] == 50_000


def grown(planner: Planner, depth: int) -> TreeSearch:
    """Make a tree that is one line to and fro, each node in a slot of its number, then go down and back up along it."""
    of = planner.level
    run = TreeSearch(planner, of.start, 0, UTILITY, TreePolicy.of("D", GAME), 1, None)
    tree, counts, rows = run.tree, run._engine.work.buffers.counts, np.arange(depth + 1)
    nodes, links = tree.nodes[: depth + 1], tree.links[: depth + 1]
    nodes[:, PARENT], nodes[:, DEPTH], nodes[:, SLOT] = rows - 1, rows, rows
    nodes[:, ACTION] = np.where(rows % 2, 1, 3)
    tree.values[: depth + 1] = 0.5
    links[:, VISITS], links[:, LEFT], links[:, STATUS], links[:, NODE] = 1, 0, 0, rows
    links[:, FIRST], links[:, KIDS] = rows + 1, rows < depth
    east = planner.game.replay(of, [1])[-1]
    tree.states[: depth + 1] = np.where((rows % 2)[:, None], east, of.start)
    counts[layout.NODES] = counts[layout.SLOTS] = depth + 1
    run.spend(Budget(3), 0.0)
    assert run.iterations == 3 and run.nodes == depth + 1 and (links[:, VISITS] == 4).all()
    assert not (links[:, STATUS] & OVER).any()
    return run


class Stairs:
    """A game as long as its level says, one action, for very long plans."""

    actions = ("up",)
    metrics = (Metric("UP", "up", "steps made", clock=True), Metric("TOP", "top", "1 at the top", high=1))

    def __init__(self, height: int, at: int = 0) -> None:
        self.height, self.at = height, at

    @classmethod
    def from_text(cls, text: str) -> Stairs:
        return cls(int(text))

    def copy(self) -> Stairs:
        return Stairs(self.height, self.at)

    def legal(self) -> tuple[str, ...]:
        return self.actions

    def apply(self, action: str) -> None:
        self.at += 1

    def over(self) -> str | None:
        return "won" if self.at >= self.height else None

    def measure(self) -> dict[str, float]:
        return {"UP": self.at, "TOP": float(self.at >= self.height)}

    def key(self) -> int:
        return self.at


def test_a_plan_of_10_000_moves() -> None:
    stairs = from_class(Stairs, horizon=20_000)
    found = solve(stairs, stairs.load("10000", "stairs"), parse("TOP"), iterations=20_000)
    assert len(found.actions) == 10_000 and found.proven and found.utility == 1


def in_a_process(seed: int) -> tuple[int, ...]:
    (of,) = mapsets.resolve(GAME, ["train01"])
    return plan(GAME, of, UTILITY, UCB1, Budget(500), ANYTIME, seed).actions


def test_processes_that_are_spawned_find_the_same() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(in_a_process, [1, 2]) == [in_a_process(1), in_a_process(2)]
