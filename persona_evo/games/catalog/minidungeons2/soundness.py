"""Tells whether a level has no problem, many times faster than the full analysis, which also makes notices.

Two problems take long to rule out: that nobody survives, and that monsters take all treasures whatever the hero does.
One playthrough that reaches the exit alive, and one that opens a treasure, prove the opposite.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

from persona_evo.games.catalog.minidungeons2 import analysis, harm, opening, ways
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.catalog.minidungeons2.board import TREASURE, DungeonBoard
from persona_evo.games.catalog.minidungeons2.core import CORE
from persona_evo.games.core import LOST, WON, Level
from persona_evo.games.findings import Spot
from persona_evo.games.following import Following

MOST_STATES = 1_000
"""The number of states explored for a playthrough, those near its goal first; a hit point counts like a step."""


def sound(level: Level) -> bool | None:
    """Return whether `analysis.analyse` finds no problem; None if that depends on whether the level can be won."""
    board = DungeonBoard(level)
    found = [*analysis.unreachable_exit(board), *analysis.unreachable_objects(board)]
    if board.grid.exit in board.reached:
        found += [*analysis.deadly_way(board), *ways.shortcuts(board)]
        if board.grid.exit in board.survival.alive:
            found += analysis.no_return(board)
    if any(finding.severity == "problem" for finding in found):
        return False
    treasures = board.at(TREASURE)
    if treasures and not _play(level, harm.home(board, treasures), lambda state, over: bool(state[tb.OPENED_AT])):
        return not any(finding.severity == "problem" for finding in opening.opening(board))
    return _play(level, harm.home(board, [board.grid.exit]), lambda state, over: over == WON) or None


def _play(level: Level, home: dict[Spot, int], reached: Callable[[Any, int], bool]) -> bool:
    """Return whether a playthrough was found that reaches a goal state.

    Args:
        level: the level.
        home: the moves from each tile to the places of goal states.
        reached: (state, its outcome) -> whether it is a goal state.
    """
    t, far, following = level.tables, len(home), Following(CORE, level)
    n = int(t[tb.TILES])
    xs, ys = t[tb.HEADER : tb.HEADER + n], t[tb.HEADER + n : tb.HEADER + 2 * n]
    queue: list[tuple[int, int, Any]] = [(0, 0, level.start)]
    known, ticket = set[int](), itertools.count(1)
    for _ in range(MOST_STATES):
        if not queue:
            return False
        after = following.of([heapq.heappop(queue)[2]])
        for key, over, new in zip(after.keys, after.ends, after.rows, strict=True):
            if reached(new, over):
                return True
            if over in (LOST, WON) or key in known:
                continue
            known.add(key)
            at = int(new[tb.HERO_AT])
            near = home.get((int(xs[at]), int(ys[at])), far)
            heapq.heappush(queue, (near - int(new[tb.HP_AT]), next(ticket), new.copy()))
    return False
