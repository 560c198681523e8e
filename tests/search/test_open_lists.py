"""Tests the planner with several open lists: what it guarantees besides its proofs (`test_proofs`)."""

from __future__ import annotations

import dataclasses

import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import WON, Level
from persona_evo.games.registry import get
from persona_evo.personas import load
from persona_evo.personas.lists import DEFAULT_LISTS, FEW_LISTS, FEW_UNGUIDED_LISTS, UNGUIDED_LISTS, OpenList
from persona_evo.search.list_orders import cares, chosen, left_out, orders
from persona_evo.search.list_search import ListSearch
from persona_evo.search.plan import Budget, Plan, Planner, SearchSettings, TreePolicy, plan
from persona_evo.search.settings import PROVEN, STOPPED
from persona_evo.search.tree import Columns
from tests import shared
from tests.search.levels import level

GAME = get("minidungeons2")
COLLECTOR = load("treasure_collector", GAME).utility
RUNNER = load("runner", GAME).utility
KILLER = load("monster_killer", GAME).utility
LINE = TreePolicy.of("TO - 0.1*NT - 0.001*ST", GAME)


def named(name: str) -> Level:
    (found,) = mapsets.resolve(GAME, [name])
    return found


def timeless(found: Plan) -> Plan:
    return dataclasses.replace(found, seconds=0)


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("name", ["train05", "test04"])
def test_a_hedge_is_never_worse_than_ucb1_with_its_share(name: str, share: float) -> None:
    of, budget = named(name), Budget(1_500)
    rules = SearchSettings(hedge=share)
    alone = plan(GAME, of, COLLECTOR, TreePolicy.ucb1(), budget.part(share), SearchSettings.single(), seed=4)
    for policy in (LINE, TreePolicy("nowhere", parse("JT"), lists=(OpenList(parse("0 - UTILITY")),))):
        found = plan(GAME, of, COLLECTOR, policy, budget, rules, seed=4)
        assert (found.utility, found.outcome == WON) >= (alone.utility, alone.outcome == WON)
        assert found.iterations <= 1_500 and found.utility <= found.upper


def test_routes_stay_within_the_tolerance_and_never_give_up_a_win() -> None:
    of = named("train03")
    planner = Planner(GAME, of, SearchSettings(tolerance=0.02), 20_001)
    first = planner.plan(RUNNER, TreePolicy.utility(RUNNER), Budget(20_000), seed=0)
    routes = [planner.another(first, seed) for seed in range(30)]
    assert first.proven and first.stopped == PROVEN
    assert timeless(planner.another(first, 7)) == timeless(routes[7])
    for route in [first, *routes]:
        end = GAME.replay(of, route.actions)[-1]
        assert RUNNER.evaluate(GAME.measure(of, end)) == route.utility >= 0.98 * route.best_utility
        assert GAME.over(of, end) == route.outcome == WON
        assert route.best_utility == first.best_utility and route.best_actions == first.best_actions
        assert len(route.actions) <= 1.25 * len(first.best_actions) + 1
    assert len({route.actions for route in routes}) > 5


def test_without_a_tolerance_the_best_plan_is_shown() -> None:
    found = plan(GAME, named("train03"), COLLECTOR, LINE, Budget(3_000), seed=2)
    assert (found.utility, found.actions) == (found.best_utility, found.best_actions)


@pytest.mark.parametrize("policy", [LINE, TreePolicy.utility(KILLER)])
@pytest.mark.parametrize("name", ["train02", "train03", "test06"])
def test_same_seed_same_plan_whatever_was_planned_before(name: str, policy: TreePolicy) -> None:
    of, rules = named(name), SearchSettings(tolerance=0.01, hedge=0.1)
    planner = Planner(GAME, of, rules, 9_001)
    found = planner.plan(KILLER, policy, Budget(9_000), seed=3)
    planner.plan(COLLECTOR, TreePolicy.utility(COLLECTOR), Budget(7_000), seed=9)
    planner.plan(KILLER, TreePolicy.ucb1(), Budget(900), seed=9)
    planner.memory.lay_out(Columns(), 1).values.fill(7e77)
    again = planner.plan(KILLER, policy, Budget(9_000), seed=3)
    assert timeless(again) == timeless(found) == timeless(plan(GAME, of, KILLER, policy, Budget(9_000), rules, seed=3))


