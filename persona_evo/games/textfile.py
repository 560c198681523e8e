"""Reads the text and TOML files that users write: regular UTF-8 files of a limited size; every error has its place."""

from __future__ import annotations

import datetime
import re
import reprlib
import tomllib
from pathlib import Path
from typing import Any

from persona_evo.errors import InputError, Place
from persona_evo.jobs.files import opened

_DIGITS = 4000
MOST_PARTS = 50
"""Parts of a dotted key: tomllib's time and memory grow with the square of their number."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")
_TWICE = re.compile("overwrite|twice|[Dd]uplicate")
"""What tomllib says if a key or a table stands twice."""
_AT = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)")


def read_text(path: Path, most: int, error: type[InputError]) -> str:
    """Return the content of a text file, without a byte order mark.

    Raises:
        error: the file is missing, not regular, unreadable, larger than `most` bytes, binary, or not UTF-8 (with line
            and column).
    """
    place = Place(str(path))
    try:
        with opened(path, error, "a text file") as file:
            data = file.read(most + 1)
    except FileNotFoundError as e:
        raise error("there is no such file", place=place, hint="check the path") from e
    except PermissionError as e:
        raise error("the file cannot be read", place=place, found=str(e), hint="check its permissions") from e
    except (OSError, ValueError) as e:
        raise error("the file cannot be read", place=place, found=str(e)) from e
    if len(data) > most:
        raise error("the file is too large", place=place, found=f"more than {most} bytes", expected=f"at most {most}")
    return _decode(data, str(path), error)


def toml(text: str, source: str, error: type[InputError], hint: str) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises:
        error: the text is not TOML; the error has line and column, the content of the line, and `hint`.
    """
    lines = text.split("\n")
    for number, row in enumerate(lines, 1):
        if row.count(".") >= MOST_PARTS and (key := _LONG_KEY.search(row)):
            raise error(
                "a key has too many parts",
                place=Place(source, number, key.start() + 1),
                found=f"{key[0][:40]}...",
                expected=f"at most {MOST_PARTS} names separated by dots",
                hint=hint,
            )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        at = _AT.search(str(e))
        line, column = (int(at[1]), int(at[2])) if at and at[1] else (len(lines), 0)
        what = _AT.sub("", str(e)).strip()
        found = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        twice = _TWICE.search(what) is not None
        raise error(
            f"not TOML: {'a name is defined twice' if twice else what[:1].lower() + what[1:]}",
            place=Place(source, line, column),
            found=found[:200] or None,
            hint="remove one of the two, or rename it" if twice else hint,
        ) from e
    except RecursionError as e:
        line = max(range(len(lines)), key=lambda i: lines[i].count("[") + lines[i].count("{")) + 1
        raise error(
            "this TOML is nested too deeply",
            place=Place(source, line),
            found="hundreds of brackets within each other",
            hint=hint,
        ) from e
    except ValueError as e:
        line = next((i + 1 for i, row in enumerate(lines) if re.search(rf"[0-9_]{{{_DIGITS},}}", row)), 0)
        raise error("a value cannot be read", place=Place(source, line), found=str(e)[:200], hint=hint) from e


def shown(value: Any) -> str:
    """Return a value of a TOML file for a message: short, and safe for any value."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    try:
        return reprlib.repr(value) if not isinstance(value, str) or len(value) > 200 else repr(value)
    except (ValueError, RecursionError):
        return f"a very large {type(value).__name__}"


def _decode(data: bytes, source: str, error: type[InputError]) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise error(
            "the file is not UTF-8 text",
            place=Place(source, 1, 1),
            found="UTF-16 byte order mark",
            expected="UTF-8",
            hint="save it again in UTF-8",
        )
    if b"\0" in data:
        raise error("the file is binary", place=Place(source), found="a zero byte", expected="a text file (UTF-8)")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        # Positions in the error count from behind a byte order mark.
        data, start = e.object, e.start
        line_start = data.rfind(b"\n", 0, start) + 1
        column = len(data[line_start:start].decode("utf-8", errors="replace").removeprefix("\ufeff")) + 1
        raise error(
            "the file is not UTF-8 text",
            place=Place(source, data.count(b"\n", 0, start) + 1, column),
            found=f"byte 0x{data[start]:02X}",
            expected="UTF-8",
            hint="save it again in UTF-8",
        ) from e
