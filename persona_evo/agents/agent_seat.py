"""An agent at one side of a game: it chooses moves and follows those of all players."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from persona_evo.agents.agent import Agent, answer_of, policy_of
from persona_evo.compiling.arrays import WordRow
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.search.actor import actor_for
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.search.moves import MoveSearch, MovesSpec
from persona_evo.search.settings import SearchSettings
from persona_evo.seeds import stream


class AgentSeat:
    """An agent that plays in this process, at one side of one game (see `contest.Seat`).

    Args:
        agent: the agent; not of the kind `program`.
        game, level: what is played.
        seed: all random choices follow from it.

    Attributes:
        thought: iterations, nodes, breadth and depth of the last search; all 0 if there was none.
    """

    def __init__(self, agent: Agent, game: Game, level: Level, seed: int) -> None:
        self.agent, self.game, self.level = agent, game, level
        self.thought = (0, 0, 0, 0)
        self._rng = np.random.default_rng(seed)
        self._actor: MoveSearch | None = None
        if agent.kind == "greedy":
            self._utility = agent.formula(agent.utility, game.symbols)
            self._rules = game.rules_for(self._utility.symbols)
        if agent.kind == "flat":
            depth, budget = SearchSettings.from_dict(agent.search).horizon, agent.budget
            self._look = Lookahead(
                game,
                level,
                agent.formula(agent.utility, game.symbols),
                depth,
                "flat",
                Allowance(budget.iterations, None, budget.seconds),
                seed=seed,
            )
        if agent.kind == "search":
            utility, settings = agent.formula(agent.utility, game.symbols), SearchSettings.from_dict(agent.search)
            spec = MovesSpec(
                utility, policy_of(agent, game), agent.budget, settings, answer_of(agent, game), agent.variant, seed
            )
            self._actor = actor_for(game, level, spec)

    def prepare(self) -> None:
        """Do nothing: the agent is ready as soon as it exists."""

    def choose(self, state: WordRow) -> int:
        """Return the move to make."""
        if self._actor is not None:
            move = self._actor.think(state)
            self.thought = (move.iterations, move.nodes, *self._actor.shape())
            return move.action
        if self.agent.kind == "greedy":
            return self._greedy(state)
        if self.agent.kind == "flat":
            look = self._look.think(state)
            self.thought = (look.playouts, 0, 0, 0)
            return look.action
        return random_move(self.game, self.level, state, self._rng)

    def follow(self, action: int) -> None:
        """Follow a move of any player."""
        if self._actor is not None:
            self._actor.follow(action)

    def close(self) -> None:
        """Do nothing: the agent leaves nothing behind."""

    def _greedy(self, state: WordRow) -> int:
        """Return the move after which the utility is highest."""
        end = None if self.agent.seconds is None else time.perf_counter() + self.agent.seconds
        tables, rules, out = self.level.tables, self._rules, np.zeros(len(self.game.metrics))
        player, luck = int(rules.mover(tables, state)), np.ones(2, dtype=np.int64)
        best: list[int] = []
        highest = 0.0
        for action in self.game.legal(self.level, state):
            after = state.copy()
            rules.step(tables, after, action, luck)
            rules.measure(tables, after, player, out)
            value = self._utility.evaluate(dict(zip(self.game.symbols, map(float, out), strict=True)))
            if not best or value > highest:
                best, highest = [action], value
            elif value == highest:
                best.append(action)
            if end is not None and time.perf_counter() >= end:
                break
        return best[int(self._rng.integers(len(best)))]


_warm: set[tuple[str, int, str]] = set()
"""Game, version and agent of each agent that has made a move in this process."""


def warm_up(agents: Iterable[Agent], game: Game, level: Level) -> None:
    """Compile and load what agents need, so that it does not count as time of a later move.

    Each agent makes the first move of a game with one iteration, once in a process. Nothing else changes. Programs and
    games that run in another process need nothing here.
    """
    if game.outside is not None:
        return
    for agent in agents:
        key = (game.name, game.version, repr(replace(agent, name="", about="", iterations=1, seconds=None)))
        if agent.kind == "program" or key in _warm:
            continue
        state = game.start(level, 1)
        if game.over(level, state) == RUNNING and game.legal(level, state):
            ready = replace(agent, utility=agent.utility or game.symbols[0])
            seat = AgentSeat(ready.with_budget(1, None), game, level, 1)
            action = seat.choose(state)
            seat.follow(action)
            game.rules().step(level.tables, state, action, stream(1))
        _warm.add(key)


def random_move(game: Game, level: Level, state: WordRow, rng: np.random.Generator) -> int:
    """Draw a move of the game's own random player; without one, all legal moves are equally likely."""
    if "random" not in game.variants:
        legal = game.legal(level, state)
        return legal[int(rng.integers(len(legal)))]
    played, luck = np.zeros(1, dtype=np.int64), rng.integers(1, 2**32, 2)
    actions, seen = np.zeros(max(1, level.max_actions), dtype=np.int64), np.zeros((1, len(game.metrics)))
    rollout = game.variants["random"]().rollout
    rollout(level.tables, state.copy(), actions, played, 1, luck.astype(np.int64), seen, 0)
    return int(played[0])
