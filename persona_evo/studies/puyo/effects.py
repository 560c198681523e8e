"""Effect sizes: searches against each other, in pairs of games from the same starting position.

The pairs of searches are those of which the publication says something, under each clock, and those that play for the
persona. As in an experiment over several levels, a pair of positions is one observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from persona_evo.experiments.results import CellComparison, family, paired_comparison
from persona_evo.studies.puyo.cells import (
    BFS,
    DFS,
    EVOLVED,
    EXHAUSTIVE,
    FLAT,
    NAMES,
    PLANNED,
    RANDOM,
    UCB1,
    PuyoCell,
)
from persona_evo.studies.puyo.games import PuyoGame, PuyoGames

Value = Callable[[PuyoGame], float]

CLAIMED = (
    ((BFS, 3), (EXHAUSTIVE, 3)),
    ((BFS, 3), (RANDOM, 3)),
    ((BFS, 3), (FLAT, 3)),
    ((RANDOM, 3), (FLAT, 3)),
    ((DFS, 3), (FLAT, 3)),
    ((FLAT, 4), (EXHAUSTIVE, 3)),
    ((FLAT, 4), (FLAT, 3)),
    ((FLAT, 5), (FLAT, 3)),
)
"""Searches, each with its depth, that the publication compares."""


def effects(m: PuyoGames) -> list[CellComparison]:
    """Compare the searches; the p values are corrected over all comparisons."""
    return family([_compared(m, a, b, value) for a, b, value in _pairs(m)])


def _pairs(m: PuyoGames) -> Iterator[tuple[PuyoCell, PuyoCell, Value]]:
    """Yield pairs of cells, and what their games are compared in: the score, or the persona's utility."""
    s = m.settings
    for clock in s.clocks:
        for sides in CLAIMED:
            a, b = (
                PuyoCell(how, depth) if how == EXHAUSTIVE else PuyoCell(how, depth, "clock", clock)
                for how, depth in sides
            )
            if m.played.get(a.name) and m.played.get(b.name):
                yield a, b, lambda game: game.score_at(s.drops)
    for depth, kind, limit in ((0, PLANNED, s.iterations), (s.compared_depth, "playouts", s.compared)):
        evolved, ucb1, flat = (PuyoCell(how, depth, kind, limit, s.persona) for how in (EVOLVED, UCB1, FLAT))
        for a, b in ((evolved, ucb1), (evolved, flat), (ucb1, flat)):
            yield a, b, lambda game: game.value


def _compared(m: PuyoGames, a: PuyoCell, b: PuyoCell, value: Value) -> CellComparison:
    positions = len(m.tests) if a.kind == PLANNED else len(m.levels)
    one, other = ([(game.game % positions, value(game)) for game in m.played[cell.name]] for cell in (a, b))
    return paired_comparison(_words(a), _words(b), one, other)


def _words(cell: PuyoCell) -> str:
    depth = f", depth {cell.depth}" if cell.depth else ""
    return f"{NAMES[cell.method]}{depth}, {cell.budget}"
