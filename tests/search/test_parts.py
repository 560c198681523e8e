"""Tests that scores computed from parts equal those of the whole formula, so trees are identical bit by bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from persona_evo.formula import Formula, native, parse
from persona_evo.games import mapsets
from persona_evo.games.core import Game, Level
from persona_evo.search import scoring
from persona_evo.search.actor import Actor
from persona_evo.search.plan import Planner
from persona_evo.search.scoring import Scoring
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import DEPTH, SLOT, TOTAL, VISITS
from persona_evo.search.tree_policy import ALONG_PATH, TreePolicy
from tests.examples import corridor, nim
from tests.search.levels import GAME, slots_of, tree_of

UTILITY = parse("0.7*MS + 0.3*PE - 5*DEAD", GAME.symbols)
ANYTIME, SINGLE, PAPER = SearchSettings.anytime(), SearchSettings.single(), SearchSettings.paper()
FORMULAS = {
    "R + MS + PE - DEAD + sqrt(2*log(P)/N)": 3,
    "R + 0.5*MS + 0.3*PE - 0.2*DEAD + HL": 4,
    "if(MS > 0.5, R, RMAX - RSD) * (MS/HL - ST) + 0.001*D": 2,
    "R - NM*R + (NM + TO/0)*N - P/(N + (P - 1)*PE) + P*P": 3,
    "R + MS*R + PE*R + DEAD*R + HL*R + ST*R + sqrt(P)": 5,
    "(MS + 1)*R - (MS - 1)*N + (MS*MS)*D": 1,
    "P + 1 + N/(P - 2) + N/(P - 3) + N/(P - 4) + N/(P - 5) + PE": 1,
    "R + log(P)": 0,
    "R + D": 0,
    "PE + 0.2*MS": 1,
}
"""Tree policies, and how many parts of each are kept."""


@contextmanager
def whole_formulas() -> Iterator[None]:
    """Searches keep the metrics and score with the whole formula each time."""

    def undivided(formula: Formula, changing: object) -> tuple[Formula, dict[str, Formula]]:
        return formula, {str(k): formula for k in range(100)}

    native._memory.clear()
    with patch.object(scoring, "split", undivided):
        yield
    native._memory.clear()


def tree(game: Game, of: Level, rules: SearchSettings, text: str, iterations: int) -> tuple[object, ...]:
    """Return all that a search leaves behind, but what is kept for scores."""
    planner = Planner(game, of, rules, iterations + 1)
    utility = UTILITY if game is GAME else parse("0.7*COINS + 0.3*OUT - 0.001*ST", game.symbols)
    policy = TreePolicy.of(text, game)
    found = planner.plan(utility, policy, Budget(iterations), seed=5)
    kept = tree_of(planner, utility, policy, iterations, 5)
    columns, values = kept.columns, slots_of(kept)
    read = [TOTAL, *(c for c in (columns.best, columns.squares) if c >= 0)]
    if policy.holds == ALONG_PATH:
        values[0, columns.score] = 0.0  # the root has no score
        read.append(columns.score)
    states = kept.states.tobytes() if game.compiled else b""
    return found.actions, found.iterations, found.stopped, kept.nodes.tobytes(), values[:, read].tobytes(), states


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize(
    "rules",
    [
        SINGLE,
        PAPER,
        dataclasses.replace(SINGLE, transpositions="merge", value="mean"),
        dataclasses.replace(PAPER, stop="budget", expansion="random"),
    ],
)
def test_trees_are_those_of_the_whole_formula(rules: SearchSettings, text: str) -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    policy = TreePolicy.of(text, GAME)
    assert len(Scoring(policy.formula, UTILITY, GAME.symbols, policy.holds).kept) == FORMULAS[text]
    kept = tree(GAME, of, rules, text, 2_000)
    with whole_formulas():
        assert tree(GAME, of, rules, text, 2_000) == kept


def test_trees_of_python_games_too() -> None:
    of = corridor.GAME.load("$..$@....D", "c")
    text = "R + 0.5*COINS - OUT/N + sqrt(log(P)/N)"
    kept = tree(corridor.GAME, of, SINGLE, text, 300)
    with whole_formulas():
        assert tree(corridor.GAME, of, SINGLE, text, 300) == kept


def test_one_planner_takes_formulas_with_more_and_fewer_parts_in_turn() -> None:
    (of,) = mapsets.resolve(GAME, ["train01"])
    planner = Planner(GAME, of, ANYTIME, 801)
    for text in [*FORMULAS, *reversed(FORMULAS)]:
        policy = TreePolicy.of(text, GAME)
        fresh = Planner(GAME, of, ANYTIME, 801).plan(UTILITY, policy, Budget(800), seed=2)
        again = planner.plan(UTILITY, policy, Budget(800), seed=2)
        assert dataclasses.replace(again, seconds=0) == dataclasses.replace(fresh, seconds=0)


def test_scores_are_what_the_formula_says() -> None:
    (of,) = mapsets.resolve(GAME, ["train03"])
    policy = TreePolicy.of("R + 0.5*MS + (PE - 0.2*DEAD)/3 + HL*D + 0*N", GAME)
    assert policy.formula is not None and policy.holds == ALONG_PATH
    planner = Planner(GAME, of, dataclasses.replace(PAPER, stop="budget"), 1_001)
    found = tree_of(planner, UTILITY, policy, 1_000, 1)
    values, nodes = slots_of(found), found.nodes
    for k in range(1, len(nodes)):
        visits, best = float(found.links[nodes[k, SLOT], VISITS]), float(values[k, found.columns.best])
        worth = 0.75 * (float(values[k, TOTAL]) / visits) + 0.25 * best
        metrics = planner.game.measure(planner.level, found.states[k])
        searched = {"R": worth, "N": visits, "D": float(nodes[k, DEPTH])}
        assert values[k, found.columns.score] == policy.formula.evaluate(metrics | searched)


def test_two_players_moving_in_turn_choose_the_same() -> None:
    game = nim.GAME
    of = game.load("12", "n")

    def moves() -> list[object]:
        utility = parse(game.symbols[0], game.symbols)
        policy = TreePolicy.of(f"R + 0.2*{game.symbols[0]}*R + sqrt(log(P)/N)", game)
        actor = Actor(game, of, utility, policy, Budget(iterations=150), seed=3)
        state, rng, found = game.start(of), np.ones(2, dtype=np.int64), []
        while not game.over(of, state):
            move = actor.think(state)
            found.append((move.action, move.options))
            game.rules().step(of.tables, state, move.action, rng)
            actor.follow(move.action)
        return found

    kept = moves()
    assert len(kept) > 3
    with whole_formulas():
        assert moves() == kept
