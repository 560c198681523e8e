"""A search with several open lists (`open_lists`) in the memory of a planner. It can be continued and returns plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from persona_evo.compiling import Handle
from persona_evo.compiling.arrays import ShortRow, ShortTable
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import RUNNING
from persona_evo.personas.lists import CEILING as CEILING_OF
from persona_evo.personas.lists import OWN, OpenList
from persona_evo.search import layout, open_lists
from persona_evo.search.ceilings import Bounds
from persona_evo.search.engine import CHUNK, SLOW_CHUNK, Counted
from persona_evo.search.layout import SearchSpace
from persona_evo.search.list_orders import ListScores, chosen, list_scores
from persona_evo.search.open_lists import BETTER, CEILING, FIRST_SCORE, SHORTER, VARIETY, WORTH, Planning
from persona_evo.search.pace import IterationPace, SearchProgress
from persona_evo.search.problem import Problem
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.settings import PROVEN, Budget, least_worth, longest_route
from persona_evo.search.tree import (
    DEPTH,
    DONE,
    FIXED,
    LEFT,
    NOBODY,
    OVER,
    PARENT,
    ROOT,
    STATUS,
    TAKEN,
    UNKNOWN,
    Columns,
)
from persona_evo.search.tree_policy import TreePolicy, read_of
from persona_evo.search.walks import WalkedHome, walk_home
from persona_evo.search.workspace import Workspace
from persona_evo.seeds import derive, stream

FIRST_LOOK = 1_000
"""Iterations before the first check for a proof. The interval then doubles the number of iterations each time."""

MANY = 200_000
"""The iteration budget from which random moves are made from all new leaves. Below it, they are made from novel leaves
only, which saves a quarter of the time and finds as much.
"""

VARIED = 4
"""Iterations spent on other plans within the tolerance, as a multiple of those the proof of the best utility took."""

ALONE = (OpenList(Formula((OWN,))),)
"""The list of a search with a single one, for a policy that reads what only this search computes (`plan_variables`)."""

ENDLESS = 2**62
"""A number of iterations that no search reaches."""


class ListSearch(Counted):
    """One search with several open lists, which can be continued until the planner starts the next search.

    Args:
        planner: the planner whose memory is used.
        utility, policy, budget, seed, progress, polish: see `Planner.plan`; the policy's score never changes.
    """

    def __init__(
        self,
        planner: Workspace,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None,
        polish: int,
    ) -> None:
        self._planner, self._progress, self._polish = planner, SearchProgress(progress), polish
        game, level = planner.game, planner.level
        self._problem = problem = Problem.of(game, level, utility, planner.horizon)
        several = bool(planner.settings.lists)
        lists = chosen(planner.settings, policy, utility, budget, level, bool(game.targets)) if several else ALONE
        own = policy.formula.symbols if policy.formula else frozenset()
        if policy.planned and CEILING_OF in read_of(own) and not problem.bounded:
            raise SettingsError(
                "nothing bounds this utility, so it has no CEILING",
                found=utility.text,
                expected="a utility that only rises, or only falls, with each of its metrics",
                hint="leave CEILING out of the policy",
            )
        scores = list_scores(lists, game, utility, policy, problem.bounded)
        rules = game.rules_for(utility.symbols | scores.symbols_read, planner.settings.variant)
        options = planner.options._replace(
            horizon=planner.horizon,
            salt=derive(seed, "expansion") & 0xFFFFFFFF,
            first_win=0,
            used=problem.used(),
            hashed=0 if problem.clocked else planner.options.hashed,
        )
        columns = Columns(width=FIXED + 1 + (len(scores.scores) + 1) // 2)
        _, codes = policy_code(Scoring(None, utility, game.symbols))
        self._look, self._last, self._steps = FIRST_LOOK, ENDLESS, 0
        self._proof: int | None = None
        self._done, self._why = False, "budget"
        thorough = int(not several or budget.iterations is None or budget.iterations >= MANY)
        self._handle = planner.lists.handle(self._work(planner.work(rules, columns, options, codes), scores, thorough))
        search = self._handle.work.search
        self._counts, self._best = search.buffers.counts, search.buffers.best
        search.buffers.rng[:] = stream(seed)
        planner.engine(search).plant(level.start)
        search.tree.values[ROOT, WORTH] = self._best[0]
        self._counts[layout.OPENED] = ROOT

    def _work(self, search: SearchSpace, scores: ListScores, thorough: int) -> Planning:
        """Return the data that the engine works on."""
        game, problem, found = self._planner.game, self._problem, scores.orders
        memory, n = self._planner.lists, len(game.metrics)
        memory.prepare(len(found), problem)
        leaf = np.zeros(len(scores.row))
        return Planning(
            search._replace(buffers=search.buffers._replace(metrics=leaf[:n])),
            search.tree.values.view(np.float32),
            open_lists.Lists(
                memory.heaps[: len(found)],
                np.zeros(len(found), dtype=np.int64),
                np.zeros(len(found)),
                np.array([one.weight for one in found]),
                np.array(scores.columns, dtype=np.int64),
                np.array([one.novel for one in found], dtype=np.int64),
            ),
            open_lists.Scores(
                scores.code,
                leaf,
                np.zeros(len(scores.scores)),
                np.zeros(len(scores.scores)),
                leaf[n + 3 :],
                np.full(1, NOBODY),
            ),
            Bounds(
                game.reach() if game.reach is not None else search.rules.measure,
                int(problem.reaching),
                np.array(problem.rises or [0] * n, dtype=np.int64),
                game.clock,
                int(not problem.constant),
                memory.limits,
                np.zeros(n),
                np.zeros(n),
                np.zeros(2 * n),
            ),
            memory.facts._replace(asked=int(any(one.novel for one in found))),
            open_lists.SearchGoal(BETTER, 0.0, 0.0, thorough),
        )

    def spend(self, budget: Budget, began: float) -> None:
        """Continue until the whole search has used up `budget`. Its seconds count from `began`.

        After the proof that no plan can be worth more, the search spends `polish` times as many iterations as the proof
        took on a plan of equal utility that wins or is shorter. With a tolerance, it spends VARIED times as many on
        other plans within it.
        """
        planner, counts = self._planner, self._counts
        work = self._handle.work
        nodes = planner.memory.nodes[: min(planner.capacity, budget.nodes or planner.capacity)]
        tree = work.search.tree._replace(nodes=nodes)
        self._handle.work = work._replace(search=work.search._replace(tree=tree))
        most = ENDLESS if budget.iterations is None else budget.iterations
        pace = IterationPace(budget.seconds, CHUNK if planner.game.compiled else SLOW_CHUNK, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        with np.errstate(all="ignore"):
            while not self._done and self.iterations < most:
                chunk = min(pace.chunk, min(most, self._look) - self.iterations)
                ended = self._progress.run(partial(open_lists.search, self._handle), chunk, counts)
                if ended == layout.EXHAUSTED or self.iterations >= self._look:
                    self._look_around(ended == layout.EXHAUSTED)
                if counts[layout.FULL]:
                    self._why = "memory" if budget.nodes is None else "nodes"
                    break
                if pace.is_late():
                    self._why = "time"
                    break

    def _look_around(self, exhausted: bool) -> None:
        """Check whether the best plan is proven, and choose the next goal (see `open_lists.SearchGoal`)."""
        made, seeking = self.iterations, self._handle.work.goal.seeking
        if self._proof is None and (exhausted or self.proven):
            self._proof = max(FIRST_LOOK, made)
            self._last = made + self._polish * self._proof
        over = made >= self._last
        if exhausted and seeking == BETTER and not over:
            self._seek(SHORTER)
        elif exhausted or over:
            self._done = seeking == VARIETY or not self._planner.settings.tolerance
            self._last = made + VARIED * (self._proof or 0)
            if not self._done:
                self._seek(VARIETY)
        elif seeking == SHORTER and self._counts[layout.BEST_STEPS] < self._steps:
            self._seek(SHORTER)
        self._look = min(self._last, made + (FIRST_LOOK if self._proof else max(FIRST_LOOK, made)))

    def _seek(self, what: int) -> None:
        """Refill the lists for another goal."""
        planner, work = self._planner, self._handle.work
        before, self._steps = self._steps, int(self._counts[layout.BEST_STEPS])
        worth, most = least_worth(float(self._best[0]), planner.settings.tolerance), longest_route(self._steps)
        horizon = self._steps - 1 if what == SHORTER else min(planner.horizon, most)
        self._handle.work = work._replace(
            search=work.search._replace(options=work.search.options._replace(horizon=horizon)),
            goal=work.goal._replace(seeking=what, least=worth, longest=float(most)),
        )
        if what == SHORTER and before:
            work.scores.pace[:] *= before / self._steps
        elif what == SHORTER:
            self._set_pace()
        open_lists.reopen(self._handle)

    def _set_pace(self) -> None:
        """Make each score fall per move by what the best plan gains per move, so that leaves ahead of it come first."""
        work, tree = self._handle.work, self.tree
        node = int(self._counts[layout.BEST_NODE])
        while node > 0 and tree.links[node, LEFT] == UNKNOWN:  # only what was expanded has scores for certain
            node = int(tree.nodes[node, PARENT])
        moves = int(tree.nodes[node, DEPTH])
        pace = work.scores.pace
        for k in range(len(pace) if moves else 0):
            gained = float(work.ranks[node, FIRST_SCORE + k] - work.ranks[ROOT, FIRST_SCORE + k])
            pace[k] = max(gained / moves, 1e-6)

    @property
    def space(self) -> SearchSpace:
        """The tree search below; slots are numbered as nodes, and for the root only its utility is known."""
        return self._handle.work.search

    def walk_home(self, utility: Formula, most: int, until: float | None) -> WalkedHome:
        """Walk home from states that may lead to a better plan, the most promising first.

        Args:
            utility: the utility of the search.
            most, until: see `walks.walk_home`.
        """
        tree, nodes, least = self.tree, self.nodes, self.best_utility if self.won else -np.inf
        worth, waiting = tree.values[:nodes, WORTH], tree.links[:nodes, STATUS] & OVER == RUNNING
        starts = np.flatnonzero(waiting & (tree.values[:nodes, CEILING] > least))
        planner = self._planner
        return walk_home(
            self._handle.work.search,
            planner.game,
            starts,
            worth,
            utility,
            planner.settings.variant,
            most,
            until,
            self.best_utility,
        )

    def other_ways(self) -> tuple[ShortRow, ShortTable]:
        """Return all equally short ways into the tree's states beside those it keeps (see `open_lists.alternatives`).

        Returns:
            heads int32[nodes], rows int32[n, 3].
        """
        search = self._handle.work.search
        heads = np.full(self.nodes, NOBODY, dtype=np.int32)
        rows = np.empty((4 * self.nodes, 3), dtype=np.int32)
        if search.options.hashed:
            with np.errstate(all="ignore"):
                open_lists.alternatives(Handle(open_lists.TreeEdges(search, heads, rows)))
        return heads, rows

    @property
    def settled(self) -> bool:
        """Whether nothing is left to search for."""
        return self._done or (self.proven and self.won)

    @property
    def upper(self) -> float:
        """An upper bound: no plan within the horizon has a higher utility."""
        best = float(self._best[0])
        if not self._planner.tries_all:
            return self._problem.ceiling()
        if self._proof is not None:
            return best
        tree, opened = self.tree, int(self._counts[layout.OPENED])
        waiting = tree.links[: self.nodes, STATUS] & (TAKEN | DONE) == 0
        if opened != NOBODY:
            waiting[opened] = True
        ceilings = tree.values[: self.nodes, CEILING][waiting]
        return max(best, float(ceilings.max(initial=-np.inf)))

    @property
    def proven(self) -> bool:
        """Whether no plan within the horizon has a higher utility than the best one."""
        return self.upper <= float(self._best[0])

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.proven:
            return PROVEN
        return "stuck" if self._done else self._why
