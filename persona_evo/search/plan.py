"""Plans whole levels of deterministic single-player games, with one search tree for each level."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import WON, Game, Level
from persona_evo.games.outside import Outside
from persona_evo.search.engine import TreePlan
from persona_evo.search.pace import counted_from
from persona_evo.search.routes import Routes
from persona_evo.search.settings import POLISH, PROVEN, Budget, SearchSettings, least_worth
from persona_evo.search.tree_policy import STATIC, TreePolicy
from persona_evo.search.tree_search import TreeSearch
from persona_evo.search.walks import walking_share
from persona_evo.search.win_search import Ending, play_on
from persona_evo.search.workspace import Workspace

if TYPE_CHECKING:
    from persona_evo.search.list_search import ListSearch
    from persona_evo.search.moves import MoveSearch, MovesSpec

__all__ = ["Budget", "Plan", "Planner", "SearchSettings", "TreePolicy", "plan"]

MAX_NODES = 5_000_000
"""The largest number of nodes unless the budget says otherwise (about 1 GB for MiniDungeons 2)."""


CONCEDED = 0.1
"""How much of |utility| is given up by default for a plan that wins, if the best plan does not."""


@checked_fields()
@dataclass(frozen=True)
class Plan:
    """The result of a search: a sequence of actions from the start, and the state that it leads to.

    Attributes:
        actions: the actions of the route shown. It may differ from the best plan within the settings' tolerance, or
            because it wins and the best plan does not (see `Planner.plan`).
        utility: the utility of the last state of this route.
        metrics: the metrics of this state by symbol.
        outcome: the status of the game there (the result of `over`).
        iterations, nodes, seconds: what the search took.
        stopped: why the search ended, one of `settings.STOPPED`.
        proven: whether no plan within the horizon has a higher utility than `best_utility`.
        seed: the seed of the search.
        best_utility, best_actions: the best plan that the search found; by default the route itself.
        upper: an upper bound of the utility of all plans within the horizon.
    """

    actions: tuple[int, ...]
    utility: float
    metrics: dict[str, float]
    outcome: int
    iterations: int
    nodes: int
    seconds: float
    stopped: str
    proven: bool
    seed: int
    best_utility: float = math.nan
    best_actions: tuple[int, ...] = ()
    upper: float = math.inf

    def __post_init__(self) -> None:
        if self.best_utility != self.best_utility:
            object.__setattr__(self, "best_utility", self.utility)
            object.__setattr__(self, "best_actions", self.actions)


class PlanTask(NamedTuple):
    """What `Planner.plan` is asked for; `began` is the time (`time.perf_counter`) at which it began."""

    utility: Formula
    budget: Budget
    began: float
    seed: int
    progress: Callable[[int], None] | None


class Planner(Workspace):
    """Plans a level in the same memory, any number of times.

    Args:
        game, level: the game and the level. The attributes with these names are the ones that `Game.for_search`
            returns.
        settings: the search settings.
        capacity: the largest number of nodes.

    Raises:
        SettingsError: the game is not a deterministic single-player game, or does not have this variant of its rules.
    """

    def __init__(self, game: Game, level: Level, settings: SearchSettings, capacity: int) -> None:
        super().__init__(game, level, settings, capacity)
        self._finisher: Planner | None = None
        self._hedge: Planner | None = None
        self._routes: Routes | None = None

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
        polish: int = POLISH,
        concede: float = CONCEDED,
    ) -> Plan:
        """Search from the level's start.

        The last share of the budget (`SearchSettings.finish`) is spent on a win that continues the best plan, if that
        plan does not win and the utility does not fall (see `win_search.play_on`). A search with open lists walks home
        from many states before that (see `walks`), with a share of its own.

        Args:
            utility: a formula over the game's metrics. It is backed up, and plans are compared by it. If it can rise
                with the clock, equal states are not merged, because the same state may be worth more at a later time.
            policy: scores the children of a node.
            budget: when to stop; its number of nodes is limited by the planner's capacity.
            seed: the seed of all random choices.
            progress: called about once a second with the number of iterations so far.
            polish: for searches with open lists: the number of iterations that are spent on an equally good plan that
                wins or is shorter, for each iteration that the proof of the best utility took.
            concede: for searches with open lists: if the best plan does not win, a plan that wins is shown instead if
                its utility is lower by at most this share of |utility|. The best plan is then in `Plan.best_actions`.

        Raises:
            SettingsError: the policy does not suit the search.
        """
        began = time.perf_counter()
        self._routes = None
        if policy.kind == "lists" and not self.settings.lists:
            raise SettingsError(
                f"policy {policy.name!r} is a set of open lists, which this search does not have",
                found=f"search {self.settings.preset_name!r}",
                expected="search 'anytime'",
            )
        policy.check_planned(f"the search {self.settings.preset_name!r}", best_first=self.by_leaf)
        if policy.holds != STATIC or not (self.settings.lists or policy.planned):
            run = TreeSearch(self, self.level.start, 0, utility, policy, seed, progress)
            return self._plan(run, PlanTask(utility, budget, began, seed, progress))
        from persona_evo.search.list_search import ListSearch

        search = ListSearch(self, utility, policy, budget, seed, progress, polish)
        task = PlanTask(utility, budget.part(1.0 - self.settings.hedge), began, seed, progress)
        found = self._plan_with_lists(search, task, concede) if self.settings.lists else self._plan(search, task)
        if self.settings.hedge and found.utility < found.upper:
            found = self._hedged(found, utility, budget.part(self.settings.hedge), began, progress)
        if found.utility >= found.upper:  # no plan can be better, so it is proven
            found = replace(found, proven=True, stopped=PROVEN)
        if not self.settings.lists:
            return found
        self._routes = Routes(
            search, utility, found.actions, found.utility, found.outcome == WON, self.settings.tolerance
        )
        return self.another(found, seed) if self.settings.tolerance else found

    def _plan(self, run: TreeSearch | ListSearch, task: PlanTask) -> Plan:
        """Spend a budget on a search, and its last share on a win that continues the best plan."""
        share, budget = self.settings.finish, task.budget
        run.spend(budget.part(1.0 - share), task.began)
        last = None
        if share and not run.settled:
            last = self._play_on(run, task, budget.part(share))
            if last is None:
                run.spend(budget, task.began)
        return self._made(run, task, last or self._ending(run.best))

    def _plan_with_lists(self, run: ListSearch, task: PlanTask, concede: float) -> Plan:
        """Spend a budget on a search with open lists, on walks home, and on a win that continues the best plan.

        What walks leave of the budget goes on in the search if a win is at hand, and otherwise to the search for one.

        Args:
            concede: see `plan`.
        """
        budget, began, finish = task.budget, task.began, self.settings.finish
        walking = min(walking_share(finish, budget.iterations), (1.0 - finish) / 2)
        run.spend(budget.part(1.0 - finish - walking), began)
        most = round(walking * (budget.iterations or run.iterations))
        if budget.iterations is not None:
            most = min(max(1, most), budget.iterations - run.iterations)
        if run.settled or not finish or most <= 0:
            run.spend(budget, began)
            return self._made(run, task, self._ending(run.best))
        last = None
        until = None if budget.seconds is None else began + (1.0 - finish) * budget.seconds
        home = run.walk_home(task.utility, most, until)
        left = budget.less(home.walks, 0.0)
        if left is not None and (run.won or home.utility >= run.best_utility):
            run.spend(left, began)
        elif left is not None and (left := left.less(run.iterations, time.perf_counter() - began)) is not None:
            last = self._play_on(run, task, replace(budget.part(finish), iterations=left.iterations))
        last = last or self._ending(run.best)
        last = last._replace(iterations=last.iterations + home.walks)
        found = self._made(run, task, last)
        won = found.outcome == WON
        least = found.utility if won else least_worth(found.utility, concede)
        if home.way is None or home.utility < least or (won and home.utility == least):
            return found
        other = self._made(run, task, self._ending(home.way, last.iterations, last.nodes))
        if other.utility >= found.utility:
            return other
        return replace(other, best_utility=found.utility, best_actions=found.actions, upper=found.upper)

    def _play_on(self, run: TreeSearch | ListSearch, task: PlanTask, budget: Budget) -> Ending | None:
        """Search for a win that continues the best plan of a search; return None if that plan ends the game."""
        tell = counted_from(run.iterations, task.progress)
        return play_on(self._finishing(), run.best, run.best_utility, task.utility, budget, task.seed, tell)

    def _ending(self, way: TreePlan, iterations: int = 0, nodes: int = 0) -> Ending:
        """Return a plan with what the state after it is worth."""
        return Ending(way.actions, *self.look(way.end), iterations, nodes)

    def _made(self, run: TreeSearch | ListSearch, task: PlanTask, last: Ending) -> Plan:
        """Return the plan `last` with what the search took."""
        worth = task.utility.evaluate(last.metrics)
        return Plan(
            actions=last.actions,
            utility=worth,
            metrics=last.metrics,
            outcome=last.outcome,
            iterations=run.iterations + last.iterations,
            nodes=run.nodes + last.nodes,
            seconds=time.perf_counter() - task.began,
            stopped=run.stopped,
            proven=run.proven,
            seed=task.seed,
            upper=max(worth, run.upper),
        )

    def _hedged(
        self, found: Plan, utility: Formula, budget: Budget, began: float, progress: Callable[[int], None] | None
    ) -> Plan:
        """Return the better of a plan and the plan of a UCB1 search with a budget of its own."""
        if self._hedge is None:
            settings = replace(self.settings, lists=(), hedge=0.0, tolerance=0.0, horizon=self.horizon)
            self._hedge = Planner(self.game, self.level, settings, self.capacity)
        tell = counted_from(found.iterations, progress)
        other = self._hedge.plan(utility, TreePolicy.ucb1(), budget, found.seed, tell)
        better = max(found, other, key=lambda p: (p.utility, p.outcome == WON, -len(p.actions)))
        return replace(
            better,
            iterations=found.iterations + other.iterations,
            nodes=found.nodes + other.nodes,
            seconds=time.perf_counter() - began,
            stopped=found.stopped,
            proven=False,
            upper=better.utility if other.proven else found.upper,
        )

    def another(self, found: Plan, seed: int) -> Plan:
        """Return the plan of the same search with another route, which `seed` draws from the tree.

        Args:
            found: what `plan` returned last; its tree must still be in this planner's memory.
            seed: draws among the plans within the settings' tolerance, and is the seed of the plan returned.

        Returns:
            The plan with another route; the same plan where the search had no open lists.
        """
        if self._routes is None:
            return replace(found, seed=seed)
        actions = self._routes.draw(seed)
        metrics, outcome = self.look(self.game.replay(self.level, actions)[-1])
        worth = self._routes.utility.evaluate(metrics)
        return replace(found, actions=actions, utility=worth, metrics=metrics, outcome=outcome, seed=seed)

    def _finishing(self) -> Planner:
        """Return the planner that searches for wins, which has memory of its own."""
        if self._finisher is None:
            capacity = max(2, int(self.capacity * self.settings.finish) + 1)
            settings = replace(SearchSettings.single(), rollout=0, horizon=self.horizon, finish=0.0)
            self._finisher = Planner(self.game, self.level, settings, capacity)
        return self._finisher


class LevelPlanner(Protocol):
    """Plans a level: a `Planner`, or the planner of a game that runs in a process of its own."""

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
    ) -> Plan:
        """See `Planner.plan`."""
        ...


class PlanJob(NamedTuple):
    """Holds a planner and the arguments of its `plan`; the budget must not limit seconds."""

    planner: LevelPlanner
    utility: Formula
    policy: TreePolicy
    budget: Budget
    seed: int


@dataclass(frozen=True, kw_only=True)
class PlannedOutside(Outside):
    """Takes the place of the rules of a game that runs in a process of its own and whose levels can be planned.

    Attributes:
        planner: planner(game, level, settings, capacity) returns the planner of a level.
        plans: plans(jobs, until) yields the plans of several jobs in their order; their searches run in parallel. What
            is not finished at the moment `until` on `time.monotonic` is left out; None for no limit.
        actor: actor(game, level, spec) returns what plays a level from move to move.
    """

    planner: Callable[[Game, Level, SearchSettings, int], LevelPlanner]
    plans: Callable[[Iterable[PlanJob], float | None], Iterator[Plan]]
    actor: Callable[[Game, Level, MovesSpec], MoveSearch]


def planner_for(game: Game, level: Level, settings: SearchSettings, capacity: int) -> LevelPlanner:
    """Return the planner of a level, wherever the game runs.

    Raises:
        SettingsError: the game does not have this variant of its rules.
    """
    if game.outside is not None:
        settings.refuse_added(f"{game.title}, which runs in a process of its own,")
        if settings.variant:
            game.rules_for((), settings.variant)
        if not isinstance(game.outside, PlannedOutside):
            raise SettingsError(f"{game.title} runs in a process of its own, so its levels cannot be planned here")
        return game.outside.planner(game, level, settings, capacity)
    return Planner(game, level, settings, capacity)


def capacity_for(budget: Budget) -> int:
    """Return the largest number of nodes that a budget can need, within MAX_NODES."""
    if budget.nodes is not None:
        return budget.nodes
    if budget.iterations is not None:
        return min(budget.iterations + 1, MAX_NODES)
    return MAX_NODES


def plan(
    game: Game,
    level: Level,
    utility: Formula,
    policy: TreePolicy,
    budget: Budget | None = None,
    settings: SearchSettings | None = None,
    seed: int = 0,
) -> Plan:
    """Search one level once (see `Planner`)."""
    budget = budget or Budget()
    settings = settings or SearchSettings.anytime()
    return planner_for(game, level, settings, capacity_for(budget)).plan(utility, policy, budget, seed)
