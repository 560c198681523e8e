"""Draws the map of a level with what a player did there: visits as heat, damage, deaths, the usual route, and findings.

A game's drawing may have `map_image(level, *, scale, tiles)`, which draws the level before the first move without
anything around it: a picture of grid.width x grid.height tiles of `scale` pixels, with the colours (red, green, blue,
alpha) of `tiles` laid over these tiles, below the objects on them. Levels of other games are drawn as the characters of
their text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import Place, SettingsError
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Spot
from persona_evo.games.lettering import font
from persona_evo.games.seen import HEADER_LINES, text_map
from persona_evo.jobs import files
from persona_evo.playtest.records import Playthrough
from persona_evo.report.pages import Figure, width_of
from persona_evo.report.plots import drawing
from persona_evo.report.tile_counts import damage, deaths, visits

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST, SMALLEST, LARGEST = 1000, 18, 48
"""Length of a map's longer side, and smallest and largest size of a tile, in pixels."""

SHOWN = 0.75
"""Scale at which a page shows a map, if there is room."""

LETTER = 21
"""Height of a ruler's numbers in pixels, so that they have at least 12 on a page."""

MOST_TILES = 500
"""Maximum number of columns or rows of a map."""

MOST_MARKERS = 6
"""Number of places of a finding that show its number; further ones are only framed."""

COOL, HOT = (246, 176, 92), (150, 12, 40)
"""Colours of the fewest and of the most visits."""

ROUTE, CASING, RULER, INK = "#1f6feb", "#ffffff", "#808890", "#20242f"
FLOOR, PROBLEM, NOTICE, DAMAGE = "#f3ecdf", "#c5221f", "#9a6700", "#b3001b"


@dataclass(frozen=True)
class Marker:
    """A finding on the map: its number, its severity, and its tiles (x, y)."""

    number: int
    severity: str
    places: tuple[Spot, ...]

    @property
    def colour(self) -> str:
        """Colour of the marker; red for a problem."""
        return PROBLEM if self.severity == "problem" else NOTICE


@dataclass(frozen=True)
class Ground:
    """The area, in tiles from (0, 0) at the top left, of a level that has no grid."""

    width: int
    height: int


def ground(level: Level, places: Iterable[Spot]) -> Any:
    """Return the level's grid, else the map in its text, else the area of some places (the first is the start)."""
    grid = level.facts.get("grid")
    if hasattr(grid, "width") and hasattr(grid, "height"):
        return grid
    walked = list(places)
    drawn = text_map(level, walked[0]) if walked else None
    if drawn is not None:
        walked.append((max(map(len, drawn.rows[drawn.above :])) - 1, len(drawn.rows) - drawn.above - 1))
    return Ground(1 + max((x for x, _ in walked), default=0), 1 + max((y for _, y in walked), default=0))


def _ground(level: Level, records: Iterable[Playthrough]) -> Any:
    return ground(level, (place for record in records for place in record.all_positions))


def skipped(game: Game, level: Level, records: Sequence[Playthrough]) -> str:
    """Explain why there is no map; "" if there is one."""
    if not any(r.positions for r in records):
        return f"There are no maps: {game.title} does not tell where the avatar is."
    return _too_large(game, _ground(level, records))


def _too_large(game: Game, grid: Any) -> str:
    """Explain why a map of so many tiles cannot be drawn; "" if it can."""
    if max(grid.width, grid.height) <= MOST_TILES:
        return ""
    return (
        f"There is no map: {game.title} has places up to row {grid.height}, column {grid.width}, which is more "
        "than can be drawn."
    )


def usual(records: Sequence[Playthrough]) -> Playthrough:
    """Return the first playthrough that took the most frequent way; ties go to the earliest."""
    ways = [(tuple(r.positions), tuple(r.all_positions)) for r in records]
    most = Counter(ways)
    return max(zip(records, ways, strict=True), key=lambda pair: most[pair[1]])[0]


