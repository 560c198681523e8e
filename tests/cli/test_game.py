"""Tests a game of one's own: written by one command, checked by another, the same as a class and as compiled rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tool import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_class_is_written_and_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "game", "new", "orchard_one")
    assert made.code == 0 and "persona-evo game check orchard_one.py orchard_one.txt" in made.out
    checked = run(capsys, "game", "check", "orchard_one.py", "orchard_one.txt")
    assert checked.code == 0 and "nothing wrong" in checked.out
    again = run(capsys, "game", "new", "orchard_one")
    assert again.code == 2 and "--force" in again.err
    assert run(capsys, "game", "new", "no-name").code == 2


def test_compiled_rules_are_the_same_game_as_their_class_until_one_of_them_is_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "game", "new", "orchard_two", "--compiled").code == 0
    check = ("game", "check", "orchard_two.py", "orchard_two.txt", "--like", "orchard_two.py:CLASS", "--seed", "1")
    checked = run(capsys, *check)
    assert checked.code == 0 and "the same game as orchard_two.py:CLASS" in checked.out
    text = Path("orchard_two.py").read_text().replace("orchard_two", "orchard_three")
    Path("orchard_three.py").write_text(text.replace("s[GEMS_LEFT] -= 1", "s[GEMS_LEFT] -= 0"))
    wrong = run(capsys, "game", "check", "orchard_three.py", "orchard_two.txt", "--like", "orchard_three.py:CLASS")
    assert wrong.code == 2
    assert "not the same game" in wrong.err
    assert "found: GEMS 0" in wrong.err and "expected: GEMS 0.33" in wrong.err


@pytest.mark.parametrize(
    ("rule", "instead", "words"),
    [
        ("s[HP] -= 1", "s[-1] -= 1", "index -1"),
        ("s[HP] -= 1", "s[100000] = 5", "index 100000"),
        ("s[HP] -= 1", "s[HP] = s[HP] // 0", "zero"),
        ("actions[count] = action", "actions[count] = action + 77", "legal names action"),
        ("    to = -1\n", "    to = goal(t, s, action)\n", "calls itself"),
    ],
)
def test_rules_that_cannot_be_trusted_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str], rule: str, instead: str, words: str
) -> None:
    assert run(capsys, "game", "new", "orchard_five", "--compiled", "--force").code == 0
    text = Path("orchard_five.py").read_text()
    name = f"orchard_{abs(hash(instead))}"
    Path(f"{name}.py").write_text(text.replace(rule, instead).replace("orchard_five", name))
    wrong = run(capsys, "game", "check", f"{name}.py", "orchard_five.txt", "--seed", "1")
    assert wrong.code == 2 and words in wrong.err and "Traceback" not in wrong.err


def test_compiled_rules_are_planned_as_their_class_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "game", "new", "orchard_four", "--compiled").code == 0
    found = []
    for game, name in (("GAME", "orchard_four"), ("CLASS", "orchard_four_class")):
        utility = "GEMS + 0.5 * OUT - 0.01 * ST"
        Path("tidy.toml").write_text(f'game = "{name}"\npriority = "GEMS"\nutility = "{utility}"\n')
        what = ("orchard_four.txt", "--game", f"orchard_four.py:{game}", "--persona", "tidy.toml")
        found.append(run(capsys, "solve", *what, "--iterations", "300", "--seed", "1"))
    assert [one.code for one in found] == [0, 0]
    assert found[0].out.splitlines()[-2:] == found[1].out.splitlines()[-2:]
