"""TOML tables that check their values one by one; an error has the line and the column of what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import InputError, Place, has_control, unknown
from persona_evo.formula import Formula
from persona_evo.games import textfile
from persona_evo.games.tomlplaces import Places
from persona_evo.limits import is_label

MAX_BYTES = 2**20
"""Size of a file at most, in bytes."""


@dataclass(frozen=True)
class TomlTable:
    """One table of a file.

    Attributes:
        values: the values by key.
        places: the places in the whole file.
        error: the class of the errors.
        path: the keys that lead to this table.
    """

    values: Mapping[str, Any]
    places: Places
    error: type[InputError]
    path: tuple[str | int, ...] = ()

    @classmethod
    def read(cls, path: Path, error: type[InputError], hint: str) -> TomlTable:
        """Read a TOML file and return its top table.

        Args:
            path: the file.
            error: the class of the errors.
            hint: the hint for a file that is not TOML.

        Raises:
            error: the file cannot be read, is too large, is not UTF-8, or is not TOML. A byte order mark is allowed.
        """
        return cls.parse(textfile.read_text(path, MAX_BYTES, error), str(path), error, hint)

    @classmethod
    def parse(cls, text: str, source: str, error: type[InputError], hint: str) -> TomlTable:
        """Return the top table of a TOML text; `source` is its name in messages (see `read`)."""
        return cls(textfile.toml(text, source, error, hint), Places(text, source), error)

    @property
    def source(self) -> str:
        """The name of the file."""
        return self.places.source

    def key(self, *key: str) -> Place:
        """Return the place of a key, or that of the table if the key is missing or none is given."""
        return self.places.key(*self.path, *key)

    def wrong(self, what: str, *path: str | int, **more: Any) -> InputError:
        """Return an error with the place of a value, or of its key or table if it is missing.

        Args:
            what: one sentence that says what is wrong.
            path: the keys that lead from this table to the value.
            more: `found`, `expected` and `hint`, as for `InputError`.
        """
        return self.error(what, place=self.places.value(*self.path, *path), **more)

    def _mistyped(self, what: str, key: str, expected: str, hint: str | None = None) -> InputError:
        found = textfile.shown(self.values[key]) if key in self.values else None
        return self.wrong(what, key, found=found, expected=expected, hint=hint)

    def allow(self, keys: Sequence[str], what: str = "unknown key") -> None:
        """Check that all keys are among these.

        Raises:
            error: one is not; `what` is its message.
        """
        for key in self.values:
            if key not in keys:
                expected, hint = unknown(key, keys)
                raise self.error(what, place=self.key(key), found=textfile.shown(key), expected=expected, hint=hint)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a key.

        Args:
            key: the key.
            default: the text to return if the key is missing; without one, the key must have a text that is not empty.

        Raises:
            error: the key is missing, or its value is empty, not a text, or contains control characters.
        """
        value = self.values.get(key, default)
        if not isinstance(value, str) or (not value.strip() and default is None):
            what = "is missing" if key not in self.values else "is empty" if isinstance(value, str) else "is not text"
            hint = "put text in quotes" if what == "is not text" else None
            raise self._mistyped(f"{key} {what}", key, f'{key} = "..."', hint)
        if has_control(value.replace("\t", " ").replace("\r\n", "\n")):
            raise self._mistyped(f"{key} contains a control character", key, "printable text")
        return value

    def line(self, key: str, default: str | None = None) -> str:
        """Return the text of a key, which has to fit on one line (arguments and errors as for `text`)."""
        value = self.text(key, default)
        if not is_label(value):
            raise self._mistyped(f"{key} has several lines", key, "text on one line")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of an array; none if the key is missing.

        Raises:
            error: the value is not an array of texts without control characters.
        """
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and not has_control(v) for v in value):
            raise self._mistyped(f"{key} is not a list of texts", key, f'{key} = ["...", "..."]')
        return tuple(value)

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """Return a whole number in [low, high], or `default` if the key is missing.

        Raises:
            error: the value is no such number.
        """
        value = self.values.get(key, default)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not low <= value <= high:
            what = f"{key} is out of range" if is_whole else f"{key} is not a whole number"
            hint = f"without this line it is {default}"
            raise self._mistyped(what, key, f"a whole number from {low} to {high}", hint)
        return int(value)

    def truth(self, key: str, default: bool) -> bool:
        """Return a truth value, or `default` if the key is missing.

        Raises:
            error: the value is neither true nor false.
        """
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self._mistyped(f"{key} is not true or false", key, "true or false")
        return value

    def choice(self, key: str, known: Sequence[str], default: str | None = None, kind: str = "") -> str:
        """Return a text that is one of several, or `default` if the key is missing.

        Raises:
            error: the value is not one of them; the message names `kind`, or else the key.
        """
        value = self.text(key, default)
        if value not in known:
            expected, hint = unknown(value, known)
            raise self.wrong(f"no such {kind or key}", key, found=value, expected=expected, hint=hint)
        return value

    def formula(self, key: str, symbols: tuple[str, ...]) -> Formula:
        """Return the formula in a key's text.

        Raises:
            error: the key is missing or not a text.
            FormulaError: the text is not a formula over these symbols, with the place in the file.
        """
        return self.places.formula(self.text(key), symbols, *self.path, key)

    def table(self, key: str) -> TomlTable:
        """Return a table in this one, which is empty if the key is missing.

        Raises:
            error: the value is not a table.
        """
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            name = ".".join(map(str, (*self.path, key)))
            raise self._mistyped(f"{key} is not a table", key, f"[{name}]")
        return TomlTable(value, self.places, self.error, (*self.path, key))

    def named(self) -> Iterator[tuple[str, TomlTable]]:
        """Yield the name of each value with its table.

        Raises:
            error: a value is not a table.
        """
        for name in self.values:
            yield name, self.table(name)

    def tables(self, key: str) -> list[TomlTable]:
        """Return the tables of an array of tables; none if the key is missing.

        Raises:
            error: the value is not an array of tables.
        """
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            found, expected = textfile.shown(value), f"[[{key}]]"
            raise self.error(f"{key} is not a list of tables", place=self.key(key), found=found, expected=expected)
        return [TomlTable(v, self.places, self.error, (*self.path, key, i)) for i, v in enumerate(value)]
