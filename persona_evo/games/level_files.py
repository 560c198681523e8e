"""Level files on disk: which there are, in which order, and under which spelling of their path."""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from persona_evo.errors import Place, SettingsError


def natural(text: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a sort key that puts `map2` before `map10` and ignores case."""
    parts = re.split(r"(\d+)", text.casefold())
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part), text


def home(text: str) -> Path:
    """Return a path with ~ expanded to a user's folder, if there is such a user."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def existing(base: Path, name: str) -> Path | None:
    """Return the path as written, or with `/` for backslashes, or the only one that differs from it just in case."""
    if not name or "\0" in name:
        return None
    for text in dict.fromkeys((name, name.replace("\\", "/"))):
        path = base / home(text)
        try:
            if path.exists():
                return path
        except OSError:
            return None
    here = Path(path.anchor) if path.is_absolute() else Path()
    for part in path.parts[1:] if path.is_absolute() else path.parts:
        if part in (".", "..") or (here / part).exists():
            here = here / part
            continue
        try:
            alike = [child for child in here.iterdir() if fold(child.name) == fold(part)]
        except OSError:
            return None
        if len(alike) != 1:
            return None
        here = alike[0]
    if not here.exists():
        target = os.readlink(here) if here.is_symlink() else "nothing"
        raise SettingsError("this link leads nowhere", place=Place(str(here)), found=target, expected="a file")
    return here


def with_suffix(base: Path, name: str, suffixes: Iterable[str]) -> Path | None:
    """Return the path of a file whose suffix was omitted."""
    return next(filter(None, (existing(base, name + suffix) for suffix in suffixes)), None)


def is_level(path: Path, suffixes: Iterable[str]) -> bool:
    return path.name.lower().endswith(tuple(suffixes)) and not path.name.startswith((".", "~")) and path.is_file()


def level_files(folder: Path, suffixes: Iterable[str]) -> list[Path]:
    try:
        files = [path for path in folder.iterdir() if is_level(path, suffixes)]
    except OSError as e:
        raise SettingsError("the folder cannot be read", place=Place(str(folder)), found=str(e)) from e
    return sorted(files, key=lambda path: natural(path.name))


def entries(folder: Path, depth: int, most: int) -> int:
    """Count the files and folders within a folder, down to a depth and up to `most`."""
    count, folders = 0, [(folder, depth)]
    while folders and count < most:
        inside, left = folders.pop()
        with contextlib.suppress(OSError), os.scandir(inside) as found:
            for entry in found:
                count += 1
                if left > 1 and not entry.name.startswith(".") and entry.is_dir():
                    folders.append((Path(entry.path), left - 1))
                if count >= most:
                    break
    return count


def once(paths: Iterable[Path]) -> list[Path]:
    """Return the paths without those that are the same file as an earlier one."""
    seen: dict[str, list[Path]] = {}
    kept = []
    for path in paths:
        real = Path(os.path.realpath(path))
        alike = seen.setdefault(fold(str(real)), [])
        if not any(real == other or os.path.samefile(real, other) for other in alike):
            alike.append(real)
            kept.append(path)
    return kept
