"""Keeps compiled code on disk: a file for each piece of bitcode and machine code, named after everything it depends on.

Files are written atomically and begin with a checksum; a damaged file is made again. The name of machine code ends in a
mark of the processor and the versions that it was made with. An edit leads to new names, so a file is never outdated.
When there are too many files, those unused for the longest time are removed.

Machine code is executed, so it is read only if nobody else can have written it: the folder and the files must belong to
this user (or the system's administrator), and nobody else may be able to write them. Without such a folder, compiled
code stays in memory and a warning says so.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import multiprocessing
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = "code"
"""The name of the folder."""

MOST = 4_000
"""The largest number of files to keep, about 45 kB each; the least recently used ones are removed first."""

_SUM = 32
_memory: dict[str, bytes] = {}
_told: set[str] = set()
_log = logging.getLogger(__name__)


def cache_root() -> Path:
    """Return the folder for compiled code: $PERSONA_EVO_CACHE or the user's cache folder.

    Raises:
        RuntimeError: the user has no home folder.
    """
    given = os.environ.get("PERSONA_EVO_CACHE")
    if given:
        return Path(given).absolute()
    if sys.platform == "win32":
        return (_absolute("LOCALAPPDATA") or Path.home()) / "persona_evo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "persona_evo"
    return (_absolute("XDG_CACHE_HOME") or Path.home() / ".cache") / "persona_evo"


def _absolute(variable: str) -> Path | None:
    """Return the path in an environment variable; None if it is empty or relative, as the XDG standard requires."""
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


@dataclass(frozen=True)
class CacheLocation:
    """The place where compiled code is kept.

    Attributes:
        folder: the folder in which it is read and, if possible, written; None for memory only.
        trouble: the reason why the folder is not below `cache_root`; "" if it is.
    """

    folder: Path | None
    trouble: str = ""


@functools.cache
def chosen() -> CacheLocation:
    """Choose the folder below `cache_root`, or else a private one below the temporary folder, or else none."""
    try:
        first = cache_root() / NAME
    except RuntimeError as e:
        trouble = str(e)
    else:
        trouble = _own(first)
        if not trouble:
            return CacheLocation(first)
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    second = Path(tempfile.gettempdir()) / f"persona_evo_cache_{user}" / NAME
    if not _own(second.parent) and not _own(second):
        return CacheLocation(second, trouble)
    return CacheLocation(None, trouble)


def cache_folder() -> Path | None:
    """Return the folder of compiled code; None if the code is kept only in memory."""
    choice = chosen()
    if choice.trouble:
        instead = f"kept in {choice.folder}" if choice.folder else "kept in memory and compiled again by each process"
        _warn("place", f"{choice.trouble}; compiled code is {instead} (PERSONA_EVO_CACHE names another folder)")
    return choice.folder


def _own(folder: Path) -> str:
    """Create a folder that only this user can write, if it is missing; return why that is not possible, or ""."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.stat()
        if not stat.S_ISDIR(found.st_mode):
            return f"{folder} is not a folder"
        if not _is_trusted(found.st_uid):
            return f"{folder} belongs to {owner(folder)}"
        if _is_mine(found.st_uid) and found.st_mode & 0o077 and os.name == "posix":
            folder.chmod(0o700)
        elif found.st_mode & 0o022 and os.name == "posix":
            return f"users other than {owner(folder)} can write to {folder}"
        if not os.access(folder, os.W_OK) and not any(folder.iterdir()):
            return f"{folder} cannot be written"
    except OSError as e:
        return f"{e.filename or folder} cannot be used ({e.strerror})"
    return ""


def _is_mine(uid: int) -> bool:
    return not hasattr(os, "geteuid") or uid == os.geteuid()


def _is_trusted(uid: int) -> bool:
    """Return whether files of a user may be run: this user, or the administrator, who can do anything anyway."""
    return _is_mine(uid) or uid == 0


def owner(path: Path) -> str:
    """Return the name of the user who owns a file or folder, or the user's number if there is no name."""
    try:
        return path.owner()
    except (KeyError, NotImplementedError, OSError):
        with contextlib.suppress(OSError):
            return f"user {path.stat().st_uid}"
        return "nobody"


def _warn(kind: str, text: str) -> None:
    """Warn once, and only in the first process, since workers find the same."""
    if kind not in _told:
        _told.add(kind)
        if multiprocessing.current_process().name == "MainProcess":
            _log.warning("%s", text)


def read(name: str) -> bytes | None:
    """Return what was kept under a name, or None if it is missing or damaged; warn once about damage."""
    if name in _memory:
        return _memory[name]
    folder = cache_folder()
    if folder is None:
        return None
    file = folder / name
    try:
        content = _whole(file)
    except FileNotFoundError:
        return None
    except OSError:
        content = None
    if content is None:
        _warn("damage", f"compiled code in {folder} cannot be read ({name}, maybe others); it is compiled again")
        return None
    with contextlib.suppress(OSError):
        if time.time() - file.stat().st_mtime > 3_600:
            os.utime(file)
    return content


