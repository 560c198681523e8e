"""Tests files of playthroughs: what is written can be read, and mistakes are reported with their line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import GameError, Place, RunError
from persona_evo.games.core import Event
from persona_evo.playtest import record_reading, records
from tests.playtest.makers import played, reading

pytestmark = pytest.mark.quick

FULL = played(
    '<script>,\n"ü"',
    outcome="lost",
    cause="ogre",
    trial=3,
    seed=2**62,
    seconds=0.25,
    stopped="iterations",
    iterations=100,
    nodes=90,
    proven=True,
    actions=["N", "J,1,2"],
    positions=[(1, 2), (1, 1), (1, 1)],
    events=[Event(1, "treasure", 1, 1), Event(2, "death:ogre", 1, 1)],
)


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    assert records.write(path, [FULL, played()]) == 2
    assert reading(path) == [FULL, played()]
    assert b"\r" not in path.read_bytes() and path.read_bytes().count(b"\n") == 2


def test_a_route_has_the_best_plan_of_its_search_beside_it(tmp_path: Path) -> None:
    route = dataclasses.replace(FULL, best_utility=FULL.utility + 0.5, best_actions=["E"], search=1, opponent="")
    records.write(tmp_path / "a", [route])
    assert reading(tmp_path / "a") == [route]
    told = json.loads(FULL.to_json())
    assert (told["best_utility"], told["best_actions"], told["search"]) == (FULL.utility, FULL.actions, None)
    assert not {"best_utility", "search"} & played(opponent="b", side="first").to_dict().keys()
    with pytest.raises(GameError, match="best_utility is inf"):
        dataclasses.replace(route, best_utility=float("inf")).to_json()


def test_lines_of_older_versions_read_as_searches_of_their_own() -> None:
    for stopped, proven, today in (
        ("exhausted", True, "proven best"),
        ("exhausted", False, "stuck"),
        ("budget", False, "budget"),
        ("win", False, "win"),
    ):
        line = changed(best_utility=..., best_actions=..., search=..., stopped=stopped, proven=proven)
        old = record_reading.from_dict(json.loads(line))
        assert old == dataclasses.replace(FULL, stopped=today, proven=proven)
        assert (old.best_utility, old.best_actions, old.search) == (FULL.utility, FULL.actions, None)


def changed(**fields: Any) -> str:
    row = json.loads(FULL.to_json())
    row.update(fields)
    return json.dumps({k: v for k, v in row.items() if v is not ...})


END = {"outcome": "lost", "utility": 0.5, "turn": 3, "cause": "ogre", "actions": [], "positions": [], "events": []}
WRONG_ENDS = (("outcome", "gone"), ("utility", "high"), ("turn", "3"), ("turn", 1.5), ("cause", 4))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "not an object"),
        ("[" * 100_000, "not valid JSON"),
        (changed(schema=2), "another schema"),
        (changed(schema=...), "another schema"),
        (changed(level=...), "no 'level'"),
        (changed(steps="ten"), "'steps'"),
        (changed(steps=True), "'steps'"),
        (changed(outcome="gone"), "no such outcome"),
        (changed(metrics={"TO": None}), "metrics"),
        (changed(metrics={"TO": float("nan")}), "not valid JSON"),
        (changed(utility=float("inf")), "not valid JSON"),
        (changed(utility=1).replace('"utility": 1', '"utility": 1e999'), "'utility'"),
        (changed(positions=[[1, 2]]), "do not fit"),
        (changed(positions=[[1]]), "positions"),
        (changed(actions="NN"), "actions"),
        (changed(events=[{"step": 1}]), "an event"),
        (changed(proven=1), "'proven'"),
        (changed(best_utility="1"), "'best_utility'"),
        (changed(best_actions=[1]), "'best_actions'"),
        *((changed(end={**END, key: value}), "the end of a playthrough") for key, value in WRONG_ENDS),
        (changed(search=3), "no earlier trial"),
        (changed(search=-1), "no earlier trial"),
        (changed(search=True), "no earlier trial"),
    ],
)
def test_a_wrong_line_is_told_by_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(played().to_json() + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(RunError) as caught:
        reading(path)
    assert said in str(caught.value) and f"{path}:2" in str(caught.value)
    assert "column" not in str(caught.value.found), "the place says it"
    if "NaN" in line:
        assert caught.value.place is not None and caught.value.place.column == line.index("NaN") + 1


def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b"\xe4\xf6\n")
    with pytest.raises(RunError, match="not valid JSON"):
        reading(tmp_path / "latin.jsonl")
    with pytest.raises(GameError, match="TO is nan"):
        played(treasure=float("nan")).to_json()


def test_a_place_is_optional_and_short_records_are_enough() -> None:
    short = {"schema": 1, "level": "a", "player": "p", "outcome": "won", "metrics": {}, "utility": 0, "steps": 0}
    record = record_reading.from_dict(short)
    assert record.won and record.positions == [] and isinstance(record.utility, float)
    with pytest.raises(RunError, match="f:7: a playthrough has no"):
        record_reading.from_dict({"schema": 1}, Place("f", 7))


def test_a_file_of_playthroughs_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    records.write(path, [played()])
    before = path.read_bytes()
    with pytest.raises(GameError):
        records.write(path, [played(), played(utility=float("nan"))])
    assert path.read_bytes() == before
