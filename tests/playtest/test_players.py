"""Tests players: whose lists a search gets, and players as plain data."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo import personas
from persona_evo.errors import FormulaError, RunError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.personas.lists import OpenList
from persona_evo.playtest import batch
from persona_evo.playtest.journal import CONFIG, TRACES
from persona_evo.playtest.players import Player, Role, check_lists, player_from, same_policy
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy, with_lists
from tests.shared import unsealed

pytestmark = pytest.mark.quick

GAME = registry.get("minidungeons2")
LISTS = (OpenList(parse("UTILITY - 0.001 * ST"), 2.0, True), OpenList(parse("CARE")))
OWN = (OpenList(parse("OWN")),)
PLAIN = personas.load("runner", GAME)
RUNNER = replace(PLAIN, lists=LISTS)
STATIC = TreePolicy.of("MS - 0.01 * ST", GAME)


def test_a_personas_lists_are_for_policies_that_never_change_and_have_none() -> None:
    assert Player(RUNNER, STATIC).policy.lists == LISTS
    assert Player(RUNNER, TreePolicy.utility(RUNNER.utility)).policy.lists == LISTS
    assert Player(RUNNER, replace(STATIC, lists=OWN)).policy.lists == OWN
    assert Player(RUNNER, TreePolicy("mine", lists=OWN)).policy.lists == OWN
    for changing in (TreePolicy.ucb1(), TreePolicy.of("R + MS", GAME)):
        assert Player(RUNNER, changing).policy is changing
    assert with_lists(STATIC, ()) is STATIC and Player(PLAIN, STATIC).policy is STATIC


@pytest.mark.parametrize("policy", [STATIC, TreePolicy("mine", lists=OWN), TreePolicy.ucb1(0.5)])
def test_a_player_survives_as_plain_data(policy: TreePolicy) -> None:
    player = Player(RUNNER, policy, "me")
    row = json.loads(json.dumps({**Role.of(player).to_dict(), "priority": "ST"}))
    again = player_from(row, GAME)
    assert again.policy == replace(player.policy, name=again.policy.name) and again.label == "me"
    assert Role.of(again) == Role.of(player)


def test_players_without_lists_are_as_in_older_folders() -> None:
    row = Role.of(Player(PLAIN, STATIC)).to_dict()
    assert set(row) == {"label", "persona", "utility", "policy", "formula", "c"}
    assert player_from(row, GAME).policy.lists == ()


@pytest.mark.parametrize(
    ("lists", "kind"),
    [
        (3, SettingsError),
        (["MS"], SettingsError),
        ([{"score": "MS", "weight": 0}], SettingsError),
        ([{"score": "MS +"}], FormulaError),
        ([{}], SettingsError),
    ],
)
def test_damaged_lists_of_a_player(lists: Any, kind: type[Exception]) -> None:
    row = {**Role.of(Player(PLAIN, STATIC)).to_dict(), "lists": lists}
    with pytest.raises(kind):
        player_from(row, GAME)


def test_players_that_differ_in_their_lists_play_otherwise() -> None:
    a, b = Player(RUNNER, STATIC), Player(PLAIN, STATIC)
    assert same_policy(a, a) and not same_policy(a, b)
    assert not same_policy(Player(PLAIN, TreePolicy("mine", lists=OWN)), Player(PLAIN, TreePolicy.ucb1()))
    assert same_policy(Player(RUNNER, TreePolicy.ucb1()), Player(PLAIN, TreePolicy.ucb1()))
    assert a.text == f"{STATIC.text}; open lists {LISTS[0].text}; CARE"
    assert Player(PLAIN, TreePolicy("mine", lists=OWN)).text == "open lists OWN"


def test_ucb1_as_a_formula_is_ucb1_where_values_are_means() -> None:
    rule, formula = (Player(PLAIN, policy) for policy in (TreePolicy.ucb1(), TreePolicy.of(UCB1_FORMULA, GAME)))
    assert same_policy(rule, formula, mean=True) and not same_policy(rule, formula)
    assert not same_policy(Player(PLAIN, TreePolicy.ucb1(0.5)), formula, mean=True)


def test_lists_alone_need_a_search_that_has_lists() -> None:
    lists = TreePolicy("mine", lists=OWN)
    check_lists([lists, STATIC], SearchSettings.anytime())
    check_lists([STATIC, replace(STATIC, lists=OWN)], SearchSettings.single())
    for rules, agent in ((SearchSettings.single(), ""), (SearchSettings.paper(), ""), (SearchSettings.anytime(), "x")):
        with pytest.raises(SettingsError, match="mine, played by"):
            check_lists([lists], rules, agent)


def test_which_games_are_planned() -> None:
    assert GAME.planned and registry.get("puyo").planned
    assert not registry.get("colosseum").planned and not replace(GAME, deterministic=False).planned


def test_a_folder_from_before_there_were_lists_is_gone_on_with(tmp_path: Path) -> None:
    levels, players = mapsets.resolve(GAME, ["train01"]), [Player(PLAIN, TreePolicy.ucb1())]
    folder = tmp_path / "old"

    def play(rules: SearchSettings) -> batch.BatchResults:
        return batch.playtest(GAME, levels, players, 3, seed=1, budget=Budget(60), settings=rules, folder=folder)

    whole = play(SearchSettings.single()).records
    config = json.loads(unsealed(folder / CONFIG))
    assert config["search"]["preset"] == "single" and config["search"]["lists"] == []
    for key in ("preset", "lists", "hedge", "tolerance"):
        del config["search"][key]
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    first = (folder / TRACES).read_text(encoding="utf-8").splitlines(keepends=True)[0]
    (folder / TRACES).write_text(first, encoding="utf-8")
    resumed = batch.resume(folder)
    assert resumed.settings == SearchSettings.single() and json.loads((folder / CONFIG).read_text()) == config
    assert [replace(r, seconds=0.0) for r in resumed.records] == [replace(r, seconds=0.0) for r in whole]
    assert len(play(SearchSettings.single()).records) == 3
    with pytest.raises(RunError, match=r"holds another playtest(.|\n)*preset single(.|\n)*preset anytime"):
        play(SearchSettings.anytime())
