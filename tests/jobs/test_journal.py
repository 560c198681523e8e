"""Tests lines with checksums, reports of damaged lines, and jobs with a deadline."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from persona_evo.errors import Place, RunError
from persona_evo.jobs import checksum, journal, json_text, schema
from persona_evo.jobs.cache import WorkerCache
from persona_evo.jobs.journal import Journal, plain_rows
from persona_evo.jobs.progress import Forecast, Progress
from persona_evo.jobs.runner import Job, Runner
from persona_evo.jobs.workers import Workers

pytestmark = pytest.mark.quick

ROWS = [{"n": 1, "name": "ä}"}, {"n": 2, "name": '"crc":'}, {"n": 3, "list": [1.5, None]}]


def written(path: Path) -> Journal[journal.Row]:
    made = Journal(path, plain_rows("row", lambda row: row["n"]))
    made.append(ROWS)
    return made


def test_lines_come_back_without_their_checksums(tmp_path: Path) -> None:
    made = written(tmp_path / "rows.jsonl")
    assert made.read() == ROWS and made.read([1, 2, 3, 4]) == ROWS
    assert all(json.loads(line)["crc"] for line in made.path.read_text(encoding="utf-8").splitlines())
    assert Journal(tmp_path / "none.jsonl", made.form).read() == []


def test_every_changed_character_is_noticed(tmp_path: Path) -> None:
    made = written(tmp_path / "rows.jsonl")
    content = made.path.read_bytes()
    for at, old in enumerate(content):
        if old == ord("\n"):
            continue
        made.path.write_bytes(content[:at] + bytes([old ^ 1]) + content[at + 1 :])
        with pytest.raises(RunError) as caught:
            made.read()
        told = caught.value.place
        assert told is not None and (told.source, told.line) == (str(made.path), content[:at].count(b"\n") + 1)
        assert caught.value.hint


def test_a_torn_line_is_ignored_and_cut_off_by_the_next(tmp_path: Path) -> None:
    made = written(tmp_path / "rows.jsonl")
    content = made.path.read_bytes()
    made.path.write_bytes(content[:-9])
    assert made.read() == ROWS[:2] and made.path.read_bytes() == content[:-9]
    made.append(ROWS[2:])
    assert made.path.read_bytes() == content


def test_rows_that_do_not_belong_are_refused(tmp_path: Path) -> None:
    made = written(tmp_path / "rows.jsonl")
    with pytest.raises(RunError, match="2: a row does not belong here"):
        made.read([1, 3, 2])
    with pytest.raises(RunError, match="3: a row does not belong here") as caught:
        made.read([1, 2])
    assert caught.value.expected == "2 lines"


def test_lines_of_an_earlier_version_come_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]), encoding="utf-8")
    made = Journal(path, plain_rows("row"))
    made.append(ROWS[2:])
    assert made.read() == ROWS
    path.write_bytes(path.read_bytes() + b'{"n": 4}\n')
    with pytest.raises(RunError, match="4: a row has no checksum"):
        made.read()


@pytest.mark.parametrize("line", [b"\xff\n", b"[1]\n", b'{"n": NaN}\n', b'{"n": "\xe4"}\n', b"[" * 9999 + b"\n"])
def test_what_is_no_row_is_refused(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(line)
    with pytest.raises(RunError) as caught:
        Journal(path, plain_rows("row")).read()
    assert caught.value.place is not None and caught.value.place.line == 1 and caught.value.hint
    with pytest.raises(RunError, match="not a regular file"):
        Journal(tmp_path, plain_rows("row")).read()


def test_a_files_checksum_is_its_last_key(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    schema.write(path, {"schema": 1, "list": [[1], [2]], "text": "x"})
    data, text = schema.read(path, RunError)
    assert data == {"schema": 1, "list": [[1], [2]], "text": "x"} and list(json.loads(text))[-1] == "crc"
    assert checksum.sealed(text) == text == checksum.sealed(json_text.dump(data)), "a checksum is replaced, not added"
    path.write_text(text.replace("\n", "\r\n"), encoding="utf-8")
    assert schema.read(path, RunError)[0] == data, "line ends do not count"
    for damaged in (text.replace('"x"', '"y"'), text.replace('"crc": "', '"crc": "0')):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(RunError, match=r"a\.json: the file was damaged or changed") as caught:
            schema.read(path, RunError)
        assert caught.value.hint
    assert not checksum.verify('{"a": 1}', Place("b"), RunError, "")


@pytest.mark.parametrize(
    "text", ['{"name": "crc"}', '{"a": {"crc": 5}}', '{"a": {"b": 1, "crc": "12345678"}}', '{"a": 1, "b": "12345678"}']
)
def test_what_only_looks_like_a_checksum_is_content(text: str) -> None:
    assert not checksum.verify(text, Place("a"), RunError, "")
    sealed = checksum.sealed(text)
    assert {k: v for k, v in json.loads(sealed).items() if k != "crc"} == json.loads(text)
    assert checksum.verify(sealed, Place("a"), RunError, "") and checksum.sealed(sealed) == sealed


def test_jobs_are_kept_as_they_are_finished_until_the_deadline() -> None:
    told: list[Progress] = []
    kept: list[int] = []
    jobs = [Job(f"job {n}", n) for n in range(6)]
    with Workers(1) as workers:
        assert Runner(workers, None, told.append).run("part", abs, jobs, kept.append, 2)
        assert kept == list(range(6)) and [(p.done, p.total) for p in told] == [(n, 8) for n in range(2, 9)]
        assert told[0].eta is None and told[-1].eta == 0 and told[-1].share == 1 and told[-1].part == "part"
        assert not Runner(workers, time.monotonic() - 1).run("part", abs, jobs, kept.append)
        slow = [Job(f"job {n}", 0.2) for n in range(6)]
        kept.clear()
        assert not Runner(workers, time.monotonic() + 0.5).run("part", _sleep, slow, kept.append)
    assert 1 <= len(kept) <= 2, "a job that would be finished too late is not started"


def test_jobs_that_are_at_work_at_the_deadline_are_abandoned() -> None:
    kept: list[int] = []
    with Workers(2) as workers:
        workers.map(abs, [1, 2])  # the workers have been started
        jobs = [Job(f"job {n}", seconds) for n, seconds in enumerate((0.1, 600.0, 600.0))]
        assert not Runner(workers, time.monotonic() + 5.0).run("part", _sleep, jobs, kept.append)
    assert kept == [1]


def _sleep(seconds: float) -> int:
    time.sleep(seconds)
    return 1


def test_a_forecast_without_expectations_knows_nothing_at_first() -> None:
    forecast = Forecast([10.0, 30.0], 1, prior=0)
    assert forecast.left is None and forecast.pace is None
    forecast.made([10.0], 5.0)
    assert forecast.left == pytest.approx(15) and forecast.pace == pytest.approx(0.5)


def test_a_worker_keeps_the_newest_values() -> None:
    closed: list[str] = []
    cache: WorkerCache[str] = WorkerCache(2, closed.append)
    assert [cache.get(key, lambda key=key: key * 2) for key in "abac"] == ["aa", "bb", "aa", "cc"]
    assert closed == ["aa"] and cache.get("b", lambda: "new") == "bb"
    cache.clear()
    assert sorted(closed) == ["aa", "bb", "cc"] and cache.get("b", lambda: "new") == "new"
