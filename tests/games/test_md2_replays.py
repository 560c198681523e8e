"""Tests that the rules replay games recorded in the original, state by state and metric by metric."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.games import registry
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.core import Level
from persona_evo.seeds import stream
from tests.shared import shared

GAME = registry.get("minidungeons2")


def printed(level: Level, s: Any) -> str:
    """Return a state as the recordings print it: later objects over earlier ones, used-up ones as blanks."""
    grid = level.facts["grid"]
    board = [["X" if c == "X" else " " for c in row] for row in grid.rows]
    x, y = GAME.locate(level, s)  # type: ignore[misc]
    hp = int(s[tb.HP_AT]) - tb.HP_BIAS
    board[y][x] = "☠" if int(s[tb.FLAGS_AT]) & 2 else "H"
    t, words = level.tables, int(level.tables[tb.WORDS])
    m = int(t[tb.MONSTERS])
    monster = 0
    counts = {"P": 0, "T": int(t[tb.POTIONS])}
    for c, ox, oy in grid.objects:
        if c in tb.MONSTER_KINDS:
            px, py = (
                int(v)
                for v in (
                    t[tb.HEADER + int(s[tb.THINGS_AT + words + monster])],
                    t[tb.HEADER + int(t[tb.TILES]) + int(s[tb.THINGS_AT + words + monster])],
                )
            )
            alive = c == "m" or s[tb.THINGS_AT + words + m + monster] > 0
            board[py][px] = c if alive else "∞"
            monster += 1
        elif c in counts:
            k = counts[c]
            counts[c] += 1
            board[oy][ox] = c if int(s[tb.THINGS_AT + (k >> 4)]) >> (k & 15) & 1 else " "
        elif c == "p":
            board[oy][ox] = "T"
        else:
            board[oy][ox] = c
    return f"Health: {hp} X: {x} Y: {y}\n" + "\n".join("".join(r) for r in board) + "\n"


def action(text: str) -> str:
    kind, dx, dy = text.split(",")
    if kind == "Move":
        return {("0", "-1"): "N", ("1", "0"): "E", ("0", "1"): "S", ("-1", "0"): "W"}[dx, dy]
    return f"J,{dx},{dy}"


def check_replay(game: dict[str, Any], level: Level) -> int:
    s = GAME.start(level)
    rng, swift = stream(1), GAME.for_search(level)
    inner = swift.level.start.copy()
    assert printed(level, s) == game["states"][0]
    for i, text in enumerate(game["actions"]):
        move = GAME.parse_action(level, s, action(text))
        GAME.rules().step(level.tables, s, move, rng)
        swift.game.rules().step(swift.level.tables, inner, move, rng)
        assert printed(level, s) == game["states"][i + 1], f"{game['map']} after turn {i + 1} ({text})"
        assert np.array_equal(inner, swift.pack(s)), f"{game['map']} after turn {i + 1} ({text}), fast rules"
    report, got = game["report"], GAME.measure(level, s)
    dead = 5 * got["DEAD"]
    assert got["ST"] == report["turnsTaken"]
    assert got["JT"] == report["javelinsThrown"]
    assert got["MTK"] == report["minitaurKnockouts"]
    assert int(s[tb.SLAIN_AT]) == report["monsterKills"]
    assert int(s[tb.OPENED_AT]) == report["treasuresCollected"]
    assert int(s[tb.DRUNK_AT]) == report["potionsTaken"]
    assert report["alive"] == (got["DEAD"] == 0)
    assert report["exitUtility"] == got["WON"], "a hero who dies on the exit has not won"
    expected = {
        "runnerUtility": got["PE"] - 0.01 * got["ST"] - dead,
        "monsterKillerUtility": 0.7 * got["MS"] + 0.3 * got["PE"] - dead,
        "treasureCollectorUtility": 0.7 * got["TO"] + 0.3 * got["PE"] - dead,
        "completionistUtility": 0.3 * got["PE"] + 0.7 * np.mean([got["MS"], got["TO"], got["PD"]]) - dead,
    }
    for name, value in expected.items():
        assert report[name] == pytest.approx(value, abs=1e-6), name
    return len(game["actions"])


def load(path: Path) -> Level:
    return GAME.load(path.read_text(encoding="utf-8"), path.stem, str(path))


def replay_all(lines: Iterable[str]) -> tuple[int, int]:
    """Return how many games and turns of a file of recordings replay."""
    levels: dict[str, Level] = {}
    folder = shared("levels/md2/extra")
    turns = games = 0
    for line in lines:
        game = json.loads(line)
        name = game["map"]
        if name not in levels:
            levels[name] = load(folder / f"{name}.txt")
        turns += check_replay(game, levels[name])
        games += 1
    return games, turns


def test_recorded_games_replay_exactly() -> None:
    with gzip.open(shared("cases/md2/traces.jsonl.gz"), "rt", encoding="utf-8") as lines:
        assert replay_all(lines) == (736, 29_797)


def test_games_that_corrected_the_rules_replay_exactly() -> None:
    """A dead hero meets nothing more; an ogre that hits a blob of level 1 gains a hit point."""
    assert replay_all(shared("cases/md2/corrections.jsonl").read_text(encoding="utf-8").splitlines()) == (3, 100)


FOUND_ANEW = {
    ("map03", "C"): "S S S W E E S S S S W S E J,5,6 N N E E E N N N N N W N S W S S S W S W W E S S S W W S S S E E E "
    "N S E S S J,4,14 S S E S S E"
}
"""Plans of the same utility where the known one was found with other rules: an ogre of map03 gains a hit point."""


def test_best_known_plans_reach_their_utilities() -> None:
    maps = shared("levels/md2")
    for case in json.loads(shared("cases/md2/best_known.json").read_text()):
        level = load(maps / f"{case['map']}.txt")
        anew = FOUND_ANEW.get((case["map"], case["persona"]), "").split()
        plan = [GAME.parse_action(level, None, a) for a in anew or case["actions"]]
        got = GAME.measure(level, GAME.replay(level, plan)[-1])
        utility = got["PE"] - 0.01 * got["ST"] if case["persona"] == "R" else 0.7 * got["IC"] + 0.3 * got["PE"]
        assert utility - 5 * got["DEAD"] == pytest.approx(case["utility"])
        assert got["ST"] == len(plan) and got["WON"] == 1
        assert anew or len(plan) == case["steps"]


def put_monsters(level: Level, state: Any, x: int, y: int) -> None:
    """Move all monsters of a state to one tile."""
    t = level.tables
    board = int(t[tb.BOARD_AT]) + (int(t[tb.BOARD_AT + 1]) << 16)
    first = tb.THINGS_AT + int(t[tb.WORDS])
    state[first : first + int(t[tb.MONSTERS])] = t[board + y * int(t[tb.WIDTH]) + x]


@pytest.mark.parametrize("thing", ["T", "P", "p", "e", "t"])
def test_a_dead_hero_meets_nothing_more(thing: str) -> None:
    """Two goblins stand on a thing's tile, before it in the list; the first kills the hero."""
    rows = ["XXXXXX", "XM M X", f"XH{thing}  X", "X    X", "X   pX" if thing == "p" else "X    X", "X   eX", "XXXXXX"]
    level = GAME.load("\n".join(rows if thing != "e" else [*rows[:5], "XXXXXX"]), "level")
    s = GAME.start(level)
    put_monsters(level, s, 2, 2)
    s[tb.HP_AT] = tb.HP_BIAS + 1
    GAME.rules().step(level.tables, s, GAME.parse_action(level, s, "E"), stream(1))
    got = GAME.measure(level, s)
    assert got["DEAD"] == 1 and got["MS"] == 0.5 and s[tb.HP_AT] == tb.HP_BIAS
    assert got["TO"] == got["PD"] == got["TU"] == got["TS"] == got["WON"] == 0
    assert not int(s[tb.FLAGS_AT]) & 1 and GAME.locate(level, s) == (1, 2)  # type: ignore[misc]


@pytest.mark.parametrize(("blob", "ogre"), [(1, 3), (2, 2), (3, 1)])
def test_a_blob_strikes_an_ogre_with_what_the_blow_leaves_it(blob: int, ogre: int) -> None:
    """An ogre on its way to a treasure walks into a blob."""
    level = GAME.load("XXXXXXXXX\nXobT X HX\nXXXXXXX X\nXXXXXXXeX\nXXXXXXXXX", "level", allow_unreachable=True)
    s = GAME.start(level)
    s[-1] = blob
    GAME.rules().step(level.tables, s, -1, stream(1))
    assert [int(hp) for hp in s[-2:]] == [ogre, max(0, blob - 2)]
