"""Tests policies that read UTILITY, CEILING, D and values of the parent, which plans of whole levels compute."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from persona_evo.agents.skill import LADDER
from persona_evo.agents.skilled_player import SkilledPlayer
from persona_evo.errors import FormulaError, SettingsError
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import leaves
from persona_evo.evolve.individuals import first_individuals, settled, symbols_of
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.winner import sampled_choices, simplified
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.registry import get
from persona_evo.personas import load
from persona_evo.search.actor import Actor
from persona_evo.search.list_search import ListSearch
from persona_evo.search.open_lists import CEILING, FIRST_SCORE, WORTH
from persona_evo.search.plan import Budget, Planner, SearchSettings, plan
from persona_evo.search.tree import DEPTH, DONE, PARENT, STATUS
from persona_evo.search.tree_policy import ALONG_PATH, STATIC, TreePolicy, columns_for, plan_variables

GAME = get("minidungeons2")
COLLECTOR = load("treasure_collector", GAME)
(LEVEL,) = mapsets.resolve(GAME, ["train04"])
SINGLE = SearchSettings.single()
LINE = "TO - 0.1 * NT - 0.001 * ST"


def policy(text: str) -> TreePolicy:
    return TreePolicy.of(text, GAME)


@pytest.mark.parametrize(
    "text",
    [
        "UTILITY",
        "CEILING - 0.01 * D",
        "TO - TO_PARENT + NT_PARENT",
        "UTILITY_PARENT + 2 * CEILING_PARENT",
        "ST_PARENT * UTILITY + if(NT_PARENT > NT, 1, HL_PARENT)",
    ],
)
def test_each_leaf_has_the_score_of_its_state_and_its_parent(text: str) -> None:
    planner = Planner(GAME, LEVEL, SINGLE, 2_000)
    search = ListSearch(planner, COLLECTOR.utility, policy(text), Budget(400), 3, None, 2)
    search.spend(Budget(400), 0.0)
    tree, ranks = search.tree, search.tree.values.view(np.float32)
    rules = planner.game.rules_for(GAME.symbols)

    def known(node: int) -> dict[str, float]:
        row = np.zeros(len(GAME.symbols))
        rules.measure(planner.level.tables, tree.states[node], 0, row)
        values = {"UTILITY": float(tree.values[node, WORTH]), "CEILING": float(tree.values[node, CEILING])}
        return {**dict(zip(GAME.symbols, row.tolist(), strict=True)), **values}

    seen = 0
    for node in range(search.nodes):
        if tree.links[node, STATUS] & DONE or tree.values[node, CEILING] <= search._best[0]:
            continue  # ended, or not worth a score
        here, before = known(node), known(max(0, int(tree.nodes[node, PARENT])))
        assert here["UTILITY"] == COLLECTOR.utility.evaluate(here)
        row = {**here, **{f"{k}_PARENT": v for k, v in before.items()}, "D": float(tree.nodes[node, DEPTH])}
        assert ranks[node, FIRST_SCORE] == pytest.approx(parse(text).evaluate(row), rel=1e-5)
        seen += 1
    assert seen > 30


@pytest.mark.parametrize("name", ["train02", "train04", "test03"])
def test_what_counts_for_nothing_changes_no_plan(name: str) -> None:
    (of,) = mapsets.resolve(GAME, [name])
    one = plan(GAME, of, COLLECTOR.utility, policy(LINE), Budget(900), SINGLE, 5)
    for more in ("UTILITY", "CEILING_PARENT", "D"):
        other = plan(GAME, of, COLLECTOR.utility, policy(f"{LINE} + 0 * UTILITY * {more}"), Budget(900), SINGLE, 5)
        assert other.utility >= one.utility  # leaves that cannot beat the best are passed over, which spares iterations


def test_scores_with_these_variables_never_change() -> None:
    assert policy("UTILITY - 0.1 * D").holds == policy("TO - TO_PARENT").holds == STATIC
    assert policy("TO - 0.1 * D").holds == ALONG_PATH and not policy("TO - 0.1 * D").planned
    with pytest.raises(SettingsError, match=r"never changes.*\n.*R in R"):
        plan(GAME, LEVEL, COLLECTOR.utility, policy("R + UTILITY"), Budget(50), SINGLE)


def test_searches_that_do_not_work_them_out_refuse_the_policy() -> None:
    of = policy("CEILING + TO_PARENT")
    with pytest.raises(SettingsError, match=r"'paper' does not compute.*\n.*CEILING, TO_PARENT"):
        plan(GAME, LEVEL, COLLECTOR.utility, of, Budget(50), SearchSettings.paper())
    with pytest.raises(SettingsError, match="from move to move"):
        Actor(GAME, LEVEL, COLLECTOR.utility, of)
    with pytest.raises(SettingsError, match="player with a skill"):
        SkilledPlayer(GAME, LEVEL, COLLECTOR.utility, of, LADDER["casual"])
    swinging = parse("(TO - 0.5) * (PE - 0.5)", GAME.symbols)
    with pytest.raises(SettingsError, match="no CEILING"):
        plan(GAME, LEVEL, swinging, of, Budget(50), SINGLE)
    assert plan(GAME, LEVEL, swinging, policy("UTILITY"), Budget(50), SINGLE).iterations > 0


def test_a_game_has_a_ceiling_where_it_says_what_can_be_reached() -> None:
    blind = dataclasses.replace(GAME, reach=None)
    assert {"CEILING", "CEILING_PARENT"} <= plan_variables(GAME).keys()
    assert not any("CEILING" in symbol for symbol in plan_variables(blind))
    with pytest.raises(FormulaError, match="unknown symbol"):
        TreePolicy.of("CEILING", blind)
    named_so = dataclasses.replace(GAME, metrics=(dataclasses.replace(GAME.metrics[0], symbol="UTILITY"),))
    assert "UTILITY" not in plan_variables(named_so) and not TreePolicy.of("UTILITY", named_so).planned
    assert plan_variables(get("colosseum")) == {}


def settings(variables: str, **more: Any) -> EvolutionSettings:
    return EvolutionSettings.modern(variables=variables, first=(), **more)


def spec(utility: str = COLLECTOR.utility.text, search: SearchSettings = SINGLE) -> FitnessSpec:
    return FitnessSpec.of("minidungeons2", [LEVEL], parse(utility), search, Budget(200))


def test_what_formulas_of_an_evolution_may_read() -> None:
    def read(variables: str, of: FitnessSpec) -> set[str]:
        return set(leaves(settings(variables), symbols_of(settings(variables), of)))

    plain, planner, parent = (read(v, spec()) for v in ("metrics", "planner", "parent"))
    assert planner - plain == {"UTILITY", "CEILING", "D"}
    assert {"TO_PARENT", "NT_PARENT", "CEILING_PARENT"} <= parent - planner and "ST_PARENT" not in parent
    assert read("planner", spec("(TO - 0.5) * (PE - 0.5)")) - plain == {"UTILITY", "D"}
    with pytest.raises(SettingsError, match="exist only in plans of whole levels"):
        settled(settings("planner"), spec(search=SearchSettings.paper()))
    assert settled(settings("planner"), spec(search=SearchSettings.anytime())).individual == "formula"


def test_an_evolution_that_may_read_the_ceiling_starts_from_ways_with_it() -> None:
    chosen = settings("planner", individual="formula")
    wanted = dataclasses.replace(chosen, first=("utility",))
    collector = dataclasses.replace(spec(), priority="TO")
    assert "TO - 0.1 * NT - 0.001 * ST + 0.5 * CEILING" in first_individuals(wanted, collector)
    assert not any("CEILING" in text for text in first_individuals(wanted, spec("(TO - 0.5) * (PE - 0.5)")))
    given = dataclasses.replace(chosen, first=("TO + CEILING",))
    assert first_individuals(given, spec()) == ["TO + CEILING"]
    with pytest.raises(SettingsError, match="no CEILING"):
        first_individuals(given, spec("(TO - 0.5) * (PE - 0.5)"))


def test_what_siblings_share_is_kept_when_such_a_formula_is_simplified() -> None:
    formula = parse("TO + UTILITY + UTILITY + UTILITY - 0.01 * D - NT_PARENT")
    rows, groups = sampled_choices(formula, spec())
    columns = columns_for(formula, GAME)
    assert rows.shape == (len(groups), len(columns)) and columns[-2:] == ("UTILITY", "NT_PARENT")
    short = simplified(formula, spec())
    assert short.replaced and short.formula.symbols == formula.symbols and short.formula.size < formula.size
