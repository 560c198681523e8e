"""Defines what searches without a tree work on: a level, the utility of its states, and scratch space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import FloatRow, IntRow, Pointed, WordRow
from persona_evo.formula import Formula
from persona_evo.formula.native import formula_on_row
from persona_evo.games.core import Game, Level, Rules
from persona_evo.seeds import below, stream

Utility = Annotated[Callable[[FloatRow], float], Pointed()]
"""Returns the utility of a row of metrics."""


class Play(NamedTuple):
    """A level that is being played.

    Attributes:
        rules, tables: the game and the level.
        utility: returns the utility of a row of metrics.
        state: scratch space for a state.
        actions: int64[actions], the legal actions.
        metrics: float64[metrics], the metrics of a state.
        rng: int64[2], the random stream for moves.
    """

    rules: Rules
    tables: WordRow
    utility: Utility
    state: WordRow
    actions: IntRow
    metrics: FloatRow
    rng: IntRow

    @classmethod
    def of(cls, game: Game, level: Level, utility: Formula) -> Play:
        """Return a level to play, with a utility over the game's metrics."""
        return cls(
            game.rules_for(utility.symbols),
            level.tables,
            formula_on_row(utility, game.symbols),
            level.start.copy(),
            np.zeros(max(1, level.max_actions), dtype=np.int64),
            np.zeros(len(game.metrics)),
            stream(0),
        )


@compiled
def worth(play: Play, state: WordRow) -> float:
    """Return the utility of a state."""
    play.rules.measure(play.tables, state, 0, play.metrics)
    return play.utility(play.metrics)


@compiled
def random_move(play: Play, state: WordRow) -> int:
    """Make a uniformly random legal move in place; return the action, or -1 if there is none."""
    count = play.rules.legal(play.tables, state, play.actions)
    if count <= 0:
        return -1
    action = play.actions[below(play.rng, count)]
    play.rules.step(play.tables, state, action, play.rng)
    return action


@compiled
def is_better(utility: float, won: int, steps: int, best: float, best_won: int, best_steps: int) -> bool:
    """Return whether a plan is better than the best: by utility, then by winning, then by brevity."""
    if utility != best:
        return utility > best
    if won != best_won:
        return won > best_won
    return steps < best_steps


@compiled
def place_in(seen: IntRow, h: int) -> int:
    """Return the position of a number in a hash table int64[2**k], or the free position (0) where it belongs."""
    mask = len(seen) - 1
    at = (h ^ (h >> 17)) & mask
    while seen[at] != 0 and seen[at] != h:
        at = (at + 1) & mask
    return at


@compiled
def mixed(h: int, metric: float, shift: int) -> int:
    """Return a hash from 0 to 2**63 - 1 with a metric mixed in; `shift` is the number of bits in the final shift."""
    scaled = min(max(metric * 1048576.0, -9.0e18), 9.0e18)
    h = ((h ^ int(scaled)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
    return h ^ (h >> shift)
