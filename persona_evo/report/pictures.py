"""Draws the maps and replays of a playtest with workers, the slowest first, so that all workers finish together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from persona_evo.errors import VerificationError
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.records import Playthrough
from persona_evo.report import maps, replay

Shared = tuple[str, Mapping[str, LevelText]]
"""A game's address, and levels by name."""

_MAP, _FRAME = 0.05, 0.003
"""Estimated seconds to draw a map, and a frame of a replay, until some were timed."""


class MapDrawing(NamedTuple):
    """The map of one player in a level (arguments as for `maps.annotated`)."""

    records: Sequence[Playthrough]
    path: str
    markers: Sequence[maps.Marker]
    high: float

    @property
    def thought(self) -> float:
        """Estimated seconds to draw it."""
        return _MAP

    @property
    def shown(self) -> tuple[object, ...]:
        """What identifies the picture: whose playthroughs it shows, and what is drawn beside them."""
        first = self.records[0]
        return "map", first.level, first.player, self.high, *self.markers

    def draw(self, game: Game, level: Level) -> str:
        """Write the file; return why it cannot be drawn, "" on success."""
        maps.annotated(game, level, self.records, self.path, self.markers, self.high)
        return ""


class ReplayDrawing(NamedTuple):
    """The replay of a playthrough."""

    records: Sequence[Playthrough]
    path: str

    @property
    def thought(self) -> float:
        """Estimated seconds to draw it."""
        return _FRAME * (1 + len(self.records[0].all_actions))

    @property
    def shown(self) -> tuple[object, ...]:
        """What identifies the picture: the playthrough that it shows."""
        record = self.records[0]
        return "replay", record.level, record.player, record.trial, record.seed

    def draw(self, game: Game, level: Level) -> str:
        """Write the file; return why it cannot be drawn, "" on success."""
        record = self.records[0]
        try:
            shown = replay.frames(game, level, record, whole=True) if record.all_actions else None
        except VerificationError as e:
            return f"There is no replay: {e}"
        if shown is None:
            return f"There are no replays: {game.title} does not draw its states, or there are no actions."
        replay.save_gif(shown, self.path)
        return ""


PictureDrawing = MapDrawing | ReplayDrawing


def draw(
    game: Game,
    levels: Mapping[str, Level],
    wanted: Sequence[PictureDrawing],
    workers: Workers | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """Draw pictures.

    Args:
        levels: levels by name.
        workers: draw the pictures; None for this process.
        progress: called with the number of pictures drawn.

    Returns:
        Why each picture could not be drawn, "" on success.
    """
    found: list[str] = []
    for part in _parts(game, levels, wanted, workers):
        found += part
        if progress is not None and part:
            progress(len(found))
    return found


def _parts(
    game: Game, levels: Mapping[str, Level], wanted: Sequence[PictureDrawing], workers: Workers | None
) -> Iterator[list[str]]:
    """Yield the outcomes of the pictures, in order."""
    if workers is None or workers.alone or game.outside is not None:
        return ([one.draw(game, levels[one.records[0].level])] for one in wanted)
    texts = {name: LevelText.of(level) for name, level in levels.items()}
    kinds = [(type(one), one.records[0].level) for one in wanted]
    return iter(Dispatch(workers, drawn, (registry.address(game), texts), wanted, kinds, [w.thought for w in wanted]))


def drawn(shared: Shared, wanted: Sequence[PictureDrawing]) -> Iterator[str]:
    """Draw some pictures; workers run this function."""
    address, levels = shared
    for one in wanted:
        yield one.draw(registry.get(address), _loaded(address, levels[one.records[0].level]))


@functools.lru_cache(maxsize=16)
def _loaded(address: str, text: LevelText) -> Level:
    return text.load(registry.get(address))
