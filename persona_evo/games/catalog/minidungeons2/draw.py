"""Pictures of levels, of single states (frames of a replay), and heatmaps.

| function | draws |
|---|---|
| `image(grid)` | a level as its file has it |
| `state_image(level, state)` | a state: who is where, hit points, what is left |
| `draw_state(grid, objects)` | the same from a list of objects |
| `heatmap(ax, grid, counts)` | where personas walked, in matplotlib axes |

Everything is made of shapes drawn here (`SHAPES`); Pillow and matplotlib are imported when something is drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_evo.games.catalog.minidungeons2.levels import MONSTERS, WALL, Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from numpy.typing import NDArray
    from PIL import Image

    from persona_evo.games.core import Level

SCALE = 32
"""Pixels of a tile's side."""

SMOOTH = 4
"""Shapes are drawn this many times larger and then shrunk, which smooths their edges."""

FULL_HP = 10
"""Hit points at which the hero's bar is full."""

JAVELIN = "j"
"""Character of a javelin on the floor in lists of `Drawn`."""

Colour = str | tuple[int, int, int] | tuple[int, int, int, int]

WALL_COLOUR, WALL_LIGHT, FLOOR_COLOUR, FLOOR_DARK = "#3a4050", "#4b5265", "#f3ecdf", "#ece3d2"
INK, GREY = "#2b2b33", "#9a9aa2"


class Drawn(NamedTuple):
    """One object of a state to draw, at (x, y) from the top left.

    char: of the level's legend, or `JAVELIN`. state: hit points of the hero and of monsters that can die (a blob's
    level), 0 and less is dead; turns left of a minitaur's knock-out, 0 is awake; 0 for a potion drunk or a treasure
    opened; without meaning for the others.
    """

    char: str
    x: int
    y: int
    state: int = 1


class Pen:
    """Draws in a tile: coordinates from 0 to 1, right and down, on a square of `side` pixels."""

    def __init__(self, side: int) -> None:
        from PIL import Image, ImageDraw

        self.side = side
        self.picture = Image.new("RGBA", (side, side), (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.picture)
        self.edge = max(1, side // 24)

    def at(self, points: Iterable[float]) -> list[float]:
        return [p * (self.side - 1) for p in points]

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour | None, edge: Colour | None = INK) -> None:
        self.draw.ellipse(self.at((x - rx, y - ry, x + rx, y + ry)), fill, edge, self.edge if edge else 0)

    def shape(self, points: Iterable[float], fill: Colour, edge: Colour | None = INK) -> None:
        self.draw.polygon(self.at(points), fill, edge, self.edge if edge else 0)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour | None, edge: Colour | None = INK) -> None:
        self.draw.rounded_rectangle(self.at((x0, y0, x1, y1)), self.side * 0.06, fill, edge, self.edge if edge else 0)

    def line(self, points: Iterable[float], fill: Colour, width: float = 0.07) -> None:
        self.draw.line(self.at(points), fill, max(1, round(width * self.side)), joint="curve")

    def arc(self, x: float, y: float, r: float, start: int, end: int, fill: Colour, width: float = 0.07) -> None:
        self.draw.arc(self.at((x - r, y - r, x + r, y + r)), start, end, fill, max(1, round(width * self.side)))

    def eyes(self, y: float, apart: float = 0.11, size: float = 0.05, fill: Colour = INK) -> None:
        for x in (0.5 - apart, 0.5 + apart):
            self.oval(x, y, size, size, fill, None)


def _hero(pen: Pen, armed: int) -> None:
    pen.oval(0.5, 0.91, 0.26, 0.06, (0, 0, 0, 60), None)
    pen.shape((0.28, 0.9, 0.33, 0.55, 0.67, 0.55, 0.72, 0.9), "#2f6fd0")
    pen.oval(0.5, 0.4, 0.2, 0.2, "#f6cfa6")
    pen.shape((0.27, 0.4, 0.3, 0.2, 0.5, 0.12, 0.7, 0.2, 0.73, 0.4, 0.6, 0.3, 0.4, 0.3), "#2f6fd0")
    pen.eyes(0.43, 0.08, 0.035)
    if armed:
        pen.line((0.83, 0.24, 0.83, 0.92), "#8a5a2b", 0.06)
        pen.shape((0.83, 0.04, 0.92, 0.26, 0.74, 0.26), "#c9d1dc")


