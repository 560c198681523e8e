"""Plays whole games move by move with an agent, alone or against an opponent, and returns each as a `Plan`.

Such a plan records what was played: all moves made, and the final state as the agent sees it from its own side. Plans
differ in the agent's tree policy; all other settings of its search come from a template. A template without a utility
searches for the persona's utility.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from persona_evo.agents.agent import Agent, check
from persona_evo.agents.agent_files import agent_from
from persona_evo.agents.agent_seat import AgentSeat, warm_up
from persona_evo.agents.contest import contest
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import LOST, WON, Game, Level
from persona_evo.search.plan import Plan
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive
from persona_evo.words import counted


def budget_for(iterations: int | None, seconds: float | None, league: League | None = None) -> Budget:
    """Return the given budget; without one, that of the league's agent for a move, or the default for a plan."""
    if iterations is None and seconds is None:
        return Budget() if league is None else league.agent.budget
    return Budget(iterations, seconds)


@dataclass(frozen=True)
class League:
    """The players of games move by move: an agent and, in a two-player game, its opponents.

    Attributes:
        agent: the template of the agents that play with the tree policies being tried; its own policy is not used.
        opponents: the opponents of all these agents; empty in a single-player game.
    """

    agent: Agent
    opponents: tuple[Agent, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the league as plain values, without the places the agents were read from."""
        return {"agent": plain(self.agent), "opponents": [plain(o) for o in self.opponents]}

    @classmethod
    def from_dict(cls, values: object, game: Game) -> League:
        """Make a league from plain values; the inverse of `to_dict`.

        Raises:
            SettingsError: the values do not describe a league, or its agents cannot play the game.
            FormulaError: a formula of an agent is not valid for the game.
        """
        if not isinstance(values, dict) or set(values) != {"agent", "opponents"}:
            raise SettingsError("not a league", found=str(values)[:80], expected="an agent and its opponents")
        opponents = values["opponents"]
        if not isinstance(opponents, list):
            raise SettingsError("not a league", found=str(opponents)[:80], expected="a list of opponents")
        found = cls(agent_from(values["agent"], game), tuple(agent_from(o, game) for o in opponents))
        found.check(game)
        return found

    def check(self, game: Game) -> None:
        """Check that these games can be played again from their seeds.

        Raises:
            SettingsError: a single-player game has opponents or a two-player game has none, an opponent is a program,
                or the template is not a search agent.
        """
        if (self.opponents and game.players != 2) or game.players > 2:
            raise SettingsError(
                "a league is for two-player games",
                found=f"{game.name}, for {counted(game.players, 'player')}",
                hint="leave --league out",
            )
        if not self.opponents and game.players == 2:
            raise SettingsError("the league has no opponents", expected="at least one agent")
        if self.agent.kind != "search":
            raise SettingsError(
                f"agent {self.agent.name} has no tree policy that could be replaced",
                found=f"kind {self.agent.kind}",
                expected="kind search",
            )
        for opponent in self.opponents:
            if opponent.kind == "program":
                raise SettingsError(
                    "a program cannot be in a league",
                    found=opponent.name,
                    expected="built-in kinds of agents, whose games can be replayed from their seeds",
                    hint="persona-evo match plays against programs",
                )
        check(self.agent, game)

    def with_budget(self, budget: Budget) -> League:
        """Return the league with a budget per move for the agent and for opponents not limited by iterations alone."""
        i, s = budget.iterations, budget.seconds
        return League(
            self.agent.with_budget(i, s),
            tuple(o if o.iterations and not o.seconds else o.with_budget(i, s) for o in self.opponents),
        )

    def cases(self, levels: Sequence[str]) -> list[str]:
        """Return the names of the levels, or of all pairs of a level and an opponent, level by level."""
        if not self.opponents:
            return list(levels)
        return [f"{level} {o.name}" for level in levels for o in self.opponents]

    @property
    def sides(self) -> int:
        """The number of sides that the agent plays in turn."""
        return 2 if self.opponents else 1

    def games(self, game: Game, level: Level, agent: Agent | None = None) -> list[Solo]:
        """Return the games of a level, case by case.

        Args:
            agent: the agent to play instead of the template.
        """
        agent = agent or self.agent
        return [Duel(game, level, agent, o) for o in self.opponents] or [Solo(game, level, agent)]


class Solo:
    """An agent that plays one level alone, move by move, with changing tree policies.

    Args:
        game: the game.
        level: the level that is played.
        agent: the template.
    """

    others: tuple[Agent, ...] = ()
    """The agent's opponents."""

    def __init__(self, game: Game, level: Level, agent: Agent) -> None:
        self.game, self.level, self.agent = game, level, agent

    def plan(self, utility: Formula, policy: TreePolicy, budget: Budget, seed: int, side: int = 0) -> Plan:
        """Play a game.

        Args:
            utility: a formula over the metrics as the agent sees them, evaluated at the end of the game. The agent's
                search uses the template's utility, or this one if the template has none.
            policy: the agent's tree policy.
            budget: the budget of each of the agent's moves.
            seed: the seed of the start, of chance and of all players.
            side: the number of the agent's side.

        Returns:
            The game as a plan. Its iterations and nodes are those of the agent's searches, summed over all moves.
        """
        began = time.perf_counter()
        agent = self._playing(utility, policy, budget)
        seats = [*self.others]
        seats.insert(side, agent)
        minds = [AgentSeat(a, self.game, self.level, derive(seed, "agent", who)) for who, a in enumerate(seats)]
        played = contest(self.game, self.level, minds, seed, derive(seed, "game"))
        thoughts, outcome = played.thoughts[side], seen_from(side, played.outcome)
        return Plan(
            actions=tuple(played.actions),
            utility=utility.evaluate(played.metrics[side]),
            metrics=played.metrics[side],
            outcome=outcome,
            iterations=sum(t[0] for t in thoughts),
            nodes=sum(t[1] for t in thoughts),
            seconds=time.perf_counter() - began,
            stopped="win" if outcome == WON else "budget",
            proven=False,
            seed=seed,
        )

    def warm_up(self, utility: Formula, policy: TreePolicy) -> None:
        """Let all players choose a first move with a minimal budget.

        This loads and compiles all code they use, so that the time of no playthrough includes it. Arguments are as for
        `plan`.
        """
        warm_up((self._playing(utility, policy, Budget(1)), *self.others), self.game, self.level)

    def _playing(self, utility: Formula, policy: TreePolicy, budget: Budget) -> Agent:
        """Return the agent with a tree policy, and with the persona's utility if it has none of its own."""
        text = f"ucb1:{policy.c!r}" if policy.formula is None else policy.formula.text
        return replace(
            self.agent,
            utility=self.agent.utility or utility.text,
            policy=text,
            iterations=budget.iterations,
            seconds=budget.seconds,
        )


class Duel(Solo):
    """A `Solo` against one opponent."""

    def __init__(self, game: Game, level: Level, agent: Agent, opponent: Agent) -> None:
        super().__init__(game, level, agent)
        self.others = (opponent,)


def plain(agent: Agent) -> dict[str, object]:
    """Return an agent as plain values."""
    return agent.to_dict()


def seen_from(side: int, outcome: int) -> int:
    """Return player 0's outcome as player `side` sees it."""
    return {WON: LOST, LOST: WON}.get(outcome, outcome) if side else outcome
