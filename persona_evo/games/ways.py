"""How far it is to what a game has to offer, found by playing: for games of which nothing but the rules is known.

A game says where the avatar is in a state, and where the targets lie. Which place leads to which is tried out from the
level's start: in states of all places, those of rarely seen places first, every action is made once, and it is noted
from where to where it leads. Doors, one-way ways and portals are thereby right without anybody naming them. It is a map
for the whole level, however: a door counts as open once one play has opened it, and an enemy in the way as none.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from persona_evo.games.core import RUNNING, Rules
from persona_evo.seeds import stream

LOOKED = 5_000
"""States in which all actions are tried, at most."""

Place = tuple[int, int]
"""(x, y)."""


class MoveGraph:
    """The places of a level and the moves between them.

    Args:
        rules: of the game; a step copies what it changes.
        start: a state before the first move.
        most: legal actions of a state at most.
        place: where the avatar is in a state; None where it is nowhere.
    """

    def __init__(self, rules: Rules, start: Any, most: int, place: Callable[[Any], Place | None]) -> None:
        self._rules, self._start, self._most, self._place = rules, start, most, place
        self._to: dict[Place, dict[Place, int]] = {}

    def nearest(self, state: Any, targets: Iterable[Place]) -> float:
        """Moves from a state to the nearest target, as a share of those to the farthest place from the start, at most
        1, which is also that of a target to which no way is known; 0 without any target, and for who is nowhere."""
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
        """Each place -> those from which one move leads there."""
        rules, actions, rng = self._rules, np.zeros(self._most, dtype=np.int64), stream(1)
        looked: Counter[Place] = Counter()
        before: dict[Place, set[Place]] = {}
        numbers, known = itertools.count(), {rules.key(None, self._start)}  # type: ignore[arg-type]
        waiting: list[tuple[int, int, Any]] = [(0, next(numbers), self._start)]
        while waiting and looked.total() < LOOKED:
            times, number, state = heapq.heappop(waiting)
            here = self._place(state)
            if here is None or rules.over(None, state) != RUNNING:  # type: ignore[arg-type]
                continue
            if looked[here] > times:
                heapq.heappush(waiting, (looked[here], number, state))
                continue
            looked[here] += 1
            for action in actions[: rules.legal(None, state, actions)].tolist():  # type: ignore[arg-type]
                after = state.copy()
                rules.step(None, after, action, rng)  # type: ignore[arg-type]
                there, key = self._place(after), rules.key(None, after)  # type: ignore[arg-type]
                if there is not None and there != here:
                    before.setdefault(there, set()).add(here)
                if there is not None and key not in known:
                    known.add(key)
                    heapq.heappush(waiting, (looked[there], next(numbers), after))
        return before


def _distances(start: Place, neighbours: dict[Place, set[Place]]) -> dict[Place, int]:
    """Moves from a place to each that can be reached."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in neighbours.get(here, ()):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found
