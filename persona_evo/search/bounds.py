"""The best that can be reached in a level, as well as it can be found, and whether it is proven that nothing is better.

The planner with open lists searches until no plan can be worth more than its best one. What the utility can be at most
is known from the ranges of the metrics and from what the game says can still be reached (`Game.reach`). Then it goes on
for a while to find a plan of equal worth that wins or is shorter.

All limits but `seconds` count iterations or states, so a result does not depend on the machine. Proofs take two states
for the same when their 63-bit hashes agree (a chance of one in a million among five million states).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.core import WON, Game, Level
from persona_evo.personas.lists import OpenList
from persona_evo.search.plan import Plan, Planner, capacity_for
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN, Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

METHODS = ("auto", "bfs", "dfs", "random", "flat", "exhaustive")
"""How `solve` can be told to search: `auto` is the planner, the others are there to compare with (see `baselines`)."""

OPEN_LISTS = "open lists"
"""What a solution of `auto` says found it."""

ITERATIONS = 2_000_000
"""Iterations of the planner at most."""

STATES = 2_000_000
"""States that the other methods make at most."""

MOST = 2_000_000_000
"""What either may be set to."""

POLISH = 10
"""Iterations spent on a plan of equal worth that wins or is shorter, for each that it took to prove the best worth."""

ATTEMPT, SHORTER = 100_000, 0.95
"""Iterations at most for a plan of equal worth with fewer moves, or as many as the first search took if that is more;
what share of the known plan's moves it may have."""

BOUNDLESS = 1e100
"""Utilities from here on come from metrics that have no highest value."""


def at_most(upper: float) -> str:
    """An upper bound in words; a metric without a highest value leaves a utility without one."""
    return f"at most {upper:.6g}" if upper < BOUNDLESS else "without a known upper bound"


@dataclass(frozen=True)
class Solution:
    """A plan, and how good any plan can be.

    actions: from the start. utility, metrics, outcome: of the last state. upper: no plan within the horizon is worth
    more. proven: this plan is worth as much. method: what found it. states: iterations of the planner, or states made
    by another method. seconds: what it took. stopped: why the search ended, one of `settings.STOPPED`.
    """

    actions: tuple[int, ...]
    utility: float
    upper: float
    proven: bool
    method: str
    metrics: dict[str, float]
    outcome: int
    states: int
    seconds: float
    stopped: str


def solve(
    game: Game,
    level: Level,
    utility: Formula,
    *,
    method: str = "auto",
    iterations: int = ITERATIONS,
    seconds: float | None = None,
    horizon: int = 0,
    seed: int = 0,
    states: int | None = None,
    lists: Sequence[OpenList] = (),
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """The best plan that can be found from the level's start.

    Args:
        utility: over the game's metrics, of the plan's last state.
        method: one of METHODS.
        iterations: of the planner (`auto`) at most.
        seconds: wall clock at most, None for no limit; under it a result can depend on the machine.
        horizon: moves at most, 0 for the game's own.
        seed: of all random choices.
        states: that any other method makes at most, None for STATES.
        lists: open lists for the planner, in the place of its own.
        progress: told in words how far the planner is.

    Raises:
        SettingsError: not a deterministic single-player game, no such method, or a limit out of range.
        FormulaError: the utility names something that is no metric of the game.
    """
    if method not in METHODS:
        expected, hint = unknown(method, METHODS)
        raise SettingsError("no such method", found=method, expected=expected, hint=hint)
    states = STATES if states is None else states
    for name, value in (("iterations", iterations), ("states", states)):
        if not 1 <= value <= MOST:
            raise SettingsError(f"the solver's {name} are out of range", found=str(value), expected=f"1 to {MOST:,}")
    if seconds is not None and not seconds > 0:
        raise SettingsError("the solver's seconds are out of range", found=str(seconds), expected="more than 0")
    began = time.perf_counter()
    problem = Problem.of(game, level, parse(utility.text, game.symbols), horizon)
    if method == "auto":
        found = _planned(problem, Budget(iterations, seconds), lists, seed, progress)
        return _solution(found, found.upper, OPEN_LISTS, found.iterations, began)
    from persona_evo.search import baselines

    found = baselines.by_name(method, problem, states, seconds, seed)
    return _solution(found, min(found.upper, problem.ceiling()), method, found.nodes, began)


def _planned(
    problem: Problem, budget: Budget, lists: Sequence[OpenList], seed: int, progress: Callable[[str], None] | None
) -> Plan:
    """What the planner finds with the utility for a score; where that is proven to be worth most, then shortened.

    To shorten a plan, the level is planned again with too few moves for it. What can still be reached within them shows
    much sooner what leads nowhere than the search that takes up what it left. A utility that falls with the moves has
    its plans as short as they are worth already.
    """
    found = _plan(problem, problem.horizon, budget, lists, seed, 0, progress)
    made, spent, most = found.iterations, found.seconds, max(ATTEMPT, found.iterations)
    while found.proven and problem.constant and len(found.actions) > 1:
        left = budget.less(made, spent)
        if left is None:
            break
        attempt = Budget(min(most, left.iterations or most), left.seconds)
        shorter = _plan(problem, int(SHORTER * len(found.actions)), attempt, lists, seed, made, progress)
        made, spent = made + shorter.iterations, spent + shorter.seconds
        if shorter.utility < found.utility or (found.outcome == WON and shorter.outcome != WON):
            break
        found = replace(shorter, proven=True, upper=found.upper, stopped=found.stopped)
    return replace(found, iterations=made, seconds=spent)


def _plan(
    problem: Problem,
    horizon: int,
    budget: Budget,
    lists: Sequence[OpenList],
    seed: int,
    before: int,
    progress: Callable[[str], None] | None,
) -> Plan:
    """One search of the planner; before: iterations that were made earlier."""
    tell = None if progress is None else lambda made: progress(f"{before + made:,} iterations")
    settings = replace(SearchSettings.anytime(), horizon=horizon)
    planner = Planner(problem.game, problem.level, settings, capacity_for(budget))
    policy = replace(TreePolicy.utility(problem.utility), lists=tuple(lists))
    return planner.plan(problem.utility, policy, budget, seed, tell, polish=POLISH)


def _solution(plan: Plan, upper: float, method: str, states: int, began: float) -> Solution:
    """A plan as a solution; one that is worth as much as any can be is proven, however it was found."""
    upper = max(upper, plan.utility)
    proven = plan.utility >= upper
    return Solution(
        actions=plan.actions,
        utility=plan.utility,
        upper=upper,
        proven=proven,
        method=method,
        metrics=plan.metrics,
        outcome=plan.outcome,
        states=states,
        seconds=time.perf_counter() - began,
        stopped=PROVEN if proven else plan.stopped,
    )
