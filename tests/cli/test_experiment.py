"""Tests the experiment commands for catalog and connected games, and small versions of the thesis' experiments."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from tests.cli.tool import run
from tests.connect.driving import describe, none_left

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


def test_many_levels_are_counted_while_they_are_loaded(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "many.toml"
    file.write_text('game = "its_alive"\nlevel = "small01@1-100"\nreplicates = 1\nrollouts = 2\n', encoding="utf-8")
    done = run(capsys, "experiment", file, "--out", tmp_path / "out", "--jobs", 1)
    assert done.code == 0, done.err
    assert "loading levels: 1 of 100\n" in done.err and "loading levels: 100 of 100\n" in done.err


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
    assert shown.code == 0 and "as in the search" in shown.out
    assert none_left(tmp_path)


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
