"""Who plays in a playtest: a persona with its tree policy, or with an agent that plays for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from persona_evo.formula import parse
from persona_evo.games.core import Game
from persona_evo.personas import Persona
from persona_evo.search.agents import Agent, agent_from, policy_of
from persona_evo.search.duel import League, plain
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy


@dataclass(frozen=True)
class Player:
    """A persona with the tree policy it plays by.

    label: what tables and requirements call it; the persona's name if not given. baseline: label of the player it is
    compared with, "" for none. agent: who plays for the persona in place of a league's template; its tree policy, if
    it has one, is its own.
    """

    persona: Persona
    policy: TreePolicy
    label: str = ""
    baseline: str = ""
    agent: Agent | None = None

    @classmethod
    def of_agent(cls, persona: Persona, agent: Agent, game: Game, label: str = "", baseline: str = "") -> Player:
        """A persona that an agent plays for."""
        return cls(persona, replace(_own_policy(agent, game), name=agent.name), label, baseline, agent)

    @property
    def text(self) -> str:
        """How it plays, for people."""
        return self.policy.text if self.agent is None else f"agent {self.agent.name}: {self.agent.about}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.persona.name)


def _own_policy(agent: Agent, game: Game) -> TreePolicy:
    """An agent's tree policy; UCB1 stands for that of one that has none."""
    return policy_of(agent, game) if agent.kind == "search" else TreePolicy.ucb1()


def same_policy(a: Player, b: Player, mean: bool = False) -> bool:
    """Whether two players of one persona play alike, so that all that differs between them is chance.

    mean: the search's value R is the mean, so that UCB1 as a formula is UCB1.
    """
    if a.agent is not None or b.agent is not None:
        return a.agent is not None and b.agent is not None and plain(a.agent) == plain(b.agent)
    return _way(a.policy, mean) == _way(b.policy, mean)


def _way(policy: TreePolicy, mean: bool) -> tuple[str, float]:
    if policy.formula is None:
        return "", policy.c
    if mean and policy.formula.text == parse(UCB1_FORMULA).text:
        return "", math.sqrt(2)
    return policy.formula.text, 0.0


def movers(players: Sequence[Player], league: League) -> list[str]:
    """Names of the agents that play for players move by move, each once."""
    return list(dict.fromkeys((p.agent or league.agent).name for p in players))


class Role(NamedTuple):
    """A player as it can be sent anywhere. formula: None for UCB1 with the constant c. agent: see `Player`."""

    label: str
    persona: str
    utility: str
    policy: str
    formula: str | None
    c: float
    agent: Agent | None = None

    @classmethod
    def of(cls, player: Player) -> Role:
        """The role of a player."""
        policy = player.policy
        formula = None if policy.formula is None else policy.formula.text
        who = player.persona
        return cls(player.label, who.name, who.utility.text, policy.name, formula, policy.c, player.agent)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        agent = {} if self.agent is None else {"agent": plain(self.agent)}
        return {**{k: v for k, v in self._asdict().items() if k != "agent"}, **agent}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], game: Game) -> Role:
        """The inverse of `to_dict`; more keys do not matter."""
        agent = agent_from(row["agent"], game) if "agent" in row else None
        return cls(**{name: row[name] for name in cls._fields if name != "agent"}, agent=agent)

    def tree_policy(self, game: Game) -> TreePolicy:
        """What a search takes."""
        if self.agent is not None:
            return _own_policy(self.agent, game)
        return TreePolicy.ucb1(self.c) if self.formula is None else TreePolicy.of(self.formula, game, self.policy)


def player_from(row: Mapping[str, Any], game: Game) -> Player:
    """The player whom a playtest's folder describes."""
    role = Role.from_dict(row, game)
    persona = Persona(
        role.persona, game.name, parse(role.utility, game.symbols), row.get("priority", ""), row.get("title", "")
    )
    if role.agent is not None:
        return Player.of_agent(persona, role.agent, game, role.label, row.get("baseline", ""))
    return Player(persona, role.tree_policy(game), role.label, row.get("baseline", ""))
