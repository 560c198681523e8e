"""Playing on to a win from the best plan of a search that does not get there."""

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
"""Of what is left of the budget, for each place from which a win is looked for."""

FLOOR = 200
"""Iterations that each of them gets at least, as long as there are so many: fewer find no way."""


class Ending(NamedTuple):
    """A plan played on: its actions, and the iterations and nodes it took."""

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
    """The plan that wins and is worth no less, or the most worthy one found in looking for it.

    A best state is often one from which nobody gets away, so a win is looked for from the plan's last state, then from
    1, 2, 4, 8, ... moves before it, until a win is worth no less than any plan so far. The way is searched best first
    by what the game says grows on the way to a win (`Game.homing`).

    Args:
        finisher: whose memory and settings are used.
        actions: the plan, from the level's start.
        utility, seed: of the search whose plan it is.
        budget: for all these searches together.
        progress: called now and then with the iterations of all these searches.
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
