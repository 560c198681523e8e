"""Blocks that only pages of playtests use: cards of findings, requirements, win rates, and the maps' legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from persona_evo.games.analysis import at
from persona_evo.games.findings import Finding
from persona_evo.playtest.metrics import Summary
from persona_evo.playtest.requirement import Check
from persona_evo.report import maps
from persona_evo.report.tables import Block


@dataclass
class Cards(Block):
    """Findings as cards with their numbers on the maps; `brief` shows one line each, with a link to the card."""

    items: Sequence[Card]
    brief: bool = False

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class Card:
    """A finding with its number.

    Attributes:
        number: its number on the maps, 0 for none.
        reason: why it is accepted, "" if it is not.
        address: address of its level's page, "" if there is none.
    """

    finding: Finding
    number: int = 0
    reason: str = ""
    address: str = ""

    @property
    def places(self) -> str:
        """Its places, or the first few of many."""
        return at(self.finding.places)


@dataclass
class Checks(Block):
    """Requirements, and whether they hold."""

    items: Sequence[Check]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass
class Rates(Block):
    """Win rates with intervals by level (rows) and player (columns); `addresses` are those of the levels' pages."""

    players: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Summary | None]]]
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether any rate is known exactly, and has no interval."""
        return any(s.win_rate.note for _, cells in self.rows for s in cells if s is not None)


@dataclass
class Legend(Block):
    """The meaning of the signs on maps.

    Attributes:
        most: visits of the hottest colour.
        signs: what the maps show (see `maps.signs`).
        cards: the findings that the maps show.
    """

    most: float
    signs: frozenset[str]
    cards: Sequence[Card] = ()

    @property
    def badges(self) -> list[Card]:
        """The first finding of each severity."""
        return list({card.finding.severity: card for card in reversed(self.cards)}.values())[::-1]

    @property
    def colours(self) -> tuple[str, str]:
        """Colours of few and of many visits."""
        cool, hot = (f"rgb({r} {g} {b})" for r, g, b in (maps.COOL, maps.HOT))
        return cool, hot
