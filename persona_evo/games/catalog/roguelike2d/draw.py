"""Draws single states (frames of a replay), and the board for maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from persona_evo.games import lettering
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.catalog.roguelike2d import rules as r
from persona_evo.games.catalog.roguelike2d.moves import place

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

    from persona_evo.games.core import Level, State

SCALE = 32
"""The side of a cell, in pixels."""

INK, OUTER, FLOOR, FLOOR_DARK = "#2b2b33", "#3a4050", "#f3ecdf", "#ece3d2"
WALL, CRACKED, EXIT_COLOUR, PLAYER_COLOUR, DEAD_COLOUR = "#8b7a63", "#c2b39a", "#2e8b57", "#2f6fd0", "#9a9aa2"
ITEM_COLOURS, ENEMY_COLOURS = ("#43b04a", "#e8b020"), ("#d8643c", "#8a3ca8")


def state_image(level: Level, state: State, *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """Draw a state: the board with its ring of outer walls, food and day below it, and the caption.

    Inner walls lose a stripe with every bump. Food is a green disc, Soda a yellow can; enemies of the first kind are
    orange, those of the second purple.
    """
    from PIL import Image, ImageDraw

    side = (layout.SIDE + 2) * scale
    size = max(12, min(scale // 2, 16))
    strip = 2 * (size + 6) if caption else size + 6
    picture = Image.new("RGB", (side, side + strip), "#ffffff")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, side - 1, side - 1), OUTER)
    for cell in range(layout.CELLS):
        _cell(draw, level, state, cell, scale)
    _player(draw, state, scale)
    words = f"day {int(state[r.DAY_AT])} of {int(level.tables[layout.DAYS])}   food {int(state[r.FOOD_AT])}"
    _line(draw, words, side, 0, size)
    if caption:
        _line(draw, caption, side, 1, size)
    return picture


def state_text(level: Level, state: State) -> str:
    """Return a state as text: @ player (x if dead), # walls, F Food, S Soda, A and B enemies of both kinds, E exit."""
    block = int(r.today(level.tables, state))
    rows = [["."] * layout.SIDE for _ in range(layout.SIDE)]

    def put(cell: int, char: str) -> None:
        x, y = place(cell)
        rows[y][x] = char

    put(layout.EXIT, "E")
    for cell in range(layout.CELLS):
        lies = int(level.tables[block + layout.BOARD + cell]) - layout.ITEM
        if int(r.bumps_left(level.tables, state, cell)):
            put(cell, "#")
        elif lies >= 0 and int(state[r.ITEMS_AT]) >> lies & 1:
            put(cell, "FS"[int(level.tables[block + layout.ITEM_KINDS + lies])])
    for k in range(int(level.tables[block + layout.ENEMIES])):
        if int(state[r.ENEMIES_AT + k]) < layout.CELLS:
            put(int(state[r.ENEMIES_AT + k]), "AB"[int(level.tables[block + layout.ENEMY_KINDS + k])])
    put(int(state[r.CELL_AT]), "x" if int(state[r.FLAGS_AT]) == r.IS_DEAD else "@")
    return "\n".join("".join(row) for row in rows)


def _box(cell: int, scale: int, share: float = 1.0) -> tuple[float, float, float, float]:
    """Return the square of a cell, or a part around its middle, in pixels."""
    x, y = place(cell)
    gap = scale * (1 - share) / 2
    left, top = (x + 1) * scale + gap, (y + 1) * scale + gap
    return left, top, left + scale * share - 1, top + scale * share - 1


def _cell(draw: ImageDraw.ImageDraw, level: Level, state: State, cell: int, scale: int) -> None:
    """Draw the floor of a cell and what is on it, except the player."""
    block = int(r.today(level.tables, state))
    draw.rectangle(_box(cell, scale), FLOOR_DARK if sum(place(cell)) % 2 else FLOOR)
    if cell == layout.EXIT:
        draw.rectangle(_box(cell, scale, 0.8), EXIT_COLOUR, INK)
    left = int(r.bumps_left(level.tables, state, cell))
    if left:
        _wall(draw, cell, left, scale)
    lies = int(level.tables[block + layout.BOARD + cell]) - layout.ITEM
    if lies >= 0 and int(state[r.ITEMS_AT]) >> lies & 1:
        kind = int(level.tables[block + layout.ITEM_KINDS + lies])
        shape = draw.rectangle if kind else draw.ellipse
        shape(_box(cell, scale, 0.45), ITEM_COLOURS[kind], INK)
    for k in range(int(level.tables[block + layout.ENEMIES])):
        if int(state[r.ENEMIES_AT + k]) == cell:
            kind = int(level.tables[block + layout.ENEMY_KINDS + k])
            x0, y0, x1, y1 = _box(cell, scale, 0.8)
            draw.polygon([(x0, y1), ((x0 + x1) / 2, y0), (x1, y1)], ENEMY_COLOURS[kind], INK)


def _wall(draw: ImageDraw.ImageDraw, cell: int, left: int, scale: int) -> None:
    """Draw a wall with a stripe for each bump that it can still take."""
    x0, y0, x1, y1 = _box(cell, scale)
    draw.rectangle((x0, y0, x1, y1), CRACKED, INK)
    high = (y1 - y0) / layout.WALL_HITS
    for k in range(left):
        draw.rectangle((x0 + 1, y1 - (k + 1) * high + 1, x1 - 1, y1 - k * high - 1), WALL)


def _player(draw: ImageDraw.ImageDraw, state: State, scale: int) -> None:
    dead = int(state[r.FLAGS_AT]) == r.IS_DEAD
    cell = int(state[r.CELL_AT])
    draw.ellipse(_box(cell, scale, 0.7), DEAD_COLOUR if dead else PLAYER_COLOUR, INK)
    if dead:
        x0, y0, x1, y1 = _box(cell, scale, 0.4)
        draw.line((x0, y0, x1, y1), INK, max(1, scale // 12))
        draw.line((x0, y1, x1, y0), INK, max(1, scale // 12))


def _line(draw: ImageDraw.ImageDraw, text: str, side: int, number: int, size: int) -> None:
    """Draw a line of text below the board, cut to its width."""
    lettering.write(draw, (4, side + 2 + number * (size + 6)), text, size, side - 8, INK)


def map_image(
    level: Level, *, scale: int = SCALE, tiles: Mapping[tuple[int, int], tuple[int, int, int, int]]
) -> Image.Image:
    """Draw the board with start and exit framed, and colours over the cells where players walked on any day.

    The objects on the board differ from day to day, so they are not drawn. All levels have the same board.
    """
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (layout.SIDE * scale, layout.SIDE * scale), FLOOR)
    draw = ImageDraw.Draw(picture, "RGBA")
    for x, y in map(place, range(layout.CELLS)):
        box = (x * scale, y * scale, (x + 1) * scale - 1, (y + 1) * scale - 1)
        draw.rectangle(box, FLOOR_DARK if (x + y) % 2 else FLOOR)
        if (x, y) in tiles:
            draw.rectangle(box, tiles[x, y])
    for cell, colour in ((layout.START, PLAYER_COLOUR), (layout.EXIT, EXIT_COLOUR)):
        x, y = place(cell)
        draw.rectangle((x * scale, y * scale, (x + 1) * scale - 1, (y + 1) * scale - 1), None, colour, scale // 12)
    return picture
