"""Files with wrong values, pipes in place of files, and files that vanish: each is refused in one message."""

from __future__ import annotations

import errno
import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.connect import traces
from persona_evo.connect.traces import Trace
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import InputError, PolicyError, RunError
from persona_evo.evolve.reopening import summary_of
from persona_evo.games import registry
from persona_evo.jobs import journal, schema
from persona_evo.jobs.journal import Journal, plain_rows
from persona_evo.store import checkpoints, policies, runs
from tests.store.test_policies import FULL
from tests.store.test_runs import made, record

pytestmark = pytest.mark.quick

EVOLUTION: dict[str, Any] = {
    "game": "minidungeons2",
    "persona": {"name": "runner"},
    "seed": 7,
    "target": 4,
    "evolution": {"preset": "modern"},
    "budget": {"iterations": 100},
    "levels": [{"name": "a", "text": "x", "source": "", "options": {}}],
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("budget", 5),
        ("budget", {"iterations": "x"}),
        ("evolution", []),
        ("evolution", {"preset": 5}),
        ("levels", 3),
        ("skill", {"name": 5}),
        ("league", {"opponents": [5]}),
        ("persona", []),
    ],
)
def test_a_damaged_configuration_is_refused_before_it_is_described(tmp_path: Path, key: str, value: Any) -> None:
    schema.write(tmp_path / runs.CONFIG, {"schema": 1, **EVOLUTION})
    summary = summary_of(tmp_path)
    assert summary == "runner on 1 level of minidungeons2, seed 7, preset modern, 100 iterations a playthrough"
    schema.write(tmp_path / runs.CONFIG, {"schema": 1, **EVOLUTION, key: value})
    with pytest.raises(RunError) as caught:
        summary_of(tmp_path)
    assert caught.value.place is not None and caught.value.place.line > 1 and f".{key}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"run": {"priority": 5}}, ".run.priority"),
        ({"run": {"priority": {"a": "x"}}}, ".run.priority.a"),
        ({"run": {"generations": "x"}}, ".run.generations"),
        ({"run": {"opponents": [1]}}, ".run.opponents[0]"),
        ({"run": {"as_evolved": 1}}, ".run.as_evolved"),
        ({"budget": {"iterations": "x"}}, ".budget.iterations"),
        ({"evolution": {"preset": 1}}, ".evolution.preset"),
        ({"digest": 1}, ".digest"),
    ],
)
def test_values_of_a_policy_are_checked_when_it_is_read(tmp_path: Path, change: dict[str, Any], where: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**FULL.to_dict(), **change}), encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        policies.read(path)
    assert str(caught.value).startswith(f"{path}:1:") and where in caught.value.what


def test_a_policy_that_was_edited_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    game = registry.get("minidungeons2")
    path = policies.write(FULL, tmp_path / "p.json")
    fresh = policies.read(path)
    assert fresh.digest and not fresh.edited
    fresh.tree_policy(game)
    assert not caplog.records
    for old, new in (('"MS * R"', '"MS * R + 1"'), ("10000", "20000"), ('"modern"', '"paper"')):
        path.write_text(fresh.to_text().replace(old, new), encoding="utf-8")
        edited = policies.read(path)
        assert edited.edited, new
        copied = policies.read(policies.write(replace(edited, name="mine"), tmp_path / "copy.json"))
        assert copied.edited, "a copy of an edited policy is an edited policy"
    edited.tree_policy(game)
    assert [r.getMessage() for r in caplog.records] == [f"{path} has been edited since it was evolved"]
    for old, new in (('"ä"', '"a note"'), ('"name": "mk"', '"name": "other"')):
        path.write_text(fresh.to_text().replace(old, new), encoding="utf-8")
        assert not policies.read(path).edited, "notes and names are people's"
    assert "digest" not in replace(FULL, run={}).to_dict(), "nobody evolved it"


