"""Levels of skill: how far a player looks ahead, how much it thinks, and how often it errs.

The numbers are set so that on the levels of MiniDungeons 2 the win rates of the four levels of skill are clearly apart.
They say how hard a level is for these simulated players, which is not how hard people find it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game

PER_LEGAL_MOVE = "per_legal_move"
"""Key of a skill's plain values: the budget is for each legal move."""

WHOLE_GAME = 1_000_000
"""Sight of a player who looks ahead to the end of the game."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _wrong(name: str, value: object, expected: str) -> SettingsError:
    return SettingsError(f"{name} of a skill is out of range", found=repr(value)[:200], expected=expected)


@dataclass(frozen=True)
class Skill:
    """A player who searches anew for each move, looks only so far, and makes mistakes.

    Attributes:
        name: what players are called by.
        iterations: of the search for a move, for each move that is legal, at least 1.
        sight: moves that the search looks ahead, at least 1. What lies beyond does not exist for the player.
        errors: share of the moves that are drawn and not chosen, from 0 to 1. The more a move seems to be worth, the
            likelier it is drawn.
        temperature: of these draws, above 0. The values of all moves are scaled to the range from 0 to 1, and a move
            of value v is drawn with a chance in proportion to exp(v / temperature).
    """

    name: str
    iterations: int
    sight: int
    errors: float
    temperature: float

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise _wrong("name", self.name, "a name")
        for name in ("iterations", "sight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise _wrong(name, value, "a whole number of at least 1")
        if not _is_number(self.errors) or not 0 <= self.errors <= 1:
            raise _wrong("errors", self.errors, "a share from 0 to 1")
        if not _is_number(self.temperature) or self.temperature <= 0:
            raise _wrong("temperature", self.temperature, "a number above 0")

    @property
    def text(self) -> str:
        """How it plays, for people."""
        return f"{self.iterations} iterations for each legal move, {self.limits}"

    @property
    def limits(self) -> str:
        """How far it looks and how often it errs, for people."""
        ahead = "the whole game ahead" if self.sight >= WHOLE_GAME else f"{self.sight} moves ahead"
        if not self.errors:
            return f"{ahead}, no errors"
        return f"{ahead}, {self.errors:.0%} errors at temperature {self.temperature:g}"


PERFECT = "perfect"
"""The planner, which looks at the whole game and makes no mistakes of its own."""

LADDER = {
    skill.name: skill
    for skill in (
        Skill("novice", iterations=5, sight=2, errors=0.7, temperature=1.0),
        Skill("casual", iterations=12, sight=4, errors=0.3, temperature=1.0),
        Skill("expert", iterations=40, sight=12, errors=0.1, temperature=0.2),
    )
}
"""The levels of skill below PERFECT by name, from the lowest to the highest."""

SKILLS = (*LADDER, PERFECT)
"""All levels of skill, from the lowest to the highest."""

FULL_SIGHT = Skill("full-sight", iterations=200, sight=WHOLE_GAME, errors=0.0, temperature=1.0)
"""Sees the whole game and makes no errors. Its iterations are those of a move, however many moves are legal."""

EVOLVED = {**LADDER, FULL_SIGHT.name: FULL_SIGHT}
"""Players who search anew for each move, by name: those for whom a policy can be evolved."""


def check(name: str) -> str:
    """The name of a level of skill.

    Raises:
        SettingsError: there is no such level of skill.
    """
    if name not in SKILLS:
        expected, hint = unknown(name, SKILLS)
        raise SettingsError("no such level of skill", found=name, expected=expected, hint=hint)
    return name


def errs(name: str) -> bool:
    """Whether players of this skill make mistakes; "" stands for players without a level of skill, who do not."""
    return name in LADDER


def check_game(game: Game) -> None:
    """See that a game can be played by players who search anew for each move.

    Raises:
        SettingsError: a connected game, or a game for two.
    """
    if game.outside is not None:
        raise SettingsError(
            "--skill needs search from move to move, which connected games do not have yet",
            found=game.name,
            hint="leave --skill out",
        )
    if game.players > 1:
        raise SettingsError(
            "--skill is for single-player games",
            found=f"{game.name}, for {counted(game.players, 'player')}",
            hint="leave --skill out",
        )


def skill_to_dict(skill: Skill | None, per_legal_move: bool) -> dict[str, Any]:
    """A skill as plain values, with PER_LEGAL_MOVE where the budget of its searches is for each legal move; nothing
    without a skill."""
    if skill is None:
        return {}
    return {**asdict(skill), **({PER_LEGAL_MOVE: True} if per_legal_move else {})}


def skill_from_dict(values: Mapping[str, Any]) -> tuple[Skill, bool]:
    """The inverse of `skill_to_dict`: the skill, and whether the budget is for each legal move.

    Raises:
        SettingsError: a value is out of range.
        TypeError: a value is missing, or unknown.
    """
    return Skill(**{k: v for k, v in values.items() if k != PER_LEGAL_MOVE}), values.get(PER_LEGAL_MOVE) is True
