"""Finds the best plan for a level, as far as a search can, and states whether it is proven that none is better.

The planner with open lists searches until no plan can be worth more than its best one. An upper bound on the utility
follows from the ranges of the metrics and from what the game reports as still reachable (`Game.reach`). After the
proof, the planner continues for a while to find a plan of equal utility that wins or is shorter.

All limits except `seconds` count iterations or states, so a result does not depend on the machine. Proofs treat two
states as equal when their 63-bit hashes agree (a chance of one in a million among five million states).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.core import WON, Game, Level
from persona_evo.personas.lists import OpenList
from persona_evo.search.plan import Plan, Planner, capacity_for
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN, Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

METHODS = ("auto", "bfs", "dfs", "random", "flat", "exhaustive")
"""The methods of `solve`. `auto` is the planner; the others serve as baselines (see `baselines`)."""

OPEN_LISTS = "open lists"
"""The method named in a solution of `auto`."""

ITERATIONS = 2_000_000
"""The default limit on the planner's iterations."""

STATES = 2_000_000
"""The default limit on the states that the other methods make."""

MOST = 2_000_000_000
"""The highest value that either limit can be set to."""

POLISH = 10
"""Iterations for finding a plan of equal utility that wins or is shorter, as a multiple of those the proof took."""

ATTEMPT, SHORTER = 100_000, 0.95
"""The limits of one attempt to shorten a plan. `ATTEMPT`: the iterations, or those of the first search if that is more.
`SHORTER`: the horizon, as a share of the known plan's moves.
"""

BOUNDLESS = 1e100
"""Utilities from this value on come from metrics that have no highest value."""


@checked_fields()
@dataclass(frozen=True)
class Solution:
    """A plan, and an upper bound on the utility of any plan.

    Attributes:
        actions: the moves from the start.
        utility: the utility of the last state.
        upper: no plan within the horizon has a higher utility.
        proven: whether this plan's utility equals `upper`.
        method: the method that found the plan.
        metrics: the metrics of the last state.
        outcome: the outcome of the last state.
        states: iterations of the planner, or states made by another method.
        seconds: the time the search took.
        stopped: why the search ended, one of `settings.STOPPED`.
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

    @property
    def at_most(self) -> str:
        """The upper bound in words. A metric without a highest value leaves the utility without a bound."""
        return f"at most {self.upper:.6g}" if self.upper < BOUNDLESS else "without a known upper bound"


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
    """Return the best plan that can be found from the level's start.

    Args:
        utility: a formula over the game's metrics, evaluated in the plan's last state.
        method: one of METHODS.
        iterations: the limit on the planner's iterations (`auto`).
        seconds: the limit on wall-clock time, None for no limit. Under a limit, a result can depend on the machine.
        horizon: the highest number of moves, 0 for the game's own.
        seed: the seed of all random choices.
        states: the limit on the states that any other method makes, None for STATES.
        lists: open lists that replace the planner's own.
        progress: receives messages on the planner's progress.

    Raises:
        SettingsError: the game is not a deterministic single-player game, there is no such method, or a limit is out of
            range.
        FormulaError: the utility names something that is not a metric of the game.
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
    """Return the planner's plan with the utility as the score, shortened if its utility is proven to be the highest.

    To shorten a plan, the level is planned again with a horizon below the plan's length. What can still be reached
    within that horizon rules out dead ends much sooner than continuing the first search would. If the utility falls
    with the number of moves, plans are already as short as they can be.
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
    """Run one search of the planner. `before` is the number of iterations made earlier."""
    tell = None if progress is None else lambda made: progress(f"{before + made:,} iterations")
    settings = replace(SearchSettings.anytime(), horizon=horizon)
    planner = Planner(problem.game, problem.level, settings, capacity_for(budget))
    policy = replace(TreePolicy.utility(problem.utility), lists=tuple(lists))
    return planner.plan(problem.utility, policy, budget, seed, tell, polish=POLISH, concede=0.0)


def _solution(plan: Plan, upper: float, method: str, states: int, began: float) -> Solution:
    """Return a plan as a solution. A plan whose utility equals the upper bound is proven, however it was found."""
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
