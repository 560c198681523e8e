"""Tests tree policies in move-by-move play of single-player games: any number of cores, hidden pairs, resuming."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.agents.agent_files import load_agents
from persona_evo.agents.duel import League, Solo, plain
from persona_evo.cli.main import main
from persona_evo.errors import PersonaError, RunError, SettingsError
from persona_evo.evolve.driving import FINISHED
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict, spec_to_dict
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.run import resume
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import usual
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game
from persona_evo.matches import names
from persona_evo.personas import catalog, load
from persona_evo.playtest import batch, playing
from persona_evo.playtest.journal import CONFIG
from persona_evo.playtest.players import Player
from persona_evo.report import replay
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive, stream
from persona_evo.store import policies, runs
from tests.evolve.evolving import evolve
from tests.shared import unsealed

GAME, HIDDEN = registry.get("puyo"), registry.get("puyo_hidden")
BUILDER = load("chain_builder", GAME)
MOVER = names.league(GAME, "", "mover")
BUDGET = Budget(iterations=30)
POLICY = TreePolicy.of("R + 0.1 * sqrt(log(P) / N)", GAME)
SMALL = EvolutionSettings.of(
    "modern",
    population=6,
    islands=2,
    generations=3,
    final_trials=2,
    final_candidates=2,
    reevaluations=2,
    first=("ucb1",),
    **usual(GAME, MOVER),
)


def levels(game: Game = GAME) -> list[Any]:
    return mapsets.resolve(game, ["short01", "stairs01"])


def evolved(root: Path, jobs: int = 1, game: Game = GAME, **more: Any) -> Outcome:
    given = {"settings": SMALL, "seed": 4, "budget": BUDGET, "league": MOVER, **more}
    return evolve(game, replace(BUILDER, game=game.name), levels(game), root=root, name="run", jobs=jobs, **given)


def journal(folder: Path) -> list[dict[str, Any]]:
    return [runs.comparable(row) for row in runs.read_journal(folder)]


@pytest.mark.parametrize("game", [GAME, HIDDEN], ids=lambda g: g.name)
def test_a_game_alone_is_one_search_a_move_and_replays_with_the_same_luck(game: Game) -> None:
    level = levels(game)[0]
    solo = Solo(game, level, MOVER.agent)
    found = solo.plan(BUILDER.utility, POLICY, BUDGET, 9)
    states = game.replay(level, found.actions, stream(9), 9)
    assert len(found.actions) == 16 and found.iterations == 30 * 16
    assert found.metrics == game.measure(level, states[-1])
    assert found.utility == pytest.approx(0.1 * found.metrics["LC"] + 0.02 * found.metrics["CP"])
    assert replace(solo.plan(BUILDER.utility, POLICY, BUDGET, 9), seconds=0.0) == replace(found, seconds=0.0)
    record = playing.record(game, level, found)
    assert (states[-1] == list(replay.states(game, level, record))[-1]).all()
    others = {solo.plan(BUILDER.utility, POLICY, BUDGET, seed).actions for seed in (9, 10, 11)}
    assert len(others) == 3


def test_hidden_pairs_differ_from_seed_to_seed_and_known_ones_do_not() -> None:
    for game, kinds in ((GAME, 1), (HIDDEN, 3)):
        level = levels(game)[0]
        starts = {game.start(level, seed).tobytes() for seed in (1, 2, 3)}
        assert len(starts) == kinds


def test_hidden_pairs_have_the_personas_of_known_ones() -> None:
    assert [p.name for p in catalog(HIDDEN)] == [p.name for p in catalog(GAME)] == [p.name for p in catalog("puyo")]
    for game in (HIDDEN, "puyo_hidden"):
        persona = load("chain_builder", game)
        assert (persona.game, persona.utility) == ("puyo_hidden", BUILDER.utility)
    with pytest.raises(PersonaError, match="no such persona"):
        load("chain_builder", "colosseum")


def test_a_template_without_a_utility_plays_for_what_the_persona_wants() -> None:
    level, survivor = levels()[0], load("survivor", GAME)
    assert MOVER.agent.utility == ""
    found = Solo(GAME, level, MOVER.agent).plan(survivor.utility, POLICY, BUDGET, 3)
    said = Solo(GAME, level, replace(MOVER.agent, utility=survivor.utility.text))
    assert said.plan(survivor.utility, POLICY, BUDGET, 3).actions == found.actions
    assert said.plan(BUILDER.utility, POLICY, BUDGET, 3).actions == found.actions
    assert Solo(GAME, level, MOVER.agent).plan(BUILDER.utility, POLICY, BUDGET, 3).actions != found.actions


def test_the_flat_agent_is_the_search_of_the_publication() -> None:
    level, flat = levels()[0], names.agent(GAME, "flat")
    found = Solo(GAME, level, flat).plan(BUILDER.utility, POLICY, Budget(iterations=44), 5)
    look = Lookahead(GAME, level, BUILDER.utility, 4, "flat", Allowance(44), seed=derive(5, "agent", 0))
    assert [look.choose(s) for s in GAME.replay(level, found.actions)[:-1]] == list(found.actions)
    assert found.iterations == 44 * 16


def test_a_long_level_is_played_to_its_own_end() -> None:
    level = GAME.load("drops = 160\ncolours = 3", "long")
    found = Solo(GAME, level, MOVER.agent).plan(load("survivor", GAME).utility, POLICY, Budget(iterations=60), 1)
    assert found.metrics["DR"] == 160 or found.metrics["DEAD"] == 1


def test_cases_are_the_levels_and_the_specification_survives_its_file() -> None:
    spec = FitnessSpec.of("puyo", levels(), BUILDER.utility, SearchSettings(), BUDGET, "LC", MOVER)
    assert spec.cases == ("short01", "stairs01") and MOVER.sides == 1
    assert spec_from_dict("puyo", "LC", json.loads(json.dumps(spec_to_dict(spec)))) == spec
    assert usual(GAME) == {} and usual(GAME, MOVER) == {"variables": "extended"}


@pytest.mark.usefixtures("unsimplified")
@pytest.mark.parametrize("game", [GAME, HIDDEN], ids=lambda g: g.name)
def test_an_evolution_move_by_move_is_the_same_on_two_cores_and_resumed(game: Game, tmp_path: Path) -> None:
    whole = evolved(tmp_path / "one", game=game)
    rows = journal(whole.folder)
    assert whole.status == FINISHED and len(rows) == 6
    part = evolved(tmp_path / "part", game=game, settings=replace(SMALL, generations=1))
    part = resume(part.folder, generations=3, jobs=2)
    assert part.status == FINISHED and journal(part.folder) == rows
    assert whole.policy is not None and part.policy is not None
    policy = policies.read(whole.policy)
    assert policies.read(part.policy).formula == policy.formula and list(policy.fitness) == ["short01", "stairs01"]
    assert policy.agent["utility"] == BUILDER.utility.text and "opponents" not in policy.run
    agent = names.agent(game, str(whole.policy))
    assert (agent.policy, agent.answer) == (policy.best, MOVER.agent.answer)


def test_a_playtest_move_by_move_has_agents_beside_tree_policies_and_goes_on(tmp_path: Path) -> None:
    survivor = load("survivor", GAME)
    players = [
        Player(BUILDER, POLICY, baseline="flat"),
        Player.of_agent(BUILDER, names.agent(GAME, "flat"), GAME, "flat"),
        Player.of_agent(survivor, names.agent(GAME, "uct"), GAME),
    ]
    given: dict[str, Any] = {"seed": 5, "budget": BUDGET, "league": MOVER}
    for game in (GAME, HIDDEN):
        folder = tmp_path / game.name
        whole = batch.playtest(game, levels(game), players, 2, folder=folder, **given)
        assert len(whole.records) == 12 and {r.policy for r in whole.records} == {"formula", "flat", "uct"}
        assert all(r.iterations == 30 * r.steps for r in whole.records)
        lines = (folder / "traces.jsonl").read_text().splitlines(keepends=True)
        (folder / "traces.jsonl").write_text("".join(lines[:5]))
        again = batch.resume(folder, jobs=2)
        assert [p.agent for p in again.players] == [p.agent for p in players]
        assert [replace(r, seconds=0.0) for r in again.records] == [replace(r, seconds=0.0) for r in whole.records]
    config = folder / CONFIG
    text = unsealed(config)
    config.write_text(text.replace('"kind": "flat"', '"kind": "flit"'))
    with pytest.raises(RunError, match=r"playtest\.json:\d+(.|\n)*flit"):
        batch.resume(folder)


def test_who_cannot_play_move_by_move(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[short]\nkind = "flat"\n')
    for words, message in (
        (("", "flat"), "no tree policy that could be replaced"),
        (("", "mowver"), r"no such agent(.|\n)*mover"),
        (("", "mover", ["flat"]), "a league is for two-player games"),
        (("", f"{own}#short"), r"mine\.toml.*how many moves"),
    ):
        with pytest.raises(SettingsError, match=message):
            names.league(GAME, *words)
    with pytest.raises(SettingsError, match="move by move"):
        batch.playtest(GAME, levels(), [Player.of_agent(BUILDER, names.agent(GAME, "flat"), GAME)], 1, seed=1)
    with pytest.raises(SettingsError, match="agents that play move by move have search settings"):
        evolved(tmp_path, search=SearchSettings.anytime())
    own.write_text('[flat]\nkind = "flat"\nutility = "WIN"\nsearch = { horizon = 3 }\n[none]\nkind = "search"\n')
    for line, message in (("flat", "single-player games"), ("none", "no utility")):
        with pytest.raises(SettingsError, match=message):
            text = own.read_text().split("[none]")
            own.write_text(text[0] if line == "flat" else "[none]\nkind = 'search'\n")
            load_agents(own, registry.get("colosseum"))


def test_an_agent_of_ones_own_plays_any_game_for_one(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[walker]\nkind = "search"\nsearch = { horizon = 12, rollout = 6 }\niterations = 20\n')
    game = registry.get("minidungeons2")
    league = names.league(game, "", f"{own}#walker")
    runner = load("runner", game)
    found = batch.playtest(
        game, mapsets.resolve(game, ["train01"]), [Player(runner, TreePolicy.ucb1())], 2, seed=2, league=league
    )
    assert all(r.iterations == 20 * r.steps and len(r.positions) == r.steps + 1 for r in found.records)
    assert League.from_dict(json.loads(json.dumps(league.to_dict())), game) == league


def test_commands_evolve_and_playtest_with_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ["--game", "puyo", "--iterations", "20", "--jobs", "1", "--seed", "1"]
    assert (
        main(
            [
                "evolve",
                *own,
                "--persona",
                "chain_builder",
                "--levels",
                "stairs01",
                "--agent",
                "mover",
                "--population",
                "4",
                "--islands",
                "1",
                "--generations",
                "1",
                "--set",
                "final_trials=1",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "20 iterations a move" in said.err and "against" not in said.err and "match" not in said.out
    policy = next(tmp_path.glob("*/policy.json"))
    assert f"--policy {policy} --agent {policy}" in said.out
    assert (
        main(
            [
                "playtest",
                "short03",
                *own,
                "--personas",
                "chain_builder,survivor",
                "--policy",
                str(policy),
                "--agent",
                str(policy),
                "--baseline",
                "agent:flat",
                "--trials",
                "2",
                "--bound-seconds",
                "0",
                "--no-pictures",
                "--out",
                str(tmp_path / "p"),
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "policy, flat play move by move" in said.err and "chain_builder/flat" in said.out
    for words, message in (
        (["evolve", "--persona", "chain_builder", "--agent", "flat"], "no tree policy that could be replaced"),
        (["evolve", "--persona", "chain_builder", "--agent", "nobody"], "no such agent"),
        (
            ["evolve", "--persona", "chain_builder", "--agent", "mover", "--league", "flat"],
            "--league is for two-player games",
        ),
        (
            ["evolve", "--persona", "chain_builder", "--agent", "mover", "--search", "paper"],
            "have search settings of their own",
        ),
        (["playtest", "short03", "--policy", "agent:flat"], "move by move"),
        (["playtest", "short03", "--policy", "agent:nobody", "--agent", "mover"], "no such agent"),
    ):
        assert main([*words, *own]) != 0
        err = capsys.readouterr().err
        assert message in err and "Traceback" not in err


def test_a_policy_for_moves_that_plans_whole_levels_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    policy = policies.Policy("mine", "puyo", formula="R + 0.1*sqrt(log(P) / N)", agent=plain(MOVER.agent))
    policies.write(policy, path)
    words = [
        "playtest",
        "short01",
        "--game",
        "puyo",
        "--personas",
        "chain_builder",
        "--policy",
        str(path),
        "--trials",
        "1",
        "--iterations",
        "20",
        "--jobs",
        "1",
        "--bound-seconds",
        "0",
        "--no-pictures",
        "--seed",
        "1",
    ]
    assert main([*words, "--out", str(tmp_path / "whole")]) == 0
    assert f"as it was evolved: --agent {path}" in capsys.readouterr().err
    assert main([*words, "--agent", str(path), "--out", str(tmp_path / "moves")]) == 0
    assert "as it was" not in capsys.readouterr().err
