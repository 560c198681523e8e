"""Tests that failures are replayed from their file and shrunk to the choices that matter."""

import json

import pytest

from tests.cli.tool import run
from tests.connect.driving import describe, faulty, none_left

TRAP = """
import os
from persona_evo.connect.client import Client

def play(client):
    made = []
    for turn in range(12):
        made.append(client.select(4))
        if made.count(3) >= 2 and made[-1] == 1:
            FAIL
    client.supply_outcome(sum(made))

Client("trap", metrics=["A"], max_decisions=20, capabilities=["seed"]).run(play)
"""


def trap(folder, fail):
    (folder / "trap.py").write_text(TRAP.replace("FAIL", fail), encoding="utf-8")
    (folder / "trap.toml").write_text('game = "trap.py"\nlogs = "logs"\n', encoding="utf-8")
    return folder / "trap.toml"


@pytest.mark.parametrize("fail", ['raise ValueError(f"trapped at {turn}")', "os._exit(9)"])
def test_a_failure_is_replayed_and_cut_down_to_the_choices_that_matter(tmp_path, capsys, fail):
    file = trap(tmp_path, fail)
    run(capsys, "connect", "search", file, "--iterations", 12, "--seed", 3)
    findings, cases = tmp_path / "logs" / "findings.jsonl", tmp_path / "cases.jsonl"
    assert findings.exists()
    again = run(capsys, "connect", "replay", file, f"{findings}:1")
    assert again.code == 1 and "FAULT: " in again.out and "1 of 1 case made" in again.out, again.out + again.err
    shrunk = run(capsys, "connect", "shrink", file, f"{findings}:1", "-o", cases)
    assert shrunk.code == 0 and "3 choices left" in shrunk.out, shrunk.out + shrunk.err
    (case,) = [json.loads(line) for line in cases.read_text().splitlines()]
    assert case["prefix"] == [[3, 4], [3, 4], [1, 4]], "two threes and a one, and nothing else"
    assert run(capsys, "connect", "shrink", file, f"{cases}:1", "-o", cases).code == 0
    assert len(cases.read_text().splitlines()) == 1, "a case is added once"
    assert run(capsys, "connect", "replay", file, cases).code == 1
    (tmp_path / "trap.py").write_text(TRAP.replace("FAIL", "pass"), encoding="utf-8")
    fixed = run(capsys, "connect", "replay", file, cases)
    assert fixed.code == 0 and "does not fail any more" in fixed.out
    gone = run(capsys, "connect", "shrink", file, cases)
    assert gone.code == 2 and "does not fail any more" in gone.err
    assert none_left(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "not a finding"),
        ('{"kind": "crash", "prefix": [[3, 2]]}', "not a finding"),
        ("[1]", "not an object"),
        ("{", "not valid JSON"),
    ],
)
def test_damaged_findings_are_told(tmp_path, capsys, text, said):
    file = describe(tmp_path)
    (tmp_path / "x.jsonl").write_text(text + "\n")
    for words in (("replay", file, tmp_path / "x.jsonl"), ("shrink", file, tmp_path / "x.jsonl")):
        told = run(capsys, "connect", *words)
        assert told.code == 2 and said in told.err and "x.jsonl:1" in told.err, told.err


def test_missing_findings_are_told(tmp_path, capsys):
    file = faulty(tmp_path, "")
    assert "no file of findings" in run(capsys, "connect", "replay", file, tmp_path / "none.jsonl").err
    (tmp_path / "x.jsonl").write_text("")
    told = run(capsys, "connect", "shrink", file, f"{tmp_path}/x.jsonl:4")
    assert told.code == 2 and "no such finding" in told.err


def test_a_playtest_that_requires_no_crashes_plays_the_known_cases_first(tmp_path, capsys):
    file = trap(tmp_path, 'raise ValueError(f"trapped at {turn}")')
    run(capsys, "connect", "search", file, "--iterations", 12, "--seed", 3)
    assert run(capsys, "connect", "shrink", file, tmp_path / "logs" / "findings.jsonl").code == 0
    cases = tmp_path / "trap.cases.jsonl"
    assert len(cases.read_text().splitlines()) == 1, "the cases of a game are beside its description"

    def played(out, *requirements):
        words = ("playtest", "default", "--game", file, "--personas", tmp_path / "score.toml", "--policy", "ucb1")
        words += ("--trials", 1, "--iterations", 3, "--bound-seconds", 0, "--no-pictures", "--seed", 1)
        return run(capsys, *words, "--out", tmp_path / out, *requirements)

    (tmp_path / "score.toml").write_text('name = "score"\ngame = "trap"\nutility = "SCORE"\npriority = "SCORE"\n')
    failed = played("broken", "--require", "crashes == 0")
    assert failed.code == 1, failed.out + failed.err
    first = failed.err.index("regression case trap.cases.jsonl:1 still fails: exception in default map")
    assert first < failed.err.index("1 player, 1 level"), "cases come first"
    assert "FAILED  crashes == 0" in failed.out and "trap.cases.jsonl:1 still fails" in failed.out, failed.out
    found = json.loads((tmp_path / "broken" / "findings.json").read_text())["findings"]
    assert [f["evidence"]["case"] for f in found if "case" in f["evidence"]] == ["trap.cases.jsonl:1"]
    other = played("other", "--require", "score.trials == 1")
    assert other.code == 0 and "regression" not in other.err, "cases are played only where crashes are required"

    (tmp_path / "trap.py").write_text(TRAP.replace("FAIL", "pass"), encoding="utf-8")
    fixed = played("fixed", "--require", "crashes == 0")
    assert fixed.code == 0 and "played 1 regression case of" in fixed.err and "none fails" in fixed.err, fixed.err
    assert none_left(tmp_path)


def test_what_fails_in_a_playtest_counts_as_a_crash_also_after_a_resume(tmp_path, capsys):
    file = trap(tmp_path, 'raise ValueError(f"trapped at {turn}")')
    (tmp_path / "score.toml").write_text('name = "score"\ngame = "trap"\nutility = "SCORE"\npriority = "SCORE"\n')
    words = ("playtest", "default", "--game", file, "--personas", tmp_path / "score.toml", "--policy", "ucb1")
    words += ("--trials", 1, "--iterations", 12, "--bound-seconds", 0, "--no-pictures", "--seed", 3)
    for more in (("--out", tmp_path / "out"), ("--out", tmp_path / "out")):
        failed = run(capsys, *words, *more, "--require", "crashes == 0; crashes@default <= 1")
        assert failed.code == 1 and "crashes == 0" in failed.out and "trapped at" in failed.out, failed.out + failed.err
    assert "No problems were found" not in failed.out
    assert none_left(tmp_path)
