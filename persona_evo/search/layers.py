"""Layers of states: breadth-first search for the best plan.

All states that are some number of moves from the start form a layer. `grow` makes the next layer from one: every legal
move of every state, states met before left out. Every state made is compared with the best so far, so there is a plan
at any time. The search ends where nothing is left, or where the metrics' ranges allow no better state in deeper layers.

Two states are the same when their `key` is, and all metrics that the utility reads (the clock aside). A state that is
met again later is left out even though its clock is higher, which is exact where the utility does not rise with the
clock; elsewhere the depth is made part of a state's identity (`CLOCKED`).

Names of arguments as in `mcts`; further

| name | what |
|---|---|
| front rows[n, state], after rows[states, state] | this layer and the next |
| parents int32[states], moves int64[states] | where a state of the next layer comes from |
| seen int64[2**k] | hash table of identities, 0 where free |
| opts int64[OPTIONS], tallies int64[TALLIES], best float64[1] | below; the best utility |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.compiling import INTERPRET, compiled, interpreted, jit
from persona_evo.formula.machine import STACK, run
from persona_evo.games.core import RUNNING, WON, entry_type
from persona_evo.search.coding import code
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN
from persona_evo.seeds import stream

DEPTH, METRICS, USED, CLOCKED, HORIZON, STATES = range(6)
OPTIONS = 6
"""opts: moves from the start to the next layer; number of metrics; bit mask of those that tell states apart; whether
the depth does; moves at most; states made at most."""

MADE, BEST_PARENT, BEST_MOVE, BEST_DEPTH, BEST_WON = range(5)
TALLIES = 5
"""tallies: states made; the best state's parent in its layer, last move, depth, and whether it is won."""

PART = 2_000
"""States of a layer between two looks at the clock at most."""