def _exit(pen: Pen, _: int) -> None:
    pen.box(0.16, 0.08, 0.84, 0.94, "#2e8b57")
    pen.box(0.27, 0.2, 0.73, 0.94, "#12402a")
    for left, top, colour in ((0.3, 0.78, "#e4f7ec"), (0.42, 0.63, "#a8d8bd"), (0.54, 0.48, "#74b994")):
        pen.draw.rectangle(pen.at((left, top, 0.7, 0.9)), colour)


def _portal(pen: Pen, _: int) -> None:
    pen.oval(0.5, 0.5, 0.42, 0.42, "#6d3fc0")
    pen.oval(0.5, 0.5, 0.31, 0.31, "#b79af0", None)
    pen.oval(0.5, 0.5, 0.2, 0.2, "#40217d", None)
    pen.arc(0.5, 0.5, 0.37, 200, 300, "#e8dcff", 0.05)
    pen.arc(0.5, 0.5, 0.26, 20, 120, "#ffffff", 0.05)


def _trap(pen: Pen, _: int) -> None:
    pen.box(0.1, 0.72, 0.9, 0.9, "#6b5b4b")
    for x in (0.14, 0.39, 0.64):
        pen.shape((x, 0.72, x + 0.11, 0.26, x + 0.22, 0.72), "#c3c9d2")


def _treasure(pen: Pen, there: int) -> None:
    if not there:
        pen.box(0.18, 0.56, 0.82, 0.86, "#d8cdb8", "#b3a78f")
        pen.line((0.2, 0.54, 0.28, 0.3, 0.8, 0.3), "#b3a78f", 0.05)
        return
    pen.oval(0.5, 0.91, 0.36, 0.06, (0, 0, 0, 60), None)
    pen.box(0.14, 0.46, 0.86, 0.88, "#a5652a")
    pen.draw.pieslice(pen.at((0.14, 0.16, 0.86, 0.82)), 180, 360, "#c9822f", INK, pen.edge)
    pen.box(0.14, 0.44, 0.86, 0.55, "#f2c744")
    pen.box(0.42, 0.42, 0.58, 0.66, "#ffe28a")


def _potion(pen: Pen, there: int) -> None:
    if not there:
        return
    pen.oval(0.5, 0.91, 0.24, 0.05, (0, 0, 0, 60), None)
    pen.oval(0.5, 0.64, 0.27, 0.27, "#e0394f")
    pen.box(0.41, 0.18, 0.59, 0.44, "#f7d5da")
    pen.box(0.37, 0.1, 0.63, 0.21, "#8a5a2b")
    pen.oval(0.5, 0.66, 0.22, 0.2, "#e0394f", None)
    pen.oval(0.41, 0.57, 0.06, 0.08, "#ffb3bd", None)


def _goblin(pen: Pen, _: int) -> None:
    pen.shape((0.02, 0.3, 0.34, 0.38, 0.3, 0.62), "#5f9e3a")
    pen.shape((0.98, 0.3, 0.66, 0.38, 0.7, 0.62), "#5f9e3a")
    pen.oval(0.5, 0.54, 0.28, 0.31, "#79bd4b")
    pen.eyes(0.48, 0.11, 0.075, "#fff6c9")
    pen.eyes(0.48, 0.11, 0.035)
    pen.line((0.36, 0.68, 0.64, 0.68), INK, 0.05)
    pen.shape((0.4, 0.68, 0.44, 0.6, 0.48, 0.68), "#ffffff", None)
    pen.shape((0.52, 0.68, 0.56, 0.6, 0.6, 0.68), "#ffffff", None)


