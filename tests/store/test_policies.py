"""Policy files: written, read, found, and wrong in every way."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import FormulaError, PolicyError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.personas.lists import OpenList
from persona_evo.search.tree_policy import STATIC
from persona_evo.store import policies, policy_library
from persona_evo.store.policies import Policy

pytestmark = pytest.mark.quick

GAME = "minidungeons2"
FULL = Policy(
    name="mk",
    game=GAME,
    game_version=1,
    persona="monster_killer",
    utility="0.7 * MS + 0.3 * PE - 5 * DEAD",
    priority="MS",
    formula="MS * R + (PE - PE)",
    simplified="MS * R",
    simplification="checked on 600 states",
    metrics={"MS": "monsters slain", "R": "utility estimate"},
    levels=("a", "b"),
    fitness={"a": 0.9, "b": 1.0},
    mean=0.95,
    seed=7,
    budget={"iterations": 10000},
    search={"stop": "budget"},
    evolution={"preset": "modern"},
    run={"name": "r", "generations": 100},
    versions={"python": "3"},
    notes="ä",
    source="here",
)


LISTS = (OpenList(parse("UTILITY - 0.001 * ST"), 2.0, True), OpenList(parse("CARE + 0.1 * OWN")))


def listed(**changes: Any) -> dict[str, Any]:
    """Return what makes FULL a policy of lists whose own score reads metrics only."""
    return {"kind": "lists", "formula": "MS - 0.01 * ST", "simplified": "", "lists": [LISTS[0].to_dict()], **changes}


@pytest.mark.parametrize("formula", ["", "MS - 0.01 * ST"])
def test_lists_survive_their_file(tmp_path: Path, formula: str) -> None:
    policy = Policy("mine", GAME, "lists", formula=formula, lists=LISTS)
    path = policies.write(policy, tmp_path / "mine.json")
    assert policies.read(path) == policy and "lists" not in FULL.to_dict()
    found = policies.read(path).tree_policy(registry.get(GAME))
    assert found.lists == LISTS and found.holds == STATIC and found.name == "mine"
    assert (found.formula.text if found.formula else "") == formula
    assert found.kind == ("formula" if formula else "lists")


def test_lists_of_an_unknown_game_are_checked_when_it_is_there(tmp_path: Path) -> None:
    path = policies.write(Policy("x", "hop", "lists", lists=(OpenList(parse("FAR")),)), tmp_path / "x.json")
    policy = policies.read(path)
    with pytest.raises(FormulaError, match=r"x.json(.|\n)*unknown symbol(.|\n)*FAR"):
        replace(policy, game=GAME).tree_policy(registry.get(GAME))


def test_a_policy_survives_its_file(tmp_path: Path) -> None:
    path = policies.write(FULL, tmp_path / "deep" / "mk.json")
    again = policies.read(path)
    assert again == FULL and again.file == str(path)
    assert again.to_text() == path.read_text(encoding="utf-8")


def test_it_gives_the_search_its_tree_policy() -> None:
    game = registry.get(GAME)
    assert FULL.tree_policy(game).text == "MS * R"
    ucb1 = Policy("ucb1", GAME, "ucb1", c=2.0).tree_policy(game)
    assert (ucb1.kind, ucb1.c) == ("ucb1", 2.0)
    with pytest.raises(PolicyError, match="another game"):
        Policy("x", "chess", formula="R").tree_policy(game)


def test_ucb1_survives_too(tmp_path: Path) -> None:
    ucb1 = Policy("ucb1", GAME, "ucb1", notes="baseline")
    again = policies.read(policies.write(ucb1, tmp_path / "ucb1.json"))
    assert again == ucb1 and again.c == math.sqrt(2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"formula": "MS * Q"}, r"p.json:\d+:14: .formula: not a formula.*column"),
        ({"simplified": "MS *"}, r".simplified: not a formula"),
        ({"formula": ""}, r".formula: is empty"),
        ({"utility": "MSS"}, r".utility(.|\n)*did you mean"),
        ({"kind": "formla"}, r".kind(.|\n)*did you mean 'formula'"),
        ({"kind": "ucb1", "c": -1, "formula": ""}, r".c: is out of range"),
        ({"kind": "ucb1"}, r"UCB1 has no formula"),
        ({"name": ""}, r".name: is empty"),
        ({"name": 3}, r".name: has the wrong type(.|\n)*found: 3"),
        ({"seed": "7"}, r".seed: has the wrong type"),
        ({"fitness": {"a": "x"}}, r".fitness.a: has the wrong type"),
        ({"levels": ["a", 1]}, r".levels\[1\]"),
        ({"metrics": {"MS": 1}}, r".metrics.MS"),
        ({"budget": []}, r".budget: has the wrong type"),
        ({"formulaa": "R"}, r".formulaa: no such key(.|\n)*did you mean 'formula'"),
        ({"schema": 2}, r".schema(.|\n)*newer"),
        ({"lists": [{"score": "MS"}]}, r".lists: policies of the kind 'formula' do not have open lists"),
        (
            {"kind": "ucb1", "formula": "", "simplified": "", "lists": [{"score": "MS"}]},
            r"kind 'ucb1' do not have open",
        ),
        ({"kind": "lists"}, r"'lists' is missing"),
        (listed(formula="R"), r"p.json:\d+:14: .formula: the policy's own score cannot use R"),
        (listed(simplified="N * MS"), r".simplified: the policy's own score cannot use N"),
        (listed(formula="", simplified="MS"), r".formula: is empty"),
        (listed(lists=[]), r".lists: the number of open lists is out of range"),
        (listed(lists=[{"score": "MS"}] * 17), r"found: 17 lists(.|\n)*1 to 16"),
        (listed(lists={"score": "MS"}), r".lists: has the wrong type"),
        (listed(lists=["MS"]), r".lists\[0\]: has the wrong type"),
        (listed(lists=[{"score": "MS"}, {}]), r".lists\[1\]: 'score' is missing"),
        (listed(lists=[{"score": 1}]), r".lists\[0\].score: has the wrong type"),
        (listed(lists=[{"score": "MS + R"}]), r".lists\[0\].score: not a formula.*column 6"),
        (listed(lists=[{"score": "OWM"}]), r"did you mean 'OWN'"),
        (listed(lists=[{"score": "MS", "wight": 1}]), r".lists\[0\].wight: no such key(.|\n)*'weight'"),
        (listed(lists=[{"score": "MS", "novel": 1}]), r".lists\[0\].novel: `novel` of an open list"),
        *(
            (listed(lists=[{"score": "MS", "weight": w}]), r".lists\[0\].weight: the weight of an open list")
            for w in (0, -1, "2", True, 2e6, None)
        ),
        (listed(lists=[{"score": "MS", "weight": math.nan}]), r"a number that is not finite"),
    ],
)
def test_wrong_values_are_told_with_path_and_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**FULL.to_dict(), **changes}, indent=2), encoding="utf-8")
    with pytest.raises(PolicyError, match=said):
        policies.read(path)


def test_missing_keys(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    for key in ("schema", "name", "game", "kind"):
        data = FULL.to_dict()
        del data[key]
        path.write_text(json.dumps(data))
        with pytest.raises(PolicyError, match=f"'{key}' is missing"):
            policies.read(path)


def test_policies_of_the_folder_come_before_those_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "shipped"
    for name, notes in (("mk", "shipped"), ("r", "shipped")):
        policies.write(Policy(name, GAME, formula="MS", notes=notes), shipped / GAME / f"{name}.json")
    work = tmp_path / "work"
    policies.write(Policy("mk", GAME, formula="MS", notes="own"), work / "policies" / GAME / "mk.json")
    monkeypatch.setattr(policy_library, "shipped_folder", lambda: shipped)
    monkeypatch.chdir(work)
    assert policy_library.find("mk", GAME).notes == "own"
    assert policy_library.find("r", GAME).notes == "shipped"
    assert policy_library.find(shipped / GAME / "mk.json", GAME).notes == "shipped"
    assert [(p.name, p.notes) for p in policy_library.available(GAME)] == [("mk", "own"), ("r", "shipped")]
    with pytest.raises(PolicyError, match=r"no such policy(.|\n)*one of mk, r(.|\n)*did you mean 'mk'"):
        policy_library.find("mkk", GAME)
    with pytest.raises(PolicyError, match="no such policy file"):
        policy_library.find("nowhere/mk.json", GAME)
    with pytest.raises(PolicyError, match="another game"):
        policy_library.find(shipped / GAME / "mk.json", "chess")


def test_the_installed_folder_comes_before_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "persona_evo"
    package.mkdir(parents=True)
    monkeypatch.setattr(policy_library, "__file__", str(package / "store" / "policy_library.py"))
    assert policy_library.shipped_folder() is None
    (tmp_path / "site" / "policies").mkdir()
    assert policy_library.shipped_folder() == tmp_path / "site" / "policies"
    (package / "_policies").mkdir()
    assert policy_library.shipped_folder() == package / "_policies"


def test_a_policy_of_another_game_says_which(tmp_path: Path) -> None:
    path = policies.write(Policy("chain", "puyo", formula="R"), tmp_path / "chain.json")
    with pytest.raises(PolicyError, match="another game") as e:
        policy_library.load(path, GAME)
    assert e.value.hint == "add --game puyo"
    with pytest.raises(PolicyError, match="no such policy") as e:
        policy_library.load("chain_builder", GAME)
    assert e.value.hint == "puyo has one of this name: add --game puyo"


def test_a_policy_of_ones_own_that_is_not_installed_is_found_by_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError) as unknown:
        policy_library.find("coward", "minidungeons2")
    assert unknown.value.hint == (
        "a policy of your own is named by its run's folder, or by name after persona-evo policy install RUN"
    )
    folder = tmp_path / "runs" / "20300101T000000Z-coward"
    folder.mkdir(parents=True)
    config = {"schema": 1, "game": "minidungeons2", "persona": {"name": "coward"}, "seed": 1, "target": 2}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "policy.json").write_text("{}")
    with pytest.raises(PolicyError) as made:
        policy_library.find("coward", "minidungeons2")
    assert made.value.hint is not None and "has a policy for coward: name that folder" in made.value.hint
    assert made.value.hint.endswith("persona-evo policy install runs/20300101T000000Z-coward")
