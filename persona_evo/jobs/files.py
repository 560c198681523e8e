"""File access: atomic writes, appends that survive a crash, and reads of regular files only."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path

from persona_evo.errors import InputError, Place
from persona_evo.jobs import windows

MAX_BYTES = 256 * 2**20
"""Largest text file that is read, in bytes."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def write_atomically(path: Path, text: str | bytes | Iterable[str]) -> None:
    """Replace a file so that at any moment it is either the old or the new one, even after a crash.

    A device or a pipe is written to directly. A symbolic link remains one.

    Args:
        path: the file.
        text: the text, whole or in pieces, with the line endings that the file is to have.

    Raises:
        InputError: UTF-8 cannot hold the text; the old file is left as it is.
        OSError: the file cannot be written; the error names it.
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
            windows.replace(part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        _sync_folder(target.parent)


def append_lines(path: Path, lines: Iterable[str]) -> int:
    """Append lines to a file; once this returns, no crash can lose them.

    Returns:
        The length of the file in bytes.

    Raises:
        InputError, OSError: as for `write_atomically`.
    """
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
            "this text cannot be written as UTF-8",
            place=Place(str(path)),
            found=ascii(text[e.start : e.end]),
            expected="characters without lone surrogates",
            hint="correct the name or text that contains it",
        ) from e


@contextlib.contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Add the name of a file to errors of the operating system, which do not name it when writing fails."""
    try:
        yield
    except OSError as e:
        e.filename = str(path)
        raise


@contextlib.contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Add the name of a folder to errors of the operating system that name no file."""
    try:
        yield
    except OSError as e:
        if e.filename is None:
            e.filename = str(folder)
        raise


def _sync_folder(folder: Path) -> None:
    if windows.WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def opened(path: Path, error: type[InputError], expected: str = "a regular file") -> BufferedReader:
    """Open a file for reading.

    Args:
        path: the file.
        error: the class of errors to raise.
        expected: what the file should be, for the message.

    Raises:
        error: it is a folder, a pipe, a socket or a device.
        OSError: it is missing or cannot be opened.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        found = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise error(
            "this is not a regular file and cannot be read", place=Place(str(path)), found=found, expected=expected
        )
    return path.open("rb")


def read_text(path: Path, error: type[InputError]) -> str:
    """Read the text of a JSON file.

    Raises:
        error: the file is missing, not a regular file, unreadable, too large, or not UTF-8.
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
