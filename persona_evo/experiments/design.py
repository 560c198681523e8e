"""What an experiment compares: variants of a game, players, and what each of them changes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import SettingsError
from persona_evo.experiments.run import SearchSpec
from persona_evo.experiments.subject import ExperimentLevel, open_stage
from persona_evo.seeds import derive

MOST_REPLICATES = 10_000
MOST_CELLS = 200

SEARCH_KEYS = tuple(f.name for f in dataclasses.fields(SearchSpec))
KEYS = ("level", "score", "persona", *SEARCH_KEYS)
"""What the file's top, a variant or a player may say beside settings of the game."""

OWN = "the game's score"
"""The goal of a cell that names none."""


@dataclass(frozen=True)
class Cell:
    """One combination of a variant and a player ("" where there is but one).

    level, score, persona, settings: as for `one.run`. search: how it is made.
    """

    variant: str
    player: str
    level: str
    score: str
    persona: str
    settings: Mapping[str, Any]
    search: SearchSpec

    @property
    def label(self) -> str:
        """Variant and player, as far as they have names."""
        return " / ".join(filter(None, (self.variant, self.player))) or "default"

    @property
    def goal(self) -> str:
        """What is searched for, in words: the same for cells whose scores can be compared."""
        return " ".join(self.score.split()) or (f"what {self.persona} wants" if self.persona else OWN)

    def open(self, game: str) -> ExperimentLevel:
        """Its level, ready to be searched.

        Raises:
            PersonaEvoError: no such game, level or setting.
        """
        from persona_evo.games import registry

        settings, level = dict(self.settings), self.level
        if game.endswith(".toml") and "variant" in settings and game not in registry.names():
            map_, at, seed = (level or "default").partition("@")
            level = f"{map_.partition(':')[0]}:{settings.pop('variant')}{at}{seed}"
        return open_stage(game, level, settings, self.search.workers)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**dataclasses.asdict(self), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cell:
        """The inverse of `to_dict`."""
        return cls(**{**data, "search": SearchSpec(**data["search"])})


@dataclass(frozen=True)
class Experiment:
    """Searches to be compared: `replicates` of each cell. game: as `stage.open_stage` finds it."""

    name: str
    title: str
    game: str
    seed: int
    replicates: int
    cells: tuple[Cell, ...]

    @property
    def connected(self) -> bool:
        """Whether the game runs in processes of its own."""
        from persona_evo.games import registry

        return self.game not in registry.names() and ":" not in Path(self.game).name

    def tasks(self) -> list[tuple[int, int, int]]:
        """(number of the cell, replicate, seed) of each search, in their order.

        One replicate of every cell comes after the other, so that what was stopped early can be compared; cell after
        cell where the game is connected, which is then started once for each.
        """
        cells, replicates = range(len(self.cells)), range(self.replicates)
        order = (
            [(c, r) for c in cells for r in replicates]
            if self.connected
            else ([(c, r) for r in replicates for c in cells])
        )
        return [(c, r, derive(self.seed, self.name, self.cells[c].label, r)) for c, r in order]

    def pairs(self) -> list[tuple[int, int]]:
        """The cells that are compared: those that differ in the variant alone, or in the player alone, and that are
        searched for the same, since scores of different goals have no common measure."""
        cells = self.cells
        return [
            (a, b)
            for a in range(len(cells))
            for b in range(a + 1, len(cells))
            if (cells[a].variant == cells[b].variant) != (cells[a].player == cells[b].player)
            and cells[a].goal == cells[b].goal
        ]

    def goals(self) -> dict[str, list[Cell]]:
        """The cells by what they are searched for, in their order."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.goal, []).append(cell)
        return found

    def smaller(self, replicates: int | None = None, rollouts: int | None = None) -> Experiment:
        """The same with other numbers."""
        cells = (
            self.cells
            if rollouts is None
            else tuple(
                dataclasses.replace(c, search=dataclasses.replace(c.search, rollouts=rollouts)) for c in self.cells
            )
        )
        return dataclasses.replace(self, cells=cells, replicates=replicates or self.replicates)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "game": self.game,
            "seed": self.seed,
            "replicates": self.replicates,
            "cells": [cell.to_dict() for cell in self.cells],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Experiment:
        """The inverse of `to_dict` (KeyError, TypeError and SettingsError for what does not belong there)."""
        cells = tuple(Cell.from_dict(cell) for cell in data["cells"])
        rest = {key: data[key] for key in ("name", "title", "game", "seed", "replicates")}
        return cls(cells=check(cells), **rest)


def identical(cells: Sequence[Cell]) -> tuple[Cell, Cell] | None:
    """Find two combinations that differ in nothing but their names; None if there are none."""
    known: dict[str, Cell] = {}
    for cell in cells:
        content = json.dumps({**cell.to_dict(), "variant": "", "player": ""}, sort_keys=True, default=str)
        if content in known:
            return known[content], cell
        known[content] = cell
    return None


def check(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells, refused where there are none, too many, or two of one name."""
    if not 1 <= len(cells) <= MOST_CELLS:
        raise SettingsError(
            "the number of combinations is out of range",
            found=str(len(cells)),
            expected=f"1 to {MOST_CELLS} variants x players",
        )
    labels = [cell.label for cell in cells]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingsError("two combinations have the same name", found=twice, expected="different names")
    return tuple(cells)
