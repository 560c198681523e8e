"""What a reproduction has evolved and played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from persona_evo.evolve.outcome import Outcome
from persona_evo.games.core import Game, Level
from persona_evo.personas import Persona
from persona_evo.playtest import batch
from persona_evo.playtest.metrics import Bound
from persona_evo.store.policies import Policy
from persona_evo.studies.minidungeons.published import Published
from persona_evo.studies.minidungeons.settings import DungeonSettings


@dataclass
class Crossed:
    """What the cross tables are made of.

    foreign: playthroughs of persona B (its utility) with the policy of A; `players` says label -> (A, B).
    transfer: persona -> playthroughs with the policies that were evolved on one map; `sources`: label -> that map.
    more: times the budget -> playthroughs with UCB1.
    """

    foreign: batch.BatchResults
    players: Mapping[str, tuple[str, str]]
    transfer: dict[str, batch.BatchResults] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    more: dict[int, batch.BatchResults] = field(default_factory=dict)


@dataclass
class DungeonResults:
    """All that was evolved and played.

    differing: why the levels are not the publication's maps, [] if they are. outcomes: of all evolutions by persona;
    best: the one chosen; journals: its rows. evolved, baseline: labels of the players by persona. bounds: the limits
    by (level, persona).
    """

    folder: Path
    settings: DungeonSettings
    published: Published
    game: Game
    levels: list[Level]
    training: list[Level]
    differing: list[str]
    personas: list[Persona]
    outcomes: dict[str, list[Outcome]]
    best: dict[str, Outcome]
    journals: dict[str, list[dict[str, object]]]
    policies: dict[str, Policy]
    played: batch.BatchResults
    bounds: dict[tuple[str, str], Bound]
    crossed: Crossed | None = None

    @property
    def evolved(self) -> dict[str, str]:
        """Persona -> label of the player with the evolved policy."""
        return {p.name: p.name for p in self.personas}

    @property
    def baseline(self) -> dict[str, str]:
        """Persona -> label of the player with UCB1."""
        return {p.name: f"{p.name}/ucb1" for p in self.personas}
