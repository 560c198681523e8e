"""Connected games that the workers of a Dask cluster play, each with game processes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tool import run
from tests.connect.driving import describe, none_left
from tests.connect.test_game import CLIMBER, TABLES

distributed: Any = pytest.importorskip("distributed", reason="the package distributed is not installed")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A connected game that appends its worker's process to a file whenever it is started."""
    made = describe(tmp_path, top='workers = 1\nslots = 2\npersonas = ["climber.toml"]', tables=TABLES)
    (tmp_path / "climber.toml").write_text(CLIMBER, encoding="utf-8")
    yield made
    assert none_left(tmp_path), "all game processes are ended"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def few(file: Path, out: Path, *more: object) -> tuple[object, ...]:
    given = ("--game", file, "--trials", 6, "--iterations", 25, "--policy", "ucb1", "--seed", 1, "--bound-seconds", 0)
    return ("playtest", "short@1-3", *given, "--no-pictures", "--out", out, *more)


def lines(out: Path) -> list[str]:
    """The playthroughs without what depends on the clock and the checksum."""
    import json

    rows = [json.loads(line) for line in (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    return [json.dumps({k: v for k, v in row.items() if k not in ("seconds", "sum")}) for row in rows]


def test_each_worker_plays_with_its_own_game_and_finds_the_same(
    file: Path, tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = run(capsys, *few(file, tmp_path / "alone"))
    assert alone.code == 0, alone.err
    spread = run(capsys, *few(file, tmp_path / "spread", "--backend", "dask", "--address", address, "--jobs", 2))
    assert spread.code == 0, spread.err
    assert lines(tmp_path / "spread") == lines(tmp_path / "alone") and len(lines(tmp_path / "alone")) == 18
    assert none_left(tmp_path), "the cluster lives on, its games do not"
