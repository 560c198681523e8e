"""Tests `playtest --skill` and `--calibrate` as a user types them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.tool import run

LEVEL = """\
XXXXXXXXXXXXX
XH    o     X
X   X   X   X
X  o    o   X
X    X    R X
X  t  o    eX
XXXXXXXXXXXXX
"""
EASY = "XXXXXXX\nXH   eX\nXXXXXXX\n"


@pytest.fixture
def levels(tmp_path: Path) -> Path:
    folder = tmp_path / "levels"
    folder.mkdir()
    for number, text in enumerate((LEVEL, EASY, LEVEL.replace("R", " "), EASY.replace("   ", " t "))):
        (folder / f"level{number}.txt").write_text(text, encoding="utf-8")
    return folder


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_whole_command(tmp_path: Path, levels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text("level,pass_rate\nlevel0,20%\nlevel1,0.9\nlevel2,0.4\nlevel3,95%\nlevel9,1\n", encoding="utf-8")
    out = tmp_path / "run"
    ran = run(
        capsys,
        "playtest",
        levels,
        "--personas",
        "runner",
        "--skill",
        "novice,perfect",
        "--trials",
        4,
        "--iterations",
        300,
        "--seed",
        4,
        "--jobs",
        1,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--calibrate",
        rates,
        "--require",
        "win_rate == 1; runner (novice)@level0.win_rate < 90%",
        "--out",
        out,
    )
    assert ran.code == 0, ran.out + ran.err
    assert "no playthroughs of level9" in ran.err
    for title in ("runner (novice)", "win rate by level and skill", "damage by level and skill"):
        assert title in ran.out
    assert "difficulty for these simulated players, not for people" in " ".join(ran.out.split())
    table = ran.out[ran.out.index("calibration") :]
    assert "novice" in table and "all win rates are 100 %" in table
    found = {(r["level"], r["skill"]): r for r in rows(out / "difficulty.csv")}
    assert len(found) == 10 and float(found["level1", "novice"]["win_rate"]) == 1
    assert float(found["level0", "novice"]["win_rate"]) < float(found["level0", "perfect"]["win_rate"]) == 1
    assert float(found["level0", "novice"]["damage"]) > float(found["level1", "novice"]["damage"]) == 0
    points = [r for r in rows(out / "health.csv") if (r["level"], r["player"]) == ("level1", "runner (perfect)")]
    assert [float(r["mean"]) for r in points] == [10.0] * 5
    assert [r["note"] for r in rows(out / "calibration.csv")] == ["", "all win rates are 100 %"]
    assert {r["skill"] for r in rows(out / "playthroughs.csv")} == {"novice", "perfect"}
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Levels of skill" in page and "Difficulty curve" in page
    assert "runner: mean hit points" in (out / "levels" / "level0.html").read_text(encoding="utf-8")
    assert run(capsys, "playtest", "--resume", out, "--bound-seconds", 0, "--no-pictures", "--jobs", 1).code == 0


@pytest.mark.parametrize(
    "words, told",
    [
        ("--skill novise", "did you mean 'novice'"),
        ("--skill novice,novice", "named twice"),
        ("--skill novice --game puyo --agent mover", "cannot have a level of skill"),
        ("--skill novice --game colosseum", "single-player games"),
        ("--resume somewhere --skill novice", "cannot be combined with --resume"),
        ("--calibrate nothing.csv", "there is no such file"),
    ],
)
def test_what_cannot_be_is_refused(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = next((name for name in ("colosseum", "puyo") if name in words), "")
    level = [] if "--resume" in words else [{"colosseum": "open05", "puyo": "short01"}.get(game, "test01")]
    ran = run(capsys, "playtest", *level, *([] if game else ["--personas", "runner"]), *words.split())
    assert ran.code == 2 and told in ran.err and "Traceback" not in ran.err


def test_help_has_the_levels_of_skill(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(capsys, "playtest", "--help")
    text = capsys.readouterr().out
    assert "novice  5             2       70 %     1\n" in text and "--calibrate FILE" in text


def test_a_python_class_has_levels_of_skill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hall.txt").write_text("$.@.D\n", encoding="utf-8")
    (tmp_path / "walker.toml").write_text(
        'name = "walker"\ngame = "corridor"\npriority = "OUT"\nutility = "OUT + 0.5 * COINS - 0.01 * ST"\n',
        encoding="utf-8",
    )
    ran = run(
        capsys,
        "playtest",
        tmp_path / "hall.txt",
        "--game",
        "tests.examples.corridor:GAME",
        "--personas",
        tmp_path / "walker.toml",
        "--skill",
        "novice,perfect",
        "--trials",
        2,
        "--iterations",
        100,
        "--seed",
        1,
        "--jobs",
        1,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--out",
        tmp_path / "run",
    )
    assert ran.code == 0, ran.err
    assert "walker (novice)" in ran.out and "win rate by level and skill" in ran.out