@compiled
def identity(key: Any, tables: Any, state: Any, vars: Any, opts: Any) -> int:
    """A hash of what makes a state different from others, never 0; `vars` holds its metrics."""
    h = np.int64(key(tables, state))
    for i in range(opts[METRICS]):
        if (opts[USED] >> i) & 1:
            scaled = min(max(vars[i] * 1048576.0, -9.0e18), 9.0e18)
            h = ((h ^ np.int64(scaled)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
            h ^= h >> 31
    if opts[CLOCKED]:
        h = ((h ^ opts[DEPTH]) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        h ^= h >> 31
    return h if h != 0 else 1  # type: ignore[return-value]


@compiled
def is_new(seen: Any, h: int) -> bool:
    """Whether an identity was not met before; it is remembered."""
    mask = len(seen) - 1
    at = (h ^ (h >> 17)) & mask
    while seen[at] != 0:
        if seen[at] == h:
            return False
        at = (at + 1) & mask
    seen[at] = h
    return True


@compiled
def keep_best(tallies: Any, best: Any, opts: Any, parent: int, move: int, status: int, utility: float) -> None:
    """Remember a state if it is the best: utility first, then winning, then brevity."""
    won = 1 if status == WON else 0
    if utility < best[0] or (utility == best[0] and won < tallies[BEST_WON]):
        return
    if utility == best[0] and won == tallies[BEST_WON] and opts[DEPTH] >= tallies[BEST_DEPTH]:
        return
    best[0] = utility
    tallies[BEST_PARENT] = parent
    tallies[BEST_MOVE] = move
    tallies[BEST_DEPTH] = opts[DEPTH]
    tallies[BEST_WON] = won


def _grow(legal: Any, step: Any, over: Any, measure: Any, key: Any, tables: Any, front: Any, after: Any, parents: Any,
          moves: Any, seen: Any, opts: Any, tallies: Any, best: Any, uops: Any, uconst: Any, scratch: Any,
          actions: Any, vars: Any, stack: Any, rng: Any, first: int, count: int) -> int:
    """Add what follows from a part of a layer to the next layer; how many states that has then.

    front holds the part, which begins with state `first` of its layer; the next layer has `count` states before. It
    ends early where no more states may be made.
    """
    for parent in range(front.shape[0]):
        choices = legal(tables, front[parent], actions)
        for choice in range(choices):
            if tallies[MADE] >= opts[STATES]:
                return count
            move = actions[choice]
            for k in range(len(scratch)):
                scratch[k] = front[parent, k]
            step(tables, scratch, move, rng)
            tallies[MADE] += 1
            measure(tables, scratch, 0, vars)
            if not is_new(seen, identity(key, tables, scratch, vars, opts)):
                continue
            status = over(tables, scratch)
            keep_best(tallies, best, opts, first + parent, move, status, run(uops, uconst, vars, stack))
            if status != RUNNING or opts[DEPTH] >= opts[HORIZON]:
                continue
            for k in range(len(scratch)):
                after[count, k] = scratch[k]
            parents[count] = first + parent
            moves[count] = move
            count += 1
    return count


NUMBERS = frozenset(("run", "is_new", "keep_best"))
"""Functions that see numbers alone, which stay compiled where the game is not."""


def _types() -> Any:
    from numba import types

    whole, ints, floats = types.int64, types.int64[::1], types.float64[::1]
    row, rows, short = types.uint16[::1], types.uint16[:, ::1], types.int32[::1]
    rules = tuple(entry_type(k) for k in ("legal", "step", "over", "measure", "key"))
    rest = (ints, ints, ints, floats, ints, floats, row, ints, floats, floats, ints)
    return whole(*rules, row, rows, rows, short, ints, *rest, whole, whole)


grow = _grow if INTERPRET else jit(_grow, _types(), final=True)


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
        self._problem, self._states = problem, states
        game, start = problem.game, problem.level.start
        size = 1024
        while 2 * size < 3 * (states + 1):
            size *= 2
        self._seen = np.zeros(size, dtype=np.int64)
        self._fronts = [np.empty((states, len(start)), dtype=start.dtype) for _ in range(2)]
        self._parents, self._moves = np.empty(states, dtype=np.int32), np.empty(states, dtype=np.int64)
        self._history: list[tuple[Any, Any]] = []
        self._rules = rules = game.rules_for(problem.utility.symbols)
        self._opts, self._tallies = np.zeros(OPTIONS, dtype=np.int64), np.zeros(TALLIES, dtype=np.int64)
        self._opts[[METRICS, USED, CLOCKED]] = len(game.metrics), problem.used(), problem.clocked
        self._opts[[HORIZON, STATES]] = min(problem.horizon, depth or problem.horizon), states
        self._best, self._vars, self._stack = np.zeros(1), np.zeros(len(game.metrics)), np.zeros(STACK)
        self._codes = code(problem.utility, game.symbols)
        calls = rules.entries
        self._five = (calls.legal, calls.step, calls.over, calls.measure, calls.key)
        self._rest = (
            self._seen, self._opts, self._tallies, self._best, *self._codes, start.copy(),
            np.zeros(max(1, problem.level.max_actions), dtype=np.int64), self._vars, self._stack, stream(0),
        )  # fmt: skip
        self._grow = grow if game.compiled else interpreted(_grow, NUMBERS)

    def search(self, seconds: float | None = None) -> Found:
        """Grow layer after layer from the start (once).

        Args:
            seconds: wall clock at most, looked at every few milliseconds of work.
        """
        pace = Pace(seconds, PART if self._problem.game.compiled else 20)
        stopped = ""
        with np.errstate(all="ignore"):
            count = self._plant()
            while not stopped and count and self._can_gain():
                count, stopped = self._next_layer(count, pace)
        utility = float(self._best[0])
        upper = max(utility, self._ceiling()) if stopped else utility
        complete = upper <= utility
        made = int(self._tallies[MADE])
        return Found(self._plan(), utility, upper, made, complete, PROVEN if complete else stopped)

    def _plant(self) -> int:
        """Put the start into the first layer; 0 where it is the end already."""
        level, front = self._problem.level, self._fronts[0]
        front[0] = level.start
        self._rules.measure(level.tables, front[0], 0, self._vars)
        is_new(self._seen, interpreted(identity)(self._rules.key, level.tables, front[0], self._vars, self._opts))
        self._best[0] = run(*self._codes, self._vars, self._stack)
        status = int(self._rules.over(level.tables, front[0]))
        self._tallies[BEST_WON] = status == WON
        return 1 if status == RUNNING else 0

    def _ceiling(self) -> float:
        """What a state of the layer after the last whole one, or of a later one, can be worth at most."""
        return self._problem.ceiling(len(self._history) + 1)

    def _can_gain(self) -> bool:
        """Whether a deeper state can be better, or as good and won."""
        ceiling, best = self._ceiling(), float(self._best[0])
        return ceiling > best or (ceiling == best and not self._tallies[BEST_WON])

    def _next_layer(self, count: int, pace: Pace) -> tuple[int, str]:
        """Make the layer after the front, which has `count` states; how many it has, and why it is not whole."""
        front, after = self._fronts
        self._opts[DEPTH] = len(self._history) + 1
        grown, first, stopped = 0, 0, ""
        while first < count and not stopped:
            if pace.is_late():
                stopped = "time"
                break
            part = min(pace.chunk, count - first)
            grown = self._grow(
                *self._five, self._problem.level.tables, front[first : first + part], after, self._parents, self._moves,
                *self._rest, first, grown,
            )  # fmt: skip
            first += part
            if self._tallies[MADE] >= self._states:
                stopped = "budget"
        if not stopped:
            self._history.append((self._parents[:grown].copy(), self._moves[:grown].copy()))
            self._fronts.reverse()
        return grown, stopped

    def _plan(self) -> tuple[int, ...]:
        """The moves to the best state."""
        depth = int(self._tallies[BEST_DEPTH])
        if depth == 0:
            return ()
        actions, at = [int(self._tallies[BEST_MOVE])], int(self._tallies[BEST_PARENT])
        for parents, moves in reversed(self._history[: depth - 1]):
            actions.append(int(moves[at]))
            at = int(parents[at])
        return tuple(reversed(actions))
