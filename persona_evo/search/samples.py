"""Collects states that really occur, from random games that are the same every time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from persona_evo.compiling.arrays import WordRow
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.seeds import below, stream

GAMES = 3
"""The number of random games in each level."""
MOVES = 200
"""The largest number of moves of a random game."""
MOST_LEVELS = 6
"""The largest number of levels that are played."""


@dataclass(frozen=True)
class Sampled:
    """A state of a random game.

    Attributes:
        level: the name of the level.
        game: the number of the game in this level, from 0.
        move: the number of moves made before this state.
        metrics: the metrics by symbol, as the player to move sees them.
        outcome: RUNNING, WON, LOST or ENDED.
        last: whether this is the last state of the game, which may have been cut short here.
    """

    level: str
    game: int
    move: int
    metrics: dict[str, float]
    outcome: int
    last: bool


def random_states(game: Game, levels: Sequence[Level], until: float | None = None) -> list[Sampled]:
    """Return the states of random games in some of the levels; none for a game that runs outside this process.

    Args:
        game: the game.
        levels: the levels, of which the first MOST_LEVELS are played.
        until: the time (`time.monotonic`) after which no further game is started.
    """
    if game.outside is not None:
        return []
    found: list[Sampled] = []
    for number in range(GAMES):
        for level in levels[:MOST_LEVELS]:
            if until is not None and time.monotonic() > until:
                return found
            found += _one(game, level, number)
    return found


def _one(game: Game, level: Level, number: int) -> list[Sampled]:
    rules, state, rng = game.rules(), game.start(level, number), stream(number)
    found: list[Sampled] = []
    most = min(MOVES, game.horizon_of(level))
    for move in range(most + 1):
        outcome = game.over(level, state)
        legal = game.legal(level, state) if outcome == RUNNING else []
        last = move == most or not legal
        found.append(Sampled(level.name, number, move, _seen(game, level, state), outcome, last))
        if last:
            break
        rules.step(level.tables, state, legal[int(below(rng, len(legal)))], rng)
    return found


def _seen(game: Game, level: Level, state: WordRow) -> dict[str, float]:
    return game.measure(level, state, int(game.rules().mover(level.tables, state)))
