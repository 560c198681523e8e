"""Open lists as data: the orders in which a planner expands the states of a level.

A planner with several open lists (Richter, Westphal 2010; Röger, Helmert 2010) keeps each state in all of them and
takes the best of each in turn, so no single score decides where it searches. A persona (`[[lists]]` in its TOML file)
or a policy (`"lists"` in its JSON file) may have lists of its own, which replace the default ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse

OWN, UTILITY, CARE, NEAR, CEILING, DEPTH = "OWN", "UTILITY", "CARE", "NEAR", "CEILING", "D"
LIST_VARIABLES = {
    OWN: "the score of the persona's policy, or the utility without one",
    UTILITY: "the persona's utility",
    CARE: "what keeps the player in the game (`Game.care`)",
    NEAR: "the distance to what the player can reach, one of the game's distances after the other (`Game.targets`)",
    CEILING: "the highest utility of any state that can follow (`Game.reach`)",
    DEPTH: "the depth, in moves from the root",
}
"""What a list's score may read besides the game's metrics. A metric of the same name takes precedence."""

FIELDS = ("score", "weight", "novel")
"""The fields of a list in a file."""

MOST_LISTS = 16
"""Number of lists that a policy, a persona or a search may have at most."""

LIGHTEST = 1e-6
"""The smallest weight of a list."""


@dataclass(frozen=True)
class OpenList:
    """One order in which states are expanded.

    Attributes:
        score: a formula over the game's metrics and LIST_VARIABLES; the state with the highest score comes first.
        weight: the share of the turns relative to the other lists, above 0.
        novel: whether states with something that no state had before come first.

    Raises:
        SettingsError: the weight is out of range, or `novel` is not true or false.
    """

    score: Formula
    weight: float = 1.0
    novel: bool = False

    def __post_init__(self) -> None:
        usable = isinstance(self.weight, (int, float)) and not isinstance(self.weight, bool)
        if not usable or not LIGHTEST <= self.weight <= 1e6:
            raise SettingsError(
                "the weight of an open list",
                found=_shown(self.weight),
                expected="a number above 0, from 0.000001 to 1,000,000",
            )
        if not isinstance(self.novel, bool):
            raise SettingsError("`novel` of an open list", found=_shown(self.novel), expected="true or false")

    @property
    def text(self) -> str:
        """A description for people: the score, then what is not the default."""
        more = [f"weight {self.weight:g}"] if self.weight != 1 else []
        more += ["novel states first"] if self.novel else []
        return self.score.text + (f" ({', '.join(more)})" if more else "")

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain values."""
        return {"score": self.score.text, "weight": float(self.weight), "novel": self.novel}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OpenList:
        """Return the list that plain values describe; weight and novel may be missing.

        Raises:
            SettingsError: a field is missing, unknown, or out of range.
            FormulaError: the score is not a formula.
        """
        if not isinstance(data, Mapping):
            raise SettingsError("an open list", found=repr(data), expected="a table with score, weight and novel")
        for key in data:
            if key not in FIELDS:
                expected, hint = unknown(str(key), FIELDS)
                raise SettingsError("no such field in an open list", found=str(key), expected=expected, hint=hint)
        if not isinstance(data.get("score"), str):
            raise SettingsError("an open list has no score", found=repr(data.get("score")), expected="a formula")
        return cls(parse(data["score"]), data.get("weight", 1.0), data.get("novel", False))


def readable(symbols: Sequence[str]) -> tuple[str, ...]:
    """Return what a list's score may read in a game with these metrics."""
    return (*symbols, *(name for name in LIST_VARIABLES if name not in symbols))


def how_many(count: int) -> str | None:
    """Return the numbers of lists that a file may have if `count` is not one of them, or else None."""
    return None if 1 <= count <= MOST_LISTS else f"1 to {MOST_LISTS} lists, or none of this key"


def _shown(value: object) -> str:
    try:
        return repr(value)[:80]
    except ValueError:  # a whole number with thousands of digits
        return "a number with thousands of digits"


def _lists(*rows: tuple[str, float, bool]) -> tuple[OpenList, ...]:
    return tuple(OpenList(parse(score), weight, novel) for score, weight, novel in rows)


DEFAULT_LISTS = _lists(
    ("OWN", 1.0, False),
    ("OWN", 1.0, True),
    ("CARE + 0.1 * OWN", 1.0, True),
    ("UTILITY - 0.001 * D", 1.0, True),
    ("CEILING + 0.0001 * OWN", 0.5, False),
    ("CARE + 0.1 * OWN", 0.5, False),
)
"""The lists of the planner if neither persona nor policy has any. They use no knowledge of the game."""

FEW_LISTS = _lists(
    ("OWN", 1.0, True),
    ("CARE + 0.1 * OWN", 1.0, True),
    ("UTILITY - 0.001 * D", 1.0, True),
    ("CEILING + 0.0001 * OWN", 0.25, False),
)
"""The default lists if the budget is small for the level: six lists would spread it too thin."""

UNGUIDED_LISTS = _lists(
    ("CEILING + 0.3 * UTILITY - 0.1 * NEAR", 1.0, True),
    ("CEILING - 0.1 * NEAR", 1.0, True),
    ("CARE + 0.1 * UTILITY", 1.0, True),
    ("CARE + 0.3 * CEILING - 0.1 * NEAR", 1.0, True),
    ("UTILITY - 0.001 * D", 1.0, True),
    ("CEILING + 0.0001 * UTILITY", 0.25, False),
)
"""The default lists if the own score is the utility itself, which does not lead to anything far away."""

FEW_UNGUIDED_LISTS = _lists(
    ("CEILING + 0.3 * UTILITY - 0.1 * NEAR", 2.0, True),
    ("CARE + 0.1 * UTILITY", 1.0, True),
    ("UTILITY - 0.001 * D", 1.0, True),
    ("CEILING + 0.0001 * UTILITY", 0.25, False),
)
"""These lists if the budget is small for the level."""
