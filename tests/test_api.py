"""The README's ten lines, in small."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

import persona_evo as pe
from tests.cli.tool import environment


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> pe.Outcome:
    return pe.evolve_policy(
        "monster_killer", ["train01", "train02"], generations=2, population=8, islands=2, elites=1, migrants=1,
        iterations=60, seed=1, jobs=1, out=tmp_path_factory.mktemp("runs"), final_trials=2,
    )  # fmt: skip


def test_the_main_job_in_ten_lines(outcome: pe.Outcome, tmp_path: Path) -> None:
    killer = pe.load_persona("monster_killer")
    assert outcome.status == "finished" and outcome.policy is not None
    policy = pe.load_policy(outcome.policy)
    assert pe.parse(policy.best).text == policy.best
    players = [pe.player(killer, policy, baseline="monster_killer/ucb1"), pe.player(killer, "ucb1")]
    results = pe.playtest_levels(
        ["test01", "test02"], players, trials=4, iterations=100, seed=1, jobs=1, folder=tmp_path / "p"
    )
    text = str(results)
    assert "monster_killer/ucb1" in text and "findings" in text and "level by level" in text
    page = results.write(tmp_path / "p", replays=False)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "p" / "traces.jsonl").read_text(encoding="utf-8").count("\n") == 16
    assert len(list((tmp_path / "p" / "pictures").glob("*.png"))) >= 2
    assert not results.check("monster_killer.win_rate > 1").passed
    assert results.check("monster_killer.win_rate >= 0").passed


def test_a_run_is_a_policy_and_goes_on(outcome: pe.Outcome) -> None:
    assert pe.load_policy(outcome.folder) == pe.load_policy(outcome.policy or "")
    longer = pe.resume_evolution(outcome.folder, generations=3, jobs=1)
    assert longer.generations == 3 and longer.policy != outcome.policy


def test_a_plan_follows_from_its_seed_and_a_solution_is_no_worse() -> None:
    level = pe.load_level("train01")
    runner = pe.load_persona("runner")
    plan = pe.plan(level, runner, "ucb1", iterations=200, seed=3)
    again = pe.plan("train01", "R", "ucb1", iterations=200, seed=3)
    assert dataclasses.replace(again, seconds=plan.seconds) == plan
    game = pe.load_game()
    assert runner.utility.evaluate(game.measure(level, game.replay(level, plan.actions)[-1])) == plan.utility
    best = pe.solve(level, runner, seconds=2)
    end = game.replay(level, best.actions)[-1]
    assert runner.utility.evaluate(game.measure(level, end)) == pytest.approx(best.utility)
    assert best.utility >= plan.utility


def test_two_versions_of_a_level_are_told_apart(tmp_path: Path) -> None:
    open_door, far = tmp_path / "a.txt", tmp_path / "b.txt"
    open_door.write_text("XXXXXXXX\nXH     e\nXXXXXXXX\n")
    far.write_text("XXXXXXXXXXXXXXXX\nXH  tttt       e\nXXXXXXXXXXXXXXXX\n")
    found = pe.compare(open_door, far, pe.player("runner", "ucb1", "runner"), trials=8, iterations=200, seed=1, jobs=1)
    assert any(row.differs() for row in found.rows)
    assert "runner" in str(found)
    with pytest.raises(pe.PersonaEvoError, match="two levels"):
        pe.compare(open_door, open_door, pe.player("runner", "ucb1"), trials=1)


def test_policies_are_found_by_what_they_are_called() -> None:
    runner, game = pe.load_persona("runner"), pe.load_game()
    from persona_evo.api.naming import tree_policy

    assert tree_policy("ucb1", runner, game).kind == "ucb1"
    assert tree_policy("ucb1:0.5", runner, game).c == 0.5
    assert tree_policy("paper", runner, game).name == "paper_runner"
    assert tree_policy("formula:R + PE", runner, game).text == "R + PE"
    assert tree_policy(pe.load_policy("paper_runner"), runner, game) == tree_policy("paper_runner", runner, game)
    with pytest.raises(pe.PersonaEvoError, match="no paper policy for looter"):
        tree_policy("paper", pe.load_persona("looter_then_runner"), game)
    assert pe.player(runner, "ucb1").label == "runner/ucb1"


def test_one_level_is_one_level() -> None:
    with pytest.raises(pe.PersonaEvoError, match="several levels"):
        pe.load_level("train")
    assert [level.name for level in pe.load_levels("test01", "train02")] == ["test01", "train02"]
    assert pe.load_level("test01", rules="paper").options["rules"] == "paper"
    with pytest.raises(pe.PersonaEvoError, match="no such"):
        pe.load_level("test01", wrong=True)


def test_all_names_are_there_and_loaded_late() -> None:
    for name in pe.__all__:
        assert getattr(pe, name) is not None
    assert set(pe.__all__) <= set(dir(pe))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pe.nothing  # noqa: B018
    code = "import sys, persona_evo, persona_evo.cli.main as m; m.parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    heavy = {"numpy", "numba", "sympy", "deap", "matplotlib", "joblib"} & set(done.stdout.split())
    assert not heavy, "the command line's parser loads what only commands need"
