"""Small levels and plain searches that tests compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from persona_evo.errors import LevelError
from persona_evo.formula import Formula
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.search.plan import Planner
from persona_evo.search.settings import Budget
from persona_evo.search.tree import SLOT, Tree
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.search.tree_search import TreeSearch

GAME = registry.get("minidungeons2")
RNG = np.ones(2, dtype=np.int64)


def level(*rows: str) -> Level:
    """Return a MiniDungeons 2 level with its walls around."""
    wall = "X" * (len(rows[0]) + 2)
    return GAME.load("\n".join([wall, *(f"X{row}X" for row in rows), wall]) + "\n", "tiny")


def tiny(width: int = 4, height: int = 3, objects: str = "XXTPMotR") -> st.SearchStrategy[Level]:
    """Random levels of this size with a hero and an exit."""
    cells = st.permutations(list(range(width * height)))
    filling = st.lists(st.sampled_from(objects + "       "), min_size=width * height, max_size=width * height)

    def build(order: list[int], tiles: list[str]) -> Level | None:
        tiles = list(tiles)
        tiles[order[0]], tiles[order[1]] = "H", "e"
        try:
            return level(*("".join(tiles[y * width : (y + 1) * width]) for y in range(height)))
        except LevelError:
            return None

    return st.builds(build, cells, filling).filter(lambda found: found is not None)  # type: ignore[return-value]


def optimum(game: Game, of: Level, utility: Formula, horizon: int) -> float:
    """Return the best utility of any plan of at most `horizon` legal moves, by trying all of them."""
    best = -float("inf")
    rules = game.rules()
    layer: dict[bytes, Any] = {b"": game.start(of)}
    for depth in range(horizon + 1):
        following: dict[bytes, Any] = {}
        for state in layer.values():
            best = max(best, utility.evaluate(game.measure(of, state)))
            if game.over(of, state) != RUNNING or depth == horizon:
                continue
            for action in game.legal(of, state):
                after = state.copy()
                rules.step(of.tables, after, action, RNG)
                following[after.tobytes()] = after
        layer = following
    return best


def tree_of(planner: Planner, utility: Formula, policy: TreePolicy, iterations: int, seed: int) -> Tree:
    """Return the tree of a search from the level's start, cut to its nodes."""
    run = TreeSearch(planner, planner.level.start, 0, utility, policy, seed, None)
    run.spend(Budget(iterations), 0.0)
    tree, nodes = run.tree, run.nodes
    return tree._replace(nodes=tree.nodes[:nodes], states=tree.states[:nodes])


def slots_of(tree: Tree) -> NDArray[np.float64]:
    """Return the rows of a tree's nodes in their order."""
    return tree.values[tree.nodes[:, SLOT]]
