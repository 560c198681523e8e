"""Breadth-first search for the best plan, layer by layer.

A layer holds all states at the same number of moves from the start. `grow` makes the next layer: it applies every
legal move to every state and leaves out states met before. Each new state is compared with the best so far, so there is
a plan at any time. The search ends when no state is left, or when the ranges of the metrics rule out a better state in
deeper layers.

Two states are equal when their `key` and all metrics that the utility reads (except the clock) are equal. A state that
is met again later is left out although its clock is higher. This is exact if the utility does not rise with the clock;
otherwise the depth is part of a state's identity (`clocked`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Handle, compiled, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, ShortRow, WordRow, WordTable
from persona_evo.games.core import RUNNING, WON
from persona_evo.search.expansion import copy
from persona_evo.search.pace import IterationPace
from persona_evo.search.play import Play, is_better, mixed, place_in, worth
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN

MADE, BEST_PARENT, BEST_MOVE, BEST_DEPTH, BEST_WON = range(5)
TALLIES = 5
"""The length of `Grown.tallies`: states made; the best state's parent in its layer, last move and depth; whether it is
won.
"""

PART = 2_000
"""The highest number of states of a layer expanded between two checks of the clock."""


class Grown(NamedTuple):
    """The working memory in which layers are made.

    Attributes:
        play: the level.
        rows: 2 * `states` rows; this layer and the next take turns in the two halves.
        parents: int32[states], the parent of each state of the next layer.
        moves: int64[states], the move that leads to each state of the next layer.
        seen: int64[2**k], a hash table of identities, 0 where free.
        tallies: int64[TALLIES].
        best: float64[1], the best utility.
        used: a bit mask of the metrics that tell states apart.
        clocked: whether the depth tells states apart, too.
        horizon: the highest number of moves.
        states: the highest number of states made.
    """

    play: Play
    rows: WordTable
    parents: ShortRow
    moves: IntRow
    seen: IntRow
    tallies: IntRow
    best: FloatRow
    used: int
    clocked: int
    horizon: int
    states: int


@compiled
def is_new(grown: Grown, state: WordRow, depth: int) -> bool:
    """Return whether a state at this depth is new, and remember it. Its metrics must have been measured just before."""
    play = grown.play
    h = play.rules.key(play.tables, state)
    for i in range(len(play.metrics)):
        if (grown.used >> i) & 1:
            h = mixed(h, play.metrics[i], 31)
    if grown.clocked:
        h = ((h ^ depth) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        h ^= h >> 31
    h = h if h != 0 else 1
    at = place_in(grown.seen, h)
    if grown.seen[at] == h:
        return False
    grown.seen[at] = h
    return True


@compiled
def keep_best(grown: Grown, parent: int, move: int, depth: int, status: int, utility: float) -> None:
    """Remember a state if it is the best so far."""
    tallies = grown.tallies
    won = 1 if status == WON else 0
    if is_better(utility, won, depth, grown.best[0], tallies[BEST_WON], tallies[BEST_DEPTH]):
        grown.best[0] = utility
        tallies[BEST_PARENT] = parent
        tallies[BEST_MOVE] = move
        tallies[BEST_DEPTH] = depth
        tallies[BEST_WON] = won


@entry
def grow(grown: Grown, depth: int, first: int, part: int, count: int) -> int:
    """Add the successors of a part of a layer to the next layer and return the size of the next layer.

    The part has `part` states, starting at state `first` of its layer. The next layer is `depth` moves from the start
    and has `count` states before the call. The function returns early if no more states may be made.
    """
    play, rows, tallies, state = grown.play, grown.rows, grown.tallies, grown.play.state
    after = grown.states if depth & 1 else 0
    for parent in range(first, first + part):
        front = rows[grown.states - after + parent]
        for choice in range(play.rules.legal(play.tables, front, play.actions)):
            if tallies[MADE] >= grown.states:
                return count
            move = play.actions[choice]
            copy(front, state)
            play.rules.step(play.tables, state, move, play.rng)
            tallies[MADE] += 1
            play.rules.measure(play.tables, state, 0, play.metrics)
            if not is_new(grown, state, depth):
                continue
            utility = play.utility(play.metrics)
            status = play.rules.over(play.tables, state)
            keep_best(grown, parent, move, depth, status, utility)
            if status != RUNNING or depth >= grown.horizon:
                continue
            copy(state, rows[after + count])
            grown.parents[count] = parent
            grown.moves[count] = move
            count += 1
    return count


@dataclass(frozen=True)
class Found:
    """The result of a search over layers.

    Attributes:
        actions: the best plan.
        utility: the utility of the plan's last state.
        upper: no plan within the allowed moves has a higher utility.
        made: the number of states made.
        complete: whether nothing better exists within the allowed moves.
        stopped: PROVEN if the search is complete, else `budget` or `time`.
    """

    actions: tuple[int, ...]
    utility: float
    upper: float
    made: int
    complete: bool
    stopped: str


class Layers:
    """The memory for one search over the layers of a problem.

    Args:
        problem: the problem to solve.
        states: the highest number of states made.
        depth: the highest number of moves if it is below the problem's horizon, 0 for the horizon.
    """

    def __init__(self, problem: Problem, states: int, depth: int = 0) -> None:
        self._problem = problem
        game, start = problem.game, problem.level.start
        size = 1024
        while 2 * size < 3 * (states + 1):
            size *= 2
        self._grown = Grown(
            Play.of(game, problem.level, problem.utility),
            np.empty((2 * states, len(start)), dtype=start.dtype),
            np.empty(states, dtype=np.int32),
            np.empty(states, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(TALLIES, dtype=np.int64),
            np.zeros(1),
            problem.used(),
            int(problem.clocked),
            min(problem.horizon, depth or problem.horizon),
            states,
        )
        self._handle = Handle(self._grown)
        self._history: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def search(self, seconds: float | None = None) -> Found:
        """Grow layer after layer from the start. Call it once only.

        Args:
            seconds: the limit on wall-clock time, checked every few milliseconds.
        """
        pace = IterationPace(seconds, PART if self._problem.game.compiled else 20)
        stopped = ""
        with np.errstate(all="ignore"):
            count = self._plant()
            while not stopped and count and self._can_gain():
                count, stopped = self._next_layer(count, pace)
        utility = float(self._grown.best[0])
        upper = max(utility, self._ceiling()) if stopped else utility
        complete = upper <= utility
        made = int(self._grown.tallies[MADE])
        return Found(self._plan(), utility, upper, made, complete, PROVEN if complete else stopped)

    def _plant(self) -> int:
        """Put the start into the first layer and return the layer's size: 0 if the game is already over."""
        grown, play, start = self._grown, self._grown.play, self._problem.level.start
        grown.rows[0] = start
        grown.best[0] = worth(play, start)
        is_new(grown, start, 0)
        status = play.rules.over(play.tables, start)
        grown.tallies[BEST_WON] = status == WON
        return 1 if status == RUNNING else 0

    def _ceiling(self) -> float:
        """Return the highest utility that a state below the last complete layer can have."""
        return self._problem.ceiling(len(self._history) + 1)

    def _can_gain(self) -> bool:
        """Return whether a deeper state can be better, or equally good and won."""
        ceiling, best = self._ceiling(), float(self._grown.best[0])
        return ceiling > best or (ceiling == best and not self._grown.tallies[BEST_WON])

    def _next_layer(self, count: int, pace: IterationPace) -> tuple[int, str]:
        """Expand the last complete layer of `count` states.

        Returns:
            The size of the next layer, and why it is incomplete ("" if it is complete).
        """
        made, grown, first, stopped = self._grown, 0, 0, ""
        while first < count and not stopped:
            if pace.is_late():
                stopped = "time"
                break
            part = min(pace.chunk, count - first)
            grown = grow(self._handle, len(self._history) + 1, first, part, grown)
            first += part
            if made.tallies[MADE] >= made.states:
                stopped = "budget"
        if not stopped:
            self._history.append((made.parents[:grown].copy(), made.moves[:grown].copy()))
        return grown, stopped

    def _plan(self) -> tuple[int, ...]:
        """Return the moves to the best state."""
        tallies = self._grown.tallies
        depth = int(tallies[BEST_DEPTH])
        if depth == 0:
            return ()
        actions, at = [int(tallies[BEST_MOVE])], int(tallies[BEST_PARENT])
        for parents, moves in reversed(self._history[: depth - 1]):
            actions.append(int(moves[at]))
            at = int(parents[at])
        return tuple(reversed(actions))
