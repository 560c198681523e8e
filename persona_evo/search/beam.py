"""Layers of states: beam search, and breadth-first search as the beam that never has to leave anything out.

All states that are some number of moves from the start form a layer. `grow` makes the next layer from one: every legal
move of every state, states met before left out, and of what remains the `width` states with the best guide. Every
state made is compared with the best so far, so there is a plan at any time. A state's ceiling is what the utility can
be at most in any state that comes after it; states that cannot beat the best are left out, and the highest ceiling
among those left out for want of room bounds what the search has missed.

Two states are the same when their `key` is, and all metrics that utility and guide read (the clock aside). A state that
is met again later is left out even though its clock is higher, which is exact where the utility does not rise with the
clock; elsewhere the depth is made part of a state's identity (`CLOCKED`).

Names of arguments as in `mcts`; further

| name | what |
|---|---|
| front rows[n, state], after rows[width, state] | this layer and the next |
| scores float64[width], ties int64[width], heap int32[width] | the next layer's guides; slots, the worst first |
| parents int32[width], moves int64[width] | where a state of the next layer comes from |
| seen int64[2**k] | hash table of identities, 0 where free |
| opts int64[OPTIONS], tallies int64[TALLIES], best float64[BESTS] | below |
| gops, gconst | postfix code of the guide, over the metrics, CEILING and SECURED |
| reach | the game's function of that name, with the signature of `measure` |
| rises int64[metrics]; corner, last float64[metrics]; spans float64[2 metrics] | whether the utility rises with a \
metric; the best that all metrics can become; what `reach` writes |
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.compiling import INTERPRET, compiled, interpreted, jit
from persona_evo.formula import Formula
from persona_evo.formula.machine import STACK, run
from persona_evo.games.core import RUNNING, WON, entry, entry_type
from persona_evo.search.coding import code
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.seeds import stream

CEILING, SECURED = "CEILING", "SECURED"
"""What guides call the most that the utility can still become, and the least (0 in games without `reach`)."""

DEPTH, METRICS, USED, CLOCKED, GUIDED, REACHING, CLOCK, FALLS, SECURING, HORIZON = range(10)
OPTIONS = 10
"""opts: moves from the start to the next layer; number of metrics; bit mask of those that tell states apart; whether
the depth does; whether guide and utility differ; whether each state has a ceiling of its own; the clock's index, -1
without one; whether the utility falls with it; whether
the guide reads SECURED; moves at most."""

UTILITY, MISSED, LAYER = range(3)
BESTS = 3
"""best: the best utility; the highest ceiling among the states left out for want of room; no state after the next
layer is worth more than the last."""

MADE, SEEN, BEST_PARENT, BEST_MOVE, BEST_DEPTH, BEST_WON = range(6)
TALLIES = 6
KNOWN = -1
"""tallies: states made; identities in the table; the best state's parent in its layer, last move, depth
(KNOWN where an earlier search found it) and whether it is won."""

PART = 2_000
"""States of a layer between two looks at the limit on states, and at the clock at most."""


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
def is_new(seen: Any, tallies: Any, h: int) -> bool:
    """Whether an identity was not met before; it is remembered while the table is at most two thirds full."""
    mask = len(seen) - 1
    at = (h ^ (h >> 17)) & mask
    while seen[at] != 0:
        if seen[at] == h:
            return False
        at = (at + 1) & mask
    if 3 * tallies[SEEN] < 2 * len(seen):
        seen[at] = h
        tallies[SEEN] += 1
    return True


@compiled
def corner_at(reach: Any, tables: Any, state: Any, opts: Any, rises: Any, corner: Any, spans: Any, moves: int) -> None:
    """The best that each metric can become in so many moves, to `corner`."""
    n = opts[METRICS]
    reach(tables, state, moves, spans)
    for i in range(n):
        corner[i] = spans[n + i] if rises[i] else spans[i]
    if opts[CLOCK] >= 0:
        corner[opts[CLOCK]] = opts[DEPTH] + moves


@compiled
def ceiling_of(reach: Any, tables: Any, state: Any, opts: Any, best: Any, rises: Any, corner: Any, last: Any,
               spans: Any, uops: Any, uconst: Any, stack: Any) -> float:
    """The most that any state after this one can be worth.

    Where the utility falls with the clock, that is the most over all numbers of moves to come: what can be reached in
    that many, at that time. Once more moves reach no more, later is only worse.
    """
    if opts[REACHING] == 0:
        return best[LAYER]  # type: ignore[no-any-return]
    left = opts[HORIZON] - opts[DEPTH]
    corner_at(reach, tables, state, opts, rises, corner, spans, left)
    if opts[FALLS] == 0:
        return min(best[LAYER], run(uops, uconst, corner, stack))
    for i in range(opts[METRICS]):
        last[i] = corner[i]
    top = -math.inf
    for moves in range(1, left + 1):
        corner_at(reach, tables, state, opts, rises, corner, spans, moves)
        top = max(top, run(uops, uconst, corner, stack))
        final = True
        for i in range(opts[METRICS]):
            if i != opts[CLOCK] and corner[i] != last[i]:
                final = False
        if final or top >= best[LAYER]:
            break
    return min(best[LAYER], top)


@compiled
def secured_of(reach: Any, tables: Any, state: Any, opts: Any, rises: Any, corner: Any, spans: Any, uops: Any,
               uconst: Any, stack: Any) -> float:
    """The least that any state after this one can be worth."""
    n = opts[METRICS]
    reach(tables, state, opts[HORIZON] - opts[DEPTH], spans)
    for i in range(n):
        corner[i] = spans[i] if rises[i] else spans[n + i]
    if opts[CLOCK] >= 0:
        corner[opts[CLOCK]] = opts[HORIZON]
    return run(uops, uconst, corner, stack)  # type: ignore[no-any-return]


@compiled
def below(scores: Any, ties: Any, a: int, b: int) -> bool:
    """Whether slot a is worse than slot b; equal guides are told apart by the states' hashes."""
    return scores[a] < scores[b] or (scores[a] == scores[b] and ties[a] < ties[b])  # type: ignore[no-any-return]


