"""The order of tests, fast ones first; and what is shared so that a run takes less time."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Bytecode is written even where the environment forbids it, as container images do: every worker and hundreds of child
processes read the same modules. Without it each worker takes 20 s to rewrite the assertions, in every run."""

ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", ANY_MACHINE, derandomize=True)
settings.register_profile("fresh", ANY_MACHINE, print_blob=True)
settings.load_profile("same")
"""Hypothesis draws the same examples each time, so that what passes here passes elsewhere. With
`pytest --hypothesis-profile fresh` it draws new ones; a counterexample becomes an `example` of its test."""

ORDER = ("formula", "personas", "store", "games", "playtest", "search", "connect", "evolve", "report", "cli", "studies")
"""The order of the folders; the modules in `tests/` itself come last."""
COMPILED = ("search", "colosseum", "minidungeons2", "its_alive", "roguelike2d", "puyo")
"""What takes long to compile. With two workers, each compiles every second of them, which takes both about as long."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a module for the quick subset if no test in it is marked quick."""
    if config.option.markexpr != "quick" or collection_path.suffix != ".py":
        return None
    return re.search(r"\bmark\.quick\b", collection_path.read_text(encoding="utf-8")) is None or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what the collection makes, which stays until the end, out of every later search for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
    """Leave the winners of evolutions as they are: simplification takes seconds and has tests of its own."""
    leave_unsimplified(monkeypatch)


def leave_unsimplified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a fixture of a module."""
    from persona_evo.evolve import shortening, winner
    from persona_evo.formula.simplify import Simplified

    def as_it_is(formula: Any, *_: Any) -> Simplified:
        return Simplified(formula, formula, False, "not tried", True, 0.0)

    def lists_as_they_are(lists: Any, *_: Any) -> shortening.ShortLists:
        return shortening.ShortLists(tuple(lists), False, "not tried", False)

    monkeypatch.setattr(winner, "simplified", as_it_is)
    monkeypatch.setattr(shortening, "of_lists", lists_as_they_are)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Share out the compilation: before the first test each worker compiles another part, and later reads the others'.

    Without this, workers would compile the same functions at the same time.
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
