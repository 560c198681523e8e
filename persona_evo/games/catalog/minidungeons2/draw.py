"""Pictures of levels, of single states (frames of a replay), and of maps.

| function | draws |
|---|---|
| `image(grid)` | a level as its file has it |
| `state_image(level, state)` | a state: who is where, hit points, what is left |
| `state_text(level, state)` | the same in characters, for terminals |
| `draw_state(grid, objects)` | the same from a list of objects |
| `map_image(level, scale, tiles)` | a loaded level with colours below its objects |

Everything is made of shapes of our own (`shapes`); Pillow is imported when something is drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from persona_evo.games import lettering
from persona_evo.games.catalog.minidungeons2.levels import MONSTERS, WALL, DungeonLevel
from persona_evo.games.catalog.minidungeons2.shapes import INK, JAVELIN, SHAPES, Colour, Pen

if TYPE_CHECKING:
    from PIL import Image

    from persona_evo.games.core import Level, State

SCALE = 32
"""The side of a tile, in pixels."""

SMOOTH = 4
"""The factor by which shapes are drawn larger and then shrunk, which smooths their edges."""

FULL_HP = 10
"""The hit points at which the hero's bar is full."""

WALL_COLOUR, WALL_LIGHT, FLOOR_COLOUR, FLOOR_DARK = "#3a4050", "#4b5265", "#f3ecdf", "#ece3d2"


class Drawn(NamedTuple):
    """An object of a state to draw, at (x, y) from the top left.

    Attributes:
        char: a character of the level's legend, or `JAVELIN`.
        state: the hit points of the hero and of monsters that can die (a blob's level), 0 and less for dead; the turns
            left of a minitaur's knock-out, 0 for awake; 0 for a potion drunk or a treasure opened; unused for others.
    """

    char: str
    x: int
    y: int
    state: int = 1


_LAYERS, _LYING = "eptTPxmjbMRoH+", "eptTP"
"""The order of drawing, from the bottom; and the objects that lie still, below everything that moves."""


