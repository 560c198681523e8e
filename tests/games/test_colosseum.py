"""Compares Colosseum Survival! with positions, games and the random player of the course's own program."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from persona_evo.errors import LevelError, SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.colosseum import draw, guide, levels
from persona_evo.games.catalog.colosseum.levels import ColosseumBoard, board_of, random_board, rows_of
from persona_evo.games.catalog.colosseum.moves import scores
from persona_evo.games.catalog.colosseum.rules import walks
from persona_evo.games.check import check_game
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Level
from persona_evo.games.rollouts import rollout_of
from persona_evo.seeds import stream
from tests.shared import shared

GAME = registry.get("colosseum")
RULES = GAME.rules()
GOLDEN = "cases/colosseum"


def lines(name: str) -> Iterator[dict[str, Any]]:
    with open(shared(f"{GOLDEN}/{name}.jsonl"), encoding="utf-8") as file:
        yield from map(json.loads, file)


def board(row: dict[str, Any]) -> ColosseumBoard:
    walls = tuple(tuple(int(digit, 16) for digit in line) for line in row["walls"])
    return ColosseumBoard(row["size"], walls, (tuple(row["p0"]), tuple(row["p1"])), row.get("turn", 0))


def random_level(number: int, **options: int) -> Level:
    return GAME.load(f"random {number}", f"random{number}", **options)


def moves(level: Level, state: Any) -> list[list[int]]:
    n = int(level.tables[0])
    return [[a // 4 // n, a // 4 % n, a % 4] for a in GAME.legal(level, state)]


def test_every_recorded_position_has_the_same_moves_end_and_scores() -> None:
    seen = 0
    for row in lines("positions"):
        level, at = random_level(row["size"]), board(row)
        tables, state = rows_of(at)
        assert list(tables[:2]) == [row["size"], row["max_step"]] and (tables == level.tables).all()
        assert moves(level, state) == row["legal"], row["id"]
        assert board_of(level, state) == at
        assert scores(level, state) == (row["score0"], row["score1"])
        assert at.connected() != row["end"]
        assert GAME.measure(level, state, row["turn"])["NM"] == row["n_legal"]
        seen += 1
    assert seen > 250


def test_every_recorded_game_begins_and_goes_as_it_did() -> None:
    sizes = set()
    for row in lines("games"):
        n, level = row["size"], random_level(row["size"])
        state, luck = GAME.start(level, row["seed"]), stream(1)
        assert board_of(level, state) == board(row), "the seed alone gives the start"
        for (r, c, d), cells in zip(row["moves"], row["scores_by_ply"], strict=True):
            assert GAME.over(level, state) == RUNNING
            RULES.step(level.tables, state, 4 * (r * n + c) + d, luck)
            assert scores(level, state) == tuple(cells)
        assert GAME.over(level, state) == {0: WON, 1: LOST, -1: ENDED}[row["winner"]]
        assert ["".join(f"{w:x}" for w in line) for line in board_of(level, state).walls] == row["final_walls"]
        won, margin = (1.0 + row["score0"] - row["score1"] > 1.0), (row["score0"] - row["score1"]) / n**2
        first, second = (GAME.measure(level, state, player) for player in (0, 1))
        assert first["MG"] == pytest.approx(margin) and second["MG"] == -first["MG"]
        assert first["WIN"] == second["LOSS"] and first["WIN"] + second["WIN"] == 1 and first["ST"] == row["plies"]
        assert (first["WIN"] == 1) == won and (luck == stream(1)).all()
        assert (first["TE"], first["OTE"]) == (row["score0"], row["score1"]), "apart, territory is what one has"
        sizes.add(n)
    assert sizes == set(range(6, 13))


def sample(state: Any, level: Level, count: int, seed: int) -> dict[int, int]:
    """Return how often the course's random player, as compiled, makes which move."""
    rng, played = stream(seed), np.zeros(1, dtype=np.int64)
    actions, seen = np.zeros(level.max_actions, dtype=np.int64), np.zeros((1, len(GAME.metrics)))
    found: dict[int, int] = {}
    for _ in range(count):
        walks(level.tables, state.copy(), actions, played, 1, rng, seen, 0)
        found[int(played[0])] = found.get(int(played[0]), 0) + 1
    return found


def test_the_random_player_moves_as_the_recorded_one() -> None:
    """Against its exact probabilities, and against the recorded counts; p values corrected for their number."""
    positions = {row["id"]: row for row in lines("positions")}
    values, count = [], 10_000
    for row in lines("random_agent_policy"):
        at = positions[row["position_id"]]
        n, level = at["size"], random_level(at["size"])
        found = sample(rows_of(board(at))[1], level, count, row["position_id"])
        exact = {4 * (r * n + c) + d: p for r, c, d, p in row["exact"]}
        counts = {4 * (r * n + c) + d: k for r, c, d, k in row["counts"]}
        assert set(found) <= set(exact), "it makes no move that the recorded one cannot make"
        observed = [found.get(a, 0) for a in exact]
        total = sum(exact.values())
        values.append(stats.chisquare(observed, [count * p / total for p in exact.values()]).pvalue)
        both = [a for a in exact if found.get(a, 0) + counts.get(a, 0) > 0]
        values.append(
            stats.chi2_contingency([[found.get(a, 0) for a in both], [counts.get(a, 0) for a in both]]).pvalue
        )
    assert len(values) == 30 and min(values) > 0.01 / len(values)


