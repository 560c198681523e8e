"""Random games by compiled rules, in one compiled loop."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from persona_evo.compiling import jit
from persona_evo.games.core import Level, entry_type

from .levels import game


def _playouts(rollout: Any, tables: Any, start: Any, state: Any, actions: Any, played: Any, turns: int, longest: int,
              rng: Any, seen: Any) -> Any:  # fmt: skip
    total: Any = 0
    while turns > 0:
        for k in range(len(state)):
            state[k] = start[k]
        turns -= rollout(tables, state, actions, played, min(turns, longest), rng, seen, 0)
        total += np.int64(state[0]) + np.int64(state[3])
    return total


@cache
def compiled() -> Any:
    """The loop for any game whose states are rows of uint16."""
    from numba import types

    row, ints, whole = types.uint16[::1], types.int64[::1], types.int64
    kind = whole(entry_type("rollout"), row, row, row, ints, ints, whole, whole, ints, types.float64[:, ::1])
    return jit(_playouts, kind, final=True)


def playouts(level: Level, turns: int, longest: int, rng: Any) -> int:
    """Random games of `turns` turns in all, at most `longest` each; a checksum of their ends."""
    found = compiled()(
        game().rules().entries.rollout, level.tables, level.start, level.start.copy(),
        np.zeros(level.max_actions, dtype=np.int64), np.zeros(longest, dtype=np.int64), turns, longest, rng,
        np.zeros((longest + 1, len(game().metrics))),
    )  # fmt: skip
    return int(found)
