"""Plain ways to search, to compare others with: random games, flat Monte Carlo, breadth first, depth first, exhaustive.

All return a `Plan` with the best state seen on the way (any beginning of a game is a plan), take seeds where they draw,
and stop at the first limit they meet; what they had by then counts.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.compiling import INTERPRET, compiled, interpreted, jit
from persona_evo.errors import SettingsError
from persona_evo.formula.machine import STACK, run
from persona_evo.games.core import RUNNING, WON, entry_type
from persona_evo.search.coding import code
from persona_evo.search.layers import Found, Layers
from persona_evo.search.plan import Plan
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN
from persona_evo.seeds import below, derive, stream

CHUNK = 2_000
"""Games or states between two looks at the clock."""

MADE, LENGTH, BEST_WON, LEVEL = range(4)
TALLIES = 4
"""tallies: states made; length of the best plan; whether it wins; depth at which the depth-first search stands."""

UTILITY, SUM, SQUARES, LAST = range(4)
BESTS = 4
"""best: the best utility seen; sum of the utilities games ended with, and of their squares; the best of this call."""


@compiled
def keep_best(tallies: Any, best: Any, plan: Any, played: Any, made: int, status: int, utility: float) -> None:
    """Keep the `made` moves in `played` if they are the best: utility first, then winning, then brevity."""
    won = 1 if status == WON else 0
    if utility < best[UTILITY] or (utility == best[UTILITY] and won < tallies[BEST_WON]):
        return
    if utility == best[UTILITY] and won == tallies[BEST_WON] and made >= tallies[LENGTH]:
        return
    best[UTILITY] = utility
    tallies[LENGTH] = made
    tallies[BEST_WON] = won
    for k in range(made):
        plan[k] = played[k]


@compiled
def random_move(legal: Any, step: Any, tables: Any, state: Any, actions: Any, rng: Any) -> int:
    """Make one uniformly random legal move in place; the action made, or -1 where there is none."""
    count = legal(tables, state, actions)
    if count <= 0:
        return -1
    action = actions[below(rng, count)]
    step(tables, state, action, rng)
    return action  # type: ignore[no-any-return]


def _games(legal: Any, step: Any, over: Any, measure: Any, tables: Any, start: Any, first: int, games: int, depth: int,
           tallies: Any, best: Any, plan: Any, played: Any, uops: Any, uconst: Any, scratch: Any, actions: Any,
           vars: Any, stack: Any, rng: Any) -> int:
    """Play random games of up to `depth` moves, all beginning with the move `first` unless that is -1."""
    best[LAST] = -math.inf
    for _ in range(games):
        for k in range(len(scratch)):
            scratch[k] = start[k]
        made = 0
        utility = 0.0
        status = over(tables, scratch)
        while True:
            measure(tables, scratch, 0, vars)
            utility = run(uops, uconst, vars, stack)
            keep_best(tallies, best, plan, played, made, status, utility)
            if made > 0 or first < 0:
                best[LAST] = max(best[LAST], utility)
            if status != RUNNING or made >= depth:
                break
            move = first
            if first >= 0 and made == 0:
                step(tables, scratch, first, rng)
            else:
                move = random_move(legal, step, tables, scratch, actions, rng)
                if move < 0:
                    break
            played[made] = move
            made += 1
            tallies[MADE] += 1
            status = over(tables, scratch)
        best[SUM] += utility
        best[SQUARES] += utility * utility
    return 0


def _descend(legal: Any, step: Any, over: Any, measure: Any, tables: Any, rows: Any, moves: Any, counts: Any,
             cursors: Any, limit: int, depth: int, tallies: Any, best: Any, plan: Any, played: Any, uops: Any,
             uconst: Any, scratch: Any, actions: Any, vars: Any, stack: Any, rng: Any) -> int:
    """Go on with a depth-first search for `limit` states; 1 when it has been everywhere.

    rows[d] is the state at depth d of the line being searched; moves[d, :counts[d]] its legal moves, of which
    cursors[d] have been tried.
    """
    for _ in range(limit):
        level = tallies[LEVEL]
        while level >= 0 and cursors[level] >= counts[level]:
            level -= 1
        tallies[LEVEL] = level
        if level < 0:
            return 1
        move = moves[level, cursors[level]]
        cursors[level] += 1
        for k in range(len(scratch)):
            rows[level + 1, k] = rows[level, k]
        state = rows[level + 1]
        step(tables, state, move, rng)
        tallies[MADE] += 1
        played[level] = move
        status = over(tables, state)
        measure(tables, state, 0, vars)
        keep_best(tallies, best, plan, played, level + 1, status, run(uops, uconst, vars, stack))
        if status == RUNNING and level + 1 < depth:
            found = legal(tables, state, actions)
            for k in range(found):
                moves[level + 1, k] = actions[k]
            counts[level + 1] = found
            cursors[level + 1] = 0
            tallies[LEVEL] = level + 1
    return 0


def _compile(function: Any, before: str) -> Any:
    if INTERPRET:
        return function
    from numba import types

    whole, ints, floats, row = types.int64, types.int64[::1], types.float64[::1], types.uint16[::1]
    grid = types.int64[:, ::1]
    kinds = {"r": row, "w": whole, "R": types.uint16[:, ::1], "i": ints, "g": grid}
    rules = tuple(entry_type(k) for k in ("legal", "step", "over", "measure"))
    rest = (ints, floats, ints, ints, ints, floats, row, ints, floats, floats, ints)
    return jit(function, whole(*rules, *(kinds[k] for k in before), *rest), final=True)


play_games = _compile(_games, "rrwww")
descend = _compile(_descend, "rRgiiww")


@dataclass(frozen=True)
class Games:
    """Random games: the best plan seen, and the utilities that they ended with."""

    plan: Plan
    games: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class Flat:
    """Flat Monte Carlo: the best plan seen, and for each first move the best utility seen after it."""

    plan: Plan
    scores: dict[int, float]
    games: int


class _Desk:
    """What the compiled functions work on."""

    def __init__(self, problem: Problem, seed: int, depth: int) -> None:
        game, level = problem.game, problem.level
        self.problem, self.seed, self.began = problem, seed, time.perf_counter()
        self.depth = min(depth or problem.horizon, problem.horizon)
        if self.depth < 1:
            raise SettingsError("the depth is out of range", found=str(depth), expected="at least 1, or 0 for no limit")
        self.rules = game.rules_for(problem.utility.symbols)
        entries = self.rules.entries
        self.four = (entries.legal, entries.step, entries.over, entries.measure)
        self.actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self.tallies, self.best = np.zeros(TALLIES, dtype=np.int64), np.zeros(BESTS)
        self.plan, played = (np.zeros(self.depth + 1, dtype=np.int64) for _ in range(2))
        vars, stack = np.zeros(len(game.metrics)), np.zeros(STACK)
        codes = code(problem.utility, game.symbols)
        self.rest = (
            self.tallies, self.best, self.plan, played, *codes, level.start.copy(), self.actions, vars, stack,
            stream(derive(seed, "baseline")),
        )  # fmt: skip
        self.rules.measure(level.tables, level.start, 0, vars)
        self.best[UTILITY] = run(*codes, vars, stack)
        self.tallies[BEST_WON] = self.rules.over(level.tables, level.start) == WON

    def late(self, seconds: float | None) -> bool:
        return seconds is not None and time.perf_counter() - self.began >= seconds

    def chunk(self, left: int) -> int:
        return min(left, CHUNK if self.problem.game.compiled else 20)

    def made(self, iterations: int, stopped: str, proven: bool = False) -> Plan:
        actions = tuple(int(a) for a in self.plan[: self.tallies[LENGTH]])
        made = int(self.tallies[MADE])
        return plan_of(self.problem, actions, iterations, made, self.began, stopped, proven, self.seed)


def plan_of(
    problem: Problem, actions: tuple[int, ...], iterations: int, made: int, began: float, stopped: str, proven: bool,
    seed: int, upper: float = math.inf,
) -> Plan:  # fmt: skip
    """A plan with what it leads to."""
    end = problem.game.replay(problem.level, actions)[-1]
    metrics = problem.game.measure(problem.level, end)
    utility = problem.utility.evaluate(metrics)
    return Plan(
        actions=actions, utility=utility, metrics=metrics, outcome=problem.game.over(problem.level, end),
        iterations=iterations, nodes=made, seconds=time.perf_counter() - began, stopped=PROVEN if proven else stopped,
        proven=proven, seed=seed, upper=utility if proven else upper,
    )  # fmt: skip


def random_games(
    problem: Problem, games: int = 1_000, *, depth: int = 0, seconds: float | None = None, seed: int = 0
) -> Games:
    """Games of uniformly random moves.

    Args:
        games: how many at most. depth: moves of a game at most, 0 for the problem's horizon.
        seconds: wall clock at most.
    """
    desk, played, stopped = _Desk(problem, seed, depth), 0, "budget"
    play = play_games if problem.game.compiled else interpreted(_games)
    with np.errstate(all="ignore"):
        while played < games:
            part = desk.chunk(games - played)
            play(*desk.four, problem.level.tables, problem.level.start, -1, part, desk.depth, *desk.rest)
            played += part
            if desk.late(seconds):
                stopped = "time"
                break
    mean = float(desk.best[SUM]) / max(1, played)
    variance = max(0.0, float(desk.best[SQUARES]) / max(1, played) - mean * mean)
    return Games(desk.made(played, stopped), played, mean, math.sqrt(variance))


def flat(
    problem: Problem, games: int = 1_000, *, depth: int = 0, seconds: float | None = None, seed: int = 0
) -> Flat:
    """Random games that begin with each legal first move in turn; the move whose best game was best is the one to make.

    Args: as for `random_games`; it can stop after any game, so the first moves have had as many games, or one more.
    """
    desk, played, stopped = _Desk(problem, seed, depth), 0, "budget"
    level = problem.level
    play = play_games if problem.game.compiled else interpreted(_games)
    over = desk.rules.over(level.tables, level.start) != RUNNING
    count = 0 if over else int(desk.rules.legal(level.tables, level.start, desk.actions))
    scores = {int(a): -math.inf for a in desk.actions[:count]}
    firsts = list(scores)
    with np.errstate(all="ignore"):
        while firsts and played < games:
            first = firsts[played % len(firsts)]
            play(*desk.four, level.tables, level.start, first, 1, desk.depth, *desk.rest)
            scores[first] = max(scores[first], float(desk.best[LAST]))
            played += 1
            if played % 64 == 0 and desk.late(seconds):
                stopped = "time"
                break
    return Flat(desk.made(played, stopped), {a: s for a, s in scores.items() if s > -math.inf}, played)


def depth_first(
    problem: Problem, *, depth: int = 0, states: int = 1_000_000, seconds: float | None = None
) -> Plan:
    """Every line of moves to a depth, in the game's order of moves, states met again included.

    Args:
        states: made at most. Proven when it has been everywhere and the depth is the horizon; a lesser depth that has
            been tried wholly counts as a limit of the budget.
    """
    desk, stopped = _Desk(problem, 0, depth), "budget"
    level = problem.level
    rows = np.empty((desk.depth + 1, len(level.start)), dtype=level.start.dtype)
    moves = np.zeros((desk.depth + 1, len(desk.actions)), dtype=np.int64)
    counts, cursors = (np.zeros(desk.depth + 1, dtype=np.int64) for _ in range(2))
    rows[0] = level.start
    if desk.rules.over(level.tables, level.start) == RUNNING:
        counts[0] = desk.rules.legal(level.tables, level.start, moves[0])
    search, done = descend if problem.game.compiled else interpreted(_descend), 0
    with np.errstate(all="ignore"):
        while not done and desk.tallies[MADE] < states:
            limit = desk.chunk(states - int(desk.tallies[MADE]))
            done = search(
                *desk.four, level.tables, rows, moves, counts, cursors, limit, desk.depth, *desk.rest
            )  # fmt: skip
            here = int(desk.tallies[LEVEL]) + 1
            done = done or not (cursors[:here] < counts[:here]).any()
            if desk.late(seconds) and not done:
                stopped = "time"
                break
    return desk.made(int(desk.tallies[MADE]), stopped, bool(done) and desk.depth == problem.horizon)


def breadth_first(
    problem: Problem, *, depth: int = 0, states: int = 1_000_000, seconds: float | None = None
) -> Plan:
    """All distinct states, those few moves from the start first.

    Args: as for `depth_first`.
    """
    return _by_layers(problem, depth, states, seconds)[0]


def _by_layers(problem: Problem, depth: int, states: int, seconds: float | None) -> tuple[Plan, Found]:
    """The plan of a breadth-first search, which is no proof where the depth is not the horizon, and what it found."""
    began = time.perf_counter()
    found = Layers(problem, states, depth).search(seconds)
    whole = not depth or depth >= problem.horizon
    plan = plan_of(
        problem, found.actions, found.made, found.made, began, "budget" if found.complete else found.stopped,
        whole and found.complete, 0, found.upper if whole else math.inf,
    )  # fmt: skip
    return plan, found


def exhaustive(problem: Problem, depth: int, *, states: int = 20_000_000) -> Plan:
    """The best of all plans of up to `depth` moves.

    Raises:
        SettingsError: it would take more than `states` states.
    """
    plan, found = _by_layers(problem, depth, states, None)
    if not found.complete:
        raise SettingsError(
            f"not all plans of {depth} moves can be tried", found=f"more than {states:,} states",
            hint="lower the depth, or raise the limit on states",
        )  # fmt: skip
    return plan


def by_name(method: str, problem: Problem, states: int, seconds: float | None, seed: int) -> Plan:
    """One of these searches with about so many states: bfs, dfs, exhaustive, random or flat."""
    if method == "bfs":
        return breadth_first(problem, states=states, seconds=seconds)
    if method == "dfs":
        return depth_first(problem, states=states, seconds=seconds)
    if method == "exhaustive":
        return exhaustive(problem, problem.horizon, states=states)
    games = max(1, states // problem.horizon)
    if method == "random":
        return random_games(problem, games, seconds=seconds, seed=seed).plan
    return flat(problem, games, seconds=seconds, seed=seed).plan
