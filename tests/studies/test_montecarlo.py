"""`persona-evo reproduce montecarlo`: the thesis' experiments in small, and what it says of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from persona_evo.errors import RunError
from persona_evo.experiments.job import ExperimentResults
from persona_evo.studies.keeping import CONFIG
from persona_evo.studies.montecarlo import chapters as study
from persona_evo.studies.montecarlo.chapters import AGREES, ALIKE, DIFFERS, NONE, UNLIKE, WEAK
from tests.cli.tool import run
from tests.experiments.test_experiment import made

Capture = pytest.CaptureFixture[str]


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
    assert other.code == 2 and "found: other seed 1\n" in other.err and "--resume" in other.err
    assert (
        "--seed cannot be combined with --resume"
        in run(capsys, "reproduce", "montecarlo", "--resume", out, "--seed", 2).err
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
    results: ExperimentResults = made({"greedy": range(len(lazy)), "unrestricted": unrestricted, "lazy": lazy})
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
