"""Tests what playtests report about faulty levels: the right sentence first, requirements, and accepted findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persona_evo.games.findings import KINDS
from persona_evo.playtest import require
from tests.cli.tool import run
from tests.shared import shared

PLAY = ("--trials", 2, "--iterations", 1500, "--bound-seconds", 0, "--no-pictures", "--seed", 3, "--jobs", 1)

SOUND = """\
XXXXXXXXX
XH  P  TX
X  X X  X
X   M  eX
XXXXXXXXX
"""
AMBUSH = """\
XXXXXXXXX
XHRRRX eX
X RRR   X
XXXXXXXXX
"""
CORRIDOR = """\
XXXXXXXXXXXXXXXXX
XH ttttttttttt eX
X  XXXXXXXXXXXXXX
XXXXXXXXXXXXXXXXX
"""
WALLED = """\
XXXXXXXXX
XH  XXXTX
X   X XXX
X     TeX
XXXXXXXXX
"""
SHORTCUT = """\
XXXXXXXXXXXXXX
XHp T        X
XXXXXXXXXXXX X
XT  M   P    X
X XXXXXXXXXXXX
X      T    pX
XXXXXXXXXXX eX
XXXXXXXXXXXXXX
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a current folder with the levels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    levels = {"sound": SOUND, "ambush": AMBUSH, "corridor": CORRIDOR, "walled": WALLED, "shortcut": SHORTCUT}
    for name, text in levels.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def findings(folder: Path) -> list[dict[str, Any]]:
    """Return the findings that a folder holds."""
    content = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    assert content["schema"] == 1
    found: list[dict[str, Any]] = content["findings"]
    return found


