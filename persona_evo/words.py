"""Numbers of things in English, as messages and reports say them; and names that people give to things."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

NAME_BYTES = 100
"""Longest name in UTF-8: file names of 255 bytes hold it with all that is put around it."""


def listed(values: Mapping[str, object]) -> str:
    """Names with their values, without those that are empty: "stop budget, horizon 100, 6 lists"."""
    shown = {k: v for k, v in values.items() if v is not None and v not in ("", [], ())}
    return ", ".join(f"{len(v)} {k}" if isinstance(v, (list, tuple)) else f"{k} {v}" for k, v in shown.items())


def counted(n: int, thing: str, several: str = "") -> str:
    """A number of things: 1 level, 3 levels, 0 levels; thousands with commas, as in 12,000 games.

    several: the plural where it is not the singular with an s ("policies").
    """
    return f"{n:,} {plural(n, thing, several)}"


def plural(n: int, thing: str, several: str = "") -> str:
    """The word alone, for numbers that stand elsewhere in the sentence."""
    return thing if n == 1 else several or f"{thing}s"


def is_name(text: str, digits: bool = False, more: str = "") -> bool:
    """Whether a text is a name: letters of any script, digits, _ and -, a letter first; at most NAME_BYTES.

    digits: whether a digit may come first. more: other characters that it may have after the first.
    """
    kinds = [unicodedata.category(c)[0] for c in text]
    if not text or kinds[0] not in ("LN" if digits else "L") or len(text.encode("utf-8", "replace")) > NAME_BYTES:
        return False
    return all(kind in "LMN" or c in "_-" or c in more for c, kind in zip(text, kinds, strict=True))


def file_name(text: str) -> str:
    """A text as part of a file's name: letters and digits of any script, _, . and -, each run of others as one _."""
    found = ""
    for c in unicodedata.normalize("NFC", text):
        kept = unicodedata.category(c)[0] in "LMN" or c in "_.-"
        found += c if kept else "" if found.endswith("_") else "_"
    return found.encode()[:NAME_BYTES].decode("utf-8", "ignore")
