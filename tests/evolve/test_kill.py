"""Tests that a run killed at any moment resumes to the same journal as an uninterrupted one."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from persona_evo.jobs import files
from persona_evo.store import checkpoints, runs

from .drive_synthetic import GENERATIONS, config, work

ROOT = Path(__file__).resolve().parents[2]


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.evolve.drive_synthetic", str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def journal(folder: Path) -> list[dict[str, Any]]:
    return [runs.comparable(row) for row in runs.read_journal(folder)]


def killed_and_resumed(folder: Path, kills: int, stream: random.Random) -> tuple[Path, list[int]]:
    """Return the run's folder after `kills` kills and a last, whole process; and how far each killed one came."""
    reached = []
    for _ in range(kills):
        process = start(folder)
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        for _ in range(stream.randrange(2 * GENERATIONS // (kills + 1))):
            process.stdout.readline()
        time.sleep(stream.uniform(0.0, 0.04))
        process.kill()
        process.wait()
        process.stdout.close()
        found = runs.find_runs(folder)
        checkpoint = checkpoints.read_checkpoint(found[0])
        reached.append(checkpoint.generation if checkpoint else -1)
    process = start(folder)
    process.communicate(timeout=120)
    assert process.returncode == 0
    return runs.find_runs(folder)[0], reached


def compare(tmp_path: Path, kills: int, seed: int) -> list[int]:
    run = runs.RunFolder.create(tmp_path / "whole", config("modern"))
    work(run)
    folder, reached = killed_and_resumed(tmp_path / "killed", kills, random.Random(seed))
    assert journal(folder) == journal(run.folder)
    assert len(journal(folder)) == GENERATIONS * 3
    for name in (runs.HALL,):
        assert (folder / name).read_bytes() == (run.folder / name).read_bytes()
    ends = [checkpoints.read_checkpoint(f) for f in (folder, run.folder)]
    assert ends[0] is not None and ends[1] is not None and ends[0].state == ends[1].state
    assert len(runs.find_runs(tmp_path / "killed")) == 1
    return reached


def test_three_kills(tmp_path: Path) -> None:
    reached = compare(tmp_path, 3, 1)
    assert reached == sorted(reached) and reached[0] < GENERATIONS - 1


@pytest.mark.slow
def test_twenty_kills(tmp_path: Path) -> None:
    reached = compare(tmp_path, 20, 2)
    assert reached == sorted(reached) and len(set(reached)) > 5


@pytest.mark.parametrize("preset", ["paper", "modern"])
def test_stopped_between_any_two_writes(tmp_path: Path, preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop once after every single write of a generation."""
    whole = runs.RunFolder.create(tmp_path / "whole", config(preset, 4))
    work(whole)

    class Killed(BaseException):
        pass

    real = files.write_atomically
    for survivors in range(12):
        left = [survivors]

        def dying(path: Path, text: str, left: list[int] = left) -> None:
            if left[0] == 0:
                path.with_name(path.name + ".part").write_text(text[: len(text) // 2])
                raise Killed
            left[0] -= 1
            real(path, text)

        run = runs.RunFolder.create(tmp_path / str(survivors), config(preset, 4))
        monkeypatch.setattr(files, "write_atomically", dying)
        with contextlib.suppress(Killed):
            work(run)
        monkeypatch.undo()
        with open(run.folder / runs.JOURNAL, "ab") as f:
            f.write(b'{"generation": 99, "isl')
        assert work(runs.RunFolder.resume(run.folder)) == "finished"
        assert journal(run.folder) == journal(whole.folder)
