"""Searches for a win that continues the best plan of a search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from persona_evo.formula import Formula
from persona_evo.games.core import RUNNING
from persona_evo.search.engine import TreePlan
from persona_evo.search.pace import counted_from
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy, own_formula
from persona_evo.search.tree_search import TreeSearch
from persona_evo.search.workspace import Workspace
from persona_evo.seeds import derive

SHARE = 0.25
"""The share of the remaining budget that is spent on the search from each state of the plan."""

FLOOR = 200
"""The smallest number of iterations for each of these searches, if the budget allows it: fewer find no win."""


class Ending(NamedTuple):
    """A plan after the search for a win.

    Attributes:
        actions: the actions from the level's start.
        metrics, outcome: those of the state after them.
        iterations, nodes: the cost of the search for a win; 0 if there was none.
    """

    actions: tuple[int, ...]
    metrics: dict[str, float]
    outcome: int
    iterations: int = 0
    nodes: int = 0


def play_on(
    finisher: Workspace,
    plan: TreePlan,
    worth: float,
    utility: Formula,
    budget: Budget,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> Ending | None:
    """Search for a win that continues a plan.

    There is often no way out of the best state that a search finds. The search therefore begins at the plan's last
    state, then 1, 2, 4, 8, ... moves before it, until it finds a win that is worth at least as much as every plan so
    far. It is a best-first search by a quantity that grows on the way to a win (`Game.homing`).

    Args:
        finisher: the planner whose memory and settings are used.
        plan: the plan, from the level's start.
        worth: its utility.
        utility, seed: those of the search that found the plan.
        budget: the budget of all these searches together.
        progress: called now and then with the number of iterations of all these searches.

    Returns:
        A plan that wins and is worth at least as much as the given one; without a win, the best plan that was found.
        None if there was nothing to search, since the plan ends the game.
    """
    actions, end = plan.actions, finisher.pack(plan.end)
    if finisher.game.over(finisher.level, end) != RUNNING:
        return None
    guide = TreePolicy("homing", own_formula(finisher.game, finisher.game.homing, utility))
    best, most = actions, (worth, False)
    spent, nodes, back, began = 0, 0, 0, time.perf_counter()
    left: Budget | None = budget
    while left is not None and back <= len(actions):
        depth = len(actions) - back
        back = 2 * back or 1
        if depth == finisher.horizon:
            continue
        tell = counted_from(spent, progress)
        state = finisher.pack(plan.state(depth))
        run = TreeSearch(finisher, state, depth, utility, guide, derive(seed, "finish"), tell)
        share = SHARE if left.iterations is None else max(SHARE, FLOOR / left.iterations)
        run.spend(left.part(share), time.perf_counter(), until_won=True)
        spent, nodes = spent + run.iterations, nodes + run.nodes
        value = (run.best_utility, run.won)
        if value > most:
            found = run.best
            best, end, most = (*actions[:depth], *found.actions), found.end, value
        if run.won and value >= most:
            break
        left = budget.less(spent, time.perf_counter() - began)
    return Ending(best, *finisher.look(end), spent, nodes) if spent else None
