"""Scores put together from parts are those of the whole formula, so the trees are the same, bit by bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import Game, Level
from persona_evo.search import coding
from persona_evo.search.act import Actor
from persona_evo.search.plan import Planner
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import VALUES
from persona_evo.search.tree_policy import TreePolicy, variables
from tests.examples import corridor, nim
from tests.search.levels import GAME

UTILITY = parse("0.7*MS + 0.3*PE - 5*DEAD", GAME.symbols)
ANYTIME, PAPER = SearchSettings.anytime(), SearchSettings.paper()
FORMULAS = {
    "R + MS + PE - DEAD + sqrt(2*log(P)/N)": (3, 1),
    "R + 0.5*MS + 0.3*PE - 0.2*DEAD + HL": (4, 0),
    "if(MS > 0.5, R, RMAX - RSD) * (MS/HL - ST) + 0.001*D": (2, 0),
    "R - NM*R + (NM + TO/0)*N - P/(N + (P - 1)*PE) + P*P": (3, 2),
    "R + MS*R + PE*R + DEAD*R + HL*R + ST*R + sqrt(P)": (0, 1),
    "P + 1 + N/(P - 2) + N/(P - 3) + N/(P - 4) + N/(P - 5) + PE": (1, 0),
    "R + log(P)": (0, 1),
    "R + D": (0, 0),
    "PE + 0.2*MS": (0, 0),
}
"""Tree policies, and how many parts of each are kept and shared."""


@contextmanager
def whole_formulas() -> Iterator[None]:
    """Searches score with the whole formula each time."""
    coding.policy_code.cache_clear()
    with patch.object(coding, "MOST_KEPT", 0), patch.object(coding, "MOST_SHARED", 0):
        yield
    coding.policy_code.cache_clear()


def tree(game: Game, of: Level, rules: SearchSettings, text: str, iterations: int) -> tuple[object, ...]:
    """All that a search leaves behind (the root has no score)."""
    planner = Planner(game, of, rules, iterations + 1)
    utility = UTILITY if game is GAME else parse("0.7*COINS + 0.3*OUT - 0.001*ST", game.symbols)
    found = planner.plan(utility, TreePolicy.of(text, game), Budget(iterations), seed=5)
    kept, n = planner._tree, planner._nodes
    values = np.ascontiguousarray(kept.values[1:n, :VALUES]).tobytes()
    states = kept.states[:n].tobytes() if game.compiled else b""
    return found.actions, found.iterations, found.stopped, kept.links[:n].tobytes(), values, states


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("rules", [
    ANYTIME, PAPER, dataclasses.replace(ANYTIME, transpositions="merge", value="mean"),
    dataclasses.replace(PAPER, stop="budget", expansion="random"),
])  # fmt: skip
def test_trees_are_those_of_the_whole_formula(rules: SearchSettings, text: str) -> None:
    (of,) = mapsets.resolve(GAME, ["train02"])
    scoring = coding.policy_code(parse(text), variables(GAME))
    assert (scoring.kept, len(scoring.ends) - scoring.kept) == FORMULAS[text]
    kept = tree(GAME, of, rules, text, 2_000)
    with whole_formulas():
        assert tree(GAME, of, rules, text, 2_000) == kept


def test_trees_of_python_games_too() -> None:
    of = corridor.GAME.load("$..$@....D", "c")
    text = "R + 0.5*COINS - OUT/N + sqrt(log(P)/N)"
    kept = tree(corridor.GAME, of, ANYTIME, text, 300)
    with whole_formulas():
        assert tree(corridor.GAME, of, ANYTIME, text, 300) == kept


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
    text = "R + 0.5*MS + (PE - 0.2*DEAD)/3 + HL*D"
    planner = Planner(GAME, of, dataclasses.replace(PAPER, stop="budget"), 1_001)
    formula = parse(text)
    nodes = planner.plan(UTILITY, TreePolicy.of(text, GAME), Budget(1_000), seed=1).nodes
    scores = [formula.evaluate(values) for values in planner.samples(nodes)]
    assert scores[1:] == planner._tree.values[1:nodes, 3].tolist()


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
