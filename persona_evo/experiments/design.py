"""The design of an experiment: variants of a game, players, and what each of them changes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.errors import SettingsError
from persona_evo.experiments.run import SearchSpec
from persona_evo.experiments.subject import ExperimentLevel, open_stage
from persona_evo.search.tree_policy import UCB1_CONSTANT
from persona_evo.seeds import derive

MOST_REPLICATES = 10_000
MOST_CELLS = 200

SEARCH_KEYS = tuple(f.name for f in dataclasses.fields(SearchSpec))
KEYS = ("level", "score", "persona", *SEARCH_KEYS)
"""Keys of the file's top level, a variant or a player, besides settings of the game."""

OWN = "the game's score"
"""Goal of a cell that names none."""


@dataclass(frozen=True)
class Cell:
    """One combination of a variant and a player ("" if there is only one).

    Attributes:
        level, score, persona, settings: as for `run.run`; the level may be several.
        search: the settings of the search.
        levels: the name of each level if `level` names several; empty if it names one.
    """

    variant: str
    player: str
    level: str
    score: str
    persona: str
    settings: Mapping[str, Any]
    search: SearchSpec
    levels: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Variant and player, as far as they have names."""
        return " / ".join(filter(None, (self.variant, self.player))) or "default"

    @property
    def goal(self) -> str:
        """The goal of the search in words; it is the same for cells whose scores can be compared."""
        return " ".join(self.score.split()) or (f"what {self.persona} wants" if self.persona else OWN)

    def open(self, game: str, replicate: int = 0) -> ExperimentLevel:
        """Open the level of a replicate for a search.

        Raises:
            PersonaEvoError: no such game, level or setting.
        """
        from persona_evo.games import registry

        settings, level = dict(self.settings), self.alone(replicate).level
        if game.endswith(".toml") and "variant" in settings and game not in registry.names():
            map_, at, seed = (level or "default").partition("@")
            level = f"{map_.partition(':')[0]}:{settings.pop('variant')}{at}{seed}"
        return open_stage(game, level, settings, self.search.workers)

    def alone(self, replicate: int) -> Cell:
        """Return the cell with the level of a replicate as its only one."""
        return dataclasses.replace(self, level=self.levels[self.place(replicate)], levels=()) if self.levels else self

    def place(self, replicate: int) -> int:
        """Return the place of a replicate's level among the levels; replicates go through all of them in turn."""
        return replicate % max(1, len(self.levels))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = {**dataclasses.asdict(self), "settings": dict(self.settings), "levels": list(self.levels)}
        return values if self.levels else {k: v for k, v in values.items() if k != "levels"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cell:
        """Create a cell from the output of `to_dict`."""
        levels = tuple(map(str, data.get("levels", ())))
        return cls(**{**data, "search": SearchSpec(**data["search"]), "levels": levels})


@dataclass(frozen=True)
class Experiment:
    """Searches to compare: `replicates` of each cell in each of its levels; `game` is a source for `open_stage`.

    `file` is the file that the experiment was read from, "" for none; nothing depends on it but the places in messages.
    """

    name: str
    title: str
    game: str
    seed: int
    replicates: int
    cells: tuple[Cell, ...]
    file: str = field(default="", compare=False)

    @property
    def connected(self) -> bool:
        """Whether the game runs in processes of its own."""
        return is_connected(self.game)

    def is_fitted(self, cell: Cell) -> bool:
        """Return whether the searches of a cell fit UCB1's constant to the scores that they see.

        They do so in a connected game with UCB1's own constant, unless the game's description says `scores = "raw"`.
        """
        return self.connected and cell.search.uct_constant == UCB1_CONSTANT

    @property
    def levels(self) -> int:
        """The number of levels that each cell is searched in."""
        return max(1, len(self.cells[0].levels))

    def tasks(self) -> list[tuple[int, int, int]]:
        """Return (number of the cell, replicate, seed) of each search, in order.

        Each replicate runs over all cells before the next begins, so that results can be compared if the experiment
        stops early. For a connected game the order is cell after cell and level after level, so that the game is
        started once for each.
        """
        cells, replicates = range(len(self.cells)), range(self.replicates * self.levels)
        order = (
            [(c, r) for c in cells for r in sorted(replicates, key=lambda r: (r % self.levels, r))]
            if self.connected
            else ([(c, r) for r in replicates for c in cells])
        )
        return [(c, r, derive(self.seed, self.name, self.cells[c].label, r)) for c, r in order]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of cells to compare.

        They differ only in the variant or only in the player, and have the same goal, since scores of different goals
        have no common measure.
        """
        cells = self.cells
        return [
            (a, b)
            for a in range(len(cells))
            for b in range(a + 1, len(cells))
            if (cells[a].variant == cells[b].variant) != (cells[a].player == cells[b].player)
            and cells[a].goal == cells[b].goal
        ]

    def goals(self) -> dict[str, list[Cell]]:
        """Group the cells by goal, in order."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.goal, []).append(cell)
        return found

    def smaller(self, replicates: int | None = None, rollouts: int | None = None) -> Experiment:
        """Return the same experiment with other numbers."""
        cells = (
            self.cells
            if rollouts is None
            else tuple(
                dataclasses.replace(c, search=dataclasses.replace(c.search, rollouts=rollouts)) for c in self.cells
            )
        )
        return dataclasses.replace(self, cells=cells, replicates=replicates or self.replicates)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
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
        """Create an experiment from the output of `to_dict` (KeyError, TypeError, SettingsError if invalid)."""
        cells = tuple(Cell.from_dict(cell) for cell in data["cells"])
        rest = {key: data[key] for key in ("name", "title", "game", "seed", "replicates")}
        return cls(cells=check(cells), **rest)


def is_connected(game: str) -> bool:
    """Return whether the game of an experiment runs in processes of its own."""
    from persona_evo.games import registry

    return game not in registry.names() and ":" not in Path(game).name


def identical(cells: Sequence[Cell]) -> tuple[Cell, Cell] | None:
    """Find two combinations that differ only in their names; None if there are none."""
    known: dict[str, Cell] = {}
    for cell in cells:
        content = json.dumps({**cell.to_dict(), "variant": "", "player": ""}, sort_keys=True, default=str)
        if content in known:
            return known[content], cell
        known[content] = cell
    return None


def check(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells; refuse none at all, too many, or two with the same name."""
    if not 1 <= len(cells) <= MOST_CELLS:
        raise SettingsError(
            "the number of combinations is out of range",
            found=str(len(cells)),
            expected=f"1 to {MOST_CELLS} variants x players",
        )
    counts = sorted({max(1, len(cell.levels)) for cell in cells})
    if len(counts) > 1:
        raise SettingsError(
            "combinations have different numbers of levels",
            found=" and ".join(map(str, counts)),
            expected="equally many, so that they can be compared in pairs",
        )
    labels = [cell.label for cell in cells]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingsError("two combinations have the same name", found=twice, expected="different names")
    return tuple(cells)
