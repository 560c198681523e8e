"""Reading and writing the project's JSON files: places in every message, versions, and writes that cannot tear."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json import JSONDecodeError
from json.decoder import JSONDecoder
from pathlib import Path
from typing import Any, TypeVar

from persona_evo.errors import InputError, Place, unknown
from persona_evo.jobs import checksum
from persona_evo.jobs.regular import opened

MAX_BYTES = 256 * 2**20
"""Largest JSON file that is read, in bytes."""

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_CUT = re.compile(r"( starting)? at$")
"""How messages of `json` end that a place follows."""

_DIGITS = 20
"""Digits and sign of the longest whole number of 64 bits."""

_ABSENT = object()

_REFUSALS = (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError)

RESTORE = "restore the file from a copy"
"""What to do about a damaged file."""

T = TypeVar("T")
Error = type[InputError]
Migration = Callable[[dict[str, Any]], dict[str, Any]]


def write_atomically(path: Path, text: str | bytes | Iterable[str]) -> None:
    """Replace a file so that at any moment it is either the old or the new one, also after a crash.

    text: whole or in pieces, with the line ends that the file is to have. What is no regular file (a device, a pipe)
    is written into; a link stays one.

    Raises:
        InputError: a text that UTF-8 cannot hold; the old file is left as it is.
        OSError: with the file's name.
    """
    pieces = (_encoded(piece, path) for piece in ((text,) if isinstance(text, str | bytes) else text))
    with naming(path):
        if path.exists() and not path.is_file():
            with open(path, "wb") as f:
                f.writelines(pieces)
            return
        target = path.resolve() if path.is_symlink() else path
        part = target.with_name(target.name + ".part")
        try:
            with open(part, "wb") as f:
                f.writelines(pieces)
                f.flush()
                os.fsync(f.fileno())
            os.replace(part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        _sync_folder(target.parent)


def append_lines(path: Path, lines: Iterable[str]) -> int:
    """Add lines to a file, safe from a crash when this returns; the file's length in bytes (raises as above)."""
    pieces = [_encoded(line + "\n", path) for line in lines]
    with naming(path), open(path, "ab") as f:
        f.writelines(pieces)
        f.flush()
        os.fsync(f.fileno())
        return f.tell()


def _encoded(text: str | bytes, path: Path) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as e:
        raise InputError(
            "a text cannot be written as UTF-8",
            place=Place(str(path)),
            found=ascii(text[e.start : e.end]),
            expected="characters without lone surrogates",
            hint="correct the name or text that has it",
        ) from e


@contextlib.contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Name a file in each error of the operating system, since errors of writing name none."""
    try:
        yield
    except OSError as e:
        e.filename = str(path)
        raise


@contextlib.contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Give an error of the operating system that names no file, as those of writing do, the folder's name."""
    try:
        yield
    except OSError as e:
        if e.filename is None:
            e.filename = str(folder)
        raise


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def dump(data: Mapping[str, Any]) -> str:
    """JSON for people: indented, short lists of plain values on one line, a newline at the end."""
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


def read_text(path: Path, error: Error) -> str:
    """A JSON file's text.

    Raises:
        error: missing, no regular file, unreadable, too large, or not UTF-8.
    """
    place = Place(str(path))
    try:
        with opened(path, error) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise error("the file is too large", place=place, expected=f"at most {MAX_BYTES} bytes")
        return data.decode("utf-8-sig")
    except FileNotFoundError as e:
        raise error("there is no such file", place=place, hint="check the spelling and the folder") from e
    except UnicodeDecodeError as e:
        raise error("the file is not UTF-8 text", place=place, found=f"byte {e.start}: {e.reason}") from e
    except OSError as e:
        raise error("the file cannot be read", place=place, found=e.strerror or str(e)) from e


