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
    """MiniDungeons 2."""
    return registry.get("minidungeons2")


def shared(relative: str) -> Path | None:
    """The path of a file or folder of the shared data, None where it is not there."""
    for base in filter(None, (os.environ.get("PERSONA_EVO_SHARED"), str(ROOT.parent / "shared"))):
        path = Path(base) / relative
        if path.exists():
            return path
    return None


@cache
def maps() -> tuple[Level, ...]:
    """The paper's eleven maps where they are at hand, else the eleven training levels that ship."""
    folder = shared("levels/md2")
    if folder is None:
        return tuple(resolve(game(), ["train"]))
    return tuple(resolve(game(), [str(p) for p in sorted(folder.glob("map*.txt"))]))


@cache
def training_maps() -> tuple[Level, ...]:
    """The paper's six maps of training, or the first six that ship."""
    found = [level for level in maps() if level.name in PAPER_TRAINING]
    return tuple(found) if len(found) == len(PAPER_TRAINING) else maps()[: len(PAPER_TRAINING)]


@cache
def unseen() -> tuple[Level, ...]:
    """Levels that no policy that ships was evolved on and that the paper does not have: those of other designers where
    they are at hand, and the test levels that ship."""
    folder = shared("levels/md2/extra")
    others = [] if folder is None else [str(p) for p in sorted(folder.glob("designer*.txt"))]
    return tuple(resolve(game(), [*others, "test"]))


def which() -> str:
    """What `maps` gave, in words."""
    return "the paper's 11 maps" if shared("levels/md2") else "the 11 training levels"
