"""Runs' folders: whose they are, who is at work in them, and that cleaning touches nothing that is not a run's."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.api import studies
from persona_evo.errors import RunError
from persona_evo.evolve.reopening import budget_at  # noqa: F401 (the modules below name the files)
from persona_evo.experiments import job as course
from persona_evo.jobs import files, json_text
from persona_evo.jobs.lock import Lock, holder
from persona_evo.matches import records
from persona_evo.playtest import journal
from persona_evo.store import cleaning, folders, runs

pytestmark = pytest.mark.quick

OLD = 1.5e9

PLAYTEST = {
    "schema": 1,
    "game": "g",
    "seed": 1,
    "trials": 1,
    "levels": [{"name": "a"}],
    "players": [{"label": "runner"}],
}
LINE = '{"player": "runner", "level": "a", "outcome": "won"}\n'

CONTENTS = st.sampled_from(["", "{}", "[]", "x", '{"schema": 1}', '{"schema": 1, "game": "g"}', "sample,score\n", LINE])
NAMES = st.sampled_from(
    [
        "config.json",
        "playtest.json",
        "match.json",
        "experiment.json",
        "reproduction.json",
        "watch.json",
        "samples.csv",
        "best.json",
        "journal.jsonl",
        "traces.jsonl",
        "lock",
        "index.html",
        "notes.txt",
        "pictures/own.png",
        "a/b/c.txt",
    ]
)


def run_in(folder: Path) -> None:
    folder.mkdir(parents=True)
    files.write_atomically(folder / journal.CONFIG, json_text.dump(PLAYTEST))
    (folder / journal.TRACES).write_text(LINE)


def aged(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (OLD, OLD), follow_symlinks=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_files_are_those_that_runs_write() -> None:
    files = {kind.name: (kind.config, kind.lines) for kind in folders.KINDS}
    assert files["evolution"] == (runs.CONFIG, runs.JOURNAL)
    assert files["playtest"] == (journal.CONFIG, journal.TRACES)
    assert files["match"] == (records.CONFIG, records.GAMES)
    assert files["experiment"] == (course.CONFIG, course.RESULTS)
    assert files["reproduction"][0] == studies.CONFIG
    assert set(files) | {folders.SEARCH.name} == set(cleaning.OWN)


@settings(max_examples=40)
@given(st.dictionaries(NAMES, CONTENTS, max_size=6), st.dictionaries(NAMES, CONTENTS, max_size=4))
def test_cleaning_deletes_runs_and_nothing_else(foreign: dict[str, str], beside: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "runs"
        run_in(root / "whole")
        for folder, files in ((root / "foreign", foreign), (root, beside)):
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content)
        aged(root)
        before = contents(root)
        gone, kept = cleaning.choose(folders.find([root]))
        for entry in gone:
            cleaning.delete(entry)
        left = contents(root)
        mine = {name for name in before if name.startswith("whole/")}
        assert left == {k: v for k, v in before.items() if k not in mine} or (left == before and kept)
        assert all(entry.folder == root / "whole" for entry in gone)


def test_a_finished_run_may_go_unless_it_holds_more(tmp_path: Path) -> None:
    run_in(tmp_path / "one")
    run_in(tmp_path / "two")
    (tmp_path / "two" / "pictures").mkdir()
    (tmp_path / "two" / "pictures" / "a-runner.png").write_bytes(b"x")
    run_in(tmp_path / "linked")
    (tmp_path / "linked" / "traces.csv").symlink_to(tmp_path / "two" / "traces.jsonl")
    aged(tmp_path)
    gone, kept = cleaning.choose(folders.find([tmp_path]))
    assert {e.folder.name for e in gone} == {"one", "two"} and "did not write" in kept[0][1]
    for entry in gone:
        cleaning.delete(entry)
    assert [p.name for p in tmp_path.iterdir()] == ["linked"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    run_in(tmp_path / "elsewhere" / "one")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert folders.find([tmp_path / "runs"]) == []


def test_what_is_no_run_s_own_file_keeps_it(tmp_path: Path) -> None:
    for name in (".new/thesis.doc", "movie.part", "logs_of_mine/a.log", "pictures/holiday.jpg", "inner/traces.jsonl"):
        folder = tmp_path / name.split("/")[0].strip(".")
        run_in(folder)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")
    again = tmp_path / "again"
    run_in(again / "runs" / "playtest")
    files.write_atomically(again / studies.CONFIG, json_text.dump({"schema": 1, "study": "minidungeons", "seed": 4}))
    (again / "index.html").write_text("x")
    shutil.copytree(again, tmp_path / "again-2")
    (again / "runs" / "playtest" / "notes.md").write_text("mine")
    shutil.copytree(tmp_path / "again-2", tmp_path / "again-3")
    (tmp_path / "again-3" / "thesis").mkdir()
    (tmp_path / "again-3" / "thesis" / "data.csv").write_text("mine")
    aged(tmp_path)
    gone, _ = cleaning.choose(folders.find([tmp_path]))
    assert [e.folder.name for e in gone] == ["again-2"]


def test_a_link_and_the_current_folder_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(tmp_path / "elsewhere" / "one")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "one")
    monkeypatch.chdir(tmp_path / "elsewhere" / "one")
    for path, why in ((tmp_path / "link", "a link"), (Path(), "current folder"), (Path.cwd(), "current folder")):
        entry = folders.read(path)
        assert entry is not None
        with pytest.raises(RunError, match=why):
            cleaning.delete(entry, is_named=True)
    assert (tmp_path / "elsewhere" / "one" / journal.CONFIG).is_file()


def test_what_has_the_name_of_a_deletion_is_not_deleted_unless_it_is_one(tmp_path: Path) -> None:
    for name in ("one", "two", "three", ".three.deleted"):
        run_in(tmp_path / name)
    (tmp_path / ".one.deleted").mkdir()
    (tmp_path / ".one.deleted" / "thesis.doc").write_text("mine")
    (tmp_path / ".two.deleted").symlink_to(tmp_path / ".one.deleted")
    for name in ("one", "two", "three"):
        entry = folders.read(tmp_path / name)
        assert entry is not None
        cleaning.delete(entry, is_named=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".one.deleted", ".two.deleted"]
    assert (tmp_path / ".one.deleted" / "thesis.doc").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a matter of POSIX")
@pytest.mark.parametrize("name", ["lock", journal.TRACES, journal.CONFIG])
def test_nobody_waits_for_a_pipe(tmp_path: Path, name: str) -> None:
    run_in(tmp_path / "one")
    (tmp_path / "one" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "one" / name)
    for entry in folders.find([tmp_path]):
        assert entry.state == ("complete" if name == "lock" else "unreadable")


def test_the_name_of_the_root_names_no_run(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    run_in(root / "one")
    assert folders.named("on", [root]).folder == root / "one"
    with pytest.raises(RunError, match="no such run"):
        folders.named("run", [root])


def test_who_is_at_work_is_known_and_the_lock_stays_free(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with Lock(tmp_path):
        found = holder(tmp_path)
        assert found is not None and found[0] == os.getpid()
    assert holder(tmp_path) is None
    (tmp_path / "lock").write_text('{"pid": 1, "host": "elsewhere"}')
    assert holder(tmp_path) == (1, "elsewhere")
    (tmp_path / "lock").write_text("nonsense")
    assert holder(tmp_path) is None
    with Lock(tmp_path):
        pass


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (journal.CONFIG, json_text.dump(PLAYTEST).replace('"g"', "[" * 100_000), "the JSON is nested too deeply"),
        (journal.TRACES, '{"player": ' + "[" * 100_000 + "\n", "a line is damaged: it is nested too deeply"),
        (journal.TRACES, "[]\n", "a line is not an object"),
    ],
)
def test_a_damaged_file_is_named_in_words(tmp_path: Path, name: str, text: str, said: str) -> None:
    run_in(tmp_path / "one")
    (tmp_path / "one" / name).write_text(text)
    entry = folders.read(tmp_path / "one")
    assert entry is not None and entry.state == "unreadable" and entry.problem == f"{tmp_path / 'one' / name}: {said}"


def test_json_nested_up_to_the_limit_is_refused_in_words(tmp_path: Path) -> None:
    run_in(tmp_path / "one")
    for depth in range(900, 1000):
        text = json_text.dump(PLAYTEST).replace('"g"', "[" * depth + "]" * depth)
        (tmp_path / "one" / journal.CONFIG).write_text(text)
        entry = folders.read(tmp_path / "one")
        assert entry is not None and entry.state == "unreadable" and "Recursion" not in entry.problem