def test_each_fault_is_the_first_thing_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("sound", "ambush", "corridor", "walled", "shortcut")
    ran = run(
        capsys,
        "playtest",
        *(f"{name}.txt" for name in names),
        *PLAY,
        "--out",
        "out",
        "--require",
        "problems@sound == 0",
        "--require",
        "lethal_start == 0",
        "--require",
        "problems@* <= 1",
        "--require",
        "problems@corridor == 0; *@walled.unreachable_object == 1",
    )
    assert ran.code == 1, ran.err
    first = {name: next((f for f in findings(here / "out") if f["level"] == name), None) for name in names}
    assert first["sound"] is None or first["sound"]["severity"] == "notice"
    told = {name: (f["kind"], f["places"]) for name, f in first.items() if f and name != "sound"}
    assert told["ambush"][0] == "lethal_start" and "2:2" in told["ambush"][1]
    assert told["corridor"][0] == "deadly_way" and "2:4" in told["corridor"][1]
    assert told["walled"] == ("unreachable_object", ["2:8"])
    assert told["shortcut"][0] == "shortcut" and set(told["shortcut"][1]) == {"2:3", "6:13"}
    died = first["ambush"]
    assert died and died["severity"] == "problem" and died["evidence"]["lost"] == 8 and died["trace"] > 0
    assert died["evidence"]["causes"] == {"wizard": 8}
    kinds = {f["kind"] for f in findings(here / "out") if f["level"] in ("ambush", "corridor")}
    assert not kinds & {"deaths", "policy_fails", "budget_too_small", "untouched_object", "stuck", "no_choice"}
    lines = ran.out.splitlines()
    assert all(len(line) <= 100 for line in lines) and lines[1].startswith("problem: ambush: ")
    checks = {line.split("  ")[1]: line.split("  ")[0] for line in lines if line.startswith(("passed  ", "FAILED  "))}
    assert checks == {
        "problems@sound == 0": "passed",
        "lethal_start == 0": "FAILED",
        "problems@* <= 1": "passed",
        "problems@corridor == 0": "FAILED",
        "*@walled.unreachable_object == 1": "passed",
    }
    rows = (here / "out/findings.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("severity,kind,level,places,players,text")
    assert len(rows) == len(findings(here / "out")) + 1


def test_accepted_findings_fail_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meant = here / "meant.toml"
    meant.write_text(
        '[[accept]]\nkind = "unreachable_object"\nlevel = "walled"\nplace = "2:8"\nreason = "it is for show"\n'
        '[[accept]]\nkind = "deadly_way"\nlevel = "walled"\nreason = "as in the book"\n',
        encoding="utf-8",
    )
    asked = ("playtest", "walled.txt", *PLAY, "--out", "out", "--require", "problems == 0")
    assert run(capsys, *asked).code == 1
    ran = run(capsys, *asked, "--accept", meant)
    assert ran.code == 0, ran.out
    assert "accepted: walled: The treasure at 2:8 cannot be reached" in ran.out and "(it is for show)" in ran.out
    assert "no longer found: deadly_way in walled (accepted in" in ran.out
    content = json.loads((here / "out/findings.json").read_text(encoding="utf-8"))
    assert [f["kind"] for f in content["accepted"]] == ["unreachable_object"]
    assert all(f["kind"] != "unreachable_object" for f in content["findings"])
    page = (here / "out/index.html").read_text(encoding="utf-8")
    assert "it is for show" in page and "no longer found: deadly_way in walled" in page
    for code, more in ((1, ()), (0, ("--accept", meant))):
        checked = run(capsys, "level", "check", "walled.txt", *more)
        assert checked.code == code, checked.out
        assert ("accepted: walled: The treasure at 2:8" in checked.out) is bool(more)
        plain = json.loads(run(capsys, "level", "check", "walled.txt", "--json", *more).out)
        assert ("accepted" in plain) is bool(more)
    meant.write_text('[[accept]]\nkind = "trap"\n', encoding="utf-8")
    for command in (asked, ("level", "check", "walled.txt")):
        wrong = run(capsys, *command, "--accept", meant)
        assert wrong.code == 2 and "meant.toml:2:8: no such kind of finding" in wrong.err


def test_requirements_on_findings_are_known_for_every_kind(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("problems", "notices", *KINDS):
        for text in (f"{kind} == 0", f"*@walled.{kind} == 0", f"runner.{kind} <= 2"):
            assert require.parse(text).measure == kind
            require.parse(text).check_names(["runner"], ["walled"], ["ST"])
    wrong = run(capsys, "playtest", "walled.txt", *PLAY, "--require", "problem == 0")
    assert wrong.code == 2 and "did you mean 'problems'" in wrong.err
    wrong = run(capsys, "playtest", "walled.txt", *PLAY, "--require", "unreachable_objects@walled == 0")
    assert wrong.code == 2 and "did you mean 'unreachable_object'" in wrong.err
    wrong = run(capsys, "playtest", "walled.txt", *PLAY, "--require", "problems@wall == 0")
    assert wrong.code == 2 and "no such level" in wrong.err and "did you mean 'walled'" in wrong.err


FAULTS = {
    "ambush": ("lethal_start", "2:2", "every continuation dies within"),
    "gauntlet": ("deadly_way", "8:5", "can be survived"),
    "shortcut": ("shortcut", "2:4", "3 steps"),
    "shortcut/walled": ("unreachable_object", "7:10", "cannot be reached"),
}


def test_the_four_faults_of_a_designer_are_named_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = shared("cases/faults")
    files = [folder / f"{name}.txt" for name in FAULTS if "/" not in name]
    ran = run(capsys, "playtest", *files, "--personas", "runner", *PLAY, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    for name, (kind, place, said) in FAULTS.items():
        level = name.partition("/")[0]
        three = [f for f in findings(tmp_path / "out") if f["level"] == level][:3]
        (found,) = [f for f in three if f["kind"] == kind]
        assert place in found["places"] and said in found["text"]


def test_levels_that_ship_have_no_problems_and_few_notices(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    levels = ("test01", "test04", "train01")
    ran = run(
        capsys,
        "playtest",
        *levels,
        *PLAY,
        "--out",
        tmp_path / "out",
        "--require",
        "problems == 0",
        "--require",
        f"notices <= {2 * len(levels)}",
    )
    assert ran.code == 0, ran.out


def test_weak_players_and_the_first_trace(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """UCB1 with a tiny budget fails everywhere, which says nothing about the level."""
    line = (
        "playtest",
        "sound.txt",
        "--policy",
        "ucb1",
        "--trials",
        2,
        "--iterations",
        5,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--seed",
        3,
        "--jobs",
        1,
    )
    ran = run(capsys, *line, "--out", "out", "--require", "problems == 0")
    assert ran.code == 0 and not {"policy_fails", "budget_too_small"} & {f["kind"] for f in findings(here / "out")}
    asked = ("playtest", "sound.txt", "--personas", "R", *PLAY[:2], "--iterations", 1, *PLAY[4:], "--out", "few")
    assert run(capsys, *asked).code == 0
    (found,) = [f for f in findings(here / "few") if f["kind"] == "budget_too_small"]
    assert found["severity"] == "notice" and found["players"] == ["runner"] and found["trace"] == 1
    assert "1 iteration was too few for the runner" in found["text"]
