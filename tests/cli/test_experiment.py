"""The commands on experiments, for games of the catalog and connected ones, and the thesis' experiments in small."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from persona_evo.errors import RunError
from persona_evo.playtest.experiment.course import Results
from persona_evo.studies.keeping import CONFIG
from persona_evo.studies.montecarlo import chapters as study
from persona_evo.studies.montecarlo.chapters import AGREES, ALIKE, DIFFERS, NONE, UNLIKE, WEAK
from tests.cli.tool import run
from tests.connect.driving import describe, none_left
from tests.playtest.test_experiment import made

Capture = pytest.CaptureFixture[str]


def test_from_a_new_file_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "experiment", "new", "mine").code == 0
    again = run(capsys, "experiment", "new", "mine")
    assert again.code == 2 and "--force" in again.err
    small = ("experiment", "mine.toml", "--rollouts", 40, "--replicates", 2, "--jobs", 1)
    done = run(capsys, *small)
    assert done.code == 0 and "Holm" in done.out and "regular / greedy" in done.out
    folder = tmp_path / "runs" / "experiments" / "mine"
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Mann-Whitney" in page
    assert page.count("<img") == 4 and page.count("<svg") == 2
    assert (folder / "figures" / "growth.svg").stat().st_size > 3000
    assert len(list((folder / "best").glob("*.json"))) == 4
    with (folder / "tables" / "comparisons.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 4
    lines = (folder / "results.jsonl").read_bytes()
    assert lines.count(b"\n") == 8
    assert run(capsys, *small).code == 0 and (folder / "results.jsonl").read_bytes() == lines
    other = run(capsys, *small[:-2], "--seed", 1)
    assert other.code == 2 and "no such option" in other.err
    shown = run(capsys, "experiment", "replay", folder, "--cell", "regular / lazy")
    assert shown.code == 0 and shown.out.startswith("regular / lazy: score ") and (folder / "replay.gif").is_file()
    named = run(capsys, "experiment", "replay", folder, "-o", tmp_path / "r.png")
    assert named.code == 2 and "ends in .gif" in named.err and not (tmp_path / "r.png").exists()
    wrong = run(capsys, "experiment", "replay", folder, "--cell", "regular / lasy")
    assert wrong.code == 2 and "did you mean 'regular / lazy'" in wrong.err
    assert "experiment new NAME" in run(capsys, "experiment", "new").err
    assert "experiment.json" in run(capsys, "experiment", "replay", tmp_path).err


@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked for with ps")
def test_a_connected_game_and_its_replay(tmp_path: Path, capsys: Capture) -> None:
    describe(tmp_path, top="[variants.loose]\nx = 1")
    file = tmp_path / "climb.toml"
    file.write_text(
        'game = "ladder.toml"\nlevel = "long@3"\nreplicates = 2\nrollouts = 40\nworkers = 2\n'
        'uct_constant = 5\n[variants.firm]\n[variants.loose]\nvariant = "loose"\n',
        encoding="utf-8",
    )
    done = run(capsys, "experiment", file, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "firm" in done.out and "loose" in done.out
    levels = {
        line.split('"level": "')[1].split('"')[0]
        for line in (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    }
    assert levels == {"long@3", "long:loose@3"}
    shown = run(capsys, "experiment", "replay", tmp_path / "out", "--cell", "loose", "--no-screen")
    assert shown.code == 0 and "as when it was searched" in shown.out
    assert none_left(tmp_path)


def test_the_thesis_experiments_in_small(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "again"
    small = ("reproduce", "montecarlo", "--replicates", 2, "--rollouts", 12, "--jobs", 1, "--out", out)
    done = run(capsys, *small)
    assert done.code == 0, done.err
    assert "14 pairs:" in done.out and "3.4e-8 to 4.5e-7" in done.out
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 18 and "figure 5.4" in page and "The thesis and here" in page
    assert '<div class="dense wrapped">' in page and ".wrapped th, .wrapped td { white-space: normal" in page
    with (out / "tables" / "agreement.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14 and {row["experiment"] for row in rows} == {p.name for p in (out / "runs").iterdir()}
    lines = {p.parent.name: p.read_bytes() for p in (out / "runs").glob("*/results.jsonl")}
    assert run(capsys, "reproduce", "montecarlo", "--resume", out, "--jobs", 1).out == done.out
    assert lines == {p.parent.name: p.read_bytes() for p in (out / "runs").glob("*/results.jsonl")}
    other = run(capsys, *small, "--seed", 2)
    assert other.code == 2 and "found: seed 1" in other.err and "--resume" in other.err
    assert (
        "--seed does not go with --resume" in run(capsys, "reproduce", "montecarlo", "--resume", out, "--seed", 2).err
    )


def test_the_thesis_is_all_there() -> None:
    thesis = study.load()
    assert (thesis.replicates, thesis.rollouts) == (20, 30_000)
    for chapter in thesis.chapters:
        labels = {cell.label for cell in chapter.experiment.cells}
        assert chapter.said and all({said.a, said.b} <= labels and said.why for said in chapter.said)
        assert chapter.experiment.cells[0].search.rollouts == 30_000
    constants = [c.search.uct_constant for c in thesis.chapters[5].experiment.cells]
    assert constants == [2, 200, 1000]


@pytest.mark.parametrize(
    ("lazy", "unrestricted", "kind"),
    [
        (range(20, 30), range(10), AGREES),
        (range(10), range(20, 30), DIFFERS),
        ((1, 3, 5, 8), (1, 2, 5, 7), WEAK),
        ((1, 2, 5, 7), (1, 3, 5, 8), NONE),
    ],
)
def test_verdicts(lazy: range, unrestricted: range, kind: str) -> None:
    chapter = study.load().chapters[0]
    results: Results = made({"greedy": range(len(lazy)), "unrestricted": unrestricted, "lazy": lazy})
    verdict = study.verdicts(chapter, results)[0]
    assert verdict.said.words == "lazy > unrestricted" and verdict.kind == kind
    assert (verdict.said.why in verdict.words()) == (kind in (DIFFERS, NONE))


def test_no_difference_is_a_finding_too() -> None:
    chapter = study.load().chapters[2]
    assert study.verdicts(chapter, made({"flat": range(8), "factored": range(8)}))[0].kind == ALIKE
    apart = study.verdicts(chapter, made({"flat": range(20, 28), "factored": range(8)}))[0]
    assert apart.kind == UNLIKE and apart.here == "flat > factored"


def test_a_folder_of_another_study_is_told(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text('{"schema": 1, "study": "minidungeons"}', encoding="utf-8")
    with pytest.raises(RunError, match="another study"):
        study.reopen(tmp_path)


def test_a_replay_of_several_goals_is_of_the_first(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        'game = "its_alive"\nlevel = "small01"\nreplicates = 2\nrollouts = 40\nuct_constant = 0\n'
        '[settings]\nchoices = "factored"\n[players.own]\n[players.high]\nscore = "PT + 100000"\n',
        encoding="utf-8",
    )
    done = run(capsys, "experiment", file, "--out", tmp_path / "out", "--jobs", 1)
    assert done.code == 0 and "not comparable" in done.out and "scores more" not in done.out, done.out + done.err
    assert "note: uct_constant 0 is far from the scores" in done.out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "uct_constant 0 is far from the scores" in page and "not comparable" in page
    assert not (tmp_path / "out" / "tables" / "comparisons.csv").exists()
    shown = run(capsys, "experiment", "replay", tmp_path / "out")
    assert shown.code == 0 and shown.out.startswith("own: score ") and "--cell" in shown.err
