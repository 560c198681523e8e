"""2D Roguelike in C# and in Python: the same seed, the same layouts, the same playthrough, decision by decision."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.games import registry
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.catalog.roguelike2d import rules as r
from persona_evo.games.core import RUNNING, Level
from persona_evo.seeds import SplitMix64

GAME = registry.get("roguelike2d")
BUILD = Path(__file__).parents[2] / "unity_support" / "build.py"
GAMES = 1_000


@dataclass(frozen=True)
class Case:
    """A game to play: what `Replay` reads in a line."""

    seed: int
    days: int
    variant: str
    player: str
    luck: int
    weighted: bool

    @property
    def line(self) -> str:
        return f"{self.seed} {self.days} {self.variant} {self.player} {self.luck} {int(self.weighted)}\n"

    def level(self) -> Level:
        text = f"seed = {self.seed}\ndays = {self.days}\nvariant = {self.variant}\nplayer = {self.player}\n"
        return GAME.load(text, "case")


def cases(count: int) -> list[Case]:
    """All pairs of variant and player in turn; random players that only go forward survive a few days, others one."""
    rng = SplitMix64(20)
    pairs = [(v, p) for v in layout.VARIANTS for p in layout.PLAYERS]
    return [
        Case(rng.next() >> 1, 1 + rng.below(12), *pairs[k % len(pairs)], rng.next(), bool(rng.below(2)))
        for k in range(count)
    ]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that plays games in C# without the driver."""
    if not BUILD.is_file():
        pytest.skip("the C# games are not here (they stand in the repository, not in the package)")
    if shutil.which("mcs") is None or shutil.which("mono") is None:
        pytest.skip("Mono is not installed (on Debian: apt-get install mono-mcs mono-runtime)")
    folder = tmp_path_factory.mktemp("twin")
    done = subprocess.run([sys.executable, BUILD, "roguelike2d", "--out", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ["mono", str(folder / "roguelike2d.exe"), "--replay"]


def in_c_sharp(program: list[str], played: list[Case]) -> list[np.ndarray]:
    """One array a game, one row a decision, the start first: what `Replay` writes."""
    text = "".join(case.line for case in played)
    done = subprocess.run(program, input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    games = done.stdout.split("\n\n")[:-1]
    columns = len(games[0].partition("\n")[0].split())
    return [np.fromstring(game, sep=" ").reshape(-1, columns) for game in games]


def state_of(level: Level, s: Any) -> list[int]:
    """What `Roguelike.State` gives."""
    block = level.tables[layout.HEADER + layout.DAY * (int(s[r.DAY_AT]) - 1) :]
    walls = [int(s[r.WALLS_AT + k // 4]) >> 4 * (k % 4) & 15 for k in range(layout.MOST_WALLS)]
    enemies = [int(c) for c in s[r.ENEMIES_AT : r.ENEMIES_AT + int(block[layout.ENEMIES])]]
    enemies += [0] * (layout.MOST_ENEMIES - len(enemies))
    said = {0: 0, 1 + r.TOWARD: 1, 1 + r.AWAY: 2}[int(s[r.SAID_AT])]
    first = [int(s[k]) for k in (r.DAY_AT, r.CELL_AT, r.FOOD_AT, r.TURN_AT)]
    return [*first, said, int(s[r.ITEMS_AT]), *walls, *enemies]


def in_python(case: Case) -> np.ndarray:
    """The same rows from the Python twin."""
    level, rules = case.level(), GAME.rules()
    luck, state = SplitMix64(case.luck), GAME.start(level)
    actions, metrics, rng = np.zeros(4, np.int64), np.zeros(len(GAME.metrics)), np.ones(2, np.int64)

    def row(count: int, choice: int) -> list[float]:
        rules.measure(level.tables, state, 0, metrics)
        return [count, choice, rules.over(level.tables, state), *state_of(level, state), *metrics]

    rows = [row(0, 0)]
    while rules.over(level.tables, state) == RUNNING:
        count = rules.legal(level.tables, state, actions)
        if case.weighted and actions[0] == r.TOWARD:
            choice = luck.weighted([r.TOWARD_WEIGHT, r.AWAY_WEIGHT])
        else:
            choice = luck.below(count)
        rules.step(level.tables, state, int(actions[choice]), rng)
        rows.append(row(count, choice))
    return np.array(rows)


def test_a_thousand_random_games_agree_decision_by_decision(program: list[str]) -> None:
    played = cases(GAMES)
    theirs = in_c_sharp(program, played)
    assert len(theirs) == GAMES
    decisions, ends, days, eaten, hits, broken = 0, set(), 0.0, 0.0, 0.0, 0.0
    for case, there in zip(played, theirs, strict=True):
        here = in_python(case)
        both = min(len(here), len(there))
        differ = np.argwhere((here[:both] != there[:both]).any(axis=1))
        assert not differ.size, f"{case}: decision {differ[0]}: {here[differ[0]]} and in C# {there[differ[0]]}"
        assert len(here) == len(there), f"{case}: {len(here)} decisions and in C# {len(there)}"
        last = dict(zip(GAME.symbols, here[-1][-len(GAME.symbols) :], strict=True))
        decisions += len(here) - 1
        ends.add(here[-1][2])
        days, eaten, hits, broken = days + last["DS"], eaten + last["EA"], hits + last["HT"], broken + last["WD"]
    assert decisions > 100_000 and ends == {1, 2}
    assert min(days, eaten, hits, broken) > 300, "the games were too short to compare much"


def test_a_line_that_is_no_game_is_refused(program: list[str]) -> None:
    for line, message in (
        ("1 2 default", "expected GAME_SEED"),
        ("x 2 default factored 1 0", "a seed is no whole number"),
        ("1 0 default factored 1 0", "days from 1 to 99"),
        ("1 2 easy factored 1 0", "no such variant, expected default or high_stakes"),
        ("1 2 default nobody 1 0", "no such player"),
    ):
        done = subprocess.run(program, input=line + "\n", capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and message in done.stderr, line