def _wizard(pen: Pen, _: int) -> None:
    pen.shape((0.22, 0.93, 0.34, 0.58, 0.66, 0.58, 0.78, 0.93), "#a03fa8")
    pen.oval(0.5, 0.55, 0.21, 0.2, "#79bd4b")
    pen.eyes(0.57, 0.09, 0.04)
    pen.shape((0.16, 0.46, 0.5, 0.02, 0.84, 0.46), "#7c2b8c")
    pen.box(0.12, 0.41, 0.88, 0.49, "#c06ad0")
    pen.line((0.88, 0.52, 0.88, 0.93), "#8a5a2b", 0.05)
    pen.oval(0.88, 0.5, 0.08, 0.08, "#ffe04d")


def _ogre(pen: Pen, hp: int) -> None:
    pen.oval(0.5, 0.56, 0.42, 0.39, "#b98a5e")
    pen.box(0.24, 0.31, 0.76, 0.39, "#6f4a2a", None)
    pen.eyes(0.46, 0.15, 0.055)
    pen.line((0.3, 0.7, 0.7, 0.7), INK, 0.06)
    pen.shape((0.3, 0.72, 0.36, 0.54, 0.42, 0.72), "#ffffff", None)
    pen.shape((0.58, 0.72, 0.64, 0.54, 0.7, 0.72), "#ffffff", None)
    if hp == 1:
        pen.line((0.62, 0.2, 0.72, 0.36, 0.64, 0.42, 0.76, 0.56), "#c0202f", 0.06)


def _blob(pen: Pen, level: int) -> None:
    r = 0.24 + 0.075 * min(max(level, 1), 3)
    top = 0.9 - 1.65 * r
    pen.draw.pieslice(pen.at((0.5 - r, top, 0.5 + r, top + 3.3 * r)), 180, 360, "#2bb3b0", INK, pen.edge)
    pen.oval(0.5 - r * 0.4, top + r * 0.55, r * 0.14, r * 0.2, "#a8ece9", None)
    pen.eyes(0.9 - r * 0.62, r * 0.36, 0.05)
    for k in range(level if level > 1 else 0):
        pen.oval(0.5 + 0.13 * (k - (level - 1) / 2), 0.96 - r * 0.36, 0.045, 0.045, "#ffffff", None)


def _minitaur(pen: Pen, knocked: int) -> None:
    face, muzzle, horn = ("#a9a9b0", "#c9c9cf", "#dcdce0") if knocked else ("#8e2f2f", "#d99a86", "#fff2d0")
    pen.shape((0.06, 0.06, 0.16, 0.36, 0.36, 0.36, 0.22, 0.28), horn)
    pen.shape((0.94, 0.06, 0.84, 0.36, 0.64, 0.36, 0.78, 0.28), horn)
    pen.shape((0.2, 0.32, 0.8, 0.32, 0.72, 0.72, 0.6, 0.92, 0.4, 0.92, 0.28, 0.72), face)
    pen.oval(0.5, 0.77, 0.19, 0.14, muzzle)
    pen.eyes(0.77, 0.08, 0.03)
    if not knocked:
        pen.eyes(0.49, 0.14, 0.07, "#ffd84d")
        pen.eyes(0.49, 0.14, 0.03)
        return
    for x in (0.36, 0.64):
        pen.line((x - 0.07, 0.43, x + 0.07, 0.55), INK, 0.04)
        pen.line((x - 0.07, 0.55, x + 0.07, 0.43), INK, 0.04)
    for k in range(min(knocked, 3)):
        pen.oval(0.34 + 0.16 * k, 0.16, 0.065, 0.065, "#e8a800", None)


def _javelin(pen: Pen, _: int) -> None:
    pen.line((0.12, 0.88, 0.76, 0.24), "#8a5a2b", 0.08)
    pen.shape((0.94, 0.06, 0.86, 0.32, 0.68, 0.14), "#c9d1dc")


def _dead(pen: Pen, _: int) -> None:
    pen.line((0.34, 0.4, 0.66, 0.72), GREY, 0.07)
    pen.line((0.34, 0.72, 0.66, 0.4), GREY, 0.07)