def test_the_check_of_the_random_player_would_see_a_uniform_one() -> None:
    row = next(lines("random_agent_policy"))
    at = next(p for p in lines("positions") if p["id"] == row["position_id"])
    expected = [p for *_, p in row["exact"]]
    rng = np.random.default_rng(1)
    uniform = np.bincount(rng.integers(0, at["n_legal"], 50_000), minlength=at["n_legal"])[: len(expected)]
    uniform[-1] += 50_000 - uniform.sum()
    assert stats.chisquare(uniform, [50_000 * p / sum(expected) for p in expected]).pvalue < 1e-9


def test_random_players_play_games_as_long_as_the_recorded_ones() -> None:
    for row in lines("random_vs_random"):
        level, rng = random_level(row["size"]), stream(5)
        played, actions = np.zeros(3000, dtype=np.int64), np.zeros(level.max_actions, dtype=np.int64)
        seen, plies = np.zeros((1, 15)), []
        for seed in range(400):
            state = GAME.start(level, seed)
            plies.append(walks(level.tables, state, actions, played, 3000, rng, seen, 0))
        z = (np.mean(plies) - row["mean_plies"]) / (row["sd_plies"] * math.sqrt(1 / 1500 + 1 / 400))
        assert abs(z) < 3.5, row["size"]


@pytest.mark.parametrize(("size", "made"), [(5, 12), (9, 8), (16, 3), (17, 3), (32, 1)])
def test_boards_of_all_sizes_keep_the_contract(size: int, made: int) -> None:
    assert check_game(GAME, [random_level(size)], seed=size, games=2, moves=made) >= 4


@pytest.mark.parametrize("size", [5, 12, 17])
def test_compiled_and_plain_rules_agree_and_random_games_are_uniform(size: int) -> None:
    level, n = random_level(size), len(GAME.metrics)
    costly = GAME.rules(costly=True)
    for seed in range(2):
        one, two, three = (GAME.start(level, seed) for _ in range(3))
        rngs = [stream(seed) for _ in range(3)]
        rows = [(np.zeros(level.max_actions, dtype=np.int64), np.zeros(24, dtype=np.int64)) for _ in range(3)]
        seen = [np.zeros((24, n)) for _ in range(3)]
        fast = costly.rollout(level.tables, one, *rows[0], 24, rngs[0], seen[0], 1)
        plain = costly.rollout.plain(level.tables, two, *rows[1], 24, rngs[1], seen[1], 1)
        each = rollout_of(costly.legal, costly.step, costly.over, costly.measure)
        listed = each.plain(level.tables, three, *rows[2], 24, rngs[2], seen[2], 1)
        assert fast == plain == listed > 3
        assert (one == two).all() and (one == three).all() and (seen[0] == seen[1]).all() and (seen[0] == seen[2]).all()
        assert (rngs[0] == rngs[1]).all() and (rngs[0] == rngs[2]).all()
        assert costly.key(level.tables, one) == costly.key.plain(level.tables, one)
        assert scores(level, one) == (one[5], one[6]) or GAME.over(level, one) == RUNNING


@pytest.mark.parametrize("action", [-1, 4 * 36, 10**9, 0])
def test_a_move_that_is_not_allowed_becomes_one_of_the_random_player(action: int) -> None:
    level = random_level(6)
    state = GAME.start(level, 3)
    legal = GAME.legal(level, state)
    if action == 0:
        action = next(a for a in range(144) if a not in legal)
    ends = []
    for seed in range(40):
        after = state.copy()
        RULES.step(level.tables, after, action, stream(seed))
        assert after[3] == 1 and any((after == GAME.replay(level, [a], seed=3)[-1]).all() for a in legal)
        ends.append(after.tobytes())
    assert len(set(ends)) > 5


def test_distances_and_territory_by_hand() -> None:
    level = GAME.load("+-+-+-+\n|0|   |\n+ +-+ +\n|     |\n+ + + +\n|    1|\n+-+-+-+\n", "small")
    found = GAME.measure(level, level.start, 0)
    assert {k: found[k] for k in ("MD", "DI", "WA", "OWA", "RC", "ORC")} == {
        "MD": 4,
        "DI": 4,
        "WA": 3,
        "OWA": 2,
        "RC": 4,
        "ORC": 6,
    }
    assert (found["TE"], found["OTE"], found["NM"]) == (2, 5, 1 + 3 + 2 + 3)
    other = GAME.measure(level, level.start, 1)
    assert (other["RC"], other["TE"], other["ONM"]) == (6, 5, 9)


