"""Tests distances to targets in Python class games: found by playing, and read like other metrics."""

from __future__ import annotations

import pickle
import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from persona_evo.errors import GameError
from persona_evo.evolve.start import Goal, of_persona
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.games.game_templates import LEVEL, class_file
from persona_evo.games.python_game import from_class
from persona_evo.search.plan import Budget, SearchSettings, TreePolicy, plan
from persona_evo.search.tree_policy import plan_variables
from tests.examples.vault import Vault
from tests.shared import ROOT


class Mapped(Vault):
    """The vault with ways to coins, keys and the way out."""

    ways: ClassVar = {"NC": "coin", "NK": "key", "NX": "way out"}
    homing = "-NX"

    def copy(self) -> Mapped:
        return Mapped(self.rows, self.at, self.things, self.doors, self.light, self.dark, self.hp, self.keys)

    def targets(self) -> dict[str, list[tuple[int, int]]]:
        out = [(x, y) for y, row in enumerate(self.rows) for x, c in enumerate(row) if c == ">"]
        return {
            "NC": [p for p in self.things if self.tile(p) == "$"],
            "NX": out,
            "NK": [p for p in self.things if self.tile(p) == "k"],
        }


GAME = from_class(Mapped)
ROOM = """0
#########
#@  $  ##
#### # ##
#k   # D>
#########"""


def measured(game: Game, text: str, moves: str = "") -> dict[str, float]:
    level = game.load(text, "room")
    return game.measure(level, game.replay(level, [Vault.actions.index(m) for m in moves])[-1])


def test_a_way_is_the_moves_to_the_nearest_thing_as_a_share_of_the_farthest() -> None:
    assert GAME.symbols[-3:] == ("NC", "NK", "NX") and GAME.targets == ("NC", "NK")
    start = measured(GAME, ROOM)
    assert (start["NC"], start["NK"], start["NX"]) == pytest.approx((3 / 9, 8 / 9, 9 / 9))  # the door can be opened
    taken = measured(GAME, ROOM, "EEE")
    assert (taken["NC"], taken["NK"], taken["NX"]) == pytest.approx((0.0, 5 / 9, 6 / 9))


def test_what_nobody_can_reach_is_as_far_as_can_be() -> None:
    walled = ROOM.replace("#k ", "#k#")
    assert measured(GAME, walled)["NK"] == 1.0 and measured(GAME, walled.replace("k", " "))["NK"] == 0.0


def test_ways_are_worked_out_only_where_they_are_read() -> None:
    level = GAME.load(ROOM, "room")
    row = np.zeros(len(GAME.metrics))
    GAME.rules().measure(level.tables, level.start, 0, row)
    assert row[-3:].tolist() == [0.0, 0.0, 0.0]
    GAME.rules_for({"COINS"}).measure(level.tables, level.start, 0, row)
    assert row[-3:].tolist() == [0.0, 0.0, 0.0]
    again = pickle.loads(pickle.dumps(level))
    for of in (level, again):
        GAME.rules_for({"NC"}).measure(of.tables, of.start, 0, row)
        assert row[-3:].tolist() == pytest.approx([3 / 9, 8 / 9, 9 / 9])


@pytest.mark.parametrize("search", ["single", "anytime", "paper"])
@pytest.mark.parametrize("text", ["COINS - 0.1 * NC", "COINS - 0.1 * NC + 0.01 * R", "UTILITY - NC_PARENT"])
def test_searches_read_them(search: str, text: str) -> None:
    level, policy = GAME.load(ROOM, "room"), TreePolicy.of(text, GAME)
    utility = parse("COINS + OUT", GAME.symbols)
    if search == "paper" and policy.planned:
        return
    found = [plan(GAME, level, utility, policy, Budget(150), SearchSettings.preset(search), 3) for _ in range(2)]
    assert found[0].actions == found[1].actions and found[0].metrics["COINS"] == 1.0
    assert found[0].metrics["NC"] == 0.0 and found[0].metrics["NX"] < 1


def test_a_policy_that_follows_a_way_finds_in_few_iterations_what_another_misses() -> None:
    hall = "\n".join(["0", "#" * 30, *(["#" + " " * 28 + "#"] * 12), "#@" + " " * 26 + "$#", "#" * 30])
    level, utility = GAME.load(hall, "hall"), parse("COINS", GAME.symbols)
    rich, blind = (
        plan(GAME, level, utility, TreePolicy.of(text, GAME), Budget(120), SearchSettings.single(), 1)
        for text in ("COINS - 0.1 * NC", "COINS")
    )
    assert rich.utility == 1.0 and blind.utility == 0.0


def test_an_evolution_starts_from_ways() -> None:
    found = of_persona(Goal(parse("COINS"), "COINS"), GAME.symbols, GAME)
    assert {"COINS - 0.1 * NC", "COINS - 0.1 * NK", "COINS + 0.1 * (-NX)"} <= set(found)
    careful = replace(GAME, care="HP")
    careless, more = (
        {text for text in of_persona(Goal(parse("COINS"), "COINS", cares), GAME.symbols, careful) if "(HP)" in text}
        for cares in ((), (0.1, 1.0))
    )
    assert not careless and {"COINS - 0.1 * NC + 0.1 * (HP)", "COINS - 0.1 * NC + 1 * (HP)"} <= more
    assert "NC_PARENT" in plan_variables(GAME) and "CEILING" not in plan_variables(GAME)


def test_what_is_wrong_with_ways_is_told() -> None:
    for changes, told in (
        ({"ways": {"HP": "health"}}, "one of its metrics already"),
        ({"ways": {"N C": "coin"}}, "expected: symbols"),
        ({"position": None}, "lacks the method position"),
        ({"homing": "-NY"}, "homing is not a formula"),
    ):
        with pytest.raises(GameError, match=told):
            from_class(type("Wrong", (Mapped,), changes))
    with pytest.raises(GameError, match="for single-player games"):
        from_class(type("Wrong", (Mapped,), {"mover": lambda self: 0}), players=2)
    for given in ({"NY": [(1, 1)]}, {"NC": [1]}, [(1, 1)]):
        wrong = from_class(type("Wrong", (Mapped,), {"targets": lambda self, given=given: given}))
        with pytest.raises(GameError, match=r"Wrong\.targets|test_ways"):
            measured(wrong, ROOM)


def test_the_documented_lines_give_a_new_game_its_ways(tmp_path: Path) -> None:
    doc = (ROOT / "docs" / "pages" / "own_games.md").read_text()
    (lines,) = re.findall(r"```python\n(ways = .*?)```", doc, re.DOTALL)
    file = tmp_path / "orchard.py"
    file.write_text(class_file("orchard").replace("    health =", f"{textwrap.indent(lines, ' ' * 4)}\n    health ="))
    game = registry.get(f"{file}:GAME")
    level = game.load(LEVEL, "orchard")
    assert game.targets == ("NG",) and game.homing and {"NG", "NX"} <= set(game.symbols)
    shown = game.measure(level, level.start)
    assert 0 < shown["NG"] < 1 and 0 < shown["NX"] <= 1
