"""Speed of one core: random playouts and the search, each beside the same thing in C."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from persona_evo.compiling import jit
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Level, entry_type
from persona_evo.search.plan import Budget, Planner, SearchSettings, TreePolicy
from persona_evo.search.tree import SCORE, Tree
from persona_evo.seeds import below, stream

from . import native
from .levels import game, maps, which
from .report import SHORT, Row, judge, skipped
from .timing import best_times

LONGEST = 200
"""Turns of a playout, moves from the root of a tree, at most: the game's horizon."""

UTILITY = "0.7 * MS + 0.3 * PE - 5 * DEAD"
"""The monster killer's, which the C search has built in."""

FORMULAS = {
    "R and metrics": "R + 0.5 * MS + 0.3 * PE - 0.2 * DEAD - HL",
    "R and metrics, diving": "R + 0.5 * MS + 0.3 * PE - 0.2 * DEAD + HL",
    "R, metrics, N and P": "R + MS + PE - DEAD + sqrt(2 * log(P) / N)",
}
"""Tree policies of 15 nodes: one that explores, one that walks deep, one that changes with every visit."""


class Effort(NamedTuple):
    """How much is measured: turns of a playout piece, iterations of a search, repeats, and turns compared with C."""

    turns: int
    iterations: int
    repeats: int
    compared: int


FULL, QUICK = Effort(20_000, 20_000, 12, 5_000), Effort(2_000, 1_000, 2, 500)


# playouts


def _playouts(rollout: Any, tables: Any, start: Any, state: Any, actions: Any, played: Any, turns: int, longest: int,
              rng: Any, seen: Any) -> Any:  # fmt: skip
    total: Any = 0
    while turns > 0:
        for k in range(len(state)):
            state[k] = start[k]
        turns -= rollout(tables, state, actions, played, min(turns, longest), rng, seen, 0)
        total += np.int64(state[0]) + np.int64(state[3])
    return total


@cache
def _compiled_playouts() -> Any:
    from numba import types

    row, ints, whole = types.uint16[::1], types.int64[::1], types.int64
    kind = whole(entry_type("rollout"), row, row, row, ints, ints, whole, whole, ints, types.float64[:, ::1])
    return jit(_playouts, kind, final=True)


def playouts(level: Level, turns: int, rng: Any) -> int:
    """Random playouts with the game's compiled rules; the checksum that the C function gives, too."""
    found = _compiled_playouts()(
        game().rules().entries.rollout, level.tables, level.start, level.start.copy(),
        np.zeros(level.max_actions, dtype=np.int64), np.zeros(LONGEST, dtype=np.int64), turns, LONGEST, rng,
        np.zeros((LONGEST + 1, len(game().metrics))),
    )  # fmt: skip
    return int(found)


def first_difference(level: Level, turns: int, seed: int) -> int | None:
    """The turn after which the states of C and Python differ, None if they are the same all along.

    Python goes move by move through `legal`, `step` and `over`; then both play on without being watched.
    """
    rules, rng = game().rules(), stream(seed)
    wanted = native.trace(level, turns, LONGEST, stream(seed))
    actions = np.zeros(level.max_actions, dtype=np.int64)
    state, made = level.start.copy(), 0
    for turn in range(turns):
        if made == LONGEST or rules.over(level.tables, state):
            state, made = level.start.copy(), 0
        count = rules.legal(level.tables, state, actions)
        rules.step(level.tables, state, int(actions[below(rng, count)]), rng)
        made += 1
        if not np.array_equal(state, wanted[turn]):
            return turn
    ours, theirs = stream(seed), stream(seed)
    same = playouts(level, turns, ours) == native.playouts(level, turns, LONGEST, theirs)
    return None if same and np.array_equal(ours, theirs) else turns


def measure_playouts(effort: Effort) -> list[Row]:
    """Simulated hero turns per second."""
    what = f"hero turns/s, one core, random playouts, mean of {which()}"
    reach = "at least 0.6 of C (-O3)"
    if isinstance(reason := _yardstick(), str):
        rate = _mean(_rates(partial(playouts, turns=effort.turns), effort.turns, effort.repeats))
        return [Row(what, reach, f"{rate / 1e6:.1f} M/s; no ratio: {reason}", None, "skipped")]
    for level in maps():
        at = first_difference(level, effort.compared, 3)
        if at is not None:
            return [Row(what, reach, f"C and Python differ on {level.name} after {at} turns", None, SHORT)]
    works: dict[tuple[str, str], Callable[[], object]] = {}
    for level in maps():
        works["ours", level.name] = lambda v=level: playouts(v, effort.turns, stream(1))  # type: ignore[misc]
        works["c", level.name] = lambda v=level: native.playouts(v, effort.turns, LONGEST, stream(1))  # type: ignore[misc]
    best = best_times(works, effort.repeats)
    ours, c = (_mean([effort.turns / t for (who, _), t in best.items() if who == name]) for name in ("ours", "c"))
    turns = effort.compared * len(maps())
    measured = f"{ours / 1e6:.2f} M/s, C {c / 1e6:.2f} M/s ({turns} states compared: equal)"
    return [judge(what, reach, measured, ours / c, 0.6)]


