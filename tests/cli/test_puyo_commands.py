"""Tests that Puyo-Puyo works with the same commands as MiniDungeons 2, given only the game's name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.personas import catalog
from persona_evo.search.actor import Actor, play_game
from persona_evo.search.settings import Budget, SearchSettings
from tests.cli.tool import run

GAME = registry.get("puyo")


@pytest.mark.usefixtures("unsimplified")
def test_evolved_then_playtested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(
        capsys,
        "evolve",
        "--game",
        "puyo",
        "--persona",
        "greedy",
        "--levels",
        "stairs01",
        "--generations",
        "2",
        "--population",
        "10",
        "--iterations",
        "40",
        "--jobs",
        "1",
        "--seed",
        "3",
        "--out",
        tmp_path / "runs",
    )
    assert done.code == 0, done.err
    (policy,) = (tmp_path / "runs").glob("*/policy.json")
    assert json.loads(policy.read_text(encoding="utf-8"))["game"] == "puyo"
    out = tmp_path / "played"
    done = run(
        capsys,
        "playtest",
        "stairs01",
        "--game",
        "puyo",
        "--personas",
        "greedy",
        "--policy",
        policy,
        "--baseline",
        "ucb1",
        "--iterations",
        "300",
        "--trials",
        "2",
        "--jobs",
        "1",
        "--seed",
        "3",
        "--bound-seconds",
        "1",
        "--out",
        out,
    )
    assert done.code == 0 and "SC score" in done.out, done.err
    traces = [json.loads(line) for line in (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(traces) == 4 and any(e[1] == "chain of 4" for t in traces for e in _events(t))
    assert list((out / "pictures").glob("stairs01-*.gif"))


def _events(trace: dict[str, object]) -> list[list[object]]:
    found = trace["events"]
    assert isinstance(found, list)
    return [list(e.values()) if isinstance(e, dict) else e for e in found]


def test_solved_with_the_levels_own_horizon(capsys: pytest.CaptureFixture[str]) -> None:
    """The level ends after 12 drops, so no survivor is worth more than 0.12, and a plan of 12 drops is proven best."""
    done = run(
        capsys,
        "solve",
        "stairs01",
        "--game",
        "puyo",
        "--persona",
        "survivor",
        "--method",
        "flat",
        "--states",
        "20000",
        "--seed",
        "1",
    )
    assert done.code == 0 and "utility 0.12 (proven: no plan is better), won in 12" in done.out
    done = run(
        capsys,
        "solve",
        "stairs01",
        "--game",
        "puyo",
        "--persona",
        "chain_builder",
        "--method",
        "bfs",
        "--states",
        "2000",
        "--seed",
        "1",
    )
    assert done.code == 0 and "without a known upper bound" in done.out and "LC=4" in done.out


def test_levels_and_personas_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "level", "check", "all", "--game", "puyo")
    assert done.code == 0 and "18 levels are fine" in done.out
    assert {p.short for p in catalog("puyo")} == {"CB", "SV", "GR", "CA"}
    for persona in catalog("puyo"):
        assert persona.priority in GAME.symbols


@pytest.mark.parametrize("name", ["puyo", "puyo_hidden"])
def test_tree_search_plays_both_queues(name: str) -> None:
    """Within the visible pairs both games are the same; the hidden queue is searched as a game of chance."""
    game = registry.get(name)
    (level,) = mapsets.resolve(game, ["stairs01"])
    utility = parse("SC / 1000 - 100 * DEAD", game.symbols)
    settings = SearchSettings(horizon=2, rollout=2, expansion="random")
    actor = Actor(game, level, utility, None, Budget(2_000), settings, choose="max", seed=4)
    played = play_game(game, level, [actor], seed=0)
    assert played.metrics[0]["LC"] == 4 and len(played.actions) == 12
