"""Tests 2D Roguelike: layouts, the rules one by one on made-up days, and invariants in random games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import LevelError, SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.roguelike2d import draw, layout
from persona_evo.games.catalog.roguelike2d import rules as r
from persona_evo.games.catalog.roguelike2d.layout import EXIT, DayLayout
from persona_evo.games.core import LOST, RUNNING, WON, Level
from persona_evo.seeds import SplitMix64, stream

GAME = registry.get("roguelike2d")


def cell(x: int, y: int) -> int:
    return x + layout.SIDE * y


def made(*days: DayLayout, variant: str = "default", player: str = "unrestricted") -> Level:
    """Return a level of made-up days."""
    tables = layout.build(days, variant, player)
    return Level("roguelike2d", "made", "", tables, r.first(tables), 4, facts={"days": days})


def played(level: Level, moves: str, state: Any = None, **changed: int) -> tuple[Any, dict[str, float]]:
    """Return the state after these moves and its metrics; `changed` sets entries of the state first."""
    state = level.start.copy() if state is None else state
    for name, value in changed.items():
        state[getattr(r, f"{name.upper()}_AT")] = value
    for move in moves:
        r.RULES.step(level.tables, state, GAME.parse_action(level, state, move), stream(0))
    return state, GAME.measure(level, state)


EMPTY = DayLayout((), (), ())
HOME = "N" * 7 + "E" * 7


def test_layouts_have_the_counts_and_cells_of_the_rules() -> None:
    kinds: set[tuple[str, int]] = set()
    walls: set[int] = set()
    items: set[int] = set()
    for seed in range(40):
        days = layout.layouts(seed, 17)
        for number, day in enumerate(days, 1):
            cells = [*day.walls, *(c for c, _ in day.items), *(c for c, _ in day.enemies)]
            assert len(set(cells)) == len(cells)
            assert all(1 <= c % 8 <= 6 and 1 <= c // 8 <= 6 for c in cells)
            assert len(day.enemies) == int(np.log2(number))
            walls.add(len(day.walls))
            items.add(len(day.items))
            kinds |= {("item", k) for _, k in day.items} | {("enemy", k) for _, k in day.enemies}
    assert walls == {5, 6, 7, 8, 9} and items == {1, 2, 3, 4, 5} and len(kinds) == 4


def test_the_draws_are_those_of_the_readme() -> None:
    rng = SplitMix64(77)
    for day in layout.layouts(77, 3):
        free = [cell(x, y) for x in range(1, 7) for y in range(1, 7)]
        assert day.walls == tuple(free.pop(rng.below(len(free))) for _ in range(5 + rng.below(5)))
        assert day.items == tuple((free.pop(rng.below(len(free))), rng.below(2)) for _ in range(1 + rng.below(5)))
        for enemy in day.enemies:
            assert enemy == (free.pop(rng.below(len(free))), rng.below(2))


def test_days_do_not_depend_on_how_many_there_are() -> None:
    assert layout.layouts(5, 20)[:3] == layout.layouts(5, 3)


def test_every_attempt_costs_food_and_the_exit_ends_the_day() -> None:
    level = made(EMPTY, EMPTY)
    state, m = played(level, "W" * 3 + HOME)
    assert (m["DS"], m["FD"], m["MV"], m["PR"]) == (1, 83, 17, 0.5) and state[r.CELL_AT] == 0
    assert m["RW"] == pytest.approx(83 / 200)
    state, m = played(level, HOME, state)
    assert GAME.over(level, state) == WON and m["WON"] == 1 and m["RW"] == pytest.approx((83 + 69) / 200)


def test_a_wall_takes_four_bumps_and_the_last_moves_in() -> None:
    level = made(DayLayout((cell(0, 1),), (), ()))
    state, m = played(level, "NNN")
    assert m["WD"] == 0 and state[r.CELL_AT] == 0
    state, m = played(level, "N", state)
    assert m["WD"] == 1 and state[r.CELL_AT] == cell(0, 1) and m["FD"] == 96


def test_death_is_looked_at_before_food_and_exit() -> None:
    level = made(DayLayout((), ((cell(0, 1), 0),), ()))
    state, m = played(level, "N", food=1)
    assert GAME.over(level, state) == LOST and m["EA"] == 0 and m["RW"] == pytest.approx(1 / 100)
    state, m = played(level, "E", food=1, cell=EXIT - 1)
    assert GAME.over(level, state) == LOST and m["DS"] == 0 and m["RW"] == pytest.approx(14 / 100)
    state, m = played(level, "N", food=2)
    assert GAME.over(level, state) == RUNNING and (m["FD"], m["FG"]) == (11, 10)


@pytest.mark.parametrize(("variant", "gains"), [("default", (10, 20)), ("high_stakes", (15, 30))])
def test_gains_and_losses_by_kind_and_variant(variant: str, gains: tuple[int, int]) -> None:
    for kind in (0, 1):
        level = made(DayLayout((), ((cell(0, 1), kind),), ()), variant=variant)
        assert played(level, "N")[1]["FD"] == 99 + gains[kind]
        level = made(DayLayout((), (), ((cell(1, 0), kind),)), variant=variant)
        state, m = played(level, "W")
        assert (m["FD"], m["HT"], m["DT"]) == (99 - gains[kind], 1, gains[kind])
        assert GAME.cause(level, level.start, state) == "enemy"  # type: ignore[misc]


def test_enemies_act_every_other_turn_and_anew_each_day() -> None:
    enemy = DayLayout((), (), ((cell(6, 6), 0),))
    level = made(enemy, enemy)
    places = []
    state = level.start.copy()
    for _ in range(4):
        state, _ = played(level, "W", state)
        places.append(int(state[r.ENEMIES_AT]))
    assert places == [cell(5, 6), cell(5, 6), cell(4, 6), cell(4, 6)]
    state, _ = played(level, "E", state, cell=EXIT - 1, turn=1)
    assert state[r.DAY_AT] == 2 and state[r.TURN_AT] == 0 and state[r.ENEMIES_AT] == cell(6, 6)


@pytest.mark.parametrize(
    ("enemy", "player", "to"),
    [
        ((3, 3), (3, 6), (3, 4)),
        ((3, 3), (3, 0), (3, 2)),
        ((3, 3), (0, 6), (2, 3)),
        ((3, 3), (6, 3), (4, 3)),
    ],
)
def test_enemies_go_within_the_column_first(enemy: Any, player: Any, to: Any) -> None:
    level = made(DayLayout((), (), ((cell(*enemy), 0),)))
    state = level.start.copy()
    state[r.CELL_AT] = cell(*player)
    r.enemies_act(level.tables, state)
    assert state[r.ENEMIES_AT] == cell(*to)


def test_enemies_are_stopped_by_walls_and_each_other_and_not_by_food() -> None:
    wall = made(DayLayout((cell(2, 0),), (), ((cell(3, 0), 0),)))
    assert played(wall, "W")[0][r.ENEMIES_AT] == cell(3, 0)
    row = made(DayLayout((), ((cell(3, 0), 0),), ((cell(5, 0), 0), (cell(4, 0), 0))))
    state, _ = played(row, "W")
    assert list(state[r.ENEMIES_AT : r.ENEMIES_AT + 2]) == [cell(5, 0), cell(3, 0)]


def test_nobody_walks_through_an_enemy() -> None:
    level = made(DayLayout((), (), ((cell(1, 0), 0),)))
    state, m = played(level, "E", turn=1)
    assert state[r.CELL_AT] == 0 and m["FD"] == 99


def test_a_factored_move_is_two_decisions() -> None:
    level = made(EMPTY, player="factored")
    state = level.start.copy()
    for words, at in (
        (("toward", "lateral"), (1, 0)),
        (("toward", "vertical"), (1, 1)),
        (("away", "lateral"), (0, 1)),
        (("away", "vertical"), (0, 0)),
    ):
        for word in words:
            assert word in [GAME.action_name(level, state, a) for a in GAME.legal(level, state)]
            r.RULES.step(level.tables, state, GAME.parse_action(level, state, word), stream(0))
        assert state[r.CELL_AT] == cell(*at)
    m = GAME.measure(level, state)
    assert (m["ST"], m["MV"], m["FD"]) == (8, 4, 96)


def test_random_factored_games_go_toward_the_exit_twice_as_often() -> None:
    level = made(*[EMPTY] * 99, player="factored")
    actions, out, counts = np.zeros(4, np.int64), np.zeros((3_001, len(GAME.metrics))), [0, 0]
    for seed in range(30):
        state, moves = level.start.copy(), np.zeros(3_000, np.int64)
        n = r.RULES.rollout(level.tables, state, actions, moves, 3_000, stream(seed), out, 1)
        counts[0] += int((moves[:n] == r.TOWARD).sum())
        counts[1] += int((moves[:n] == r.AWAY).sum())
        assert out[n - 1].tolist() == list(GAME.measure(level, state).values())
    assert sum(counts) > 2_500 and counts[0] / sum(counts) == pytest.approx(2 / 3, abs=0.03)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**63 - 1),
    player=st.sampled_from(layout.PLAYERS),
    luck=st.integers(0, 2**32),
    variant=st.sampled_from(list(layout.VARIANTS)),
)
def test_food_adds_up_in_random_games(seed: int, player: str, luck: int, variant: str) -> None:
    level = GAME.load(f"seed = {seed}\nplayer = {player}\nvariant = {variant}\ndays = 5\n", "random")
    rng, state = SplitMix64(luck), level.start.copy()
    while GAME.over(level, state) == RUNNING:
        legal = GAME.legal(level, state)
        before = state.copy()
        r.RULES.step(level.tables, state, legal[rng.below(len(legal))], stream(0))
        m = GAME.measure(level, state)
        left = 100 - m["MV"] + m["FG"] - m["DT"]
        assert m["FD"] == max(0, left) and (m["DEAD"] == 1) == (m["FD"] == 0)
        kinds = [e.kind for e in GAME.events(level, before, state, 1)]  # type: ignore[misc]
        assert kinds.count("hit") == state[r.HITS_AT] - before[r.HITS_AT]
        assert ("day" in kinds) == (m["DS"] > GAME.measure(level, before)["DS"])
        enemies = state[r.ENEMIES_AT : r.ENEMIES_AT + layout.enemies_on(int(state[r.DAY_AT]))].tolist()
        assert len({*enemies, int(state[r.CELL_AT])}) == len(enemies) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad.txt:1: the level has no seed"),
        ("seed = x\n", "bad.txt:1:8: not a value for seed"),
        ("seed = 1\nsed = 2\n", "bad.txt:2:1: no such setting"),
        ("seed = 1\nsed = 2\n", "did you mean 'seed'"),
        ("seed = 1\n  seed = 2\n", "bad.txt:2:3: seed is set twice"),
        ("seed = 1\ndays = 100 # many\n", "bad.txt:2:8: not a value for days"),
        ("seed = 1\nvariant = hard\n", "bad.txt:2:11: not a value for variant"),
        ("seed = 1\nseed\n", "bad.txt:2:1: not a setting"),
        ("seed =\n", "found: nothing"),
        ("seed = ١\n", "a whole number from 0 to"),
    ],
)
def test_mistakes_in_level_files_are_told_with_their_place(text: str, message: str) -> None:
    with pytest.raises(LevelError) as caught:
        GAME.load(text, "bad", "bad.txt")
    assert message in str(caught.value)


def test_options_go_before_the_file() -> None:
    (level,) = mapsets.resolve(GAME, ["train01"], variant="high_stakes", player="forward_only")
    assert level.tables[layout.GAINS] == 15 and GAME.legal(level, level.start) == [0, 1]
    assert (GAME.load(level.text, level.name, **level.options).tables == level.tables).all()
    with pytest.raises(SettingsError, match="did you mean 'high_stakes'"):
        mapsets.resolve(GAME, ["train01"], variant="high_stake")


def test_pictures_show_what_changes() -> None:
    level = made(DayLayout((cell(1, 1),), ((cell(2, 2), 0), (cell(3, 2), 1)), ((cell(5, 5), 0), (cell(4, 5), 1))))

    def frame(**changed: int) -> np.ndarray:
        return np.asarray(draw.state_image(level, played(level, "", **changed)[0])).astype(int)

    start = frame()
    changes: list[dict[str, int]] = [
        {"cell": 9},
        {"food": 50},
        {"items": 1},
        {"items": 2},
        {"walls": 3},
        {"flags": r.IS_DEAD},
        {"enemies": cell(6, 5)},
    ]
    frames = [start, *(frame(**change) for change in changes)]
    assert all((a != b).any() for i, a in enumerate(frames) for b in frames[i + 1 :])
    tiles = {(0, 0): (255, 0, 0, 255)}
    board, warm = (np.asarray(draw.map_image(level, scale=16, tiles=t)) for t in ({}, tiles))
    assert board.shape == (8 * 16, 8 * 16, 3) and (board != warm).any(axis=2)[:16, :16].all()
    whole = draw.state_image(level, level.start, caption="a very long line " * 20)
    assert whole.width == start.shape[1] and whole.height > start.shape[0]
