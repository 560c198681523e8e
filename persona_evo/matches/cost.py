"""What games will take: said before they begin, and kept up to date by those that are done.

An agent with seconds for a move takes them; one with iterations takes as long as each of them takes on that level,
which is tried out. How long games are is seen from some that are played with few iterations. Nothing of this
changes any game.
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
"""Iterations a move of the games that are tried out, of the move that is timed, and how many games that are."""

ANYWAY = 5e-4
"""Seconds of a move beside its search."""

APIECE = 0.02
"""Seconds of a game beside its moves: to be set up, sent, and written down."""

GREEDY = 100
"""Iterations that looking at all moves once is worth, which is all that a greedy agent does."""

PROGRAM = 0.1
"""Seconds of a move of a program, whose time is not known beforehand."""

AT_RANDOM = 3.0
"""How many times shorter games against a random player are."""


class MatchPace(NamedTuple):
    """Of a level: moves of a game, of both together, and seconds of an iteration."""

    moves: int
    iteration: float


_known: dict[tuple[str, LevelText], MatchPace] = {}
"""What was tried out in this process."""


def pace(game: Game, text: LevelText, agents: Iterable[Agent]) -> MatchPace:
    """How long games on a level are, and how long iterations take there; tried out once in a process.

    agents: of the match; the first one that searches is tried, else the random one.
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
    """Seconds of one search of SOME iterations at the start."""
    mind = AgentSeat(agent.with_budget(SOME, None), game, level, 1)
    began = time.perf_counter()
    mind.choose(game.start(level, 1))
    return time.perf_counter() - began


def of_move(agent: Agent, one: MatchPace) -> float:
    """Seconds of an agent's move on one core."""
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
    """Seconds of a game on one core."""
    moves = one.moves / (AT_RANDOM if "random" in (first.kind, second.kind) else 1.0)
    return APIECE + moves / 2 * (of_move(first, one) + of_move(second, one))


def of_match(
    game_name: str, levels: Sequence[LevelText], agents: Sequence[Agent], games: Sequence[tuple[int, int, int]]
) -> list[float]:
    """Seconds of games on one core. games: numbers of first and second agent and level of each."""
    game = registry.get(game_name)
    paces = {i: pace(game, levels[i], agents) for i in {level for _, _, level in games}}
    return [of_game(agents[a], agents[b], paces[i]) for a, b, i in games]
