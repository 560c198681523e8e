"""Shortens the scores of open lists that have won."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from persona_evo.evolve.explanation import with_estimates
from persona_evo.formula import Formula
from persona_evo.formula.simplify import (
    HANG_SECONDS,
    LEAST_SECONDS,
    NO_TIME,
    STOPPED,
    WORK,
    Simplified,
    simplify,
    without_shared,
)
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.personas.lists import OpenList, readable
from persona_evo.search.samples import random_states
from persona_evo.words import counted

DIGITS = 12
"""The significant digits of constants. With so many, values change in their last digit at most."""


@dataclass(frozen=True)
class ShortLists:
    """The result of simplifying open lists.

    Attributes:
        lists: the lists with the shortest scores that passed.
        replaced: whether one of them is shorter than before.
        reason: what was done, in words.
        cut: whether the time was up before everything was tried.
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
    """Return lists whose scores are shorter and order states alike.

    Numbers that are added to a whole score are removed, since nothing depends on them. The rest keeps its values, since
    a list compares states from all over the tree.

    Args:
        levels: the levels with states to check the shorter forms on.
        until: the moment on `time.monotonic` by which to return what has been found.
    """
    symbols = readable(game.symbols)
    states = [s.metrics for s in random_states(game, levels, until) if s.outcome == RUNNING]
    rows = np.array([[state[s] for s in symbols] for state in with_estimates(states, game, utility)])
    found: list[Simplified] = []
    for number, one in enumerate(lists):
        score = without_shared(one.score, ()) or one.score
        left = HANG_SECONDS if until is None else (until - time.monotonic()) / (len(lists) - number)
        if left < LEAST_SECONDS:
            found.append(Simplified(score, score, False, NO_TIME, True, 0.0, True))
            continue
        samples = rows.reshape(-1, len(symbols))
        work = WORK // len(lists)
        found.append(simplify(score, symbols, samples, left, digits=DIGITS, shared=(), until=until, work=work))
    short = tuple(replace(one, score=f.formula) for one, f in zip(lists, found, strict=True))
    changed = sum(old.score != new.score for old, new in zip(lists, short, strict=True))
    before, after = (sum(one.score.size for one in some) for some in (lists, short))
    cut = [f for f in found if f.cut or (until is not None and STOPPED in f.reason)]
    reason = "no score has a shorter form"
    if changed:
        shorter = f"{counted(changed, 'score')} simplified, from {before} to {counted(after, 'node')} in all"
        reason = f"{shorter}, with the same order of states"
    if cut:
        reason += f"; {counted(len(cut), 'list')} not finished, because time ran out"
    return ShortLists(short, bool(changed), reason, bool(cut))
