"""Draws positions (frames of a replay). Pillow is imported only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from persona_evo.games import lettering
from persona_evo.games.catalog.colosseum.board import DOWN, LEFT, RIGHT, UP
from persona_evo.games.catalog.colosseum.levels import ColosseumBoard, board_of, reached
from persona_evo.games.core import State

if TYPE_CHECKING:
    from PIL import Image

    from persona_evo.games.core import Level

SCALE = 32
"""The side of a cell, in pixels."""

PLAYERS = (("blue", "#2f6fd0"), ("red", "#c8442f"))
"""The names and colours of the pieces of players 0 and 1, for legends."""

TINTS = ("#dce8fa", "#fae1dc")
FLOOR, GRID, WALL, INK = "#fbf9f4", "#e4ded2", "#2b3040", "#20242f"


def state_image(level: Level, state: State, *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """Draw a state: players 0 (blue) and 1 (red), whose cells are tinted once they are separated."""
    return board_image(board_of(level, state), scale=scale, caption=caption)


def state_text(level: Level, state: State) -> str:
    """Return a state as text, as in a level file."""
    return board_of(level, state).text


def standing(level: Level, state: State) -> str:
    """Return the number of cells of each player once they are separated; "" before."""
    board = board_of(level, state)
    areas = [reached(board.walls, who) for who in board.players]
    return "" if areas[0] & areas[1] else f"{len(areas[0])} : {len(areas[1])} cells"


def board_image(board: ColosseumBoard, *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """Draw a position, with size * scale pixels a side; a caption is a line of text below it."""
    from PIL import Image, ImageDraw

    n, text = board.size, max(10, min(scale // 2, 16))
    picture = Image.new("RGB", (n * scale, n * scale + (text + 8 if caption else 0)), "#ffffff")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, n * scale - 1, n * scale - 1), FLOOR)
    areas = [reached(board.walls, who) for who in board.players]
    if not areas[0] & areas[1]:
        for area, tint in zip(areas, TINTS, strict=True):
            for r, c in area:
                draw.rectangle((c * scale, r * scale, (c + 1) * scale - 1, (r + 1) * scale - 1), tint)
    for k in range(1, n):
        draw.line((k * scale, 0, k * scale, n * scale - 1), GRID)
        draw.line((0, k * scale, n * scale - 1, k * scale), GRID)
    for (r, c), (_, colour) in zip(board.players, PLAYERS, strict=True):
        gap = max(1, scale // 5)
        draw.ellipse((c * scale + gap, r * scale + gap, (c + 1) * scale - gap, (r + 1) * scale - gap), colour)
    _walls(draw, board, scale)
    if caption:
        draw.text((4, n * scale + 3), caption, INK, font=lettering.font(text))
    return picture


def _walls(draw: Any, board: ColosseumBoard, scale: int) -> None:
    thick, last = max(1, scale // 10), board.size * scale - 1
    for r, line in enumerate(board.walls):
        for c, sides in enumerate(line):
            left, top, right, bottom = c * scale, r * scale, (c + 1) * scale, (r + 1) * scale
            ends = {
                UP: (left, top, right, top),
                RIGHT: (right, top, right, bottom),
                DOWN: (left, bottom, right, bottom),
                LEFT: (left, top, left, bottom),
            }
            for d, (x1, y1, x2, y2) in ends.items():
                if sides >> d & 1:
                    box = (x1 - thick, y1 - thick, x2 + thick - 1, y2 + thick - 1)
                    draw.rectangle(tuple(min(max(v, 0), last) for v in box), WALL)
