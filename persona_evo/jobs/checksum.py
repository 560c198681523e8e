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

_SEAL = re.compile(rf',\s*"{KEY}"\s*:\s*"([0-9a-f]{{8}})"\s*\}}\s*\Z')
_DAMAGED = re.compile(rf',\s*"{KEY}"\s*:[^,{{}}\[\]]*\}}\s*\Z')
"""A last key KEY whose value is not a checksum."""
_RENAMED = re.compile(r',\s*"[^"]*"\s*:\s*"([0-9a-f]{8})"\s*\}\s*\Z')
"""A last key with another name whose value could be a checksum."""
_LONGEST = 80
"""The largest number of characters of a checksum at the end of a text."""


def sealed(text: str) -> str:
    """Add a checksum to the text of a JSON object, or replace the one that it has.

    Args:
        text: an object with at least one key, on one line or indented.
    """
    seal = _SEAL.search(text, max(0, len(text) - _LONGEST))
    body = text[: seal.start()] if seal else text.rstrip().removesuffix("}").rstrip()
    lines = "\n" in body
    before, after = (",\n  ", "\n}") if lines else (",", "}")
    end = "\n" if text.endswith("\n") else ""
    space = " " if lines else ""
    return f'{body}{before}"{KEY}":{space}"{_crc(body)}"{after}{end}'


def verify(text: str, place: Place, error: type[InputError], hint: str) -> bool:
    """Check an object against its checksum.

    Args:
        text: the text of the object.
        place: the place of the object.
        error: the class of errors to raise.
        hint: what to do about a damaged object.

    Returns:
        Whether it has a checksum.

    Raises:
        error: the object was changed after it was written.
    """
    start = max(0, len(text) - _LONGEST)
    seal, known = _SEAL.search(text, start), ""
    if seal is not None:
        known = seal.group(1)
    else:
        seal = _DAMAGED.search(text, start) or _RENAMED.search(text, start)
        if seal is None or (seal.re is _RENAMED and _crc(text[: seal.start()]) != seal.group(1)):
            return False
    actual = _crc(text[: seal.start()])
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
