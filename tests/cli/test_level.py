"""Tests the level commands for every game of the catalog."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import persona_evo.api as pe
from persona_evo.games import mapsets, registry
from persona_evo.games.guides import guide
from tests.cli.tool import run
from tests.shared import ROOT


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", sorted(registry.CATALOG))
def test_every_game_has_a_level_to_start_from(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "level", "new", "first", "--game", name)
    assert made.code == 0, made.err
    text = (here / "first.txt").read_text(encoding="utf-8")
    assert text in made.out and "A level of" in made.out
    checked = run(capsys, "level", "check", "first.txt", "--game", name)
    said = [line for line in checked.err.splitlines() if not line.startswith("compil")]
    assert checked.code == 0 and said == [] and re.search("^1 level is fine$", checked.out, re.MULTILINE)
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


SHUT = "XXXXXXXXX\nXH   XTXX\nX    XXXX\nX      eX\nXXXXXXXXX\n"


def test_a_check_names_problems_and_notices_and_fails_only_for_problems(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "shut.txt").write_text(SHUT)
    (here / "trap.txt").write_text("XXXXXXXXX\nXH  t  eX\nXX  X XXX\nXXXXXXXXX\n")
    checked = run(capsys, "level", "check", "shut.txt", "trap.txt")
    assert checked.code == 1 and checked.out.endswith("1 of 2 levels has problems\n")
    assert "structure" not in checked.out
    assert "problem (unreachable_object): The treasure at 2:7 cannot be reached" in checked.out
    assert "notice (forced_hazard): Every way to the exit leads over the trap at 2:5" in checked.out
    fine = run(capsys, "level", "check", "trap.txt")
    assert fine.code == 0 and "notice (forced_hazard)" in fine.out
    assert fine.out.endswith("1 level without problems, 1 notice\n")
    (here / "wrong.txt").write_text("XXXX\nXH?X\nXXXX\n")
    assert run(capsys, "level", "check", ".").code == 2


def test_a_check_as_json_is_what_python_gives(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "shut.txt").write_text(SHUT)
    checked = run(capsys, "level", "check", "shut.txt", "--json")
    data = json.loads(checked.out)
    assert checked.code == 1 and checked.err == "" and data["schema"] == 1
    (finding,) = data["findings"]
    assert finding["kind"] == "unreachable_object" and finding["places"] == ["2:7"] and finding["severity"] == "problem"
    assert [f.to_dict() for f in pe.check_levels(here / "shut.txt")] == data["findings"]


def test_copies_of_a_level_are_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, char in (("easy", " "), ("hard", "t")):
        (here / f"{name}.txt").write_text(f"XXXXXXXXX\nXH  {char}  eX\nXX  X XXX\nXXXXXXXXX\n")
    checked = run(capsys, "level", "check", "easy.txt", "hard.txt")
    assert checked.code == 0 and "hard is nearly the same map as easy, and harder" in checked.out
    assert "1 tile differs: 2:5" in checked.out


def test_games_without_an_analysis_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    checked = run(capsys, "level", "check", "all", "--game", "colosseum")
    assert checked.code == 0 and "Colosseum Survival! has no level analysis" in checked.out


def test_states_that_were_not_looked_at_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["#" * 12, "#@" + " " * 8 + ">#", *["#" + "$   $   $ #"] * 3, "#" * 12]
    (here / "wide.txt").write_text("0\n" + "\n".join(rows) + "\n")
    checked = run(capsys, "level", "check", "wide.txt", "--game", f"{ROOT}/tests/examples/vault.py")
    assert checked.code == 0 and "so it says nothing about what is impossible" in checked.out


def test_help_has_the_legend(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(capsys, "level", "--help")
    shown = capsys.readouterr().out
    assert "goblin wizard" in shown and "hero start, exactly one" in shown


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
