"""Selection rules and rollout policies of the search from another package."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import persona_evo as pe
from persona_evo.agents.agent_files import load_agents
from persona_evo.errors import SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.search.actor import Actor
from persona_evo.search.plan import Planner
from persona_evo.search.selection_rules import BEST, PRIOR
from persona_evo.search.tree import TOTAL, VISITS
from persona_evo.search.tree_policy import TreePolicy
from tests.cli.tool import run
from tests.examples.corridor import GAME as CORRIDOR
from tests.extensions.conftest import Install
from tests.extensions.examples import examples
from tests.extensions.packages import command

Capture = pytest.CaptureFixture[str]
POINTS = {
    "persona_evo.selection_rules": {"puct": "searching:PUCT", "copy": "searching:COPY", "gone": "searching:NOWHERE"},
    "persona_evo.rollout_policies": {"steady": "searching:STEADY"},
}
COPY = """
@compiled
def ucb1(children, count, parent_visits, depth, scores):
    log_visits = math.log(max(1, parent_visits))
    for k in range(count):
        n = max(1, visits(children, k))
        scores[k] = children[k, 0] / n + math.sqrt(2) * math.sqrt(log_visits / n)
    return 0


COPY = pe.SelectionRule(ucb1)
"""
LITTLE = ("--trials", 2, "--iterations", 60, "--bound-seconds", 0, "--no-pictures", "--seed", 1)


@pytest.fixture
def installed(install: Install) -> dict[str, str]:
    return install("searching", examples()["puct_rule"] + COPY + examples()["steady_rollouts"], POINTS)


def searched(settings: pe.SearchSettings, policy: TreePolicy, iterations: int = 400) -> tuple[pe.Plan, Planner]:
    game = registry.get("minidungeons2")
    (level,) = mapsets.resolve(game, ["test01"])
    planner = Planner(game, level, settings, 1_000)
    plan = planner.plan(pe.parse("PE - 0.1 * ST / 100"), policy, pe.Budget(iterations), 7)
    return replace(plan, seconds=0.0), planner


def test_ucb1_as_a_rule_searches_as_ucb1_does(installed: dict[str, str]) -> None:
    plain, rule = (replace(pe.SearchSettings.single(), selection_rule=name, finish=0.0) for name in ("", "copy"))
    own, _ = searched(plain, TreePolicy.ucb1())
    assert searched(rule, TreePolicy.ucb1())[0] == own and own.nodes > 300


def test_puct_scores_children_as_its_formula_says(installed: dict[str, str]) -> None:
    settings = replace(pe.SearchSettings.single(), selection_rule="puct", finish=0.0)
    game = registry.get("minidungeons2")
    _, planner = searched(settings, TreePolicy.of("4 * PE", game))
    assert planner.setup is not None
    work = planner.setup.engine.work
    slots = list(work.tree.children(0))[::-1]
    assert len(slots) > 1
    values, counts = work.tree.values[slots[0] : slots[-1] + 1].copy(), work.tree.links[slots, VISITS]
    parent = int(work.tree.links[0, VISITS])
    scores = np.zeros(len(slots))
    work.codes.score(values, len(slots), parent, 1, scores)
    weights = [math.exp(p - max(values[:, PRIOR])) for p in values[:, PRIOR]]
    for k, n in enumerate(counts):
        expected = values[k, TOTAL] / n + 1.5 * weights[k] / sum(weights) * math.sqrt(parent) / (1 + n)
        assert scores[k] == pytest.approx(expected, rel=1e-12)
        assert values[k, BEST] >= values[k, TOTAL] / n
    assert len({*values[:, PRIOR]}) > 1


def test_the_prior_leads_the_search(installed: dict[str, str]) -> None:
    settings = replace(pe.SearchSettings.single(), selection_rule="puct", finish=0.0)
    game = registry.get("minidungeons2")
    near, _ = searched(settings, TreePolicy.of("20 * PE", game))
    far, _ = searched(settings, TreePolicy.of("-20 * PE", game))
    assert near.metrics["PE"] > far.metrics["PE"]


def test_a_rollout_policy_serves_several_games(installed: dict[str, str]) -> None:
    usual = replace(pe.SearchSettings.single(), finish=0.0)
    steady = replace(usual, rollout_policy="steady")
    random, other = (searched(s, TreePolicy.ucb1())[0] for s in (usual, steady))
    assert random != other and searched(steady, TreePolicy.ucb1())[0] == other
    game = registry.get("its_alive")
    level = mapsets.resolve(game, ["all"])[0]
    plan = Planner(game, level, steady, 200).plan(pe.parse(game.symbols[0]), TreePolicy.ucb1(), pe.Budget(100), 1)
    assert game.replay(level, plan.actions) and plan.iterations == 100


def test_what_does_not_fit_is_refused(installed: dict[str, str]) -> None:
    single = pe.SearchSettings.single()
    with pytest.raises(pe.PersonaEvoError, match="not for open lists"):
        replace(pe.SearchSettings.anytime(), selection_rule="puct")
    with pytest.raises(pe.PersonaEvoError, match="did you mean 'puct'"):
        replace(single, selection_rule="puctt")
    with pytest.raises(pe.PersonaEvoError, match="the selection rule 'gone' cannot be loaded"):
        searched(replace(single, selection_rule="gone"), TreePolicy.ucb1())
    with pytest.raises(pe.PersonaEvoError, match="cannot be the prior"):
        policy = TreePolicy.of("R + PE", registry.get("minidungeons2"))
        searched(replace(single, selection_rule="puct"), policy)
    with pytest.raises(pe.PersonaEvoError, match="plays its own rollouts"):
        level = CORRIDOR.load("@..>", "short", "")
        settings = replace(single, rollout_policy="steady")
        Planner(CORRIDOR, level, settings, 50).plan(pe.parse(CORRIDOR.symbols[0]), TreePolicy.ucb1(), pe.Budget(10), 1)
    with pytest.raises(pe.PersonaEvoError, match="not compiled"):
        pe.SelectionRule(len)  # type: ignore[arg-type]
    with pytest.raises(pe.PersonaEvoError, match="not compiled"):
        pe.RolloutPolicy(len)


ADDED = {"selection_rule": "puct", "rollout_policy": "steady"}


@pytest.mark.parametrize(("name", "value"), ADDED.items())
def test_play_from_move_to_move_refuses_them(name: str, value: str, installed: dict[str, str], tmp_path: Path) -> None:
    game = registry.get("colosseum")
    told = f"cannot use a {name.replace('_', ' ')} of another package"
    settings = replace(pe.SearchSettings.single(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=f"play from move to move {told}"):
        Actor(game, mapsets.resolve(game, ["all"])[0], pe.parse("WIN"), settings=settings)
    file = tmp_path / "agents.toml"
    file.write_text(f'[mine]\nutility = "WIN"\nsearch = {{ rollout = 3, {name} = "{value}" }}\n')
    with pytest.raises(SettingsError, match=f"agents.toml:3:.*agent mine: an agent.*{told}"):
        load_agents(file, game)


@pytest.mark.parametrize(("name", "value"), ADDED.items())
def test_commands_refuse_them_where_an_agent_plays(
    name: str, value: str, installed: dict[str, str], capsys: Capture
) -> None:
    option = "--" + name.replace("_", "-")
    played = ("playtest", "position01", "--game", "puyo", "--personas", "greedy", "--agent", "uct")
    ran = run(capsys, *played, option, value)
    assert ran.code == 2 and "agent uct, which plays move by move, cannot use" in ran.err, ran


def test_workers_of_the_command_line_have_them(installed: dict[str, str], tmp_path: Path) -> None:
    played = ("playtest", "test01", "--personas", "runner", "--policy", "ucb1", "--search", "single", *LITTLE)
    more = ("--selection-rule", "puct", "--rollout-policy", "steady", "--jobs", 2, "--out", "run")
    done = command(installed, *played, *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    config = next(f.read_text() for f in (tmp_path / "run").glob("*.json") if '"search"' in f.read_text())
    assert '"selection_rule": "puct"' in config and '"rollout_policy": "steady"' in config


def test_lists_and_a_rule_are_refused_on_the_command_line(installed: dict[str, str], capsys: Capture) -> None:
    done = run(capsys, "playtest", "test01", "--personas", "runner", "--policy", "ucb1", "--selection-rule", "puct")
    assert done.code == 2 and "the search 'single' or 'paper'" in done.err, done.err
