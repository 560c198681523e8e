"""Tests that a batch gives the same playthroughs for any number of jobs, and continues where it was stopped."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest

from persona_evo import personas
from persona_evo.errors import RunError, SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import dispatch
from persona_evo.jobs.progress import Progress
from persona_evo.playtest import batch, journal, playing
from persona_evo.playtest.batch import BatchResults
from persona_evo.playtest.bounds import bounds
from persona_evo.playtest.players import Player, Role
from persona_evo.playtest.playing import Spec, room
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.shared import unsealed

GAME = registry.get("minidungeons2")
BUDGET = Budget(300)


@pytest.fixture(scope="module")
def levels() -> list[Level]:
    return mapsets.resolve(GAME, ["test01", "train02"])


@pytest.fixture(scope="module")
def players() -> list[Player]:
    runner, killer = personas.resolve(["R", "MK"], GAME)
    return [
        Player(runner, TreePolicy.ucb1(), baseline="runner/formula"),
        Player(runner, TreePolicy.of("R + 0.1 * PE", GAME), "runner/formula"),
        Player(killer, TreePolicy.ucb1()),
    ]


def played(levels: list[Level], players: list[Player], trials: int = 3, **options: Any) -> BatchResults:
    return batch.playtest(GAME, levels, players, trials, **{"seed": 5, "budget": BUDGET, **options})


def timeless(records: list[Playthrough]) -> list[Playthrough]:
    return [dataclasses.replace(r, seconds=0.0) for r in records]


def test_records_come_in_order_and_replay(levels: list[Level], players: list[Player]) -> None:
    results = played(levels, players)
    keys = [(r.level, r.player, r.trial) for r in results.records]
    assert keys == [(v.name, p.label, t) for v in levels for p in players for t in range(3)]
    by_name = {v.name: v for v in levels}
    for r in results.records:
        level = by_name[r.level]
        actions = [GAME.parse_action(level, None, a) for a in r.actions]
        end = GAME.replay(level, actions)[-1]
        assert GAME.measure(level, end) == r.metrics
        assert len(r.positions) == r.steps + 1 == len(r.actions) + 1
        assert r.positions[-1] == GAME.locate(level, end)  # type: ignore[misc]
        assert (r.lost_to != "") == r.lost
    assert results.complete and results.baselines == {"runner": "runner/formula"}
    assert results.priorities["monster_killer"] == "MS"


def test_no_time_of_a_player_is_that_of_loading_what_searches(
    levels: list[Level], players: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = playing.planner_for
    asked: list[tuple[TreePolicy, int | None]] = []

    class Slow:
        """A planner whose first search of each policy takes half a second."""

        def __init__(self, *given: Any) -> None:
            self.planner = real(*given)

        def plan(self, utility: Any, policy: Any, budget: Budget, seed: int) -> Any:
            began = time.perf_counter()
            if policy not in [known for known, _ in asked]:
                time.sleep(0.5)
            asked.append((policy, budget.iterations))
            plan = self.planner.plan(utility, policy, budget, seed)
            return dataclasses.replace(plan, seconds=time.perf_counter() - began)

    usual = timeless(played(levels, players[2:], 2).records)
    playing._tables.clear()
    monkeypatch.setattr(playing, "planner_for", Slow)
    records = played(levels, players[2:], 2).records
    assert max(r.seconds for r in records) < 0.4 and timeless(records) == usual
    assert [n for _, n in asked] == [1, *[BUDGET.iterations] * 4]


def test_neither_jobs_nor_company_change_a_result(levels: list[Level], players: list[Player]) -> None:
    whole = timeless(played(levels, players).records)
    threads = played(levels, players, jobs=2, backend="threading")
    assert timeless(threads.records) == whole
    alone = played(levels[1:], players[1:2]).records
    assert timeless(alone) == [r for r in whole if r.level == "train02" and r.player == "runner/formula"]
    assert timeless(played(levels, players, seed=6).records) != whole


def test_worker_processes_give_the_same(
    levels: list[Level], players: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    assert timeless(played(levels, players, jobs=2).records) == timeless(played(levels, players).records)


@pytest.mark.parametrize("kept", [0, 1, 7, 17, 18])
def test_a_batch_goes_on_where_it_was_killed(
    kept: int, levels: list[Level], players: list[Player], tmp_path: Path
) -> None:
    whole = played(levels, players, folder=tmp_path)
    traces = tmp_path / journal.TRACES
    lines = traces.read_bytes().splitlines(keepends=True)
    torn = lines[kept][:30] if kept < len(lines) else b""
    traces.write_bytes(b"".join(lines[:kept]) + torn)
    resumed = batch.resume(tmp_path)
    assert timeless(resumed.records) == timeless(whole.records)
    assert traces.read_bytes().count(b"\n") == len(whole.records)
    assert resumed.records[:kept] == whole.records[:kept], "what was there is not played again"
    again = played(levels, players, folder=tmp_path)
    assert again.records == resumed.records, "the same call on a finished folder plays nothing"


def test_ctrl_c_keeps_what_was_played(levels: list[Level], players: list[Player], tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        assert 0 < progress.done <= progress.total and (progress.eta or 0) >= 0
        raise KeyboardInterrupt

    stopped = played(levels, players, folder=tmp_path, progress=stop)
    assert not stopped.complete and 0 < len(stopped.records) < 18
    assert len((tmp_path / journal.TRACES).read_text().splitlines()) == len(stopped.records)
    assert timeless(batch.resume(tmp_path).records) == timeless(played(levels, players).records)


def test_where_levels_lie_changes_nothing(levels: list[Level], players: list[Player], tmp_path: Path) -> None:
    made = played(levels[:1], players[:2], 1, folder=tmp_path)
    moved = [dataclasses.replace(level, source="/somewhere/else.txt") for level in levels[:1]]
    assert played(moved, players[:2], 1, folder=tmp_path).records == made.records
    assert timeless(played(moved, players[:2], 1).records) == timeless(made.records)


def test_another_playtest_is_not_mixed_in(levels: list[Level], players: list[Player], tmp_path: Path) -> None:
    played(levels[:1], players[:2], 1, folder=tmp_path)
    with pytest.raises(RunError, match="other seed"):
        played(levels[:1], players[:2], 1, folder=tmp_path, seed=6)
    with pytest.raises(RunError, match="other trials"):
        played(levels[:1], players[:2], 2, folder=tmp_path)


def test_damaged_folders_are_told_by_their_place(levels: list[Level], players: list[Player], tmp_path: Path) -> None:
    played(levels[:1], players[:2], 2, folder=tmp_path)
    traces, config = tmp_path / journal.TRACES, tmp_path / journal.CONFIG
    good = traces.read_text()
    first, second, *_ = good.splitlines(keepends=True)
    traces.write_text(second + first)
    with pytest.raises(RunError, match=r"traces\.jsonl:1"):
        batch.resume(tmp_path)
    traces.write_text(first + "{}\n")
    with pytest.raises(RunError, match=r"traces\.jsonl:2"):
        batch.resume(tmp_path)
    traces.write_text(good)
    text = unsealed(config)
    config.write_text(text.replace(f'"game_version": {GAME.version}', '"game_version": 99'))
    with pytest.raises(RunError, match="rules of the game have changed"):
        batch.resume(tmp_path)
    config.write_text(text.replace('"utility"', '"futility"'))
    with pytest.raises(RunError, match=r"playtest\.json:\d+"):
        batch.resume(tmp_path)
    config.unlink()
    with pytest.raises(RunError, match="not the folder of a playtest"):
        batch.resume(tmp_path)


def test_a_folder_in_use_is_left_alone(levels: list[Level], players: list[Player], tmp_path: Path) -> None:
    played(levels[:1], players[:2], 1, folder=tmp_path)
    from persona_evo.jobs.lock import Lock

    with Lock(tmp_path), pytest.raises(RunError, match="in use"):
        batch.resume(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trials": 0}, "trials is out of range"),
        ({"trials": True}, "trials is out of range"),
        ({"levels": []}, "needs levels"),
        ({"players": []}, "needs players"),
    ],
)
def test_nonsense_is_refused(change: dict[str, Any], said: str, levels: list[Level], players: list[Player]) -> None:
    given: dict[str, Any] = {"levels": levels, "players": players, "trials": 1, **change}
    with pytest.raises(SettingsError, match=said):
        batch.playtest(GAME, given["levels"], given["players"], given["trials"], seed=1)


def test_names_must_differ(levels: list[Level], players: list[Player]) -> None:
    with pytest.raises(SettingsError, match="two players"):
        played(levels, [players[1], players[1]], 1)
    with pytest.raises(SettingsError, match="two levels"):
        played([levels[0], levels[0]], players, 1)
    with pytest.raises(SettingsError, match="baseline is not one of the players"):
        played(levels, players[:1], 1)


def test_what_was_played_is_a_limit(levels: list[Level], players: list[Player]) -> None:
    records = played(levels, players).records
    known = bounds(GAME, levels, [p.persona for p in players], records, seconds=0)
    for r in records:
        assert known[r.level, r.persona].utility >= r.utility
    assert known["test01", "runner"].utility == max(
        r.utility for r in records if (r.level, r.persona) == ("test01", "runner")
    )


def test_limits_are_kept_beside_the_playthroughs(
    levels: list[Level], players: list[Player], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killer = players[2].persona
    found = bounds(GAME, levels[:1], [killer], seconds=0.3, folder=tmp_path)
    assert found["test01", "monster_killer"].metrics.keys() == set(GAME.symbols)
    monkeypatch.setattr("persona_evo.playtest.bounds.answer", lambda question: pytest.fail("asked again"))
    assert bounds(GAME, levels[:1], [killer], seconds=0.3, folder=tmp_path) == found


def test_time_alone_does_not_ask_for_all_memory() -> None:
    assert room(Budget(None, seconds=0.5)) == 500_000
    assert room(Budget(1000)) == 1001
    assert room(Budget(None, nodes=77)) == 77


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("players", 0, "formula"), 5),
        (("players", 0, "formula"), "1 +"),
        (("players", 0, "c"), "x"),
        (("players", 0, "c"), -1),
        (("players", 0, "priority"), ["MS"]),
        (("players", 0, "utility"), 3),
        (("players", 0), 7),
        (("players",), []),
        (("levels", 0, "options", "rules"), ["paper"]),
        (("levels",), {}),
        (("budget",), []),
        (("budget", "iterations"), "x"),
        (("search",), 3),
        (("trials",), 0),
        (("seed",), "x"),
    ],
)
def test_each_value_of_a_configuration_is_checked(
    levels: list[Level], players: list[Player], tmp_path: Path, path: tuple[Any, ...], value: Any
) -> None:
    texts = tuple(LevelText.of(level) for level in levels)
    roles = tuple(Role.of(p) for p in players)
    spec = Spec(GAME.name, texts, roles, SearchSettings.anytime(), BUDGET)
    data: Any = json.loads(json.dumps({"schema": 1, **journal.configuration(spec, GAME, players, 2, 1)}))
    (tmp_path / journal.CONFIG).write_text(json.dumps(data))
    journal.reopen(tmp_path)
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (tmp_path / journal.CONFIG).write_text(json.dumps(data))
    with pytest.raises(RunError, match=rf"playtest\.json:1:\d+: \.{path[0]}"):
        journal.reopen(tmp_path)


@pytest.mark.parametrize(
    ("lists", "at"),
    [
        (3, ".players[0].lists"),
        ([{"score": "1 +"}], ".players[0].lists[0].score"),
    ],
)
def test_lists_of_a_player_are_checked(
    levels: list[Level], players: list[Player], tmp_path: Path, lists: Any, at: str
) -> None:
    played(levels[:1], players[:2], 1, folder=tmp_path)
    data = json.loads(unsealed(tmp_path / journal.CONFIG))
    data["players"][0]["lists"] = lists
    (tmp_path / journal.CONFIG).write_text(json.dumps(data))
    with pytest.raises(RunError) as caught:
        journal.reopen(tmp_path)
    assert str(caught.value.what).startswith(at)


def test_what_another_player_came_to_is_a_limit_too() -> None:
    from persona_evo.personas import load
    from persona_evo.playtest.bounds import _with_records
    from persona_evo.playtest.metrics import Bound
    from persona_evo.playtest.records import Playthrough

    game = registry.get("minidungeons2")
    runner = load("runner", game)
    metrics = {**dict.fromkeys(game.symbols, 0.0), "PE": 1.0, "ST": 10.0}
    passed = Playthrough("one", "killer", "won", metrics, 0.3, 10, persona="monster_killer")
    found = _with_records({("one", "runner"): Bound(0.5, False, {})}, [passed], {"runner": runner})
    assert found["one", "runner"].utility == pytest.approx(0.9) and not found["one", "runner"].proven
