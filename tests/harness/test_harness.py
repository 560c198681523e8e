"""Tests that the harness notices what it looks for, and that small shares of its trials find nothing."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness import damages, frames, inputs, kills, trials
from tests.harness.__main__ import PARTS, main, table
from tests.harness.clock import WorkClock
from tests.harness.jobs import ALL_KINDS
from tests.harness.trials import Finding, Part, Record, Trial, make, run
from tests.jobs.kinds import KINDS


def part_of(trial: Callable[[Trial], str]) -> Part:
    return Part("made_up", 10, "things", 1, trial, lambda: None)


def fine(trial: Trial) -> str:
    trial.what = f"{trial.dice.random()}"
    return "fine"


def finding(trial: Trial) -> str:
    (trial.folder / "input.txt").write_text("the input")
    raise Finding("something is lost")


def wrong(trial: Trial) -> str:
    raise KeyError("no such key")


def busy(trial: Trial) -> str:
    while True:
        pass


def asleep(trial: Trial) -> str:
    time.sleep(60)
    return "fine"


@pytest.mark.parametrize(
    ("trial", "outcome"),
    [(finding, "something is lost"), (wrong, "KeyError: 'no such key'"), (busy, "it hangs"), (asleep, "it hangs")],
)
def test_what_must_not_happen_is_a_finding(
    trial: Callable[[Trial], str], outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "OWN_SECONDS", 0.2)
    monkeypatch.setattr(trials, "WALL_SECONDS", 1.0)
    row = make(part_of(trial), 3, tmp_path)
    assert row.bad and row.outcome == outcome and row.number == 3
    assert (tmp_path / "made_up-3").is_dir()
    assert trial is not finding or (tmp_path / "made_up-3" / "input.txt").read_text() == "the input"
    assert f"FINDING 3: : {outcome}" in table([dataclasses.replace(row, part="inputs")])


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not count waiting")
def test_waiting_for_a_processor_does_not_count() -> None:
    fork = multiprocessing.get_context("fork")
    idle, *rivals = [
        fork.Process(target=work, args=(Trial(0, random.Random(), Path()),)) for work in (asleep, *[busy] * 3)
    ]
    for process in (idle, *rivals):
        process.start()
    try:
        for process in rivals:
            os.sched_setaffinity(process.pid or 0, {min(os.sched_getaffinity(0))})
        began, clocks = time.monotonic(), [WorkClock(process.pid) for process in (idle, rivals[0])]
        time.sleep(1.0)
        slept, worked = (clock.seconds for clock in clocks)
        assert slept > 0.9 and worked < 0.6 * (time.monotonic() - began)
    finally:
        for process in (idle, *rivals):
            process.kill()
            process.join()


def test_a_trial_with_too_much_memory_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grows = iter([5, trials.MOST_BYTES])
    monkeypatch.setattr(trials, "_memory", lambda: next(grows))
    row = make(part_of(fine), 1, tmp_path)
    assert row.bad and row.outcome == "more than 1 GB of memory, fine"


def test_a_run_is_resumed_after_its_last_whole_row(tmp_path: Path) -> None:
    path, part = tmp_path / "rows.jsonl", part_of(fine)
    run(part, range(5), Record(path))
    first = path.read_bytes()
    path.write_bytes(first[:-10])
    record = Record(path)
    assert record.numbers(part) == {0, 1, 2, 3}
    run(part, range(6), record)
    again = Record(path)
    assert [row.number for row in again.rows] == [0, 1, 2, 3, 4, 5]
    assert not any(row.bad for row in again.rows) and len({row.what for row in again.rows}) == 6


def test_shares_are_all_trials_once() -> None:
    for part in PARTS:
        numbers = [number for k in range(1, 8) for number in part.share(k, 7)]
        assert numbers == list(range(part.trials))
    assert {part.name: part.trials * part.each for part in PARTS} == {
        "kills": 1_000,
        "damages": 1_000,
        "frames": 100_000,
        "inputs": 10_000,
    }


@pytest.mark.parametrize("mutation", inputs.CHANGES, ids=lambda m: m.__name__)
def test_mutations_change_what_they_are_given(mutation: Callable[[bytearray, random.Random], None]) -> None:
    text = b'{"one": 1,\n "two": [2, 3],\n "three": "x"}\n'
    changed = 0
    for number in range(40):
        data = bytearray(text)
        mutation(data, random.Random(number))
        changed += data != text
    assert changed > 20


def nothing_found(part: Part, numbers: range | list[int], folder: Path) -> None:
    record = Record(folder / "rows.jsonl")
    run(part, list(numbers), record)
    assert len(record.rows) == len(numbers)
    assert not [f"{row.number}: {row.what}: {row.outcome}\n{row.details}" for row in record.rows if row.bad]


def test_some_mutated_inputs(tmp_path: Path) -> None:
    nothing_found(inputs.PART, range(8 * len(inputs.kinds())), tmp_path)


def test_some_hostile_frames(tmp_path: Path) -> None:
    nothing_found(frames.PART, range(20), tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="jobs run in forks of this process")
def test_some_damages(tmp_path: Path) -> None:
    """Those of jobs that are commands, which take longer, are in shares."""
    quick = [number for number in range(28) if ALL_KINDS[number % len(ALL_KINDS)] in KINDS]
    nothing_found(dataclasses.replace(damages.PART, prepare=lambda: None), quick[:10], tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="jobs run in forks of this process")
def test_kills_of_a_connected_search(tmp_path: Path) -> None:
    """Those of other jobs are in tests/jobs/test_contract.py."""
    number = [kind.name for kind in ALL_KINDS].index("connected search")
    nothing_found(Part("kills", 1, "kills", 1, kills.run, lambda: None), [number], tmp_path)


@pytest.mark.slow
def test_a_share(tmp_path: Path) -> None:
    """The share in PERSONA_EVO_PART, such as 1/10, or a hundredth; `-s` shows the figures."""
    assert main(["--part", os.environ.get("PERSONA_EVO_PART", "1/100"), "--out", str(tmp_path)]) == 0
