"""Guides for the designers of levels: an optional module `guide` in the folder of a game."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from persona_evo.games.core import Game
from persona_evo.games.findings import where


@dataclass(frozen=True)
class Guide:
    """Words on a game's levels; empty where the game has none."""

    legend: str = ""
    example: str = ""
    actions: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    aimed: Collection[str] = ()
    signs: str = ""

    def action(self, name: str) -> str:
        """Return a move in a form for people, with its place as row:column from 1 ("J,14,6" -> "J@7:15")."""
        head, *rest = name.split(",")
        if head not in self.aimed or len(rest) != 2:
            return name
        return f"{head}@{where((int(rest[0]), int(rest[1])))}"

    def event(self, kind: str) -> str:
        """Return a kind of event in words."""
        start, colon, rest = kind.partition(":")
        words = self.events.get(kind) or self.events.get(start + colon, f"{start} {rest}".rstrip())
        return words.format(rest)


def guide(game: Game) -> Guide:
    """Return the guide for a game."""
    package = (game.draw or "").partition(":")[0].rpartition(".")[0]
    name = f"{package}.guide"
    if not package or importlib.util.find_spec(name) is None:
        return Guide()
    module = importlib.import_module(name)
    return Guide(
        getattr(module, "LEGEND", ""),
        getattr(module, "EXAMPLE", ""),
        getattr(module, "ACTIONS", ""),
        getattr(module, "MEANINGS", {}),
        getattr(module, "TILES", {}),
        getattr(module, "EVENTS", {}),
        getattr(module, "AIMED", ()),
        getattr(module, "SIGNS", ""),
    )
