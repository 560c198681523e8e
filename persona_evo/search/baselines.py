"""Baseline searches: random games, flat Monte Carlo, breadth-first, depth-first and exhaustive search.

Each returns a `Plan` that leads to the best state seen (any beginning of a game is a plan). Those that make random
choices take a seed. A search stops at the first limit it reaches and returns the best plan so far.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from persona_evo.compiling import Handle, compiled, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, IntTable, WordTable
from persona_evo.errors import SettingsError
from persona_evo.games.core import RUNNING, WON
from persona_evo.search.expansion import copy
from persona_evo.search.layers import Found, Layers
from persona_evo.search.plan import Plan
from persona_evo.search.play import Play, is_better, random_move, worth
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN
from persona_evo.seeds import derive, stream

CHUNK = 2_000
"""The number of games or states between two checks of the clock."""

MADE, LENGTH, BEST_WON, LEVEL = range(4)
TALLIES = 4
"""The length of `Bench.tallies`: states made; length of the best plan; whether that plan wins; current depth of the
depth-first search.
"""

UTILITY, SUM, SQUARES, LAST = range(4)
BESTS = 4
"""The length of `Bench.best`: the best utility seen; the sum of the games' final utilities; the sum of their squares;
the best utility of this call.
"""


class Bench(NamedTuple):
    """The working memory of random games and of a depth-first search.

    Attributes:
        play: the level.
        rows: row 0 is the start. For a depth-first search, row d is the state at depth d of the current line.
        moves: int64[depths, actions], the legal moves of these states.
        counts: int64[depths], the number of legal moves at each depth.
        cursors: int64[depths], the number of moves already tried at each depth.
        tallies: int64[TALLIES].
        best: float64[BESTS].
        plan: int64[depth + 1], the best plan.
        played: int64[depth + 1], the moves of the current game.
    """

    play: Play
    rows: WordTable
    moves: IntTable
    counts: IntRow
    cursors: IntRow
    tallies: IntRow
    best: FloatRow
    plan: IntRow
    played: IntRow


@compiled
def keep_best(bench: Bench, made: int, status: int, utility: float) -> None:
    """Keep the first `made` moves played as the plan if they are the best so far."""
    tallies, best = bench.tallies, bench.best
    won = 1 if status == WON else 0
    if is_better(utility, won, made, best[UTILITY], tallies[BEST_WON], tallies[LENGTH]):
        best[UTILITY] = utility
        tallies[LENGTH] = made
        tallies[BEST_WON] = won
        for k in range(made):
            bench.plan[k] = bench.played[k]


@compiled
def play_game(bench: Bench, first: int, depth: int) -> float:
    """Play up to `depth` moves, random ones after the move `first` (-1 for none), and return the last utility."""
    play, best, state = bench.play, bench.best, bench.play.state
    copy(bench.rows[0], state)
    made = 0
    while True:
        status = play.rules.over(play.tables, state)
        utility = worth(play, state)
        keep_best(bench, made, status, utility)
        if made > 0 or first < 0:
            best[LAST] = max(best[LAST], utility)
        if status != RUNNING or made >= depth:
            return utility
        move = first
        if first >= 0 and made == 0:
            play.rules.step(play.tables, state, first, play.rng)
        else:
            move = random_move(play, state)
            if move < 0:
                return utility
        bench.played[made] = move
        made += 1
        bench.tallies[MADE] += 1


@entry
def play_games(bench: Bench, first: int, games: int, depth: int) -> int:
    """Play random games of up to `depth` moves. All begin with the move `first` unless it is -1."""
    best = bench.best
    best[LAST] = -math.inf
    for _ in range(games):
        utility = play_game(bench, first, depth)
        best[SUM] += utility
        best[SQUARES] += utility * utility
    return 0


@entry
def descend(bench: Bench, limit: int, depth: int) -> int:
    """Continue a depth-first search for `limit` states. Return 1 when the whole space is searched."""
    play, moves, counts, cursors, tallies = bench.play, bench.moves, bench.counts, bench.cursors, bench.tallies
    for _ in range(limit):
        level = tallies[LEVEL]
        while level >= 0 and cursors[level] >= counts[level]:
            level -= 1
        tallies[LEVEL] = level
        if level < 0:
            return 1
        move = moves[level, cursors[level]]
        cursors[level] += 1
        state = bench.rows[level + 1]
        copy(bench.rows[level], state)
        play.rules.step(play.tables, state, move, play.rng)
        tallies[MADE] += 1
        bench.played[level] = move
        status = play.rules.over(play.tables, state)
        keep_best(bench, level + 1, status, worth(play, state))
        if status == RUNNING and level + 1 < depth:
            counts[level + 1] = play.rules.legal(play.tables, state, moves[level + 1])
            cursors[level + 1] = 0
            tallies[LEVEL] = level + 1
    return 0


@dataclass(frozen=True)
class Games:
    """The result of random games: the best plan seen, and the mean and deviation of the final utilities."""

    plan: Plan
    games: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class Flat:
    """The result of flat Monte Carlo search: the best plan seen, and the best utility seen after each first move."""

    plan: Plan
    scores: dict[int, float]
    games: int


class _Desk:
    """The working memory of one search and its clock. If `deep`, it holds the states of a whole line."""

    def __init__(self, problem: Problem, seed: int, depth: int, deep: bool = False) -> None:
        level = problem.level
        self.problem, self.seed, self.began = problem, seed, time.perf_counter()
        self.depth = min(depth or problem.horizon, problem.horizon)
        if self.depth < 1:
            raise SettingsError("the depth is out of range", found=str(depth), expected="at least 1, or 0 for no limit")
        play, rows = Play.of(problem.game, level, problem.utility), self.depth + 1 if deep else 1
        play.rng[:] = stream(derive(seed, "baseline"))
        self.bench = bench = Bench(
            play,
            np.empty((rows, len(level.start)), dtype=level.start.dtype),
            np.zeros((rows, len(play.actions)), dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.zeros(TALLIES, dtype=np.int64),
            np.zeros(BESTS),
            *(np.zeros(self.depth + 1, dtype=np.int64) for _ in range(2)),
        )
        self.handle = Handle(bench)
        bench.rows[0] = level.start
        bench.best[UTILITY] = worth(play, level.start)
        status = play.rules.over(level.tables, level.start)
        bench.tallies[BEST_WON] = status == WON
        bench.counts[0] = play.rules.legal(level.tables, level.start, bench.moves[0]) if status == RUNNING else 0

    def late(self, seconds: float | None) -> bool:
        return seconds is not None and time.perf_counter() - self.began >= seconds

    def chunk(self, left: int) -> int:
        return min(left, CHUNK if self.problem.game.compiled else 20)

    def made(self, iterations: int, stopped: str, proven: bool = False) -> Plan:
        actions = tuple(int(a) for a in self.bench.plan[: self.bench.tallies[LENGTH]])
        made = int(self.bench.tallies[MADE])
        return plan_of(self.problem, actions, iterations, made, self.began, stopped, proven, self.seed)


def plan_of(
    problem: Problem,
    actions: tuple[int, ...],
    iterations: int,
    made: int,
    began: float,
    stopped: str,
    proven: bool,
    seed: int,
    upper: float = math.inf,
) -> Plan:
    """Return a plan with the metrics, utility and outcome of the state it leads to."""
    end = problem.game.replay(problem.level, actions)[-1]
    metrics = problem.game.measure(problem.level, end)
    utility = problem.utility.evaluate(metrics)
    return Plan(
        actions=actions,
        utility=utility,
        metrics=metrics,
        outcome=problem.game.over(problem.level, end),
        iterations=iterations,
        nodes=made,
        seconds=time.perf_counter() - began,
        stopped=PROVEN if proven else stopped,
        proven=proven,
        seed=seed,
        upper=utility if proven else upper,
    )


def random_games(
    problem: Problem, games: int = 1_000, *, depth: int = 0, seconds: float | None = None, seed: int = 0
) -> Games:
    """Play games of uniformly random moves.

    Args:
        games: the largest number of games.
        depth: the largest number of moves of a game; 0 for the problem's horizon.
        seconds: the limit on wall-clock time.
        seed: the seed of the moves.
    """
    desk, played, stopped = _Desk(problem, seed, depth), 0, "budget"
    with np.errstate(all="ignore"):
        while played < games:
            part = desk.chunk(games - played)
            play_games(desk.handle, -1, part, desk.depth)
            played += part
            if desk.late(seconds):
                stopped = "time"
                break
    best = desk.bench.best
    mean = float(best[SUM]) / max(1, played)
    variance = max(0.0, float(best[SQUARES]) / max(1, played) - mean * mean)
    return Games(desk.made(played, stopped), played, mean, math.sqrt(variance))


def flat(problem: Problem, games: int = 1_000, *, depth: int = 0, seconds: float | None = None, seed: int = 0) -> Flat:
    """Play random games that begin with each legal first move in turn, and score a first move by its best game.

    The search can stop after any game, so the numbers of games of two first moves differ by at most one.

    Args:
        games: the largest number of games.
        depth: the largest number of moves of a game; 0 for the problem's horizon.
        seconds: the limit on wall-clock time.
        seed: the seed of the moves.
    """
    desk, played, stopped = _Desk(problem, seed, depth), 0, "budget"
    scores = {int(a): -math.inf for a in desk.bench.moves[0, : desk.bench.counts[0]]}
    firsts = list(scores)
    with np.errstate(all="ignore"):
        while firsts and played < games:
            first = firsts[played % len(firsts)]
            play_games(desk.handle, first, 1, desk.depth)
            scores[first] = max(scores[first], float(desk.bench.best[LAST]))
            played += 1
            if played % 64 == 0 and desk.late(seconds):
                stopped = "time"
                break
    return Flat(desk.made(played, stopped), {a: s for a, s in scores.items() if s > -math.inf}, played)


def depth_first(problem: Problem, *, depth: int = 0, states: int = 1_000_000, seconds: float | None = None) -> Plan:
    """Search all lines of moves to a depth, in the game's order of moves. Repeated states are searched again.

    The plan is proven when the search is complete and the depth is the horizon. A complete search to a lower depth
    counts as stopped by the budget.

    Args:
        depth: the largest number of moves of a line; 0 for the problem's horizon.
        states: the largest number of states that are made.
        seconds: the limit on wall-clock time.
    """
    desk, done, stopped = _Desk(problem, 0, depth, deep=True), 0, "budget"
    bench, tallies = desk.bench, desk.bench.tallies
    with np.errstate(all="ignore"):
        while not done and tallies[MADE] < states:
            done = descend(desk.handle, desk.chunk(states - int(tallies[MADE])), desk.depth)
            here = int(tallies[LEVEL]) + 1
            done = done or int(not (bench.cursors[:here] < bench.counts[:here]).any())
            if desk.late(seconds) and not done:
                stopped = "time"
                break
    return desk.made(int(tallies[MADE]), stopped, bool(done) and desk.depth == problem.horizon)


def breadth_first(problem: Problem, *, depth: int = 0, states: int = 1_000_000, seconds: float | None = None) -> Plan:
    """Search all distinct states in the order of their distance from the start.

    Args:
        depth: the largest number of moves of a line; 0 for the problem's horizon.
        states: the largest number of states that are made.
        seconds: the limit on wall-clock time.
    """
    return _by_layers(problem, depth, states, seconds)[0]


def _by_layers(problem: Problem, depth: int, states: int, seconds: float | None) -> tuple[Plan, Found]:
    """Run a breadth-first search and return its plan and its findings.

    The plan is no proof if the depth is not the horizon.
    """
    began = time.perf_counter()
    found = Layers(problem, states, depth).search(seconds)
    whole = not depth or depth >= problem.horizon
    plan = plan_of(
        problem,
        found.actions,
        found.made,
        found.made,
        began,
        "budget" if found.complete else found.stopped,
        whole and found.complete,
        0,
        found.upper if whole else math.inf,
    )
    return plan, found


def exhaustive(problem: Problem, depth: int, *, states: int = 20_000_000) -> Plan:
    """Return the best of all plans of up to `depth` moves.

    Raises:
        SettingsError: the search needs more than `states` states.
    """
    plan, found = _by_layers(problem, depth, states, None)
    if not found.complete:
        raise SettingsError(
            f"there are too many plans of {depth} moves to try them all",
            found=f"more than {states:,} states",
            hint="lower the depth, or raise the limit on states",
        )
    return plan


def by_name(method: str, problem: Problem, states: int, seconds: float | None, seed: int) -> Plan:
    """Run one of these searches (bfs, dfs, exhaustive, random or flat) with about so many states."""
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
