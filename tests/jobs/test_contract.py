"""Tests what every kind of job guarantees about its folder, whatever happens to it."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from persona_evo.errors import RunError
from persona_evo.jobs.lock import Lock
from tests.jobs.kinds import KINDS, Kind
from tests.shared import unsealed

SEED = 1


@pytest.fixture(scope="module", params=KINDS, ids=str)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kind, Path]]:
    """Return a job that was never stopped."""
    kind, folder = request.param, tmp_path_factory.mktemp("whole") / "job"
    kind.run(folder, SEED, 1)
    assert len(kind.content(folder)) == kind.results
    yield kind, folder


@pytest.fixture
def copy(whole: tuple[Kind, Path], tmp_path: Path) -> tuple[Kind, Path]:
    """Return the same in a folder of its own."""
    kind, folder = whole
    shutil.copytree(folder, tmp_path / "job")
    return kind, tmp_path / "job"


def killed(kind: Kind, folder: Path, lines: int) -> None:
    """Run a job in a process of its own, and kill it when it has written some more lines."""
    path = folder / kind.lines
    before = path.read_bytes().count(b"\n") if path.exists() else 0
    process = multiprocessing.get_context("fork").Process(target=kind.run, args=(folder, SEED, 1))
    process.start()
    end = time.monotonic() + 60
    while process.is_alive() and time.monotonic() < end:
        if path.exists() and path.read_bytes().count(b"\n") >= before + lines:
            break
        time.sleep(0.001)
    process.kill()
    process.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes that are killed are forks of this one")
def test_killed_at_random_moments_and_resumed_it_comes_to_the_same(whole: tuple[Kind, Path], tmp_path: Path) -> None:
    kind, folder = whole
    stream, again = random.Random(str(kind)), tmp_path / "job"
    for _ in range(3):
        killed(kind, again, stream.randrange(0, kind.results // 6))
    assert not (again / kind.lines).exists() or len(kind.content(again)) < kind.results
    kind.run(again, SEED, 1)
    assert sorted(kind.content(again)) == sorted(kind.content(folder))
    assert kind.name == "study" or kind.content(again) == kind.content(folder)
    assert (again / kind.config).read_bytes() == (folder / kind.config).read_bytes() or kind.name == "evolution"


def test_a_torn_last_line_is_made_again(copy: tuple[Kind, Path], whole: tuple[Kind, Path]) -> None:
    kind, folder = copy
    path = folder / kind.lines
    content = path.read_bytes()
    if kind.name == "evolution":  # whose checkpoint says that the line was there
        path.write_bytes(content + content.splitlines(keepends=True)[0][:25])
    else:
        path.write_bytes(content[:-25])
    kind.run(folder, SEED, 1)
    assert kind.content(folder) == kind.content(whole[1])


@pytest.mark.parametrize("workers", [2, 3])
def test_the_number_of_workers_changes_nothing(whole: tuple[Kind, Path], tmp_path: Path, workers: int) -> None:
    kind, folder = whole
    if kind.name == "experiment":
        pytest.skip("its workers are processes: see tests/experiments/test_experiment.py")
    kind.run(tmp_path / "job", SEED, workers)
    assert sorted(kind.content(tmp_path / "job")) == sorted(kind.content(folder))


@pytest.mark.parametrize("number", [1, 7])
def test_a_changed_digit_is_reported_with_file_and_line(copy: tuple[Kind, Path], number: int) -> None:
    kind, folder = copy
    path = folder / kind.lines
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(i for i, c in enumerate(lines[number - 1]) if c in "12345678")
    line = lines[number - 1]
    lines[number - 1] = line[:at] + str(int(line[at]) + 1) + line[at + 1 :]
    path.write_text("".join(lines), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(RunError, match="was damaged or changed after it was written") as caught:
        kind.run(folder, SEED, 1)
    assert str(caught.value.place) == f"{path}:{number}" and caught.value.hint
    assert path.read_bytes() == before, "nothing is repaired by guessing"


def test_a_lost_checksum_is_reported(copy: tuple[Kind, Path]) -> None:
    kind, folder = copy
    path = folder / kind.lines
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"crc":', b'"crd":')
    path.write_bytes(b"".join(lines))
    with pytest.raises(RunError, match="was damaged or changed") as caught:
        kind.run(folder, SEED, 1)
    assert str(caught.value.place) == f"{path}:3" and caught.value.hint


def test_a_changed_digit_of_the_configuration_is_reported(copy: tuple[Kind, Path]) -> None:
    kind, folder = copy
    path = folder / kind.config
    path.write_text(path.read_text(encoding="utf-8").replace('"seed": 1', '"seed": 3'), encoding="utf-8")
    with pytest.raises(RunError, match="the file was damaged or changed after it was written") as caught:
        kind.run(folder, SEED, 1)
    assert str(path) in str(caught.value) and caught.value.hint


def test_a_folder_of_an_earlier_version_is_resumed(copy: tuple[Kind, Path], whole: tuple[Kind, Path]) -> None:
    kind, folder = copy
    if kind.name == "evolution":
        pytest.skip("its checkpoint counts bytes: see tests/store/test_runs.py")
    unsealed(folder / kind.config)
    lines = unsealed(folder / kind.lines).splitlines(keepends=True)
    (folder / kind.lines).write_text("".join(lines[:5]), encoding="utf-8")
    kind.run(folder, SEED, 1)
    assert kind.content(folder) == kind.content(whole[1])
    text = (folder / kind.lines).read_text(encoding="utf-8")
    assert text.startswith("".join(lines[:5])) and text.count('"crc":') == kind.results - 5


def test_two_processes_cannot_write_into_it(copy: tuple[Kind, Path]) -> None:
    kind, folder = copy
    with Lock(folder), pytest.raises(RunError, match="in use") as caught:
        kind.run(folder, SEED, 1)
    assert str(os.getpid()) in str(caught.value) and caught.value.hint
    kind.run(folder, SEED, 1)


def test_another_configuration_is_refused(copy: tuple[Kind, Path]) -> None:
    kind, folder = copy
    if kind.name == "evolution":
        pytest.skip("it is resumed with nothing but its folder")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
    with pytest.raises(RunError, match=f"the folder holds another .*\n.*{kind.other}") as caught:
        kind.run(folder, SEED + 1, 1)
    assert caught.value.hint and "seed 2" in str(caught.value)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"} == before


def test_lines_without_a_configuration_are_refused(copy: tuple[Kind, Path]) -> None:
    kind, folder = copy
    if kind.name in ("study", "evolution"):
        pytest.skip("it has no single file of results, or is made in a new folder")
    (folder / kind.config).unlink()
    with pytest.raises(RunError, match=f"the folder has {kind.lines} but no {kind.config}"):
        kind.run(folder, SEED, 1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_folder_of_other_work_is_refused(kind: Kind, tmp_path: Path) -> None:
    if kind.name == "evolution":
        pytest.skip("it is made in a new folder")
    (tmp_path / "other.json").write_text('{\n  "schema": 1,\n  "study": "something else"\n}\n')
    with pytest.raises(RunError, match=r"the folder holds other work\n(.*\n)*.*other\.json") as caught:
        kind.run(tmp_path, SEED, 1)
    assert caught.value.hint and not (tmp_path / kind.config).exists()
