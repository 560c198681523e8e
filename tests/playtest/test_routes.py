"""Tests that trials after a proof show routes of the proven search, however the work is divided or interrupted."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any, ClassVar

import pytest

from persona_evo import personas
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import dispatch
from persona_evo.jobs.cache import WorkerCache
from persona_evo.jobs.workers import Workers
from persona_evo.personas.lists import DEFAULT_LISTS
from persona_evo.playtest import batch, journal, playing
from persona_evo.playtest.players import Player, Role
from persona_evo.playtest.playing import PlaythroughJob, ProvenSource, Spec, draws
from persona_evo.playtest.playthrough_dispatch import PlaythroughDispatch
from persona_evo.playtest.records import Playthrough
from persona_evo.search.plan import Plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

GAME = registry.get("minidungeons2")
SETTINGS = SearchSettings(tolerance=0.01)
LEVELS = [
    GAME.load("XXXXXXX\nXH    X\nX     X\nX     X\nX    eX\nXXXXXXX", "room"),
    GAME.load("XXXXXXXX\nXH     X\nX     eX\nXXXXXXXX", "hall"),
]
TRIALS = 7


def walk(game: Game, level: Level, *seeds: int) -> tuple[int, ...]:
    """Random moves, the same for the same seeds."""
    rng, state, moves = random.Random(f"{seeds}"), game.start(level), []
    for _ in range(6):
        if game.over(level, state):
            break
        moves.append(rng.choice(game.legal(level, state)))
        state = game.replay(level, moves)[-1]
    return tuple(moves)


class Fake:
    """A planner whose seed says whether it proves its plan, and that refuses to draw from a tree it does not hold."""

    asked: ClassVar[list[int]] = []
    proving = 3

    def __init__(self, game: Game, level: Level, settings: SearchSettings, capacity: int) -> None:
        self.game, self.level, self.held = game, level, -1

    def made(self, moves: tuple[int, ...], seed: int, best: tuple[int, ...], proven: bool) -> Plan:
        end = self.game.replay(self.level, moves)[-1]
        return Plan(
            moves,
            0.99,
            self.game.measure(self.level, end),
            self.game.over(self.level, end),
            50,
            40,
            0.001,
            "exhausted" if proven else "budget",
            proven,
            seed,
            1.0,
            best,
        )

    def plan(self, utility: Any, policy: Any, budget: Budget, seed: int) -> Plan:
        self.held, best = seed, walk(self.game, self.level, seed)
        if budget.iterations != 1:
            self.asked.append(seed)
        return self.made(best, seed, best, seed % self.proving == 0)

    def another(self, found: Plan, seed: int) -> Plan:
        assert found.proven and self.held == found.seed, "the tree is another search's by now"
        return self.made(walk(self.game, self.level, found.seed, seed), seed, found.best_actions, True)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    Fake.asked.clear()
    monkeypatch.setattr(playing, "planner_for", Fake)
    monkeypatch.setattr(playing, "_tables", WorkerCache(1))


def players() -> list[Player]:
    runner, killer = personas.resolve(["R", "MK"], GAME)
    return [
        Player(runner, TreePolicy.utility(runner.utility)),
        Player(runner, TreePolicy.ucb1(), "runner/ucb1"),
        Player(killer, TreePolicy.of("MS - 0.01 * ST", GAME)),
        Player(killer, TreePolicy.of("R + MS", GAME), "reads R"),
    ]


def played(**options: Any) -> list[Playthrough]:
    given = {"seed": 3, "budget": Budget(50), "settings": SETTINGS, **options}
    found = batch.playtest(GAME, LEVELS, players(), TRIALS, **given).records
    return [dataclasses.replace(r, seconds=0.0) for r in found]


def jobs() -> tuple[Spec, list[PlaythroughJob]]:
    texts = tuple(LevelText.of(level) for level in LEVELS)
    spec = Spec(GAME.name, texts, tuple(Role.of(p) for p in players()), SETTINGS, Budget(50))
    return spec, spec.jobs(TRIALS, 3)


def test_all_trials_after_a_proof_are_drawn_from_it_and_only_those() -> None:
    records = played()
    _, todo = jobs()
    first: dict[tuple[int, int], PlaythroughJob] = {}
    drawn = 0
    for job, record in zip(todo, records, strict=True):
        source = first.get(job.group)
        level = LEVELS[job.level]
        best = walk(GAME, level, source.seed if source else job.seed)
        route = walk(GAME, level, source.seed, job.seed) if source else best
        names = [[GAME.action_name(level, level.start, a) for a in moves] for moves in (best, route)]
        assert [record.best_actions, record.actions] == names and record.seed == job.seed
        assert (record.utility, record.best_utility) == (0.99, 1.0)
        assert record.search == (source.trial if source else None)
        assert (record.iterations, record.nodes) == ((0, 0) if source else (50, 40))
        assert record.proven == (source is not None or job.seed % 3 == 0)
        assert record.stopped == ("proven best" if record.proven else "budget")
        if job.player in (0, 2) and job.seed % 3 == 0:
            first.setdefault(job.group, job)
        drawn += source is not None
    assert len(first) > 1 and 0 < drawn < len(records)


def test_neither_jobs_nor_the_cut_of_the_work_change_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = played()
    rng = random.Random(1)

    def cut(plays: PlaythroughDispatch, first: int, most: int, seconds: float) -> tuple[int, float]:
        return rng.randint(1, min(most, 5)), rng.choice([0.0, 1.0])

    monkeypatch.setattr(PlaythroughDispatch, "size", cut)
    for _ in range(5):
        assert played() == whole
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    for _ in range(5):
        assert played(jobs=3, backend="threading") == whole
    monkeypatch.setattr(PlaythroughDispatch, "size", lambda *_: (1, 0.0))
    assert played() == whole
    assert played(jobs=3, backend="threading") == whole
    monkeypatch.undo()


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 5, 6, 9, 16, 18, 20, 30, 45, 55, 56])
def test_a_batch_goes_on_wherever_it_was_stopped(kept: int, tmp_path: Path) -> None:
    whole = played(folder=tmp_path)
    traces = tmp_path / journal.TRACES
    lines = traces.read_bytes().splitlines(keepends=True)
    traces.write_bytes(b"".join(lines[:kept]))
    playing._tables.clear()
    assert [dataclasses.replace(r, seconds=0.0) for r in batch.resume(tmp_path).records] == whole


def test_a_group_that_is_proven_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "proving", 1)
    records = played()
    searched = {(r.level, r.player) for r in records if r.search is not None}
    assert searched == {(level.name, p) for level in LEVELS for p in ("runner", "monster_killer")}
    assert len(Fake.asked) == len(LEVELS) * (2 + 2 * TRIALS)


def test_a_search_that_is_not_proven_again_is_no_source() -> None:
    """Under a budget of time the same seed may come less far; then the trial searches itself."""
    spec, todo = jobs()
    job = next(j for j in todo if j.trial == 3 and j.player == 0)
    unproven = next(j.seed for j in todo if j.seed % 3)
    (record,) = playing.play(spec, [job._replace(source=ProvenSource(0, unproven))])
    assert record.search is None and record.seed == job.seed and Fake.asked == [unproven, job.seed]


def test_what_draws_is_said_by_settings_game_and_policy() -> None:
    usual = TreePolicy.of("MS", GAME)
    assert draws(GAME, SETTINGS, usual) and draws(GAME, SearchSettings.anytime(), usual), "whatever the tolerance"
    assert draws(GAME, SETTINGS, TreePolicy("own", None, lists=DEFAULT_LISTS[:1]))
    for settings, policy in (
        (SearchSettings.single(), usual),
        (SearchSettings.paper(), usual),
        (SETTINGS, TreePolicy.ucb1()),
        (SETTINGS, TreePolicy.of("R", GAME)),
    ):
        assert not draws(GAME, settings, policy)
    assert not draws(dataclasses.replace(GAME, players=2), SETTINGS, usual)
    assert not draws(dataclasses.replace(GAME, deterministic=False), SETTINGS, usual)


def test_a_part_keeps_what_draws_from_one_search_together() -> None:
    spec, todo = jobs()
    with Workers(2, "threading") as workers:
        plays = PlaythroughDispatch(spec, todo, [], workers, 1.0)
        assert plays.size(0, len(todo), 0.5)[0] == TRIALS, "nothing is known yet: all wait for the first search"
        assert plays.size(TRIALS, len(todo) - TRIALS, 0.5)[0] == 1, "UCB1 never draws"
        known = PlaythroughDispatch(spec, todo, [], workers, 0.001)
        known._proofs[todo[0].group] = ProvenSource(0, 1)
        assert known.size(1, TRIALS - 1, 0.05)[0] == TRIALS - 1


def test_results_say_within_what_the_trials_of_each_player_draw() -> None:
    results = batch.playtest(GAME, LEVELS[:1], players(), 1, seed=1, budget=Budget(50), settings=SETTINGS)
    assert results.tolerances == {"runner": 0.01, "monster_killer": 0.01}
