"""Finds keys, values and characters of strings in a TOML text, so that messages can name their line and column.

The text has already been read by `tomllib`, so nothing here checks it. A path leads from the top table to a key or a
value: names of keys and, in arrays (including those of tables), indices from 0.
"""

from __future__ import annotations

import re
import tomllib
from functools import cached_property

from persona_evo.errors import FormulaError, Place
from persona_evo.formula import Formula, parse

Path = tuple[str | int, ...]

_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_PLAIN = re.compile(r"[^,\]}#\r\n]+")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\]|\\.)*"'),
    re.compile(r"'[^']*'"),
)
_UNIT = re.compile(r"\r\n|\\(?:u.{4}|U.{8}|[^ \t\r\n])|.", re.DOTALL)
_FOLD = re.compile(r"(?:\\[ \t]*\r?\n[ \t\r\n]*)+")
"""A line's end that a backslash takes out of a string."""


class Places:
    """The places of one TOML text; `source` is its name in messages."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source

    def key(self, *path: str | int) -> Place:
        """Return the place of a key or of a table's header; if it is missing, that of the table around it."""
        for n in range(len(path), 0, -1):
            if path[:n] in self._found.keys:
                return self._place(self._found.keys[path[:n]])
        return Place(self.source, 1)

    def value(self, *path: str | int) -> Place:
        """Return the place where a value begins; if it is missing, see `key`."""
        span = self._found.values.get(path)
        return self.key(*path) if span is None else self._place(span[0])

    def within(self, path: Path, offset: int) -> Place:
        """Return the place of the character `offset` of a string, whatever was escaped before it."""
        span = self._found.values.get(path)
        return self.key(*path) if span is None else self._place(_inside(self.text, span[0], offset))

    def formula(self, text: str, symbols: tuple[str, ...], *path: str | int) -> Formula:
        """Return the formula in a string.

        Raises:
            FormulaError: the formula is wrong; the error has its place in the file.
        """
        try:
            return parse(text, symbols)
        except FormulaError as e:
            line, column = (e.place.line, e.place.column) if e.place is not None else (1, 1)
            start = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
            raise e.moved(self.within(path, start + column - 1)) from e

    @cached_property
    def _found(self) -> _Scan:
        return _Scan(self.text)

    def _place(self, at: int) -> Place:
        return Place(self.source, self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at))


def _inside(text: str, start: int, offset: int) -> int:
    """Return the position of a string's character in the text; `start` is the position of its quotes."""
    quotes = text[start : start + 3] if text[start : start + 3] in ('"""', "'''") else text[start]
    at = start + len(quotes)
    if len(quotes) == 3 and (first := re.compile(r"\r?\n").match(text, at)):
        at = first.end()
    raw = quotes[0] == "'"
    for left in range(offset, -1, -1):
        fold = None if raw else _FOLD.match(text, at)
        at = fold.end() if fold else at
        if left:
            unit = _UNIT.match(text, at)
            at = at + 1 if unit is None or (raw and text[at] == "\\") else unit.end()
    return min(at, len(text))


class _Scan:
    """Scans a valid text once.

    Attributes:
        keys: the position of each key or header.
        values: the beginning and the end of each value.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.keys: dict[Path, int] = {}
        self.values: dict[Path, tuple[int, int]] = {}
        self._counts: dict[Path, int] = {}
        at = self._skip(0)
        table: Path = ()
        while at < len(text):
            at, table = self._header(at) if text[at] == "[" else (self._pair(at, table), table)
            at = self._skip(at)

    def _skip(self, at: int) -> int:
        return _end(_GAP, self.text, at)

    def _header(self, at: int) -> tuple[int, Path]:
        """Return the end of a [table] or [[table]], and the path of what is below it."""
        several = self.text.startswith("[[", at)
        names, end = self._names(at + 1 + several)
        path: Path = ()
        for n, (name, _) in enumerate(names, 1):
            path += (name,)
            if several and n == len(names):
                self._counts[path] = self._counts.get(path, 0) + 1
                self.keys.setdefault(path, at)
            if path in self._counts:
                path += (self._counts[path] - 1,)
        self.keys[path] = at
        return end + 1 + several, path

    def _names(self, at: int) -> tuple[list[tuple[str, int]], int]:
        """Return the parts of a key, each with its position, and the end of the key."""
        names: list[tuple[str, int]] = []
        while (match := _KEY.match(self.text, at)) is not None:
            word = match.group(1)
            names.append((tomllib.loads(f"k = {word}")["k"] if word[0] in "\"'" else word, match.start(1)))
            at = match.end()
            if not self.text.startswith(".", at):
                break
            at += 1
        return names, at

    def _pair(self, at: int, table: Path) -> int:
        """Return the end of `key = value`."""
        names, end = self._names(at)
        path = table
        for name, begin in names:
            path += (name,)
            self.keys.setdefault(path, begin)
        return self._value(self._skip(max(end, at) + 1), path)

    def _value(self, at: int, path: Path) -> int:
        opening = self.text[at : at + 1]
        if opening in ("[", "{"):
            end = self._several(at + 1, path, opening == "{")
        elif opening in ("'", '"'):
            end = max(_end(pattern, self.text, at) for pattern in _STRINGS)
        else:
            end = at + len(self.text[at : _end(_PLAIN, self.text, at)].rstrip())
        self.values[path] = at, end
        return end

    def _several(self, at: int, path: Path, named: bool) -> int:
        """Return the end of an array's elements or an inline table's pairs, including the bracket."""
        at, index = self._skip(at), 0
        while at < len(self.text) and self.text[at] not in "]}":
            at = self._skip(self._pair(at, path) if named else self._value(at, (*path, index)))
            at, index = self._skip(at + self.text.startswith(",", at)), index + 1
        return at + 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
