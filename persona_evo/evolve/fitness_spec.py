"""Specifies what is played to measure a fitness: all that decides a result beside policy, case, seed and side."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from persona_evo.agents.duel import League
from persona_evo.agents.skill import Skill, skill_from_dict, skill_to_dict
from persona_evo.formula import Formula
from persona_evo.games import registry
from persona_evo.games.cluster_games import Home
from persona_evo.games.core import Level
from persona_evo.games.level_text import LevelText
from persona_evo.personas.lists import OpenList
from persona_evo.search.settings import Budget, SearchSettings

LEAST_BEST = 0.1
"""The magnitude used for a best known utility that is closer to 0."""


@dataclass(frozen=True)
class FitnessSpec:
    """Everything that decides the result of a playthrough beside the formula, the case and the seed.

    Attributes:
        game: the name in the registry, or "module:object".
        levels: the levels that are played.
        utility: the text of the persona's utility, over the game's metrics.
        priority: a metric that is reported beside the utility, "" for none.
        search: the rules of the search in a playthrough that is planned as a whole.
        budget: the budget of a playthrough, or of a move in play move by move.
        league: the players of games move by move, with their budgets; its template has the rules of the search.
        lists: the persona's open lists, if the search has lists.
        best: the best known utility of each case, by which the evolution measures (see `share`); empty if utilities
            count as they are.
        wins: the weight of the win in that measure.
        skill: the skill of a player who searches anew for each move.
        per_legal_move: whether the budget of a move is multiplied by the number of legal moves.
        home: gives the playthroughs of a connected game to the workers of a cluster; None if this process plays them.
    """

    game: str
    levels: tuple[LevelText, ...]
    utility: str
    priority: str
    search: SearchSettings
    budget: Budget
    league: League | None = None
    lists: tuple[OpenList, ...] = ()
    best: tuple[float, ...] = ()
    wins: float = 0.0
    skill: Skill | None = None
    per_legal_move: bool = False
    home: Home | None = None

    @classmethod
    def of(
        cls,
        game: str,
        levels: Sequence[Level],
        utility: Formula,
        search: SearchSettings,
        budget: Budget,
        priority: str = "",
        league: League | None = None,
        lists: Sequence[OpenList] = (),
    ) -> FitnessSpec:
        """Return the specification for loaded levels.

        A league gets the budget. A search without lists ignores `lists`.
        """
        texts = tuple(LevelText.of(level) for level in levels)
        own = tuple(lists) if search.lists and league is None else ()
        return cls(game, texts, utility.text, priority, search, budget, league and league.with_budget(budget), own)

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """The names of the cases that the fitness is measured on: the levels, or pairs of a level and an opponent."""
        names = [level.name for level in self.levels]
        return tuple(names if self.league is None else self.league.cases(names))

    @property
    def whole(self) -> bool:
        """Whether a playthrough is planned as a whole and not played move by move."""
        return self.league is None and self.skill is None and registry.get(self.game).planned

    @property
    def reproducible(self) -> bool:
        """Whether a playthrough always has the same result."""
        agents = () if self.league is None else (self.league.agent, *self.league.opponents)
        return self.budget.reproducible and all(agent.reproducible for agent in agents)

    @property
    def by_form(self) -> bool:
        """Whether formulas of the same canonical form and symbols play alike.

        With open lists, the way a formula is written counts, since it may be that of the utility. Agents and games that
        run elsewhere get the formula as it is written.
        """
        return self.league is None and not self.search.lists and registry.get(self.game).outside is None

    def share(self, case: int, utility: float, won: float) -> float:
        """Return the contribution of a playthrough of a case to the fitness.

        Args:
            utility: the utility at its end.
            won: whether it was won, 0 or 1, or the share of several.

        Returns:
            The share of the best known utility that was reached, so that easy levels do not dominate, mixed with the
            win by its weight. If the best is not known, the utility itself.
        """
        value = utility
        if self.best:
            best = self.best[case]
            value = 1.0 - (best - utility) / max(abs(best), LEAST_BEST)
        return (1.0 - self.wins) * value + self.wins * won

    @cached_property
    def digest(self) -> str:
        """A digest that identifies this specification in the workers' memory."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).hexdigest()


def spec_to_dict(spec: FitnessSpec) -> dict[str, Any]:
    """Return a specification as plain values for a run's configuration."""
    return {
        "levels": [level.to_dict() for level in spec.levels],
        "utility": spec.utility,
        "search": spec.search.to_dict(),
        "budget": spec.budget.to_dict(),
        **({} if spec.league is None else {"league": spec.league.to_dict()}),
        **({"lists": [one.to_dict() for one in spec.lists]} if spec.lists else {}),
        **({"best": list(spec.best)} if spec.best else {}),
        **({"wins": spec.wins} if spec.wins else {}),
        **({} if spec.skill is None else {"skill": skill_to_dict(spec.skill, spec.per_legal_move)}),
    }


def spec_from_dict(game: str, priority: str, values: Mapping[str, Any]) -> FitnessSpec:
    """Make a specification from plain values; the inverse of `spec_to_dict`.

    Raises:
        KeyError, TypeError, InputError: the values are not a specification.
    """
    skill, per_legal_move = skill_from_dict(values["skill"]) if "skill" in values else (None, False)
    return FitnessSpec(
        game=game,
        levels=tuple(LevelText.of_dict(level) for level in values["levels"]),
        utility=values["utility"],
        priority=priority,
        search=SearchSettings.from_dict(values["search"]),
        budget=Budget.from_dict(values["budget"]),
        league=League.from_dict(values["league"], registry.get(game)) if "league" in values else None,
        lists=tuple(OpenList.from_dict(one) for one in values.get("lists", ())),
        best=tuple(float(utility) for utility in values.get("best", ())),
        wins=float(values.get("wins", 0.0)),
        skill=skill,
        per_legal_move=per_legal_move,
    )
