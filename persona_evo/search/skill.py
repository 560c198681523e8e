"""Levels of skill: how far a player looks ahead, how much it thinks, and how often it errs.

The numbers are set so that on the levels of MiniDungeons 2 the win rates of the four levels of skill are clearly apart.
They say how hard a level is for these simulated players, which is not how hard people find it.
"""

from __future__ import annotations

from dataclasses import dataclass

from persona_evo.errors import SettingsError, unknown


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

    @property
    def text(self) -> str:
        """How it plays, for people."""
        return (
            f"{self.iterations} iterations for each legal move, {self.sight} moves ahead, {self.errors:.0%} errors at "
            f"temperature {self.temperature:g}"
        )


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
