"""`reproduce` as a user runs it, with the smallest budgets: whole, killed and resumed, and with its cross tables."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from persona_evo.api.studies import CONFIG
from persona_evo.studies.minidungeons import study_time
from tests.cli.tool import Ran, command, environment, run, silent
from tests.conftest import leave_unsimplified

LEVEL = """\
XXXXXXXXXX
XH  T  P X
X XXXX X X
X  M  X  X
XT X  b eX
XXXXXXXXXX
"""
TINY = (
    "--quick",
    "--generations",
    "2",
    "--population",
    "10",
    "--iterations",
    "30",
    "--playtest-iterations",
    "60",
    "--trials",
    "2",
    "--bound-seconds",
    "0",
    "--jobs",
    "1",
    "--seed",
    "5",
)
TIMES = {"seconds", "Time (s)", "seconds of wins", "seconds of all", "minutes"}


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("levels")
    for number, cell in enumerate("TPRo", 1):
        text = LEVEL.replace("X  M  X  X", f"X  M {cell}X  X")
        (folder / f"small{number}.txt").write_text(text, encoding="utf-8")
    return folder


def tables(folder: Path) -> dict[str, list[list[str]]]:
    """Return the tables of a report, without what is measured with a clock."""
    found = {}
    for path in sorted((folder / "tables").iterdir()):
        if path.name in ("correlations.csv", "correlations_named.csv", "differences.csv", "levels.csv"):
            continue
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        kept = [i for i, name in enumerate(rows[0]) if name not in TIMES]
        found[path.name] = [[row[i] for i in kept] for row in rows if not TIMES & set(row[:2])]
    return found


class Whole(NamedTuple):
    """A reproduction that was never stopped: its folder, and what it printed."""

    folder: Path
    printed: Ran


@pytest.fixture(scope="module")
def finished(levels: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole") / "out"
    with pytest.MonkeyPatch.context() as patch:
        leave_unsimplified(patch)
        done = silent("reproduce", "minidungeons", "--levels", levels, "--out", folder, *TINY)
    assert done.code == 0, done.err
    return Whole(folder, done)


@pytest.mark.usefixtures("unsimplified")
def test_whole_then_killed_and_resumed(
    levels: Path, finished: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (whole, done), killed = finished, tmp_path / "killed"
    assert "These are not all of the paper's maps" in done.out and "Made with --quick" in done.out
    assert "A map has 2 playthroughs, which is little" in done.out and f"start with {whole / 'index.html'}" in done.out
    assert "playtest, 64/64 playthroughs" in done.err
    drawn = run(capsys, "runs", "show", whole, "--figures", tmp_path / "figures", "--format", "svg")
    assert drawn.code == 0, drawn.err
    names = {file.name.partition("-")[0] for file in (tmp_path / "figures").iterdir()}
    assert {"figure3", "figure4a", "figure4b", "figure5a", "figure5d", "figure6d", "fitness"} <= names
    page = (whole / "index.html").read_text(encoding="utf-8")
    for words in ("Table II", "Table III", "Table IV", "Correlations of section VI-D", "Figure 6 (d)", "numba"):
        assert words in page

    arguments = command("reproduce", "minidungeons", "--levels", levels, "--out", killed, *TINY)
    process = subprocess.Popen(arguments, env=environment(), stderr=subprocess.PIPE, text=True)
    second = killed / "runs" / "evolution" / "monster_killer-1" / "config.json"
    end = time.monotonic() + 120
    while not second.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert second.exists() and not (killed / "index.html").exists()
    kept = (killed / "runs" / "evolution" / "runner-1" / "policy.json").read_bytes()

    again = run(capsys, "reproduce", "minidungeons", "--resume", killed, "--jobs", "1")
    assert again.code == 0, again.err
    assert "evolution of runner" not in again.err and "evolution of completionist" in again.err
    assert (killed / "runs" / "evolution" / "runner-1" / "policy.json").read_bytes() == kept
    ours, theirs = tables(killed), tables(whole)
    policy = json.loads(kept)
    if policy["simplification"] != "not tried":  # the killed process had simplified that one
        ours["equations.csv"] = theirs["equations.csv"]
    assert ours == theirs

    same = run(capsys, "reproduce", "minidungeons", "--levels", levels, "--out", whole, *TINY)
    assert same.code == 0 and "evolution of" not in same.err and "playthroughs" not in same.err
    other = run(capsys, "reproduce", "minidungeons", "--levels", levels, "--out", whole, *TINY, "--trials", "3")
    assert other.code == 2 and "the folder holds another reproduction" in other.err and "trials 2" in other.err


@pytest.mark.usefixtures("unsimplified")
def test_cut_short_goes_on_and_nothing_gets_mixed_up(
    levels: Path, finished: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, cut = finished.folder, tmp_path / "cut"
    short = run(capsys, "reproduce", "minidungeons", "--levels", levels, "--out", cut, *TINY, "--for", "0.001s")
    assert short.code == 2 and "time ran out before any formula was evaluated" in short.err, short.err
    on = run(capsys, "reproduce", "minidungeons", "--resume", cut, "--jobs", "1")
    assert on.code == 0 and "lack of time" not in on.out, on.err
    assert tables(cut) == tables(whole)
    runner, other = (whole / "runs" / "evolution" / f"{name}-1" for name in ("runner", "completionist"))
    strange = {
        "config.json": (other / "config.json").read_bytes(),
        "policy.json": (runner / "policy.json").read_bytes().replace(b'"name": "runner-1"', b'"name": "runner-2"'),
    }
    for name, content in strange.items():
        kept = (runner / name).read_bytes()
        (runner / name).write_bytes(content)
        wrong = run(capsys, "reproduce", "minidungeons", "--resume", whole, "--jobs", "1")
        assert wrong.code == 2 and "another evolution" in wrong.err and f"runner-1/{name}" in wrong.err, wrong.err
        (runner / name).write_bytes(kept)


@pytest.mark.usefixtures("unsimplified")
def test_time_that_is_up_in_the_playtests_stops_them(
    levels: Path,
    finished: Whole,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def up(self: study_time.StudyTime) -> None:
        self.end = 0.0 if self.end is not None else None

    monkeypatch.setattr(study_time.StudyTime, "of_evolution", up)
    cut = tmp_path / "cut"
    short = run(capsys, "reproduce", "minidungeons", "--levels", levels, "--out", cut, *TINY, "--for", "1h")
    assert short.code == 2 and "the time is up: playtest" in short.err and f"--resume {cut}" in short.err, short.err
    on = run(capsys, "reproduce", "minidungeons", "--resume", cut, "--jobs", "1")
    assert on.code == 0, on.err
    assert tables(cut) == tables(finished.folder)


@pytest.mark.usefixtures("unsimplified")
def test_cross_tables(levels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few, out = tmp_path / "few", tmp_path / "out"
    few.mkdir()
    for name in ("small1.txt", "small2.txt"):
        shutil.copy(levels / name, few)
    done = run(
        capsys, "reproduce", "minidungeons", "--levels", few, "--out", out, *TINY, "--cross", "--protocol", "modern"
    )
    assert done.code == 0, done.err
    found = tables(out)
    assert [row[0] for row in found["cross_valued.csv"]][1:] == ["R", "MK", "TC", "C"]
    assert found["cross_policies.csv"][0][1:] == ["R", "MK", "TC", "C"]
    assert found["cross_transfer_runner.csv"][0][1:] == ["small1", "small2"]
    assert found["cross_budgets.csv"][0][1:] == ["evolved", "UCB1", "UCB1, 2 times", "UCB1, 4 times"]
    assert "What an evolved policy is worth in search" in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("reproduce", "minidungeons"),
        ("reproduce minidungeon", "did you mean 'minidungeons'"),
        ("reproduce minidungeons --protocol papre", "did you mean 'paper'"),
        ("reproduce minidungeons --levels nowhere", "no such level"),
        ("reproduce minidungeons --runs 0", "from 1 to"),
        ("reproduce minidungeons --for soon", "not a duration"),
        ("reproduce minidungeons --population 7", "multiple of islands"),
        ("reproduce minidungeons --resume nowhere", "not the folder of a reproduction"),
        ("reproduce minidungeons --resume nowhere --trials 3", "--trials cannot be combined with --resume"),
        ("reproduce minidungeons --resume nowhere --quick", "--quick cannot be combined with --resume"),
        ("reproduce minidungeons --quick --out taken", "cannot be made"),
    ],
)
def test_what_is_typed_wrong(
    line: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    ran = run(capsys, *line.split())
    assert ran.code == 2 and says in ran.err and "Traceback" not in ran.err


def test_clusters_are_checked_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capsys, "reproduce", "minidungeons", "--out", tmp_path / "out", "--address", "nonsense")
    assert ran.code == 2 and "address" in ran.err and not (tmp_path / "out").exists()


def test_a_damaged_folder_has_no_figures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(json.dumps({"schema": 1, "study": "minidungeons", "seed": 4}), encoding="utf-8")
    ran = run(capsys, "runs", "show", tmp_path, "--figures", tmp_path / "figures")
    assert ran.code == 2 and "damaged" in ran.err
