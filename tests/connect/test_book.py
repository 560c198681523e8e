"""Tests a game that is written only from PROTOCOL.md: from a file, from a factory, with a policy, and refusing."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from persona_evo.connect import description, description_file, launch
from persona_evo.connect import protocol as p
from persona_evo.connect.doctor import examine
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.session import Session
from persona_evo.errors import ConnectError
from persona_evo.experiments.run import run
from persona_evo.formula import TABLE, parse
from tests.connect.driving import GAMES, describe, none_left, session
from tests.shared import ROOT

pytestmark = pytest.mark.quick

BOOK = (ROOT / "unity_support" / "PROTOCOL.md").read_text(encoding="utf-8")


def factory(settings, file=GAMES / "by_the_book.py", around=None):
    """Starts a game with what PROTOCOL.md has in the environment, and what is `around`."""

    def create_game_process(addr, port, nonce):
        told = {**(around or {}), **launch.variables(addr, port, nonce, settings)}
        return subprocess.Popen([sys.executable, str(file)], env=told, start_new_session=True)

    return create_game_process


def played(made):
    """The score of the first choices of seed 5."""
    running = Session(made)
    try:
        return running.play(LevelName("", "", 5), p.pack([(0, 3)] * 6)).score
    finally:
        running.close()


@pytest.mark.parametrize("game", ["by_the_book", "ladder"])
def test_a_factory_gives_the_game_its_settings(game):
    found = []
    for settings in ("{}", '{"variant": "double", "map": "short"}'):
        made = description.plain(Path("factory"), factory(settings, GAMES / f"{game}.py", os.environ))
        if game == "ladder":
            running = Session(made)
            found.append(len(p.unpack(running.play(LevelName(), b"").trace)))
            running.close()
        else:
            found.append(played(made))
    assert found[0] > 0 and found[1] == (found[0] * 2 if game == "by_the_book" else 3)


def test_what_the_driver_says_itself_counts_before_the_environment(tmp_path):
    made = description.plain(Path("factory"), factory('{"variant": "double"}'))
    running = Session(made)
    try:
        scores = [running.play(LevelName("", v, 5), p.pack([(0, 3)] * 6)).score for v in ("", "double", "")]
    finally:
        running.close()
    assert scores[0] == scores[1] == scores[2] == 2 * played(description_file.read(describe(tmp_path, "by_the_book")))


def test_the_doctor_finds_nothing_and_nothing_is_left(tmp_path):
    running = session(describe(tmp_path, "by_the_book"))
    try:
        assert examine(running, LevelName("", "", 1), rollouts=40).faults == []
    finally:
        running.close()
    assert none_left(tmp_path)


def test_it_plays_by_a_policy_that_uses_every_operation(tmp_path):
    formula = (
        "if(SUM > 3, 0 - SUM, sqrt(abs(SUM)) + exp(min(SUM, 2)) * log(max(ZERO, 1))) / (1 + (SUM >= 2) - "
        "(SUM < 1) * (ZERO <= 1) + (-ZERO) / (ZERO - ZERO))"
    )
    book = runpy.run_path(str(GAMES / "by_the_book.py"))
    known = dict.fromkeys(book["SEARCH"], 0.0)
    for text in (formula, "SUM", "0 - SUM"):
        running = session(describe(tmp_path, "by_the_book", f'rollout = "policy"\npolicy = "{text}"'))
        try:
            trace = p.unpack(running.play(LevelName("", "", 5), b"").trace)
        finally:
            running.close()
        state, wanted, scorer = book["State"](5, 1), [], parse(text)
        for _ in range(6):
            scores = []
            for choice in range(3):
                after = state.copy()
                after.make(choice)
                metrics = dict(zip(("SUM", "ZERO"), after.metrics(), strict=True))
                scores.append(scorer.evaluate({**known, "D": float(after.turn), **metrics}))
            wanted.append((scores.index(max(scores)), 3))
            state.make(wanted[-1][0])
        assert trace == wanted
    assert set(parse(formula).tokens) >= {t.name for t in TABLE}


def test_a_game_refuses_settings_by_an_error_and_the_driver_passes_it_on(tmp_path):
    running = session(describe(tmp_path, "by_the_book"))
    try:
        assert running.play(LevelName("", "double", 5), b"").status == p.OK
        with pytest.raises(ConnectError, match="the variant is 'triple', expected double or none"):
            running.play(LevelName("", "triple", 5), b"")
    finally:
        running.close()
    with pytest.raises(ConnectError, match="the variant is 'triple'"):
        run(factory('{"variant": "triple"}'), num_samples=5)


def test_a_factory_whose_program_is_not_there_names_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def create_game_process(addr, port, nonce):
        return subprocess.Popen(["./Build/Game.x86_64"])

    with pytest.raises(ConnectError) as caught:
        run(create_game_process, num_samples=5)
    assert str(tmp_path / "Build" / "Game.x86_64") in str(caught.value)


def test_the_book_lists_every_operation_of_a_formula():
    found = re.findall(r"(?m)^\| `([^`]+)` \| (\d) \| (.*?) \|(?: (.*?))? \|$", BOOK.replace(r"\|", "¦"))
    rows = [tuple(cell.replace("¦", "|") for cell in row) for row in found]
    assert rows == [(t.name, str(t.arity), t.meaning, t.guard) for t in TABLE]
