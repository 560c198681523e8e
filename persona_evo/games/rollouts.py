"""Plays random games by a game's own rules."""

from __future__ import annotations

from collections.abc import Callable

from persona_evo.compiling import Callback, compiled, with_names
from persona_evo.compiling.arrays import FloatTable, IntRow, WordRow
from persona_evo.games.core import RUNNING, Rollout, rule
from persona_evo.seeds import below

_nothing: Callable[..., int] = int


_legal = _step = _over = _measure = _nothing
"""What `play_out` plays; `rollout_of` puts a game's own functions in these places."""


@compiled
def play_out(
    tables: WordRow,
    state: WordRow,
    actions: IntRow,
    played: IntRow,
    length: int,
    rng: IntRow,
    seen: FloatTable,
    every: int,
) -> int:
    """Make up to `length` uniformly random moves in place, fewer if the game ends.

    The moves are written to `played` and, if `every` is 1, the metrics after move k (from 0) to row k of `seen`.

    Returns:
        The number of moves made.
    """
    made = 0
    while made < length and _over(tables, state) == RUNNING:
        count = _legal(tables, state, actions)
        if count <= 0:
            break
        action = actions[below(rng, count)]
        _step(tables, state, action, rng)
        played[made] = action
        if every:
            _measure(tables, state, 0, seen[made])
        made += 1
    return made


def rollout_by(play: Callable[..., int], name: str, measure: Callback) -> Callback:
    """Return a game's rule `rollout`: a marked function of its own, which measures with another function.

    Args:
        play: has the parameters of `play_out` and calls `_measure`, a name of its module.
        name: the name of the module that will hold the rule.
        measure: takes the place of `_measure`.
    """
    return rule("rollout")(with_names(play, name, _measure=measure.plain))


def rollout_of(legal: Callback, step: Callback, over: Callback, measure: Callback) -> Callback:
    """Return a game's rule `rollout`: `play_out` with its other rules, so that ten moves cost one call, not forty."""
    plain = with_names(play_out, _legal=legal.plain, _step=step.plain, _over=over.plain, _measure=measure.plain)
    return Callback(plain, Rollout)  # type: ignore[arg-type]
