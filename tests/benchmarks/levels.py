"""The maps that the figures are means of."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.mapsets import resolve

ROOT = Path(__file__).resolve().parents[2]
PAPER_TRAINING = ("map01", "map02", "map03", "map04", "map07", "map10")


@cache
def game() -> Game:
    """Return MiniDungeons 2."""
    return registry.get("minidungeons2")


def shared(relative: str) -> Path | None:
    """Return the path of a file or folder of the shared data; None if it is missing."""
    for base in filter(None, (os.environ.get("PERSONA_EVO_SHARED"), str(ROOT.parent / "shared"))):
        path = Path(base) / relative
        if path.exists():
            return path
    return None


@cache
def maps() -> tuple[Level, ...]:
    """Return the paper's eleven maps if they are available, or else the eleven shipped training levels."""
    folder = shared("levels/md2")
    if folder is None:
        return tuple(resolve(game(), ["train"]))
    return tuple(resolve(game(), [str(p) for p in sorted(folder.glob("map*.txt"))]))


@cache
def training_maps() -> tuple[Level, ...]:
    """Return the paper's six training maps, or else the first six that ship."""
    found = [level for level in maps() if level.name in PAPER_TRAINING]
    return tuple(found) if len(found) == len(PAPER_TRAINING) else maps()[: len(PAPER_TRAINING)]


@cache
def unseen() -> tuple[Level, ...]:
    """Return levels that no shipped policy was evolved on and that are not in the paper.

    These are levels by other designers if they are available, and the shipped test levels.
    """
    folder = shared("levels/md2/extra")
    others = [] if folder is None else [str(p) for p in sorted(folder.glob("designer*.txt"))]
    return tuple(resolve(game(), [*others, "test"]))


def which() -> str:
    """Describe the levels of `maps`."""
    return "the paper's 11 maps" if shared("levels/md2") else "the 11 training levels"
