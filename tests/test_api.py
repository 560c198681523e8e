"""The README's ten lines, in small."""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

import persona_evo as pe
from tests.cli.tool import environment

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> pe.Outcome:
    return pe.evolve_policy(
        "monster_killer",
        ["train01", "train02"],
        generations=2,
        population=8,
        islands=2,
        elites=1,
        migrants=1,
        iterations=60,
        seed=1,
        jobs=1,
        out=tmp_path_factory.mktemp("runs"),
        final_trials=2,
    )


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
    assert not results.check("monster_killer.steps < 1").passed
    assert results.check("monster_killer.win_rate >= 0").passed


@pytest.mark.usefixtures("unsimplified")
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
    assert found.answer.harder == 1 and str(found).startswith("B is harder than A for the runner")
    page = found.write(tmp_path / "page")
    assert escape(found.answer.lines[0]) in page.read_text(encoding="utf-8")
    with pytest.raises(pe.PersonaEvoError, match="two levels"):
        pe.compare(open_door, open_door, pe.player("runner", "ucb1"), trials=1)


def test_versions_of_several_levels_are_compared_in_pairs(tmp_path: Path) -> None:
    for folder, traps in (("old", "    "), ("new", "tttt")):
        (tmp_path / folder).mkdir()
        for n in range(1, 8):
            row = f"XH{' ' * n}{traps}e"
            (tmp_path / folder / f"room{n}.txt").write_text(f"{'X' * len(row)}X\n{row}X\n{'X' * len(row)}X\n")
    sides = [tmp_path / folder for folder in ("old", "new")]
    found = pe.compare(*sides, pe.player("runner", "ucb1", "runner"), trials=2, iterations=200, seed=1, jobs=1)
    assert [(a.name, b.name) for a, b in found.pairs][:1] == [("old/room1", "new/room1")] and len(found.pairs) == 7
    damage = next(row for row in found.rows if row.measure.key == "damage")
    assert damage.test == "Wilcoxon" and damage.p == 2 / 2**7 and 4 <= damage.difference.value < 5
    assert str(found) == str(pickle.loads(pickle.dumps(found))) and "7 pairs of levels, paired by name" in str(found)
    with pytest.raises(pe.PersonaEvoError, match="as many levels"):
        pe.compare([tmp_path / "old"], "train01", pe.player("runner", "ucb1"), trials=1)


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


def plain_persona(folder: Path, more: str = "") -> pe.Persona:
    """Return one that nothing has been evolved for."""
    path = folder / "plain.toml"
    path.write_text('game = "minidungeons2"\npriority = "TO"\nutility = "TO - DEAD"\n' + more, encoding="utf-8")
    return pe.load_persona(path)


def test_a_persona_without_a_policy_plays_by_its_utility(tmp_path: Path) -> None:
    who = plain_persona(tmp_path, '[[lists]]\nscore = "UTILITY"\n')
    chosen = pe.player(who).policy
    assert (chosen.name, chosen.formula, chosen.lists) == ("utility", who.utility, who.lists)
    assert pe.player(who, "utility").policy == chosen and pe.player("runner").policy.name == "runner"
    with pytest.raises(pe.PersonaEvoError, match=r"no evolved policy for plain(.|\n)*utility or ucb1"):
        pe.player(who, "evolved")
    assert pe.plan("train01", who, iterations=60).iterations
    assert pe.plan("train01", who, iterations=60).actions == pe.plan("train01", who, "utility", iterations=60).actions
    results = pe.playtest_levels("train01", who, trials=1, iterations=60, jobs=1, seed=1)
    assert results.players[0].policy == chosen
    with pytest.raises(pe.PersonaEvoError, match="no evolved policy"):
        pe.playtest_levels("train01", who, trials=1, iterations=60, jobs=1, search="paper")
    with pytest.raises(pe.PersonaEvoError, match="no evolved policy"):
        pe.plan("train01", who, iterations=60, search="paper")


def test_hedge_and_tolerance_are_for_the_planner(tmp_path: Path) -> None:
    who = plain_persona(tmp_path)
    few = {"trials": 1, "iterations": 40, "jobs": 1, "seed": 1}
    rules = pe.playtest_levels("train01", who, **few).settings
    assert (rules.preset_name, rules.hedge, rules.tolerance) == ("anytime", 0, 0.01)
    rules = pe.playtest_levels("train01", who, hedge=0.25, tolerance=0.0, **few).settings
    assert (rules.hedge, rules.tolerance) == (0.25, 0)
    own = dataclasses.replace(pe.SearchSettings.anytime(), tolerance=0.2)
    assert pe.playtest_levels("train01", who, search=own, **few).settings == own
    assert pe.playtest_levels("train01", pe.player(who), search="paper", **few).settings == pe.SearchSettings.paper()
    assert pe.compare("train01", "train02", who, **few).results.settings.tolerance == 0.01, "as in playtests"
    with pytest.raises(pe.PersonaEvoError, match=r"tolerance 0\.1; the search single has none"):
        pe.playtest_levels("train01", who, search="single", tolerance=0.1, **few)
    with pytest.raises(pe.PersonaEvoError, match=r"'hedge'(.|\n)*from 0 to 0\.9"):
        pe.playtest_levels("train01", who, hedge=1.0, **few)


