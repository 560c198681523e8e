"""Append-only files of results: one JSON object a line, each with a checksum.

Guarantees, whatever kills the process or stops the machine:

- When `Journal.append` returns, its results are on disk.
- The file holds a beginning of the results and at most one torn line, which the next `append` cuts off.
- A line that was damaged or changed later is reported with its file and number. It is never used, and never skipped.

Lines that earlier versions wrote have no checksum and are accepted as long as no line before them has one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from persona_evo.errors import Place, RunError, json_fault
from persona_evo.jobs import checksum, files, json_text
from persona_evo.jobs.files import opened

R = TypeVar("R")

REPEAT = "delete this line and all lines after it, which resuming computes again; or restore the file from a copy"
"""What to do about a damaged line."""

Row = dict[str, Any]
"""A line as plain values."""


@dataclass(frozen=True)
class LineFormat(Generic[R]):
    """The format of a job's results.

    Attributes:
        name: the name of a result in messages.
        encode: returns the line for a result, without its end and its checksum.
        decode: returns the result in a line, or raises RunError with the place.
        key: returns the key that distinguishes results.
        label: returns a key in words.
        hint: what to do about a line that is damaged or does not belong to the job.
    """

    name: str
    encode: Callable[[R], str]
    decode: Callable[[Row, Place], R]
    key: Callable[[R], Hashable]
    label: Callable[[Any], str] = str
    hint: str = REPEAT


class Journal(Generic[R]):
    """The results of a job, in a file that grows by whole lines.

    Args:
        path: the file, which need not exist.
        form: the format of a line.
    """

    def __init__(self, path: Path, form: LineFormat[R]) -> None:
        self.path, self.form = path, form
        self._known = 0

    def place(self, number: int) -> Place:
        """Return the place of a result.

        Args:
            number: the number of the result, from 1.
        """
        return Place(str(self.path), number)

    def append(self, results: Iterable[R]) -> None:
        """Write results, which are safe from a crash when this returns; a torn last line is cut off first.

        Raises:
            RunError: the file lacks results that were read or written before.
        """
        cut_torn_line(self.path)
        check_kept(self.path, self._known)
        self._known = append(self.path, map(self.form.encode, results))

    def read(self, wanted: Sequence[Hashable] | None = None) -> list[R]:
        """Read all results without changing the file; a torn last line is ignored.

        Args:
            wanted: keys of all results of the job in their order, of which those in the file must be the first; None if
                results come in any order.

        Raises:
            RunError: a line is damaged, or does not belong to the job.
        """
        found: list[R] = []
        places: dict[Hashable, Place] = {}
        for row, place in rows(self.path, self.form.name, self.form.hint):
            result = self.form.decode(row, place)
            key, number = self.form.key(result), len(found)
            if wanted is not None and (number >= len(wanted) or key != wanted[number]):
                due = self.form.label(wanted[number]) if number < len(wanted) else f"{len(wanted)} lines"
                raise RunError(
                    f"a {self.form.name} does not belong here",
                    place=place,
                    found=self.form.label(key),
                    expected=due,
                    hint=self.form.hint,
                )
            if key in places:
                raise RunError(
                    f"a {self.form.name} appears twice",
                    place=place,
                    found=self.form.label(key),
                    expected=f"each only once; it is also in line {places[key].line}",
                    hint=self.form.hint,
                )
            places[key] = place
            found.append(result)
        self._known = _whole_bytes(self.path) if found else 0
        return found


def check_kept(path: Path, known: int) -> None:
    """Check that a file to which this process appends still holds everything that was written.

    Args:
        path: the file.
        known: its size in bytes after the last line that was read or written.

    Raises:
        RunError: it was deleted or cut off.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size < known:
        raise RunError(
            "the file was deleted or cut off while its results were being added",
            place=Place(str(path)),
            found=f"{size} bytes" if path.exists() else "no file",
            expected=f"at least {known} bytes",
            hint="what it held is lost unless you restore it from a copy; without a copy the work has to be repeated",
        )


def append(path: Path, lines: Iterable[str]) -> int:
    """Add JSON objects to a file as lines with checksums, safe from a crash when this returns.

    Returns:
        The size of the file in bytes.
    """
    return files.append_lines(path, map(checksum.sealed, lines))


def rows(
    path: Path, name: str, hint: str = REPEAT, end: int | None = None, torn: bool = False
) -> Iterator[tuple[Row, Place]]:
    """Read the lines of a file without their checksums.

    Args:
        path: the file; one that does not exist has no lines.
        name: the name of a line's content, for messages.
        hint: what to do about a damaged line.
        end: position at which to stop, in bytes; None for the end of the file.
        torn: whether to read a last line that has no line ending, as editors may leave it; otherwise it is left out.

    Raises:
        RunError: it is not a regular file, or a line is damaged.
    """
    if not path.exists():
        return
    needed, read = False, 0
    with opened(path, RunError) as file:
        for number, line in enumerate(file, 1):
            read += len(line)
            if not (torn or line.endswith(b"\n")) or (end is not None and read > end):
                return
            place = Place(str(path), number)
            row, has = _row(line, place, name, hint)
            if needed and not has:
                raise RunError(
                    f"a {name} has no checksum",
                    place=place,
                    found=repr(line[-40:].decode("utf-8", "replace").rstrip()),
                    expected=f'"{checksum.KEY}" at the end of the line, as in the lines before it',
                    hint=hint,
                )
            needed = needed or has
            yield row, place


def _row(line: bytes, place: Place, name: str, hint: str) -> tuple[Row, bool]:
    """Parse a line; return its values and whether it has a checksum."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    try:
        row = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as e:
        raise _unreadable(text, place, name, hint, json_fault(e)) from e
    if not isinstance(row, dict):
        raise RunError(
            f"a {name} cannot be read: not an object",
            place=place,
            found=repr(text[:40]),
            expected="one JSON object a line",
            hint=hint,
        )
    sealed = checksum.verify(text, place, RunError, hint)
    if not sealed and "\ufffd" in text and "\ufffd".encode() not in line:
        raise RunError(f"a {name} is not UTF-8 text", place=place, hint=hint)
    if sealed:
        del row[checksum.KEY]
    return row, sealed


def _unreadable(text: str, place: Place, name: str, hint: str, why: str) -> RunError:
    """Make the error for a line that is not JSON, with the column if it is known."""
    found = RunError(f"not valid JSON: {why}", place=place)
    try:
        json_text.parse_line(text, place, RunError)
    except RunError as told:
        found = told
    problem = found.what.removeprefix("not valid JSON: ")
    return RunError(
        f"a {name} cannot be read: not valid JSON: {problem}",
        place=found.place,
        found=found.found,
        expected="one JSON object a line",
        hint=hint,
    )


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def cut_torn_line(path: Path) -> None:
    """Cut off everything after the last line ending of a file, if there is a file."""
    if path.is_file() and _whole_bytes(path) < path.stat().st_size:
        os.truncate(path, _whole_bytes(path))


def _whole_bytes(path: Path) -> int:
    """Count the bytes of a file up to its last line ending."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if file.read() in (b"", b"\n"):
            return size
        file.seek(0)
        return file.read().rfind(b"\n") + 1


def plain_rows(name: str, key: Callable[[Row], Hashable] = repr, hint: str = REPEAT) -> LineFormat[Row]:
    """Make the format of lines that are used as plain values."""
    return LineFormat(name, compact, lambda row, _: row, key, hint=hint)


def compact(values: Mapping[str, Any]) -> str:
    """Write plain values as JSON without spaces.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
