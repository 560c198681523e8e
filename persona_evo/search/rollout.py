"""The default policy: uniformly random legal actions from the new node on."""

from __future__ import annotations

from typing import Any

from persona_evo.compiling import compiled
from persona_evo.games.core import RUNNING
from persona_evo.seeds import below


@compiled
def random_move(legal: Any, step: Any, tables: Any, state: Any, actions: Any, rng: Any) -> int:
    """Make one uniformly random legal move in place; the action made, or -1 where there is none."""
    count = legal(tables, state, actions)
    if count <= 0:
        return -1
    action = actions[below(rng, count)]
    step(tables, state, action, rng)
    return action  # type: ignore[no-any-return]


@compiled
def rollout(
    legal: Any, step: Any, over: Any, tables: Any, state: Any, actions: Any, played: Any, length: int, rng: Any
) -> int:
    """Up to `length` random moves in place, fewer where the game ends; the moves are written to `played`.

    Returns how many were made.
    """
    made = 0
    while made < length and over(tables, state) == RUNNING:
        action = random_move(legal, step, tables, state, actions, rng)
        if action < 0:
            break
        played[made] = action
        made += 1
    return made
