"""Tests limits: which playthroughs they apply to, and which they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from persona_evo.games import registry
from persona_evo.personas import load
from persona_evo.playtest import bounds as limits
from persona_evo.playtest import require
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.summaries import summarise
from persona_evo.report import tables

GAME = registry.get("puyo")
GREEDY = load("greedy", GAME)
LEVEL = GAME.load(Path(GAME.levels, "short03.txt").read_text(encoding="utf-8"), "short03")
KEY = ("short03", "greedy")


def went(outcome: str, utility: float, steps: int = 16) -> Playthrough:
    metrics = {**dict.fromkeys(GAME.symbols, 0.0), "DR": float(steps), "SC": 100.0}
    return Playthrough("short03", "greedy", outcome, metrics, utility, steps, persona="greedy")


def found(monkeypatch: pytest.MonkeyPatch, known: Bound, *records: Playthrough) -> Bound:
    monkeypatch.setattr(limits, "answer", lambda question: known)
    monkeypatch.setattr(limits, "warm_up", lambda game, level: None)
    return limits.bounds(GAME, [LEVEL], [GREEDY], records, seconds=1)[KEY]


def test_a_plan_that_stops_early_is_no_limit_for_whole_playthroughs(monkeypatch: pytest.MonkeyPatch) -> None:
    cut, whole = Bound(0.8, ended=False), [went("won", 0.4), went("lost", 0.2)]
    bound = found(monkeypatch, cut, *whole)
    assert bound.note == limits.CUT
    summary = summarise(whole, GAME.metrics, {KEY: bound})[0]
    assert summary.bound is None and summary.ratio is None and summary.unbound == limits.CUT
    check = require.parse("greedy@short03.bound_ratio > 0.5").evaluate([summary])
    assert not check.passed and check.reason == f"bound_ratio is not known: {limits.CUT}"
    table = tables.summary_table([summary], GAME.metrics, "short03")
    assert f"no limit: {limits.CUT}" in table.notes
    assert not any(row[0] in ("limit", "share of limit") for row in table.rows)
    assert not found(monkeypatch, cut, went("running", 0.4)).note, "plans that stop early compare with each other"
    assert not found(monkeypatch, Bound(0.8, True, ended=False), *whole).note, "proven: no end is worth more"
    assert not found(monkeypatch, Bound(0.8, ended=True), *whole).note
    better = found(monkeypatch, cut, went("won", 0.9))
    assert (better.utility, better.note, better.ended) == (0.9, "", True)


def test_playthroughs_beyond_the_solvers_horizon_have_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    horizon = GAME.horizon_of(LEVEL)
    bound = found(monkeypatch, Bound(0.8, True), went("won", 0.4, horizon + 1))
    assert bound.note == f"the solver looks {horizon} moves ahead, playthroughs are longer"


def test_a_kept_limit_says_whether_its_plan_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "warm_up", lambda game, level: None)
    for known in (Bound(0.8, ended=False), Bound(0.7, True)):
        monkeypatch.setattr(limits, "answer", lambda question, known=known: known)
        (tmp_path / limits.FILE).unlink(missing_ok=True)
        limits.bounds(GAME, [LEVEL], [GREEDY], seconds=1, folder=tmp_path)
        monkeypatch.setattr(limits, "answer", lambda question: pytest.fail("asked again"))
        assert limits.bounds(GAME, [LEVEL], [GREEDY], seconds=1, folder=tmp_path)[KEY] == known


def test_a_damaged_limit_is_found_again_and_one_of_an_earlier_version_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "warm_up", lambda game, level: None)
    answers = iter([Bound(0.8, True), Bound(0.7, True)])
    monkeypatch.setattr(limits, "answer", lambda question: next(answers))

    def again() -> float:
        return limits.bounds(GAME, [LEVEL], [GREEDY], seconds=1, folder=tmp_path)[KEY].utility

    assert again() == 0.8
    path = tmp_path / limits.FILE
    path.write_text(path.read_text().replace("0.8", "0.9"))
    assert again() == again() == 0.7
    path.write_text(json.dumps(json.loads(path.read_text())["bounds"]))
    assert again() == 0.7


def test_games_of_chance_and_for_two_have_no_limit() -> None:
    hidden = registry.get("puyo_hidden")
    assert limits.bounds(hidden, [LEVEL], [GREEDY], [went("won", 0.4)], seconds=1) == {}
    assert not limits.limited(registry.get("colosseum")) and limits.limited(GAME)


def test_what_is_proven_on_the_way_is_kept_whatever_the_order() -> None:
    proof = Playthrough("short03", "greedy", "won", {"SC": 1.0}, 0.5, 9, persona="greedy", proven=True)
    for records in ([proof, went("won", 0.3)], [went("won", 0.3), proof]):
        bound = limits._with_records({KEY: Bound(0.5, note="why", ended=False)}, records, {"greedy": GREEDY})[KEY]
        assert bound.proven and bound.utility == 0.5 and not bound.note
