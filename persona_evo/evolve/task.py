"""The description of an evolution before it begins: the game, the persona, the levels, and how everything is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from persona_evo.agents.duel import League
from persona_evo.errors import SettingsError
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_to_dict
from persona_evo.evolve.individuals import first_individuals, left_out, settled, start_in_words
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.reopening import HELD_OUT, HELD_OUT_BEST, VALIDATION
from persona_evo.evolve.setting import SkilledPlay, in_words
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Training
from persona_evo.games import trust
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.personas import Persona
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import policy_library
from persona_evo.store.versions import versions
from persona_evo.words import counted


@dataclass(frozen=True)
class EvolutionTask:
    """Everything that decides the result of an evolution.

    Attributes:
        game: the game.
        persona: the persona that the policy is for.
        levels: the levels to train on, as loaded by `game.load`.
        settings: the settings of the evolution.
        seed: the seed of all random choices.
        search: the rules of the search in each playthrough. None means the paper's with the preset `paper`, and
            otherwise a search with a single list, which shows best what a formula is worth. An agent brings its own
            rules.
        budget: the budget of each playthrough, or of each move if an agent plays; None for the agent's or the default.
        game_name: the name by which the registry finds the game, "" for the game's own name ("module:object").
        league: the players of games move by move. Two-player games need one; without one, a single-player game is
            planned as a whole.
        held_out: the levels on which the winner is compared with UCB1 and the persona's known policy. An empty list
            compares on new seeds of `levels`, and None makes no comparison.
        pools: solved levels by stream (`pools.prepared`); those to train on are `levels`. The held-out ones replace
            `held_out`. Without pools, settings that draw levels for each generation set some levels apart to compare
            on.
        skilled: a player that searches for each move with its own budget. It replaces `search`, `budget` and `league`.
    """

    game: Game
    persona: Persona
    levels: Sequence[Level]
    settings: EvolutionSettings
    seed: int
    search: SearchSettings | None = None
    budget: Budget | None = None
    game_name: str = ""
    league: League | None = None
    held_out: Sequence[Level] | None = None
    pools: Mapping[str, LevelPool] = field(default_factory=dict)
    skilled: SkilledPlay | None = None

    def check(self) -> None:
        """Check that the parts fit together.

        Raises:
            SettingsError: there are no levels; the league does not fit the game, or a two-player game has none; an
                agent or a skilled player is combined with rules of a search.
        """
        game, league = self.game, self.league
        if not self.levels:
            raise SettingsError("an evolution needs levels", found="none", expected="at least one")
        if self.skilled is not None:
            self.skilled.check(game, {"a league": league, "a search": self.search})
        elif league is not None:
            league.check(game)
            if self.search is not None:
                raise SettingsError(
                    "agents that play move by move have search settings of their own",
                    found="rules of the search",
                    expected="none",
                    hint=f"change them in agent {league.agent.name}",
                )
        elif game.players > 1:
            raise SettingsError(
                "an evolution for a two-player game needs opponents", found=game.name, expected="a league"
            )

    @cached_property
    def spec(self) -> FitnessSpec:
        """What is played to measure a fitness."""
        search, budget, league = self.search, self.budget, self.league
        if league is not None:
            search, budget = SearchSettings.from_dict(league.agent.search), budget or league.agent.budget
        if self.skilled is not None:
            search, budget = SearchSettings.single(), self.skilled.budget
        if search is None:
            search = SearchSettings.paper() if self.settings.preset == "paper" else SearchSettings.single()
        spec = FitnessSpec.of(
            self.game_name or self.game.name,
            self.levels,
            self.persona.utility,
            search.for_persona(self.persona.seeds),
            budget or Budget(),
            self.persona.priority,
            league,
            self.persona.lists,
        )
        if self.skilled is None:
            return spec
        return replace(spec, skill=self.skilled.skill, per_legal_move=self.skilled.per_legal_move)

    @cached_property
    def settled(self) -> EvolutionSettings:
        """The settings, including the kind of individual (see `individuals.settled`)."""
        return settled(self.settings, self.spec)

    def configuration(self, training: Training) -> dict[str, Any]:
        """Return the plain values of the task for the run's folder, with the levels as the training uses them."""
        persona, game, held_out = self.persona, self.game, self.held_out
        if self.pools:
            held_out = self.pools["held out"].load(game)
        kept = None if held_out is None else [LevelText.of(level).to_dict() for level in held_out]
        return {
            "game": training.spec.game,
            **trust.code_of(training.spec.game),
            "game_version": game.version,
            "persona": {"name": persona.name, "title": persona.title, "priority": persona.priority},
            "seed": self.seed,
            "target": self.settled.generations,
            "evolution": self.settled.to_dict(),
            "first": first_individuals(self.settled, training.spec, persona.lists),
            **spec_to_dict(training.spec),
            **({VALIDATION: training.validation.to_dict()} if training.validation.levels else {}),
            **({} if kept is None else {HELD_OUT: kept}),
            "versions": versions(game),
            **({HELD_OUT_BEST: list(self.pools["held out"].best)} if self.pools else {}),
        }

    def lines(self) -> list[str]:
        """Describe what is evolved and from what, one readable sentence per line."""
        settings, spec, league = self.settled, self.spec, self.league
        runs = f", {counted(settings.runs, 'run')}" if settings.runs > 1 else ""
        each = min(settings.levels_a_generation, len(spec.cases))
        pairs = " pairs of a level and an opponent" if len(spec.cases) > len(self.levels) else ""
        drawn = f", {each}{pairs} drawn for each generation" if each else ""
        found = [
            f"{self.persona.name} on {counted(len(self.levels), 'level')}{drawn}, preset {settings.preset}, "
            f"{counted(settings.generations, 'generation')} of {settings.population}{runs}, "
            f"{in_words(spec_to_dict(spec))}, seed {self.seed}"
        ]
        if league is not None and league.opponents:
            found.append(f"against {', '.join(o.name for o in league.opponents)}")
        found.append(f"starts from: {start_in_words(settings, spec, self.persona.lists)}")
        if missing := left_out(settings, spec):
            found.append(missing)
        if "library" in settings.first:
            found += [f"warning: skipped a damaged policy: {error}" for error in policy_library.damaged(self.game.name)]
        return found