def test_settings_without_lists_are_the_single_search() -> None:
    old = {k: v for k, v in SearchSettings.single().to_dict().items() if k not in ("lists", "preset", "hedge")}
    assert SearchSettings.from_dict(old) == SearchSettings.single()
    assert SearchSettings.from_dict(SearchSettings.anytime().to_dict()) == SearchSettings.anytime()
    assert [SearchSettings.preset(n).preset_name for n in ("paper", "single", "anytime")] == [
        "paper",
        "single",
        "anytime",
    ]


def test_ucb1_and_formulas_of_the_search_search_as_without_lists() -> None:
    of = named("train01")
    for policy in (TreePolicy.ucb1(), TreePolicy.of("R + 0.1*TO", GAME)):
        lists, single = (
            plan(GAME, of, COLLECTOR, policy, Budget(800), rules, seed=1)
            for rules in (SearchSettings(hedge=0.3, tolerance=0.1), SearchSettings.single())
        )
        assert timeless(lists) == timeless(single)


def test_which_lists_are_searched_with() -> None:
    of, own = named("train01"), TreePolicy("own", LINE.formula, lists=(OpenList(parse("UTILITY")),))
    rules, given = SearchSettings(), SearchSettings(lists=FEW_LISTS[:1])
    small, large = Budget(500 * of.max_actions), Budget(2_000 * of.max_actions)
    utility = TreePolicy.utility(COLLECTOR)
    assert chosen(rules, LINE, COLLECTOR, large, of, GAME) == DEFAULT_LISTS
    assert chosen(rules, LINE, COLLECTOR, small, of, GAME) == FEW_LISTS
    assert chosen(rules, utility, COLLECTOR, large, of, GAME) == UNGUIDED_LISTS
    assert chosen(rules, utility, COLLECTOR, Budget(None, seconds=1.0), of, GAME) == UNGUIDED_LISTS
    assert chosen(rules, utility, COLLECTOR, small, of, GAME) == FEW_UNGUIDED_LISTS
    assert chosen(rules, utility, COLLECTOR, small, of, get("puyo")) == DEFAULT_LISTS
    assert chosen(given, LINE, COLLECTOR, small, of, GAME) == given.lists
    assert chosen(given, own, COLLECTOR, small, of, GAME) == own.lists


def test_default_lists_join_those_of_a_policy_if_there_are_many_iterations() -> None:
    """They follow the policy's score, or without one the score of its list with the most turns."""
    of, rules = named("train01"), SearchSettings()
    rare, frequent = OpenList(parse("CEILING - NT"), 0.5), OpenList(parse("TO - NT"), 2.0, novel=True)
    small, large = Budget(500 * of.max_actions), Budget(2_000 * of.max_actions)
    lists = TreePolicy("lists", lists=(rare, frequent))
    assert chosen(rules, lists, COLLECTOR, small, of, GAME) == (rare, frequent)
    joined = chosen(rules, lists, COLLECTOR, large, of, GAME)
    assert [one.text for one in joined] == [
        "CEILING - NT (weight 0.5)",
        "TO - NT (weight 2, novel states first)",
        "TO - NT",
        "TO - NT (novel states first)",
        "CARE + 0.1 * (TO - NT) (novel states first)",
        "UTILITY - 0.001 * D (novel states first)",
        "CEILING + 0.0001 * (TO - NT) (weight 0.5)",
        "CARE + 0.1 * (TO - NT) (weight 0.5)",
    ]
    scored = dataclasses.replace(lists, formula=LINE.formula)
    assert chosen(rules, scored, COLLECTOR, large, of, GAME) == (rare, frequent, *DEFAULT_LISTS)


def test_lists_that_cannot_be_worked_out_are_left_out_with_a_reason() -> None:
    coin = get("roguelike2d")
    (of,) = mapsets.resolve(coin, ["train01"])
    utility = parse("RW", coin.symbols)
    bare = dataclasses.replace(coin, reach=None, care="", metrics=coin.metrics)
    rows = (OpenList(parse("OWN"), 2.0), OpenList(parse("CEILING + RW")), OpenList(parse("RW"), 0.5, True))
    policy = TreePolicy("given", None, lists=rows)
    told = left_out(bare, of, utility, policy, SearchSettings())
    assert told == [
        "the list 'OWN' is left out: the policy has no score of its own",
        "the list 'CEILING + RW' is left out: the game does not say what can still be reached",
    ]
    assert left_out(bare, of, utility, TreePolicy.utility(utility), SearchSettings()) == []
    (alone,), told = orders(rows[:1], bare, utility, None, False)
    assert alone.score == utility and "the search goes by the utility" in told[-1]


