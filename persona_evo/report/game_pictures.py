"""Decodes the pictures that a connected game sends, and makes those of film strips from them.

The files come from outside. `connect.pictures` has checked their chunks and sizes; what these hold is decoded here.
"""

from __future__ import annotations

import io
import struct
import zlib

from persona_evo.errors import ProtocolError
from persona_evo.games.outside import Shot
from persona_evo.words import counted

SMALLEST, LARGEST = 160, 320
"""Length in pixels of a picture's longer side: smaller pictures are enlarged, larger ones are reduced."""

COLOURS = 256
"""Number of colours of a picture."""

_UNREADABLE = (
    *(OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError, MemoryError),
    *(struct.error, zlib.error),
)
"""The exceptions that decoding a damaged picture raises."""


def strip_picture(shot: Shot) -> bytes:
    """Return a picture of the game as a new PNG file in the size of the strip; the game's file is decoded here.

    Raises:
        ProtocolError: the file cannot be decoded.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(shot.png), formats=("PNG",)) as opened:
            image = opened.convert("RGB")
    except _UNREADABLE as e:
        raise ProtocolError(
            f"the game's picture after {counted(shot.depth, 'decision')} cannot be decoded",
            found="not a picture that can be read",
        ) from e
    image.thumbnail((LARGEST, LARGEST))
    factor = SMALLEST // max(image.size)
    if factor > 1:
        image = image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    stream = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, format="PNG", optimize=True)
    return stream.getvalue()
