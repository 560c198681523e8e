"""Run folders: what is written, what is repaired, and what is refused."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import RunError
from persona_evo.jobs.lock import LOCK, Lock
from persona_evo.store import checkpoints, runs
from tests.shared import unsealed

CONFIG: dict[str, Any] = {"game": "pkg.mod:GAME", "persona": {"name": "runner"}, "seed": 7, "target": 4}
NOW = datetime(2031, 5, 4, 7, 0, 1, tzinfo=UTC)


def record(run: runs.RunFolder, generation: int) -> None:
    rows = [{"generation": generation, "island": i, "best": 0.1 * generation} for i in range(2)]
    run.record(generation, rows, {"seconds": 1.5}, {"generation": generation}, [{"fitness": 1.0}], 4)


def made(root: Path, generations: int) -> Path:
    with runs.RunFolder.create(root, CONFIG, now=NOW) as run:
        for g in range(generations):
            record(run, g)
        return run.folder


def test_the_folder_says_when_what_who_and_which_seed(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs", 2)
    assert folder.name == "20310504T070001Z-pkg.mod_GAME-runner-s7"
    assert sorted(p.name for p in folder.iterdir()) == [
        "checkpoint-previous.json",
        "checkpoint.json",
        "config.json",
        "hall_of_fame.json",
        "journal.jsonl",
        "lock",
    ]
    assert runs.read_config(folder)["seed"] == 7
    assert runs.find_runs(tmp_path / "runs") == [folder]
    assert [runs.comparable(r) for r in runs.read_journal(folder)][2] == {"generation": 1, "island": 0, "best": 0.1}


def test_two_runs_in_one_second_have_two_folders(tmp_path: Path) -> None:
    assert made(tmp_path, 0) != made(tmp_path, 0)


@pytest.mark.parametrize("tail", [b"", b'{"gen', b'{"generation": 2, "island": 0}\n', b'{"generation": 2}\n\x00\xff'])
def test_what_a_killed_process_left_behind_the_checkpoint_is_cut(tmp_path: Path, tail: bytes) -> None:
    folder = made(tmp_path, 2)
    before = (folder / runs.JOURNAL).read_bytes()
    with open(folder / runs.JOURNAL, "ab") as f:
        f.write(tail)
    (folder / "checkpoint.json.part").write_text("{")
    with runs.RunFolder.resume(folder) as run:
        assert run.checkpoint is not None and run.checkpoint.generation == 1
        assert (folder / runs.JOURNAL).read_bytes() == before
        assert not (folder / "checkpoint.json.part").exists()
        record(run, 2)
    assert [r["generation"] for r in runs.read_journal(folder)] == [0, 0, 1, 1, 2, 2]


def test_a_run_killed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    folder = made(tmp_path, 0)
    (folder / runs.JOURNAL).write_text('{"generation": 0}\n')
    with runs.RunFolder.resume(folder) as run:
        assert run.checkpoint is None and runs.read_journal(folder) == []


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("config.json", lambda t: t[:30], "config.json:"),
        ("config.json", lambda t: t.replace('"seed": 7', '"seed": "x"'), r"config.json:\d+:\d+: .seed"),
        ("config.json", lambda t: t.replace('"schema": 1', '"schema": 9'), "newer version of persona-evo"),
        ("journal.jsonl", lambda t: t[: len(t) // 2], "lacks lines"),
        ("journal.jsonl", lambda t: t.replace('"generation": 1', '"generation": 0'), "journal.jsonl:3: the line was"),
        ("journal.jsonl", lambda t: t.replace('"best": 0.0', '"best": 0.1'), "journal.jsonl:1: the line was damaged"),
        ("journal.jsonl", lambda t: t[:-30] + "7 bytes" + t[-30:], "journal.jsonl:4: the journal is damaged"),
        ("journal.jsonl", lambda t: t[:-10] + "x" * 9 + "\n", r"journal.jsonl:4:\d+: a line of the journal cannot"),
    ],
)
def test_damage_is_refused_with_its_place_and_the_folder_is_free_again(
    tmp_path: Path, name: str, damage: Any, said: str
) -> None:
    folder = made(tmp_path, 2)
    path = folder / name
    good = path.read_text() if name == "journal.jsonl" else unsealed(path)
    path.write_text(damage(good))
    with pytest.raises(RunError, match=said):
        runs.RunFolder.resume(folder)
    path.write_text(good)
    runs.RunFolder.resume(folder).close()


@pytest.mark.parametrize("damage", [lambda t: t[: len(t) // 2], lambda t: "{}", lambda t: t.replace("1", "2"), None])
def test_a_damaged_checkpoint_is_replaced_by_the_one_before(tmp_path: Path, damage: Any) -> None:
    folder = made(tmp_path, 3)
    whole = [runs.comparable(row) for row in runs.read_journal(folder)]
    path = folder / checkpoints.CHECKPOINT
    if damage is None:
        path.unlink()
    else:
        path.write_text(damage(path.read_text()))
    with runs.RunFolder.resume(folder) as run:
        assert run.checkpoint is not None and run.checkpoint.generation == 1
        assert "checkpoint.json" in run.recovered and "after generation 2" in run.recovered
        record(run, 2)
    assert [runs.comparable(row) for row in runs.read_journal(folder)] == whole
    with runs.RunFolder.resume(folder) as run:
        assert run.checkpoint is not None and run.checkpoint.generation == 2 and not run.recovered


@pytest.mark.parametrize(
    ("damage", "said"),
    [(lambda t: t[: len(t) // 2], r"checkpoint.json:\d+:\d+"), (lambda t: "{}", "schema")],
)
def test_without_an_earlier_checkpoint_damage_is_refused(tmp_path: Path, damage: Any, said: str) -> None:
    folder = made(tmp_path, 1)
    path = folder / checkpoints.CHECKPOINT
    path.write_text(damage(path.read_text()))
    with pytest.raises(RunError, match=said):
        runs.RunFolder.resume(folder)


def test_a_journal_of_another_generation_does_not_belong_to_the_checkpoint(tmp_path: Path) -> None:
    folder = made(tmp_path, 2)
    lines = (folder / runs.JOURNAL).read_text().splitlines(keepends=True)
    checkpoint = json.loads(unsealed(folder / checkpoints.CHECKPOINT))
    (folder / checkpoints.CHECKPOINT).write_text(json.dumps({**checkpoint, "journal": len("".join(lines[:2]))}))
    with pytest.raises(RunError, match="does not match the checkpoint"):
        runs.RunFolder.resume(folder)


def test_a_folder_of_an_earlier_version_is_resumed(tmp_path: Path) -> None:
    folder = made(tmp_path, 2)
    for name in (runs.CONFIG, runs.JOURNAL, runs.HALL, checkpoints.CHECKPOINT):
        unsealed(folder / name)
    (folder / checkpoints.PREVIOUS).unlink()
    size = (folder / runs.JOURNAL).stat().st_size
    (folder / checkpoints.CHECKPOINT).write_text(
        json.dumps({**json.loads((folder / checkpoints.CHECKPOINT).read_text()), "journal": size})
    )
    with runs.RunFolder.resume(folder) as run:
        record(run, 2)
    assert [row["generation"] for row in runs.read_journal(folder)] == [0, 0, 1, 1, 2, 2]
    assert (folder / runs.JOURNAL).read_text().count('"crc"') == 2


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        runs.RunFolder.resume(tmp_path)


def test_a_target_is_remembered(tmp_path: Path) -> None:
    folder = made(tmp_path, 4)
    with runs.RunFolder.resume(folder) as run:
        run.aim(9)
    with runs.RunFolder.resume(folder) as run:
        assert run.checkpoint is not None and run.checkpoint.target == 9
    assert runs.read_config(folder)["target"] == 4


def test_a_later_policy_overwrites_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path, 4)
    with runs.RunFolder.resume(folder) as run:
        assert run.finish("one", 4).name == "policy.json"
        assert run.finish("one", 4).name == "policy.json"
        assert run.finish("two", 9).name == "policy-9.json"
        assert run.finish("three", 12).name == "policy-12.json"
    assert (folder / "policy.json").read_text() == "one"
    newest = runs.policy_of(folder)
    assert newest is not None and newest.read_text() == "three"


def _hold(folder: Path, ready: Any, end: Any) -> None:
    with Lock(folder):
        ready.set()
        end.wait(30)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    folder = made(tmp_path, 1)
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(folder, ready, end))
    other.start()
    try:
        assert ready.wait(30)
        with pytest.raises(RunError, match=f"in use(.|\n)*process {other.pid}"):
            runs.RunFolder.resume(folder)
    finally:
        end.set()
        other.join(30)
    runs.RunFolder.resume(folder).close()


def test_the_lock_of_a_dead_process_is_taken_over_and_that_of_another_machine_is_not(tmp_path: Path) -> None:
    folder = made(tmp_path, 1)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    import socket

    (folder / LOCK).write_text(json.dumps({"pid": dead.pid, "host": socket.gethostname()}))
    with runs.RunFolder.resume(folder):
        assert json.loads((folder / LOCK).read_text())["pid"] == os.getpid()
        with pytest.raises(RunError, match="in use"):
            runs.RunFolder.resume(folder)
    assert (folder / LOCK).read_text() == ""
    (folder / LOCK).write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
    with pytest.raises(RunError, match=r"another machine(.|\n)*process 1 on elsewhere"):
        runs.RunFolder.resume(folder)


def test_without_its_checkpoint_a_run_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    for generations, gone in ((2, ()), (3, ("hall_of_fame.json",)), (1, ("journal.jsonl",))):
        folder = made(tmp_path, generations)
        for name in ("checkpoint.json", "checkpoint-previous.json", *gone):
            (folder / name).unlink(missing_ok=True)
        before = {p.name: p.read_bytes() for p in folder.iterdir()}
        with pytest.raises(RunError, match=r"checkpoint\.json: the run has generations but no checkpoint"):
            runs.RunFolder.resume(folder)
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    (folder / "checkpoint.json").mkdir()
    with pytest.raises(RunError, match="cannot be read"):
        runs.RunFolder.resume(folder)


def test_a_checkpoint_belongs_to_its_configuration(tmp_path: Path) -> None:
    folder = made(tmp_path, 2)
    config, checkpoint = folder / "config.json", folder / "checkpoint.json"
    good, kept = unsealed(config), json.loads(unsealed(checkpoint))
    config.write_text(good.replace('"seed": 7', '"seed": 8'))
    with pytest.raises(RunError, match="another configuration"):
        runs.RunFolder.resume(folder)
    del kept["config"]
    checkpoint.write_text(json.dumps(kept))
    runs.RunFolder.resume(folder).close()


@pytest.mark.parametrize(("name", "value"), [("journal", -3), ("generation", -1), ("target", 0), ("config", 5)])
def test_numbers_of_a_checkpoint_are_checked(tmp_path: Path, name: str, value: int) -> None:
    folder = made(tmp_path, 2)
    path = folder / "checkpoint.json"
    (folder / checkpoints.PREVIOUS).unlink()
    path.write_text(json.dumps({**json.loads(unsealed(path)), name: value}))
    with pytest.raises(RunError, match=rf"checkpoint\.json:1:\d+: \.{name}"):
        runs.RunFolder.resume(folder)


@pytest.mark.parametrize("text", ["[" * 4000, '{"pid": 1, "host": 5}', "\x00\xff", '{"pid": "x", "host": "elsewhere"}'])
def test_garbage_in_the_lock_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK).write_text(text)
    lock = Lock(tmp_path).acquire()
    assert str(os.getpid()) in (tmp_path / LOCK).read_text()
    lock.release()
