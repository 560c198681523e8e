"""Levels through the command line, for every game of the catalog."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from persona_evo.games import mapsets, registry
from persona_evo.games.guides import guide
from tests.cli.tool import run
from tests.shared import ROOT


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", sorted(registry.CATALOG))
def test_every_game_has_a_level_to_start_from(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "level", "new", "first", "--game", name)
    assert made.code == 0, made.err
    text = (here / "first.txt").read_text(encoding="utf-8")
    assert text in made.out and "A level of" in made.out
    checked = run(capsys, "level", "check", "first.txt", "--game", name)
    assert checked.code == 0 and checked.err == "" and "1 level is fine" in checked.out
    game = registry.get(name)
    assert game.structure is not None
    measured = game.structure(game.load(text, "first"))
    assert measured and set(measured) <= set(guide(game).meanings), "each number is told in words"


@pytest.mark.parametrize("name", sorted(registry.CATALOG))
def test_every_level_that_ships_has_a_line_on_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = run(capsys, "level", "list", "--game", name)
    known = mapsets.shipped(registry.get(name))
    assert listed.code == 0 and set(known.about) == set(known.levels)
    for level in known.levels:
        (line,) = [row for row in listed.out.splitlines() if row.startswith(level + " ")]
        assert known.about[level] in line and "/" not in line.split("  ")[0] and str(known.levels[level]) not in line


def test_games_of_ones_own_say_why_there_is_no_level_to_start_from(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corridor, ladder = (f"{ROOT}/tests/examples/{name}" for name in ("corridor.py:GAME", "ladder.toml"))
    for game, why in ((corridor, "that its from_text reads"), (ladder, "MAP:VARIANT@SEED")):
        made = run(capsys, "level", "new", "first", "--game", game)
        assert made.code == 2 and "no level to start from" in made.err and why in made.err
        assert not (here / "first.txt").exists()


def test_continuous_integration_reads_what_is_wrong_with_levels(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "fine.txt").write_text("XXXXXXX\nXH  T X\nX    eX\nXXXXXXX\n")
    (here / "shut.txt").write_text("XXXXXXX\nXH XT X\nX  X eX\nXXXXXXX\n")
    (here / "torn.txt").write_text("XXXXXXX\nXH ?  X\nX    eX\nXXXXXXX\n")
    ran = run(capsys, "level", "check", ".", "--junit", "junit.xml", "--summary", "summary.md")
    assert ran.code == 2
    cases = {c.get("name"): c for c in ElementTree.parse(here / "junit.xml").getroot().iter("testcase")}
    assert [c.tag for c in cases["fine"]] == [] and [c.tag for c in cases["torn"]] == ["error"]
    failure = cases["shut"].find("failure")
    assert failure is not None and str(failure.get("message")).startswith("unreachable_exit: ")
    assert cases["shut"].get("file") == "shut.txt" and "torn.txt:2:4" in str(cases["torn"].findtext("error"))
    text = (here / "summary.md").read_text()
    assert "1 problem" in text and "**problem**, shut: " in text and "torn cannot be read" in text
