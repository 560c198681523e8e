"""Tests the damage metric of MiniDungeons 2: the hit points that the hero has lost, even if potions restored them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.search.samples import random_states

GAME = registry.get("minidungeons2")
WALK = "XXXXXXXXXX\nXHttP   eX\nXXXXXXXXXX\n"


def walked(moves: str, rules: str = "game") -> list[tuple[float, float]]:
    """(damage, hit points) after each move along the corridor."""
    level = GAME.load(WALK, "walk", rules=rules)
    states = GAME.replay(level, ["NESW".index(move) for move in moves])
    found = [GAME.measure(level, state) for state in states]
    return [(m["DT"], 10 * m["HL"]) for m in found]


def test_traps_hurt_and_a_potion_takes_nothing_back() -> None:
    assert walked("EEEE") == [(0, 10), (1, 9), (2, 8), (2, 9), (2, 9)]


def test_a_hero_without_hit_points_loses_no_more() -> None:
    found = walked("EW" * 12)
    assert found[-1] == (10, 0) and max(damage for damage, _ in found) == 10


@pytest.mark.parametrize("rules", ["game", "paper"])
def test_a_potion_that_gives_nothing_hides_no_damage(rules: str) -> None:
    level = GAME.load("XXXXXXX\nXPHt eX\nXXXXXXX\n", "cap", rules=rules)
    last = GAME.measure(level, GAME.replay(level, [3, 1, 1])[-1])
    assert last["DT"] == 1 and last["HL"] == (1.0 if rules == "game" else 0.9)


def test_without_a_cap_damage_follows_from_health_and_potions() -> None:
    levels = {level.name: level for level in mapsets.resolve(GAME, ["train"])[:4]}
    for s in random_states(GAME, list(levels.values())):
        potions = s.metrics["PD"] * int(levels[s.level].tables[tb.POTIONS])
        assert s.metrics["DT"] == pytest.approx(10 + potions - 10 * s.metrics["HL"])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=40), st.sampled_from(["train04", "train09"]), st.integers(1, 6))
def test_what_damage_can_still_become_holds(choices: list[int], name: str, moves: int) -> None:
    (level,) = mapsets.resolve(GAME, [name])
    assert GAME.reach is not None
    reach, n, at = GAME.reach(), len(GAME.metrics), GAME.symbols.index("DT")
    state, spans = GAME.start(level), np.zeros(2 * len(GAME.metrics))
    pending: list[tuple[float, float]] = []
    for made, choice in enumerate(choices):
        reach(level.tables, state, moves, spans)
        pending.append((spans[at], spans[n + at]))
        actions = GAME.legal(level, state)
        if GAME.over(level, state) or not actions:
            break
        GAME.rules().step(level.tables, state, actions[choice % len(actions)], np.ones(2, dtype=np.int64))
        damage = GAME.measure(level, state)["DT"]
        assert all(low <= damage <= high for low, high in pending[max(0, made + 1 - moves) :])
