"""Tests that playthroughs continue to the end of the game: outcomes, causes of death, damage, and what is recorded."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from persona_evo import personas
from persona_evo.errors import GameError, RunError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import Event, Game, Level, Metric
from persona_evo.games.python_game import from_class
from persona_evo.personas import Persona
from persona_evo.playtest import batch, playing, record_reading, records, require
from persona_evo.playtest.players import Player
from persona_evo.playtest.records import End, Playthrough
from persona_evo.playtest.summaries import summarise
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from tests.playtest.makers import played, reading
from tests.shared import unsealed

GAME = registry.get("minidungeons2")
AMBUSH = """\
XXXXXXXXXX
XH RRRX TX
X  RRRX  X
X        X
X       eX
XXXXXXXXXX
"""
OPEN = """\
XXXXXX
XH T X
X   eX
XXXXXX
"""


def played_out(text: str, name: str = "runner", **options: object) -> list[Playthrough]:
    level = GAME.load(text, "here", allow_unreachable=True)
    (persona,) = personas.resolve([name], GAME)
    player = Player(persona, TreePolicy.of(persona.utility.text, GAME))
    given = {"seed": 3, "budget": Budget(2000), **options}
    return batch.playtest(GAME, [level], [player], 3, **given).records  # type: ignore[arg-type]


def test_playing_on_may_take_a_tenth_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Budget] = []
    real = playing.play_on

    def counted(game: Game, level: Level, actions: Any, utility: Any, budget: Budget, *rest: Any) -> Any:
        given.append(budget)
        return real(game, level, actions, utility, budget, *rest)

    monkeypatch.setattr(playing, "play_on", counted)
    played_out(AMBUSH, budget=Budget(2000))
    assert {budget.iterations for budget in given} == {200}


def test_a_plan_that_ends_in_death_has_its_cause_and_one_that_wins_has_none() -> None:
    level = GAME.load("XXXXXXXXXXXXXXXX\nXHttttttttttt eX\nXXXXXXXXXXXXXXXX\n", "traps", allow_unreachable=True)
    utility = parse("DEAD - 0.01 * ST", GAME.symbols)
    player = Player(Persona("weary", GAME.name, utility, "HP"), TreePolicy.of("DEAD + 0.01 * ST", GAME))
    (died,) = batch.playtest(GAME, [level], [player], 1, seed=3, budget=Budget(500)).records
    assert (died.outcome, died.cause) == ("lost", "trap")
    assert {(r.outcome, r.cause) for r in played_out(OPEN)} == {("won", "")}


def test_a_plan_that_stops_before_death_is_played_on_to_it() -> None:
    for r in played_out(AMBUSH):
        assert r.outcome == "running" and r.end is not None
        assert (r.final, r.lost, r.won, r.unfinished) == ("lost", True, False, False)
        assert r.lost_to == "wizard" and r.cause == ""
        assert r.end.turn == r.steps + len(r.end.actions) == len(r.hit_points) - 1
        assert (r.hit_points[0], r.hit_points[-1], r.damage) == (10, 0, 10)
        assert r.end.place == r.end.positions[-1] == r.death_place
        assert r.end.events[-1].kind == "death:wizard" and r.end.events[-1].step == r.end.turn
        assert r.end.utility < r.utility


def test_a_plan_that_ends_the_game_is_its_end() -> None:
    for r in played_out(OPEN):
        assert r.outcome == r.final == "won" and r.end is not None
        assert r.end.actions == [] and r.end.turn == r.steps and r.end.utility == r.utility and r.damage == 0


def test_the_plan_is_the_same_whether_play_goes_on_or_not() -> None:
    on, off = played_out(AMBUSH), played_out(AMBUSH, continuation=0.0)
    for a, b in zip(on, off, strict=True):
        assert b.end is None and b.hit_points == [] and b.final == "unfinished"
        assert dataclasses.replace(a, end=None, hit_points=[], seconds=0) == dataclasses.replace(b, seconds=0)
    with pytest.raises(SettingsError, match="share of the budget for playing on"):
        played_out(OPEN, continuation=2.0)


def test_a_folder_that_was_stopped_goes_on_to_the_same_ends(tmp_path: Path) -> None:
    whole = played_out(AMBUSH, folder=tmp_path / "a")
    lines = (tmp_path / "a" / "traces.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "a" / "traces.jsonl").write_text("".join(lines[:1]))
    again = batch.resume(tmp_path / "a").records
    assert [dataclasses.replace(r, seconds=0) for r in again] == [dataclasses.replace(r, seconds=0) for r in whole]
    config = json.loads(unsealed(tmp_path / "a" / "playtest.json"))
    assert config["continuation"] == 0.1
    del config["continuation"]
    (tmp_path / "a" / "playtest.json").write_text(json.dumps(config))
    (tmp_path / "a" / "traces.jsonl").write_text("")
    assert all(r.end is None for r in batch.resume(tmp_path / "a").records)  # as older versions played


class Waiting:
    """A game in which each step forward costs a hit point, standing still costs nothing, and nothing can be won."""

    actions = ("wait", "go")
    metrics = (Metric("HP", "hit points", "those left", high=3),)
    health = "HP"
    idle = "wait"

    def __init__(self) -> None:
        self.hp = 3

    @classmethod
    def from_text(cls, text: str) -> Waiting:
        return cls()

    def legal(self) -> list[str]:
        return ["wait", "go"]

    def apply(self, action: str) -> None:
        self.hp -= action == "go"

    def over(self) -> str | None:
        return "lost" if self.hp == 0 else None

    def measure(self) -> dict[str, float]:
        return {"HP": self.hp}


WAITING = from_class(Waiting, horizon=12)


def test_a_player_who_had_better_stand_still_is_stuck() -> None:
    game, level = WAITING, WAITING.load("x", "x")
    assert (game.idle, game.health) == ("wait", "HP")
    players = [
        Player(Persona(name, game.name, parse(utility, game.symbols), "HP"), TreePolicy.ucb1())
        for name, utility in (("careful", "HP"), ("rash", "-HP"))
    ]
    name = f"{__name__}:WAITING"
    records = batch.playtest(game, [level], players, 1, seed=1, budget=Budget(400), game_name=name).records
    assert [(r.final, r.damage) for r in records] == [("stuck", 0), ("lost", 3)]


def test_a_class_that_names_no_action_of_its_own_to_stand_still_is_refused() -> None:
    class Wrong(Waiting):
        idle = "sleep"

    with pytest.raises(GameError, match=r"(?s)idle is not one of its actions.*'sleep'.*wait, go"):
        from_class(Wrong)

    class Unhealthy(Waiting):
        health = "MP"

    with pytest.raises(GameError, match=r"(?s)Unhealthy\.health is not a formula"):
        from_class(Unhealthy)


def test_outcomes_are_counted_apart() -> None:
    ends = ["won", "lost", "unfinished", "stuck", "won"]
    group = [
        played(
            outcome="running", trial=i, end=End(end, 0.0, 10, "ogre" if end == "lost" else ""), hit_points=[10, 8, 9, 5]
        )
        for i, end in enumerate(ends)
    ]
    one, _ = summarise(group)
    assert one.ends == {"won": 2, "lost": 1, "unfinished": 1, "stuck": 1, "ended": 0}
    assert {k: v.value for k, v in one.rates.items()} == {
        "win_rate": 0.4,
        "death_rate": 0.2,
        "unfinished_rate": 0.2,
        "stuck_rate": 0.2,
    }
    assert one.deaths == {"ogre": 1} and one.damage is not None and one.damage.value == 6
    wanted = [
        "death_rate == 0.2",
        "unfinished_rate == 20%",
        "stuck == 1",
        "stuck_rate <= 0.2",
        "damage == 6",
        "health == 5",
        "deaths == 0",
    ]
    checks = require.evaluate(require.parse_all(wanted), [one, _])
    assert [c.passed for c in checks] == [True] * 6 + [False]


def test_records_with_an_end_read_back(tmp_path: Path) -> None:
    end = End("lost", -1.5, 12, "trap", (3, 4), ["N", "S"], [(3, 3), (3, 4)], [Event(12, "death:trap", 3, 4)])
    record = played(outcome="running", end=end, hit_points=[10, 2.5, 0], skill="novice")
    records.write(tmp_path / "a", [record])
    assert reading(tmp_path / "a") == [record]
    for wrong in ({"outcome": "running"}, {"turn": 1.5}, {"utility": None}, {"place": [1]}, {"actions": [1]}, 7):
        row = record.to_dict()
        row["end"] = {**row["end"], **wrong} if isinstance(wrong, dict) else wrong
        with pytest.raises(RunError):
            record_reading.from_dict(row)
    with pytest.raises(RunError, match="hit points"):
        record_reading.from_dict({**record.to_dict(), "hit_points": ["x"]})
    with pytest.raises(GameError, match="hit points after move 1"):
        dataclasses.replace(record, hit_points=[1.0, float("nan")]).to_json()
