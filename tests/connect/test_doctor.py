"""Tests what the doctor finds in the numbers, the prefixes and the memory of a connected game."""

import sys
from pathlib import Path

import pytest

from persona_evo.connect import client
from persona_evo.connect.doctor import examine
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.scores import NORMALISED, RAW, UtilityRange
from persona_evo.search.tree_policy import TreePolicy
from tests.cli.tool import run
from tests.connect.driving import describe, faulty, none_left, session

LEVEL = LevelName()


def report(file, rollouts=100):
    """Return the doctor's report on a game."""
    running = session(file)
    try:
        return examine(running, LEVEL, rollouts=rollouts)
    finally:
        running.close()


def test_a_sound_game_has_no_faults(tmp_path):
    found = report(describe(tmp_path))
    assert not found.faults
    wrong = ("memory", "UCB1", "the same choices", "smaller numbers")
    assert [note for note in found.notes if any(part in note for part in wrong)] == []
    won = report(describe(tmp_path / "won", tables='[outcome]\nwon = "HEIGHT - 4"'))
    assert ["no end of the game counts as won" in " ".join(r.notes) for r in (found, won)] == [True, False]
    assert none_left(tmp_path)


@pytest.mark.parametrize(
    ("fault", "where", "said"),
    [
        ("ranges", "faults", "metric TURN was between 0 and 4, but is declared to be from 0 to 2"),
        ("swapped", "faults", "metric TURN is never larger than"),
        ("vast", "notes", "the score is as large as 1e+13"),
        ("small", "notes", "plays almost at random"),
        ("", "notes", ""),
    ],
)
def test_numbers_that_are_not_what_they_seem(tmp_path, fault, where, said):
    found = report(faulty(tmp_path, fault, 'scores = "raw"'))
    told = getattr(found, where)
    assert any(said in text for text in told) if said else not found.faults, (found.faults, found.notes)


def test_a_metric_that_never_changes_is_noted(tmp_path):
    file, source = describe(tmp_path), tmp_path / "ladder.py"
    source.write_text(source.read_text().replace('("HEIGHT", height)', '("HEIGHT", 2)'))
    notes = report(file).notes
    assert "metric HEIGHT was 2 all the time: is it reported?" in notes and not any("TURN" in note for note in notes)


def test_weights_that_differ_where_the_driver_asks_for_them_are_a_fault(tmp_path):
    file, source = describe(tmp_path, top='rollout = "weights"'), tmp_path / "ladder.py"
    other = "[1.0, 1.0 + 9 * (client._order.mode == 3), 1.0][: 2 + height % 2]"
    source.write_text(source.read_text().replace("[1.0] * (2 + height % 2)", other))
    assert any("played in mode 3" in fault for fault in report(file).faults)


def test_a_level_without_choices_is_noted(tmp_path):
    file, source = describe(tmp_path), tmp_path / "ladder.py"
    source.write_text(
        source.read_text().replace(
            "client.select(2 + height % 2, [1.0] * (2 + height % 2) if", "client.select(1, [1.0] if"
        )
    )
    assert "all rollouts made the same choices: does this level have any?" in report(file, 5).notes


def test_results_of_an_unknown_id_are_told(tmp_path):
    file = faulty(tmp_path, "twice")
    found = report(file, 5)
    assert any("had an id that no ROLLOUT had" in text for text in found.faults), found.faults


def test_a_prefix_that_is_illegal_has_to_be_answered(tmp_path):
    file = describe(tmp_path)
    text = Path(client.__file__).read_text(encoding="utf-8")
    assert "if known != count:" in text
    (tmp_path / "lenient.py").write_text(text.replace("if known != count:", "if False and known != count:"))
    source = (tmp_path / "ladder.py").read_text().replace("persona_evo.connect.client", "lenient")
    (tmp_path / "ladder.py").write_text(source)
    found = report(file, 20)
    assert any("where there are 2, was answered by" in text for text in found.faults), found.faults


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked at on Linux")
def test_memory_that_grows_is_noted(tmp_path):
    assert any("memory grew by" in note for note in report(faulty(tmp_path / "leaks", "leaks"), 150).notes)
    assert not any("memory grew by" in note for note in report(faulty(tmp_path / "sound", ""), 150).notes)


def test_advice_on_the_constant(tmp_path, capsys):
    ucb1 = TreePolicy.ucb1()
    assert UtilityRange(0.0, 1.0, 2).advice(ucb1, RAW) == "" and UtilityRange(3.0, 3.0, 2).advice(ucb1, RAW) == ""
    assert UtilityRange(0.0, 500.0, 2).advice(ucb1, RAW).endswith("--policy ucb1:5e+02 fits this range")
    assert "almost at random" in UtilityRange(0.0, 0.001, 2).advice(ucb1, RAW)
    assert UtilityRange(0.0, 500.0, 2).advice(ucb1, NORMALISED) == "", "its own constant is fitted"
    assert "ucb1 finds the range by itself" in UtilityRange(0.0, 500.0, 2).advice(TreePolicy.ucb1(2.0), NORMALISED)
    file = describe(tmp_path)
    told = run(capsys, "connect", "search", file, "--policy", "ucb1:0.001", "--iterations", 50, "--seed", 1)
    assert told.code == 0 and "only follows the best result so far" in told.err, told.err
    fit = run(capsys, "connect", "search", file, "--iterations", 50, "--seed", 1)
    assert "UCB1 with the constant" not in fit.err