def test_care_is_what_the_game_says_or_each_metric_in_turn() -> None:
    assert [f.text for f in cares(GAME, COLLECTOR)] == ["HL"]
    found = cares(dataclasses.replace(GAME, care=""), COLLECTOR)
    assert [f.text for f in found] == ["MS", "HL", "-TS", "IC"]
    lists, _ = orders(DEFAULT_LISTS[2:3], dataclasses.replace(GAME, care=""), COLLECTOR, LINE.formula, True)
    assert [(one.score.text, one.weight) for one in lists][1] == ("HL + 0.1 * OWN", 0.25)


def test_lists_alone_need_the_planner() -> None:
    policy = TreePolicy("lists", None, lists=(OpenList(parse("UTILITY")),))
    for rules in (SearchSettings.single(), SearchSettings.paper()):
        with pytest.raises(SettingsError, match="open lists"):
            plan(GAME, named("train01"), COLLECTOR, policy, Budget(100), rules)


@pytest.mark.parametrize(
    ("budget", "why"),
    [(Budget(300), "budget"), (Budget(None, nodes=300), "nodes"), (Budget(None, seconds=1e-6), "time")],
)
def test_why_a_search_ended(budget: Budget, why: str) -> None:
    found = plan(GAME, named("test05"), KILLER, LINE, budget, SearchSettings(finish=0.0), seed=1)
    assert found.stopped == why and why in STOPPED and not found.proven
    planner = Planner(GAME, named("test05"), SearchSettings(finish=0.0), 300)
    assert planner.plan(KILLER, LINE, Budget(3_000), seed=1).stopped == "memory"


def test_a_node_takes_8_bytes_for_each_list_and_96_more_beside_its_state() -> None:
    """Of the 96, 32 are its slot, 16 its row, 16 its place in the table of states, and 16 facts."""
    of, capacity = named("train03"), 65_536
    planner = Planner(GAME, of, SearchSettings(), capacity)
    for policy in (LINE, TreePolicy.utility(KILLER)):
        search = ListSearch(planner, KILLER, policy, Budget(60_000), 1, None, 0)
        memory = planner.lists
        lists = len(memory.heaps)
        assert memory.heaps.nbytes == 4 * lists * capacity
        taken = (
            shared.bytes_per_node(planner.memory, search.tree, 1.0)
            + (memory.heaps.nbytes + memory.facts.seen.nbytes) / capacity
        )
        assert taken - planner.memory.states.nbytes / capacity <= 96 + 8 * lists


def test_a_large_level_is_planned() -> None:
    rows = [list(" " * 62) for _ in range(62)]
    rows[0][0], rows[61][61], rows[30][30], rows[5][50], rows[40][8] = "H", "e", "T", "T", "M"
    of = level(*map("".join, rows))
    found = plan(GAME, of, COLLECTOR, TreePolicy.utility(COLLECTOR), Budget(20_000), seed=1)
    assert found.outcome == WON and found.metrics["TO"] == 1.0


@pytest.mark.parametrize("text", ["MS", "WON", "min(MS, 1.8)", "-ST", "ST", "3"])
def test_a_utility_that_is_a_metric_or_a_number_is_planned(text: str) -> None:
    utility = parse(text, GAME.symbols)
    found = plan(GAME, named("train01"), utility, TreePolicy.utility(utility), Budget(300), seed=1)
    assert found.utility <= found.upper


def test_a_preset_without_its_lists_is_refused() -> None:
    values = SearchSettings.anytime().to_dict()
    for broken in (
        {**values, "lists": []},
        {k: v for k, v in values.items() if k != "lists"},
        {**values, "preset": "single"},
    ):
        with pytest.raises(SettingsError, match="does not fit its lists"):
            SearchSettings.from_dict(broken)


def test_lists_are_told_where_the_search_has_a_single_one() -> None:
    policy = dataclasses.replace(LINE, lists=(OpenList(parse("UTILITY")),))
    (told,) = left_out(GAME, named("train01"), COLLECTOR, policy, SearchSettings.single())
    assert "'single' has a single one" in told
