"""Finds problems of levels that nobody has played: by the analysis of each, and by comparing them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from persona_evo.games import explored
from persona_evo.games.analysis import at
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Finding, Spot, ranked
from persona_evo.words import counted, enumerated

FEW_TILES, SHARE_OF_TILES = 3, 0.08
"""Tiles, and share of a map's tiles, that differ at most between levels that are nearly the same."""


def has_analysis(game: Game) -> bool:
    """Return whether anything can be said about a level of this game without playing it."""
    return game.analyse is not None


def unknown_in(game: Game, level: Level) -> str:
    """Return why an analysis that explores all states cannot judge a level; "" if it can, or does not explore."""
    return explored.said(game, level) if has_analysis(game) and not game.compiled else ""


def diagnose(game: Game, levels: Sequence[Level]) -> list[Finding]:
    """Return the findings on levels, level by level, the most important of each first.

    What makes one level harder than another appears with the first of the two, after the problems of the earlier one;
    notices on both follow from it, or are the same.
    """
    copies: list[list[Finding]] = [[] for _ in levels]
    for copy in harder_copies(game, levels):
        both = copy.level.split(", ")
        copies[next((i for i, level in enumerate(levels) if level.name in both), 0)].append(copy)
    found: list[Finding] = []
    for level, pairs in zip(levels, copies, strict=True):
        alone = ranked([*(game.analyse(level) if game.analyse else ()), *open_border(level)])
        problems = [f for f in alone if f.severity == "problem"]
        found += [*problems, *pairs, *alone[len(problems) :]]
    return found


def is_sound(game: Game, level: Level) -> bool | None:
    """Return whether the check of a level finds no problem; None if that holds only if the level can be won."""
    return has_no_problem(game, level) if game.sound is None else game.sound(level)


def has_no_problem(game: Game, level: Level) -> bool:
    """Return whether the complete check of a level finds no problem."""
    return not any(finding.severity == "problem" for finding in diagnose(game, [level]))


def harder_copies(game: Game, levels: Sequence[Level]) -> list[Finding]:
    """Find pairs of levels with nearly the same map, one of which is harder in some way and easier in none."""
    if game.hardness is None or len(levels) < 2:
        return []
    maps = [_rows(level) for level in levels]
    found = []
    for (i, a), (j, b) in itertools.combinations(enumerate(maps), 2):
        if a.shape != b.shape or not 0 < np.count_nonzero(a != b) <= max(FEW_TILES, SHARE_OF_TILES * a.size):
            continue
        spots = [(int(x), int(y)) for y, x in np.argwhere(a != b)]
        numbers = [game.hardness(levels[k]) for k in (i, j)]
        more = changes(*numbers)
        if more and all(numbers):
            found.append(_harder(levels[i], levels[j], more, spots))
        elif all(numbers) and (more := changes(*numbers[::-1])):
            found.append(_harder(levels[j], levels[i], more, spots))
    return found


def changes(easy: Mapping[str, float], hard: Mapping[str, float]) -> list[str]:
    """Return what makes the second level harder, in words; empty if it is not, or if something is easier in it.

    Where each thing more is one of a special kind, the kind alone is named: "1 more trap that every way springs".
    """
    found: dict[str, str] = {}
    by_name: dict[str, float] = {}
    for name in easy.keys() & hard.keys():
        sign = -1 if name.startswith("-") else 1
        by = sign * (hard[name] - easy[name])
        if by < 0:
            return []
        if by > 0:
            things = name.removeprefix("-")
            things = re.sub(r"s\b", "", things, count=1) if by == 1 else things
            found[name] = f"{by:g} {'fewer' if sign < 0 else 'more'} {things}"
            by_name[name] = by
    covered = {a for a in found for b in found if b.startswith(f"{a} ") and by_name[a] == by_name[b]}
    return sorted(words for name, words in found.items() if name not in covered)


def _harder(easy: Level, hard: Level, more: list[str], spots: list[Spot]) -> Finding:
    return Finding(
        "harder_copy",
        "notice",
        f"{easy.name}, {hard.name}",
        f"{hard.name} is nearly the same map as {easy.name}, and harder: {enumerated(more)}. "
        f"{counted(len(spots), 'tile')} {'differs' if len(spots) == 1 else 'differ'}: {at(spots)}.",
        tuple(spots),
        evidence={"harder": hard.name, "tiles": len(spots), "differences": more},
    )


def _rows(level: Level) -> Any:
    """Return a level's text as a board of characters, with short lines padded."""
    rows = level.rows or [""]
    width = max(map(len, rows))
    return np.array([list(row.ljust(width)) for row in rows]) if width else np.zeros((len(rows), 0), dtype="<U1")


def open_border(level: Level) -> list[Finding]:
    """Find floor at the edge of the board, which is allowed but seldom intended."""
    grid: Any = level.facts.get("grid")
    if not all(hasattr(grid, name) for name in ("passable", "width", "height", "exit")):
        return []
    edge = [
        (x, y)
        for y in range(grid.height)
        for x in range(grid.width)
        if (x in (0, grid.width - 1) or y in (0, grid.height - 1)) and grid.passable(x, y) and (x, y) != grid.exit
    ]
    if not edge:
        return []
    return [
        Finding(
            "open_border",
            "notice",
            level.name,
            f"There is no wall at the edge of the board: {counted(len(edge), 'tile')} of floor at {at(edge)}. "
            "The edge stops movement as a wall does.",
            tuple(edge),
            evidence={"tiles": len(edge)},
        )
    ]
