"""JSON as text: strict parsing, the line and column of each value, and output for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from json import JSONDecodeError
from json.decoder import JSONDecoder
from typing import Any

from persona_evo.errors import InputError, Place

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_CUT = re.compile(r"( starting)? at$")
"""The end of a message of `json` that is followed by a place."""

_DIGITS = 20
"""The largest number of digits and sign of a 64-bit integer."""

RESTORE = "restore the file from a copy"
"""What to do about a damaged file."""


def parse(text: str, source: str, error: type[InputError]) -> dict[str, Any]:
    """Parse the JSON text of an object.

    Args:
        text: the text of the file or line.
        source: its name, for messages.
        error: the class of errors to raise.

    Raises:
        error: the text is not JSON or not an object, has a key twice, a number that is not finite or beyond 64 bits,
            or characters that UTF-8 cannot hold; with line and column.
    """
    values = _StrictValues(text, source, error)
    try:
        data = json.loads(
            text,
            object_pairs_hook=values.pairs,
            parse_constant=values.constant,
            parse_int=values.whole,
            parse_float=values.real,
        )
    except JSONDecodeError as e:
        raise error(
            f"not valid JSON: {_CUT.sub('', e.msg)}",
            place=Place(source, e.lineno, e.colno),
            found=_around(text, e.pos),
            expected="JSON",
            hint="the file was cut off or edited; restore it from a copy",
        ) from e
    except RecursionError as e:
        raise error(
            "the JSON is nested too deeply",
            place=Place(source),
            found=_around(text, 0),
            expected="only a few levels of nesting",
            hint=RESTORE,
        ) from e
    lone = _SURROGATE.search(text)
    if lone is not None and not _has_utf8(data):
        raise error(
            "a text contains half a character",
            place=place_at(text, lone.start(), source),
            found=lone.group(),
            expected="no lone surrogates",
            hint="write the character itself, or both halves of it",
        )
    if not isinstance(data, dict):
        raise error(
            "not a JSON object", place=Place(source, 1, 1), found=_around(text, 0), expected="{ ... }", hint=RESTORE
        )
    return data


class _StrictValues:
    """Hooks of `json.loads` that refuse values which would be lost or changed silently.

    Args:
        text: the text that is parsed.
        source: its name, for messages.
        error: the class of errors to raise.
    """

    def __init__(self, text: str, source: str, error: type[InputError]) -> None:
        self._text, self._source, self._error = text, source, error

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Make an object whose keys are all different."""
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [k for k, _ in pairs]
            twice = next(k for k in keys if keys.count(k) > 1)
            raise self._error(
                "a key appears twice in one object",
                place=Place(self._source),
                found=repr(twice),
                expected="each key once",
                hint=RESTORE,
            )
        return result

    def constant(self, name: str) -> Any:
        """Refuse NaN and infinities."""
        raise self._number("the file contains a number that is not finite", name, "a finite number")

    def whole(self, digits: str) -> int:
        """Convert a whole number of at most 64 bits."""
        if len(digits) > _DIGITS or not -(2**63) <= int(digits) < 2**64:
            raise self._number("the file contains a number that is too large", digits, "a whole number of 64 bits")
        return int(digits)

    def real(self, digits: str) -> float:
        """Convert a number with a fraction or an exponent."""
        number = float(digits)
        if math.isinf(number):
            raise self._number("the file contains a number that is too large", digits, "a finite number")
        return number

    def _number(self, what: str, digits: str, expected: str) -> InputError:
        shown = digits if len(digits) <= 40 else digits[:40] + "..."
        place = _first(self._text, digits, self._source)
        return self._error(what, place=place, found=shown, expected=expected, hint=RESTORE)


def parse_line(text: str, place: Place, error: type[InputError]) -> dict[str, Any]:
    """Parse a line of a file as `parse` does.

    Args:
        place: the place of the line.
    """
    try:
        return parse(text.rstrip("\r\n"), place.source, error)
    except InputError as e:
        column = e.place.column if e.place is not None else 0
        raise e.moved(Place(place.source, place.line, column)) from e


def _has_utf8(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _around(text: str, position: int) -> str:
    piece = text[position : position + 20]
    if not piece.strip():
        return "the end of the line or file"
    return repr(piece.partition("\n")[0] or piece[:1])


def _first(text: str, word: str, source: str) -> Place:
    match = re.search(rf"(?<![\w\"]){re.escape(word)}(?![\w\"])", text)
    return place_at(text, match.start(), source) if match else Place(source)


def place_at(text: str, position: int, source: str) -> Place:
    """Convert a position in a text to its line and column."""
    line = text.count("\n", 0, position) + 1
    return Place(source, line, position - (text.rfind("\n", 0, position) + 1) + 1)


def locate(text: str, path: Sequence[str | int], source: str) -> Place:
    """Find where the value at a path of keys and indices begins in a valid JSON text.

    If the path does not exist, the place of its deepest existing part is returned.
    """
    position = _skip(text, 1 if text.startswith("\ufeff") else 0)
    for step in path:
        found = _child(text, position, step)
        if found is None:
            break
        position = found
    return place_at(text, position, source)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _child(text: str, position: int, step: str | int) -> int | None:
    decoder = JSONDecoder()
    opening = text[position]
    if (opening == "{") != isinstance(step, str) or opening not in "{[":
        return None
    position, index = _skip(text, position + 1), 0
    while text[position] not in "}]":
        key: str | int = index
        if opening == "{":
            key, after = decoder.raw_decode(text, position)
            position = _skip(text, _skip(text, after) + 1)
        if key == step:
            return position
        _, position = decoder.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def dump(data: Mapping[str, Any]) -> str:
    """Format an object for people: indented, with short lists of plain values on one line and a newline at the end."""
    return _pretty(data, "") + "\n"


def _pretty(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        items = (f"{inner}{json.dumps(str(k), ensure_ascii=False)}: {_pretty(v, inner)}" for k, v in value.items())
        return "{\n" + ",\n".join(items) + "\n" + indent + "}"
    if isinstance(value, (list, tuple)) and value:
        if not any(isinstance(v, (Mapping, list, tuple)) for v in value):
            line = json.dumps(list(value), ensure_ascii=False, allow_nan=False)
            if len(line) + len(indent) <= 118:
                return line
        return "[\n" + ",\n".join(inner + _pretty(v, inner) for v in value) + "\n" + indent + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
