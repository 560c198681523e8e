"""A tree search in the memory of a planner; it can be continued and asked for its best plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from persona_evo.compiling.arrays import WordRow
from persona_evo.formula import Formula
from persona_evo.search import layout, stagnation
from persona_evo.search.engine import CHUNK, SLOW_CHUNK, Counted
from persona_evo.search.layout import SearchSpace
from persona_evo.search.pace import IterationPace, SearchProgress
from persona_evo.search.settings import PROVEN, Budget
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.search.workspace import Workspace
from persona_evo.seeds import derive, stream


class TreeSearch(Counted):
    """A tree search in a planner's memory. It can be continued until the planner starts its next search.

    Args:
        planner: the planner whose memory is used.
        state: the state in which the search begins.
        depth: the number of moves from the level's start to this state.
        utility, policy, seed, progress: see `Planner.plan`.
    """

    def __init__(
        self,
        planner: Workspace,
        state: WordRow,
        depth: int,
        utility: Formula,
        policy: TreePolicy,
        seed: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._planner, self._progress = planner, SearchProgress(progress)
        salt = derive(seed, "expansion") & 0xFFFFFFFF if planner.options.shuffle or planner.by_leaf else 0
        setup = planner.set_up(utility, policy, planner.horizon - depth, salt)
        self._problem, self._engine, self._search = setup.problem, setup.engine, setup.search
        self._scoring = setup.scoring
        buffers = self._engine.work.buffers
        buffers.rng[:], self._counts = stream(seed), buffers.counts
        self._reason, self._why = layout.GOING_ON, "budget"
        self._engine.plant(state)

    def spend(self, budget: Budget, began: float, until_won: bool = False) -> None:
        """Continue until the whole search has used up a budget.

        Args:
            budget: the budget of the whole search, including earlier calls.
            began: the time (`time.perf_counter`) from which the seconds of the budget count.
            until_won: whether to stop as soon as the best plan wins.
        """
        planner, counts = self._planner, self._counts
        self._engine.limit(min(planner.capacity, budget.nodes or planner.capacity))
        most = 2**62 if budget.iterations is None else budget.iterations
        fast = planner.game.compiled and not until_won
        watch = self._watch(budget)
        pace = IterationPace(budget.seconds, SLOW_CHUNK if not fast else stagnation.LOOK if watch else CHUNK, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        while self.iterations < most and self._reason == layout.GOING_ON:
            chunk = min(pace.chunk, most - self.iterations)
            self._reason = self._progress.run(partial(self._engine.run, self._search), chunk, counts)
            if pace.is_late():
                self._why = "time"
                break
            if budget.nodes is not None and counts[layout.FULL]:
                self._why = "nodes"
                break
            if until_won and self.won:
                break
            if watch and self._reason == layout.GOING_ON and watch.sees_end(self._engine.work, most - self.iterations):
                self._reason = layout.STUCK

    def _watch(self, budget: Budget) -> stagnation.StuckWatch | None:
        """Return what detects that the search cannot change any more; None if such a proof is impossible or useless."""
        planner = self._planner
        free = (
            not planner.settings.selection_rule
            and planner.options.cut_off == 0
            and planner.options.hashed != layout.MERGE
            and not planner.settings.finish
        )
        if not free or self._scoring.formula is None or budget.iterations is None or budget.nodes is not None:
            return None
        return stagnation.StuckWatch(self._scoring)

    @property
    def space(self) -> SearchSpace:
        """The arrays, settings and functions of the search."""
        return self._engine.work

    @property
    def settled(self) -> bool:
        """Whether the search came to an end before its budget did."""
        return self._reason != layout.GOING_ON

    @property
    def proven(self) -> bool:
        """Whether it is proven that no plan within the horizon is worth more than the best one."""
        planner = self._planner
        return self._reason == layout.EXHAUSTED and planner.settings.transpositions != "merge" and planner.tries_all

    @property
    def upper(self) -> float:
        """An upper bound of the utility of all plans within the horizon."""
        return self.best_utility if self.proven else self._problem.ceiling()

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.settled:
            return PROVEN if self.proven else "win" if self._reason == layout.WIN else "stuck"
        return "memory" if self._why == "budget" and self._counts[layout.FULL] else self._why
