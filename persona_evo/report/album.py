"""Keeps track of the pictures in a folder, so that a report that is written again redraws only what has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from persona_evo.errors import RunError
from persona_evo.games import registry, trust
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import schema
from persona_evo.report.pictures import PictureDrawing
from persona_evo.version import __version__

FILE = "drawn.json"
"""Name of the file that lists the pictures beside it."""


class Album:
    """The pictures of a folder, each with a digest of what it shows and one of its file.

    A picture is drawn again if the playthroughs, the level, the game, the program or the findings on it have changed,
    or if its file is missing or damaged.

    Args:
        folder: the folder of the pictures.
        traces: the file of the playthroughs that they show.
        game: the game that was played.
    """

    def __init__(self, folder: Path, traces: Path, game: Game) -> None:
        self._folder = folder
        address = registry.address(game)
        origin = [__version__, address, game.version, trust.code_of(address), _digest(traces)]
        self._origin = repr(origin)
        self._known = self._read()
        self._drawn: dict[str, list[str]] = {}

    def holds(self, drawing: PictureDrawing, level: Level) -> bool:
        """Return whether the picture exists as it would be drawn."""
        path = Path(drawing.path)
        entry = self._known.get(path.name)
        if entry is None or not path.is_file() or entry != [self._shows(drawing, level), _digest(path)]:
            return False
        self._drawn[path.name] = entry
        return True

    def add(self, drawing: PictureDrawing, level: Level) -> None:
        """Record a picture that was drawn."""
        path = Path(drawing.path)
        self._drawn[path.name] = [self._shows(drawing, level), _digest(path)]

    def save(self) -> None:
        """Write the list of the pictures, unless the file already has it."""
        if self._drawn != self._known:
            schema.write(self._folder / FILE, {"schema": 1, "pictures": self._drawn})

    def _shows(self, drawing: PictureDrawing, level: Level) -> str:
        text = repr([self._origin, LevelText.of(level), *drawing.shown])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self) -> dict[str, list[str]]:
        """Read the list of an earlier report; a damaged one counts as empty."""
        try:
            pictures = schema.read(self._folder / FILE, RunError)[0]["pictures"]
        except (RunError, KeyError):
            return {}
        return pictures if isinstance(pictures, dict) else {}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
