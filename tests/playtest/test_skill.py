"""Tests the evaluation of playthroughs at several levels of skill, and the comparison with pass rates."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from persona_evo import personas
from persona_evo.errors import RunError, SettingsError
from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.playtest import batch
from persona_evo.playtest.analysis import analyse
from persona_evo.playtest.calibration import calibrate, check_rates, correlation_interval, read_rates
from persona_evo.playtest.metrics import EVERY
from persona_evo.playtest.players import Player, with_skills
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.require import parse_all
from persona_evo.playtest.skill import curve, health, ladder, narrow_escapes
from persona_evo.report import skill as tables
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from tests.playtest.makers import INFOS, played
from tests.search.levels import level
from tests.shared import unsealed

GAME = registry.get("minidungeons2")
ROWS = ("H    o     ", "   X   X   ", "  o    o   ", "    X    R ", "  t  o    e")


def ogres(name: str = "ogres") -> Level:
    return GAME.load(level(*ROWS).text, name)


def ladder_of_players(*names: str) -> list[Player]:
    runner = personas.load("runner")
    return with_skills([Player(runner, TreePolicy.utility(runner.utility))], names, GAME)


def play(folder: Path | None = None, **options: Any) -> batch.BatchResults:
    players = options.pop("players", None) or ladder_of_players("novice", "expert", "perfect")
    return batch.playtest(
        GAME, [ogres()], players, options.pop("trials", 4), seed=3, budget=Budget(500), folder=folder, **options
    )


def timeless(records: list[Playthrough]) -> list[Playthrough]:
    return [dataclasses.replace(r, seconds=0.0) for r in records]


def at_skill(skill: str, wins: int, trials: int, name: str = "one", persona: str = "runner", **more: Any) -> list[Any]:
    return [
        played(
            name,
            f"{persona} ({skill})",
            "won" if t < wins else "lost",
            trial=t,
            persona=persona,
            skill=skill,
            cause="" if t < wins else "ogre",
            **more,
        )
        for t in range(trials)
    ]


def test_players_of_each_level_of_skill_are_labelled_and_recorded() -> None:
    results = play()
    assert [p.label for p in results.players] == ["runner (novice)", "runner (expert)", "runner (perfect)"]
    assert {(r.player, r.skill) for r in results.records} == {(p.label, p.skill) for p in results.players}
    for r in results.records:
        assert r.final in ("won", "lost", "unfinished") and r.damage is not None
        assert len(r.hit_points) == (r.end.turn if r.end else r.steps) + 1
    assert any(r.lost and r.death_place is not None and r.lost_to for r in results.records if r.skill == "novice")
    assert "5 iterations for each legal move" in results.players[0].text


def test_a_player_with_full_sight_has_200_iterations_a_move() -> None:
    (full,) = ladder_of_players("full-sight")
    assert full.text.endswith("200 iterations a move, the whole game ahead, no errors")
    (record,) = play(players=[full], trials=1).records
    assert record.skill == "full-sight" and record.final == "won"
    assert 40 * record.steps < record.iterations <= 200 * record.steps  # a search may come to its end before


def test_the_number_of_jobs_and_an_interruption_change_nothing(tmp_path: Path) -> None:
    whole = play(tmp_path / "whole")
    assert timeless(play(jobs=2, backend="threading").records) == timeless(whole.records)
    lines = (tmp_path / "whole" / "traces.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for kept in (2, 6):
        folder = tmp_path / f"cut{kept}"
        folder.mkdir()
        (folder / "playtest.json").write_bytes((tmp_path / "whole" / "playtest.json").read_bytes())
        (folder / "traces.jsonl").write_text("".join(lines[:kept]), encoding="utf-8")
        again = batch.resume(folder)
        assert timeless(again.records) == timeless(whole.records)
        assert [(p.label, p.skill) for p in again.players] == [(p.label, p.skill) for p in whole.players]


def test_a_folder_with_an_unknown_level_of_skill_is_refused(tmp_path: Path) -> None:
    play(tmp_path, players=ladder_of_players("novice"), trials=1)
    config = tmp_path / "playtest.json"
    config.write_text(unsealed(config).replace('"novice"', '"wizard"'), encoding="utf-8")
    with pytest.raises(RunError, match="is not a level of skill"):
        batch.resume(tmp_path)


def test_what_has_no_levels_of_skill_is_refused() -> None:
    players = ladder_of_players("novice")
    two = registry.get("colosseum")
    with pytest.raises(SettingsError, match="single-player games"):
        with_skills(players, ["novice"], two)
    with pytest.raises(SettingsError, match="named twice"):
        with_skills(players, ["novice", "novice"], GAME)
    assert with_skills(players, [], GAME) == players


def test_players_are_compared_with_their_baseline_at_the_same_level_of_skill() -> None:
    runner = personas.load("runner")
    own, base = (
        Player(runner, TreePolicy.utility(runner.utility), "runner", "ucb1"),
        Player(runner, TreePolicy.ucb1(), "ucb1"),
    )
    both = with_skills([own, base], ["novice", "perfect"], GAME)
    assert [(p.label, p.baseline) for p in both] == [
        ("runner (novice)", "ucb1 (novice)"),
        ("runner (perfect)", "ucb1 (perfect)"),
        ("ucb1 (novice)", ""),
        ("ucb1 (perfect)", ""),
    ]
    records = [
        played(
            "a", player=p.label, persona="runner", skill=p.skill, trial=trial, outcome="lost" if p.baseline else "won"
        )
        for p in both
        for trial in range(6)
    ]
    found = analyse(GAME, [], records, baselines={p.label: p.baseline for p in both if p.baseline})
    rates = [(r.player_a, r.player_b, r.a.value, r.b.value) for r in found.baseline if r.measure.key == "win_rate"]
    assert rates == [(f"runner ({s})", f"ucb1 ({s})", 0.0, 1.0) for s in ("novice", "perfect")]
    assert [(s.skill, s.trials, s.win_rate.value) for s in found.steps] == [("novice", 6, 0.0), ("perfect", 6, 0.0)]


def test_the_ladder_sums_up_levels_and_personas() -> None:
    records = [
        r
        for name, wins in (("one", 2), ("two", 8))
        for who in ("runner", "collector")
        for r in (*at_skill("novice", wins, 10, name, who), *at_skill("perfect", 10, 10, name, who))
    ]
    steps = ladder(records)
    by_key = {(s.level, s.persona, s.skill): s for s in steps}
    assert len(by_key) == len(steps) == 3 * 3 * 2
    assert by_key["one", "runner", "novice"].win_rate.value == 0.2
    whole = by_key[EVERY, EVERY, "novice"]
    assert whole.trials == 40 and whole.win_rate.value == 0.5 and whole.win_rate.low < 0.5 < whole.win_rate.high
    assert by_key["two", EVERY, "novice"].death_rate.value == pytest.approx(0.2)
    assert [(d.cause, d.times) for d in by_key["one", EVERY, "novice"].deaths] == [("ogre", 16)]
    assert [(s.level, s.skill) for s in curve(steps)] == [
        ("one", "novice"),
        ("one", "perfect"),
        ("two", "novice"),
        ("two", "perfect"),
    ]
    assert ladder([played()]) == []
    rows = tables.difficulty_rows(steps)
    assert rows[0]["win_rate"] == 0.2 and rows[0]["win_rate_low"] != ""
    text = "\n".join(t.render(100) for t in tables.difficulty_tables(steps))
    assert "difficulty for these simulated players, not for people" in text and "20 % (8–42)" in text
    assert not any("win rate" in t.title for t in tables.difficulty_tables(steps, wins=False))
    chart = tables.difficulty_chart(steps)
    assert chart is not None and [line.name for line in chart.series] == ["novice", "perfect"]
    assert tables.difficulty_chart([s for s in steps if s.level == "one"]) is None


def test_hit_points_count_those_who_have_died() -> None:
    records = [
        played(player="a", hit_points=[10.0, 8.0, 0.0]),
        played(player="a", hit_points=[10.0, 9.0, 9.0, 7.0, 5.0]),
        played(player="b", hit_points=[]),
    ]
    found = health(records)
    assert [(h.turn, h.playing, h.mean) for h in found] == [
        (0, 2, 10),
        (1, 2, 8.5),
        (2, 2, 4.5),
        (3, 1, 3.5),
        (4, 1, 2.5),
    ]
    assert all(h.low <= h.median <= h.high for h in found)
    assert found[-1].low == pytest.approx(0.5) and found[-1].median == 2.5
    assert list(tables.health_charts(health(at_skill("novice", 1, 2, hit_points=[10.0, 1.0])))) == ["one"]


def escapes(skill: str, narrow: int, trials: int) -> list[Any]:
    walk = [(0, 0), (1, 0), (2, 0)]
    return [
        played(
            "ogres",
            f"runner ({skill})",
            trial=t,
            skill=skill,
            steps=2,
            actions=["E", "E"],
            positions=walk,
            hit_points=[10.0, 1.0, 1.0] if t < narrow else [10.0, 9.0, 9.0],
        )
        for t in range(trials)
    ]


def test_narrow_escapes_are_a_finding_with_a_place() -> None:
    one = ogres()
    (found,) = narrow_escapes([*escapes("novice", 6, 10), *escapes("casual", 3, 10)], GAME, one)
    assert found.kind == "narrow_escape" and found.severity == "notice" and found.level == "ogres"
    assert found.text.startswith("The runner (novice) wins with at most 1 of 10 hit points left in 60 % of the playth")
    assert "; the runner (casual) often does so, too. " in found.text
    assert found.text.endswith(" The last hit points are lost at 1:2.")
    assert found.places == ((1, 0),) and found.players == ("runner (novice)", "runner (casual)")
    (turned,) = narrow_escapes([*escapes("novice", 3, 10), *escapes("casual", 6, 10)], GAME, one)
    assert turned.players == ("runner (casual)", "runner (novice)"), "the one whom the sentence is about comes first"
    assert found.evidence["share"] == 0.6
    assert narrow_escapes(escapes("novice", 2, 10), GAME, one) == []
    assert narrow_escapes(escapes("perfect", 10, 10), GAME, one) == []
    assert narrow_escapes(escapes("novice", 6, 10), registry.get("puyo"), one) == []


def test_players_who_err_cause_no_findings_and_are_judged_where_they_are_named() -> None:
    records = [*at_skill("novice", 0, 10), *at_skill("perfect", 10, 10)]
    asked = parse_all(["deaths == 0; runner (novice).win_rate >= 30%"])
    found = analyse(GAME, [], records, requirements=asked)
    assert found.findings == () and [c.passed for c in found.checks] == [True, False]
    alone = analyse(GAME, [], at_skill("novice", 0, 10), requirements=parse_all(["deaths == 0"]))
    assert not alone.checks[0].passed


RATES = {"a": 0.9, "b": 0.7, "c": 0.4, "d": 0.1, "e": 0.3}


def test_calibration_correlates_each_level_of_skill() -> None:
    wins = {"a": 9, "b": 8, "c": 6, "d": 1, "e": 3}
    records = [
        r for name, n in wins.items() for r in (*at_skill("novice", n, 10, name), *at_skill("perfect", 10, 10, name))
    ]
    novice, perfect = calibrate(records, RATES)
    assert novice.players == "novice" and novice.correlation.value == pytest.approx(1) and novice.correlation.n == 5
    assert 0 < novice.correlation.low < 0.9 and novice.correlation.high == 1 and not novice.note
    assert perfect.note == "all win rates are 100 %" and math.isnan(perfect.correlation.value)
    text = tables.calibration_table([novice, perfect]).render()
    assert "Spearman" in text and "all win rates are 100 %" in text
    plain = [dataclasses.replace(r, skill="") for r in records if r.skill == "novice"]
    assert [a.players for a in calibrate(plain, RATES)] == ["all players"]


def test_the_interval_of_a_rank_correlation() -> None:
    r = correlation_interval(0.5, 30)
    assert (r.low, r.high) == pytest.approx((0.146, 0.740), abs=0.01)
    opposite = correlation_interval(-0.5, 30)
    assert (opposite.low, opposite.high) == pytest.approx((-r.high, -r.low))
    for value in (-1.0, -0.8, 0.0, 0.8, 1.0):
        found = correlation_interval(value, 4)
        assert -1 <= found.low <= value <= found.high <= 1 and found.low < found.high


@pytest.mark.parametrize(
    "text, expected",
    [
        ("level,pass_rate\na,0.5\nb,75%\n", {"a": 0.5, "b": 0.75}),
        ('players;Level;pass rate\n9;a; 50 %\n\n3;"b;c";1\n', {"a": 0.5, "b;c": 1.0}),
        ("\ufefflevel\tpass_rate\na\t.25\n", {"a": 0.25}),
    ],
)
def test_pass_rates_are_read(tmp_path: Path, text: str, expected: dict[str, float]) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(text, encoding="utf-8")
    assert read_rates(file) == expected


@pytest.mark.parametrize(
    "text, place, what",
    [
        ("", ":1:1", "the file is empty"),
        ("level,rate\na,1\n", ":1:1", "the column 'pass_rate' is missing"),
        ("name,pass_rate\na,1\n", ":1:1", "the column 'level' is missing"),
        ("level,pass_rate\na\n", ":2:2", "too few columns"),
        ("level,pass_rate\na,much\n", ":2:3", "this is not a pass rate"),
        ("level,pass_rate\na, -1\n", ":2:4", "this is not a pass rate"),
        ("level,pass_rate\na,75\n", ":2:3", "write 75%"),
        ("level,pass_rate\na,175%\n", ":2:3", "out of range"),
        ("level,pass_rate\na,1\n\na,1\n", ":4:1", "named twice"),
        ("level,pass_rate\n,1\n", ":2:1", "names no level"),
    ],
)
def test_pass_rates_that_cannot_be_read_are_told_with_their_place(
    tmp_path: Path, text: str, place: str, what: str
) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as told:
        read_rates(file)
    assert f"rates.csv{place}" in str(told.value) and what in str(told.value)


def test_a_calibration_needs_four_levels() -> None:
    assert check_rates(RATES, ["a", "b", "c", "d", "z"], "rates.csv") == ["a", "b", "c", "d"]
    with pytest.raises(SettingsError, match="at least 4 levels"):
        check_rates(RATES, ["a", "b", "c"], "rates.csv")
    with pytest.raises(SettingsError, match="tset01 is not played; did you mean 'test01'"):
        check_rates({"tset01": 0.5}, ["test01"], "rates.csv")


def test_a_game_without_hit_points_has_none_over_turns() -> None:
    assert health([played()]) == [] and ladder(at_skill("novice", 1, 2))[0].damage is None
    assert INFOS[0].symbol == "ST"
