"""The evolutions and playthroughs of a reproduction."""

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
    """The data of the cross tables.

    Attributes:
        foreign: playthroughs of persona B (its utility) with the policy of A.
        players: (A, B) by the player's label.
        transfer: by persona, playthroughs with the policies that were evolved on one map.
        sources: the map that a policy was evolved on, by the player's label.
        more: playthroughs with UCB1, by multiple of the budget.
    """

    foreign: batch.BatchResults
    players: Mapping[str, tuple[str, str]]
    transfer: dict[str, batch.BatchResults] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    more: dict[int, batch.BatchResults] = field(default_factory=dict)


@dataclass
class DungeonResults:
    """All evolutions and playthroughs of a reproduction.

    Attributes:
        folder: the folder of the reproduction.
        settings: its settings.
        published: the publication's numbers.
        game: the rules.
        levels: the levels that are played.
        training: the levels that policies are evolved on.
        differing: why the levels are not the publication's maps; [] if they are.
        personas: the personas.
        outcomes: the results of all evolutions by persona.
        best: the chosen evolution by persona.
        journals: the rows of its journal by persona.
        policies: the evolved policies.
        played: the playthroughs.
        bounds: the limits of utility by (level, persona).
        crossed: the data of the cross tables; None without them.
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
        """The labels of the players with the evolved policies, by persona."""
        return {p.name: p.name for p in self.personas}

    @property
    def baseline(self) -> dict[str, str]:
        """The labels of the players with UCB1, by persona."""
        return {p.name: f"{p.name}/ucb1" for p in self.personas}