def signs(records: Sequence[Playthrough]) -> frozenset[str]:
    """Return the names of the signs that a player's map has beside visits: route, after, jump, deaths and harm."""
    shown = usual(records)
    after = shown.all_positions[len(shown.positions) - 1 :]
    steps = [
        {max(abs(b[0] - a[0]), abs(b[1] - a[1])) for a, b in pairwise(way)} - {0} for way in (shown.positions, after)
    ]
    drawn = {
        "route": 1 in steps[0],
        "after": 1 in steps[1],
        "jump": any(length > 1 for length in steps[0] | steps[1]),
        "deaths": bool(deaths(records)),
        "harm": bool(_harm(records)),
    }
    return frozenset(name for name, is_drawn in drawn.items() if is_drawn)


def _harm(records: Sequence[Playthrough]) -> dict[Spot, float]:
    """Return the hit points that are lost at each place, on average, where they are worth showing."""
    return {place: points for place, points in damage(records).items() if points >= 0.05}


def annotated(
    game: Game,
    level: Level,
    records: Sequence[Playthrough],
    path: Path | str,
    markers: Sequence[Marker] = (),
    high: float | None = None,
) -> Path | None:
    """Draw the map of one player in one level.

    Args:
        game, level: what was played.
        records: the player's playthroughs.
        path: path of the picture (PNG).
        markers: the findings to mark.
        high: visits of the hottest colour, for comparable maps; the maximum of this map if not given.

    Returns:
        The path, or None if there are no places; the caller reports that (see `skipped`).
    """
    if skipped(game, level, records):
        return None
    grid = _ground(level, records)
    counts = visits(records, int(grid.height), int(grid.width))
    sheet = Sheet(game, level, int(grid.width), int(grid.height), heat(counts, high))
    shown = usual(records)
    sheet.route(shown.positions, shown.all_positions[len(shown.positions) - 1 :])
    for place, count in deaths(records).items():
        sheet.skull(place, count)
    for place, points in _harm(records).items():
        sheet.note(place, f"-{points:.0f}" if points >= 1 and abs(points - round(points)) < 0.05 else f"-{points:.1f}")
    sheet.mark(markers)
    return sheet.save(path)


def plan(game: Game, level: Level, places: Sequence[Spot], path: Path | str) -> Path:
    """Draw a plan on the map of its level: the way, and the number of each step at its end.

    Args:
        game, level: what is planned.
        places: the avatar's places before the first step and after each.
        path: path of the picture (PNG).

    Raises:
        SettingsError: the places are too far apart for a picture.
    """
    grid = ground(level, places)
    if why := _too_large(game, grid):
        raise SettingsError("the plan cannot be drawn", place=Place(str(path)), found=why)
    sheet = Sheet(game, level, int(grid.width), int(grid.height))
    sheet.route(places)
    sheet.number(places)
    return sheet.save(path)


def figure(path: Path, caption: str) -> Figure:
    """Show a map on a page, smaller than its file, to which it links."""
    return Figure(path, caption, round(width_of(path) * SHOWN), enlarge=True)


def heat(counts: NDArray[np.float64], high: float | None = None) -> dict[Spot, tuple[int, int, int, int]]:
    """Return the colours of visited tiles, which stand out from the floor from the first visit on."""
    top = high if high is not None else float(counts.max(initial=0.0))
    found = {}
    for y, x in zip(*np.nonzero(counts > 0), strict=True):
        share = min(1.0, counts[y, x] / top) if top > 0 else 0.0
        red, green, blue = (round(a + (b - a) * share) for a, b in zip(COOL, HOT, strict=True))
        found[int(x), int(y)] = (red, green, blue, 215)
    return found


