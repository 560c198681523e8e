"""The setting a policy is evolved for: whole plans, an agent, or a player of some skill who searches for each move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from persona_evo.agents.skill import FULL_SIGHT, MOVE_BY_MOVE, PERFECT, Skill, check_game, skill_from_dict
from persona_evo.errors import SettingsError, unknown
from persona_evo.games.core import Game
from persona_evo.search.settings import Budget

SLOW: Mapping[str, Any] = {
    "population": 48,
    "islands": 1,
    "migrants": 0,
    "levels_a_generation": 32,
    "race_from": 8,
    "tuning": 0.3,
}
"""The differences from `EvolutionSettings.sampling` if playthroughs are few and their results vary much, as one death
decides.
"""

CHEAPER: Mapping[str, Any] = {"budgets": (1 / 3,)}
"""The differences from `EvolutionSettings.sampling` for whole plans of a search with one list: a third of the budget
ranks policies almost as all of it does and takes less time, more so with large budgets.
"""
CHEAPER_FROM = 1_500
"""The number of iterations of a playthrough from which this holds."""


class SkilledPlay(NamedTuple):
    """Play by somebody who searches anew for each move.

    Attributes:
        skill: the skill of the player.
        budget: the budget of the search for a move.
        per_legal_move: whether that budget is multiplied by the number of legal moves.
    """

    skill: Skill
    budget: Budget
    per_legal_move: bool

    @classmethod
    def of(
        cls, name: str, game: Game, iterations: int | None = None, *, others: Mapping[str, object] | None = None
    ) -> SkilledPlay | None:
        """Return the play that a name stands for, None for no name.

        Args:
            name: the name of a skill, one of `MOVE_BY_MOVE`.
            iterations: the iterations of the search for a move; None for those of the skill.
            others: other choices by their names; none of them can be combined with a skill.

        Raises:
            SettingsError: the skill is unknown, the game cannot be played so, or a choice cannot be combined with it.
        """
        if not name:
            return None
        if name not in MOVE_BY_MOVE:
            expected, hint = unknown(name, MOVE_BY_MOVE)
            if name == PERFECT:
                hint = f"{PERFECT!r} is the planner, for which --search anytime evolves"
            raise SettingsError("no such skill to evolve for", found=name, expected=expected, hint=hint)
        skill = MOVE_BY_MOVE[name]
        own = cls(skill, Budget(iterations or skill.iterations), iterations is None and skill is not FULL_SIGHT)
        own.check(game, others or {})
        return own

    def check(self, game: Game, others: Mapping[str, object]) -> None:
        """Check that the game can be played so, and that nothing else determines how it is played (see `of`).

        Raises:
            SettingsError: one of these is not the case.
        """
        check_game(game)
        for what in (what for what, value in others.items() if value):
            raise SettingsError(
                f"{what} cannot be combined with a skill, which has its own way of searching",
                found=f"{what} beside skill {self.skill.name}",
                expected="one of them",
                hint=f"leave {what} or the skill out",
            )


def with_usual(
    changes: Mapping[str, Any],
    skilled: SkilledPlay | None,
    game: Game,
    preset: str,
    generated: bool,
    planned: Budget | None = None,
) -> dict[str, Any]:
    """Return the given settings, with defaults that suit how the game is played better than those of the presets.

    Args:
        changes: single settings of the evolution, as they were given.
        skilled: the player who searches anew for each move, if one does.
        preset: the preset of the evolution.
        generated: whether many levels are generated, of which the preset "modern" draws some for each generation.
        planned: the budget of a playthrough if a search with one list plans whole levels.
    """
    drawn = preset == "modern" and changes.get("levels_a_generation", generated) not in (0, False)
    usual: dict[str, Any] = {}
    if skilled is not None:
        usual = {} if game.deterministic else {"variables": "extended"}
        if drawn:
            usual |= {k: v for k, v in SLOW.items() if k != "migrants" or "islands" not in changes}
    elif drawn and planned is not None and (planned.iterations or 0) >= CHEAPER_FROM:
        usual = dict(CHEAPER)
    return {**usual, **changes}


def in_words(played: Mapping[str, Any]) -> str:
    """Return in words the budget of a playthrough or a move, and who plays.

    Args:
        played: "budget" and, if present, "skill" or "league", as `fitness_spec.spec_to_dict` returns them.
    """
    limit = Budget.from_dict(played["budget"]).text
    if "skill" not in played:
        return f"{limit} a {'move' if 'league' in played else 'playthrough'}"
    skill, per_legal_move = skill_from_dict(played["skill"])
    return f"skill {skill.name}: {limit} {'for each legal' if per_legal_move else 'a'} move, {skill.limits}"
