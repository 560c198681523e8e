"""The benchmark command prints and writes its table (what the figures are is not tested: machines differ)."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from persona_evo.seeds import stream
from tests.benchmarks import native, rates, studies
from tests.benchmarks.__main__ import BENCHMARKS, main
from tests.benchmarks.levels import maps
from tests.benchmarks.report import FIGURE, HEADINGS, REACHED, SHORT, SKIPPED, Row, judge, markdown

HAS_C = shutil.which("gcc") is not None


def test_the_quick_table_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["playouts", "search", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [c.strip() for c in printed[0].strip("|").split("|")] == list(HEADINGS)
    data = json.loads((tmp_path / "benchmarks.json").read_text())
    assert len(data["rows"]) == len(printed) - 2 == 1 + 1 + len(rates.FORMULAS)
    assert all(row["verdict"] in (REACHED, SHORT, FIGURE, SKIPPED) for row in data["rows"])
    assert ("numba" in data["machine"]) and data["options"]["quick"]
    assert printed[2] in (tmp_path / "benchmarks.md").read_text()


def test_a_game_for_two_is_measured_beside_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["colosseum", "--quick"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 4 and all("Colosseum" in row for row in rows)
    assert ["course 611/s" in rows[0], "course 85/s" in rows[1], "published 36 " in rows[3]] == [True] * 3


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["playout"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert all(name in said for name in BENCHMARKS)


@pytest.mark.skipif(not HAS_C, reason="no gcc on this machine")
def test_c_and_python_play_the_same_games_and_grow_the_same_trees() -> None:
    for level in maps()[:3]:
        assert rates.first_difference(level, 1_000, 11) is None
        assert rates.same_tree(level, 2_000, 11)


@pytest.mark.skipif(not HAS_C, reason="no gcc on this machine")
def test_the_comparison_with_c_finds_a_difference() -> None:
    level = maps()[0]
    a, b = native.trace(level, 300, rates.LONGEST, stream(1)), native.trace(level, 300, rates.LONGEST, stream(2))
    assert not np.array_equal(a, b)
    assert native.playouts(level, 300, rates.LONGEST, stream(1)) == rates.playouts(level, 300, stream(1))


def test_a_ratio_below_the_goal_is_called_short() -> None:
    assert judge("w", "r", "m", 0.59, 0.6).verdict == SHORT
    assert judge("w", "r", "m", 0.6, 0.6).verdict == REACHED
    assert markdown([Row("what", "goal", "12", 0.1234)]).splitlines()[2].split("|")[4].strip() == "0.123"


def test_a_study_writes_its_table_as_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert studies.main(["search", "--quick", "--trials", "1", "--out", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / "search.csv").open(encoding="utf-8")))
    assert len(rows) == len(capsys.readouterr().out.splitlines()) == 2 * 2 * 4
    assert {r["what"] for r in rows} == {"everything", "anytime"}
    for row in rows[8:]:
        base = next(r for r in rows[:8] if (r["persona"], r["of"]) == (row["persona"], row["of"]))
        assert float(row["difference"]) == pytest.approx(float(row["utility"]) - float(base["utility"]), abs=2e-4)
    with pytest.raises(SystemExit):
        studies.main(["serch"])
