"""`reproduce evolution` as a user runs it, with the smallest numbers: whole, stage by stage, torn and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from persona_evo.evolve.setting import SLOW
from persona_evo.jobs.progress import Progress
from persona_evo.store import policy_library
from persona_evo.studies.evolution import study
from persona_evo.studies.evolution.settings import (
    EVOLUTION,
    SEEDED,
    SETTINGS,
    MethodCell,
    StudySettings,
    evolution_of,
    lines,
)
from tests.cli.tool import command, environment, run, typed
from tests.shared import ROOT, hear_ctrl_c

TINY = (
    "--quick",
    "--setting",
    "single",
    "--persona",
    "runner",
    "--runs",
    "1",
    "--playthroughs",
    "60",
    "--training",
    "4",
    "--held-out",
    "2",
    "--seed",
    "5",
)
LEVEL = "XXXXXXX\nXH T eX\nXXXXXXX\n"


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file in an order of their own, without times."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(({k: v for k, v in row.items() if k not in ("seconds", "crc")} for row in found), key=json.dumps)


class Whole(NamedTuple):
    """A study that was run from start to end in one process.

    Attributes:
        out, others: its folder, and that of the other designers' levels.
        kept: the rows of its files.
    """

    out: Path
    others: Path
    kept: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    home = tmp_path_factory.mktemp("study")
    out, others = home / "out", home / "others"
    others.mkdir()
    (others / "one.txt").write_text(LEVEL, encoding="utf-8")
    done = typed(home, "reproduce", "evolution", "--out", out, *TINY, "--levels", others, "--jobs", "1")
    assert done.code == 0, done.err
    files = ("pools.jsonl", "lines.jsonl", "runs.jsonl", "measures.jsonl")
    return Whole(out, others, {name: rows(out / name) for name in files})


def test_whole_then_torn_and_resumed(whole: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    out, others, kept = whole
    text, page = ((out / name).read_text(encoding="utf-8") for name in ("README.md", "index.html"))
    assert "single, evolution with seeds: better than the best seed and the best line, for 1 of 1 personas" in text
    assert "Not measured on the paper's maps: name them with --paper." in text
    assert "single, levels of other designers: difference" in page and "Runner" in page
    assert (
        sorted(p.name for p in (out / "figures").iterdir())
        == ["budgets-anytime-runner.png", "budgets-single-runner.png", "learning-single-runner.png"][1:]
    )
    assert [row["method"] for row in kept["runs.jsonl"]] == ["evolution", "hill", "random", "seeded", "ucb1"]
    assert all(30 < row["playthroughs"] <= 60 and row["curve"] for row in kept["runs.jsonl"])

    for name in ("runs.jsonl", "measures.jsonl"):  # as if it had been killed while it wrote
        content = (out / name).read_bytes()
        (out / name).write_bytes(content[: len(content) * 2 // 3])
    long = ROOT / "policies" / "minidungeons2"
    absent = run(capsys, "reproduce", "evolution", "--resume", out, "--long", long)
    assert absent.code == 2 and "files such as single-runner.json" in absent.err
    again = run(capsys, "reproduce", "evolution", "--resume", out, "--levels", others, "--jobs", "1")
    assert again.code == 0, again.err
    assert {name: rows(out / name) for name in kept} == kept
    assert (out / "README.md").read_text(encoding="utf-8").count("\n") == text.count("\n")

    (others / "single-runner.json").write_bytes((long / "runner.json").read_bytes())
    for _ in range(2):
        more = run(
            capsys,
            "reproduce",
            "evolution",
            "--resume",
            out,
            "--long",
            others,
            "--stage",
            "measure",
            "--stage",
            "report",
            "--jobs",
            "1",
        )
        assert more.code == 0, more.err
        (long,) = [row["policy"] for row in rows(out / "runs.jsonl") if row["method"] == "long"]
        assert long == policy_library.find("runner", "minidungeons2").best
    assert "| Runner | one long run |" in (out / "README.md").read_text(encoding="utf-8")

    other = run(capsys, "reproduce", "evolution", "--out", out, *TINY, "--runs", "2")
    assert other.code == 2 and "the folder holds another reproduction" in other.err and "runs 1" in other.err
    for name, value in (
        ("setting", "zzz"),
        ("setting", []),
        ("method", "zzz"),
        ("method", 1),
        ("persona", []),
        ("run", []),
    ):
        (first, *_) = rows(whole.out / "runs.jsonl")
        (out / "runs.jsonl").write_text(json.dumps({**first, "seconds": 1.0, name: value}) + "\n", encoding="utf-8")
        for stage in ("train", "report"):
            wrong = run(capsys, "reproduce", "evolution", "--resume", out, "--stage", stage)
            assert wrong.code == 2 and "runs.jsonl:1: this run cannot be read" in wrong.err
    (out / "runs.jsonl").write_text("[]\n", encoding="utf-8")
    damaged = run(capsys, "reproduce", "evolution", "--resume", out, "--stage", "train")
    assert damaged.code == 2 and "a line cannot be read" in damaged.err and "runs.jsonl:1" in damaged.err


def test_stages_alone_and_any_number_of_jobs(whole: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    early = run(capsys, "reproduce", "evolution", "--out", tmp_path / "early", *TINY, "--stage", "train")
    assert early.code == 2 and "run --stage pools first" in early.err
    out = tmp_path / "out"
    for stage in ("pools", "train"):
        done = run(capsys, "reproduce", "evolution", "--out", out, *TINY, "--stage", stage, "--jobs", "2")
        assert done.code == 0, done.err
    assert not (out / "lines.jsonl").exists() and not (out / "index.html").exists()
    for name in ("pools.jsonl", "runs.jsonl"):
        assert rows(out / name) == whole.kept[name]
    soon = run(capsys, "reproduce", "evolution", "--out", tmp_path / "soon", *TINY, "--for", "0.5s")
    assert soon.code == 0 and "time ran out in stage pools" in soon.err and not (tmp_path / "soon/index.html").exists()
    late = run(capsys, "reproduce", "evolution", "--resume", out, "--for", "1ms", "--stage", "lines")
    assert late.code == 2 and "not a duration" in late.err


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_at_any_moment(how: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = command("reproduce", "evolution", "--out", out, *TINY, "--stage", "pools", "--stage", "train", "--jobs", 2)
    process = subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
    until = time.monotonic() + 120
    while not (out / "runs.jsonl").exists() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    if process.returncode:  # it may have been done just before
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        assert how == signal.SIGKILL or f"--resume {out}" in said
    again = run(capsys, "reproduce", "evolution", "--resume", out, "--stage", "train", "--jobs", "1")
    assert again.code == 0 and len(rows(out / "runs.jsonl")) == 5


def test_the_time_that_is_given_is_kept(tmp_path: Path) -> None:
    settings = StudySettings.of(
        quick=True, chosen=["single"], personas=["runner"], runs=1, playthroughs=60, training=4, held_out=2
    )
    told: list[Progress] = []
    assert study.run(tmp_path, settings, list(study.STAGES), {}, end=0.0, tell=told.append) == "pools"
    assert [(p.part, p.done, p.total) for p in told] == [("pools", 0, 6)]
    assert not (tmp_path / "pools.jsonl").exists()


def test_settings_come_back_from_their_file(tmp_path: Path) -> None:
    settings = StudySettings.of(quick=True, chosen=["planner-300"], personas=["completionist"])
    study.run(tmp_path, settings, [], {})
    assert study.reopen(tmp_path) == settings
    assert study.settings_for(tmp_path, quick=True, chosen=["planner-300"], personas=["completionist"]) == settings
    assert settings.cells() == [MethodCell("planner-300", SEEDED, "completionist")]


def test_cells_come_in_the_order_of_what_they_tell() -> None:
    cells = StudySettings.of().cells()
    assert len(cells) == 4 * 8 and cells[0] == MethodCell("single", SEEDED, "runner")
    kinds = list(dict.fromkeys((cell.setting, cell.method) for cell in cells))
    assert kinds[:2] == [("single", SEEDED), ("single", EVOLUTION)] and kinds[5:] == [
        ("single", "random"),
        ("single", "hill"),
        ("single", "ucb1"),
    ]


def test_the_lines_written_by_hand() -> None:
    game, known = lines()
    assert game == "minidungeons2" and len(known) == 4 and min(map(len, known.values())) >= 5
    assert "TO - 0.1*NT - 0.001*ST" in known["treasure_collector"]


def test_casual_play_has_the_settings_of_a_run_whose_playthroughs_are_slow() -> None:
    assert evolution_of("casual", SEEDED).to_dict().items() >= SLOW.items()


def test_the_help_names_the_numbers_that_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(capsys, "reproduce", "evolution", "--help")
    text = " ".join(capsys.readouterr().out.split())
    usual = {name: setting.playthroughs for name, setting in SETTINGS.items()}
    assert f"default: {usual['single']} with a single list, {usual['planner-300']} and" in text
    assert f"{usual['planner-1000']} in the planner, {usual['casual']} from move to move" in text
    assert f"to compare on (default: {StudySettings().held_out})" in text
