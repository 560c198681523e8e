"""Names that people give to things, and their form in names of files."""

from __future__ import annotations

import unicodedata

NAME_BYTES = 100
"""Length of the longest name in UTF-8, which leaves room for other parts of a file name of at most 255 bytes."""


def is_name(text: str, digits: bool = False, more: str = "") -> bool:
    """Return whether a text is a name: letters of any script, digits, _ and -, a letter first; at most NAME_BYTES.

    Args:
        digits: whether a digit may come first.
        more: other characters that it may have after the first.
    """
    kinds = [unicodedata.category(c)[0] for c in text]
    if not text or kinds[0] not in ("LN" if digits else "L") or len(text.encode("utf-8", "replace")) > NAME_BYTES:
        return False
    return all(kind in "LMN" or c in "_-" or c in more for c, kind in zip(text, kinds, strict=True))


def file_name(text: str) -> str:
    """Convert a text to a part of a file's name: letters and digits of any script, _, . and -; others become _."""
    found = ""
    for c in unicodedata.normalize("NFC", text):
        kept = unicodedata.category(c)[0] in "LMN" or c in "_.-"
        found += c if kept else "" if found.endswith("_") else "_"
    return found.encode()[:NAME_BYTES].decode("utf-8", "ignore")
