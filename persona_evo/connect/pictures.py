"""Pictures that a game draws of itself: the frame PICTURE, and PNG files in the form that it carries.

A picture comes from outside. It is checked here as far as the file format allows without decoding it, and its size is
limited before anything decodes it.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from persona_evo.connect import protocol as p
from persona_evo.errors import ProtocolError

MOST_BYTES = 2**20
"""The largest size of a picture's file, in bytes."""

MOST_SIDE = 2048
"""The largest width and height of a picture, in pixels."""

HEAD = struct.Struct("<QI")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class GamePicture(NamedTuple):
    """The content of a PICTURE frame.

    Attributes:
        id: the id of the ROLLOUT that is being played.
        depth: the number of decisions made so far.
        png: the picture as a PNG file.
    """

    id: int
    depth: int
    png: bytes


def encode_picture(picture: GamePicture) -> bytes:
    """Return a PICTURE frame.

    Raises:
        ProtocolError: it is no PNG file, or too large.
    """
    size_of_png(picture.png)
    return p.frame(p.Kind.PICTURE, HEAD.pack(picture.id, picture.depth) + picture.png)


def decode_picture(payload: bytes) -> GamePicture:
    """Decode the payload of PICTURE.

    Raises:
        ProtocolError: it violates PROTOCOL.md.
    """
    if len(payload) < HEAD.size:
        raise ProtocolError("PICTURE is too short", found=f"{len(payload)} bytes", expected=f">= {HEAD.size}")
    id_, depth = HEAD.unpack_from(payload)
    picture = GamePicture(id_, depth, payload[HEAD.size :])
    size_of_png(picture.png)
    return picture


def size_of_png(data: bytes) -> tuple[int, int]:
    """Return width and height of a PNG file, in pixels.

    Raises:
        ProtocolError: it is larger than allowed, or its chunks are not those of a complete PNG file.
    """
    if len(data) > MOST_BYTES:
        raise ProtocolError("a picture is too large", found=f"{len(data)} bytes", expected=f"at most {MOST_BYTES}")
    if not data.startswith(_SIGNATURE):
        raise ProtocolError("a picture is not a PNG file", found=repr(data[:8]), expected=repr(_SIGNATURE))
    kinds, at = list[bytes](), len(_SIGNATURE)
    while at + 12 <= len(data) and kinds[-1:] != [b"IEND"]:
        size, kind = struct.unpack_from(">I4s", data, at)
        end = at + 8 + size
        if end + 4 > len(data) or zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            break
        kinds.append(kind)
        at = end + 4
    if kinds[:1] != [b"IHDR"] or kinds[-1] != b"IEND" or b"IDAT" not in kinds or at != len(data):
        raise ProtocolError("a picture is a damaged PNG file", found=f"{at} of {len(data)} bytes can be read")
    width, height = struct.unpack_from(">II", data, len(_SIGNATURE) + 8)
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
        raise ProtocolError(
            "a picture has too many pixels, or none",
            found=f"{width} x {height}",
            expected=f"at most {MOST_SIDE} x {MOST_SIDE}",
        )
    return width, height


def png(width: int, height: int, rgb: bytes) -> bytes:
    """Return a PNG file, so that a game needs no other library for its pictures.

    Args:
        width, height: the size in pixels, 1 to 2048 each.
        rgb: red, green and blue of each pixel, one byte each, row by row from the top left.

    Raises:
        ValueError: there are not three bytes for each pixel.
    """
    if len(rgb) != 3 * width * height:
        raise ValueError(f"{len(rgb)} bytes for {width} x {height} pixels; three for each are needed")
    rows = b"".join(b"\0" + rgb[i : i + 3 * width] for i in range(0, len(rgb), 3 * width))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
