"""Tests two-player games: records of opponents, sides and results, and the tables of reports."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from persona_evo.api.results import as_results
from persona_evo.cli.main import main
from persona_evo.games import registry
from persona_evo.intervals import wilson
from persona_evo.matches import names
from persona_evo.personas import load
from persona_evo.playtest import batch, duels, record_reading
from persona_evo.playtest.analysis import analyse
from persona_evo.playtest.metrics import EVERY
from persona_evo.playtest.players import Player
from persona_evo.playtest.records import SIDES, Playthrough
from persona_evo.report import duels as tables
from persona_evo.report import plots, replay
from persona_evo.report.text import summary_text
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from tests.playtest.makers import played, reading

GAME = registry.get("colosseum")
DRAWN = "turn 1\n+-+-+-+\n|0    |\n+ + + +\n|     |\n+ + + +\n|    1|\n+-+-+-+\n"
LEAGUE = names.league(GAME, "", opponents=["random", "uct_walls"])


@pytest.fixture(scope="module")
def results() -> Any:
    levels = [GAME.load("random 6", "open"), GAME.load(DRAWN, "turned")]
    player = Player(load("duelist", GAME), TreePolicy.ucb1())
    return as_results(batch.playtest(GAME, levels, [player], 4, seed=3, budget=Budget(15), league=LEAGUE))


def dueled(results: str, opponent: str = "random", side: str = "first", level: str = "one") -> list[Playthrough]:
    """Return games by their results: w, d and l."""
    outcomes = {"w": "won", "d": "ended", "l": "lost"}
    return [
        played(level, outcome=outcomes[r], opponent=opponent, side=side, cause=opponent if r == "l" else "")
        for r in results
    ]


def test_each_record_names_the_opponent_the_side_and_the_result(results: Any, tmp_path: Path) -> None:
    assert [(r.opponent, r.side) for r in results.records[:4]] == [
        ("random", "first"),
        ("random", "second"),
        ("uct_walls", "first"),
        ("uct_walls", "second"),
    ]
    for r in results.records:
        assert r.result == {1.0: "win", 0.5: "draw", 0.0: "loss"}[r.metrics["WIN"]]
        level = next(level for level in results.levels if level.name == r.level)
        end = list(replay.states(GAME, level, r))[-1]
        assert GAME.measure(level, end, tables.seat(GAME, level, r)) == r.metrics
    turned = [r for r in results.records if r.level == "turned"]
    assert [(r.side, tables.seat(GAME, results.levels[1], r)) for r in turned[:2]] == [("second", 0), ("first", 1)]
    results.write(tmp_path, pictures=False)
    assert reading(tmp_path / "traces.jsonl") == results.records
    with (tmp_path / "playthroughs.csv").open(encoding="utf-8") as stream:
        rows = [(row["opponent"], row["side"], row["result"]) for row in csv.DictReader(stream)]
    assert rows == [(r.opponent, r.side, r.result) for r in results.records]
    assert "opponent" not in played().to_dict() and played().result == ""


def test_the_report_of_a_game_for_two_speaks_of_games_won_and_lost(results: Any, tmp_path: Path) -> None:
    results.bounds = batch_bounds(results)
    text = summary_text(results.check(), 120)
    page = results.write(tmp_path).read_text(encoding="utf-8")
    for said in (text, page):
        assert "by opponent and side" in said and "moving second" in said and "lost to" in said
        assert "limit" not in said and "deaths" not in said and "never finishes" not in said
    assert page.count("by opponent and side") == 3 and "8 games of 2 levels" in page
    assert "duelist (red, moves first) against" in page or "duelist (blue, moves second) against" in page
    summary = (tmp_path / "summary.csv").read_text(encoding="utf-8")
    assert "bound" not in summary and "deaths" not in summary and ",losses," in summary
    with (tmp_path / "duels.csv").open(encoding="utf-8") as stream:
        rows = {(r["level"], r["opponent"], r["side"]): r for r in csv.DictReader(stream)}
    whole = rows["*", "*", "*"]
    won = sum(r.won for r in results.records)
    assert (whole["games"], whole["won"]) == ("8", str(won))
    assert float(whole["low"]) == pytest.approx(wilson(won, 8).low)


def batch_bounds(results: Any) -> Any:
    from persona_evo.playtest.bounds import bounds

    return bounds(GAME, results.levels, [p.persona for p in results.players], results.records, seconds=1)


def test_replays_say_which_colour_is_who(results: Any) -> None:
    level, record = results.levels[1], next(r for r in results.records if r.level == "turned")
    (mine, other) = tables.labels(GAME, level, record, plots.drawing(GAME).PLAYERS)  # type: ignore[union-attr]
    assert mine == ("duelist", record.side, "blue", "#2f6fd0") and other[:3] == (record.opponent, SIDES[0], "red")
    assert tables.in_words((mine, other)) == f"duelist (blue, moves second) against {record.opponent} (red)"
    pictures = replay.frames(GAME, level, record, scale=24)
    assert pictures is not None
    first = pictures[0].picture
    legend = np.asarray(first)[: first.height - 3 * 24 - 20]
    rows = [np.nonzero((legend == colour).all(axis=2).any(axis=1))[0] for colour in ([47, 111, 208], [200, 68, 47])]
    assert len(rows[0]) and len(rows[1]) and rows[0].max() < rows[1].min(), "the persona's line comes first"
    alone = Image.new("RGB", (60, 10))
    long = [mine._replace(name="a very long name of an agent"), other]
    assert tables.with_legend(alone, long, 11).width == 60


def test_standings_count_by_level_opponent_and_side() -> None:
    rows = dueled("wwd") + dueled("lw", "uct", "second") + dueled("l", "uct", level="two")
    found = {(s.level, s.opponent, s.side): (s.wins, s.draws, s.losses) for s in duels.standings(rows)}
    assert found["one", "random", "first"] == found["one", "random", EVERY] == (2, 1, 0)
    assert found["one", EVERY, EVERY] == (3, 1, 1) and found[EVERY, "uct", EVERY] == (1, 0, 2)
    assert ("one", "random", "second") not in found and duels.standings([played()]) == []
    table = tables.standings_table(duels.standings(rows), "one")
    assert table.rows[0] == ["runner", "random", "2·1·0, 66.7 % (21–94)", "–", "2·1·0, 66.7 % (21–94)"]
    assert table.rows[-1][1] == "all that it met"
    assert table.notes[1:] == ["random was met only when moving first", "uct was met only when moving second"]


def test_findings_of_games_for_two_are_about_opponents_and_sides() -> None:
    lost = dueled("l" * 9 + "w", "uct") + dueled("w" * 10, side="second")
    found = analyse(GAME, [], lost, priorities={"runner": "WON"}).findings
    assert [f.kind for f in found] == ["beaten", "sides"] and all(f.severity == "notice" for f in found)
    assert found[0].text == "The runner loses most games to uct 9 of 10 (60–98 %)."
    assert "1 of 10 games won (2–40 %) when it moves first, 10 of 10 games won" in found[1].text
    assert duels.find(dueled("lll", "uct") + dueled("w", side="second"), ["runner"]) == [], "too few to say"
    assert duels.find(lost, []) == []
    endless = dataclasses.replace(dueled("w")[0], outcome="running", steps=40)
    (finding,) = duels.find([endless], ["runner"])
    assert finding.text == "1 of 1 game of the runner does not end (after 40 moves on average) and counts as a draw."
    assert endless.result == "draw"


def test_the_page_says_how_functions_of_a_formula_are_protected(results: Any) -> None:
    assert "formulas" not in results.facts
    policy = TreePolicy.of("R + sqrt(log(P) / N)", GAME)
    formula = dataclasses.replace(results, players=[Player(load("duelist", GAME), policy)])
    assert "sqrt(x): of |x|; log(x): of |x|, 0 where x is 0" in formula.facts["formulas"]


def test_limits_cannot_be_required_where_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["playtest", "random06", "--game", "colosseum", "--league", "random", "--require", "bound_ratio > 0.5"])
    assert code == 2 and "bound_ratio needs limits" in capsys.readouterr().err


def test_programs_are_no_part_of_what_can_be_named_in_a_league(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (("--league", "nobody"), ("--agent", "nobody"), ("--policy", "agent:nobody")):
        assert main(["playtest", "random06", "--game", "colosseum", *wrong]) == 2
        said = capsys.readouterr().err
        assert "no such agent" in said and "or a policy's name or file" in said and ".py" not in said, said


def test_wrong_sides_are_refused() -> None:
    from persona_evo.errors import RunError

    row = dueled("w")[0].to_dict()
    assert record_reading.from_dict(row).against == {"opponent": "random", "side": "first", "result": "win"}
    with pytest.raises(RunError, match="no such side"):
        record_reading.from_dict({**row, "side": "third"})


@pytest.mark.parametrize(
    ("trials", "there", "said"),
    [
        (1, {"a": 1}, "1 trial of each player in a level meets 1 of 3 opponents, a from one side only"),
        (2, {"a": 2}, "2 trials of each player in a level meet 1 of 3 opponents"),
        (5, {"a": 2, "b": 2, "c": 1}, "5 trials of each player in a level meet 3 of 3 opponents, c from one side only"),
        (6, {"a": 2, "b": 2, "c": 2}, ""),
        (50, {"a": 2, "b": 2, "c": 2}, ""),
    ],
)
def test_only_opponents_that_the_trials_meet_are_named(trials: int, there: dict[str, int], said: str) -> None:
    assert duels.met("abc", trials) == there
    assert duels.meeting("abc", trials) == (f"{said}; all of them from both sides take 6" if said else "")


def test_what_is_met_is_what_is_played(results: Any) -> None:
    assert results.facts["opponents"] == "random, uct_walls"
    few = dataclasses.replace(results, trials=2, records=[r for r in results.records if r.opponent == "random"])
    assert few.facts["opponents"] == (
        "random; 2 trials of each player in a level meet 1 of 2 opponents; all of them from both sides take 4"
    )