@functools.lru_cache(maxsize=512)
def glyph(char: str, state: int = 1, scale: int = SCALE) -> Image.Image:
    """Return an object as a transparent picture of scale x scale pixels (shared: do not draw on it)."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGBA", (scale * SMOOTH, scale * SMOOTH), (0, 0, 0, 0))
    SHAPES[char](Pen(ImageDraw.Draw(picture), scale * SMOOTH), state)
    return picture.resize((scale, scale), Image.Resampling.LANCZOS)


@functools.lru_cache(maxsize=32)
def _board(rows: tuple[str, ...], scale: int) -> Image.Image:
    """Draw walls and floor."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (len(rows[0]) * scale, len(rows) * scale), WALL_COLOUR)
    draw = ImageDraw.Draw(picture)
    lip = max(1, scale // 8)
    for y, row in enumerate(rows):
        for x, char in enumerate(row):
            left, top = x * scale, y * scale
            right, bottom = left + scale - 1, top + scale - 1
            if char != WALL:
                draw.rectangle((left, top, right, bottom), FLOOR_DARK if (x + y) % 2 else FLOOR_COLOUR)
                if y == 0 or rows[y - 1][x] == WALL:
                    draw.rectangle((left, top, right, top + lip - 1), "#d3c8b4")
            elif y + 1 < len(rows) and rows[y + 1][x] != WALL:
                draw.rectangle((left, bottom - lip + 1, right, bottom), WALL_LIGHT)
    return picture


@functools.lru_cache(maxsize=8)
def _ground(
    rows: tuple[str, ...], tiles: tuple[tuple[tuple[int, int], Colour], ...], lying: tuple[Drawn, ...], scale: int
) -> Image.Image:
    """Draw walls, floor, colours and what lies on them, which many frames of a replay share."""
    from PIL import Image

    picture = _board(rows, scale).copy()
    for (x, y), colour in tiles:
        tint = Image.new("RGBA", (scale, scale), colour)
        picture.paste(tint, (x * scale, y * scale), tint)
    for item in lying:
        shape = glyph(item.char, item.state, scale)
        picture.paste(shape, (item.x * scale, item.y * scale), shape)
    return picture


def start_objects(grid: DungeonLevel) -> list[Drawn]:
    """Return the objects of a level before the first move, the hero first."""
    states = {"H": FULL_HP, "o": 2, "m": 0}
    return [Drawn("H", *grid.hero, FULL_HP), *(Drawn(c, x, y, states.get(c, 1)) for c, x, y in grid.objects)]


def image(
    grid: DungeonLevel, tiles: Mapping[tuple[int, int], Colour] | None = None, scale: int = SCALE, objects: bool = True
) -> Image.Image:
    """Draw a level as its file describes it.

    Args:
        grid: the level.
        tiles: colours laid over tiles, below the objects; an alpha value makes them transparent.
        scale: the side of a tile in pixels.
        objects: whether to draw the objects, or only walls and floor.
    """
    return draw_state(grid, start_objects(grid) if objects else [], tiles=tiles, scale=scale, bar=False)


def draw_state(
    grid: DungeonLevel,
    objects: Iterable[Drawn | tuple[str, int, int, int]],
    *,
    tiles: Mapping[tuple[int, int], Colour] | None = None,
    scale: int = SCALE,
    bar: bool = True,
    caption: str = "",
) -> Image.Image:
    """Draw a state as a frame of a replay.

    Args:
        grid: the walls and the floor; its objects are ignored.
        objects: what to draw (see `Drawn`). A javelin among them lies on the floor; if there is none, the hero holds
            it.
        tiles: colours laid over tiles.
        scale: the side of a tile in pixels.
        bar: whether to show the hero's hit points above the hero.
        caption: a line of text below the board.
    """
    shown = sorted((_look(Drawn(*item)) for item in objects), key=lambda item: _LAYERS.index(item.char))
    lying = tuple(item for item in shown if item.char in _LYING)
    armed = int(all(item.char != JAVELIN for item in shown))
    picture = _ground(grid.rows, tuple((tiles or {}).items()), lying, scale).copy()
    for item in shown[len(lying) :]:
        shape = glyph(item.char, armed if item.char == "H" else item.state, scale)
        picture.paste(shape, (item.x * scale, item.y * scale), shape)
        if item.char == "H" and bar:
            _bar(picture, item, scale)
    return _captioned(picture, caption, scale) if caption else picture


def _look(item: Drawn) -> Drawn:
    """Return the object as it is drawn; dead monsters become their remains."""
    if item.state > 0 or item.char == "m":
        return item
    return item._replace(char="x") if item.char in MONSTERS else item._replace(char="+") if item.char == "H" else item


def _bar(picture: Image.Image, hero: Drawn, scale: int) -> None:
    """Draw the hit points above the hero: green, yellow or red, with a gold end for those beyond the full bar."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    height = max(3, scale // 6)
    left, top = hero.x * scale + 1, hero.y * scale - height // 2
    top = max(top, 0)
    width = scale - 3
    share = min(max(hero.state / FULL_HP, 0.0), 1.0)
    colour = "#43b04a" if share > 0.5 else "#e8b020" if share > 0.25 else "#d8323c"
    draw.rectangle((left, top, left + width, top + height), INK)
    if share > 0:
        draw.rectangle((left + 1, top + 1, left + max(1, round(share * (width - 1))), top + height - 1), colour)
    if hero.state > FULL_HP:
        draw.rectangle((left + width - scale // 5, top + 1, left + width - 1, top + height - 1), "#ffd84d")


def _captioned(picture: Image.Image, caption: str, scale: int) -> Image.Image:
    from PIL import Image, ImageDraw

    size = max(10, min(scale // 2, 16))
    strip = size + 8
    whole = Image.new("RGB", (picture.width, picture.height + strip), "#ffffff")
    whole.paste(picture, (0, 0))
    lettering.write(ImageDraw.Draw(whole), (4, picture.height + 3), caption, size, picture.width - 8, INK)
    return whole


def objects_of(level: Level, state: State) -> list[Drawn]:
    """Return the objects of a state, the hero first (reads the rows described in `tables`)."""
    from persona_evo.games.catalog.minidungeons2 import tables as t

    grid: DungeonLevel = level.facts["grid"]
    tile_count, words = int(level.tables[t.TILES]), int(level.tables[t.WORDS])

    def place(tile: int) -> tuple[int, int]:
        return int(level.tables[t.HEADER + tile]), int(level.tables[t.HEADER + tile_count + tile])

    found = [Drawn("H", *place(int(state[t.HERO_AT])), int(state[t.HP_AT]) - t.HP_BIAS)]
    lying = [(c, p) for c in "PT" for p in grid.positions(c)]
    for k, (char, at) in enumerate(lying):
        found.append(Drawn(char, *at, int(state[t.THINGS_AT + (k >> 4)]) >> (k & 15) & 1))
    found.extend(Drawn(c, x, y) for c, x, y in grid.objects if c in "tpe")
    monsters = [c for c, _, _ in grid.objects if c in MONSTERS]
    places = t.THINGS_AT + words
    for k, char in enumerate(monsters):
        at = place(int(state[places + k]))
        found.append(Drawn(char, *at, int(state[places + len(monsters) + k])))
    if int(state[t.JAVELIN_AT]) != t.NOWHERE:
        found.append(Drawn(JAVELIN, *place(int(state[t.JAVELIN_AT]))))
    return found


def state_image(level: Level, state: State, *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """Draw one state of a loaded level, as a frame of a replay."""
    return draw_state(level.facts["grid"], objects_of(level, state), scale=scale, caption=caption)


def map_image(level: Level, *, scale: int = SCALE, tiles: Mapping[tuple[int, int], Colour]) -> Image.Image:
    """Draw a loaded level before the first move, with colours over its tiles and below its objects."""
    return image(level.facts["grid"], tiles, scale)


def state_text(level: Level, state: State) -> str:
    """Return a state in the level's own characters; x is a slain monster, + a dead hero, J a javelin on the floor."""
    grid: DungeonLevel = level.facts["grid"]
    rows = [list(row) for row in grid.rows]
    for x, y in ((x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c != WALL):
        rows[y][x] = " "
    for item in sorted(map(_look, objects_of(level, state)), key=lambda item: _LAYERS.index(item.char)):
        if item.state > 0 or item.char in "m+x":
            rows[item.y][item.x] = "J" if item.char == JAVELIN else item.char
    return "\n".join("".join(row) for row in rows)
