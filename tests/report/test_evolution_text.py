"""Tests the text of an evolution: reused results are mentioned if, and only if, there are any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persona_evo.report.evolution import Evolution, text


def row(generation: int, island: int, remembered: int, spared: int) -> dict[str, Any]:
    return {
        "generation": generation,
        "island": island,
        "best": 0.5,
        "mean": 0.4,
        "size": 7.0,
        "best_size": 5,
        "diversity": 1.0,
        "evaluations": 9,
        "remembered": remembered,
        "formula": "MS",
        "timing": {"seconds": 1.0, "evaluating": 0.9, "spared": spared},
    }


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([(0, 0), (0, 0)], ""),
        ([(1, 0), (2, 0)], "3 formulas"),
        ([(0, 6), (0, 6)], "6 playthroughs"),
        ([(1, 1), (0, 1)], "1 formula and 1 playthrough"),
    ],
)
def test_what_was_reused_is_counted(counts: list[tuple[int, int]], said: str) -> None:
    """Formulas are counted for each island, playthroughs for each generation."""
    rows = tuple(row(0, island, *both) for island, both in enumerate(counts))
    e = Evolution(Path("run"), {"persona": {"name": "runner"}}, rows, (), None)
    assert e.from_memory == said
    assert ("from memory" in text(e, 100)) == bool(said)


def test_journals_of_older_versions_say_nothing_of_it() -> None:
    old = row(0, 0, 0, 0)
    del old["remembered"], old["timing"]["spared"]
    assert Evolution(Path("run"), {"persona": {"name": "runner"}}, (old,), (), None).from_memory == ""
