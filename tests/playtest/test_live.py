"""Tests that a live playtest plays for each version what a batch plays, and no more than needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from persona_evo.api.naming import load_game, players_of
from persona_evo.api.results import as_results
from persona_evo.games.core import Level
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import batch, live
from persona_evo.playtest.analysis import analyse
from persona_evo.playtest.changes import changes
from persona_evo.playtest.live import LivePlaytest
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget

GAME = load_game("minidungeons2")
ROOM = "XXXXXXXX\nXH T  eX\nX XX XXX\nX   M TX\nXXXXXXXX\n"
DEADLY = "XXXXXXXXXXXXXXXX\nXHttttttttttt eX\nXXXXXXXXXXXXXXXX\n"
BUDGET = Budget(150)


def level(text: str, name: str = "room") -> Level:
    return GAME.load(text, name, f"{name}.txt")


def timeless(records: Sequence[Playthrough]) -> list[Playthrough]:
    return [replace(r, seconds=0.0) for r in records]


def playing(workers: Workers, trials: int = 5) -> LivePlaytest:
    return LivePlaytest(GAME, trials, seed=3, workers=workers, budget=BUDGET)


@pytest.mark.parametrize("seconds", [0.0, 100.0])
def test_what_is_played_is_what_a_batch_plays(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(live, "ROUND_SECONDS", seconds)
    players = players_of(["runner", "monster_killer"], "anytime", "")
    with Workers(1) as workers:
        own = playing(workers)
        assert own.begin([level(ROOM)], players)
        seen = []
        while not own.complete:
            own.round()
            seen.append(own.done)
        assert seen == sorted(seen) and seen[0] <= 1 and seen[-1] == 5
        for trials in (2, 5):
            whole = batch.playtest(GAME, [level(ROOM)], players, trials, seed=3, budget=BUDGET)
            assert timeless(own.results(trials).records) == timeless(whole.records)


def test_what_did_not_change_is_not_played_again(tmp_path: Path) -> None:
    players = players_of(["runner"], "anytime", "")
    with Workers(1) as workers:
        own = playing(workers, 2)
        both = [level(ROOM), level(ROOM.replace("M", " "), "other")]
        own.begin(both, players)
        assert not own.begin([replace(one, source=str(tmp_path)) for one in both], players)
        while not own.complete:
            own.round()
        changed = [level(ROOM.replace("T ", " t")), both[1]]
        assert own.begin(changed, players) and own.done == 0
        own.round()
        assert own.done == 1, "one level is whole, the other was played once"
        assert own.begin(both, players) and own.complete, "a version that comes back is there at once"


def test_changes_name_findings_and_win_rates() -> None:
    players = players_of(["runner"], "anytime", "")
    found = []
    with Workers(1) as workers:
        own = playing(workers, 3)
        for text in (ROOM, DEADLY):
            own.begin([level(text)], players)
            while not own.complete:
                own.round()
            found.append(as_results(own.results(3)).analysis)
        assert {r.cause for r in own.results(3).records if r.outcome == "lost"} <= {"trap"}
    safe, deadly = found
    worse, better = changes(safe, deadly), changes(deadly, safe)
    assert any(f.severity == "problem" for f in worse.appeared) and worse.appeared == better.gone
    assert [(c.before, c.after) for c in worse.rates] == [(1.0, 0.0)]
    assert better.rates[0].effect.value == 1.0 and better.utilities[0].clear
    same = changes(safe, safe)
    assert not same.findings and not any(c.clear for c in (*same.rates, *same.utilities))
    other = analyse(GAME, [level(ROOM, "b")], [replace(r, level="b") for r in safe.records])
    assert not changes(safe, other, {"room": "b"}).findings and not changes(safe, other).rates
