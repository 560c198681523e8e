"""What a report leaves: its page, and what a terminal is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Report:
    """What was written. text: tables and sentences for a terminal."""

    page: Path
    text: str
