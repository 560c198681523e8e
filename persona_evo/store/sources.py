"""Files that somebody is editing: which of them have changed since the last look."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from persona_evo.errors import InputError

_FRESH = 3.0
"""Seconds after its last change in which a file is read again, although its size and time are the same."""


class Sources:
    """Tells what changed once it stays as it is for two looks, so that half a file is seldom read.

    A file that is replaced under its name, as many editors do it, is the same file. One that is gone counts as changed.

    Args:
        find: the files; what it raises means that the files are the same as before.
    """

    def __init__(self, find: Callable[[], Iterable[Path]]) -> None:
        self._find = find
        self._files: list[Path] = []
        self._digests: dict[Path, tuple[tuple[int, int, int], str]] = {}
        self._accepted = self._seen = self._look()

    def changed(self) -> list[Path]:
        """The files that were changed, added or removed since the last answer, once they rest; else []."""
        now = self._look()
        if now == self._accepted or now != self._seen:
            self._seen = now
            return []
        before, self._accepted = self._accepted, now
        return sorted(p for p in {**before, **now} if before.get(p) != now.get(p))

    def _look(self) -> dict[Path, str]:
        with contextlib.suppress(InputError):  # a name may stand for nothing for a moment
            self._files = list(self._find())
        return {path: self._digest(path) for path in self._files}

    def _digest(self, path: Path) -> str:
        """Names a file's content, "" where there is none."""
        try:
            found = os.stat(path)
            sign = found.st_mtime_ns, found.st_size, found.st_ino
            known = self._digests.get(path)
            if known is not None and known[0] == sign and time.time() - found.st_mtime > _FRESH:
                return known[1]
            digest = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        except OSError:
            return ""
        self._digests[path] = sign, digest
        return digest
