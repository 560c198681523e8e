"""TOML tables that know the line of each key in their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from persona_evo.errors import PersonaError, Place, has_control, unknown
from persona_evo.formula import Formula
from persona_evo.games import textfile
from persona_evo.games.tomlplaces import Places

MAX_BYTES = 2**20
"""Size of a persona file at most, in bytes."""


@dataclass(frozen=True)
class TomlTable:
    """One table of a file.

    Attributes:
        values: the values by key.
        places: the places in the whole file.
        path: the keys that lead to this table.
    """

    values: Mapping[str, object]
    places: Places
    path: tuple[str | int, ...] = ()

    @property
    def source(self) -> str:
        """The name of the file."""
        return self.places.source

    def place(self, key: str) -> Place:
        """Return the place of a key, or the first line of the table if the key is missing."""
        return self.places.key(*self.path, key)

    def formula(self, key: str, symbols: tuple[str, ...]) -> Formula:
        """Return the formula in a key's text.

        Raises:
            PersonaError: the key is missing or not a text.
            FormulaError: the text is not a formula over these symbols, with the place in the file.
        """
        return self.places.formula(self.text(key), symbols, *self.path, key)

    def allow(self, keys: Sequence[str]) -> None:
        """Check that all keys are among these.

        Raises:
            PersonaError: one is not.
        """
        for key in self.values:
            if key not in keys:
                expected, hint = unknown(key, keys)
                raise PersonaError("unknown key", place=self.place(key), found=key, expected=expected, hint=hint)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a key.

        Args:
            key: the key.
            default: the text to return if the key is missing; without one, the key must have a text that is not empty.

        Raises:
            PersonaError: the key is missing, or its value is empty or not a text.
        """
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
        """Return the tables of an array of tables; none if the key is missing.

        Raises:
            PersonaError: the value is not an array of tables.
        """
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
    """Read a TOML file and return its top table.

    Raises:
        PersonaError: the file cannot be read, is too large, is not UTF-8, or is not TOML. A byte order mark is
            allowed.
    """
    source = str(path)
    text = textfile.read_text(path, MAX_BYTES, PersonaError)
    values = textfile.toml(text, source, PersonaError, 'put text in quotes: title = "..."')
    return TomlTable(values, Places(text, source))
