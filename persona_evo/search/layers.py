"""Layers of states: breadth-first search for the best plan.

All states that are some number of moves from the start form a layer. `grow` makes the next layer from one: every legal
move of every state, states met before left out. Every state made is compared with the best so far, so there is a plan
at any time. The search ends where nothing is left, or where the metrics' ranges allow no better state in deeper layers.

Two states are the same when their `key` is, and all metrics that the utility reads (the clock aside). A state that is
met again later is left out even though its clock is higher, which is exact where the utility does not rise with the
clock; elsewhere the depth is made part of a state's identity (`CLOCKED`).
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
"""tallies: states made; the best state's parent in its layer, last move, depth, and whether it is won."""

PART = 2_000
"""States of a layer between two looks at the clock at most."""


class Grown(NamedTuple):
    """What layers are made in.

    Attributes:
        play: the level.
        rows: this layer and the next, in the halves of 2 `states` rows, in turn the first and the second.
        parents, moves: int32[states], int64[states], where a state of the next layer comes from.
        seen: int64[2**k], hash table of identities, 0 where free.
        tallies: int64[TALLIES].
        best: float64[1], the best utility.
        used: bit mask of the metrics that tell states apart.
        clocked: whether the depth does.
        horizon: moves at most.
        states: made at most.
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
    """Whether a state at this depth, whose metrics were just measured, was not met before; it is remembered."""
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
    """Remember a state if it is the best."""
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
    """Add what follows from a part of a layer to the next layer; how many states that has then.

    The part has `part` states, from state `first` of its layer on; the next layer, which is `depth` moves from the
    start, has `count` states before. It ends early where no more states may be made.
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
    """What a search over layers ended with.

    actions: the best plan. utility: of its last state. upper: no plan within the moves allowed is worth more. made:
    states made. complete: nothing better exists within the moves allowed. stopped: PROVEN where it is complete, else
    budget or time.
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
        problem: what is looked for.
        states: states made at most.
        depth: moves at most where less than the problem's horizon, 0 for the horizon.
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
        """Grow layer after layer from the start (once).

        Args:
            seconds: wall clock at most, looked at every few milliseconds of work.
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
        """Put the start into the first layer; 0 where it is the end already."""
        grown, play, start = self._grown, self._grown.play, self._problem.level.start
        grown.rows[0] = start
        grown.best[0] = worth(play, start)
        is_new(grown, start, 0)
        status = play.rules.over(play.tables, start)
        grown.tallies[BEST_WON] = status == WON
        return 1 if status == RUNNING else 0

    def _ceiling(self) -> float:
        """What a state of the layer after the last whole one, or of a later one, can be worth at most."""
        return self._problem.ceiling(len(self._history) + 1)

    def _can_gain(self) -> bool:
        """Whether a deeper state can be better, or as good and won."""
        ceiling, best = self._ceiling(), float(self._grown.best[0])
        return ceiling > best or (ceiling == best and not self._grown.tallies[BEST_WON])

    def _next_layer(self, count: int, pace: IterationPace) -> tuple[int, str]:
        """Expand the last whole layer of `count` states; return the size of the next one and why it is not whole."""
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
        """The moves to the best state."""
        tallies = self._grown.tallies
        depth = int(tallies[BEST_DEPTH])
        if depth == 0:
            return ()
        actions, at = [int(tallies[BEST_MOVE])], int(tallies[BEST_PARENT])
        for parents, moves in reversed(self._history[: depth - 1]):
            actions.append(int(moves[at]))
            at = int(parents[at])
        return tuple(reversed(actions))
