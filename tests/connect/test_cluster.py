"""Connected games that the workers of a Dask cluster play, each with game processes of its own."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.formula import parse
from persona_evo.games import cluster_games, registry
from persona_evo.games.cluster_games import Home, given_to, playing
from persona_evo.games.core import RUNNING
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings
from tests.cli.tool import run
from tests.connect.driving import describe, faulty, games, none_left
from tests.connect.test_game import CLIMBER, TABLES
from tests.playtest.makers import reading

distributed: Any = pytest.importorskip("distributed", reason="the package distributed is not installed")


STARTED = """
import psutil
with open(__file__ + ".started", "a") as started:
    print(*(parent.pid for parent in psutil.Process().parents()), file=started)
"""
TOP = 'workers = 1\nslots = 2\npersonas = ["climber.toml"]'


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A connected game that keeps a list of its starts."""
    made = describe(tmp_path, top=TOP, tables=TABLES)
    source = tmp_path / "ladder.py"
    source.write_text(source.read_text(encoding="utf-8").replace("import sys\n", f"import sys\n{STARTED}", 1))
    (tmp_path / "climber.toml").write_text(CLIMBER, encoding="utf-8")
    yield made
    assert none_left(tmp_path), "all game processes are ended"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two workers with two threads each: the address of its scheduler."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def few(file: Path, out: Path, *more: object) -> tuple[object, ...]:
    """Return the words of a small playtest."""
    given = ("--game", file, "--trials", 6, "--iterations", 25, "--policy", "ucb1", "--seed", 1, "--bound-seconds", 0)
    return ("playtest", "short@1-3", *given, "--no-pictures", "--out", out, *more)


def starters(file: Path) -> list[set[int]]:
    """The processes above each game process that was started since the last call."""
    log = file.with_name("ladder.py.started")
    found = [set(map(int, line.split())) for line in log.read_text().splitlines()]
    log.unlink()
    return found


def played(out: Path) -> list[Playthrough]:
    """The playthroughs of a folder, without their times."""
    return [replace(record, seconds=0.0) for record in reading(out / "traces.jsonl")]


