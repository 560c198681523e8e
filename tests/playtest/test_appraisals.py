"""Tests that analyses of levels are the same in every process, and are computed only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_evo.games import registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import checksum, dispatch
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import appraisals
from persona_evo.playtest.appraisals import LevelQuestion, appraised

GAME = registry.get("minidungeons2")
LEVELS = [
    GAME.load(text, name) for name, text in (("open", "XXXXXX\nXH  eX\nXXXXXX"), ("loot", "XXXXXXX\nXH T eX\nXXXXXXX"))
]
QUESTIONS = [LevelQuestion(LevelText.of(level), won) for won in (False, True) for level in LEVELS]


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appraisals, "_known", {})


def test_workers_say_what_this_process_says(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = list(appraised(GAME, QUESTIONS))
    assert alone[2] == appraisals.prospect(GAME, LEVELS[0]) and alone[1] == appraisals.findings(GAME, LEVELS[1])
    monkeypatch.setattr(appraisals, "_known", {})
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    with Workers(2, "threading") as workers:
        assert list(appraised(GAME, QUESTIONS, workers)) == alone


def test_what_is_begun_behind_other_work_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = list(appraised(GAME, QUESTIONS))
    monkeypatch.setattr(appraisals, "_known", {})
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    with Workers(2, "threading") as workers:
        begun = appraisals.appraisals(GAME, QUESTIONS[:2], workers)
        assert begun is not None
        first = Dispatch(workers, appraisals.answers, registry.address(GAME), QUESTIONS[2:], [0, 0], [1.0, 1.0])
        first.then = begun
        assert [answer for part in first for answer in part] == alone[2:]
        assert not begun._open.any(), "it went out behind the last of the work before it"
        assert list(appraised(GAME, QUESTIONS, workers, begun)) == alone


def test_a_folder_keeps_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = list(appraised(GAME, QUESTIONS))
    assert any(alone), "there are findings"
    appraisals.keep(tmp_path, GAME, QUESTIONS)
    monkeypatch.setattr(appraisals, "_known", {})
    appraisals.recall(tmp_path, GAME, QUESTIONS)
    assert appraisals.open_questions(GAME, QUESTIONS) == [] and list(appraised(GAME, QUESTIONS)) == alone


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version": ', '"version": 9'),
        ('"program": "', '"program": "9'),
        ('"won": true', '"won": false'),
        ('"schema": 1', '"schema": 1, "x"'),
        ('"actions"', '"action"'),
    ],
)
def test_answers_of_another_version_and_damaged_ones_count_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    list(appraised(GAME, QUESTIONS))
    appraisals.keep(tmp_path, GAME, QUESTIONS)
    text = (tmp_path / appraisals.FILE).read_text(encoding="utf-8")
    assert old in text
    sealed = checksum.sealed(text.replace(old, new)) if "schema" not in old else text.replace(old, new)
    (tmp_path / appraisals.FILE).write_text(sealed, encoding="utf-8")
    monkeypatch.setattr(appraisals, "_known", {})
    appraisals.recall(tmp_path, GAME, QUESTIONS)
    assert appraisals.open_questions(GAME, QUESTIONS)


def test_answers_on_another_text_of_a_level_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list(appraised(GAME, QUESTIONS[:1]))
    appraisals.keep(tmp_path, GAME, QUESTIONS[:1])
    monkeypatch.setattr(appraisals, "_known", {})
    other = [LevelQuestion(LevelText.of(GAME.load("XXXXXX\nXHe  X\nXXXXXX", LEVELS[0].name)), False)]
    appraisals.recall(tmp_path, GAME, other)
    assert appraisals.open_questions(GAME, other) == other
