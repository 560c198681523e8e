"""The memory that searches with open lists need beside the tree of a planner."""

from __future__ import annotations

import numpy as np

from persona_evo.compiling import Handle
from persona_evo.games.core import Game, Level
from persona_evo.games.main_metrics import main_metrics
from persona_evo.search.open_lists import Planning, TreeFacts, words_of
from persona_evo.search.problem import Problem

MOST_FACTS = 2**22
"""The highest number of entries in the table of facts seen."""

LIMITS = 1_000
"""The number of depths for which the utility's limit is computed. Deeper states have the limit of the last."""


class ListMemory:
    """What one search with open lists after the other uses.

    Args:
        game, level: the game and the level, as they are searched.
        capacity: the highest number of nodes.

    Attributes:
        heaps: int32[lists, capacity], one open list per row.
        facts: the facts seen.
        limits: float64[depths], the highest possible utility at each depth and below it.
    """

    def __init__(self, game: Game, level: Level, capacity: int) -> None:
        self._capacity, self._limited = capacity, ("", 0)
        self._handle: Handle[Planning] | None = None
        self.heaps = np.empty((0, capacity), dtype=np.int32)
        size = 1024
        while size < min(2 * capacity, MOST_FACTS):
            size *= 2
        novelty, count = game.novelty(level) if game.novelty is not None else (words_of, len(level.start))
        main = [game.symbols.index(m.symbol) for m in main_metrics([m for m in game.metrics if not m.costly])]
        self.facts = TreeFacts(
            novelty,
            0,
            np.zeros(max(1, count), dtype=np.int64),
            np.array(main, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
        )
        self.limits = np.zeros(1)

    def prepare(self, lists: int, problem: Problem) -> None:
        """Make room for `lists` lists, clear the facts seen, and compute the limits."""
        if len(self.heaps) < lists:
            self.heaps = np.empty((lists, self._capacity), dtype=np.int32)
        self.facts.seen.fill(0)
        if self._limited != (key := (problem.utility.text, problem.horizon)):
            depths = 1 if problem.constant else min(problem.horizon + 2, LIMITS)
            self._limited = key
            self.limits = np.array([problem.ceiling(depth) for depth in range(depths)], dtype=np.float64)

    def handle(self, work: Planning) -> Handle[Planning]:
        """Return the handle of a search, in place of the last one."""
        if self._handle is None:
            self._handle = Handle(work)
        self._handle.work = work
        return self._handle
