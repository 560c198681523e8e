"""Tests what games report besides metrics: what can still be reached, and what makes a state new."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import GameError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.check import check_game
from persona_evo.games.core import Game, Level
from persona_evo.seeds import below, stream
from tests.examples import corridor

NAMES = ("minidungeons2", "its_alive", "roguelike2d", "puyo")
LEADS = {
    "minidungeons2": "IC + 0.1 * PE - DEAD",
    "its_alive": "PT + SP + LG",
    "roguelike2d": "RW + 0.1 * PR - DEAD",
    "puyo": "SC - 20 * H3",
}
"""What a player goes after who plays better than at random, so that bounds are held against good games, too."""


def levels_of(game: Game) -> list[Level]:
    """Return levels of a game with all its options."""
    found = mapsets.resolve(game, ["all"])[:6]
    if game.name == "minidungeons2":
        found += mapsets.resolve(game, ["test01"], rules="paper")
    if game.name == "its_alive":
        for options in ({"choices": "factored"}, {"design": "tenacious", "player": "greedy"}, {"player": "lazy"}):
            found += [game.load(found[0].text, "level", field=field, **options) for field in ("3x5", "5x7")]
        found.append(game.load(found[0].text, "level", field="2x3"))
    if game.name == "roguelike2d":
        players = ("factored", "unrestricted", "forward_only")
        found += [game.load(found[0].text, "level", variant="high_stakes", player=p) for p in players]
        found.append(game.load("seed = 4\ndays = 2\n", "short"))
    if game.name == "puyo":
        found += [game.load(f"seed = {k}\ncolours = 3\ndrops = {d}\n", "level") for k, d in enumerate((4, 12, 60))]
    return found


def played(game: Game, level: Level, seed: int, care: float) -> tuple[list[Any], Any]:
    """Return the states of a game and their metrics; one move in `care` is random, the others are the best at once."""
    rules, rng, luck = game.rules(costly=True), stream(seed), np.ones(2, dtype=np.int64)
    worth = parse(LEADS[game.name], game.symbols)
    state, states, rows = game.start(level), [], []
    for _ in range(120):
        out = np.zeros(len(game.metrics))
        rules.measure(level.tables, state, 0, out)
        states.append(state.copy())
        rows.append(out)
        actions = game.legal(level, state)
        if game.over(level, state) or not actions:
            break
        after = []
        for action in actions:
            one = state.copy()
            rules.step(level.tables, one, action, luck)
            after.append(one)
        if below(rng, 100) < 100 * care:
            state = after[int(below(rng, len(after)))]
        else:
            values = [worth.evaluate(game.measure(level, one)) for one in after]
            best = [one for one, value in zip(after, values, strict=True) if value == max(values)]
            state = best[int(below(rng, len(best)))]
    return states, np.array(rows)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_game_says_can_be_reached_holds(name: str) -> None:
    game = registry.get(name)
    assert game.reach is not None
    reach, n = game.reach(), len(game.metrics)
    for number, level in enumerate(levels_of(game)):
        states, rows = played(game, level, number, (0.0, 0.2, 1.0)[number % 3])
        for i, state in enumerate(states):
            before = np.concatenate((rows[i], rows[i]))
            for moves in (0, 1, 2, 3, 6, 15, 40, 200):
                out = np.full(2 * n, np.nan)
                reach(level.tables, state, moves, out)
                seen = rows[i : i + moves + 1]
                beyond = ((seen < out[:n] - 1e-12) | (seen > out[n:] + 1e-12)).any(axis=0)
                assert not beyond.any(), (level.name, level.options, i, moves, np.array(game.symbols)[beyond])
                wider = (out[:n] <= before[:n]).all() and (out[n:] >= before[n:] - 1e-12).all()
                assert wider, "what fewer moves reach, more do"
                before = out


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changes_when_a_game_is_over(name: str) -> None:
    game = registry.get(name)
    assert game.reach is not None
    n = len(game.metrics)
    cheap = [k for k, metric in enumerate(game.metrics) if not metric.costly]
    for number, level in enumerate(levels_of(game)[:3]):
        states, rows = played(game, level, number, 1.0)
        if game.over(level, states[-1]):
            out = np.zeros(2 * n)
            game.reach()(level.tables, states[-1], 50, out)
            assert (out[:n][cheap] == rows[-1][cheap]).all() and (out[n:][cheap] == rows[-1][cheap]).all()


@pytest.mark.parametrize("name", NAMES)
def test_what_makes_a_state_new_does_not_count_moves(name: str) -> None:
    """States with the same future have the same values, however many moves led there."""
    game = registry.get(name)
    assert game.novelty is not None and parse(game.care, game.symbols).symbols
    rules, met = game.rules(), 0
    for number, level in enumerate(levels_of(game)):
        function, count = game.novelty(level)
        known: dict[int, Any] = {}
        for seed in range(3):
            for state in played(game, level, 10 * number + seed, 1.0)[0]:
                out = np.full(count + 4, -7, dtype=np.int64)
                written = function(level.tables, state, out)
                assert 0 < written <= count and (out[written:] == -7).all()
                key = rules.key(level.tables, state)
                met += key in known
                assert (known.setdefault(key, out) == out).all()
    assert met > 0


def test_bounds_of_short_games_are_tight() -> None:
    md2, roguelike = registry.get("minidungeons2"), registry.get("roguelike2d")
    level = md2.load("XXXXXXXX\nXH T  TX\nX     eX\nXXXXXXXX\n", "level")
    assert reached(md2, level, 2)["TO"] == (0, 0.5) and reached(md2, level, 5)["TO"] == (0, 1)
    assert reached(md2, level, 5)["WON"] == (0, 0) and reached(md2, level, 6)["WON"] == (0, 1)
    assert reached(md2, level, 6)["MS"] == (0, 0) and reached(md2, level, 6)["HL"] == (0, 1)
    short = roguelike.load("seed = 4\ndays = 2\n", "short")
    assert reached(roguelike, short, 13)["DS"] == (0, 0) and reached(roguelike, short, 14)["DS"] == (0, 1)
    assert reached(roguelike, short, 27)["WON"] == (0, 0) and reached(roguelike, short, 28)["WON"] == (0, 1)
    puyo = registry.get("puyo")
    none = puyo.load('pairs = "RG BB RG BY"\ndrops = 4\n', "level")
    assert reached(puyo, none, 4)["SC"] == (0, 0) and reached(puyo, none, 4)["PU"] == (0, 8)
    alive = registry.get("its_alive")
    assert reached(alive, alive.load("seed = 3\nfield = 3x5\n", "level"), 2)["MC"] == (0, 0)


def reached(game: Game, level: Level, moves: int) -> dict[str, tuple[float, float]]:
    """Return what `reach` says of a level's start."""
    n, out = len(game.metrics), np.zeros(2 * len(game.metrics))
    assert game.reach is not None
    game.reach()(level.tables, level.start, moves, out)
    return {m.symbol: (float(out[i]), float(out[n + i])) for i, m in enumerate(game.metrics)}


