"""The study of other games with tiny settings: it continues after an interruption, and its two files agree."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import pytest

from tests.benchmarks import other_games


def test_a_study_goes_on_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(
        other_games.STUDIES["roguelike2d"],
        levels=(6, 3, 4),
        iterations=60,
        trials=1,
        settings={**other_games.SMALL, "population": 12, "levels_a_generation": 4},
    )
    monkeypatch.setitem(other_games.STUDIES, "roguelike2d", small)
    command = ["roguelike2d", "--runs", "2", "--playthroughs", "160", "--out", str(tmp_path)]
    assert other_games.main([*command, "--only", "evolved 2"]) == 0
    first = (tmp_path / "roguelike2d.jsonl").read_text(encoding="utf-8")
    assert json.loads(first)["step"] == "evolved 2" and not (tmp_path / "roguelike2d.json").exists()
    assert other_games.main(command) == 0
    assert (tmp_path / "roguelike2d.jsonl").read_text(encoding="utf-8").startswith(first)
    result = json.loads((tmp_path / "roguelike2d.json").read_text(encoding="utf-8"))
    assert list(result["policies"]) == ["ucb1", "evolved 1", "start 1", "evolved 2", "start 2", "tuned ucb1"]
    with (tmp_path / "roguelike2d.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 4
    utilities = {key: [float(r["utility"]) for r in rows if r["policy"] == key] for key in result["policies"]}
    means = {key: sum(values) / len(values) for key, values in utilities.items()}
    assert means["ucb1"] == pytest.approx(result["policies"]["ucb1"]["utility"], rel=1e-5)
    evolved = (means["evolved 1"] + means["evolved 2"]) / 2
    assert evolved - means["ucb1"] == pytest.approx(result["differences"]["evolved - ucb1"]["value"], abs=1e-5)
