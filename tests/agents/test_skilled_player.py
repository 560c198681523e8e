"""Tests players of limited skill: how moves are drawn, what the players see, and that more skill wins more."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo import personas
from persona_evo.agents.skill import LADDER, SKILLS, Skill, check, check_game, errs, skill_from_dict
from persona_evo.agents.skilled_player import SkilledPlayer, softmax
from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import LOST, RUNNING, WON, Metric
from persona_evo.personas.lists import DEFAULT_LISTS
from persona_evo.search.tree_policy import TreePolicy
from tests.examples.coin import GAME as COIN
from tests.search.levels import GAME, level

RUNNER = personas.load("runner")
BY_UTILITY = TreePolicy.utility(RUNNER.utility)
OGRES = level("H    o     ", "   X   X   ", "  o    o   ", "    X    R ", "  t  o    e")
FLAWLESS = Skill("flawless", iterations=20, sight=6, errors=0.0, temperature=1.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.floats(0.05, 20), st.floats(0.01, 100))
def test_chances_do_not_depend_on_the_scale_of_values(values: list[float], temperature: float, scale: float) -> None:
    chances = softmax(values, temperature)
    assert chances.sum() == pytest.approx(1)
    assert np.argmax(values) in np.flatnonzero(np.isclose(chances, chances.max()))
    if max(values) - min(values) > 1e-3:
        assert chances == pytest.approx(softmax([scale * v + 3 for v in values], temperature), abs=1e-4)


def test_chances_of_equal_values_are_equal_and_a_low_temperature_takes_the_best() -> None:
    assert softmax([2.0, 2.0, 2.0, 2.0], 0.5).tolist() == [0.25] * 4
    assert softmax([0.0, 1.0], 1.0).tolist() == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert softmax([0.0, 0.5, 1.0], 0.01)[2] == pytest.approx(1)


def test_skill_is_for_single_player_games_in_this_program() -> None:
    check_game(GAME)
    with pytest.raises(SettingsError, match="--skill is for single-player games"):
        check_game(registry.get("colosseum"))


def test_the_ladder_goes_up() -> None:
    rungs = list(LADDER.values())
    assert SKILLS == ("novice", "casual", "expert", "full-sight", "perfect")
    for low, high in itertools.pairwise(rungs):
        assert low.iterations < high.iterations and low.sight < high.sight and low.errors > high.errors
    assert [errs(name) for name in ("", *SKILLS)] == [False, True, True, True, True, False]
    with pytest.raises(SettingsError, match="did you mean 'novice'"):
        check("novise")


def test_more_skill_wins_more() -> None:
    wins, damage = [], []
    for skill in LADDER.values():
        player = SkilledPlayer(GAME, OGRES, RUNNER.utility, BY_UTILITY, skill)
        plans = [player.play(seed) for seed in range(20)]
        wins.append(sum(plan.outcome == WON for plan in plans))
        damage.append(sum(10 - 10 * plan.metrics["HL"] for plan in plans))
        assert all(plan.outcome in (WON, LOST) for plan in plans)
    assert wins == sorted(wins) and len(set(wins)) == 3
    assert damage == sorted(damage, reverse=True)


def test_the_same_seed_plays_the_same_game_and_replays() -> None:
    skill = LADDER["casual"]
    first = SkilledPlayer(GAME, OGRES, RUNNER.utility, BY_UTILITY, skill)
    first.play(1)
    again = SkilledPlayer(GAME, OGRES, RUNNER.utility, BY_UTILITY, skill)
    one, other = first.play(7), again.play(7)
    assert dataclasses.replace(one, seconds=0.0) == dataclasses.replace(other, seconds=0.0)
    states = GAME.replay(OGRES, one.actions)
    assert GAME.measure(OGRES, states[-1]) == one.metrics
    assert [GAME.over(OGRES, s) for s in states[:-1]] == [RUNNING] * len(one.actions)
    assert len({first.play(seed).actions for seed in range(6)}) > 1


def test_without_errors_it_walks_straight_to_what_it_sees() -> None:
    corridor = level("H     e")
    plan = SkilledPlayer(GAME, corridor, RUNNER.utility, BY_UTILITY, FLAWLESS).play(0)
    assert plan.outcome == WON and len(plan.actions) == 6


def test_it_sees_no_further_than_its_sight() -> None:
    """A treasure four steps away attracts only players who see it; the exit is in the other direction."""
    greedy = parse("0.3 * PE + 5 * TO", GAME.symbols)
    fork = level("T   H e")
    short, long = (dataclasses.replace(FLAWLESS, sight=sight) for sight in (3, 4))
    near, far = (
        SkilledPlayer(GAME, fork, greedy, TreePolicy.utility(greedy), skill).play(0) for skill in (short, long)
    )
    assert near.metrics["TO"] == 0 and near.outcome == WON and len(near.actions) == 2
    assert far.metrics["TO"] == 1 and far.outcome == WON


def test_it_stays_away_from_what_nobody_survives() -> None:
    """Nine traps before a treasure cost nine of ten hit points; with an ogre behind them there is no way back."""
    hall = level("H ttttttttttT", "eXXXXXXXXXXXX")
    wish = parse("TO + 0.1 * PE - DEAD + 0.05 * TS", GAME.symbols)
    skill = dataclasses.replace(FLAWLESS, sight=14, iterations=60)
    plan = SkilledPlayer(GAME, hall, wish, TreePolicy.utility(wish), skill).play(0)
    assert plan.outcome != LOST


def test_policies_without_a_score_play_by_the_utility() -> None:
    lists = TreePolicy("lists", lists=DEFAULT_LISTS)
    assert lists.kind == "lists"
    by_lists = SkilledPlayer(GAME, OGRES, RUNNER.utility, lists, LADDER["casual"]).play(3)
    by_utility = SkilledPlayer(GAME, OGRES, RUNNER.utility, BY_UTILITY, LADDER["casual"]).play(3)
    assert by_lists.actions == by_utility.actions


@pytest.mark.parametrize("name", ["puyo_hidden", "its_alive", "roguelike2d", "puyo"])
def test_every_single_player_game_can_be_played(name: str) -> None:
    from persona_evo import api
    from persona_evo.games import mapsets

    game = registry.get(name)
    one = mapsets.resolve(
        game, [{"puyo_hidden": "short01", "its_alive": "tiny01", "roguelike2d": "test01", "puyo": "short01"}[name]]
    )[0]
    persona = api.load_personas("all", game=name)[0]
    player = SkilledPlayer(game, one, persona.utility, TreePolicy.utility(persona.utility), LADDER["novice"])
    plan = player.play(1)
    assert plan.actions == player.play(1).actions
    assert 0 < len(plan.actions) <= game.horizon_of(one)
    assert plan.iterations >= len(plan.actions)


@pytest.mark.parametrize("prizes, action", [("0.9 1", "take"), ("0.1 1", "toss")])
def test_games_of_chance_are_played_by_the_mean(prizes: str, action: str) -> None:
    one = COIN.load(prizes, "coin")
    prize = parse("PRIZE", COIN.symbols)
    plan = SkilledPlayer(COIN, one, prize, TreePolicy.ucb1(), FLAWLESS).play(2)
    assert [COIN.action_name(one, one.start, a) for a in plan.actions] == [action]


@pytest.mark.parametrize("number", [10**400, None, "1", float("nan"), True])
def test_numbers_that_no_finite_float_holds_are_refused(number):
    plain = dataclasses.asdict(LADDER["novice"])
    for make in (
        lambda: skill_from_dict({**plain, "errors": number}),
        lambda: skill_from_dict({**plain, "temperature": number}),
        lambda: TreePolicy.ucb1(number),
        lambda: Metric("A", "a", 0.0, number),
    ):
        with pytest.raises(SettingsError) as caught:
            make()
        assert caught.value.found and caught.value.expected
