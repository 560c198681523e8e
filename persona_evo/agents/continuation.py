"""Play from the end of a plan to the end of the game, with a new search for each move.

A plan is the best that a search has found, so it often ends where further moves can only lower the utility, such as a
moment before the player dies. What happens next is not part of the plan, but a designer wants to see it.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import NamedTuple

from persona_evo.compiling.arrays import WordRow
from persona_evo.formula import Formula
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.search.actor import Actor
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive, stream

SHARE = 1 / 16
"""The share of the remaining budget for each move."""

FLOOR = 10
"""The smallest number of iterations of a move, if that many are left."""


class Continuation(NamedTuple):
    """The moves after a plan.

    Attributes:
        actions: the moves.
        utility: the utility of the state after them; 0 without moves.
        stuck: whether play ended because standing still to the horizon is worth more than any other move.
    """

    actions: tuple[int, ...] = ()
    utility: float = 0.0
    stuck: bool = False


def play_on(
    game: Game,
    level: Level,
    actions: tuple[int, ...],
    utility: Formula,
    budget: Budget,
    settings: SearchSettings,
    seed: int,
) -> Continuation:
    """Play on until the game ends, the horizon is reached or the budget is spent.

    Each move is the one below which UCB1 found the state with the highest utility.

    Args:
        game: a game whose levels are planned as a whole (`Game.planned`).
        level: the level of the plan.
        actions: the plan, from the level's start.
        utility: what the player wants.
        budget: the budget of all moves together.
        settings: the settings of the search that made the plan.
        seed: all random choices follow from it.
    """

    def worth(end: WordRow) -> float:
        return utility.evaluate(game.measure(level, end))

    state = game.replay(level, actions)[-1]
    left = (settings.horizon or game.horizon_of(level)) - len(actions)
    if game.over(level, state) != RUNNING or left <= 0:
        return Continuation()
    budget = budget if budget.nodes is None else replace(budget, iterations=budget.iterations or budget.nodes)
    first = _of_a_move(budget)
    actor = Actor(
        game,
        level,
        utility,
        TreePolicy.ucb1(),
        first,
        replace(SearchSettings.single(), horizon=left),
        choose="max",
        seed=derive(seed, "continuation"),
    )
    rules, rng = game.rules(), stream(seed)
    made: list[int] = []
    spent, began = 0, time.perf_counter()
    rest: Budget | None = budget
    while rest is not None and len(made) < left and game.over(level, state) == RUNNING:
        actor.budget = _of_a_move(rest)
        move = actor.think(state)
        others = [o.max for o in move.options if game.action_name(level, state, o.action) != game.idle]
        if game.idle and _idling(game, level, state, left - len(made), utility) > max(others, default=-math.inf):
            return Continuation(tuple(made), worth(state), stuck=True)
        rules.step(level.tables, state, move.action, rng)
        actor.follow(move.action)
        made.append(move.action)
        spent += move.iterations
        rest = budget.less(spent, time.perf_counter() - began)
    return Continuation(tuple(made), worth(state))


def _of_a_move(left: Budget) -> Budget:
    """Return the budget of the next move."""
    iterations = None
    if left.iterations is not None:
        iterations = min(left.iterations, max(FLOOR, math.ceil(left.iterations * SHARE)))
    return Budget(iterations, None if left.seconds is None else left.seconds * SHARE)


def _idling(game: Game, level: Level, state: WordRow, moves: int, utility: Formula) -> float:
    """Return the utility after standing still for so many moves, or to the game's end; -inf if that is not legal."""
    rules, rng, state = game.rules(), stream(0), state.copy()
    for _ in range(moves):
        if game.over(level, state) != RUNNING:
            break
        idle = next((a for a in game.legal(level, state) if game.action_name(level, state, a) == game.idle), None)
        if idle is None:
            return -math.inf
        rules.step(level.tables, state, idle, rng)
    return utility.evaluate(game.measure(level, state))
