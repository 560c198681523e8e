"""Fast tests first, so that what is broken is known early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from persona_evo.evolve import winner
from persona_evo.report import plots

ORDER = ("formula", "personas", "store", "games", "playtest", "search", "connect", "evolve", "report", "cli")
"""Folders of tests, quick ones first; test modules beside them come last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by folder; within one, tests marked slow come last and the order is that of the files."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> tuple[int, int]:
        inside = item.path.relative_to(here).parts if item.path.is_relative_to(here) else ()
        folder = inside[0] if len(inside) > 1 else ""
        return item.get_closest_marker("slow") is not None, ORDER.index(folder) if folder in ORDER else len(ORDER)

    items.sort(key=rank)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of reports are laid out and one pixel large: to draw them takes most of a report's time."""

    def saved(figure: Any, path: Path | str) -> Path:
        Image.new("RGB", (1, 1)).save(path, format="png")
        return Path(path)

    monkeypatch.setattr(plots, "_save", saved)


@pytest.fixture
def unsimplified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Winners of evolutions are not simplified, which takes seconds and has tests of its own."""
    monkeypatch.setattr(winner, "simplified", lambda formula, spec: ("", "not tried"))
