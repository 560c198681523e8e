"""What a report leaves: its page, its files' names, and what a terminal is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Attributes:
        page: its first file.
        text: tables and sentences for a terminal.
    """

    page: Path
    text: str


class Names:
    """Files in a folder, named by levels and players: safe on every system, and no two alike, whatever the case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._used: set[str] = set()

    def file(self, *parts: str, suffix: str) -> Path:
        """A new file, such as `map01-runner-best.gif`."""
        stem = "-".join(re.sub(r"[^\w.+]+", "_", part).strip("._") or "_" for part in parts)[:100]
        name, number = stem, 1
        while name.lower() + suffix in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name.lower() + suffix)
        return self.folder / (name + suffix)
