"""Shorter forms of the scores of open lists that have won."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from persona_evo.evolve.explanation import with_estimates
from persona_evo.formula import Formula
from persona_evo.formula.simplify import LEAST_SECONDS, NO_TIME, STOPPED, Simplified, simplify
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.personas.lists import OpenList, readable
from persona_evo.search.samples import random_states
from persona_evo.words import counted

SECONDS = 20.0
"""Time limit of the simplification of all lists."""
DIGITS = 12
"""Significant digits of constants: enough for the values to stay what they are, but for the last of their digits."""


@dataclass(frozen=True)
class ShortLists:
    """Open lists and what came of simplifying them.

    lists: with the shortest scores that passed. replaced: whether one is shorter than it was. reason: what was done, in
    words. cut: whether the time was up before all was tried.
    """

    lists: tuple[OpenList, ...]
    replaced: bool
    reason: str
    cut: bool

    @property
    def scores(self) -> tuple[Formula, ...]:
        """The scores of the lists."""
        return tuple(one.score for one in self.lists)


def of_lists(
    lists: Sequence[OpenList], game: Game, levels: Sequence[Level], utility: Formula | None, until: float | None = None
) -> ShortLists:
    """Lists whose scores have the same values in a shorter form, since they compare states from all over the tree.

    Args:
        levels: for states to check the shorter forms on.
        until: moment on `time.monotonic` by which to be done with what has been found by then.
    """
    end = time.monotonic() + SECONDS if until is None else min(until, time.monotonic() + SECONDS)
    symbols = readable(game.symbols)
    states = [s.metrics for s in random_states(game, levels, until) if s.outcome == RUNNING]
    rows = np.array([[state[s] for s in symbols] for state in with_estimates(states, game, utility)])
    found: list[Simplified] = []
    for number, one in enumerate(lists):
        left = (end - time.monotonic()) / (len(lists) - number)  # the others have their share of the time, too
        if left < LEAST_SECONDS:
            found.append(Simplified(one.score, one.score, False, NO_TIME, True, 0.0, True))
            continue
        samples = rows.reshape(-1, len(symbols))
        found.append(simplify(one.score, symbols, samples, left, digits=DIGITS, shared=(), until=until))
    short = tuple(replace(one, score=f.formula) for one, f in zip(lists, found, strict=True))
    nodes = [sum(f.size for f in forms) for forms in ([x.raw for x in found], [x.formula for x in found])]
    cut = [f for f in found if f.cut or (until is not None and STOPPED in f.reason)]
    reason = "no score has a shorter form"
    if nodes[1] < nodes[0]:
        shorter = counted(sum(f.replaced for f in found), "score")
        reason = f"{shorter} simplified, from {nodes[0]} to {counted(nodes[1], 'node')} in all, with the same values"
    if cut:
        reason += f"; {counted(len(cut), 'list')} not tried to the end for want of time"
    return ShortLists(short, nodes[1] < nodes[0], reason, bool(cut))