def test_levels_read_back() -> None:
    for seed in range(20):
        for size in (5, 8, 17):
            at = random_board(size, seed)
            level = GAME.load(at.text, "drawn")
            assert board_of(level, level.start) == at
    turned = GAME.load("turn 1\n" + random_board(6, 1).text, "turned")
    assert RULES.mover(turned.tables, turned.start) == 1 and board_of(turned, turned.start).text.startswith("turn 1\n")
    assert GAME.load(guide.EXAMPLE, "example").facts["size"] == 6


def test_random_levels_and_their_options() -> None:
    level = random_level(8)
    starts = {GAME.start(level, seed).tobytes() for seed in range(10)}
    assert len(starts) == 10, "another board for each seed"
    fixed = GAME.load("random 8 seed 7", "fixed")
    assert (GAME.start(fixed, 1) == GAME.start(level, 7)).all() and (GAME.start(fixed, 2) == GAME.start(fixed, 3)).all()
    assert (random_level(6, size=8, seed=7).start == fixed.start).all()
    assert (GAME.start(level, 2**40 + 1) != GAME.start(level, 1)).any()
    with pytest.raises(SettingsError, match="size and seed are for random boards"):
        mapsets.resolve(GAME, ["open05"], size=7)
    with pytest.raises(SettingsError, match="size is out of range"):
        random_level(6, size=99)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "the level is empty", "l.txt:1:1"),
        ("# only this\n", "the level is empty", "l.txt:1:1"),
        ("random", "random board cannot be read", "l.txt:1:1"),
        ("random 4", "the size is out of range", "l.txt:1:8"),
        ("random 8 seed -3", "the seed is out of range", "l.txt:1:15"),
        ("random x", "the size is not a whole number", "l.txt:1:8"),
        ("random 8 seed 8x", "the seed is not a whole number", "l.txt:1:15"),
        ("random 8\nrandom 9", "has one line", "l.txt:2:1"),
        ("turn 2\n", "the turn cannot be read", "l.txt:1:1"),
        ("turn 1\n", "there is no board", "l.txt:1:1"),
        ("+-+-+\n", "wrong size", "l.txt:1:1"),
        ("+-+-+-+\n|0   1|\n", "not square", "l.txt:2:1"),
        ("+-+-+-+\n|0   1|\n+ + + +\n|     |\n+ + x +\n|     |\n+-+-+-+\n", "wrong place", "l.txt:5:5"),
        ("+-+-+-+\n|0   1|\n+ + + +\n|     |\n+ + + +\n|      \n+-+-+-+\n", "wrong place", "l.txt:6:7"),
        ("+-+-+-+\n|0   1|\n+ + + +\n|     |z\n+ + + +\n|     |\n+-+-+-+\n", "too long", "l.txt:4:8"),
        ("+-+-+-+\n|0    |\n+ + + +\n|     |\n+ + + +\n|     |\n+-+-+-+\n", "player 1 is missing", "l.txt:1:1"),
        ("+-+-+-+\n|0   1|\n+ + + +\n|1    |\n+ + + +\n|     |\n+-+-+-+\n", "two cells", "l.txt:4:2"),
        ("+-+-+-+\n|0|  1|\n+-+ + +\n|     |\n+ + + +\n|     |\n+-+-+-+\n", "apart", "l.txt:2:6"),
    ],
)
def test_wrong_levels_are_told_with_their_place(text: str, message: str, place: str) -> None:
    with pytest.raises(LevelError, match=message) as caught:
        levels.parse(text, "l.txt")
    assert str(caught.value).startswith(f"{place}: ")


@pytest.mark.parametrize("text", ["", "1,2", "1,2,X", "9,1,N", "-1,1,N", "1,2,NE", "1, 2,N", "99999,1,N"])
def test_a_move_that_cannot_be_read_is_refused(text: str) -> None:
    level = random_level(6)
    with pytest.raises(SettingsError, match="no such move"):
        GAME.parse_action(level, level.start, text)


def test_pictures_show_players_walls_and_the_end() -> None:
    level = random_level(6)
    states = [GAME.start(level, 1)]
    while GAME.over(level, states[-1]) == RUNNING:
        states.append(states[-1].copy())
        RULES.step(level.tables, states[-1], -1, stream(len(states)))
    pictures = [np.asarray(draw.state_image(level, s, scale=16, caption="3/9")) for s in states]
    assert all(p.shape == (6 * 16 + 18, 6 * 16, 3) for p in pictures)
    changed = [(a != b).any() for a, b in pairwise(pictures)]
    assert all(changed)
    tint = (pictures[-1] == [0xDC, 0xE8, 0xFA]).all(axis=2).any()
    assert tint and not (pictures[0] == [0xDC, 0xE8, 0xFA]).all(axis=2).any()
