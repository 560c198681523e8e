"""TOML tables that know on which line of their file a key stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import PersonaError, Place, has_control, unknown
from persona_evo.formula import Formula
from persona_evo.games import textfile
from persona_evo.games.tomlplaces import Places

MAX_BYTES = 2**20
"""Largest persona file that is read, in bytes."""


@dataclass(frozen=True)
class TomlTable:
    """One table of a file. values: what it holds. places: of the whole file. path: what leads to this table."""

    values: Mapping[str, Any]
    places: Places
    path: tuple[str | int, ...] = ()

    @property
    def source(self) -> str:
        """The file."""
        return self.places.source

    def place(self, key: str) -> Place:
        """Where a key stands; the table's first line where it is missing."""
        return self.places.key(*self.path, key)

    def formula(self, key: str, symbols: tuple[str, ...]) -> Formula:
        """The formula that a key's string holds; FormulaError with the character in the file."""
        return self.places.formula(self.text(key), symbols, *self.path, key)

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
                f"{key} is missing" if value is None else f"{key} is empty" if value == "" else f"{key} is not a text",
                place=self.place(key),
                found=None if value is None else textfile.shown(value),
                expected=f'{key} = "..."',
            )
        if has_control(value.replace("\t", " ").replace("\r\n", "\n")):
            raise PersonaError(
                f"{key} contains a control character",
                place=self.place(key),
                found=textfile.shown(value),
                expected="printable text",
            )
        return value

    def tables(self, key: str) -> list[TomlTable]:
        """The tables of an array of tables, each with its own lines."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise PersonaError(
                f"{key} is not a list of tables",
                place=self.place(key),
                found=textfile.shown(value),
                expected=f"[[{key}]]",
            )
        return [TomlTable(v, self.places, (*self.path, key, i)) for i, v in enumerate(value)]


def read(path: Path) -> TomlTable:
    """The top table of a TOML file.

    Raises:
        PersonaError: it cannot be read, is too large, is not UTF-8 (a byte order mark is fine), or is not TOML.
    """
    source = str(path)
    text = textfile.read_text(path, MAX_BYTES, PersonaError)
    values = textfile.toml(text, source, PersonaError, 'texts stand in quotes: title = "..."')
    return TomlTable(values, Places(text, source))
