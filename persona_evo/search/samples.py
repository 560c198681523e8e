"""States that really occur: those of games played at random, the same every time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from persona_evo.compiling.arrays import WordRow
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.seeds import below, stream

GAMES = 3
"""Random games in each level."""
MOVES = 200
"""Moves of a random game at most."""
MOST_LEVELS = 6
"""Levels that are played in where many are given."""


@dataclass(frozen=True)
class Sampled:
    """A state of a random game.

    Attributes:
        level: its name. game: number of the game in this level, from 0. move: moves made before it.
        metrics: symbol -> value, as whoever moves there sees it.
        outcome: RUNNING, WON, LOST or ENDED. last: whether it ended the game, or the game was ended there.
    """

    level: str
    game: int
    move: int
    metrics: dict[str, float]
    outcome: int
    last: bool


def random_states(game: Game, levels: Sequence[Level], until: float | None = None) -> list[Sampled]:
    """The states of random games in some of the levels; none of a game that runs outside this process.

    Args:
        game: whose levels they are.
        levels: the first MOST_LEVELS are played in.
        until: moment on `time.monotonic` after which no game is begun.
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
