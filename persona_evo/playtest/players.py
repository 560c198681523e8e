"""The players of a playtest: a persona with its tree policy, or with an agent that plays for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from persona_evo import limits
from persona_evo.agents import skill as skills
from persona_evo.agents.agent import Agent, policy_of
from persona_evo.agents.agent_files import agent_from
from persona_evo.agents.duel import League, plain
from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games.core import Game
from persona_evo.personas import Persona
from persona_evo.personas.lists import OpenList
from persona_evo.search.settings import SearchSettings
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy, in_words, with_lists
from persona_evo.words import enumerated


@checked_fields()
@dataclass(frozen=True)
class Player:
    """A persona with the tree policy that it plays by.

    Attributes:
        policy: the tree policy; with the persona's open lists if the search uses them and the policy has none (see
            `with_lists`).
        label: its name in tables and requirements; the persona's name if not given.
        baseline: label of the player it is compared with, "" for none.
        agent: plays for the persona instead of a league's template; its tree policy, if it has one, is its own.
        skill: one of `agents.skill.SKILLS`; "" for players without one, who play as `perfect`.
    """

    persona: Persona
    policy: TreePolicy
    label: str = ""
    baseline: str = ""
    agent: Agent | None = None
    skill: str = ""

    @classmethod
    def of_agent(cls, persona: Persona, agent: Agent, game: Game, label: str = "", baseline: str = "") -> Player:
        """Create a player for whose persona an agent plays."""
        return cls(persona, replace(_own_policy(agent, game), name=agent.name), label, baseline, agent)

    @property
    def text(self) -> str:
        """A description of how it plays, for display."""
        if self.agent is not None:
            return f"agent {self.agent.name}: {self.agent.about}"
        if skills.errs(self.skill):
            return f"{self.policy.text}; {skills.MOVE_BY_MOVE[self.skill].text}"
        return in_words(self.policy)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.persona.name)
        for text in (self.label, self.baseline):
            limits.label(text, "a player")
        if self.agent is None:
            object.__setattr__(self, "policy", with_lists(self.policy, self.persona.lists))


def _own_policy(agent: Agent, game: Game) -> TreePolicy:
    """Return an agent's tree policy, or UCB1 if it has none."""
    return policy_of(agent, game) if agent.kind == "search" else TreePolicy.ucb1()


def check_lists(policies: Iterable[TreePolicy], rules: SearchSettings, agent: str = "") -> None:
    """Check that policies which consist only of open lists are searched with open lists.

    Args:
        agent: the agent that plays move by move, "" for none.

    Raises:
        SettingsError: a policy would have nothing to play by.
    """
    for policy in policies:
        if policy.kind == "lists" and (agent or not rules.lists):
            how = f"agent {agent}, move by move" if agent else f"the search {rules.preset_name}, which has none"
            raise SettingsError(
                "a policy of open lists needs a planner that searches with them",
                found=f"{policy.name}, played by {how}",
                expected="the search anytime in a single-player game without chance, or another policy",
                hint="a policy with a formula of its own can be used everywhere",
            )


def same_policy(a: Player, b: Player, mean: bool = False) -> bool:
    """Return whether two players of one persona play alike, so that only chance distinguishes them.

    Args:
        mean: whether the search's value R is the mean, so that UCB1 as a formula equals UCB1.
    """
    if a.agent is not None or b.agent is not None:
        return a.agent is not None and b.agent is not None and plain(a.agent) == plain(b.agent)
    if a.skill != b.skill and (skills.errs(a.skill) or skills.errs(b.skill)):
        return False
    return _way(a.policy, mean) == _way(b.policy, mean)


def _way(policy: TreePolicy, mean: bool) -> tuple[str, float, tuple[OpenList, ...]]:
    if policy.formula is None:
        return "", policy.c, policy.lists
    if mean and policy.formula.text == parse(UCB1_FORMULA).text:
        return "", math.sqrt(2), ()
    return policy.formula.text, 0.0, policy.lists


def with_skills(players: Sequence[Player], names: Sequence[str], game: Game) -> list[Player]:
    """Return each player at each skill level, labelled like "runner (novice)"; its baseline has the same level.

    Args:
        players: players without skill levels.
        names: distinct names of skill levels; without any the players are returned unchanged.

    Raises:
        SettingsError: see `check_ladder` and `check_skills`.
    """
    if not names:
        return list(players)
    check_ladder(names, game)
    found = [
        replace(p, label=f"{p.label} ({name})", skill=name, baseline=f"{p.baseline} ({name})" if p.baseline else "")
        for p in players
        for name in names
    ]
    check_skills(found, game)
    return found


def check_ladder(names: Sequence[str], game: Game) -> None:
    """Check that these skill levels exist, and that the game can be played at them.

    Raises:
        SettingsError: an unknown or duplicate name, a connected game or a two-player game.
    """
    for name in names:
        skills.check(name)
    if len(set(names)) < len(names):
        raise SettingsError("a level of skill is named twice", found=", ".join(names), expected="each one once")
    if names:
        skills.check_game(game)


