"""What was compiled, on disk: a file for each piece of bitcode and of machine code, named by all that it was made from.

A file is written whole or not at all, begins with a checksum, and is made anew where it is damaged. The name of machine
code ends in a mark of the processor and of the versions it was made with. An edit gives new names, so nothing is ever
wrong for being old. What was not used for long is removed once there is much of it.

Machine code is run, so it is read only where nobody else can have put it: from a folder and files that belong to this
user (or to the system's administrator) and that nobody else can write. Where there is no such folder compiled code
stays in memory, and a warning says so.
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
"""The folder's name."""

MOST = 4_000
"""Files that are kept, about 45 kB each; the ones unused for longest go first."""

_SUM = 32
_memory: dict[str, bytes] = {}
_told: set[str] = set()
_log = logging.getLogger(__name__)


def cache_root() -> Path:
    """Where compiled code is kept: $PERSONA_EVO_CACHE or the user's cache folder.

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
    """The path in an environment variable; None if it is empty or relative, which the XDG standard has us ignore."""
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


@dataclass(frozen=True)
class CacheLocation:
    """Where compiled code is kept.

    Attributes:
        folder: where it is read and, if possible, written; None for memory alone.
        trouble: why it is not below `cache_root`; empty if it is.
    """

    folder: Path | None
    trouble: str = ""


@functools.cache
def chosen() -> CacheLocation:
    """The folder below `cache_root`, or else a private one below the temporary folder, or else none."""
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
    """The folder of compiled code; None if it is kept in memory alone."""
    choice = chosen()
    if choice.trouble:
        instead = f"kept in {choice.folder}" if choice.folder else "kept in memory and compiled again by each process"
        _warn("place", f"{choice.trouble}; compiled code is {instead} (PERSONA_EVO_CACHE names another folder)")
    return choice.folder


def _own(folder: Path) -> str:
    """Make a folder that only this user can write, if it is not there yet; why that is not possible, or ""."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.stat()
        if not stat.S_ISDIR(found.st_mode):
            return f"{folder} is no folder"
        if not _is_trusted(found.st_uid):
            return f"{folder} belongs to {owner(folder)}"
        if _is_mine(found.st_uid) and found.st_mode & 0o077 and os.name == "posix":
            folder.chmod(0o700)
        elif found.st_mode & 0o022 and os.name == "posix":
            return f"others than {owner(folder)} can write {folder}"
        if not os.access(folder, os.W_OK) and not any(folder.iterdir()):
            return f"{folder} cannot be written"
    except OSError as e:
        return f"{e.filename or folder} cannot be used ({e.strerror})"
    return ""


def _is_mine(uid: int) -> bool:
    return not hasattr(os, "geteuid") or uid == os.geteuid()


def _is_trusted(uid: int) -> bool:
    """Whether what a user left may be run: this user, or the administrator, who can do anything anyway."""
    return _is_mine(uid) or uid == 0


def owner(path: Path) -> str:
    """The name of the user that a file or folder belongs to, or the number of one without a name."""
    try:
        return path.owner()
    except (KeyError, NotImplementedError, OSError):
        with contextlib.suppress(OSError):
            return f"user {path.stat().st_uid}"
        return "nobody"


def _warn(kind: str, text: str) -> None:
    """Warn once in a process, and in the first one alone: workers find the same."""
    if kind not in _told:
        _told.add(kind)
        if multiprocessing.current_process().name == "MainProcess":
            _log.warning("%s", text)


def read(name: str) -> bytes | None:
    """What was kept under a name; None where there is nothing, or nothing whole, which is said once."""
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
    """A file's content; None if it is damaged or belongs to somebody else.

    Raises:
        OSError: it cannot be read.
    """
    with file.open("rb") as f:
        if not _is_trusted(os.fstat(f.fileno()).st_uid):
            return None
        content = f.read()
    return content[_SUM:] if _sum(file.name, content[_SUM:]) == content[:_SUM] else None


def _sum(name: str, content: bytes) -> bytes:
    """What shows that a file is whole and has its own name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def is_kept() -> bool:
    """Whether what is written is there for other processes, too."""
    folder = cache_folder()
    return folder is not None and os.access(folder, os.W_OK)


def has(name: str) -> bool:
    """Whether something is kept under a name, if whole or not."""
    folder = cache_folder()
    return name in _memory or (folder is not None and (folder / name).is_file())


def has_any(mark: str) -> bool:
    """Whether there is machine code with a mark."""
    names = [*_memory, *(file.name for file in _code())]
    return any(name.endswith(f".{mark}.o") for name in names)


def _code() -> Iterator[Path]:
    """The files of machine code."""
    folder = chosen().folder
    return folder.glob("*.o") if folder is not None else iter(())


def explain(mark: str) -> None:
    """Say once why everything is compiled again: what is there has other marks alone."""
    if any(_code()) and not has_any(mark):
        folder = chosen().folder
        _warn(
            "mark",
            f"the compiled code in {folder} is for another processor or for other versions; the code is compiled again",
        )


@dataclass(frozen=True)
class CacheState:
    """What is kept on disk, in numbers of files of machine code.

    Attributes:
        here: for this processor and these versions. others: for others. damaged: of either, cannot be read.
    """

    here: int
    others: int
    damaged: int


def state(mark: str) -> CacheState:
    """Read all there is, and count it by whether it has a mark."""
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
    """Keep something under a name, in memory where the disk refuses."""
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
    """Remove drafts of processes that were killed, and of too many files those unused for longest.

    Other processes may be doing the same.
    """
    files = [folder / name for name in os.listdir(folder)]
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
    """Remove what is kept, and what former versions kept.

    Returns:
        How many files are gone, and which cannot be removed.
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
    for file in files:
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
