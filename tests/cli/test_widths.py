"""Tests that the tables of every command fit the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_evo.report.layout import columns
from tests.cli.tool import run

PLAY = ("--trials", 2, "--iterations", 60, "--jobs", 1, "--seed", 5)


@pytest.mark.parametrize(
    "words",
    [
        ("policy", "list"),
        ("level", "check", "--structure", "train01", "train02", "train03", "test01"),
        ("persona", "check", "runner", "--levels", "train01"),
        (
            "playtest",
            "train01",
            "train02",
            *PLAY,
            "--bound-seconds",
            0,
            "--no-pictures",
            "--baseline",
            "ucb1",
            "--require",
            "*@*.win_rate >= 95%",
        ),
        ("compare", "train01", "train02", "--personas", "R,TC", *PLAY, "--all"),
        (
            "match",
            "colosseum",
            "random",
            "uct_walls",
            "--games",
            2,
            "--size",
            6,
            "--iterations",
            20,
            "--jobs",
            1,
            "--no-pictures",
        ),
    ],
    ids=lambda words: words[0],
)
def test_no_table_is_wider_than_the_terminal(
    words: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(capsys, *words)
    assert ran.code in (0, 1), ran.err
    tables = [part for part in ran.out.split("\n\n") if "──" in part]
    assert tables and all(columns(line) <= 80 for part in tables for line in part.splitlines()), ran.out
