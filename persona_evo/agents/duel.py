"""Whole games that an agent plays move by move, alone or against an opponent, in the form of a `Plan`.

Such a plan is what was played: all moves made, and what the agent, whichever side it had, sees at the end. The tree
policy is what changes from plan to plan; all else the agent's search is told stands in its template. A template without
a utility searches for what the persona wants.
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
    """The budget asked for; where nothing is, that of the league's agent for a move, else the usual one for a plan."""
    if iterations is None and seconds is None:
        return Budget() if league is None else league.agent.budget
    return Budget(iterations, seconds)


@dataclass(frozen=True)
class League:
    """Who plays move by move: an agent and, in a two-player game, whom it meets.

    agent: the template of whoever plays with the tree policies that are tried; its own policy does not matter.
    opponents: of all of them; none in a single-player game.
    """

    agent: Agent
    opponents: tuple[Agent, ...]

    def to_dict(self) -> dict[str, object]:
        """As plain values, without where the agents were read."""
        return {"agent": plain(self.agent), "opponents": [plain(o) for o in self.opponents]}

    @classmethod
    def from_dict(cls, values: object, game: Game) -> League:
        """The inverse of `to_dict`.

        Raises:
            SettingsError, FormulaError: not such values, or agents that cannot play the game.
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
        """See that these games can be played again from their seeds.

        Raises:
            SettingsError: opponents in a single-player game or none in a two-player game, an opponent that is a
                program, a template that is not one, or a game that is played in another process.
        """
        if (self.opponents and game.players != 2) or game.players > 2:
            raise SettingsError(
                "a league is for two-player games",
                found=f"{game.name}, for {counted(game.players, 'player')}",
                hint="leave --league out",
            )
        if not self.opponents and game.players == 2:
            raise SettingsError("the league has no opponents", expected="at least one agent")
        if game.outside is not None:
            raise SettingsError(
                "levels of a connected game are planned as a whole, not played move by move",
                found=game.name,
                hint="leave --agent out",
            )
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
        """The same with a budget a move for the agent, and for opponents that have no number of iterations."""
        i, s = budget.iterations, budget.seconds
        return League(
            self.agent.with_budget(i, s),
            tuple(o if o.iterations and not o.seconds else o.with_budget(i, s) for o in self.opponents),
        )

    def cases(self, levels: Sequence[str]) -> list[str]:
        """Names of the levels, or of all pairs of a level and an opponent, level by level."""
        if not self.opponents:
            return list(levels)
        return [f"{level} {o.name}" for level in levels for o in self.opponents]

    @property
    def sides(self) -> int:
        """Sides that the agent plays in turn."""
        return 2 if self.opponents else 1

    def games(self, game: Game, level: Level, agent: Agent | None = None) -> list[Solo]:
        """What is played on a level, case by case; agent: instead of the template."""
        agent = agent or self.agent
        return [Duel(game, level, agent, o) for o in self.opponents] or [Solo(game, level, agent)]


class Solo:
    """An agent with changing tree policies alone on one level, move by move.

    Args:
        game, level: what is played.
        agent: the template.
    """

    others: tuple[Agent, ...] = ()
    """Whom it meets."""

    def __init__(self, game: Game, level: Level, agent: Agent) -> None:
        self.game, self.level, self.agent = game, level, agent

    def plan(self, utility: Formula, policy: TreePolicy, budget: Budget, seed: int, side: int = 0) -> Plan:
        """Play a game.

        Args:
            utility: of the end of the game, over the metrics as the agent sees them. What its search is after stands
                in the template, or is the same where that says nothing.
            policy: the agent's tree policy.
            budget: of each of the agent's moves.
            seed: of the start, of chance and of all players.
            side: which player the agent is.

        Returns:
            iterations, nodes: of the agent's searches, all moves together.
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
        """Let all who play choose a first move, with hardly any thought, so that the time of no playthrough is that of
        loading or compiling what they think with (arguments as for `plan`)."""
        warm_up((self._playing(utility, policy, Budget(1)), *self.others), self.game, self.level)

    def _playing(self, utility: Formula, policy: TreePolicy, budget: Budget) -> Agent:
        """The agent with a tree policy, and with the persona's utility where it has none of its own."""
        text = f"ucb1:{policy.c!r}" if policy.formula is None else policy.formula.text
        return replace(
            self.agent,
            utility=self.agent.utility or utility.text,
            policy=text,
            iterations=budget.iterations,
            seconds=budget.seconds,
        )


class Duel(Solo):
    """The same against one opponent."""

    def __init__(self, game: Game, level: Level, agent: Agent, opponent: Agent) -> None:
        super().__init__(game, level, agent)
        self.others = (opponent,)


def plain(agent: Agent) -> dict[str, object]:
    """An agent as plain values."""
    return agent.to_dict()


def seen_from(side: int, outcome: int) -> int:
    """What `over` says of player 0 as player `side` sees it."""
    return {WON: LOST, LOST: WON}.get(outcome, outcome) if side else outcome
