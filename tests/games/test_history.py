"""Tests that the events of a turn agree with the counters in recorded games, and that causes of death are right."""

from __future__ import annotations

import gzip
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from persona_evo.errors import GameError
from persona_evo.games import registry
from persona_evo.games.catalog.minidungeons2 import history
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.core import Event, Level
from tests.games.test_md2_replays import action, load
from tests.shared import shared

GAME = registry.get("minidungeons2")


def level(*rows: str) -> Level:
    return GAME.load("\n".join(rows) + "\n", "made", "made", allow_unreachable=True)


def told(made: Level, *actions: str) -> list[list[Event]]:
    """Return the events of each turn of a playthrough."""
    states = GAME.replay(made, [GAME.parse_action(made, None, a) for a in actions])
    return [history.events(made, a, b, i) for i, (a, b) in enumerate(itertools.pairwise(states), 1)]


def kinds(turn: list[Event]) -> list[str]:
    return [e.kind for e in turn]


def recorded(count: int) -> list[dict[str, object]]:
    with gzip.open(shared("cases/md2/traces.jsonl.gz"), "rt", encoding="utf-8") as lines:
        games = [json.loads(line) for line in lines]
    return games[:: max(1, len(games) // count)]


def check(game: dict[str, object], played: Level) -> None:
    actions = [GAME.parse_action(played, None, action(str(a))) for a in game["actions"]]  # type: ignore[attr-defined]
    states = GAME.replay(played, actions)
    counted: Counter[str] = Counter()
    for i, (a, b) in enumerate(itertools.pairwise(states), 1):
        found = history.events(played, a, b, i)
        counted.update(e.kind.partition(":")[0] if e.kind.startswith("slain") else e.kind for e in found)
        assert all(e.step == i for e in found)
        if any(e.kind.startswith("death:") for e in found):
            assert history.cause_of_death(played, a, b) in (*history.KINDS.values(), "trap")
    end, metrics = states[-1], GAME.measure(played, states[-1])
    assert counted["treasure"] == int(end[tb.OPENED_AT])
    assert counted["potion"] == int(end[tb.DRUNK_AT])
    assert counted["slain"] == int(end[tb.SLAIN_AT])
    assert counted["knockout"] == metrics["MTK"]
    assert counted["javelin"] == metrics["JT"]
    assert counted["portal"] == metrics["TU"]
    assert counted["trap"] == metrics["TS"]
    assert sum(n for kind, n in counted.items() if kind.startswith("death:")) == metrics["DEAD"]
    assert counted["exit"] == bool(int(end[tb.FLAGS_AT]) & 1)


def test_events_count_what_the_rules_count_in_recorded_games() -> None:
    levels: dict[str, Level] = {}
    games = recorded(60)
    for game in games:
        name = str(game["map"])
        if name not in levels:
            levels[name] = load(Path(shared("levels/md2/extra")) / f"{name}.txt")
        check(game, levels[name])
    assert len(games) >= 60


def test_walking_alone_is_no_event() -> None:
    assert told(level("XXXXX", "XH  e", "XXXXX"), "E", "E") == [[], []]


def test_things_are_told_where_they_lie() -> None:
    turns = told(level("XXXXXXX", "XHTPt e", "XXXXXXX"), "E", "E", "E", "E", "E")
    assert turns[:3] == [[Event(1, "treasure", 2, 1)], [Event(2, "potion", 3, 1)], [Event(3, "trap", 4, 1)]]
    assert turns[4] == [Event(5, "exit", 6, 1)]


def test_a_portal_is_told_at_the_tile_that_was_entered() -> None:
    assert told(level("XXXXXXX", "XHp XpX", "XXXXXeX"), "E")[0] == [Event(1, "portal", 2, 1)]


def test_javelin_thrown_hits_and_is_picked_up() -> None:
    turns = told(level("XXXXXXXX", "XH   M e", "XXXXXXXX"), "J,5,1", "E", "E", "E", "E")
    assert kinds(turns[0]) == ["javelin", "monster:goblin", "slain:goblin"]
    assert turns[0][0] == Event(1, "javelin", 5, 1)
    assert turns[4] == [Event(5, "pickup", 5, 1)]


def test_a_fight_is_with_a_monster_on_its_tile() -> None:
    turn = told(level("XXXXXX", "XHM  e", "XXXXXX"), "E")[0]
    assert turn == [Event(1, "monster:goblin", 2, 1), Event(1, "slain:goblin", 2, 1)]


def test_a_spell_counts_as_meeting_the_wizard() -> None:
    assert kinds(told(level("XXXXXX", "XH R e", "XXXXXX"), "-")[0]) == ["monster:wizard"]


def test_a_minitaur_is_knocked_out() -> None:
    turns = told(level("XXXXXX", "XHm  e", "XXXXXX"), "E", "W", "W")
    assert kinds(turns[0]) == ["monster:minitaur", "knockout"]
    assert turns[1] == []  # its counter falls, which is nothing to tell


def test_monsters_take_things_and_spring_traps() -> None:
    ogre = told(level("XXXXXXXXXX", "XH      oT", "XXXXXXXXXe"), "-")[0]
    assert ogre == [Event(1, "treasure:ogre", 9, 1)]
    blob = told(level("XXXXXXXXXX", "XH      bP", "XXXXXXXXXe"), "-")[0]
    assert blob == [Event(1, "potion:blob", 9, 1)]
    trapped = told(level("XXXXXXXX", "XH  tM e", "XXXXXXXX"), "-")[0]
    assert trapped == [Event(1, "trap:goblin", 4, 1), Event(1, "slain:goblin", 5, 1)]


def test_a_swallowed_blob_is_slain() -> None:
    turn = told(level("XXXXXXXXXX", "XH   bPb e", "XXXXXXXXXX"), "-")[0]
    assert turn == [Event(1, "potion:blob", 6, 1), Event(1, "slain:blob", 6, 1)]


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        (("XXXXXXXX", "XHt    e", "XXXXXXXX"), "trap"),
        (("XXXXXXXX", "XH R   e", "XXXXXXXX"), "wizard"),
    ],
)
def test_slow_deaths_have_their_cause(rows: tuple[str, ...], cause: str) -> None:
    made = level(*rows)
    actions = ["E", "W"] * 20 if cause == "trap" else ["-"] * 12
    deaths = [e for turn in told(made, *actions) for e in turn if e.kind.startswith("death:")]
    assert [e.kind for e in deaths] == [f"death:{cause}"]