def with_reach(change: Any) -> Game:
    """MiniDungeons 2 with limits that are changed."""
    game = registry.get("minidungeons2")
    assert game.reach is not None
    real = game.reach()

    def reach(tables: Any, state: Any, moves: int, out: Any) -> int:
        real(tables, state, moves, out)
        change(state, moves, out)
        return 0

    return dataclasses.replace(game, reach=lambda: reach)


def few_treasures(state: Any, moves: int, out: Any) -> None:
    out[len(out) // 2 + 3] = out[3]


def high_start(state: Any, moves: int, out: Any) -> None:
    out[0] += 1


def unwritten(state: Any, moves: int, out: Any) -> None:
    out[20] = np.nan


def writing(state: Any, moves: int, out: Any) -> None:
    state[8] += 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            few_treasures,
            r"(?s)outside what reach said.*found: TO 0.5\n  expected: 0 to 0, as reach said .*hint: .*of TO",
        ),
        (
            high_start,
            "(?s)after no move.*found: ST 0.*expected: 1 to .*as reach said for this state of the next 0 moves",
        ),
        (unwritten, "reach does not set all numbers"),
        (writing, "reach changes the state"),
    ],
)
def test_wrong_limits_are_found_by_random_play(change: Any, message: str) -> None:
    text = "XXXXXX\nXTHT X\nXXXXXX\nX   eX\nXXXXXX\n"
    level = registry.get("minidungeons2").load(text, "level", allow_unreachable=True)
    with pytest.raises(GameError, match=message):
        check_game(with_reach(change), [level], seed=1)
    assert check_game(with_reach(lambda *_: None), [level], seed=1) > 10


def test_novelty_that_does_not_fit_is_found() -> None:
    game = corridor.GAME
    assert game.novelty is not None
    level = game.load("$..@..D", "level")
    for function, message in (
        (lambda tables, state, out: 3, "novelty writes 3 variables or more, expected at most 2"),
        (lambda tables, state, out: out.__setitem__(2, 1) or 1, "novelty writes 1 variables or more"),
        (lambda tables, state, out: out.__setitem__(0, id(state)) or 1, "equal states have different novelty"),
    ):
        wrong = dataclasses.replace(game, novelty=lambda level, f=function: (f, 2))
        with pytest.raises(GameError, match=message):
            check_game(wrong, [level])
    with pytest.raises(GameError, match="care is not a formula over its metrics"):
        check_game(dataclasses.replace(game, care="COINS +"), [level])
