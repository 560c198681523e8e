"""What is wrong with levels that nobody has played: the analysis of each, and what only shows beside another level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from persona_evo.games.analysis import at
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Finding, ranked
from persona_evo.words import counted


def has_analysis(game: Game) -> bool:
    """Whether anything can be said of a level of this game without playing it."""
    return game.analyse is not None


def diagnose(game: Game, levels: Sequence[Level]) -> list[Finding]:
    """The findings on levels, level by level, the most important of each first; then those on several levels."""
    found: list[Finding] = []
    for level in levels:
        found += ranked([*(game.analyse(level) if game.analyse else ()), *open_border(level)])
    return found


def open_border(level: Level) -> list[Finding]:
    """Floor at the edge of the board: allowed, and seldom meant."""
    grid: Any = level.facts.get("grid")
    if not all(hasattr(grid, name) for name in ("passable", "width", "height", "exit")):
        return []
    edge = [
        (x, y) for y in range(grid.height) for x in range(grid.width)
        if (x in (0, grid.width - 1) or y in (0, grid.height - 1)) and grid.passable(x, y) and (x, y) != grid.exit
    ]  # fmt: skip
    if not edge:
        return []
    return [
        Finding(
            "open_border", "notice", level.name,
            f"There is no wall at the edge of the board: {counted(len(edge), 'tile')} of floor at {at(edge)}. "
            "The edge stops movement as a wall does.", tuple(edge), evidence={"tiles": len(edge)},
        )
    ]  # fmt: skip
