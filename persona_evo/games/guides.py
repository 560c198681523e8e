"""What a game tells those who make levels for it: an optional module `guide` beside the one that draws.

It has LEGEND (the level format in words), TILES (a name for each character, where a level is a map), EXAMPLE (a small
level that can be played as it is), ACTIONS (how moves are written) and MEANINGS (what each number of the level's
structure is), all of them optional.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field

from persona_evo.games.core import Game


@dataclass(frozen=True)
class Guide:
    """Words on a game's levels; empty where the game has none."""

    legend: str = ""
    example: str = ""
    actions: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, str] = field(default_factory=dict)


def guide(game: Game) -> Guide:
    """What there is for this game."""
    package = (game.draw or "").partition(":")[0].rpartition(".")[0]
    name = f"{package}.guide"
    if not package or importlib.util.find_spec(name) is None:
        return Guide()
    module = importlib.import_module(name)
    return Guide(
        getattr(module, "LEGEND", ""), getattr(module, "EXAMPLE", ""), getattr(module, "ACTIONS", ""),
        getattr(module, "MEANINGS", {}), getattr(module, "TILES", {}),
    )  # fmt: skip
