"""Watches files that somebody is editing and finds those that have changed since the last check."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from persona_evo.errors import InputError

_FRESH = 3.0
"""The seconds after its last change in which a file is read again although its size and time are the same."""


class Sources:
    """Reports changed files once they stay the same for two checks, so that half-written files are seldom read.

    A file that is replaced under its name, as many editors do, is the same file. A file that is gone counts as changed.

    Args:
        find: returns the files. If it raises an error, the files are assumed to be the same as before.
    """

    def __init__(self, find: Callable[[], Iterable[Path]]) -> None:
        self._find = find
        self._files: list[Path] = []
        self._digests: dict[Path, tuple[tuple[int, int, int], str]] = {}
        self._accepted = self._seen = self._look()

    def changed(self) -> list[Path]:
        """Return the files that were changed, added or removed since the last answer, once they are stable; else []."""
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
        """Return a digest of a file's content, "" if there is no file."""
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
