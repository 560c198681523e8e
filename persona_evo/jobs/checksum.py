"""Checksums of JSON objects: the CRC-32 of an object's text, written as its last key.

A line or a file with a checksum is still JSON. Text without a checksum is accepted, because earlier versions wrote none
and because people edit files.
"""

from __future__ import annotations

import re
import zlib

from persona_evo.errors import InputError, Place

KEY = "crc"
"""The key under which the checksum of an object is written."""

_TAIL = re.compile(rf'"{KEY}"\s*:\s*"([0-9a-f]{{8}})"\s*\}}\s*\Z')
_OTHER = re.compile(r',\s*"[^"]*"\s*:\s*"([0-9a-f]{8})"\s*\}\s*\Z')
"""A last key that is not KEY, but whose value could be a checksum."""
_LONGEST = 80
"""Characters from the start of the key to the end of the text, at most."""


def sealed(text: str) -> str:
    """The text of a JSON object with its checksum; a checksum that it has already is replaced.

    Args:
        text: an object with at least one key, on one line or indented.
    """
    body, _ = split(text)
    lines = "\n" in body
    before, after = (",\n  ", "\n}") if lines else (",", "}")
    end = "\n" if text.endswith("\n") else ""
    space = " " if lines else ""
    return f'{body}{before}"{KEY}":{space}"{_crc(body)}"{after}{end}'


def split(text: str) -> tuple[str, str | None]:
    """An object's text without its checksum and its closing brace, and the checksum.

    The checksum is None where there is none, and "" where it or its key is damaged.
    """
    start = max(0, len(text) - _LONGEST)
    at = text.rfind(f'"{KEY}"', start)
    if at < 0:
        other = _OTHER.search(text, start)
        if other is not None and _crc(text[: other.start()]) == other.group(1):
            return text[: other.start()], ""  # the name of the key was damaged
        return text.rstrip().removesuffix("}").rstrip(), None
    found = _TAIL.match(text, at)
    return text[:at].rstrip().removesuffix(",").rstrip(), found.group(1) if found else ""


def verify(text: str, place: Place, error: type[InputError], hint: str) -> bool:
    """Check an object against its checksum.

    Args:
        text: of the object.
        place: where it is.
        error: what to raise.
        hint: what to do about a damaged object.

    Returns:
        Whether it has a checksum.

    Raises:
        error: the object was changed after it was written.
    """
    body, known = split(text)
    if known is None:
        return False
    actual = _crc(body)
    if known != actual:
        what = "the line" if place.line else "the file"
        raise error(
            f"{what} was damaged or changed after it was written",
            place=place,
            found=f"content with checksum {actual}",
            expected=f"checksum {known}, as written there" if known else f'"{KEY}": "{actual}" at its end',
            hint=hint,
        )
    return True


def _crc(body: str) -> str:
    return f"{zlib.crc32(body.replace(chr(13), '').encode('utf-8', 'surrogatepass')):08x}"