def test_a_pipe_is_refused_wherever_a_run_is_read(tmp_path: Path) -> None:
    """None of these may wait for somebody who writes into the pipe."""

    def refused(path: Path, read: Any) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        found: list[BaseException | None] = []

        def attempt() -> None:
            try:
                read()
                found.append(None)
            except BaseException as e:
                found.append(e)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(20)
        assert found, f"{path.name} hangs"
        assert isinstance(found[0], InputError) and "not a regular file" in str(found[0]) and "a pipe" in str(found[0])

    folder = made(tmp_path / "runs", 2)
    (folder / checkpoints.PREVIOUS).unlink()
    refused(folder / checkpoints.CHECKPOINT, lambda: runs.RunFolder.resume(folder))
    refused(folder / runs.JOURNAL, lambda: runs.read_journal(folder))
    refused(tmp_path / "rows.jsonl", Journal(tmp_path / "rows.jsonl", plain_rows("row")).read)
    refused(tmp_path / "p.json", lambda: policies.read(tmp_path / "p.json"))
    refused(tmp_path / "best.json", lambda: traces.load(tmp_path / "best.json"))
    refused(tmp_path / "tree.npz", lambda: PrefixTree.load(tmp_path / "tree.npz"))


def test_a_pipe_in_place_of_the_checkpoint_is_replaced_by_the_one_before(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs", 3)
    (folder / checkpoints.CHECKPOINT).unlink()
    os.mkfifo(folder / checkpoints.CHECKPOINT)
    checkpoint, said = checkpoints.usable_checkpoint(folder, checkpoints.digest(runs.read_config(folder)))
    assert checkpoint is not None and checkpoint.generation == 1 and "not a regular file" in said


@pytest.mark.parametrize("damage", ["deleted", "cut"])
def test_a_journal_that_loses_lines_meanwhile_is_told(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "rows.jsonl"
    first, second = Journal(path, plain_rows("row")), Journal(path, plain_rows("row"))
    first.append([{"n": 1}, {"n": 2}])
    assert len(second.read()) == 2
    if damage == "deleted":
        path.unlink()
    else:
        path.write_text(path.read_text(encoding="utf-8").splitlines(keepends=True)[0], encoding="utf-8")
    for one in (first, second):
        with pytest.raises(RunError, match="deleted or cut off while"):
            one.append([{"n": 3}])
    assert path.exists() == (damage == "cut"), "nothing is written after it"


def test_a_runs_journal_that_is_deleted_meanwhile_is_told(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs", 2)
    with runs.RunFolder.resume(folder) as run:
        before = (folder / checkpoints.CHECKPOINT).read_bytes()
        (folder / runs.JOURNAL).unlink()
        with pytest.raises(RunError, match="deleted or cut off while"):
            record(run, 2)
    assert (folder / checkpoints.CHECKPOINT).read_bytes() == before and not (folder / runs.JOURNAL).exists()


def test_a_torn_line_is_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    kept = Journal(path, plain_rows("row"))
    kept.append([{"n": 1}])
    with path.open("ab") as file:
        file.write(b'{"n": 2')
    again = Journal(path, plain_rows("row"))
    assert again.read() == [{"n": 1}]
    again.append([{"n": 2}])
    assert again.read() == [{"n": 1}, {"n": 2}]
    journal.cut_torn_line(path)
    assert again.read() == [{"n": 1}, {"n": 2}]


def test_changed_digits_of_a_trace_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    trace = Trace("g", "l", 1.5, 2.5, {"A": 1.0}, ((0, 2), (1, 3)))
    trace.save(path)
    assert traces.load(path) == trace
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("2.5", "3.5"), encoding="utf-8")
    with pytest.raises(RunError, match="damaged or changed"):
        traces.load(path)
    plain = json.loads(text)
    del plain["crc"]
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert traces.load(path) == trace, "earlier versions wrote no checksum"


def test_what_was_found_is_cut_in_a_message() -> None:
    error = InputError("wrong", found="x" * 1_000_000, expected="y" * 1_000_000, hint="z" * 1_000_000)
    assert len(str(error)) < 10_000 and "(1,000,000 characters)" in str(error)
    assert error.found is not None and len(error.found) == 500 and error.hinting("first").found == error.found
    assert InputError("wrong", found="x" * 500).found == "x" * 500


def test_a_full_disk_while_drawing_names_the_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    from persona_evo.games import mapsets
    from persona_evo.report import maps, replay

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Image.Image, "save", full)
    game = registry.get("minidungeons2")
    (level,) = mapsets.resolve(game, ["test01"])
    with pytest.raises(OSError, match="No space left") as caught:
        maps.Sheet(game, level, 5, 5, {}).save(tmp_path / "map.png")
    assert caught.value.filename == str(tmp_path / "map.png")
    frame = replay.Frame(Image.new("RGB", (8, 8)), 100)
    with pytest.raises(OSError, match="No space left") as caught:
        replay.save_gif([frame], tmp_path / "game.gif")
    assert caught.value.filename == str(tmp_path / "game.gif")
