"""Tests that failures are replayed from their file and shrunk to the choices that matter."""

import dataclasses
import json

import pytest

import persona_evo as pe
from persona_evo.connect.cases import CasePlayer, replay_cases
from persona_evo.connect.description_file import read
from persona_evo.connect.findings import FailingRollout
from persona_evo.connect.findings_file import add_case, check_target, read_cases
from persona_evo.errors import PersonaEvoError
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
    """Write a game that fails in this way; return its description."""
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


WALK = """
from persona_evo.connect.client import Client

def play(client):
    x = y = 0
    for turn in range(30):
        x, y = [(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)][client.select(4)]
        if (x, y) == (2, 2):
            raise ValueError("a hole")
    client.supply_outcome(0)

Client("trap", metrics=["A"], max_decisions=30, capabilities=["seed"]).run(play)
"""


def test_detours_are_left_out_even_if_no_choice_can_be_left_out_alone(tmp_path):
    file = trap(tmp_path, "pass")
    (tmp_path / "trap.py").write_text(WALK, encoding="utf-8")
    detour = [2, 2, 1, 2, 3, 1, 0, 0, 3, 3, 0, 0, 0, 1, 0, 0, 1, 1, 1, 2, 2, 2, 1, 0, 0, 3, 3, 2]
    case = FailingRollout("exception", "", "", 0, 0, 0, tuple((choice, 4) for choice in detour), "")
    with CasePlayer(read(file)) as player:
        found = player.shrink(case)
    assert sorted(choice for choice, _ in found.prefix) == [0, 0, 1, 1] and player.played < 300
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
        assert "resuming" not in told.err, "nothing repeats a finding that was deleted"


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
    first = failed.err.index("regression case trap.cases.jsonl:1 still fails: exception in the default map")
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


def case_on(choices, variant=""):
    """A failure of the sound game in faulty.py, which has two choices at each decision."""
    return FailingRollout("crash", "", variant, 0, 0, 0, tuple((choice, 2) for choice in choices), "x")


def line_of(case):
    """Return the line of a case in a file."""
    return json.dumps(case.to_dict())


def test_a_last_line_without_a_line_ending_is_a_case_and_stays_one(tmp_path, capsys):
    file, cases = faulty(tmp_path, ""), tmp_path / "cases.jsonl"
    cases.write_text(line_of(case_on([1, 0])))
    told = run(capsys, "connect", "replay", file, cases)
    assert told.code == 0 and "0 of 1 case made" in told.out, told.out + told.err
    for choices in ([1, 1], [1, 0]):
        add_case(cases, case_on(choices))
    assert read_cases(cases) == [case_on([1, 0]), case_on([1, 1])]
    cases.write_text(line_of(case_on([1, 0]))[:-5])
    told = run(capsys, "connect", "replay", file, cases)
    assert told.code == 2 and "cases.jsonl:1" in told.err and "not valid JSON" in told.err, told.err
    cases.write_text("")
    told = run(capsys, "connect", "replay", file, cases)
    assert told.code == 2 and "there are no findings in this file" in told.err, told.out + told.err


def test_cases_that_cannot_be_played_are_counted(tmp_path, capsys):
    file = faulty(tmp_path, "")
    cases = tmp_path / "faulty.cases.jsonl"
    other = dataclasses.replace(case_on([]), prefix=((2, 4),))
    cases.write_text("".join(line_of(case) + "\n" for case in (other, case_on([1, 0]))))
    told = run(capsys, "connect", "replay", file, cases)
    assert told.code == 1 and "0 of 2 cases made the game fail; 1 cannot be played" in told.out, told.out + told.err
    assert ":1: cannot be played" in told.out and "2 choices now, before any choice with game seed 0" in told.out
    failing, said = replay_cases(read(file))
    assert failing == [] and "played 1 regression case" in said[0] and "none fails; 1 cannot be played" in said[0]
    assert said[1].startswith("faulty.cases.jsonl:1 cannot be played")
    assert none_left(tmp_path)


@pytest.mark.parametrize(("name", "said"), [("none.jsonl", "none.jsonl"), ("logs", "which is no regular file")])
def test_named_cases_must_be_a_file(tmp_path, name, said):
    file = faulty(tmp_path, "", top=f'cases = "{name}"')
    (tmp_path / "logs").mkdir()
    with pytest.raises(PersonaEvoError, match="no such file of regression cases") as caught:
        replay_cases(read(file))
    assert caught.value.place.line == 4 and said in caught.value.found
    assert none_left(tmp_path)


def test_the_target_of_shrink_is_checked_before_the_game_starts(tmp_path, capsys):
    file, finding = faulty(tmp_path, ""), tmp_path / "x.jsonl"
    finding.write_text(line_of(case_on([1, 0])) + "\n")
    for target, said in ((tmp_path, "to a folder"), (tmp_path / "none" / "cases.jsonl", "there is no folder")):
        told = run(capsys, "connect", "shrink", file, finding, "-o", target)
        assert told.code == 2 and said in told.err and "hint: " in told.err, told.err
        assert "does not fail" not in told.err, "nothing was played"
    check_target(tmp_path / "new.jsonl")


@pytest.mark.parametrize("kept", [True, False])
def test_each_playtest_of_a_process_has_its_own_findings(tmp_path, kept):
    file = faulty(tmp_path, "raise")
    file.write_text(file.read_text().replace('logs = "logs"', ""))
    (tmp_path / "score.toml").write_text('name = "score"\ngame = "faulty"\nutility = "SCORE"\npriority = "SCORE"\n')
    found = []
    for out in ("a", "b", "b"):
        game = pe.load_game(str(file))
        persona = pe.load_persona(str(tmp_path / "score.toml"), game)
        results = pe.playtest_levels(
            ["default"],
            [pe.Player(persona, pe.tree_policy("ucb1", persona, game))],
            game=game,
            trials=1,
            iterations=5,
            seed=1,
            jobs=1,
            bound_seconds=0,
            folder=tmp_path / out if kept else None,
        )
        found.append([(f.kind, f.evidence["rollouts"]) for f in results.failures])
    assert found[0] and found == [[("crashes", found[0][0][1])]] * 3, "each has its own, and none those of another"
    if kept:
        lines = [(tmp_path / out / "logs" / "findings.jsonl").read_text() for out in ("a", "b")]
        assert lines[0] == lines[1] and not list(tmp_path.glob("?/logs-*"))
    assert none_left(tmp_path)
