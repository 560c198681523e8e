"""Tests that a search that stops because nothing can change has found what it would have found later."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from persona_evo import personas
from persona_evo.evolve.genetics import Primitives, formula, random_tree
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula
from persona_evo.games import mapsets, registry
from persona_evo.search import stagnation
from persona_evo.search.plan import Planner
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, variables
from persona_evo.search.tree_search import TreeSearch

GAME = registry.get("minidungeons2")
GOAL = personas.load("monster_killer", GAME).utility
LEVELS = mapsets.resolve(GAME, ["train01", "train04", "test06"])
LATE = (
    "if(N > 700, 0 - R, R)",
    "if(P > 900, HL, MS)",
    "if(P > 1000, RSD, R) - 0.01 * D",
    "R - 0.001 * N",
    "R - N / P",
    "R + 0.02 * sqrt(log(P) / N)",
    "RMAX - 0.0005 * N",
    "N",
    "N / P + R",
    "0 - RSD",
    "RSD * P - N * R",
    "RMAX * (N < 850)",
    "R * RMAX / (RSD + 0.01)",
    "max(R, log(P) / 7)",
    "(P >= 1003) * D + (N <= 812) * R",
    "exp(R) - sqrt(N) / 30",
    "abs(N - 400) + P",
    "min(N, 650) - MS",
    "log(R - 0.3) + N / (P - N)",
    "R / (RMAX - R)",
    "0 - N * HL",
    "R * R - R",
)
"""Policies whose children overtake one another late in a search, or seem to."""


def compare(text: str | Formula, settings: SearchSettings, case: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a search ended early; it finds the same as one that does not."""
    planner = Planner(GAME, LEVELS[case % len(LEVELS)], settings, 1_500)
    policy = TreePolicy.of(text, GAME)
    early = planner.plan(GOAL, policy, Budget(1_200), case)
    with monkeypatch.context() as patch:
        patch.setattr(TreeSearch, "_watch", lambda self, budget: None)
        whole = planner.plan(GOAL, policy, Budget(1_200), case)
    same = ("actions", "utility", "outcome", "nodes", "proven", "upper", "best_actions")
    assert [getattr(early, name) for name in same] == [getattr(whole, name) for name in same], text
    if early.iterations == whole.iterations:
        assert early.stopped == whole.stopped
        return False
    assert early.stopped == "stuck" and early.iterations < whole.iterations
    return True


def settings_of(case: int) -> SearchSettings:
    """Return the paper's settings with other values of what a proof has to do with."""
    return replace(
        SearchSettings.paper(),
        horizon=(3, 5, 9, 0)[case % 4],
        stop=("first_win", "budget")[case // 4 % 2],
        value=("mixed", "mean")[case // 8 % 2],
        transpositions=("off", "prune", "merge")[case // 16 % 3],
        expansion=("ordered", "random")[case // 3 % 2],
        rollout=(10, 0)[case // 5 % 2],
    )


@pytest.mark.parametrize("look", [20, 150])
def test_policies_that_change_their_mind_late(look: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stagnation, "LOOK", look)
    ended = [compare(text, settings_of(case), case, monkeypatch) for case, text in enumerate(LATE)]
    assert 2 < sum(ended) < len(ended)


@pytest.mark.parametrize("kind", ["paper", "extended"])
def test_random_formulas(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stagnation, "LOOK", 20)
    settings = EvolutionSettings.paper()
    if kind == "extended":
        settings = replace(settings, functions="extended", variables="extended")
    primitives, stream = Primitives.of(settings, GAME.symbols), random.Random(5)
    assert set(variables(GAME)) >= {symbol.name for symbol in primitives.symbols}
    ended = []
    for case in range(32):
        text = formula(random_tree(settings, primitives, stream))
        ended.append(compare(text, settings_of(case), case, monkeypatch))
    assert 2 < sum(ended) < len(ended)


def test_the_budget_decides_what_can_be_proven() -> None:
    """What changes after the end of the budget does not count; a search with more of it goes on."""
    settings = replace(SearchSettings.paper(), horizon=9)
    planner = Planner(GAME, LEVELS[0], settings, 12_001)
    policy = TreePolicy.of("if(P > 9000, 0 - N, R - 0.01 * D)", GAME)
    short = planner.plan(GOAL, policy, Budget(5_000), 1)
    long = planner.plan(GOAL, policy, Budget(12_000), 1)
    assert short.stopped == "stuck" and short.iterations < 5_000
    assert long.iterations > 9_000 and long.nodes > short.nodes


def test_nothing_ends_early_where_something_is_done_after_the_search() -> None:
    ends = {}
    for finish in (0.0, 0.5):
        settings = replace(SearchSettings.paper(), horizon=3, stop="budget", finish=finish)
        planner = Planner(GAME, LEVELS[0], settings, 5_000)
        ends[finish] = planner.plan(GOAL, TreePolicy.of("R - 0.01 * D", GAME), Budget(4_000), 1).stopped
    assert ends == {0.0: "stuck", 0.5: "budget"}