@compiled
def sift(heap: Any, scores: Any, ties: Any, n: int, at: int) -> None:
    """Let the slot at position `at` of the heap of n sink until no worse one is below it."""
    while True:
        child = 2 * at + 1
        if child >= n:
            return
        if child + 1 < n and below(scores, ties, heap[child + 1], heap[child]):
            child += 1
        if not below(scores, ties, heap[child], heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@compiled
def keep_best(tallies: Any, best: Any, opts: Any, parent: int, move: int, status: int, utility: float) -> None:
    """Remember a state if it is the best: utility first, then winning, then brevity."""
    won = 1 if status == WON else 0
    if utility < best[UTILITY] or (utility == best[UTILITY] and won < tallies[BEST_WON]):
        return
    if utility == best[UTILITY] and won == tallies[BEST_WON] and opts[DEPTH] >= tallies[BEST_DEPTH]:
        return
    best[UTILITY] = utility
    tallies[BEST_PARENT] = parent
    tallies[BEST_MOVE] = move
    tallies[BEST_DEPTH] = opts[DEPTH]
    tallies[BEST_WON] = won


@compiled
def place(heap: Any, scores: Any, ties: Any, count: int, guide: float, h: int) -> int:
    """The slot for a state of this guide: a free one, that of the worst, or -1 where it is the worst itself."""
    width = len(heap)
    if count < width:
        heap[count] = count
        scores[count] = guide
        ties[count] = h
        if count + 1 == width:
            for at in range(width // 2 - 1, -1, -1):
                sift(heap, scores, ties, width, at)
        return count
    slot = heap[0]
    if guide < scores[slot] or (guide == scores[slot] and h <= ties[slot]):
        return -1
    scores[slot] = guide
    ties[slot] = h
    sift(heap, scores, ties, width, 0)
    return slot  # type: ignore[no-any-return]


def _grow(legal: Any, step: Any, over: Any, measure: Any, key: Any, reach: Any, tables: Any, front: Any, after: Any,
          scores: Any, ties: Any, heap: Any, parents: Any, moves: Any, ceilings: Any, seen: Any, opts: Any,
          tallies: Any, best: Any, uops: Any, uconst: Any, gops: Any, gconst: Any, rises: Any, corner: Any, last: Any,
          spans: Any, scratch: Any, actions: Any, vars: Any, stack: Any, rng: Any, first: int, count: int) -> int:
    """Add what follows from a part of a layer to the next layer; how many states that has then.

    front holds the part, which begins with state `first` of its layer; the next layer has `count` states before.
    """
    for parent in range(front.shape[0]):
        choices = legal(tables, front[parent], actions)
        for choice in range(choices):
            move = actions[choice]
            for k in range(len(scratch)):
                scratch[k] = front[parent, k]
            step(tables, scratch, move, rng)
            tallies[MADE] += 1
            measure(tables, scratch, 0, vars)
            h = identity(key, tables, scratch, vars, opts)
            if not is_new(seen, tallies, h):
                continue
            utility = run(uops, uconst, vars, stack)
            status = over(tables, scratch)
            keep_best(tallies, best, opts, first + parent, move, status, utility)
            if status != RUNNING or opts[DEPTH] >= opts[HORIZON]:
                continue
            ceiling = ceiling_of(reach, tables, scratch, opts, best, rises, corner, last, spans, uops, uconst,
                                 stack)
            if ceiling < best[UTILITY] or (ceiling == best[UTILITY] and tallies[BEST_WON]):
                continue
            vars[opts[METRICS]] = ceiling
            if opts[SECURING]:
                vars[opts[METRICS] + 1] = secured_of(reach, tables, scratch, opts, rises, corner, spans, uops, uconst,
                                                     stack)
            guide = run(gops, gconst, vars, stack) if opts[GUIDED] else utility
            full = count == len(heap)
            slot = place(heap, scores, ties, count, guide, h)
            if full:
                best[MISSED] = max(best[MISSED], ceiling if slot < 0 else ceilings[slot])
            else:
                count += 1
            if slot < 0:
                continue
            ceilings[slot] = ceiling
            for k in range(len(scratch)):
                after[slot, k] = scratch[k]
            parents[slot] = first + parent
            moves[slot] = move
    return count


NUMBERS = frozenset(("run", "is_new", "keep_best", "place"))
"""Functions that see numbers alone, which stay compiled where the game is not."""


def _types() -> Any:
    from numba import types

    whole, ints, floats = types.int64, types.int64[::1], types.float64[::1]
    row, rows, short = types.uint16[::1], types.uint16[:, ::1], types.int32[::1]
    rules = tuple(entry_type(k) for k in ("legal", "step", "over", "measure", "key", "measure"))
    layers = (rows, rows, floats, ints, short, short, ints, floats)
    codes = (ints, floats, ints, floats)
    return whole(*rules, row, *layers, ints, ints, ints, floats, *codes, ints, floats, floats, floats, row, ints,
                 floats, floats, ints, whole, whole)


grow = _grow if INTERPRET else jit(_grow, _types(), final=True)


@dataclass
class Found:
    """What a search over layers ended with.

    actions: the best plan. utility, won: of its last state. upper: no plan within the horizon is worth more. made:
    states made. depth: layers finished. stopped: complete (nothing better exists), width (a layer had to leave states
    out), states or time.
    """

    actions: tuple[int, ...]
    utility: float
    won: bool
    upper: float
    made: int
    depth: int
    stopped: str


class Layers:
    """The memory for searches over the layers of one problem.

    Args:
        problem: what is looked for.
        width: states kept in a layer at most.
        states: states made at most.
        symbols: metrics that guides read besides the utility's.
        bounded: work out a ceiling for each state, where the game can say what is still to be reached.
    """

    def __init__(
        self, problem: Problem, width: int, states: int, symbols: frozenset[str] = frozenset(), bounded: bool = True
    ) -> None:
        self.problem, self.states = problem, states
        game, start = problem.game, problem.level.start
        size = 1024
        while 2 * size < 3 * states:
            size *= 2
        self._seen = np.zeros(size, dtype=np.int64)
        self._fronts = [np.empty((width, len(start)), dtype=start.dtype) for _ in range(2)]
        self._scores, self._ceilings = np.empty(width), np.empty(width)
        self._ties, self._moves = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
        self._heap, self._parents = np.empty(width, dtype=np.int32), np.empty(width, dtype=np.int32)
        self._rules = rules = game.rules_for(problem.utility.symbols | symbols)
        n = len(game.metrics)
        self._opts = opts = np.zeros(OPTIONS, dtype=np.int64)
        reaching = bounded and game.reach is not None and problem.rises is not None
        reach = game.reach() if game.reach is not None else rules.measure
        opts[[METRICS, USED, CLOCKED, HORIZON]] = n, problem.used(), problem.clocked, problem.horizon
        opts[[REACHING, CLOCK, FALLS]] = reaching, game.clock, not problem.constant
        calls = rules.entries
        self._six = (calls.legal, calls.step, calls.over, calls.measure, calls.key, entry(reach))
        self._bounds = (np.array(problem.rises or [0] * n, dtype=np.int64), np.zeros(n), np.zeros(n), np.zeros(2 * n))
        self._vars = np.zeros(n + 2)
        self._rest = (start.copy(), np.zeros(max(1, problem.level.max_actions), dtype=np.int64), self._vars)
        self._grow = grow if game.compiled else interpreted(_grow, NUMBERS)
        self._identity = interpreted(identity)

    def search(
        self, guide: Formula | None = None, seconds: float | None = None, depth: int | None = None,
        known: Found | None = None,
    ) -> Found:  # fmt: skip
        """Grow layer after layer from the start.

        Args:
            guide: over the metrics, CEILING and SECURED; decides which states a layer that is too wide keeps. None: the
                utility.
            seconds: wall clock at most, looked at every few milliseconds of work.
            depth: moves at most, where less than the problem's horizon.
            known: the best plan of earlier searches: what cannot beat it is left out, and it is the result if nothing
                does.
        """
        began = time.perf_counter()
        problem, tables = self.problem, self.problem.level.tables
        order = (*problem.game.symbols, CEILING, SECURED)
        codes = (*code(problem.utility, order), *code(guide or problem.utility, order))
        opts, tallies, best = self._opts, np.zeros(TALLIES, dtype=np.int64), np.full(BESTS, -np.inf)
        opts[GUIDED], opts[HORIZON] = guide is not None, min(problem.horizon, depth or problem.horizon)
        opts[SECURING] = bool(opts[REACHING] and guide is not None and SECURED in guide.symbols)
        stack, rng = np.zeros(STACK), stream(0)
        front, after = self._fronts
        history: list[tuple[Any, Any]] = []
        pace = Pace(seconds, PART if problem.game.compiled else 20, began)
        with np.errstate(all="ignore"):
            count = self._plant(front, codes, tallies, best, stack)
            if known is not None and known.utility >= best[UTILITY]:
                best[UTILITY], tallies[BEST_WON], tallies[BEST_DEPTH] = known.utility, known.won, KNOWN
            top, stopped, late = problem.ceiling(1), "", pace.is_late()
            while not stopped and count and (top > best[UTILITY] or (top == best[UTILITY] and not tallies[BEST_WON])):
                opts[DEPTH] = len(history) + 1
                best[LAYER] = problem.ceiling(len(history) + 2)
                grown = first = 0
                while first < count:
                    if late:
                        stopped = "time"
                    elif tallies[MADE] >= self.states:
                        stopped = "states"
                    if stopped:
                        best[MISSED] = max(best[MISSED], top)
                        break
                    part = min(pace.chunk, count - first)
                    grown = self._grow(
                        *self._six, tables, front[first : first + part], after, self._scores, self._ties,
                        self._heap, self._parents, self._moves, self._ceilings, self._seen, opts, tallies, best,
                        *codes, *self._bounds, *self._rest, stack, rng, first, grown,
                    )  # fmt: skip
                    first, late = first + part, pace.is_late()
                history.append((self._parents[:grown].copy(), self._moves[:grown].copy()))
                count = grown
                top = float(self._ceilings[:count].max()) if count else -np.inf
                front, after = after, front
        utility = float(best[UTILITY])
        upper = max(utility, float(best[MISSED]))
        plan = known.actions if known and tallies[BEST_DEPTH] == KNOWN else self._plan(history, tallies)
        return Found(
            plan, utility, bool(tallies[BEST_WON]), upper, int(tallies[MADE]), len(history),
            stopped or ("width" if upper > utility else "complete"),
        )  # fmt: skip

    def _plant(self, front: Any, codes: Any, tallies: Any, best: Any, stack: Any) -> int:
        """Put the start into the first layer; 0 where it is the end already."""
        level, opts = self.problem.level, self._opts
        front[0] = level.start
        opts[DEPTH] = 0
        self._seen.fill(0)
        self._rules.measure(level.tables, front[0], 0, self._vars)
        is_new(self._seen, tallies, self._identity(self._rules.key, level.tables, front[0], self._vars, opts))
        best[UTILITY] = run(codes[0], codes[1], self._vars, stack)
        status = int(self._rules.over(level.tables, front[0]))
        tallies[BEST_WON] = status == WON
        return 1 if status == RUNNING else 0

    @staticmethod
    def _plan(history: list[tuple[Any, Any]], tallies: Any) -> tuple[int, ...]:
        depth = int(tallies[BEST_DEPTH])
        if depth == 0:
            return ()
        actions, at = [int(tallies[BEST_MOVE])], int(tallies[BEST_PARENT])
        for parents, moves in reversed(history[: depth - 1]):
            actions.append(int(moves[at]))
            at = int(parents[at])
        return tuple(reversed(actions))