def _whole(file: Path) -> bytes | None:
    """Return a file's content, or None if it is damaged or belongs to another user.

    Raises:
        OSError: it cannot be read.
    """
    with file.open("rb") as f:
        if not _is_trusted(os.fstat(f.fileno()).st_uid):
            return None
        content = f.read()
    return content[_SUM:] if _sum(file.name, content[_SUM:]) == content[:_SUM] else None


def _sum(name: str, content: bytes) -> bytes:
    """Return the checksum that shows that a file is complete and has its own name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def is_kept() -> bool:
    """Return whether other processes can read what is written."""
    folder = cache_folder()
    return folder is not None and os.access(folder, os.W_OK)


def has(name: str) -> bool:
    """Return whether something is kept under a name, damaged or not."""
    folder = cache_folder()
    return name in _memory or (folder is not None and (folder / name).is_file())


def has_any(mark: str) -> bool:
    """Return whether there is machine code with a mark."""
    names = [*_memory, *(file.name for file in _code())]
    return any(name.endswith(f".{mark}.o") for name in names)


def _code() -> Iterator[Path]:
    """Yield the files of machine code."""
    folder = chosen().folder
    return folder.glob("*.o") if folder is not None else iter(())


def explain(mark: str) -> None:
    """Explain once why everything is compiled again, if all the existing code has other marks."""
    if any(_code()) and not has_any(mark):
        folder = chosen().folder
        _warn(
            "mark",
            f"the compiled code in {folder} is for another processor or for other versions; the code is compiled again",
        )


@dataclass(frozen=True)
class CacheState:
    """The numbers of files of machine code on disk.

    Attributes:
        here: files for this processor and these versions.
        others: files for other processors or versions.
        damaged: files of either kind that cannot be read.
    """

    here: int
    others: int
    damaged: int


def state(mark: str) -> CacheState:
    """Read all files of machine code, and count those with the mark, those without, and the damaged ones."""
    here = others = damaged = 0
    for file in _code():
        try:
            whole = _whole(file) is not None
        except OSError:
            whole = False
        mine = file.name.endswith(f".{mark}.o")
        here, others, damaged = here + (whole and mine), others + (whole and not mine), damaged + (not whole)
    return CacheState(here, others, damaged)


def write(name: str, content: bytes) -> None:
    """Keep something under a name; in memory if writing to disk fails."""
    folder = cache_folder()
    if folder is None:
        _memory[name] = content
        return
    draft = folder / f"{name}.{os.getpid()}.tmp"
    try:
        draft.write_bytes(_sum(name, content) + content)
        os.replace(draft, folder / name)
    except OSError as e:
        _memory[name] = content
        _warn("full", f"compiled code cannot be kept in {folder} ({e.strerror}); each process compiles it again")
        with contextlib.suppress(OSError):
            draft.unlink()
    else:
        _remove_old(folder)


def _remove_old(folder: Path) -> None:
    """Remove drafts of killed processes and, if there are too many files, those unused for the longest time.

    Other processes may be doing the same.
    """
    files = [folder / name for name in os.listdir(folder) if not name.endswith(".lock")]
    ages: list[tuple[float, Path]] = []
    for file in files if len(files) > MOST else [one for one in files if one.suffix == ".tmp"]:
        with contextlib.suppress(OSError):
            used = file.stat().st_mtime
            if file.suffix == ".tmp" and time.time() - used > 3_600:
                file.unlink()
            else:
                ages.append((used, file))
    for _, file in sorted(ages)[: max(0, len(ages) - MOST)]:
        with contextlib.suppress(OSError):
            file.unlink()


def clear() -> tuple[int, list[Path]]:
    """Remove everything that is kept, also by former versions.

    Returns:
        The number of files removed, and the files that cannot be removed.
    """
    _memory.clear()
    former = re.compile("[0-9a-f]{16}")
    folder = chosen().folder
    try:
        old = [one for one in cache_root().iterdir() if former.fullmatch(one.name) and one.is_dir()]
    except (OSError, RuntimeError):
        old = []
    files = [file for kind in ("*.bc", "*.o", "*.tmp") for file in folder.glob(kind)] if folder is not None else []
    files += [file for folder in old for kind in ("*.nbi", "*.nbc") for file in folder.rglob(kind)]
    for file in [*files, *(folder.glob("*.lock") if folder is not None else ())]:
        with contextlib.suppress(OSError):
            file.unlink()
    for folder in old:
        for inside in sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True):
            with contextlib.suppress(OSError):
                inside.rmdir()
        with contextlib.suppress(OSError):
            folder.rmdir()
    left = [file for file in files if file.exists()]
    return len(files) - len(left), left
