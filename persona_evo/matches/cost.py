"""Estimates how long games take, before they begin; games that are done update the estimates.

An agent with seconds per move uses them up. An agent with iterations takes the time of its iterations, which is
measured on that level. The length of games is estimated from a few games with few iterations. None of this changes any
game.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from persona_evo.agents.agent import THINKING, Agent
from persona_evo.agents.agent_seat import AgentSeat
from persona_evo.agents.contest import contest
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText

FEW, SOME, TRIED = 40, 100, 2
"""Iterations per move of trial games, iterations of the timed move, and number of trial games."""

ANYWAY = 5e-4
"""Seconds per move besides its search."""

APIECE = 0.02
"""Seconds per game besides its moves: for setting it up, sending it and storing it."""

GREEDY = 100
"""Iterations that take as long as looking at all moves once, which is all that a greedy agent does."""

PROGRAM = 0.1
"""Seconds per move of a program, whose time is not known in advance."""

AT_RANDOM = 3.0
"""Factor by which games against a random player are shorter."""


class MatchPace(NamedTuple):
    """The pace of games on a level: moves of a game, of both players together, and seconds per iteration."""

    moves: int
    iteration: float


_known: dict[tuple[str, LevelText], MatchPace] = {}
"""Measurements made in this process."""


def pace(game: Game, text: LevelText, agents: Iterable[Agent]) -> MatchPace:
    """Return how long games on a level are, and how long iterations take there; measured once per process.

    Args:
        agents: the agents of the match; the first one that searches is timed, or else the random one.
    """
    if (game.name, text) not in _known:
        level = text.load(game)
        tried = next((a for a in agents if a.kind == "search"), None)
        one = tried.with_budget(FEW, None) if tried else Agent("random", "random")
        moves = [
            len(contest(game, level, [AgentSeat(one, game, level, k), AgentSeat(one, game, level, k)], k, k).actions)
            for k in range(TRIED)
        ]
        iteration = _timed(game, level, tried) / SOME if tried else 0.0
        _known[game.name, text] = MatchPace(max(1, round(sum(moves) / TRIED)), iteration)
    return _known[game.name, text]


def _timed(game: Game, level: Level, agent: Agent) -> float:
    """Return the seconds of one search of SOME iterations at the start."""
    mind = AgentSeat(agent.with_budget(SOME, None), game, level, 1)
    began = time.perf_counter()
    mind.choose(game.start(level, 1))
    return time.perf_counter() - began


def of_move(agent: Agent, one: MatchPace) -> float:
    """Return the seconds of an agent's move on one core."""
    if agent.kind == "program":
        return PROGRAM
    if agent.kind not in THINKING:
        return ANYWAY
    if agent.kind == "greedy":
        return ANYWAY + GREEDY * one.iteration
    budget = agent.budget
    took = ANYWAY + (budget.iterations or 0) * one.iteration
    if budget.seconds is None:
        return took
    return budget.seconds if budget.iterations is None else min(took, budget.seconds)


def of_game(first: Agent, second: Agent, one: MatchPace) -> float:
    """Return the seconds of a game on one core."""
    moves = one.moves / (AT_RANDOM if "random" in (first.kind, second.kind) else 1.0)
    return APIECE + moves / 2 * (of_move(first, one) + of_move(second, one))


def of_match(
    game_name: str, levels: Sequence[LevelText], agents: Sequence[Agent], games: Sequence[tuple[int, int, int]]
) -> list[float]:
    """Return the seconds of each game on one core; `games` are (first agent, second agent, level) by number."""
    game = registry.get(game_name)
    paces = {i: pace(game, levels[i], agents) for i in {level for _, _, level in games}}
    return [of_game(agents[a], agents[b], paces[i]) for a, b, i in games]
