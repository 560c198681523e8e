"""Tests that the fast rules of MiniDungeons 2 equal the general ones: actions, states, metrics, bounds and rollouts."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import LevelError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.catalog.minidungeons2 import packed
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.core import Game, Level, Swift
from persona_evo.games.mapsets import resolve
from persona_evo.search.plan import Budget, Planner, SearchSettings, TreePolicy
from persona_evo.seeds import stream
from tests.search.levels import level as walled
from tests.shared import shared

GAME = registry.get("minidungeons2")
SWIFT = import_module("persona_evo.games.catalog.minidungeons2.swift")
SLOW = dataclasses.replace(GAME, swift=None)
N = len(GAME.metrics)


class Both:
    """A game played by both rules at once, which compares all that they say of each state."""

    def __init__(self, level: Level) -> None:
        self.level, self.inner = level, GAME.for_search(level)
        assert self.inner.level.tables is not level.tables, "the level does not fit"
        self.sides = [_Side(GAME, level), _Side(self.inner.game, self.inner.level)]

    def compare(self) -> list[int]:
        """Compare everything; the legal actions."""
        general, swift = (side.says() for side in self.sides)
        for name, expected in general.items():
            assert expected == swift[name], name
        slow, fast = (side.state for side in self.sides)
        assert np.array_equal(packed.pack(self.level.tables, slow), fast)
        assert np.array_equal(packed.unpack(self.level.tables, fast), slow)
        return general["legal"]  # type: ignore[no-any-return]

    def step(self, action: int) -> None:
        """One turn of both."""
        for side in self.sides:
            side.rules.step(side.level.tables, side.state, action, stream(1))

    def roll(self, length: int, seed: int, costly: bool) -> None:
        """Compare a random game from here, move by move, and with it what the random numbers were."""
        games = [side.rolled(length, seed, costly) for side in self.sides]
        for expected, found in zip(*(game[:-1] for game in games), strict=True):
            assert np.array_equal(expected, found)
        assert np.array_equal(packed.pack(self.level.tables, games[0][-1]), games[1][-1])


class _Side:
    def __init__(self, game: Game, level: Level) -> None:
        self.game, self.level, self.state = game, level, level.start.copy()
        self.rules, self.cheap = game.rules(costly=True), game.rules()

    def says(self) -> dict[str, Any]:
        t, s, out = self.level.tables, self.state, np.zeros(N)
        actions = np.zeros(self.level.max_actions, dtype=np.int64)
        found: dict[str, Any] = {"over": self.rules.over(t, s)}
        found["legal"] = actions[: self.rules.legal(t, s, actions)].tolist()
        for rules, name in ((self.rules, "all metrics"), (self.cheap, "cheap metrics")):
            rules.measure(t, s, 0, out)
            found[name] = out.tolist()
        bounds = np.zeros(2 * N)
        for moves in (0, 1, 7, 300):
            self.game.reach()(t, s, moves, bounds)  # type: ignore[misc]
            found[f"reach in {moves}"] = bounds.tolist()
        novelty, count = self.game.novelty(self.level)  # type: ignore[misc]
        facts = np.zeros(count, dtype=np.int64)
        assert novelty(t, s, facts) == count
        found["novelty"] = facts.tolist()
        return found

    def rolled(self, length: int, seed: int, costly: bool) -> tuple[Any, ...]:
        rng, state = stream(seed), self.state.copy()
        played, seen = np.zeros(length, dtype=np.int64), np.zeros((length + 1, N))
        actions = np.zeros(self.level.max_actions, dtype=np.int64)
        rules = self.rules if costly else self.cheap
        made = rules.rollout(self.level.tables, state, actions, played, length, rng, seen, 1)
        return made, played, rng, seen, state


def dungeons(width: int = 7, height: int = 5) -> st.SearchStrategy[Level]:
    """Random small levels with everything that there is, crowded so that much happens."""

    def build(order: list[int], filling: list[str], portals: bool) -> Level | None:
        cells = list(filling)
        cells[order[0]], cells[order[1]] = "H", "e"
        if portals:
            cells[order[2]] = cells[order[3]] = "p"
        try:
            found = walled(*("".join(cells[y * width : (y + 1) * width]) for y in range(height)))
        except LevelError:
            return None
        return found if packed.fits(found) else None

    size = width * height
    filling = st.lists(st.sampled_from("XXXMRobmPTt" + " " * 20), min_size=size, max_size=size)
    built = st.builds(build, st.permutations(range(size)), filling, st.booleans())
    return built.filter(lambda found: found is not None)  # type: ignore[return-value]


@settings(max_examples=60)
@given(dungeons(), st.lists(st.integers(0, 60), max_size=40), st.integers(0, 10**6))
def test_both_rules_agree_on_random_levels(level: Level, choices: list[int], seed: int) -> None:
    both = Both(level)
    for choice in choices:
        legal = both.compare()
        if GAME.over(level, both.sides[0].state):
            break
        both.step(legal[choice % len(legal)] if legal and choice < 50 else choice - 51)
    both.compare()
    both.roll(60, seed, bool(seed & 1))


NAMES = [*(f"train{k:02}" for k in range(1, 12)), *(f"test{k:02}" for k in range(1, 7))]
"""The levels that ship; test06 has more than 127 tiles."""


def shipped(name: str) -> Level:
    """Return one of them."""
    return resolve(GAME, [name])[0]


@pytest.mark.parametrize("name", NAMES)
def test_both_rules_agree_on_levels_that_ship(name: str) -> None:
    level = shipped(name)
    both = Both(level)
    for seed in range(20):
        both.roll(200, seed, costly=bool(seed & 1))
    rng = np.random.default_rng(7)
    for _ in range(3):
        both = Both(level)
        while not GAME.over(level, both.sides[0].state):
            legal = both.compare()
            both.step(int(rng.choice(legal)))
        both.compare()


def test_both_rules_agree_on_levels_of_others() -> None:
    folder = shared("levels/md2")
    names = [str(p) for p in sorted(folder.glob("map*.txt")) + sorted(folder.glob("extra/*.txt"))]
    fit = [level for level in resolve(GAME, names) if packed.fits(level)]
    assert len(fit) > 35
    for level in fit:
        for seed in range(5):
            Both(level).roll(200, seed, costly=True)


def test_plain_python_gives_the_same() -> None:
    level = walled("HoPb T", " XMX R", "m p tp", "  b  e")
    inner, rng = GAME.for_search(level), np.random.default_rng(3)
    legal, step, measure = (getattr(SWIFT, name).plain for name in ("legal", "step", "measure_all"))
    for _ in range(4):
        both = Both(level)
        mine, actions, out = inner.level.start.copy(), np.zeros(level.max_actions, dtype=np.int64), np.zeros(N)
        for _ in range(25):
            expected = both.compare()
            assert actions[: legal(inner.level.tables, mine, actions)].tolist() == expected
            action = int(rng.choice(expected))
            both.step(action)
            step(inner.level.tables, mine, action, stream(1))
            assert np.array_equal(mine, both.sides[1].state)
            measure(inner.level.tables, mine, 0, out)
            assert out.tolist() == both.sides[1].says()["all metrics"]


def test_equal_states_have_equal_keys_and_counters_do_not_count() -> None:
    level = walled("H tp", "  Xp", "b  e")
    both = Both(level)
    seen: dict[int, int] = {}
    rng = np.random.default_rng(1)
    for _ in range(300):
        if GAME.over(level, both.sides[0].state):
            both = Both(level)
        both.step(int(rng.choice(both.compare())))
        keys = [side.rules.key(side.level.tables, side.state) for side in both.sides]
        assert seen.setdefault(keys[0], keys[1]) == keys[1]
    assert len(set(seen.values())) == len(seen) > 20


def test_states_are_packed_in_the_middle_of_a_game() -> None:
    level = shipped("train01")
    swift = GAME.for_search(level)
    for state in GAME.replay(level, [0, 1, 2, 3, 1, 1]):
        inner = swift.pack(state)
        assert swift.game.legal(swift.level, inner) == GAME.legal(level, state)
        assert swift.game.measure(swift.level, inner) == GAME.measure(level, state)


@pytest.mark.parametrize(
    "level",
    [
        GAME.load("XXXX\nXHeX\nXXXX\n", "paper", rules="paper"),
        walled("HM" + " " * 6 + "e", *["MMMMMMMMM"] * 2),
        walled("HP" + " " * 6 + "e", *["PPPPPPPPT"] * 2),
        walled("Hoe", "bbb", "bbb"),
        walled("H" + " " * 15 + "e", *[" " * 17] * 14),
    ],
    ids=["rule set", "monsters", "things", "an ogre among blobs", "tiles"],
)
def test_other_levels_keep_the_general_rules(level: Level) -> None:
    found: Swift = GAME.for_search(level)
    assert found.game is GAME and found.level is level
    assert np.array_equal(found.pack(level.start), level.start)


def test_variants_keep_the_general_rules() -> None:
    level = shipped("train01")
    assert GAME.for_search(level, "informed").level is level


POLICIES = {"UCB1": "", "formula": "R + 0.5 * MS - 0.2 * DEAD - NE", "static": "MS + PE - NM"}


@pytest.mark.parametrize("preset", ["paper", "single", "anytime"])
@pytest.mark.parametrize("policy", POLICIES)
def test_searches_find_the_same_plans(preset: str, policy: str) -> None:
    level, utility = shipped("train04"), parse("0.7 * MS + 0.3 * PE - 5 * DEAD - 0.01 * DT", GAME.symbols)
    text = POLICIES[policy]
    found = []
    for game in (SLOW, GAME):
        planner = Planner(game, level, getattr(SearchSettings, preset)(), 1_501)
        assert (planner.level is level) == (game is SLOW)
        how = TreePolicy.of(text, GAME, policy) if text else TreePolicy.ucb1()
        found.append(dataclasses.replace(planner.plan(utility, how, Budget(iterations=1_500), 5), seconds=0.0))
    assert found[0] == found[1]


def test_the_tables_say_where_a_monster_walks() -> None:
    level = walled("H   e", " XXX ", "  M  ")
    inner, t = GAME.for_search(level).level, level.tables
    row = int(inner.tables[packed.ROW // 2])
    monster = int(inner.start.view(np.uint8)[packed.TILES_AT])
    hero = int(inner.start.view(np.uint8)[packed.HERO_AT])
    step = int(inner.tables.view(np.uint8)[packed.STEP + hero * row + monster])
    direction = int(tb.pair(t, hero, monster)) & 7
    assert step == t[tb.HEADER + 2 * int(t[tb.TILES]) + 4 * monster + direction]