def test_lists_alone_play_with_the_planner_only(tmp_path: Path) -> None:
    who = plain_persona(tmp_path)
    lists = pe.Policy("mine", "minidungeons2", "lists", lists=plain_persona(tmp_path, '[[lists]]\nscore="MS"\n').lists)
    assert pe.player(who, lists).policy.kind == "lists"
    with pytest.raises(pe.PersonaEvoError, match="needs a planner that searches"):
        pe.plan("train01", who, lists, iterations=40, search="single")
    with pytest.raises(pe.PersonaEvoError, match="needs a planner that searches"):
        pe.playtest_levels("train01", pe.player(who, lists), trials=1, iterations=40, jobs=1, search="paper")


def test_one_level_is_one_level() -> None:
    with pytest.raises(pe.PersonaEvoError, match="several levels"):
        pe.load_level("train")
    assert [level.name for level in pe.load_levels("test01", "train02")] == ["test01", "train02"]
    assert pe.load_level("test01", rules="paper").options["rules"] == "paper"
    with pytest.raises(pe.PersonaEvoError, match="no such"):
        pe.load_level("test01", wrong=True)


def test_a_match_is_kept_and_the_same_call_continues_it(tmp_path: Path) -> None:
    begun: list[int] = []
    usual: dict[str, Any] = {"games": 2, "sizes": [5], "jobs": 1, "folder": tmp_path / "m"}
    first = pe.play_match("colosseum", ["random", "other=random"], seed=3, **usual)
    again = pe.play_match(
        "colosseum", ["random", "other=random"], begun=lambda there: begun.append(len(there.records)), **usual
    )
    assert begun == [2] and again.match.seed == 3, "a call without a seed continues what is there"
    assert again.records == first.records == list(pe.kept_match(tmp_path / "m").records)
    assert "random – other" in str(first) and "seed 3" in repr(first)
    with pytest.raises(pe.PersonaEvoError, match="at least two agents"):
        pe.play_match("colosseum", ["random"], sizes=[5])


def test_a_playtest_is_measured_against_requirements(tmp_path: Path) -> None:
    who, few = pe.player(plain_persona(tmp_path), "utility"), {"trials": 1, "iterations": 60, "jobs": 1}
    noticed: list[str] = []
    results = pe.playtest_levels(
        "test01",
        who,
        folder=tmp_path / "p",
        seed=4,
        require=["trials >= 1; win_rate > 2%"],
        notice=noticed.append,
        **few,
    )
    assert [check.text for check in results.analysis.checks] == ["trials >= 1", "win_rate > 2%"]
    assert len(noticed) == 1 and "trials >= 1" in noticed[0]
    assert pe.playtest_levels("test01", who, folder=tmp_path / "p", **few).records == results.records
    again = pe.resume_playtest(tmp_path / "p", jobs=1, require=["deaths == 0"])
    assert again.records == results.records and again.requirements == ("deaths == 0",)
    for wrong, words in (("nobody.win_rate > 0", "no such player"), ("bound_ratio > 0.5", "bound_ratio needs")):
        with pytest.raises(pe.PersonaEvoError, match=words):
            pe.playtest_levels("test01", who, require=[wrong], **few)


def test_all_names_are_there_and_loaded_late() -> None:
    for name in pe.__all__:
        assert getattr(pe, name) is not None
    assert set(pe.__all__) <= set(dir(pe))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pe.nothing  # noqa: B018
    code = "import sys, persona_evo, persona_evo.cli.main as m; m.parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    heavy = {"numpy", "numba", "sympy", "deap", "scipy", "jinja2", "PIL", "joblib"} & set(done.stdout.split())
    assert not heavy, "the command line's parser loads what only commands need"


@pytest.mark.usefixtures("unsimplified")
def test_policies_to_start_from_are_named_as_on_the_command_line(tmp_path: Path) -> None:
    few = {
        "generations": 1,
        "population": 8,
        "islands": 2,
        "elites": 1,
        "migrants": 1,
        "iterations": 40,
        "jobs": 1,
        "final_trials": 1,
        "out": tmp_path,
        "seed": 2,
    }
    found = pe.evolve_policy("runner", "train01", seed_policies="none", **few)
    config = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
    assert config["first"] == [] and config["evolution"]["variables"] == "metrics"
    with pytest.raises(pe.PersonaEvoError, match="variables=extended"):
        pe.evolve_policy("runner", "train01", seed_policies=["ucb1"], variables="metrics", **few)
    found = pe.evolve_policy("runner", "train01", seed_policies=["ucb1", "formula:PE + R"], **few)
    config = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
    assert config["evolution"]["variables"] == "extended" and config["first"][1] == "PE + R"


def test_policies_are_described_exported_and_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pe.load_policy("runner")
    described = pe.describe_policy("runner")
    assert ("persona", "runner") in described.facts and described.words and described.comparison
    assert set(described.meanings) == pe.parse(found.best).symbols
    assert pe.describe_policy(found) == described
    assert "def score" in pe.export_policy(found, "python") and pe.export_policy(found).strip() == found.best
    monkeypatch.chdir(tmp_path)
    file = pe.install_policy(found, "mine")
    assert file == Path("policies/minidungeons2/mine.json") and pe.load_policy("mine").formula == found.formula
    with pytest.raises(pe.PersonaEvoError, match="already exists"):
        pe.install_policy(found, "mine")
    done, written = pe.simplify_policy(file)
    assert written == file and done.name == "mine" and "simplification" not in pe.load_policy("mine").unfinished
