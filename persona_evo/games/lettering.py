"""Texts in the pictures of games and maps, in Pillow's own font."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


@functools.cache
def font(size: float) -> Any:
    """Return the font, which takes longer to load than a frame of a replay takes to draw."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def fitted(pen: ImageDraw, text: str, size: float, width: float) -> str:
    """Return a text cut to a width in pixels."""
    while text and pen.textlength(text, font=font(size)) > width:
        text = text[:-2].rstrip() + "…" if len(text) > 2 else ""
    return text


def write(pen: ImageDraw, at: tuple[float, float], text: str, size: float, width: float, colour: str) -> None:
    """Write a line whose top left is at a place, cut to so many pixels."""
    pen.text(at, fitted(pen, text, size, width), colour, font=font(size))
