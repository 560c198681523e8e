"""What only the pages of playtests are made of: cards of findings, requirements, win rates, and the maps' legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from persona_evo.games.analysis import at
from persona_evo.games.findings import Finding
from persona_evo.playtest.metrics import Summary
from persona_evo.playtest.requirement import Check
from persona_evo.report import maps


@dataclass
class Cards:
    """Findings as cards with the numbers that they have on the maps. brief: a line each, with a link to the card."""

    items: Sequence[Card]
    brief: bool = False

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class Card:
    """A finding and its number, 0 for none.

    Attributes:
        finding, number: what is told.
        reason: why it is accepted, "" where it is not.
        address: of the page of its level, "" where there is none.
    """

    finding: Finding
    number: int = 0
    reason: str = ""
    address: str = ""

    @property
    def places(self) -> str:
        """The places, the first few of many."""
        return at(self.finding.places)


@dataclass
class Checks:
    """Requirements and whether they hold."""

    items: Sequence[Check]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass
class Rates:
    """Win rates with their intervals: levels down and players across. addresses: of the pages of levels."""

    players: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Summary | None]]]
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether a rate is known, and has no interval."""
        return any(s.win_rate.note for _, cells in self.rows for s in cells if s is not None)


@dataclass
class Legend:
    """What the signs of maps mean. most: visits of the hottest colour; hit_points: whether the game has any."""

    most: float
    hit_points: bool

    @property
    def colours(self) -> tuple[str, str]:
        """Of few and of many visits."""
        cool, hot = (f"rgb({r} {g} {b})" for r, g, b in (maps.COOL, maps.HOT))
        return cool, hot
