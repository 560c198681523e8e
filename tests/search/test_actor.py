"""Tests play from move to move: two-player games, games of chance, and trees that are kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import WON, Metric
from persona_evo.games.python_game import Dice, from_class
from persona_evo.search.actor import Actor, play_game
from persona_evo.search.layout import NODES
from persona_evo.search.moves import CHOICES, ChosenMove
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, NODE, PARENT, ROOT, SLOT, VISITS
from persona_evo.search.tree_policy import TreePolicy
from tests.examples import coin, nim
from tests.search.levels import GAME, level

NIM, COIN = nim.GAME, coin.GAME
GAIN, PRIZE = parse("GAIN"), parse("PRIZE")
RUNNER = parse("PE - 0.01*ST - 5*DEAD", GAME.symbols)


def thought(move: ChosenMove) -> object:
    return dataclasses.replace(move, seconds=0)


@pytest.mark.parametrize("matches", [5, 6, 7, 9, 10])
@pytest.mark.parametrize("choose", ["visits", "mean"])
def test_the_winning_move_of_nim_is_found(matches: int, choose: str) -> None:
    of = NIM.load(str(matches), "nim")
    actor = Actor(NIM, of, GAIN, budget=Budget(500), choose=choose, seed=matches)
    assert actor.choose(NIM.start(of)) + 1 == matches % 4


def taker(most: int) -> Callable[[Any], int]:
    """Always takes as many, or all that is left."""
    return lambda state: min(most, int(state[0].matches) - 1)


def test_a_winning_player_of_nim_wins_whoever_is_against_it() -> None:
    of = NIM.load("10", "nim")
    thinker = Actor(NIM, of, GAIN, budget=Budget(400), seed=1)
    for other in (0, 1, 2):
        played = play_game(NIM, of, [thinker, taker(other)])
        assert [m["GAIN"] for m in played.metrics] == [1, -1]


@pytest.mark.parametrize("sure", [0.4, 0.6])
def test_a_coin_is_worth_what_it_brings_on_average(sure: float) -> None:
    of = COIN.load(f"{sure} 1", "coin")
    move = Actor(COIN, of, PRIZE, budget=Budget(2000), seed=4).think(COIN.start(of))
    toss, take = move.options
    assert toss.mean == pytest.approx(0.5, abs=0.08) and toss.max == 1.0
    assert take.mean == pytest.approx(sure)
    assert COIN.action_name(of, of.start, move.action) == ("toss" if sure < 0.5 else "take")
    assert move.iterations == 2000 and toss.visits + take.visits == 2000 and move.nodes == 3


def test_luck_of_the_game_is_not_foreseen() -> None:
    of = COIN.load("0.4 1", "coin")
    prizes = [
        play_game(COIN, of, [Actor(COIN, of, PRIZE, budget=Budget(60), seed=7)], seed=s).metrics[0]["PRIZE"]
        for s in range(30)
    ]
    assert 5 < sum(prizes) < 25, "the coin falls on both sides, though the player plans with the same seed"


def test_compiled_games_are_played_with_and_without_open_loop() -> None:
    of = level("H   e", " XX  ")
    chancy = dataclasses.replace(GAME, deterministic=False)
    for game in (GAME, chancy):
        played = play_game(game, of, [Actor(game, of, RUNNER, budget=Budget(400), choose="max", seed=1)])
        assert played.outcome == WON and len(played.actions) == 4


class Moody:
    """After the first move, luck decides which of two moves is legal; "good" gains 1, "bad" nothing, "out" 0.3."""

    actions = ("in", "out", "good", "bad")
    metrics = (Metric("GAIN", "gain", "what was gained"),)

    def __init__(self, options: tuple[str, ...] = ("in", "out"), gain: float | None = None) -> None:
        self.options, self.gain = options, gain

    @classmethod
    def from_text(cls, text: str) -> Moody:
        return cls()

    def copy(self) -> Moody:
        return Moody(self.options, self.gain)

    def legal(self) -> tuple[str, ...]:
        return self.options

    def apply(self, action: str, dice: Dice) -> None:
        if action not in self.options:
            raise AssertionError(f"{action} is not legal")
        if action == "in":
            self.options = (("good",), ("bad",), ("good", "bad"))[dice.below(3)]
        else:
            self.gain = {"out": 0.3, "good": 1.0, "bad": 0.0}[action]

    def over(self) -> str | None:
        return None if self.gain is None else "ended"

    def measure(self) -> dict[str, float]:
        return {"GAIN": self.gain or 0.0}


MOODY = from_class(Moody, deterministic=False)


@pytest.mark.parametrize("text", ["", "R + 0.5*sqrt(log(P)/N)"])
def test_open_loop_passes_over_moves_that_are_not_legal_now(text: str) -> None:
    of = MOODY.load("", "moody")
    policy = TreePolicy.of(text, MOODY) if text else None
    move = Actor(MOODY, of, GAIN, policy, Budget(1500), seed=2).think(MOODY.start(of))
    inside, out = move.options
    assert move.nodes == 5 and out.mean == pytest.approx(0.3)
    assert 0.5 < inside.mean < 0.7, "good is chosen in two thirds of all cases, once it is known to be better"
    assert move.action == inside.action


def test_the_tree_is_kept_below_the_move_made() -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    actor = Actor(GAME, of, RUNNER, budget=Budget(2000), seed=1)
    state = GAME.start(of)
    first = actor.think(state)
    tree, counts = actor._engine.work.tree, actor._engine.work.buffers.counts
    before = int(counts[NODES])
    child = next(c for c in tree.children(ROOT) if tree.nodes[tree.links[c, NODE], ACTION] == first.action)
    visits = int(tree.links[child, VISITS])
    actor.follow(first.action)
    kept = int(counts[NODES])
    assert 0 < kept < before and actor._engine.work.tree.links[ROOT, VISITS] == visits
    check_tree(actor, of, kept)
    GAME.rules().step(of.tables, state, first.action, np.ones(2, dtype=np.int64))
    second = actor.think(state)
    assert second.kept == kept and second.iterations == 2000
    check_tree(actor, of, int(counts[NODES]))
    elsewhere = actor.think(GAME.start(of))
    assert elsewhere.kept == 0, "another state than the one followed to starts a new tree"


def check_tree(actor: Actor, of: Any, nodes: int) -> None:
    """Every node hangs where it says, one deeper, in the state that its action leads to."""
    tree = actor._engine.work.tree
    rows, states = tree.nodes, tree.states
    game, of, _ = GAME.for_search(of)
    seen = [ROOT]
    for node in seen:
        assert tree.links[rows[node, SLOT], NODE] == node
        for slot in tree.children(node):
            child = int(tree.links[slot, NODE])
            assert rows[child, PARENT] == node and rows[child, DEPTH] == rows[node, DEPTH] + 1
            after = states[node].copy()
            game.rules().step(of.tables, after, int(rows[child, ACTION]), np.ones(2, dtype=np.int64))
            assert (after == states[child]).all()
            seen.append(child)
    assert len(seen) == nodes


def test_same_seed_same_moves() -> None:
    (of,) = mapsets.resolve(GAME, ["train03"])
    for game in (GAME, dataclasses.replace(GAME, deterministic=False)):
        a, b, c = (Actor(game, of, RUNNER, budget=Budget(300), seed=s).think(GAME.start(of)) for s in (1, 1, 2))
        assert thought(a) == thought(b) != thought(c)


def test_budgets_end_the_thinking() -> None:
    (of,) = mapsets.resolve(GAME, ["train03"])
    start = GAME.start(of)
    timed = Actor(GAME, of, RUNNER, budget=Budget(None, seconds=0.05)).think(start)
    assert timed.seconds < 5 and timed.iterations >= 200
    small = Actor(GAME, of, RUNNER, budget=Budget(None, nodes=300)).think(start)
    assert 300 <= small.nodes <= 600
    near = Actor(GAME, of, RUNNER, budget=Budget(500), settings=SearchSettings(horizon=2, rollout=0)).think(start)
    assert near.iterations == 500 and near.nodes < 80


def test_wrong_use_is_told() -> None:
    of = level("He")
    with pytest.raises(SettingsError, match="choose a move"):
        Actor(GAME, of, RUNNER, choose="best")
    actor = Actor(GAME, of, RUNNER, budget=Budget(50), choose=CHOICES[1])
    end = GAME.replay(of, [1])[-1]
    with pytest.raises(SettingsError, match="game is over"):
        actor.choose(end)
    with pytest.raises(SettingsError, match="number of players"):
        play_game(NIM, NIM.load("5", "nim"), [lambda state: 0])


@pytest.mark.parametrize("expansion", ["ordered", "random"])
def test_no_move_is_tried_twice_after_the_root_has_moved(expansion: str) -> None:
    of = level("H    ", "     ", "    e")
    settings = dataclasses.replace(SearchSettings.anytime(), expansion=expansion)
    actor = Actor(GAME, of, RUNNER, budget=Budget(60), settings=settings, seed=3)
    state = GAME.start(of)
    for _ in range(4):
        move = actor.think(state)
        tree, nodes = actor._engine.work.tree, int(actor._engine.work.buffers.counts[NODES])
        tried = [(int(tree.nodes[n, PARENT]), int(tree.nodes[n, ACTION])) for n in range(1, nodes)]
        assert len(set(tried)) == len(tried)
        state = state.copy()
        GAME.rules().step(of.tables, state, move.action, np.ones(2, dtype=np.int64))
        actor.follow(move.action)