def _rates(work: Callable[..., object], amount: int, repeats: int) -> list[float]:
    works = {level.name: (lambda v=level: work(v, rng=stream(1))) for level in maps()}
    return [amount / t for t in best_times(works, repeats).values()]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _yardstick() -> str | None:
    """Why there is nothing to compare with, None if there is."""
    try:
        native.library()
    except native.Unavailable as e:
        return str(e)
    missing = [level.name for level in maps() if not native.supports(level)]
    return f"the C rules do not support {', '.join(missing)}" if missing else None


# search


def to_the_end() -> SearchSettings:
    """The paper's rules of the search, but it goes on after a win, so that every search does all its iterations."""
    return dataclasses.replace(SearchSettings.paper(), stop="budget")


def utility() -> Formula:
    """The utility that is searched for."""
    return parse(UTILITY, game().symbols)


def same_tree(level: Level, iterations: int, seed: int) -> bool:
    """Whether C and Python grow the same tree: links, states, totals, squares and maxima bit by bit."""
    planner = Planner(game(), level, SearchSettings.paper(), iterations + 1)
    plan = planner.plan(utility(), TreePolicy.ucb1(), Budget(iterations=iterations), seed)
    ours: Tree = planner._tree
    tree = Tree.allocate(iterations + 1, len(level.start), False)
    made, nodes = native.mcts(level, tree, iterations, LONGEST, 10, math.sqrt(2), stream(seed))
    if (made, nodes) != (plan.iterations, plan.nodes):
        return False
    pairs = [(ours.links, tree.links), (ours.states, tree.states), (ours.values[:, :SCORE], tree.values[:, :SCORE])]
    return all(np.array_equal(a[:nodes], b[:nodes]) for a, b in pairs)


def _search_works(iterations: int, with_c: bool) -> Mapping[tuple[str, str], Callable[[], object]]:
    works: dict[tuple[str, str], Callable[[], object]] = {}
    policies = {"ucb1": TreePolicy.ucb1()} | {n: TreePolicy.of(f, game(), n) for n, f in FORMULAS.items()}
    goal, budget = utility(), Budget(iterations=iterations)
    for level in maps():
        planner = Planner(game(), level, to_the_end(), iterations + 1)
        if with_c:
            tree = Tree.allocate(iterations + 1, len(level.start), False)
            works["c", level.name] = partial(_c_search, level, tree, iterations)
        for name, policy in policies.items():
            works[name, level.name] = partial(planner.plan, goal, policy, budget, 7)
    return works


def _c_search(level: Level, tree: Tree, iterations: int) -> None:
    native.mcts(level, tree, iterations, LONGEST, 10, math.sqrt(2), stream(7), stop_at_win=False)


def measure_search(effort: Effort) -> list[Row]:
    """Iterations per second of UCB1 beside C, and of formulas beside UCB1."""
    reason = _yardstick()
    if reason is None:
        different = [level.name for level in maps() if not same_tree(level, effort.iterations, 7)]
        if different:
            reason = f"C and Python grow different trees on {', '.join(different)}"
    best = best_times(_search_works(effort.iterations, reason is None), effort.repeats)
    rates: dict[str, float] = {}
    for name in ("ucb1", "c", *FORMULAS):
        times = [t for (who, _), t in best.items() if who == name]
        rates[name] = _mean([effort.iterations / t for t in times]) if times else 0.0
    what = f"MCTS iterations/s, UCB1, 10-move rollouts, {effort.iterations} iterations, mean of {which()}"
    ours = rates["ucb1"]
    if reason is None:
        measured = f"{ours / 1e3:.0f} k/s, C {rates['c'] / 1e3:.0f} k/s (trees compared: equal)"
        rows = [judge(what, "at least 0.6 of C (-O3)", measured, ours / rates["c"], 0.6)]
    else:
        rows = [skipped(what, "at least 0.6 of C (-O3)", f"{ours / 1e3:.0f} k/s; no ratio: {reason}")]
    for name, text in FORMULAS.items():
        size = parse(text).size
        measured = f"{rates[name] / 1e3:.0f} k/s, UCB1 {ours / 1e3:.0f} k/s"
        rows.append(judge(f"... with a {size}-node formula of {name}", "at least 0.5 of UCB1", measured,
                          rates[name] / ours, 0.5))  # fmt: skip
    return rows