def check_budget(players: Sequence[Player], budget: Mapping[str, object]) -> None:
    """Check that some player uses the budget of a playthrough.

    Args:
        players: the players.
        budget: what was given of it, by name; None for what was not.

    Raises:
        SettingsError: it was given, but all players search anew for each move, with the iterations of their skill.
    """
    given = [name for name, value in budget.items() if value is not None]
    if given and players and all(skills.errs(p.skill) for p in players):
        names = list(dict.fromkeys(p.skill for p in players))
        raise SettingsError(
            "levels of skill have iterations of their own for each move",
            found=f"{given[0]} with {enumerated([f'{n} ({skills.MOVE_BY_MOVE[n].iterations})' for n in names])}",
            expected=f"no {given[0]}, or a player who uses it, such as {skills.PERFECT}",
            hint="for another number of iterations a move, use an agent (--agent FILE.toml)",
        )


def check_skills(players: Sequence[Player], game: Game, league: League | None = None) -> None:
    """Check that the players can play at their skill levels.

    Raises:
        SettingsError: a game without skill levels (see `check_ladder`), or an agent.
    """
    check_ladder(list(dict.fromkeys(p.skill for p in players if p.skill)), game)
    if not any(p.skill for p in players):
        return
    agents = [p.agent.name for p in players if p.agent is not None]
    agents += [] if league is None else [league.agent.name]
    if agents:
        raise SettingsError(
            "an agent has its own way of playing, so it cannot have a level of skill",
            found=agents[0],
            expected="personas with tree policies",
            hint="leave --skill or the agent out",
        )


def movers(players: Sequence[Player], league: League) -> list[str]:
    """Return the names of the agents that play move by move, each once."""
    return list(dict.fromkeys((p.agent or league.agent).name for p in players))


class Role(NamedTuple):
    """A player in a form that can be sent to another process.

    Attributes:
        formula: None for UCB1 with the constant c, and for open lists without a score of their own.
        agent, skill: see `Player`.
        lists: the open lists that the policy is searched with.
        seeds: as in `Persona`.
    """

    label: str
    persona: str
    utility: str
    policy: str
    formula: str | None
    c: float
    agent: Agent | None = None
    lists: tuple[OpenList, ...] = ()
    skill: str = ""
    seeds: int | None = None

    @classmethod
    def of(cls, player: Player) -> Role:
        """Return the role of a player."""
        policy = player.policy
        formula = None if policy.formula is None else policy.formula.text
        who = player.persona
        return cls(
            player.label,
            who.name,
            who.utility.text,
            policy.name,
            formula,
            policy.c,
            player.agent,
            policy.lists,
            player.skill,
            who.seeds,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with `agent`, `lists`, `skill` and `seeds` only if they are set."""
        agent = {} if self.agent is None else {"agent": plain(self.agent)}
        lists = {"lists": [one.to_dict() for one in self.lists]} if self.lists else {}
        skill = {"skill": self.skill} if self.skill else {}
        seeds = {} if self.seeds is None else {"seeds": self.seeds}
        return {**{k: v for k, v in self._asdict().items() if k not in _RARE}, **agent, **lists, **skill, **seeds}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], game: Game) -> Role:
        """Create a role from the output of `to_dict`; further keys are ignored.

        Raises:
            SettingsError, FormulaError: the agent or a list is invalid.
        """
        agent, lists = agent_from(row["agent"], game) if "agent" in row else None, row.get("lists", ())
        if not isinstance(lists, (list, tuple)):
            raise SettingsError("not the open lists of a player", found=repr(lists)[:80], expected="a list")
        read = tuple(OpenList.from_dict(one) for one in lists)
        skill = skills.check(row["skill"]) if "skill" in row else ""
        plain_values = {name: row[name] for name in cls._fields if name not in _RARE}
        return cls(**plain_values, agent=agent, lists=read, skill=skill, seeds=row.get("seeds"))

    def tree_policy(self, game: Game) -> TreePolicy:
        """Return the tree policy for a search."""
        if self.agent is not None:
            return _own_policy(self.agent, game)
        if self.formula is not None:
            return replace(TreePolicy.of(self.formula, game, self.policy), lists=self.lists)
        return TreePolicy(self.policy, lists=self.lists) if self.lists else TreePolicy.ucb1(self.c)


_RARE = ("agent", "lists", "skill", "seeds")
"""Fields of a role that its plain values contain only if they are not empty."""


def player_from(row: Mapping[str, Any], game: Game) -> Player:
    """Create the player that a playtest's folder describes."""
    role = Role.from_dict(row, game)
    persona = Persona(
        role.persona,
        game.name,
        parse(role.utility, game.symbols),
        row.get("priority", ""),
        row.get("title", ""),
        seeds=role.seeds,
    )
    if role.agent is not None:
        return Player.of_agent(persona, role.agent, game, role.label, row.get("baseline", ""))
    return Player(persona, role.tree_policy(game), role.label, row.get("baseline", ""), skill=role.skill)
