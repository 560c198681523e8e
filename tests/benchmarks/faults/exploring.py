"""Searches through the states of a game that use only its rules."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from persona_evo.games.core import LOST, RUNNING, WON, Game, Level

State = Any
MOST_STATES = 60_000
"""Number of states after which a search gives up without a proof."""


class World:
    """A level with the rules of its game, state by state."""

    def __init__(self, game: Game, level: Level) -> None:
        self.game, self.level, self.rules = game, level, game.rules()
        self._actions = np.zeros(level.max_actions, dtype=np.int64)
        self._rng = np.ones(2, dtype=np.int64)
        self._metrics = np.zeros(len(game.metrics))
        self._index = {m.symbol: i for i, m in enumerate(game.metrics)}

    def start(self) -> State:
        """Return the state before the first move."""
        return self.game.start(self.level)

    def over(self, state: State) -> int:
        """Return RUNNING, WON, LOST or ENDED."""
        return int(self.rules.over(self.level.tables, state))

    def key(self, state: State) -> int:
        """Return a key that is equal for states with the same future."""
        return int(self.rules.key(self.level.tables, state))

    def legal(self, state: State) -> list[int]:
        """Return the legal actions."""
        return [int(a) for a in self._actions[: self.rules.legal(self.level.tables, state, self._actions)]]

    def after(self, state: State, action: int) -> State:
        """Return the state after a move."""
        new = state.copy()
        self.rules.step(self.level.tables, new, action, self._rng)
        return new

    def children(self, state: State) -> Iterator[State]:
        """Yield the states after each legal move; none once the game is over."""
        if self.over(state) == RUNNING:
            for action in self.legal(state):
                yield self.after(state, action)

    def value(self, state: State, symbol: str) -> float:
        """Return one metric of a state."""
        self.rules.measure(self.level.tables, state, 0, self._metrics)
        return float(self._metrics[self._index[symbol]])

    def place(self, state: State) -> tuple[int, int]:
        """Return where the avatar is, (x, y) from 0."""
        found = self.game.locate(self.level, state) if self.game.locate else None
        return found or (-1, -1)


def reached(
    world: World,
    done: Callable[[State], bool],
    rank: Callable[[State], float],
    begin: State | None = None,
    most: int = MOST_STATES,
) -> State | None:
    """Search for a state for which `done` holds, the lowest `rank` first; return None if none is found within `most`.

    States of infinite rank are left out.
    """
    first = world.start() if begin is None else begin
    queue: list[tuple[float, int, State]] = [(rank(first), 0, first)]
    seen, count = {world.key(first)}, 0
    while queue and len(seen) <= most:
        state = heapq.heappop(queue)[2]
        if done(state):
            return state
        for child in world.children(state):
            key = world.key(child)
            if key not in seen:
                seen.add(key)
                count += 1
                value = rank(child)
                if value < float("inf"):
                    heapq.heappush(queue, (value, count, child))
    return None


def layers(world: World, most: int = MOST_STATES, begin: State | None = None) -> Iterator[list[State]]:
    """Yield all new states after 0, 1, 2, ... moves. If the search gives up, it yields an empty list at the end."""
    first = world.start() if begin is None else begin
    now, seen = [first], {world.key(first)}
    while now:
        yield now
        following = []
        for state in now:
            for child in world.children(state):
                key = world.key(child)
                if key not in seen:
                    seen.add(key)
                    following.append(child)
        if len(seen) > most:
            yield []
            return
        now = following


def dies_within(world: World, moves: int) -> int | None:
    """Return the number of moves after which every continuation is lost.

    It is None if a continuation is alive after `moves` moves, or if that is not known.
    """
    for depth, states in enumerate(layers(world)):
        ends = [world.over(s) for s in states]
        if not states or any(end not in (RUNNING, LOST) for end in ends):
            return None
        if all(end == LOST for end in ends):
            return depth
        if depth == moves:
            return None
    return None


def everything(world: World, most: int = MOST_STATES) -> list[State] | None:
    """Return all states that can be reached; None if there are more than `most`."""
    found: list[State] = []
    for states in layers(world, most):
        if not states:
            return None
        found += states
    return found


def never_won(world: World, most: int = MOST_STATES) -> bool:
    """Return whether no state that can be reached is won (False if that is not known)."""
    states = everything(world, most)
    return states is not None and all(world.over(s) != WON for s in states)


def can_win(world: World, most: int = MOST_STATES) -> bool | None:
    """Return whether some state that can be reached is won; None if that is not known."""
    for states in layers(world, most):
        if not states:
            return None
        if any(world.over(s) == WON for s in states):
            return True
    return False