def _grave(pen: Pen, _: int) -> None:
    pen.oval(0.5, 0.92, 0.36, 0.06, (0, 0, 0, 60), None)
    pen.draw.pieslice(pen.at((0.22, 0.1, 0.78, 0.7)), 180, 360, "#dfe3ea", INK, pen.edge)
    pen.draw.rectangle(pen.at((0.22, 0.4, 0.78, 0.92)), "#dfe3ea")
    pen.line((0.22, 0.4, 0.22, 0.92, 0.78, 0.92, 0.78, 0.4), INK, 0.04)
    pen.line((0.5, 0.26, 0.5, 0.78), "#c0202f", 0.1)
    pen.line((0.36, 0.44, 0.64, 0.44), "#c0202f", 0.1)


SHAPES: dict[str, Callable[[Pen, int], None]] = {
    "H": _hero, "e": _exit, "p": _portal, "t": _trap, "T": _treasure, "P": _potion, "M": _goblin, "R": _wizard,
    "o": _ogre, "b": _blob, "m": _minitaur, JAVELIN: _javelin, "x": _dead, "+": _grave,
}  # fmt: skip
"""Character -> how it is drawn, given the pen and the object's state; dead monsters are `x`, a dead hero is `+`."""

_LAYERS = "eptTPxmjbMRoH+"


@functools.lru_cache(maxsize=512)
def glyph(char: str, state: int = 1, scale: int = SCALE) -> Image.Image:
    """One object as a transparent picture of scale x scale pixels (shared: do not draw on it)."""
    from PIL import Image

    pen = Pen(scale * SMOOTH)
    SHAPES[char](pen, state)
    return pen.picture.resize((scale, scale), Image.Resampling.LANCZOS)


@functools.lru_cache(maxsize=32)
def _board(rows: tuple[str, ...], scale: int) -> Image.Image:
    """Walls and floor."""
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


def start_objects(grid: Grid) -> list[Drawn]:
    """The objects of a level before the first move, the hero first."""
    states = {"H": FULL_HP, "o": 2, "m": 0}
    return [Drawn("H", *grid.hero, FULL_HP), *(Drawn(c, x, y, states.get(c, 1)) for c, x, y in grid.objects)]


def image(
    grid: Grid, tiles: Mapping[tuple[int, int], Colour] | None = None, scale: int = SCALE, objects: bool = True
) -> Image.Image:
    """A level as its file has it.

    Args:
        grid: the level.
        tiles: colours laid over tiles (with an alpha value for see-through ones), below the objects.
        scale: pixels of a tile's side.
        objects: draw them, or walls and floor alone.
    """
    return draw_state(grid, start_objects(grid) if objects else [], tiles=tiles, scale=scale, bar=False)


def draw_state(
    grid: Grid,
    objects: Iterable[Drawn | tuple[str, int, int, int]],
    *,
    tiles: Mapping[tuple[int, int], Colour] | None = None,
    scale: int = SCALE,
    bar: bool = True,
    caption: str = "",
) -> Image.Image:
    """One state, as a frame of a replay.

    Args:
        grid: walls and floor; its objects are not looked at.
        objects: what to draw (see `Drawn`). A javelin among them lies on the floor; without one the hero holds it.
        tiles: colours laid over tiles.
        scale: pixels of a tile's side.
        bar: show the hero's hit points above the hero.
        caption: a line of text below the board.
    """
    from PIL import Image

    picture = _board(grid.rows, scale).copy()
    for (x, y), colour in (tiles or {}).items():
        tint = Image.new("RGBA", (scale, scale), colour)
        picture.paste(tint, (x * scale, y * scale), tint)
    shown = [_look(Drawn(*item)) for item in objects]
    armed = int(all(item.char != JAVELIN for item in shown))
    for item in sorted(shown, key=lambda item: _LAYERS.index(item.char)):
        shape = glyph(item.char, armed if item.char == "H" else item.state, scale)
        picture.paste(shape, (item.x * scale, item.y * scale), shape)
        if item.char == "H" and bar:
            _bar(picture, item, scale)
    return _captioned(picture, caption, scale) if caption else picture