def test_each_worker_plays_with_its_own_game_and_finds_the_same(
    file: Path, tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = run(capsys, *few(file, tmp_path / "alone"))
    assert alone.code == 0, alone.err
    assert all(os.getpid() in above for above in starters(file)) and len(played(tmp_path / "alone")) == 18
    spread = run(capsys, *few(file, tmp_path / "spread", "--backend", "dask", "--address", address, "--jobs", 2))
    assert spread.code == 0, spread.err
    with distributed.Client(address) as client:
        workers = set(client.run(os.getpid).values())
    above = [own & workers for own in starters(file)]
    assert above and all(above), "games are started by the cluster's workers, and by nobody else"
    assert played(tmp_path / "spread") == played(tmp_path / "alone")
    assert none_left(tmp_path), "the cluster lives on, its games do not"


def test_fitness_is_measured_in_the_cluster_and_is_the_same(file: Path, address: str) -> None:
    game = registry.get(str(file))
    levels = [game.load(name, name) for name in ("short@1", "short@2")]
    spec = FitnessSpec.of(str(file), levels, parse("SCORE", game.symbols), SearchSettings.single(), Budget(15))
    formulas, seeds = ["HEIGHT", "TURN - HEIGHT", "R + sqrt(1 / N)"], [[[1, 2], [3, 4]]] * 3
    with closing_outside(game):
        alone = Fitness(spec, Workers(1)).trials(formulas, seeds, 0, 2)
    starters(file)
    with closing_outside(game), Workers(2, "dask", address) as workers, given_to(workers, game, str(file)) as home:
        spread = Fitness(replace(spec, home=home), workers).trials(formulas, seeds, 0, 2)
        pids = set(workers.everywhere(_pid, None))
    assert spread == alone and [len(case) for cases in spread for case in cases or ()] == [2] * 6
    assert len({pid for above in starters(file) for pid in above & pids}) == 2, "both workers have started games"


async def _pid(_: None) -> int:
    return os.getpid()


@pytest.mark.slow
def test_an_evolution_plays_in_the_cluster_and_finds_the_same(
    file: Path, tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("evolve", "--game", file, "--persona", "climber", "--levels", "short@1-2", "--iterations", 20, "--seed", 1)
    sizes = ("--generations", 2, "--population", 6, "--islands", 1)
    alone = run(capsys, *line, *sizes, "--out", tmp_path / "alone")
    assert alone.code == 0, alone.err
    starters(file)
    spread = run(
        capsys, *line, *sizes, "--out", tmp_path / "spread", "--backend", "dask", "--address", address, "--jobs", 2
    )
    assert spread.code == 0, spread.err
    with distributed.Client(address) as client:
        workers = set(client.run(os.getpid).values())
    assert {pid for above in starters(file) for pid in above & workers} == workers, "both have started games"
    rows = [
        [
            {k: v for k, v in json.loads(line).items() if k not in ("timing", "crc")}
            for line in next((tmp_path / name).glob("*/journal.jsonl")).read_text(encoding="utf-8").splitlines()
        ]
        for name in ("alone", "spread")
    ]
    assert rows[0] == rows[1] and len(rows[0]) >= 2 and none_left(tmp_path)


@pytest.mark.slow
def test_failures_in_workers_are_told_with_their_machine(
    tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = faulty(tmp_path, "rots", TOP.replace("climber", "any"), "[restarts]\na_minute = 1\n")
    made.write_text(made.read_text().replace('personas = ["any.toml"]', "").replace('logs = "logs"', ""))
    (tmp_path / "any.toml").write_text('name = "any"\ngame = "faulty"\nutility = "SCORE"\npriority = "SCORE"\n')
    line = (
        "playtest",
        "default@1-3",
        "--game",
        made,
        "--personas",
        tmp_path / "any.toml",
        "--policy",
        "ucb1",
        "--seed",
        1,
    )
    ran = run(capsys, *line, "--iterations", 400, "--backend", "dask", "--address", address, "--out", tmp_path / "out")
    assert ran.code == 2 and "Traceback" not in ran.err
    assert f"on {socket.gethostname()}, a worker of the cluster" in ran.err and "resume with" in ran.err
    kept = (tmp_path / "out" / "logs" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
    assert kept and all('"kind": "crash"' in line for line in kept), "what happened in the workers is kept here"
    assert none_left(tmp_path)


def test_a_worker_with_another_version_refuses(file: Path) -> None:
    game = registry.get(str(file))
    try:
        home = replace(Home.of(game), process="elsewhere.1")
        with playing(str(file), home):
            assert game.version == home.version
        for wrong in (replace(home, version=home.version + 1), replace(home, release="0.0.1")):
            with pytest.raises(SettingsError, match="another version") as e, playing(str(file), wrong):
                pass
            assert "same path" in str(e.value)
        with pytest.raises(SettingsError, match="no such description"), playing("/no/such/game.toml", home):
            pass
    finally:
        assert asyncio.run(cluster_games.released((str(file), home.work))) == []
    with pytest.raises(SettingsError, match="has ended"), playing(str(file), home):
        pass


def test_a_game_that_starts_again_after_the_end_of_its_playtest_is_ended(file: Path) -> None:
    game = registry.get(str(file))
    home = replace(Home.of(game), process="elsewhere.1")
    level = game.load("short", "short")
    with playing(str(file), home):
        asyncio.run(cluster_games.released((str(file), home.work)))
        assert none_left(file.parent), "it is ended while it is played"
        assert game.rules().over(level.tables, level.start) == RUNNING and games(file.parent), "play starts it again"
    assert none_left(file.parent, 5.0)


def test_an_idle_worker_ends_its_games(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_games, "IDLE", 0.2)
    game = registry.get(str(file))
    assert game.outside is not None and games(file.parent), "it runs"
    with playing(str(file), replace(Home.of(game), process="elsewhere.1")):
        time.sleep(0.5)
        assert games(file.parent), "it is played"
    assert none_left(file.parent, 5.0)