class Sheet:
    """A level's map with rulers, and what is drawn on it.

    Args:
        game, level: the level to draw.
        width, height: size in tiles.
        tiles: colours of tiles.
    """

    def __init__(
        self,
        game: Game,
        level: Level,
        width: int,
        height: int,
        tiles: Mapping[Spot, tuple[int, int, int, int]] | None = None,
    ) -> None:
        from PIL import Image, ImageDraw

        self.width, self.height = width, height
        self.scale = max(SMALLEST, min(LARGEST, LONGEST // max(width, height)))
        self.margin = max(self.scale * 3 // 4, LETTER * 4 // 3)
        self.picture = Image.new("RGBA", (width * self.scale + self.margin, height * self.scale + self.margin))
        self.picture.paste(board(game, level, width, height, self.scale, tiles or {}), (self.margin, self.margin))
        self.pen = ImageDraw.Draw(self.picture)
        self._marked: Counter[Spot] = Counter()
        self._rulers()

    def _rulers(self) -> None:
        """Draw the numbers of columns along the top and of rows at the left, from 1."""
        every = 1 if self.scale >= 2 * LETTER else 2 if self.scale > LETTER + 4 else 5
        for count, turned in ((self.width, False), (self.height, True)):
            for k in range(count):
                if (k + 1) % every == 0 or k == 0:
                    at = self.margin + (k + 0.5) * self.scale
                    self._text((self.margin / 2, at) if turned else (at, self.margin / 2), str(k + 1), RULER, LETTER)

    def middle(self, place: Spot, dx: float = 0.0, dy: float = 0.0) -> tuple[float, float]:
        """Return the middle of a tile in pixels, moved by dx and dy tiles."""
        return (self.margin + (place[0] + 0.5 + dx) * self.scale, self.margin + (place[1] + 0.5 + dy) * self.scale)

    def _text(self, at: tuple[float, float], text: str, colour: str, size: float, halo: int = 0) -> None:
        self.pen.text(at, text, colour, font=font(size), anchor="mm", stroke_width=halo, stroke_fill=CASING)

    def inside(self, place: Spot) -> bool:
        """Return whether the map has this tile."""
        return 0 <= place[0] < self.width and 0 <= place[1] < self.height

    def route(self, plan: Sequence[Spot], after: Sequence[Spot] = ()) -> None:
        """Draw a line along a plan, and a dashed one along what followed it."""
        self._line(plan, False)
        self._line(after, True)
        if plan and self.inside(plan[0]):
            self._disc(self.middle(plan[0]), self.scale * 0.13, ROUTE)

    def _line(self, places: Sequence[Spot], dashed: bool) -> None:
        wide = max(2, self.scale // 12)
        for a, b in pairwise(places):
            if a == b or not (self.inside(a) and self.inside(b)):
                continue
            (x0, y0), (x1, y1) = self.middle(a), self.middle(b)
            length = max(abs(x1 - x0), abs(y1 - y0)) / self.scale
            if length > 1:  # a jump, such as through a portal
                for k in range(1, round(2 * length)):
                    t = k / (2 * length)
                    self._disc((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t), wide * 0.75, ROUTE, 1)
                continue
            for start, end in ((0.0, 0.4), (0.55, 0.95)) if dashed else ((0.0, 1.0),):
                piece = (x0 + (x1 - x0) * start, y0 + (y1 - y0) * start, x0 + (x1 - x0) * end, y0 + (y1 - y0) * end)
                self.pen.line(piece, CASING, wide + 2)
                self.pen.line(piece, ROUTE, wide)

    def number(self, places: Sequence[Spot]) -> None:
        """Draw the number of each step on its tile, from 1.

        A tile that is visited again shows the last visit. Several steps in a row on one tile, such as throws, show the
        first and the last number.
        """
        stays: dict[Spot, tuple[int, int]] = {}
        for k, place in enumerate(places):
            stays[place] = (stays[place][0] if k and places[k - 1] == place else k, k)
        for place, (first, last) in stays.items():
            if last and self.inside(place):
                text = str(last) if last in (first, 1) else f"{max(1, first)}-{last}"
                self._text(self.middle(place), text, INK, max(12, self.scale * 0.34), halo=2)

    def note(self, place: Spot, text: str, colour: str = DAMAGE, above: bool = False) -> None:
        """Draw a short text along the bottom of a tile, or along its top, so that an object on the tile can be seen."""
        if self.inside(place):
            size = max(18, self.scale * 0.34)
            x, y = self.middle(place, 0, -0.5 if above else 0.5)
            self._text((x, y + size * (0.42 if above else -0.38)), text, colour, size, halo=3)

    def skull(self, place: Spot, count: int) -> None:
        """Mark a tile on which players died, with the number of deaths."""
        if not self.inside(place):
            return
        x, y = self.middle(place, dx=0.08)
        r = max(8.0, self.scale * 0.36)
        self.pen.rounded_rectangle((x - r * 0.55, y, x + r * 0.55, y + r * 0.95), r * 0.2, CASING, INK, 2)
        self.pen.ellipse((x - r, y - r, x + r, y + r * 0.6), CASING, INK, 2)
        self.pen.rectangle((x - r * 0.45, y + r * 0.3, x + r * 0.45, y + r * 0.7), CASING)
        for side in (-1, 1):
            self._disc((x + side * r * 0.4, y - r * 0.15), r * 0.26, INK, 0)
            self.pen.line((x + side * r * 0.22, y + r * 0.55, x + side * r * 0.22, y + r * 0.9), INK, 2)
        if count > 1:
            self.note(place, str(count), INK, above=True)

    def mark(self, markers: Sequence[Marker]) -> None:
        """Draw findings: a frame around each place, and the number at the first ones."""
        for marker in markers:
            self.frame(marker.places, marker.colour)
        for marker in markers:
            for place in list(filter(self.inside, marker.places))[:MOST_MARKERS]:
                corner = self._marked[place]
                self._marked[place] += 1
                dx, dy = ((0.34, -0.34), (-0.34, -0.34), (0.34, 0.34), (-0.34, 0.34))[corner % 4]
                at = self.middle(place, dx, dy)
                radius = max(10.0, self.scale * 0.25)
                self._disc(at, radius, marker.colour)
                self._text(at, str(marker.number), CASING, radius * (1.35 if marker.number < 10 else 1.1))

    def frame(self, places: Iterable[Spot], colour: str, wide: int = 3) -> None:
        """Draw a frame around each tile, `wide` pixels thick."""
        for place in filter(self.inside, places):
            x, y = self.middle(place, -0.5, -0.5)
            self.pen.rectangle((x + 1, y + 1, x + self.scale - 2, y + self.scale - 2), None, colour, wide)

    def _disc(self, at: tuple[float, float], radius: float, colour: str, edge: int = 2) -> None:
        x, y = at
        self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), colour, CASING if edge else None, edge)

    def save(self, path: Path | str) -> Path:
        """Write the picture."""
        path = Path(path)
        with files.naming(path):
            self.picture.save(path, format="PNG", compress_level=6)
        return path


def board(
    game: Game, level: Level, width: int, height: int, scale: int, tiles: Mapping[Spot, tuple[int, int, int, int]]
) -> Image:
    """Draw the level before the first move, by the game's own drawing or as the characters of its text."""
    draws = getattr(drawing(game), "map_image", None)
    if draws is not None and hasattr(level.facts.get("grid"), "width"):
        drawn: Image = draws(level, scale=scale, tiles=tiles)
        return drawn
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (width * scale, height * scale), FLOOR)
    pen = ImageDraw.Draw(picture, "RGBA")
    lines = level.rows
    rows = lines[-height:] if 0 <= len(lines) - height < HEADER_LINES else []
    rows = rows if max(map(len, rows), default=0) == width else []
    for y in range(height):
        for x in range(width):
            box = (x * scale, y * scale, (x + 1) * scale - 1, (y + 1) * scale - 1)
            pen.rectangle(box, tiles.get((x, y)), "#d3c8b4")
            char = rows[y][x : x + 1] if rows else ""
            if char.strip(" ."):
                pen.text(
                    ((x + 0.5) * scale, (y + 0.5) * scale),
                    char,
                    INK,
                    anchor="mm",
                    font=font(scale * 0.6),
                    stroke_width=2 * ((x, y) in tiles),
                    stroke_fill=CASING,
                )
    return picture
