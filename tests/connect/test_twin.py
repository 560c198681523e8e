"""Compares 2D Roguelike in C# and in Python: the same seed gives the same layouts and the same playthrough."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.connect import protocol as p
from persona_evo.connect.description_file import read
from persona_evo.connect.game import of
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.process_start import Start
from persona_evo.connect.search import SCORE
from persona_evo.connect.session import Session
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.catalog.roguelike2d import rules as r
from persona_evo.games.core import RUNNING, Level
from persona_evo.seeds import SplitMix64
from tests.connect.test_csharp import Driver

GAME = registry.get("roguelike2d")
BUILD = Path(__file__).parents[2] / "unity_support" / "build.py"
PLACE = ("X", "Y")
"""What the connected game tells beside the twin's metrics: where the player is, for heatmaps."""


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


@pytest.mark.parametrize("games", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_games_agree_decision_by_decision(program: list[str], games: int) -> None:
    played = cases(games)
    theirs = in_c_sharp(program, played)
    assert len(theirs) == games
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
    assert decisions > 100 * games and ends == {1, 2}
    assert min(days, eaten, hits, broken) > 0.3 * games, "the games were too short to compare much"


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


def twin_of(order: p.Rollout, settings: dict[str, Any], prefix: list[int]) -> tuple[list[tuple[int, int]], np.ndarray]:
    """What the Python twin makes of an order: the trace, and the metrics before each choice and at the end."""
    case = Case(order.game_seed, settings["days"], settings["variant"], settings["player"], 0, False)
    level, luck, rules = case.level(), SplitMix64(order.rollout_seed), GAME.rules()
    state, trace, rows = GAME.start(level), list[tuple[int, int]](), list[list[float]]()
    while GAME.over(level, state) == RUNNING:
        rows.append(list(GAME.measure(level, state).values()))
        legal = GAME.legal(level, state)
        if len(trace) < len(prefix):
            choice = prefix[len(trace)]
        elif order.mode == p.WEIGHTS and legal[0] == r.TOWARD:
            choice = luck.weighted([r.TOWARD_WEIGHT, r.AWAY_WEIGHT])
        else:
            choice = luck.below(len(legal))
        trace.append((choice, len(legal)))
        rules.step(level.tables, state, legal[choice], np.ones(2, np.int64))
    rows.append(list(GAME.measure(level, state).values()))
    return trace, np.array(rows, dtype=np.float32)


@pytest.mark.parametrize(
    "settings",
    [
        {"days": 6, "player": "unrestricted", "variant": "default"},
        {"days": 3, "player": "factored", "variant": "high_stakes"},
        {"days": 6, "player": "forward_only", "variant": "default"},
    ],
)
def test_the_driver_plays_it_in_several_processes_as_its_twin_does(
    program: list[str], settings: dict[str, Any], tmp_path: Path
) -> None:
    start = Start(Path(program[1]), tmp_path, settings=settings, variant=settings["variant"])
    count = 2 if settings["player"] != "unrestricted" else 4
    rng, orders, prefixes = SplitMix64(3), list[p.Rollout](), list[list[int]]()
    for k in range(60):
        prefixes.append([rng.below(count) for _ in range(rng.below(12))])
        prefix = p.pack([(choice, count) for choice in prefixes[-1]])
        orders.append(p.Rollout(0, rng.next() >> 1, rng.next(), mode=(p.UNIFORM, p.WEIGHTS)[k % 2], prefix=prefix))
    with ProcessPool(start, 3) as pool:
        assert pool.greet().game == ("roguelike2d", str(GAME.version))
        assert tuple(m.symbol for m in pool.greet().metrics) == (*GAME.symbols, *PLACE)
        results = list(pool.play(orders))
    assert len(results) == len(orders)
    for order, prefix, result in zip(orders, prefixes, results, strict=True):
        assert isinstance(result, p.Result) and result.status == 0, result
        trace, rows = twin_of(order, settings, prefix)
        assert p.unpack(result.trace) == trace
        told = np.frombuffer(result.metrics + result.final, dtype="<f4").reshape(-1, result.columns)
        assert (told[:, : -len(PLACE)] == rows).all()
        assert result.score == pytest.approx(100 * settings["days"] * float(rows[-1][GAME.symbols.index("RW")]))


def test_the_shipped_description_is_of_the_twins_levels(program: list[str], tmp_path: Path) -> None:
    shipped = BUILD.parent / "games" / "roguelike2d" / "roguelike2d.toml"
    about = read(shipped)
    copy = tmp_path / "roguelike2d.toml"
    text = shipped.read_text(encoding="utf-8").replace("../../build/roguelike2d.exe", program[1])
    text = re.sub(r"personas = \[[^\]]*\]\n", "", text)  # their paths count from the file's folder
    copy.write_text(text, encoding="utf-8")
    session = Session(read(copy))
    try:
        game = of(session)
        assert (game.name, game.symbols) == (GAME.name, (*GAME.symbols, *PLACE, SCORE))
        for group, name in (("train", "train"), ("test", "test"), ("stakes", "stakes")):
            seeds = [level.seed for level in about.levels([group])]
            assert [f"seed = {seed}" for seed in seeds] == [
                level.text.splitlines()[0] for level in mapsets.resolve(GAME, [name])
            ]
        level = game.load("default:high_stakes@3001", "stakes")
        (twin,) = mapsets.resolve(GAME, ["stakes01"])
        moves = [1, 0] * 8
        theirs, ours = game.replay(level, moves)[-1], GAME.replay(twin, moves)[-1]
        told = game.measure(level, theirs)
        assert game.locate is not None and GAME.locate is not None
        assert game.locate(level, theirs) == GAME.locate(twin, ours)
        assert {symbol: told[symbol] for symbol in GAME.symbols} == pytest.approx(GAME.measure(twin, ours), rel=1e-6)
    finally:
        session.close()


def after_one(level: Level, state: Any, action: int) -> Any:
    """The state one decision on."""
    after = state.copy()
    GAME.rules().step(level.tables, after, action, np.ones(2, np.int64))
    return after


def rounded(level: Level, state: Any) -> dict[str, float]:
    """The metrics as they travel."""
    return {symbol: float(np.float32(value)) for symbol, value in GAME.measure(level, state).items()}


def test_a_policy_that_looks_ahead_plays_as_in_python(program: list[str]) -> None:
    """Copies of the game's state go through several days, so what a copy leaves out would show."""
    formula = parse("PR + 0.02 * FD - 0.5 * NF - DEAD + 0.1 * NM", GAME.symbols)
    with Driver(Path(program[1]).parent, "roguelike2d", days=5, player="unrestricted") as driver:
        code = list(formula.tokens)
        driver.send(p.Kind.POLICY, json.dumps({"id": 4, "name": "ahead", "kind": "rollout", "code": code}).encode())
        days = 0.0
        for seed in range(1, 13):
            answer = driver.rollout(seed, seed, 5, mode=p.POLICY, policy=4, prefix=[(1, 4)] * 7 + [(0, 4)] * 7)
            level = GAME.load(f"seed = {seed}\ndays = 5\n", "ahead")
            state = GAME.replay(level, [1] * 7 + [0] * 7)[-1]
            trace = [(1, 4)] * 7 + [(0, 4)] * 7
            while GAME.over(level, state) == RUNNING:
                tried = [after_one(level, state, action) for action in GAME.legal(level, state)]
                scores = [formula.evaluate(rounded(level, after)) for after in tried]
                trace.append((scores.index(max(scores)), len(scores)))
                state = tried[trace[-1][0]]
            assert answer.status == 0 and answer.trace == trace, seed
            days += GAME.measure(level, state)["DS"]
    assert days > 12
