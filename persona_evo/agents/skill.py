"""Levels of skill: how far a player looks ahead, how much it searches, and how often it makes errors.

| level | searches | looks ahead | errors |
|---|---|---|---|
| `novice`, `casual`, `expert` | anew for each move, some iterations for each legal move | a few moves | some |
| `full-sight` | anew for each move, 200 iterations | to the end of the game | none, but 200 iterations miss much |
| `perfect` | once for the whole game: the planner, with the iterations of the command | to the end of the game | none |

In a connected game a search sees rollouts to the end of the game, and `looks ahead` limits the depth of its tree.

The numbers are chosen so that the win rates of novice, casual, expert and perfect players differ clearly on the levels
of MiniDungeons 2. They say how hard a level is for these simulated players, which is not how hard people find it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from persona_evo import limits
from persona_evo.errors import SettingsError, unknown
from persona_evo.words import counted, percent

if TYPE_CHECKING:
    from persona_evo.games.core import Game

PER_LEGAL_MOVE = "per_legal_move"
"""Key of a skill's plain values: the budget is for each legal move."""

WHOLE_GAME = 1_000_000
"""The sight of a player who looks ahead to the end of the game."""


def _wrong(name: str, value: object, expected: str) -> SettingsError:
    return SettingsError(f"{name} of a skill is out of range", found=limits.shown(value), expected=expected)


@dataclass(frozen=True)
class Skill:
    """A player who searches anew for each move, looks a number of moves ahead, and makes errors.

    Attributes:
        name: the name of the level of skill.
        iterations: iterations of the search for each legal move, at least 1; those for a move, however many moves are
            legal, if this is FULL_SIGHT.
        sight: moves that the search looks ahead, at least 1. What lies beyond does not exist for the player.
        errors: share of the moves that are drawn at random, from 0 to 1. A move that seems to be worth more is more
            likely to be drawn.
        temperature: temperature of these draws, above 0. The values of all moves are scaled to the range from 0 to 1,
            and a move of value v is drawn with a probability proportional to exp(v / temperature).
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
        if not limits.is_finite(self.errors) or not 0 <= self.errors <= 1:
            raise _wrong("errors", self.errors, "a share from 0 to 1")
        if not limits.is_finite(self.temperature) or self.temperature <= 0:
            raise _wrong("temperature", self.temperature, "a number above 0")

    @property
    def text(self) -> str:
        """A description for people."""
        return f"{self.iterations} iterations {'a' if self == FULL_SIGHT else 'for each legal'} move, {self.limits}"

    @property
    def limits(self) -> str:
        """A description for people of how far the player looks ahead and how often it makes errors."""
        ahead = "the whole game ahead" if self.sight >= WHOLE_GAME else f"{self.sight} moves ahead"
        if not self.errors:
            return f"{ahead}, no errors"
        return f"{ahead}, {percent(self.errors)} errors at temperature {self.temperature:g}"


PERFECT = "perfect"
"""The planner: it searches once for the whole game and makes no errors of its own."""

LADDER = {
    skill.name: skill
    for skill in (
        Skill("novice", iterations=5, sight=2, errors=0.7, temperature=1.0),
        Skill("casual", iterations=12, sight=4, errors=0.3, temperature=1.0),
        Skill("expert", iterations=40, sight=12, errors=0.1, temperature=0.2),
    )
}
"""The levels of skill with errors by name, from the lowest to the highest."""

FULL_SIGHT = Skill("full-sight", iterations=200, sight=WHOLE_GAME, errors=0.0, temperature=1.0)
"""A player who searches again for each move, looks ahead to the end of the game and makes no errors. The iterations of
a move do not depend on the number of legal moves."""

MOVE_BY_MOVE = {**LADDER, FULL_SIGHT.name: FULL_SIGHT}
"""The levels of skill whose players search anew for each move, by name: those for which a policy can be evolved."""

SKILLS = (*MOVE_BY_MOVE, PERFECT)
"""All levels of skill, from the lowest to the highest."""


def check(name: str) -> str:
    """Return the name of a level of skill.

    Raises:
        SettingsError: there is no such level of skill.
    """
    if name not in SKILLS:
        expected, hint = unknown(name, SKILLS)
        raise SettingsError("no such level of skill", found=name, expected=expected, hint=hint)
    return name


def errs(name: str) -> bool:
    """Return whether players of this skill make mistakes, which all do that have only a little search for each move.

    Args:
        name: a level of skill; "" for a player without one, who makes none.
    """
    return name in MOVE_BY_MOVE


def check_game(game: Game) -> None:
    """Check that a game can be played by players who search anew for each move.

    Raises:
        SettingsError: it is a two-player game.
    """
    if game.players > 1:
        raise SettingsError(
            "--skill is for single-player games",
            found=f"{game.name}, for {counted(game.players, 'player')}",
            hint="leave --skill out",
        )


def skill_to_dict(skill: Skill | None, per_legal_move: bool) -> dict[str, object]:
    """Return a skill as plain values; an empty dictionary without a skill.

    Args:
        skill: the skill.
        per_legal_move: whether the budget is for each legal move, which is kept under PER_LEGAL_MOVE.
    """
    if skill is None:
        return {}
    return {**asdict(skill), **({PER_LEGAL_MOVE: True} if per_legal_move else {})}


def skill_from_dict(values: Mapping[str, object]) -> tuple[Skill, bool]:
    """Return the skill that plain values describe, and whether the budget is for each legal move.

    Raises:
        SettingsError: a value is out of range.
        TypeError: a value is missing, or unknown.
    """
    make: Callable[..., Skill] = Skill
    return make(**{k: v for k, v in values.items() if k != PER_LEGAL_MOVE}), values.get(PER_LEGAL_MOVE) is True
