"""TOML tables that know on which line of their file a key stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import PersonaError, Place, has_control, unknown
from persona_evo.games import textfile

MAX_BYTES = 2**20
"""Largest persona file that is read, in bytes."""


@dataclass(frozen=True)
class Table:
    """One table of a file.

    values: what it holds. source: the file. lines: all lines of the file. first, last: the lines (from 0, last
    excluded) between which this table's own keys stand.
    """

    values: Mapping[str, Any]
    source: str
    lines: tuple[str, ...]
    first: int
    last: int

    def place(self, key: str) -> Place:
        """Where a key stands; the table's first line where it is missing."""
        pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        for i in range(self.first, self.last):
            if match := pattern.match(self.lines[i]):
                return Place(self.source, i + 1, len(match.group()) - len(match.group().lstrip()) + 1)
        return Place(self.source, self.first + 1 if self.first else 1)

    def text_place(self, key: str) -> Place:
        """Where the text of a key's string starts, behind its quotes."""
        place = self.place(key)
        line = self.lines[place.line - 1] if place.line <= len(self.lines) else ""
        match = re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=\s*(\"\"\"|'''|\"|')", line)
        if match is None:
            return place
        if len(match.group(1)) == 3 and not line[match.end() :].strip():
            return Place(self.source, place.line + 1, 1)
        return Place(self.source, place.line, match.end() + 1)

    def allow(self, keys: Sequence[str]) -> None:
        """Raise PersonaError for a key that is not among these."""
        for key in self.values:
            if key not in keys:
                expected, hint = unknown(key, keys)
                raise PersonaError("unknown key", place=self.place(key), found=key, expected=expected, hint=hint)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; PersonaError where it is missing (and has no default), empty or something else."""
        if key not in self.values and default is not None:
            return default
        value = self.values.get(key)
        if not isinstance(value, str) or (not value and default is None):
            raise PersonaError(
                f"{key} is missing" if value is None else f"{key} is not a text",
                place=self.place(key),
                found=None if value is None else textfile.shown(value),
                expected=f'{key} = "..."',
            )
        if has_control(value.replace("\t", " ").replace("\r\n", "\n")):
            raise PersonaError(
                f"{key} holds a control character", place=self.place(key), found=textfile.shown(value),
                expected="a text that can be shown",
            )  # fmt: skip
        return value

    def tables(self, key: str) -> list[Table]:
        """The tables of an array of tables, each with its own lines."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise PersonaError(f"{key} is no list of tables", place=self.place(key), expected=f"[[{key}]]")
        header = re.compile(rf"\s*\[\[\s*{re.escape(key)}\s*\]\]")
        starts = [i for i, line in enumerate(self.lines) if header.match(line)]
        if len(starts) == len(value):
            spans = list(zip(starts, [*starts[1:], len(self.lines)], strict=False))
        else:
            spans = [(self.first, len(self.lines))] * len(value)
        return [Table(v, self.source, self.lines, a, b) for v, (a, b) in zip(value, spans, strict=True)]


def read(path: Path) -> Table:
    """The top table of a TOML file.

    Raises:
        PersonaError: it cannot be read, is too large, is not UTF-8 (a byte order mark is fine), or is not TOML.
    """
    source = str(path)
    text = textfile.read_text(path, MAX_BYTES, PersonaError)
    lines = tuple(text.splitlines())
    values = textfile.toml(text, source, PersonaError, 'texts stand in quotes: title = "..."')
    first_table = next((i for i, line in enumerate(lines) if re.match(r"\s*\[", line)), len(lines))
    return Table(values, source, lines, 0, first_table)
