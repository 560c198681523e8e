"""The layout of the publication's tables, with playthroughs made by hand."""

from __future__ import annotations

import csv
from pathlib import Path

from persona_evo.report import figures
from persona_evo.studies.minidungeons import figures as study_figures
from persona_evo.studies.minidungeons import report as reproduction
from persona_evo.studies.minidungeons import results
from tests.studies.test_minidungeons import material


def test_table_two(tmp_path: Path) -> None:
    m = material(tmp_path)
    table = reproduction.table2(m, results.table2(m))
    assert table.headers == ["Metric", "R", "MK", "TC", "C"]
    assert [row[0] for row in table.rows[:7]] == [
        "Evolved",
        "Monsters (%)",
        "Potions (%)",
        "Treasures (%)",
        "Interactive objects (%)",
        "Win rate (%)",
        "Time (s)",
    ]
    assert table.rows[1][2] == "67 ± 2 | 56.0 ± 17.3 | 80.0?"
    assert table.rows[3][1] == "10 ± 1 | 46.0 ± 5.8 | –"
    assert table.rows[9][0] == "Baseline" and table.rows[14][1] == "10 ± 3 | 0.0 (0.0–39.0) | 100.0?"
    assert table.rows[7][1].startswith("– | 0.460 ± ") and table.rows[7][1].endswith(" | 0.900?")
    assert any("not proven" in note for note in table.notes)


def test_table_three(tmp_path: Path) -> None:
    m = material(tmp_path)
    table = reproduction.table3(m, results.table3(m))
    assert table.headers[:5] == ["Metric", "R E", "R B", "MK E", "MK B"]
    assert table.rows[0] == ["Monster ratio", "8 | 1", "1 | 0", "10 | 1", "0 | 0", "10 | 1", "1 | 0", "10 | 1", "0 | 0"]
    assert [row[0] for row in table.rows] == [row.name for row in m.published.rows]


def test_table_four(tmp_path: Path) -> None:
    m = material(tmp_path)
    table = reproduction.table4(m, results.table4(m), m.published.rows[0])
    assert table.headers == ["", "R", "MK", "TC", "C", "R B", "MK B", "TC B", "C B"]
    assert table.rows[1] == ["MK", "8 | 1", "–", "6 | 1", "3 | 1", "5 | 0", "–", "5 | 0", "2 | 0"]
    assert table.rows[3][3] == "? | 0"


def test_the_whole_folder(tmp_path: Path) -> None:
    report = reproduction.write(material(tmp_path))
    text = report.page.read_text(encoding="utf-8")
    assert "other levels stand in" in text and "the paper's maps" in report.text
    assert "6.235 * ST * (PE * PE) * (PE + 1) + R * (1 - HL)" in text
    names = {p.name for p in (tmp_path / "tables").iterdir()}
    assert {"table2.csv", "table3.csv", "table4.csv", "correlations_named.csv", "equations.csv"} <= names
    with (tmp_path / "tables" / "table2.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["Metric", "R", "MK", "TC", "C"] and rows[2][0] == "Monsters (%)"
    pictures = {p.name for p in (tmp_path / "figures").iterdir()}
    assert {"objects.svg", "fitness_runner.svg"} <= pictures and text.count("<svg") >= 8
    assert len(list((tmp_path / "policies").iterdir())) == 4


def test_the_papers_figures(tmp_path: Path) -> None:
    drawings = list(study_figures.drawings(material(tmp_path)))
    names = {d.name[0] for d in drawings}
    assert {"figure3", "figure4a", "figure4b", "fitness"} <= names
    assert figures.rendered(drawings[0].content, "pdf").startswith(b"%PDF")
