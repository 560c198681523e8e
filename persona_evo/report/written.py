"""The output of a report: its page, the names of its files, and its text for a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Attributes:
        page: its main file.
        text: tables and sentences for a terminal.
    """

    page: Path
    text: str


class Names:
    """File names in a folder, by level and player: safe on every system, and distinct even if case is ignored."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._used: set[str] = set()

    def file(self, *parts: str, suffix: str) -> Path:
        """Return a new file name, such as `map01-runner-best.gif`."""
        stem = "-".join(re.sub(r"[^\w.+]+", "_", part).strip("._") or "_" for part in parts)[:100]
        name, number = stem, 1
        while name.lower() + suffix in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name.lower() + suffix)
        return self.folder / (name + suffix)
