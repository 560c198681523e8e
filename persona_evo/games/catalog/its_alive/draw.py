"""Draws single states (frames of a replay): the field, what lives on it, and the upcoming pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_evo.games import lettering
from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.catalog.its_alive import rules as r

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

    from persona_evo.games.core import Level, State

SCALE = 40
"""The side of a cell, in pixels."""
AHEAD = 3
"""The number of upcoming pieces that are shown."""

INK, GROUND, GLOW, PAPER = "#2b2b33", "#e9e5da", "#ffd84d", "#ffffff"
COLOURS = ("#d8504a", "#4aa35a", "#4a7ad8")
_ENDS = {layout.NORTH: (0.5, 0.0), layout.EAST: (1.0, 0.5), layout.SOUTH: (0.5, 1.0), layout.WEST: (0.0, 0.5)}

WIDE = 14
"""The width of a picture in letters' heights from which points and monsters are on one line."""


def state_image(level: Level, state: State, *, scale: int = SCALE, caption: str = "") -> Image.Image:
    """Draw a state: the field, the next pieces beside it, points and monsters below it, and the caption.

    A piece is a disc of its colour with an arm on each side on which it joins; heads have eyes, hearts a heart.
    Monsters that are alive stand on yellow.
    """
    from PIL import Image, ImageDraw

    width, height, win = (int(level.tables[k]) for k in (layout.WIDTH, layout.HEIGHT, layout.WIN))
    size = max(12, min(scale // 3, 14))
    across, down = (width + 2) * scale, max(height, AHEAD) * scale
    words = [f"{int(state[r.POINTS_AT])} points", f"{int(state[r.COLLECTED_AT])}/{win} monsters"]
    words = [", ".join(words)] if across >= WIDE * size else words
    lines = [*words, *([caption] if caption else [])]
    strip = len(lines) * (size + 6)
    picture = Image.new("RGB", (across, down + strip), PAPER)
    draw = ImageDraw.Draw(picture)
    groups = r.FIELD_AT + width * height
    for cell in range(width * height):
        at = (cell % width * scale, (height - 1 - cell // width) * scale)
        piece = int(state[r.FIELD_AT + cell])
        lives = piece and int(r.census(level.tables, state, int(state[groups + cell]))) >> 20
        edge = (at[0], at[1], at[0] + scale - 1, at[1] + scale - 1)
        draw.rectangle(edge, GLOW if lives else GROUND, "#cfc8b8")
        if piece:
            _piece(draw, (piece - 1) >> 2, int(r.connectors(level.tables, piece)), at, scale)
    for k in range(AHEAD):
        next_at = layout.PIECES + int(state[r.NEXT_AT]) + k
        if next_at < layout.PIECES + width * height * win:
            kind = int(level.tables[next_at])
            at = (width * scale + scale // 2, k * scale)
            _piece(draw, kind, layout.CONNECTORS[kind % len(layout.SHAPES)], at, scale)
    for number, text in enumerate(lines):
        lettering.write(draw, (4, down + 2 + number * (size + 6)), text, size, across - 8, INK)
    return picture


def _piece(draw: ImageDraw.ImageDraw, kind: int, mask: int, at: tuple[int, int], scale: int) -> None:
    """Draw one piece in the square of a cell."""
    colour, shape = COLOURS[kind // len(layout.SHAPES)], layout.SHAPES[kind % len(layout.SHAPES)]

    def spot(x: float, y: float) -> tuple[float, float]:
        return at[0] + x * (scale - 1), at[1] + y * (scale - 1)

    for side, end in _ENDS.items():
        if mask & side:
            draw.line([spot(0.5, 0.5), spot(*end)], colour, max(2, scale // 4))
    radius = 0.36 if shape in ("head", "heart") else 0.24
    draw.ellipse([*spot(0.5 - radius, 0.5 - radius), *spot(0.5 + radius, 0.5 + radius)], colour, INK)
    if shape == "head":
        for x in (0.38, 0.62):
            draw.ellipse([*spot(x - 0.09, 0.36), *spot(x + 0.09, 0.54)], PAPER, INK)
            draw.ellipse([*spot(x - 0.03, 0.43), *spot(x + 0.03, 0.5)], INK)
    if shape == "heart":
        for x in (0.41, 0.59):
            draw.ellipse([*spot(x - 0.11, 0.32), *spot(x + 0.11, 0.54)], PAPER)
        draw.polygon([spot(0.31, 0.47), spot(0.69, 0.47), spot(0.5, 0.72)], PAPER)