def parse(text: str, source: str, error: Error) -> dict[str, Any]:
    """The object that a JSON text describes.

    Raises:
        error: not JSON, not an object, a key that stands twice, a number that is not finite or beyond 64 bits, or a
            text that UTF-8 cannot hold; with line and column.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [k for k, _ in pairs]
            twice = next(k for k in keys if keys.count(k) > 1)
            raise error(
                "a key stands twice in one object",
                place=Place(source),
                found=repr(twice),
                expected="each key once",
                hint=RESTORE,
            )
        return result

    def no_constant(name: str) -> Any:
        raise error(
            "the file has a number that is not finite",
            place=_first(text, name, source),
            found=name,
            expected="a finite number",
            hint=RESTORE,
        )

    def whole(digits: str) -> int:
        if len(digits) > _DIGITS or not -(2**63) <= int(digits) < 2**64:
            shown = digits if len(digits) <= 40 else digits[:40] + "..."
            raise error(
                "the file has a number that is too large",
                place=_first(text, digits, source),
                found=shown,
                expected="a whole number of 64 bits",
                hint=RESTORE,
            )
        return int(digits)

    def real(digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            raise error(
                "the file has a number that is too large",
                place=_first(text, digits, source),
                found=digits[:40],
                expected="a finite number",
                hint=RESTORE,
            )
        return number

    try:
        data = json.loads(text, object_pairs_hook=once, parse_constant=no_constant, parse_int=whole, parse_float=real)
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
            expected="a few objects within each other",
            hint=RESTORE,
        ) from e
    lone = _SURROGATE.search(text)
    if lone is not None and not _has_utf8(data):
        raise error(
            "a text has half a character",
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


def parse_line(text: str, place: Place, error: Error) -> dict[str, Any]:
    """The object that a line of a file describes. place: of the line (raises as `parse`)."""
    try:
        return parse(text.rstrip("\r\n"), place.source, error)
    except InputError as e:
        column = e.place.column if e.place is not None else 0
        raise error(
            e.what, place=Place(place.source, place.line, column), found=e.found, expected=e.expected, hint=e.hint
        ) from e


def _has_utf8(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read(path: Path, error: Error) -> tuple[dict[str, Any], str]:
    """Read a JSON file.

    Returns:
        The object, without its checksum, and the text.

    Raises:
        error: as `read_text` and `parse` raise it, and where the file does not have the checksum that it names.
    """
    text = read_text(path, error)
    data = parse(text, str(path), error)
    if checksum.verify(text, Place(str(path)), error, RESTORE):
        del data[checksum.KEY]
    return data, text


def write(path: Path, values: Mapping[str, Any]) -> None:
    """Replace a JSON file, with a checksum; raises as `write_atomically`."""
    write_atomically(path, checksum.sealed(dump(values)))


def _around(text: str, position: int) -> str:
    piece = text[position : position + 20]
    if not piece.strip():
        return "the end of the line or file"
    return repr(piece.partition("\n")[0] or piece[:1])


def _first(text: str, word: str, source: str) -> Place:
    match = re.search(rf"(?<![\w\"]){re.escape(word)}(?![\w\"])", text)
    return place_at(text, match.start(), source) if match else Place(source)


def place_at(text: str, position: int, source: str) -> Place:
    """Line and column of a position in a text."""
    line = text.count("\n", 0, position) + 1
    return Place(source, line, position - (text.rfind("\n", 0, position) + 1) + 1)


def locate(text: str, path: Sequence[str | int], source: str) -> Place:
    """Where the value at a path of keys and indices begins in a valid JSON text; the deepest part that exists."""
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


@dataclass(frozen=True)
class Reader:
    """Takes values out of a JSON object, each checked, with the JSON path and the line in every message."""

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
        """The error for the value at `path` below this object. found: that value; said: words in its place."""
        full = (*self.path, *path)
        name = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in full) or "."
        shown = said if found is _ABSENT else _short(found)
        place = locate(self.text, full, self.source)
        return self.error(f"{name}: {what}", place=place, found=shown, expected=expected or None, hint=hint or None)

    def get(self, key: str, kinds: type | tuple[type, ...], expected: str, default: Any = _ABSENT) -> Any:
        """The value of a key, which must be of one of `kinds` (a bool is no number)."""
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
        """A text."""
        return str(self.get(key, str, "a text", default))

    def number(self, key: str, default: Any = _ABSENT) -> float:
        """A number."""
        return float(self.get(key, (int, float), "a number", default))

    def whole(self, key: str, default: Any = _ABSENT) -> int:
        """A whole number."""
        return int(self.get(key, int, "a whole number", default))

    def object(self, key: str, default: Any = _ABSENT) -> Reader:
        """An object, to read on."""
        value = self.get(key, dict, "an object", default)
        return Reader(value, self.text, self.source, self.error, (*self.path, key))

    def items(self, key: str) -> list[Reader]:
        """A list of objects, each to read on."""
        found = []
        for i, value in enumerate(self.get(key, list, "a list of objects")):
            if not isinstance(value, dict):
                raise self.fail("has the wrong type", key, i, found=value, expected="an object")
            found.append(Reader(value, self.text, self.source, self.error, (*self.path, key, i)))
        return found

    def made(self, key: str, make: Callable[[dict[str, Any]], T]) -> T:
        """What `make` makes of an object; whatever it refuses is an error at this key."""
        value = self.get(key, dict, "an object")
        try:
            return make(value)
        except InputError as e:
            raise self.fail(e.what, key, expected=e.expected or "", hint=e.hint or RESTORE, said=e.found) from e
        except _REFUSALS as e:
            raise self.fail("is damaged", key, said=f"{type(e).__name__}: {e}", hint=RESTORE) from e

    def texts(self, key: str, default: Any = _ABSENT) -> list[str]:
        """A list of texts."""
        values = self.get(key, list, "a list of texts", default)
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise self.fail("has the wrong type", key, i, found=value, expected="a text")
        return list(values)

    def numbers(self, key: str, default: Any = _ABSENT) -> dict[str, float]:
        """An object of numbers."""
        values = self.get(key, dict, "an object of numbers", default)
        for name, value in values.items():
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise self.fail("has the wrong type", key, name, found=value, expected="a number")
        return {str(k): float(v) for k, v in values.items()}

    def words(self, key: str, default: Any = _ABSENT) -> dict[str, str]:
        """An object of texts."""
        values = self.get(key, dict, "an object of texts", default)
        for name, value in values.items():
            if not isinstance(value, str):
                raise self.fail("has the wrong type", key, name, found=value, expected="a text")
        return dict(values)

    def only(self, names: Sequence[str]) -> None:
        """Refuse keys that are not known."""
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
    """Bring an object of an older schema to the current one.

    Args:
        current: the version that this program writes.
        migrations: version -> function that turns an object of it into one of the next version.

    Raises:
        error: no version, or one that this program does not know.
    """
    reader = Reader(data, text, source, error)
    version = reader.whole("schema")
    if not 1 <= version <= current:
        raise reader.fail(
            "this version of the file format is not known",
            "schema",
            found=version,
            expected=f"1 to {current}",
            hint="the file comes from a newer persona-evo: update" if version > current else "",
        )
    while version < current:
        data = migrations[version](data)
        version += 1
        data = {**data, "schema": version}
    return data
