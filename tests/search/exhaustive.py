"""Explores everything that can happen in a small level, move by move, for comparison with proofs.

Nothing of the search is used here. States are the same only if everything about them is: the whole row, or all
attributes of a Python state, after the same number of moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula import Formula
from persona_evo.games.core import RUNNING, Game, Level

State = NDArray[Any]


@dataclass(frozen=True)
class Everything:
    """What every plan of at most `horizon` moves leads to. measured: one row for each state, its metrics in order."""

    horizon: int
    symbols: tuple[str, ...]
    measured: NDArray[np.float64]

    def best(self, utility: Formula) -> float:
        """Return the highest utility of any of the plans."""
        read = [i for i, symbol in enumerate(self.symbols) if symbol in utility.symbols]
        different = np.unique(self.measured[:, read], axis=0) if read else self.measured[:1, read]
        names = [self.symbols[i] for i in read]
        return max(utility.evaluate(dict(zip(names, map(float, row), strict=True))) for row in different)


def identity(state: State) -> Any:
    """Return what is equal for two states only if they are the same in everything."""
    return repr(sorted(vars(state[0]).items())) if state.dtype == object else state.tobytes()


def explore(game: Game, level: Level, moves: int, most: int) -> Everything:
    """Try out everything, layer by layer.

    Args:
        moves: length of the longest plans.
        most: states; the layer that would be one too many is left out, so that the horizon becomes shorter. The first
            is always kept.
    """
    layer = [game.start(level)]
    measured = [measures(game, level, layer)]
    horizon = 0
    while horizon < moves:
        layer = following(game, level, layer)
        if horizon and sum(map(len, measured)) + len(layer) > most:
            break
        horizon += 1
        if layer:
            measured.append(measures(game, level, layer))
    return Everything(horizon, game.symbols, np.concatenate(measured))


def measures(game: Game, level: Level, layer: list[State]) -> NDArray[np.float64]:
    """Return the metrics of states, costly ones as well."""
    measure, out = game.rules(costly=True).measure, np.zeros((len(layer), len(game.metrics)))
    for state, row in zip(layer, out, strict=True):
        measure(level.tables, state, 0, row)
    return out


def following(game: Game, level: Level, layer: list[State]) -> list[State]:
    """Return the different states one move later."""
    return list({identity(after): after for state in layer for after in successors(game, level, state)}.values())


def successors(game: Game, level: Level, state: State) -> Iterator[State]:
    """Yield what each legal move leads to; nothing follows when the game is over."""
    rules, rng = game.rules(), np.ones(2, dtype=np.int64)
    if rules.over(level.tables, state) != RUNNING:
        return
    for action in game.legal(level, state):
        after = state.copy()
        rules.step(level.tables, after, action, rng)
        yield after
