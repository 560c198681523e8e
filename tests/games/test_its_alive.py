"""Tests It's Alive!: the rules one by one, random games against plain Python, and proofs on the tiny field."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import LevelError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.its_alive import draw, layout
from persona_evo.games.catalog.its_alive import rules as r
from persona_evo.games.core import LOST, RUNNING, WON, Level
from persona_evo.search import baselines
from persona_evo.search.plan import Planner
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import SplitMix64, stream

GAME = registry.get("its_alive")
SIDES = ((1, 0, 1), (2, 1, 0), (4, 0, -1), (8, -1, 0))
"""Connector, and where it leads: dx, dy upwards."""
Piece = tuple[int, int, int]
"""Colour, shape, connectors."""
Field = tuple[tuple[Piece, ...], ...]
"""Columns of pieces from the bottom."""


class Plain:
    """Implements the rules again with sets and tuples; only the sequence of pieces comes from the level."""

    def __init__(self, level: Level, design: str, width: int, height: int, win: int) -> None:
        self.kinds = [int(k) for k in level.tables[layout.PIECES :]]
        self.design, self.width, self.height, self.win = design, width, height, win

    def landed(self, field: Field, number: int, column: int, orientation: int) -> Field:
        kind = self.kinds[number]
        shape = kind % 6
        base = [(0,), (0, 2), (0,), (0, 2), (0, 1), (0, 1, 2)][shape]
        mask = sum(1 << (side + orientation) % 4 for side in base)
        grown = (*field[column], (kind // 6, shape, mask))
        return (*field[:column], grown, *field[column + 1 :])

    def monsters(self, field: Field) -> list[tuple[frozenset[tuple[int, int]], int]]:
        """Return the living monsters: their cells and same-colour joints."""
        cells = {(x, y): piece for x, column in enumerate(field) for y, piece in enumerate(column)}
        found, seen = [], set[tuple[int, int]]()
        for start in cells:
            if start in seen:
                continue
            group, todo, pairs = {start}, [start], 0
            while todo:
                x, y = todo.pop()
                for side, dx, dy in SIDES:
                    a, b = cells[x, y], cells.get((x + dx, y + dy))
                    back = {1: 4, 2: 8, 4: 1, 8: 2}[side]
                    if b is None or not a[2] & side or not b[2] & back:
                        continue
                    if self.design == "monochromester" and a[0] != b[0]:
                        continue
                    pairs += a[0] == b[0]
                    if (x + dx, y + dy) not in group:
                        group.add((x + dx, y + dy))
                        todo.append((x + dx, y + dy))
            seen |= group
            shapes = [cells[c][1] for c in group]
            if 0 in shapes and 1 in shapes and (self.design != "tenacious" or len(group) >= 10):
                found.append((frozenset(group), pairs // 2))
        return found

    @staticmethod
    def without(field: Field, monster: frozenset[tuple[int, int]]) -> Field:
        return tuple(tuple(p for y, p in enumerate(column) if (x, y) not in monster) for x, column in enumerate(field))

    def best(self) -> int:
        """Return the most points of any game, by looking at all of them."""

        @functools.cache
        def most(field: Field, number: int, collected: int) -> int:
            if collected == self.win:
                return 0
            best = 0
            for monster, pairs in self.monsters(field):
                n = len(monster)
                gain = 5 * (n * (n + 1) // 2 + 1) + 10 * pairs
                best = max(best, gain + most(self.without(field, monster), number, collected + 1))
            for column in range(self.width):
                if len(field[column]) < self.height:
                    after = {self.landed(field, number, column, o) for o in range(4)}
                    best = max(best, *(5 + most(f, number + 1, collected) for f in after))
            return best

        return most(((),) * self.width, 0, 0)


def field_of(level: Level, state: Any) -> Field:
    """Return the columns of a state."""
    width, height = int(level.tables[layout.WIDTH]), int(level.tables[layout.HEIGHT])
    columns: list[tuple[Piece, ...]] = []
    for x in range(width):
        pieces = [int(state[r.FIELD_AT + x + width * y]) for y in range(height)]
        assert sorted(pieces, key=bool, reverse=True) == pieces, "a piece hangs in the air"
        columns.append(tuple((r.colour_of(p), r.shape_of(p), r.connectors(level.tables, p)) for p in pieces if p))
    return tuple(columns)


def tiny(name: str) -> tuple[Level, Plain]:
    (level,) = mapsets.resolve(GAME, [name])
    return level, Plain(level, layout.DESIGNS[int(level.tables[layout.DESIGN])], 2, 3, 2)


BEST = {"tiny01": 205, "tiny02": 100}
"""Points of the best game, which the README tells."""


@pytest.mark.parametrize("name", ["tiny02", pytest.param("tiny01", marks=pytest.mark.slow)])
def test_the_best_game_is_that_of_a_brute_force(name: str) -> None:
    _, plain = tiny(name)
    assert plain.best() == BEST[name]


@pytest.mark.parametrize("name", BEST)
def test_looking_at_everything_proves_the_maximum_on_the_tiny_field(name: str) -> None:
    level, _ = tiny(name)
    problem = Problem.of(GAME, level, parse("SC", GAME.symbols))
    plan = baselines.breadth_first(problem, states=2_000_000)
    assert plan.stopped == "proven best" and plan.proven
    assert plan.metrics["PT"] == BEST[name]
    assert GAME.measure(level, GAME.replay(level, plan.actions)[-1])["PT"] == BEST[name]


@pytest.mark.parametrize("name", ["tiny02", pytest.param("tiny01", marks=pytest.mark.slow)])
def test_tree_search_marks_the_whole_tiny_tree_as_explored(name: str) -> None:
    level, _ = tiny(name)
    planner = Planner(GAME, level, SearchSettings(), 1_000_000)
    plan = planner.plan(parse("SC", GAME.symbols), TreePolicy.ucb1(), Budget(2_000_000), 1)
    assert plan.stopped == "proven best" and plan.proven
    assert plan.metrics["PT"] == BEST[name]
    few = planner.plan(parse("SC", GAME.symbols), TreePolicy.ucb1(), Budget(1_000), 1)
    assert few.stopped == "budget" and not few.proven


@pytest.mark.parametrize("player", layout.PLAYERS)
def test_flat_and_factored_choices_have_the_same_best_game(player: str) -> None:
    best = set()
    for choices in layout.CHOICES:
        (level,) = mapsets.resolve(GAME, ["tiny02"], player=player, choices=choices)
        plan = baselines.breadth_first(Problem.of(GAME, level, parse("SC", GAME.symbols)), states=2_000_000)
        assert plan.proven
        best.add(plan.metrics["PT"])
    assert len(best) == 1


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**63 - 1),
    luck=st.integers(0, 2**32),
    field=st.sampled_from(list(layout.FIELDS)),
    design=st.sampled_from(layout.DESIGNS),
    player=st.sampled_from(layout.PLAYERS),
    choices=st.sampled_from(layout.CHOICES),
)
def test_random_games_agree_with_the_plain_rules(
    seed: int, luck: int, field: str, design: str, player: str, choices: str
) -> None:
    if design == "tenacious" and field == "2x3":
        field = "3x5"
    text = f"seed = {seed}\nfield = {field}\ndesign = {design}\nplayer = {player}\nchoices = {choices}\n"
    level, rng, points = GAME.load(text, "random"), SplitMix64(luck), 0
    width, height, win = layout.FIELDS[field]
    plain = Plain(level, design, width, height, win)
    state = level.start.copy()
    while GAME.over(level, state) == RUNNING:
        here, number = field_of(level, state), int(state[r.NEXT_AT])
        living = plain.monsters(here)
        m = GAME.measure(level, state)
        assert (m["PT"], m["LV"], m["PL"]) == (points, len(living), number)
        legal = GAME.legal(level, state)
        full = all(len(column) == height for column in here)
        check_players(legal, player, choices, bool(living), full)
        action = legal[rng.below(len(legal))]
        column = int(state[r.COLUMN_AT])
        r.RULES.step(level.tables, state, action, stream(0))
        if action < r.COLLECT or action >= r.TURN:
            column, turn = (action >> 2, action & 3) if action < r.COLLECT else (column, action - r.TURN)
            assert field_of(level, state) == plain.landed(here, number, column, turn)
            points += 5
        elif action < r.SAY_LAND:
            cell = action - r.COLLECT
            ((monster, pairs),) = [m for m in living if (cell % width, cell // width) in m[0]]
            assert field_of(level, state) == plain.without(here, monster)
            points += layout.monster_points(len(monster), pairs)
    m = GAME.measure(level, state)
    assert m["PT"] == points
    if GAME.over(level, state) == WON:
        assert m["MC"] == win and m["PR"] == 1
    else:
        assert GAME.over(level, state) == LOST and m["FI"] == 1 and not plain.monsters(field_of(level, state))


def check_players(legal: list[int], player: str, choices: str, living: bool, full: bool) -> None:
    """What a player model may do, by what lives and whether the field is full."""
    collects = any(r.COLLECT <= a < r.SAY_LAND or a == r.SAY_COLLECT for a in legal)
    lands = any(a < r.COLLECT or a == r.SAY_LAND or a >= r.COLUMN for a in legal)
    assert legal and not (collects and not living) and not (lands and full)
    if player == "greedy" and living:
        assert not lands
    if player == "lazy":
        assert collects == full
    if choices == "flat" and player == "unrestricted":
        assert collects == living and lands == (not full)


def test_greedy_collects_at_once_and_lazy_when_full() -> None:
    for player, (most_left, least_fill) in {"greedy": (0, 0.0), "lazy": (99, 1.0)}.items():
        (level,) = mapsets.resolve(GAME, ["small01"], player=player)
        for luck in range(20):
            rng, state = SplitMix64(luck), level.start.copy()
            while GAME.over(level, state) == RUNNING:
                legal, m = GAME.legal(level, state), GAME.measure(level, state)
                action = legal[rng.below(len(legal))]
                if action < r.COLLECT:
                    assert m["LV"] <= most_left
                else:
                    assert m["FI"] >= least_fill
                r.RULES.step(level.tables, state, action, stream(0))


def test_the_sequence_is_bags_of_all_kinds() -> None:
    for seed in range(5):
        pieces = layout.sequence(seed, 60)
        assert all(sorted(pieces[k : k + 18]) == list(range(18)) for k in (0, 18, 36))
        assert pieces[:18] != pieces[18:36] and layout.sequence(seed, 20) == pieces[:20]
    assert layout.sequence(1, 18) != layout.sequence(2, 18)


def test_connectors_turn_clockwise() -> None:
    corner = layout.CONNECTORS[layout.SHAPES.index("corner")]
    assert [layout.turned(corner, o) for o in range(4)] == [
        layout.NORTH | layout.EAST,
        layout.EAST | layout.SOUTH,
        layout.SOUTH | layout.WEST,
        layout.WEST | layout.NORTH,
    ]
    assert [m.bit_count() for m in layout.CONNECTORS] == [1, 2, 1, 2, 2, 3]


def test_points_are_those_of_the_published_results() -> None:
    assert [layout.monster_points(n, 0) for n in (2, 3, 10)] == [20, 35, 280]
    assert layout.monster_points(2, 1) == 30


def test_landing_on_a_full_column_ends_the_game() -> None:
    (level,) = mapsets.resolve(GAME, ["tiny01"])
    state = level.start.copy()
    for _ in range(3):
        r.RULES.step(level.tables, state, r.LAND, stream(0))
    assert r.LAND not in GAME.legal(level, state) and GAME.over(level, state) == RUNNING
    r.RULES.step(level.tables, state, r.LAND, stream(0))
    assert GAME.over(level, state) == LOST


def test_a_tenacious_monster_needs_room() -> None:
    with pytest.raises(LevelError, match="nothing can live on this field"):
        GAME.load("seed = 1\nfield = 2x3\ndesign = tenacious\n", "bad", "bad.txt")
    with pytest.raises(LevelError, match=r"bad.txt:2:9: not a value for field"):
        GAME.load("seed = 1\nfield = 6x3\n", "bad", "bad.txt")
    with pytest.raises(SettingsError, match="no such player"):
        mapsets.resolve(GAME, ["tiny01"], player="hasty")
    with pytest.raises(SettingsError, match="no such design") as error:
        mapsets.resolve(GAME, ["tiny01"], design=5)
    assert error.value.found == "5"


def test_pictures_show_what_changes() -> None:
    (level,) = mapsets.resolve(GAME, ["small01"], player="greedy")
    kinds = set()
    for luck in range(8):
        rng, state = SplitMix64(luck), level.start.copy()
        frame = np.asarray(draw.state_image(level, state))
        while GAME.over(level, state) == RUNNING:
            legal, before = GAME.legal(level, state), state.copy()
            r.RULES.step(level.tables, state, legal[rng.below(len(legal))], stream(0))
            (event,) = GAME.events(level, before, state, 1)  # type: ignore[misc]
            kinds.add(event.kind)
            assert 0 <= event.x < 3 and 0 <= event.y < 5
            following = np.asarray(draw.state_image(level, state))
            assert following.shape == frame.shape and (following != frame).any()
            frame = following
    assert kinds == {"land", "collect"}
