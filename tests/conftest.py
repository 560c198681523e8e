"""Fast tests first, so that what is broken is known early."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Modules are read by every worker and by hundreds of child processes: their bytecode is kept even in containers, where
it usually is not. Rewriting the assertions alone takes 20 s otherwise, for every worker and every time."""

ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", ANY_MACHINE, derandomize=True)
settings.register_profile("fresh", ANY_MACHINE, print_blob=True)
settings.load_profile("same")
"""Properties are held against the same examples each time, so that what passes here passes elsewhere. Others are drawn
by `pytest --hypothesis-profile fresh`, as often as one likes; what they find becomes an `example` of its test."""

ORDER = ("formula", "personas", "store", "games", "playtest", "search", "connect", "evolve", "report", "cli", "studies")
"""Folders of tests, quick ones first; test modules beside them come last."""
COMPILED = ("search", "colosseum", "minidungeons2", "its_alive", "roguelike2d", "puyo")
"""What takes long to compile, so that every second of them takes two workers about the same time."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a module for the quick subset if no test in it is marked quick."""
    if config.option.markexpr != "quick" or collection_path.suffix != ".py":
        return None
    return re.search(r"\bmark\.quick\b", collection_path.read_text(encoding="utf-8")) is None or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by folder; within one, tests marked slow come last and the order is that of the files."""
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> tuple[int, int]:
        inside = item.path.relative_to(here).parts if item.path.is_relative_to(here) else ()
        folder = inside[0] if len(inside) > 1 else ""
        return item.get_closest_marker("slow") is not None, ORDER.index(folder) if folder in ORDER else len(ORDER)

    items.sort(key=rank)


@pytest.fixture
def unsimplified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Winners of evolutions are not simplified, which takes seconds and has tests of its own."""
    from persona_evo.evolve import shortening, winner
    from persona_evo.formula.simplify import Simplified

    def as_it_is(formula: Any, *_: Any) -> Simplified:
        return Simplified(formula, formula, False, "not tried", True, 0.0)

    def lists_as_they_are(lists: Any, *_: Any) -> shortening.ShortLists:
        return shortening.ShortLists(tuple(lists), False, "not tried", False)

    monkeypatch.setattr(winner, "simplified", as_it_is)
    monkeypatch.setattr(shortening, "of_lists", lists_as_they_are)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Share out what is compiled: before all tests run, each worker begins with another part and finds the rest made.

    All test modules import the search; without this each worker would compile it for itself while the others do.
    """
    here, workers = os.environ.get("PYTEST_XDIST_WORKER", ""), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if not here or session.config.args != session.config.getini("testpaths"):
        return
    from persona_evo.games import registry

    for part in COMPILED[int(here.removeprefix("gw")) :: workers]:
        if part == "search":
            import persona_evo.agents.contest  # noqa: F401
        else:
            game = registry.get(part)
            for variant in ("", *game.variants):
                game.rules_for((), variant)
