"""Tests choosing a move by lookahead: all methods find the same move if they may examine everything."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import RUNNING
from persona_evo.search.actor import play_game
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.seeds import stream
from tests.examples import corridor, nim

PUYO = registry.get("puyo")
SCORE = parse("SC - 1000000 * DEAD", PUYO.symbols)
(STAIRS, BURIED) = mapsets.resolve(PUYO, ["stairs01", "buried01"])


def by_hand(level: Any, state: Any, depth: int) -> dict[int, float]:
    """Return the best utility at the depth limit or the game's end for each first move, by plain recursion."""

    def best(now: Any, left: int) -> float:
        if left == 0 or PUYO.over(level, now) != RUNNING:
            return SCORE.evaluate(PUYO.measure(level, now))
        return max(best(after(now, a), left - 1) for a in PUYO.legal(level, now))

    def after(now: Any, action: int) -> Any:
        then = now.copy()
        PUYO.rules().step(level.tables, then, action, stream(1))
        return then

    return {a: best(after(state, a), depth - 1) for a in PUYO.legal(level, state)}


@pytest.mark.parametrize("level", [STAIRS, BURIED])
def test_methods_agree_with_plain_recursion(level: Any) -> None:
    wanted = by_hand(level, level.start, 2)
    assert len(wanted) == 22
    for method in ("bfs", "dfs"):
        look = Lookahead(PUYO, level, SCORE, 2, method).think(level.start)
        assert (look.values, look.whole, look.steps) == (wanted, True, 22 + 22 * 22), method
        assert look.values[look.action] == max(wanted.values())
    for method in ("flat", "random"):
        look = Lookahead(PUYO, level, SCORE, 2, method, Allowance(playouts=22 * 400)).think(level.start)
        assert look.values == wanted and not look.whole, method


def test_the_staircase_is_set_off_by_all_that_look_far_enough() -> None:
    """The red-and-yellow pair comes second; one move ahead sees nothing of it."""
    (near, far) = (max(Lookahead(PUYO, STAIRS, SCORE, d, "dfs").think(STAIRS.start).values.values()) for d in (1, 2))
    assert (near, far) == (0, 2540), "the first pair's blue may join in"
    flat = Lookahead(PUYO, STAIRS, SCORE, 2, "flat", Allowance(playouts=2_000), seed=3)
    played = play_game(PUYO, STAIRS, [flat.choose], moves=2)
    assert played.metrics[0]["LC"] == 4


def test_what_is_interrupted_has_looked_at_what_it_says() -> None:
    flat = Lookahead(PUYO, BURIED, SCORE, 3, "flat", Allowance(playouts=30)).think(BURIED.start)
    assert flat.playouts == 30 and flat.steps <= 90 and all(v > -math.inf for v in flat.values.values())
    dfs = Lookahead(PUYO, BURIED, SCORE, 3, "dfs", Allowance(steps=600)).think(BURIED.start)
    assert dfs.steps == 600 and [v > -math.inf for v in dfs.values.values()] == [True] * 2 + [False] * 20
    bfs = Lookahead(PUYO, BURIED, SCORE, 3, "bfs", Allowance(steps=600)).think(BURIED.start)
    assert 600 <= bfs.steps < 622 and all(v > -math.inf for v in bfs.values.values())
    few = Lookahead(PUYO, BURIED, SCORE, 3, "bfs", Allowance(steps=lambda state: 22)).think(BURIED.start)
    assert few.values == Lookahead(PUYO, BURIED, SCORE, 1, "dfs").think(BURIED.start).values
    timed = Lookahead(PUYO, BURIED, SCORE, 6, "dfs", Allowance(seconds=0.05)).think(BURIED.start)
    assert not timed.whole and timed.steps > 1_000


def test_a_line_that_dies_counts_as_dead() -> None:
    """In a field full up to row 11 each first move but those that pop ends in a death one move later."""
    rows = "\n".join(["..RY..", "..YR.."] * 5 + ["..RY.."])
    tower = PUYO.load(f'pairs = "GB YB"\nfield = """\n{rows}\n"""', "high")
    for method in ("bfs", "dfs"):
        look = Lookahead(PUYO, tower, SCORE, 2, method).think(tower.start)
        assert {a >> 2 for a, v in look.values.items() if v < 0} <= {1, 2, 3} and min(look.values.values()) == -1e6
        assert look.action >> 2 in (0, 1, 4, 5)


def test_same_seed_same_game() -> None:
    games = [
        play_game(PUYO, BURIED, [Lookahead(PUYO, BURIED, SCORE, 4, "random", Allowance(playouts=40), seed=s).choose])
        for s in (1, 1, 2)
    ]
    assert games[0] == games[1] != games[2]


def test_games_written_as_classes() -> None:
    level = corridor.GAME.load("$..$@....D", "level")
    wanted = parse("WON", corridor.GAME.symbols) if "WON" in corridor.GAME.symbols else parse(corridor.GAME.symbols[0])
    looks = [Lookahead(corridor.GAME, level, wanted, 3, m).think(level.start).values for m in ("bfs", "dfs")]
    assert looks[0] == looks[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": "astar"}, "no such method"),
        ({"ties": "last"}, "no such way with ties"),
        ({"depth": 0}, "depth is out of range"),
        ({"method": "flat"}, "never ends by itself"),
        ({"method": "bfs", "depth": 7}, "too many states"),
    ],
)
def test_what_makes_no_sense(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Lookahead(PUYO, STAIRS, SCORE, **{"depth": 2, "method": "dfs", **change})
    with pytest.raises(SettingsError, match="more than 0"):
        Allowance(playouts=0)


def test_not_for_two() -> None:
    level = nim.GAME.load("11", "level")
    with pytest.raises(SettingsError, match="single-player games"):
        Lookahead(nim.GAME, level, parse(nim.GAME.symbols[0]), 2, "dfs")


def test_nothing_to_choose_when_it_is_over() -> None:
    tower = PUYO.load("drops = 1", "short")
    end = PUYO.replay(tower, [0])[-1]
    with pytest.raises(SettingsError, match="the game is over"):
        Lookahead(PUYO, tower, SCORE, 1, "dfs").think(end)
    assert len(list(itertools.islice(PUYO.legal(tower, tower.start), 30))) == 22
