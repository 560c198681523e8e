"""What was compiled, on disk: a file for each piece of bitcode and of machine code, named by all that it was made from.

A file is written whole or not at all, begins with a checksum, and is made anew where it is damaged. A folder that
cannot be written is read, and what is missing there is kept in memory. Nothing is ever wrong for being old: an edit
gives new names. What was not used for long is removed once there is much of it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path

NAME = "code"
"""The folder's name."""

MOST = 2_000
"""Files that are kept; the ones unused for longest go first."""

_SUM = 32
_memory: dict[str, bytes] = {}


def cache_root() -> Path:
    """Where compiled code is kept: $PERSONA_EVO_CACHE or the user's cache folder."""
    given = os.environ.get("PERSONA_EVO_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "persona_evo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "persona_evo"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "persona_evo"


@functools.cache
def cache_folder() -> Path:
    """The folder that is written to: below `cache_root`, or a temporary one where that is not possible."""
    folder = cache_root() / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK) and not any(folder.iterdir()):
            raise PermissionError
    except OSError:
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
        folder = Path(tempfile.gettempdir()) / f"persona_evo_cache_{user}"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and (folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o022):
            folder = Path(tempfile.mkdtemp(prefix="persona_evo_cache_"))  # somebody else may have put code there
    return folder


def read(name: str) -> bytes | None:
    """What was kept under a name; None where there is nothing, or nothing whole."""
    if name in _memory:
        return _memory[name]
    file = cache_folder() / name
    try:
        content = file.read_bytes()
    except OSError:
        return None
    if _sum(name, content[_SUM:]) != content[:_SUM]:
        return None
    with contextlib.suppress(OSError):
        if time.time() - file.stat().st_mtime > 86_400:
            os.utime(file)
    return content[_SUM:]


def _sum(name: str, content: bytes) -> bytes:
    """What shows that a file is whole and has its own name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def is_kept() -> bool:
    """Whether what is written is there for other processes, too."""
    return os.access(cache_folder(), os.W_OK)


def has(name: str) -> bool:
    """Whether something is kept under a name, if whole or not."""
    return name in _memory or (cache_folder() / name).is_file()


def write(name: str, content: bytes) -> None:
    """Keep something under a name, in memory where the disk refuses."""
    folder = cache_folder()
    draft = folder / f"{name}.{os.getpid()}.tmp"
    try:
        draft.write_bytes(_sum(name, content) + content)
        os.replace(draft, folder / name)
    except OSError:
        _memory[name] = content
        with contextlib.suppress(OSError):
            draft.unlink()
    else:
        _remove_old(folder)


def _remove_old(folder: Path) -> None:
    """Remove the files unused for longest, and drafts of processes that were killed; others may be doing the same."""
    files = []
    now = time.time()
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            used = file.stat().st_mtime
            if file.suffix == ".tmp" and now - used > 3_600:
                file.unlink()
            else:
                files.append((used, file))
    for _, file in sorted(files)[: max(0, len(files) - MOST)]:
        with contextlib.suppress(OSError):
            file.unlink()


def clear() -> tuple[int, list[Path]]:
    """Remove what is kept, and what former versions kept.

    Returns:
        How many files are gone, and which cannot be removed.
    """
    _memory.clear()
    former = re.compile("[0-9a-f]{16}")
    root = cache_root()
    old = [one for one in root.iterdir() if former.fullmatch(one.name) and one.is_dir()] if root.is_dir() else []
    files = [file for kind in ("*.bc", "*.o", "*.tmp") for file in cache_folder().glob(kind)]
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
