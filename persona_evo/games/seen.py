"""The states of an explored level with their places and metrics, and the map that the level's text is.

The text is a map where the avatar's start is a character that comes once, at the avatar's own place; lines before the
map may say something else.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.errors import PersonaEvoError
from persona_evo.formula import parse
from persona_evo.games.analysis import beside
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.games.exploration import Exploration, explore
from persona_evo.games.findings import Spot

SUPPOSED_STATES = 5_000
"""States looked at in a level that is supposed to differ."""
HEADER_LINES = 4
"""Lines before the map in a level's text, at most."""


@dataclass(frozen=True)
class TextMap:
    """The map in a level's text: the characters at (x, y) as the game counts them.

    Attributes:
        above: the number of lines before the map.
    """

    rows: tuple[str, ...]
    above: int

    def char(self, spot: Spot) -> str:
        x, y = spot[0], spot[1] + self.above
        return self.rows[y][x] if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]) else ""

    def cells(self, char: str) -> list[Spot]:
        return [
            (x, y - self.above)
            for y, row in enumerate(self.rows)
            for x, c in enumerate(row)
            if c == char and y >= self.above
        ]

    def with_char(self, spot: Spot, char: str) -> str:
        """Return the level's text with another character on one tile."""
        rows = list(self.rows)
        y = spot[1] + self.above
        rows[y] = rows[y][: spot[0]] + char + rows[y][spot[0] + 1 :]
        return "\n".join(rows) + "\n"

    def without(self, char: str, floor: str) -> str:
        """Return the level's text with floor instead of all tiles of a kind, except those at the edge."""
        head, body = self.rows[: self.above + 1], self.rows[self.above + 1 : -1]
        inside = (row[:1] + row[1:-1].replace(char, floor) + row[-1:] for row in body)
        return "\n".join((*head, *inside, self.rows[-1])) + "\n"


def text_map(level: Level, start: Spot) -> TextMap | None:
    """Return the map that a level's text is, if the avatar's start shows where it begins."""
    rows = tuple(level.rows)
    letters = Counter("".join(rows))
    maps = (TextMap(rows, above) for above in range(HEADER_LINES))
    return next((found for found in maps if letters[found.char(start)] == 1), None)


def _turned(level: Level, places: Sequence[Spot | None]) -> bool:
    """Return whether a game's places are (row, column): read as (x, y) they are off the map or in its border."""
    visited = {p for p in places if p is not None}
    start = places[0]
    if start is None:
        return False

    def fits(start: Spot, places: set[Spot]) -> bool:
        found = text_map(level, start)
        return found is not None and not {found.char(p) for p in places} & {"", found.char((0, 0))}

    return not fits(start, visited) and fits((start[1], start[0]), {(x, y) for y, x in visited})


class SeenLevel:
    """An exploration with the place and the metrics of each state."""

    def __init__(self, game: Game, level: Level, found: Exploration) -> None:
        self.game, self.level, self.found = game, level, found
        locate = game.locate
        places = [locate(level, s) if locate else None for s in found.states]
        self.turned = _turned(level, places)
        self.places = [self._place(p) for p in places]
        self.metrics = np.zeros((len(found.states), len(game.metrics)))
        measure = game.rules(costly=True).measure
        for i, state in enumerate(found.states):
            measure(level.tables, state, 0, self.metrics[i])
        self.visited = {p for p in self.places if p is not None}

    def _place(self, place: Spot | None) -> Spot | None:
        """Return a place that the game gives as (x, y)."""
        return (place[1], place[0]) if place and self.turned else place

    @functools.cached_property
    def map(self) -> TextMap | None:
        """The map that the text is, if the avatar's start shows where it begins."""
        start = self.places[0]
        return None if start is None else text_map(self.level, start)

    @functools.cached_property
    def floor(self) -> str:
        """The character of floor: a space or a dot if there is one, else that of most tiles that can be visited."""
        assert self.map is not None
        here = self.map.char(self.places[0]) if self.places[0] is not None else ""
        counts = Counter(self.map.char(p) for p in sorted(self.visited))
        usual = [c for c in " ." if self.map.cells(c)]
        return next((c for c in (*usual, *dict(counts.most_common())) if c not in (here, "")), " ")

    @functools.cached_property
    def wall(self) -> str:
        """The commonest character of the map that stands where nobody comes to; "" if there is none."""
        assert self.map is not None
        entered = {self.map.char(p) for p in self.visited}
        return next((c for c in reversed(self.kinds()) if c not in entered), "")

    @functools.cached_property
    def health(self) -> np.ndarray[Any, Any] | None:
        """Hit points left in each state, None in games without.

        Where the game does not say what they are, they are a metric that is better high, and used up in every game
        that is lost, but not by every move.
        """
        if self.game.health:
            formula, symbols = parse(self.game.health), self.game.symbols
            return np.array([formula.evaluate(dict(zip(symbols, row, strict=True))) for row in self.metrics])
        lost = [i for i, status in enumerate(self.found.status) if status == LOST]
        for k, metric in enumerate(self.game.metrics):
            values = self.metrics[:, k]
            falls = metric.better == "higher" and not metric.clock and values[0] > metric.low
            if lost and falls and (values[lost] <= metric.low).all() and not same_step(self, values):
                return values
        return None

    @functools.cached_property
    def ground(self) -> set[Spot]:
        """What would be reached if moves never ended: over all kinds but those that nobody enters from beside."""
        assert self.map is not None
        inside = {p for p, status in zip(self.places, self.found.status, strict=True) if p and status == RUNNING}
        beyond = {self.map.char(q) for p in inside for q in beside(p) if q not in self.visited}
        shut = beyond - {self.map.char(p) for p in self.visited}
        found, queue = set(self.visited), list(self.visited)
        for spot in queue:
            new = [p for p in beside(spot) if p not in found and self.map.char(p) and self.map.char(p) not in shut]
            found.update(new)
            queue += new
        return found

    def kinds(self) -> list[str]:
        """Return the characters of the map other than the start's and the floor's, the rarest first."""
        assert self.map is not None and self.places[0] is not None
        counts = Counter(c for row in self.map.rows[self.map.above :] for c in row)
        return [c for c, _ in reversed(counts.most_common()) if c not in (self.map.char(self.places[0]), self.floor)]

    def win_of(self, text: str) -> Spot | bool | None:
        """Return where the level would be won if this were its text; None without places, False without a win."""
        try:
            other = self.game.load(text, self.level.name, self.level.source, **self.level.options)
            found = explore(self.game, other, SUPPOSED_STATES, until=WON)
            if not found.has(WON):
                return False
            won = found.states[found.status.index(WON)]
            return self._place(self.game.locate(other, won)) if self.game.locate else None
        except PersonaEvoError:
            return False

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield every move as (state before, state after)."""
        for i, following in enumerate(self.found.after):
            for to in following:
                yield i, to


def same_step(seen: SeenLevel, values: Any) -> bool:
    """Return whether a metric falls by the same amount in every move that neither takes nor gives anything else."""
    drops = Counter(round(float(values[i] - values[to]), 9) for i, to in seen.moves() if values[to] < values[i])
    steps = Counter(round(float(values[i] - values[to]), 9) for i, to in seen.moves())
    return len(drops) >= 1 and steps.most_common(1)[0][0] > 0 and 0.0 not in steps
