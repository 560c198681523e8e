"""Counts the moves that it takes to reach the targets of a level, by playing."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.core import RUNNING
from persona_evo.games.python_game.rules import ClassRules, ClassState
from persona_evo.seeds import stream

LOOKED = 5_000
"""Most states in which all actions are tried."""

Place = tuple[int, int]
"""(x, y)."""


class MoveGraph:
    """The places of a level and the moves between them.

    Args:
        rules: those of the class, which has the method `position`.
        start: a state before the first move.
    """

    def __init__(self, rules: ClassRules, start: NDArray[np.object_]) -> None:
        self._rules, self._start, self._place = rules, start, rules.place_of
        self._to: dict[Place, dict[Place, int]] = {}

    def nearest(self, state: ClassState, targets: Iterable[Place]) -> float:
        """Return the moves to the nearest target, as a share of the moves to the place farthest from the start.

        The share is at most 1, and 1 if no way is known. It is 0 without a target, and for an avatar without a place.
        """
        place = self._place(state)
        moves = [self._moves_to(target).get(place, self._farthest) for target in targets] if place else []
        return min(1.0, min(moves) / self._farthest) if moves else 0.0

    def _moves_to(self, target: Place) -> dict[Place, int]:
        if target not in self._to:
            self._to[target] = _distances(target, self._before)
        return self._to[target]

    @cached_property
    def _farthest(self) -> int:
        start = self._place(self._start)
        after: dict[Place, set[Place]] = {}
        for to, places in self._before.items():
            for place in places:
                after.setdefault(place, set()).add(to)
        return max(1, *_distances(start, after).values()) if start else 1

    @cached_property
    def _before(self) -> dict[Place, set[Place]]:
        """The places from which one move leads to a place, by that place."""
        rules, actions, rng = self._rules, np.zeros(self._rules.max_actions, dtype=np.int64), stream(1)
        looked: Counter[Place] = Counter()
        before: dict[Place, set[Place]] = {}
        numbers, known = itertools.count(), {rules.key(None, self._start)}
        waiting: list[tuple[int, int, NDArray[np.object_]]] = [(0, next(numbers), self._start)]
        while waiting and looked.total() < LOOKED:
            times, number, state = heapq.heappop(waiting)
            here = self._place(state)
            if here is None or rules.over(None, state) != RUNNING:
                continue
            if looked[here] > times:
                heapq.heappush(waiting, (looked[here], number, state))
                continue
            looked[here] += 1
            for action in actions[: rules.legal(None, state, actions)].tolist():
                after = state.copy()
                rules.step(None, after, action, rng)
                there, key = self._place(after), rules.key(None, after)
                if there is not None and there != here:
                    before.setdefault(there, set()).add(here)
                if there is not None and key not in known:
                    known.add(key)
                    heapq.heappush(waiting, (looked[there], next(numbers), after))
        return before


def _distances(start: Place, neighbours: dict[Place, set[Place]]) -> dict[Place, int]:
    """Return the number of moves from a place to each place that can be reached."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in neighbours.get(here, ()):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found
