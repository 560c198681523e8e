"""Choose one move by looking so many moves ahead: random and flat Monte Carlo search, breadth first, depth first.

The searches of Hanson and Moffat, "Monte Carlo Search for a real-time arcade game, Puyo-Puyo" (AISB 2014), for any game
for one. A line of moves is worth the utility of the state at its depth limit, or where the game ends before; a first
move is worth its best line; the best first move is made. All can be interrupted at any time, and then what they have
counts.

| method | lines it looks at |
|---|---|
| flat | the first moves in turn, then random moves |
| random | random moves |
| bfs | all, by layers; a layer that is not finished counts beside the one before it |
| dfs | all, in the game's order, to the depth limit at once |

The baselines of `persona_evo.search.baselines` look for one plan for a whole level; these play on from each state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import INTERPRET, compiled, interpreted, jit
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.formula.machine import STACK, run
from persona_evo.games.core import RUNNING, Game, Level, entry_type
from persona_evo.search.baselines import random_move
from persona_evo.search.coding import code
from persona_evo.seeds import below, derive, stream
from persona_evo.words import counted

METHODS = ("flat", "random", "bfs", "dfs")
TIES = ("random", "first")
CHUNK = 500
"""Moves made between two looks at the clock."""
MOST_STATES = 2_000_000
"""States that a breadth-first search may keep."""

MADE, PLAYOUTS, HEAD, TAIL, LAYER, STANDS = range(6)
TALLIES = 6
"""tallies: moves made; playouts begun; breadth first: states expanded, states kept, depth of the layer in the making;
depth first: depth at which it stands, -1 when it has been everywhere."""

BEFORE, NOW, ENDS = range(3)
"""values[., first]: best utility in the layer before, in this layer (or at all depth limits), where the game ended."""


@compiled
def worth(measure: Any, tables: Any, state: Any, uops: Any, uconst: Any, vars: Any, stack: Any) -> float:
    """The utility of a state; nothing where it is no number."""
    measure(tables, state, 0, vars)
    utility = run(uops, uconst, vars, stack)
    return utility if utility == utility else -math.inf


def _lines(legal: Any, step: Any, over: Any, measure: Any, tables: Any, root: Any, firsts: Any, shared: int,
           playouts: int, steps: int, depth: int, values: Any, tallies: Any, uops: Any, uconst: Any, scratch: Any,
           actions: Any, vars: Any, stack: Any, rng: Any) -> int:
    """Random lines until there are `playouts` of them or `steps` moves have been made.

    shared: 1 gives each first move its turn, 0 draws it.
    """
    count = len(firsts)
    while tallies[PLAYOUTS] < playouts and tallies[MADE] < steps:
        first = tallies[PLAYOUTS] % count
        if shared == 0:
            first = below(rng, count)
        tallies[PLAYOUTS] += 1
        for k in range(len(scratch)):
            scratch[k] = root[k]
        step(tables, scratch, firsts[first], rng)
        made = 1
        while made < depth and over(tables, scratch) == RUNNING:
            if random_move(legal, step, tables, scratch, actions, rng) < 0:
                break
            made += 1
        tallies[MADE] += made
        values[NOW, first] = max(values[NOW, first], worth(measure, tables, scratch, uops, uconst, vars, stack))
    return 0


def _layers(legal: Any, step: Any, over: Any, measure: Any, tables: Any, rows: Any, owners: Any, ranks: Any, steps: int,
            depth: int, values: Any, tallies: Any, uops: Any, uconst: Any, scratch: Any, actions: Any, vars: Any,
            stack: Any, rng: Any) -> int:
    """Go on breadth first until `steps` moves have been made; 1 when all layers are finished.

    rows[0] is the root; owners[i] is the first move (its index) on the way to rows[i], ranks[i] the depth there.
    """
    while tallies[HEAD] < tallies[TAIL]:
        if tallies[MADE] >= steps:
            return 0
        head = tallies[HEAD]
        tallies[HEAD] = head + 1
        if ranks[head] == tallies[LAYER]:
            tallies[LAYER] += 1
            for k in range(values.shape[1]):
                values[BEFORE, k] = values[NOW, k]
                values[NOW, k] = -math.inf
        count = legal(tables, rows[head], actions)
        for k in range(count):
            for i in range(len(scratch)):
                scratch[i] = rows[head, i]
            step(tables, scratch, actions[k], rng)
            tallies[MADE] += 1
            first = owners[head]
            if head == 0:
                first = k
            utility = worth(measure, tables, scratch, uops, uconst, vars, stack)
            if over(tables, scratch) != RUNNING:
                values[ENDS, first] = max(values[ENDS, first], utility)
                continue
            values[NOW, first] = max(values[NOW, first], utility)
            if tallies[LAYER] < depth:
                tail = tallies[TAIL]
                for i in range(len(scratch)):
                    rows[tail, i] = scratch[i]
                owners[tail] = first
                ranks[tail] = tallies[LAYER]
                tallies[TAIL] = tail + 1
    return 1


def _dive(legal: Any, step: Any, over: Any, measure: Any, tables: Any, rows: Any, moves: Any, counts: Any, cursors: Any,
          steps: int, depth: int, values: Any, tallies: Any, uops: Any, uconst: Any, scratch: Any, actions: Any,
          vars: Any, stack: Any, rng: Any) -> int:
    """Go on depth first until `steps` moves have been made; 1 when it has been everywhere.

    rows[d] is the state at depth d of the line being searched; moves[d, :counts[d]] its legal moves, of which
    cursors[d] have been tried.
    """
    level = tallies[STANDS]
    while level >= 0:
        if cursors[level] >= counts[level]:
            level -= 1
            continue
        if tallies[MADE] >= steps:
            tallies[STANDS] = level
            return 0
        move = moves[level, cursors[level]]
        cursors[level] += 1
        for k in range(len(scratch)):
            rows[level + 1, k] = rows[level, k]
        state = rows[level + 1]
        step(tables, state, move, rng)
        tallies[MADE] += 1
        if level + 1 < depth and over(tables, state) == RUNNING:
            level += 1
            found = legal(tables, state, actions)
            for k in range(found):
                moves[level, k] = actions[k]
            counts[level] = found
            cursors[level] = 0
        else:
            first = cursors[0] - 1
            values[NOW, first] = max(values[NOW, first], worth(measure, tables, state, uops, uconst, vars, stack))
    tallies[STANDS] = level
    return 1


def _compile(function: Any, before: str) -> Any:
    if INTERPRET:
        return function
    from numba import types

    whole, ints, floats, row = types.int64, types.int64[::1], types.float64[::1], types.uint16[::1]
    kinds = {"r": row, "w": whole, "i": ints, "R": types.uint16[:, ::1], "g": types.int64[:, ::1]}
    rules = tuple(entry_type(k) for k in ("legal", "step", "over", "measure"))
    rest = (types.float64[:, ::1], ints, ints, floats, row, ints, floats, floats, ints)
    return jit(function, whole(*rules, *(kinds[k] for k in before), *rest), final=True)


lines = _compile(_lines, "rriwwww")
layers = _compile(_layers, "rRiiww")
dive = _compile(_dive, "rRgiiww")


@dataclass(frozen=True)
class Allowance:
    """How much thought a move may take: whichever limit comes first; without any, to the end of the search.

    playouts: random lines (flat and random). steps: moves of the game that are made on the way, or a function that says
    how many for a state: a simulated clock. seconds: wall clock; what is chosen under it depends on the machine.

    Raises:
        SettingsError: a limit is not above 0.
    """

    playouts: int | None = None
    steps: int | Callable[[Any], int] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("playouts", self.playouts), ("steps", self.steps), ("seconds", self.seconds)):
            if isinstance(value, (int, float)) and value <= 0:
                raise SettingsError(f"the limit of {name} is out of range", found=str(value), expected="more than 0")

    def most_steps(self, state: Any) -> int:
        """The limit of steps for a state."""
        if callable(self.steps):
            return max(1, int(self.steps(state)))
        return 2**62 if self.steps is None else self.steps


@dataclass(frozen=True)
class Look:
    """What was chosen. values: first move -> utility of its best line, -inf where none was looked at. whole: all lines
    were looked at, so there is no better move within the depth."""

    action: int
    values: dict[int, float]
    steps: int
    playouts: int
    whole: bool


class Lookahead:
    """Plays one side of a game for one, move by move, by one of METHODS.

    Args:
        game, level: what is played.
        utility: over the game's metrics.
        depth: moves of a line at most.
        method: one of METHODS.
        allowance: for one move; flat and random need a limit.
        ties: what is made of equally good first moves: one at random, or the first in the game's order.
        seed: of all random choices; the same states in the same order give the same moves, unless seconds count.

    Raises:
        SettingsError: no such method or way with ties, a depth out of range, no limit where one is needed, a game for
            several, or too many states for the memory of a breadth-first search.
    """

    def __init__(
        self, game: Game, level: Level, utility: Formula, depth: int, method: str = "flat",
        allowance: Allowance | None = None, *, ties: str = "random", seed: int = 0,
    ) -> None:  # fmt: skip
        self.game, self.level, self.depth, self.method, self.ties = game, level, depth, method, ties
        self.allowance, self.seed = allowance or Allowance(), seed
        self._check()
        utility = parse(utility.text, game.symbols)
        self._rules = game.rules_for(utility.symbols)
        entries = self._rules.entries
        self._four = (entries.legal, entries.step, entries.over, entries.measure)
        self._actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self._tallies = np.zeros(TALLIES, dtype=np.int64)
        self._moves = 0
        self._codes = code(utility, game.symbols)
        self._buffers = (level.start.copy(), self._actions, np.zeros(len(game.metrics)), np.zeros(STACK))
        self._memory: tuple[NDArray[Any], ...] = ()
        if method == "bfs":
            kept = sum(level.max_actions**d for d in range(depth))
            rows = np.zeros((kept, len(level.start)), dtype=level.start.dtype)
            self._memory = (rows, np.zeros(kept, dtype=np.int64), np.zeros(kept, dtype=np.int64))
        elif method == "dfs":
            rows = np.zeros((depth + 1, len(level.start)), dtype=level.start.dtype)
            moves = np.zeros((depth + 1, len(self._actions)), dtype=np.int64)
            self._memory = (rows, moves, *(np.zeros(depth + 1, dtype=np.int64) for _ in range(2)))
        function, plain = {"bfs": (layers, _layers), "dfs": (dive, _dive)}.get(method, (lines, _lines))
        self._search = function if game.compiled else interpreted(plain)

    def _check(self) -> None:
        for what, value, known in (("method", self.method, METHODS), ("way with ties", self.ties, TIES)):
            if value not in known:
                expected, hint = unknown(value, known)
                raise SettingsError(f"no such {what}", found=value, expected=expected, hint=hint)
        if self.game.players != 1:
            raise SettingsError("this search is for games for one", found=counted(self.game.players, "player"),
                                hint="play with persona_evo.search.act")  # fmt: skip
        if not 1 <= self.depth <= 1_000:
            raise SettingsError("the depth is out of range", found=str(self.depth), expected="from 1 to 1,000")
        given = self.allowance
        if self.method in ("flat", "random") and given.playouts is None and given.steps is None \
                and given.seconds is None:  # fmt: skip
            raise SettingsError(f"{self.method} search never ends of itself", expected="a limit of playouts, steps or "
                                "seconds")  # fmt: skip
        if self.method == "bfs" and sum(self.level.max_actions**d for d in range(self.depth)) > MOST_STATES:
            raise SettingsError("too many states for a breadth-first search", found=f"depth {self.depth}",
                                expected=f"at most {MOST_STATES:,} states", hint="lower the depth")  # fmt: skip

    def choose(self, state: Any) -> int:
        """The move to make in a state."""
        return self.think(state).action

    def think(self, state: Any) -> Look:
        """Search from a state.

        Raises:
            SettingsError: the game is over there.
        """
        began = time.perf_counter()
        tables = self.level.tables
        count = int(self._rules.legal(tables, state, self._actions))
        if int(self._rules.over(tables, state)) != RUNNING or count == 0:
            raise SettingsError("the game is over: there is no move to make")
        self._moves += 1
        firsts, rng = self._actions[:count].copy(), stream(derive(self.seed, "look", self._moves))
        values = np.full((3, count), -math.inf)
        self._tallies[:] = 0
        before = self._before(state, firsts)
        most, seconds = self.allowance.most_steps(state), self.allowance.seconds
        done, limit = 0, 0
        with np.errstate(all="ignore"):
            while not done and limit < most:
                limit = most if seconds is None else min(most, int(self._tallies[MADE]) + CHUNK)
                done = self._search(
                    *self._four, tables, *before, limit, self.depth, values, self._tallies, *self._codes,
                    *self._buffers, rng,
                )  # fmt: skip
                if self.method in ("flat", "random"):
                    done = self._tallies[PLAYOUTS] >= (self.allowance.playouts or 2**62)
                if seconds is not None and time.perf_counter() - began >= seconds:
                    break
        whole = bool(done) and self.method in ("bfs", "dfs")
        best = values[[NOW, ENDS]].max(axis=0) if whole else values.max(axis=0)
        equal = np.flatnonzero(best == best.max())
        chosen = equal[0] if self.ties == "first" else equal[int(below(stream(derive(self.seed, "tie", self._moves)),
                                                                       len(equal)))]  # fmt: skip
        scores = {int(a): float(v) for a, v in zip(firsts, best, strict=True)}
        return Look(int(firsts[chosen]), scores, int(self._tallies[MADE]), int(self._tallies[PLAYOUTS]), whole)

    def _before(self, state: Any, firsts: Any) -> tuple[Any, ...]:
        """The arguments between the tables and the limit of steps."""
        if self.method == "bfs":
            rows, owners, ranks = self._memory
            rows[0], owners[0], ranks[0], self._tallies[TAIL] = state, 0, 0, 1
            return rows, owners, ranks
        if self.method == "dfs":
            rows, moves, counts, cursors = self._memory
            rows[0], counts[0], cursors[0] = state, len(firsts), 0
            moves[0, : len(firsts)] = firsts
            return rows, moves, counts, cursors
        return state, firsts, int(self.method == "flat"), self.allowance.playouts or 2**62
