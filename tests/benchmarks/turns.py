"""Random games by compiled rules in one compiled loop."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Handle, entry
from persona_evo.compiling.arrays import FloatTable, IntRow, WordRow
from persona_evo.games.core import Game, Level, Rules
from persona_evo.search.expansion import copy


class Ground(NamedTuple):
    """The arrays of random games.

    Attributes:
        rules, tables, start: the game, the level and its first state.
        state: a state, for scratch.
        actions: int64[actions], for scratch.
        played: int64[longest], the actions of a game.
        seen: float64[longest + 1, metrics], for scratch.
        rng: int64[2].
    """

    rules: Rules
    tables: WordRow
    start: WordRow
    state: WordRow
    actions: IntRow
    played: IntRow
    seen: FloatTable
    rng: IntRow


@entry
def play_turns(ground: Ground, turns: int) -> int:
    """Play random games of `turns` turns in all; return the sum of the squares of their lengths."""
    total = 0
    while turns > 0:
        copy(ground.start, ground.state)
        made = ground.rules.rollout(
            ground.tables,
            ground.state,
            ground.actions,
            ground.played,
            min(turns, len(ground.played)),
            ground.rng,
            ground.seen,
            0,
        )
        turns -= made
        total += made * made
    return total


@lru_cache(maxsize=32)
def _handle(game: Game, level: Level, longest: int) -> Handle[Ground]:
    """Return the level in the layout of the search."""
    game, level, _ = game.for_search(level)
    actions, played, rng = (np.zeros(n, dtype=np.int64) for n in (max(1, level.max_actions), longest, 2))
    seen = np.zeros((longest + 1, len(game.metrics)))
    return Handle(Ground(game.rules(), level.tables, level.start, level.start.copy(), actions, played, seen, rng))


def playouts(game: Game, level: Level, turns: int, longest: int, rng: NDArray[np.int64]) -> int:
    """Play random games of `turns` turns in all, at most `longest` each; return a checksum of them."""
    handle = _handle(game, level, longest)
    handle.work.rng[:] = rng
    found = play_turns(handle, turns)
    rng[:] = handle.work.rng
    return int(found)
