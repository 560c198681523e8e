"""Tests whether a level can be won: plans that win when they are replayed, and proofs."""

from __future__ import annotations

import pytest

from persona_evo.games import registry
from persona_evo.games.core import WON, Game, Level
from persona_evo.search.outlook import outlook
from persona_evo.seeds import stream
from tests.examples.vault import GAME as VAULT

pytestmark = pytest.mark.quick

MD2 = registry.get("minidungeons2")
AMBUSH = "XXXXXXX\nXHRRReX\nX RRR X\nXXXXXXX"
HALL = "XXXXXXXXX\nXH    M X\nX  P  T X\nX   M  eX\nXXXXXXXXX"
RUNNING_OUT = "3\n######\n#@   >\n######"
PIT = "0\n######\n#@O  >\n######"


def ends_won(game: Game, level: Level, names: tuple[str, ...]) -> bool:
    state = game.start(level)
    for name in names:
        assert not game.over(level, state), "no move comes after the end"
        game.rules().step(level.tables, state, game.parse_action(level, state, name), stream(0))
    return game.over(level, state) == WON


@pytest.mark.parametrize("states", [1, 10_000])
def test_a_plan_is_found_by_exploration_and_by_the_planner(states: int) -> None:
    level = MD2.load(HALL, "hall")
    found = outlook(MD2, level, states=states)
    assert found.possible and ends_won(MD2, level, found.actions)
    assert found.metrics["WON"] == 1 and 0 < found.iterations <= 20_000
    assert found == outlook(MD2, level, states=states), "the same each time"


def test_an_explored_level_without_a_win_is_impossible_for_plans_of_any_length() -> None:
    found = outlook(MD2, MD2.load(AMBUSH, "ambush"))
    assert found.possible is False and found.deadly and found.states > 1 and found.horizon == 0
    assert 1 <= found.longest <= 10


def test_the_longest_line_of_play_is_counted_and_not_the_shortest_way_to_each_state() -> None:
    level = VAULT.load(RUNNING_OUT, "dark")
    found = outlook(VAULT, level)
    assert found.possible is False and found.deadly and found.longest == 3, "the light lasts for three moves"
    assert outlook(VAULT, VAULT.load(RUNNING_OUT.replace("3", "4", 1), "light")).possible


def test_a_level_that_goes_on_for_ever_is_impossible_and_not_deadly() -> None:
    found = outlook(VAULT, VAULT.load(PIT, "pit"))
    assert found.possible is False and not found.deadly and found.longest == 0 and not found.ended


def test_what_was_not_seen_is_not_known() -> None:
    wide = VAULT.load("0\n" + "#" * 40 + "\n#@" + " " * 37 + ">\n" + "#" * 40, "wide")
    assert outlook(VAULT, wide, states=5).possible is None, "no metric WON to plan with"
    unseen = outlook(MD2, MD2.load(HALL, "hall"), states=1, iterations=1)
    assert unseen.possible is None and unseen.horizon == MD2.horizon and not unseen.actions