@pytest.mark.parametrize(("char", "cause"), [("M", "goblin"), ("o", "ogre"), ("b", "blob"), ("m", "minitaur")])
def test_the_last_blow_is_the_cause(char: str, cause: str) -> None:
    made = level("XXXXXX", f"XH{char}  e", "XXXXXX")
    states = GAME.replay(made, [])
    states[0][tb.HP_AT] = 1 + tb.HP_BIAS
    hit = states[0].copy()
    GAME.rules().step(made.tables, hit, -1, np.ones(2, dtype=np.int64))
    assert history.cause_of_death(made, states[0], hit) == cause
    assert GAME.cause is not None and GAME.cause(made, states[0], hit) == cause


def test_states_that_are_not_a_turn_apart_are_refused() -> None:
    made = level("XXXXXX", "XHT  e", "XXXXXX")
    start, *_, end = GAME.replay(made, [1, 1, 1])
    with pytest.raises(GameError, match="not one turn apart"):
        history.events(made, start, end, 1)


def test_things_of_a_level_are_called_as_events_call_them() -> None:
    made = level("XXXXXX", "XHMT e", "XXXXXX")
    assert history.things(made.facts["grid"]) == (("monster:goblin", 2, 1), ("treasure", 3, 1), ("exit", 5, 1))
