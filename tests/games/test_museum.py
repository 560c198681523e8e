"""Tests the museum of tests/examples: its guards, and that generated levels can be won, checked and evolved on."""

from __future__ import annotations

import random

import pytest

from persona_evo import personas
from persona_evo.errors import LevelError
from persona_evo.games import registry
from persona_evo.games.generating import generate
from tests.examples.museum import GEMS, GUARDS, Museum
from tests.shared import ROOT

CORRIDOR = "#######\n#@.-.>#\n#*#####\n#######\n"
GAME = registry.get("tests.examples.museum:GAME")


def played(text: str, *moves: str) -> Museum:
    state = Museum.from_text(text)
    for move in moves:
        assert move in state.legal()
        state.apply(move)
    return state


def test_a_guard_turns_at_walls_and_comes_back() -> None:
    plan = Museum.from_text(CORRIDOR).plan
    assert [x for ((x, _),) in plan.guards] == [3, 4, 5, 4, 3, 2, 1, 2, 3]
    alone = Museum.from_text("#####\n#@.>#\n##-##\n#####\n").plan
    assert set(alone.guards) == {((2, 2),)}


def test_who_meets_a_guard_or_changes_places_with_it_is_caught() -> None:
    waiting = played(CORRIDOR, *["wait"] * 6)
    assert waiting.over() == "lost" and waiting.measure()["CAUGHT"] == 1
    swapped = played("######\n#@-.>#\n######\n", "wait", "right", "right")
    assert swapped.over() == "lost" and swapped.at == (3, 1)
    hiding = played(CORRIDOR, "down", *["wait"] * 6)
    assert hiding.over() is None and hiding.measure()["GEMS"] == 1


def test_levels_of_a_seed_are_sound_and_as_they_are_said_to_be() -> None:
    levels = generate(GAME, 2, 5)
    assert len({level.text for level in levels}) == 2
    for level in levels:
        assert level.text.count("*") == GEMS and level.text.count("-") + level.text.count("|") == GUARDS
    assert Museum.generate(random.Random(3)) == Museum.generate(random.Random(3))
    with pytest.raises(LevelError):
        GAME.load("####\n#@.#\n####\n", "no door", "")


def test_its_persona_wants_gems_and_has_ways_to_them() -> None:
    thief = personas.load(ROOT / "tests" / "examples" / "thief.toml", GAME)
    assert thief.priority == "GEMS" and {"NG", "NX"} <= set(GAME.symbols)