def _look(item: Drawn) -> Drawn:
    """The object as it is drawn: the dead become what is left of them."""
    if item.state > 0 or item.char == "m":
        return item
    return item._replace(char="x") if item.char in MONSTERS else item._replace(char="+") if item.char == "H" else item


def _bar(picture: Image.Image, hero: Drawn, scale: int) -> None:
    """Hit points above the hero: green, yellow, red; a gold end for those beyond the full bar."""
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
    from PIL import Image, ImageDraw, ImageFont

    size = max(10, min(scale // 2, 16))
    font = ImageFont.load_default(size)
    strip = size + 8
    whole = Image.new("RGB", (picture.width, picture.height + strip), "#ffffff")
    whole.paste(picture, (0, 0))
    draw = ImageDraw.Draw(whole)
    while caption and draw.textlength(caption, font=font) > picture.width - 8:
        caption = caption[:-2].rstrip() + "…" if len(caption) > 2 else ""
    draw.text((4, picture.height + 3), caption, INK, font=font)
    return whole


def objects_of(level: Level, state: NDArray[Any]) -> list[Drawn]:
    """What stands and lies in a state, the hero first (reads the rows described in `tables`)."""
    from persona_evo.games.catalog.minidungeons2 import tables as t

    grid: Grid = level.facts["grid"]
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


def state_image(level: Level, state: NDArray[Any], *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """One state of a loaded level, as a frame of a replay."""
    return draw_state(level.facts["grid"], objects_of(level, state), scale=scale, caption=caption)


def heatmap(
    ax: Axes,
    grid: Grid,
    counts: NDArray[Any],
    title: str = "",
    *,
    colours: str = "YlOrRd",
    high: float | None = None,
    scale: int = SCALE,
) -> AxesImage:
    """Where heroes walked, after the paper's figure 5: dark walls, heat on the floor, objects over it.

    Args:
        ax: where to draw.
        grid: the level.
        counts: [height, width], how often each tile was stood on (or a mean); 0 and nan stay uncoloured.
        title: above the picture.
        colours: a matplotlib colour map.
        high: the count of the darkest colour; the largest of `counts` if not given. Share it between pictures that
            are to be compared.
        scale: pixels of a tile's side.

    Returns:
        The layer of heat, for a colour bar.

    Raises:
        ValueError: counts has another shape than the level.
    """
    import numpy as np
    from matplotlib.patches import Rectangle

    counts = np.asarray(counts, dtype=float)
    if counts.shape != (grid.height, grid.width):
        raise ValueError(f"counts must be [height, width] = {(grid.height, grid.width)}, got {counts.shape}")
    board = np.asarray(_board(grid.rows, scale))
    extent = (-0.5, grid.width - 0.5, grid.height - 0.5, -0.5)
    ax.imshow(board, extent=extent, interpolation="nearest")
    top = high if high is not None else float(np.nanmax(counts, initial=0.0))
    heat = ax.imshow(
        np.ma.masked_where(~(counts > 0), counts),
        extent=extent,
        cmap=colours,
        vmin=0,
        vmax=top if top > 0 else 1.0,
        alpha=0.85,
        interpolation="nearest",
    )
    ax.imshow(_glyph_layer(grid, scale), extent=extent, interpolation="antialiased")
    for (x, y), colour in ((grid.hero, "#2f6fd0"), (grid.exit, "#2e8b57")):
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=2))
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    if title:
        ax.set_title(title, fontsize=10)
    return heat


def _glyph_layer(grid: Grid, scale: int) -> NDArray[Any]:
    """All objects of the level on a transparent board, a little smaller than their tiles: [rows, columns, RGBA]."""
    import numpy as np
    from PIL import Image

    layer = Image.new("RGBA", (grid.width * scale, grid.height * scale), (0, 0, 0, 0))
    small = max(4, round(scale * 0.8))
    gap = (scale - small) // 2
    for item in start_objects(grid):
        shape = glyph(item.char, item.state, small)
        layer.paste(shape, (item.x * scale + gap, item.y * scale + gap), shape)
    return np.asarray(layer)
