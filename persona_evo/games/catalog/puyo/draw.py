"""Draws Puyo-Puyo: a state as a frame of a replay, and what a drop sets off. The shapes are original."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from persona_evo.games import lettering
from persona_evo.games.catalog.puyo import links
from persona_evo.games.catalog.puyo import tables as t

if TYPE_CHECKING:
    from PIL import Image

    from persona_evo.games.core import Level, State

SCALE = 24
"""The side of a cell, in pixels."""

SMOOTH = 4
"""Puyos are drawn this many times larger and then shrunk, which smooths their edges."""

FILL = ("", "#d8434e", "#e6b422", "#3f9f57", "#3f74c8", "#8e5bb5", "#8b9099")
"""By number of the colour: red, yellow, green, blue, purple, garbage. Eyes and marks tell them apart, too."""

SHEET, WELL, GHOST, LINE, INK, GLOW = "#ffffff", "#20262e", "#2c343e", "#39424d", "#1e2227", "#fff3b0"

PLACED_MS, POP_MS, FALL_MS = 180, 260, 160
"""The milliseconds that frames of a replay are shown: the pair placed, groups that pop, the field after the fall."""


@functools.lru_cache(maxsize=64)
def puyo(colour: int, scale: int = SCALE) -> Image.Image:
    """Return a puyo as a transparent picture of scale x scale pixels (shared: do not draw on it)."""
    from PIL import Image, ImageDraw

    size = scale * SMOOTH
    picture = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    edge = size // 16
    pen.ellipse((edge, edge + size // 16, size - edge, size - edge), FILL[colour], INK, max(1, size // 24))
    if colour == t.GARBAGE:
        pen.line((size * 0.3, size * 0.4, size * 0.7, size * 0.72), "#5c6169", size // 10)
        pen.line((size * 0.3, size * 0.72, size * 0.7, size * 0.4), "#5c6169", size // 10)
    else:
        for x in (0.34, 0.66):
            _eye(pen, size, x, colour)
    return picture.resize((scale, scale), Image.Resampling.LANCZOS)


def _eye(pen: Any, size: int, x: float, colour: int) -> None:
    """Draw an eye whose pupil looks in a different direction for each colour."""
    r, p = size * 0.13, size * 0.065
    cx, cy = size * x, size * 0.47
    pen.ellipse((cx - r, cy - r, cx + r, cy + r), "#ffffff")
    dx, dy = ((0, 0), (0, -1), (1, 0), (0, 1), (-1, 0), (0, 0))[colour]
    cx, cy = cx + dx * r * 0.5, cy + dy * r * 0.5
    pen.ellipse((cx - p, cy - p, cx + p, cy + p), INK)


def pairs_in_sight(level: Level, state: State) -> list[int]:
    """Return the pairs that a player sees, axis + 8 * child, the falling one first."""
    visible, dropped = int(level.tables[t.VISIBLE]), int(state[t.DROPPED])
    if level.tables[t.HIDDEN]:
        return [int(p) for p in state[t.QUEUE :]]
    at = t.PAIRS + dropped
    return [int(p) for p in level.tables[at : at + visible]]


def between(
    level: Level, before: State, action: int, after: State, *, scale: int = SCALE, number: int = 0
) -> list[tuple[Image.Image, int]]:
    """Return pictures of a drop that pops something before it has resolved, each with its milliseconds.

    They show the placed pair, then for each link what pops, and the field after the fall.
    """
    was = t.cells(before)
    field = links.placed(was, pairs_in_sight(level, before)[0], action)
    found = links.chain(field)
    if not found:
        return []
    shown, total = after.copy(), t.points(before)
    shown[t.CHAIN] = 0
    pictures = []

    def add(cells: Sequence[Sequence[int]], text: str, ms: int, popping: Collection[links.Cell] = ()) -> None:
        t.fill(shown, ["".join(t.LETTERS[cell] for cell in row) for row in cells])
        shown[t.SCORE_LOW], shown[t.SCORE_HIGH] = total & 0xFFFF, total >> 16
        pictures.append((state_image(level, shown, scale=scale, caption=text, popping=popping), ms))

    add(field, f"drop {number}, {_placement(action)}", PLACED_MS)
    for k, link in enumerate(found, 1):
        text, gone = f"drop {number}, chain {k}, +{link.points:,} points", frozenset().union(link.garbage, *link.groups)
        add(field, text, POP_MS, gone)
        total, field = total + link.points, link.after
        shown[t.CHAIN] = k
        add(field, text, FALL_MS)
    return pictures


def _placement(action: int) -> str:
    return f"{(action >> 2) + 1}{t.SIDES[action & 3]}"


def state_text(level: Level, state: State) -> str:
    """Return the field of a state in letters, the ghost row first."""
    return "\n".join("".join(t.LETTERS[cell] for cell in row) for row in t.cells(state))


def state_image(
    level: Level, state: State, *, scale: int = SCALE, caption: str = "", popping: Collection[links.Cell] = ()
) -> Image.Image:
    """Draw a state: the field, the visible pairs beside it, score and chain below, and a line of text.

    `popping` holds the cells (row, column from the top left) that are about to vanish, which are highlighted.
    """
    from PIL import Image, ImageDraw

    size = max(10, min(scale // 2, 16))
    font, line = lettering.font(size), size + 6
    wide, high = t.COLUMNS * scale, t.ROWS * scale
    picture = Image.new("RGB", (wide + scale * 2, high + 2 * line + 4), SHEET)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, wide - 1, high - 1), WELL)
    pen.rectangle((0, 0, wide - 1, scale - 1), GHOST)
    for x in range(1, t.COLUMNS):
        pen.line((x * scale, 0, x * scale, high - 1), LINE)
    _cross(pen, scale)
    for y, x in popping:
        pen.rectangle((x * scale, y * scale, (x + 1) * scale - 1, (y + 1) * scale - 1), GLOW)
    for y, row in enumerate(t.cells(state)):
        for x, colour in enumerate(row):
            if colour:
                shape = puyo(colour, scale)
                picture.paste(shape, (x * scale, y * scale), shape)
    for k, pair in enumerate(pairs_in_sight(level, state)):
        top = scale // 2 + k * (2 * scale + scale // 2)
        if top + 2 * scale > high:
            break
        for y, colour in enumerate((pair >> 3, pair & 7)):
            shape = puyo(colour, scale)
            picture.paste(shape, (wide + scale // 2, top + y * scale), shape)
    chain = int(state[t.CHAIN])
    text = f"{t.points(state):,}" + (f"  chain {chain}" if chain > 1 else "")
    pen.text((4, high + 3), text, INK, font=font)
    pen.text((4, high + 3 + line), lettering.fitted(pen, caption, size, picture.width - 8), INK, font=font)
    return picture


def _cross(pen: Any, scale: int) -> None:
    """Draw the cross where the game is lost: row 12 of the third column."""
    left, top, gap = t.THIRD * scale, scale, scale // 4
    box = (left + gap, top + gap, left + scale - gap, top + scale - gap)
    pen.line(box, "#a33c44", 2)
    pen.line((box[0], box[3], box[2], box[1]), "#a33c44", 2)
