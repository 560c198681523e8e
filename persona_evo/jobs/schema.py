"""Values of JSON files, which are checked when they are read; messages give the JSON path, line and column."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from persona_evo.errors import InputError, Place, unknown
from persona_evo.jobs import checksum, files
from persona_evo.jobs.json_text import RESTORE, dump, locate, parse

_ABSENT = object()

_REFUSALS = (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError)

T = TypeVar("T")
Error = type[InputError]
Migration = Callable[[dict[str, Any]], dict[str, Any]]


def read(path: Path, error: Error) -> tuple[dict[str, Any], str]:
    """Read a JSON file.

    Returns:
        The object, without its checksum, and the text.

    Raises:
        error: as for `files.read_text` and `parse`, or the file does not match its checksum.
    """
    text = files.read_text(path, error)
    data = parse(text, str(path), error)
    if checksum.verify(text, Place(str(path)), error, RESTORE):
        del data[checksum.KEY]
    return data, text


def write(path: Path, values: Mapping[str, Any]) -> None:
    """Replace a JSON file and add a checksum; errors are those of `files.write_atomically`."""
    files.write_atomically(path, checksum.sealed(dump(values)))


@dataclass(frozen=True)
class Reader:
    """Takes values out of a JSON object and checks each; messages give the JSON path and the line."""

    data: Mapping[str, Any]
    text: str
    source: str
    error: Error
    path: tuple[str | int, ...] = field(default=())

    def fail(
        self,
        what: str,
        *path: str | int,
        found: Any = _ABSENT,
        expected: str = "",
        hint: str = "",
        said: str | None = None,
    ) -> InputError:
        """Make the error for the value at `path` below this object.

        Args:
            found: the value at `path`.
            said: words in its place.
        """
        full = (*self.path, *path)
        name = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in full) or "."
        shown = said if found is _ABSENT else _short(found)
        place = locate(self.text, full, self.source)
        return self.error(f"{name}: {what}", place=place, found=shown, expected=expected or None, hint=hint or None)

    def get(self, key: str, kinds: type | tuple[type, ...], expected: str, default: Any = _ABSENT) -> Any:
        """Return the value of a key, which must be of one of `kinds` (a bool is not a number)."""
        if key not in self.data:
            if default is not _ABSENT:
                return default
            raise self.fail(f"{key!r} is missing", expected=expected)
        value = self.data[key]
        allowed = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise self.fail("has the wrong type", key, found=value, expected=expected)
        return value

    def text_of(self, key: str, default: Any = _ABSENT) -> str:
        """Return a text."""
        return str(self.get(key, str, "a text", default))

    def number(self, key: str, default: Any = _ABSENT) -> float:
        """Return a number."""
        return float(self.get(key, (int, float), "a number", default))

    def whole(self, key: str, default: Any = _ABSENT) -> int:
        """Return a whole number."""
        return int(self.get(key, int, "a whole number", default))

    def object(self, key: str, default: Any = _ABSENT) -> Reader:
        """Return a reader of an object."""
        value = self.get(key, dict, "an object", default)
        return Reader(value, self.text, self.source, self.error, (*self.path, key))

    def items(self, key: str) -> list[Reader]:
        """Return a reader for each object of a list."""
        found = []
        for i, value in enumerate(self.get(key, list, "a list of objects")):
            if not isinstance(value, dict):
                raise self.fail("has the wrong type", key, i, found=value, expected="an object")
            found.append(Reader(value, self.text, self.source, self.error, (*self.path, key, i)))
        return found

    def made(self, key: str, make: Callable[[dict[str, Any]], T]) -> T:
        """Convert an object with `make`; any exception becomes an error at this key."""
        value = self.get(key, dict, "an object")
        try:
            return make(value)
        except InputError as e:
            raise self.fail(e.what, key, expected=e.expected or "", hint=e.hint or RESTORE, said=e.found) from e
        except _REFUSALS as e:
            raise self.fail("is damaged", key, said=f"{type(e).__name__}: {e}", hint=RESTORE) from e

    def texts(self, key: str, default: Any = _ABSENT) -> list[str]:
        """Return a list of texts."""
        values = self.get(key, list, "a list of texts", default)
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise self.fail("has the wrong type", key, i, found=value, expected="a text")
        return list(values)

    def numbers(self, key: str, default: Any = _ABSENT) -> dict[str, float]:
        """Return an object whose values are numbers."""
        values = self.get(key, dict, "an object of numbers", default)
        for name, value in values.items():
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise self.fail("has the wrong type", key, name, found=value, expected="a number")
        return {str(k): float(v) for k, v in values.items()}

    def words(self, key: str, default: Any = _ABSENT) -> dict[str, str]:
        """Return an object whose values are texts."""
        values = self.get(key, dict, "an object of texts", default)
        for name, value in values.items():
            if not isinstance(value, str):
                raise self.fail("has the wrong type", key, name, found=value, expected="a text")
        return dict(values)

    def only(self, names: Sequence[str]) -> None:
        """Refuse unknown keys."""
        for key in self.data:
            if key not in names:
                expected, hint = unknown(key, names)
                raise self.fail("no such key", key, expected=expected, hint=hint)


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def migrate(
    data: dict[str, Any], text: str, source: str, error: Error, current: int, migrations: Mapping[int, Migration]
) -> dict[str, Any]:
    """Convert an object of an older schema to the current one.

    Args:
        current: the version that this program writes.
        migrations: by version, the function that converts an object to the next version.

    Raises:
        error: there is no version, or one that this program does not know.
    """
    reader = Reader(data, text, source, error)
    version = reader.whole("schema")
    if not 1 <= version <= current:
        raise reader.fail(
            "this version of the file format is not known",
            "schema",
            found=version,
            expected=f"1 to {current}",
            hint="the file comes from a newer version of persona-evo: update" if version > current else "",
        )
    while version < current:
        data = migrations[version](data)
        version += 1
        data = {**data, "schema": version}
    return data
