"""Searches for a win that continues the best plan of a search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from persona_evo.compiling.arrays import WordRow
from persona_evo.formula import Formula, parse
from persona_evo.games.core import RUNNING, WON
from persona_evo.search.pace import counted_from
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
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
        iterations, nodes: the cost of the search for a win; 0 if there was none.
    """

    actions: tuple[int, ...]
    iterations: int = 0
    nodes: int = 0


def play_on(
    finisher: Workspace,
    actions: tuple[int, ...],
    utility: Formula,
    budget: Budget,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> Ending:
    """Search for a win that continues a plan.

    There is often no way out of the best state that a search finds. The search therefore begins at the plan's last
    state, then 1, 2, 4, 8, ... moves before it, until it finds a win that is worth at least as much as every plan so
    far. It is a best-first search by a quantity that grows on the way to a win (`Game.homing`).

    Args:
        finisher: the planner whose memory and settings are used.
        actions: the plan, from the level's start.
        utility, seed: those of the search that found the plan.
        budget: the budget of all these searches together.
        progress: called now and then with the number of iterations of all these searches.

    Returns:
        A plan that wins and is worth at least as much as the given one; without a win, the best plan that was found.
    """
    game, level = finisher.game, finisher.level
    states = game.replay(level, actions)
    guide = TreePolicy("homing", parse(game.homing, game.symbols) if game.homing else utility)

    def worth(end: WordRow) -> tuple[float, bool]:
        return utility.evaluate(game.measure(level, end)), game.over(level, end) == WON

    if game.over(level, states[-1]) != RUNNING:
        return Ending(actions)
    best, most = actions, worth(states[-1])
    spent, nodes, back, began = 0, 0, 0, time.perf_counter()
    left: Budget | None = budget
    while left is not None and back <= len(actions):
        depth = len(actions) - back
        back = 2 * back or 1
        if depth == finisher.horizon:
            continue
        tell = counted_from(spent, progress)
        run = TreeSearch(finisher, states[depth], depth, utility, guide, derive(seed, "finish"), tell)
        share = SHARE if left.iterations is None else max(SHARE, FLOOR / left.iterations)
        run.spend(left.part(share), time.perf_counter(), until_won=True)
        spent, nodes = spent + run.iterations, nodes + run.nodes
        plan = (*actions[:depth], *run.actions)
        value = worth(game.replay(level, plan)[-1])
        if value > most:
            best, most = plan, value
        if run.won and value >= most:
            break
        left = budget.less(spent, time.perf_counter() - began)
    return Ending(best, spent, nodes)
