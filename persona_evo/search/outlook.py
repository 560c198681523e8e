"""Whether a level can be won at all: a plan that wins it, or a proof that none does.

Small levels are searched through, state by state, which proves it for plans of any length. Of larger ones the planner
looks for the utility WON, whose proof is for plans within the horizon. All limits are numbers of states and iterations,
so the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula import parse
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Game, Level
from persona_evo.seeds import stream

STATES = 20_000
"""States that are looked at one by one at most."""

ITERATIONS = 20_000
"""Iterations of the planner at most."""

GOAL = "WON"
"""Symbol of the metric that is 1 where a game is won."""


@dataclass(frozen=True)
class Outlook:
    """What is known of whether a level can be won.

    Attributes:
        possible: True with a plan, False with a proof, None where neither was found.
        actions: names of the moves of a plan that wins.
        iterations: that it took to find it: of the planner, or states looked at.
        horizon: moves within which the proof holds; 0 for any number of moves.
        states: how many different states there are from the start on, where they were all looked at; 0 otherwise.
        longest: moves after which every line of play is over; 0 where that is not known, or where one never ends.
        deadly: no line of play ends but lost.
        ended: a line of play ends neither won nor lost.
        metrics: at the end of the plan, by symbol.
    """

    possible: bool | None = None
    actions: tuple[str, ...] = ()
    iterations: int = 0
    horizon: int = 0
    states: int = 0
    longest: int = 0
    deadly: bool = False
    ended: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)


def outlook(game: Game, level: Level, *, iterations: int = ITERATIONS, states: int = STATES) -> Outlook:
    """Look for a plan that wins, or for a proof that none does.

    Args:
        game: a deterministic single-player game that runs here.
        iterations: of the planner at most; only a game with the metric WON is planned.
        states: that are looked at one by one at most.
    """
    found = _Explorer(game, level).everywhere(states)
    if found.possible is not None or GOAL not in game.symbols:
        return found
    from persona_evo.search.bounds import solve

    solution = solve(game, level, parse(GOAL, game.symbols), iterations=iterations)
    if solution.outcome == WON:
        return _won(game, level, solution.actions, solution.states)
    proven = solution.proven and solution.utility <= 0
    return Outlook(False if proven else None, iterations=solution.states, horizon=game.horizon_of(level))


def _won(game: Game, level: Level, actions: tuple[int, ...], iterations: int) -> Outlook:
    states = game.replay(level, actions)
    names = tuple(game.action_name(level, s, a) for s, a in zip(states, actions, strict=False))
    return Outlook(True, names, iterations, metrics=game.measure(level, states[-1]))


class _Explorer:
    """Looks at the states of a level breadth first."""

    def __init__(self, game: Game, level: Level) -> None:
        self.game, self.level, self.rules = game, level, game.rules()
        self._actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self._rng = stream(0)

    def everywhere(self, most: int) -> Outlook:
        """Look at every state, the shortest way to each first, `most` of them at most."""
        start = self.game.start(self.level)
        front: list[tuple[NDArray[Any], tuple[int, ...]]] = [(start, ())]
        seen = {self._key(start)}
        ends: set[int] = set()
        while front:
            after: list[tuple[NDArray[Any], tuple[int, ...]]] = []
            for state, moves in front:
                for action, child in self._children(state):
                    key = self._key(child)
                    if key in seen:
                        continue
                    seen.add(key)
                    over = self._over(child)
                    if over == WON:
                        return _won(self.game, self.level, (*moves, action), len(seen))
                    ends.add(over)
                    if over == RUNNING:
                        after.append((child, (*moves, action)))
                    if len(seen) > most:
                        return Outlook()
            front = after
        longest = self._longest(most)
        return Outlook(False, states=len(seen), longest=longest, deadly=ends <= {RUNNING, LOST} and longest > 0,
                       ended=ENDED in ends)

    def _longest(self, most: int) -> int:
        """Moves of the longest line of play; 0 where there are lines without an end, or more than `most` steps to look.

        Only states of one depth are told apart here, so a line that comes back to a state goes on for ever.
        """
        front, depth, made = [self.game.start(self.level)], 0, 0
        while front:
            layer: dict[int, NDArray[Any]] = {}
            for state in front:
                for _, child in self._children(state):
                    made += 1
                    if self._over(child) == RUNNING:
                        layer.setdefault(self._key(child), child)
            if made > most:
                return 0
            front, depth = list(layer.values()), depth + 1
        return depth

    def _children(self, state: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
        count = self.rules.legal(self.level.tables, state, self._actions)
        found = []
        for action in [int(a) for a in self._actions[:count]]:
            child = state.copy()
            self.rules.step(self.level.tables, child, action, self._rng)
            found.append((action, child))
        return found

    def _over(self, state: NDArray[Any]) -> int:
        return int(self.rules.over(self.level.tables, state))

    def _key(self, state: NDArray[Any]) -> int:
        return int(self.rules.key(self.level.tables, state))
