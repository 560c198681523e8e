"""One search in memory that is there: begun, gone on with, asked for its best plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.search import layout
from persona_evo.search.amaf import NO_MARKS
from persona_evo.search.coding import code, policy_code
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN, Budget
from persona_evo.search.tree_policy import MOVE_VARIABLES, STATIC, TreePolicy, variables
from persona_evo.seeds import derive, stream

if TYPE_CHECKING:
    from persona_evo.search.plan import Planner

CHUNK = 20_000
"""Iterations between two reports of progress at most."""

SLOW_CHUNK = 200
"""The same for games in plain Python, and between two looks at whether the plan wins."""

class Counted:
    """What every search counts. _counts: int64[COUNTS] of `layout`."""

    _counts: Any

    @property
    def iterations(self) -> int:
        """Iterations made."""
        return int(self._counts[layout.ITERATIONS])

    @property
    def nodes(self) -> int:
        """Nodes in the tree."""
        return int(self._counts[layout.NODES])

    @property
    def won(self) -> bool:
        """Whether the best plan wins."""
        return bool(self._counts[layout.BEST_WON])


class Run(Counted):
    """One search in a planner's memory, which can be gone on with until the planner's next.

    Args:
        planner: whose memory is used.
        state, depth: where it begins, and how many moves from the level's start that is.
        utility, policy, seed, progress: see `Planner.plan`.
    """

    def __init__(
        self,
        planner: Planner,
        state: Any,
        depth: int,
        utility: Formula,
        policy: TreePolicy,
        seed: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._planner, self._progress = planner, progress
        game, level, opts = planner.game, planner.level, planner._opts
        read = (policy.formula,) if policy.formula else ()
        strange = sorted({s for f in read for s in f.symbols} & MOVE_VARIABLES.keys() - set(game.symbols))
        if strange:
            raise SettingsError("a plan of a whole level keeps nothing of this", found=", ".join(strange),
                                hint="AN and AR are for play from move to move")  # fmt: skip
        by_leaf = planner.by_leaf and policy.holds == STATIC
        scoring = policy_code(policy.formula or utility, variables(game), keep=not by_leaf)
        self._codes = (*code(utility, game.symbols), *scoring.rows)
        planner._rules = self._rules = game.rules_for(
            utility.symbols.union(*(f.symbols for f in read)), planner.settings.variant
        )
        horizon = planner.horizon - depth
        self._problem = problem = Problem.of(game, level, utility, horizon)
        opts[layout.HORIZON] = horizon
        opts[layout.HOLDS] = policy.holds if policy.formula is not None else layout.IS_UCB1
        scoring.describe(opts)
        self._search, self._open = planner._searches(by_leaf)
        opts[layout.SALT] = derive(seed, "expansion") & 0xFFFFFFFF
        opts[layout.USED] = problem.used(*read)
        opts[layout.HASHED] = 0 if problem.clocked else planner._hashed
        self._counts = np.zeros(layout.COUNTS, dtype=np.int64)
        self._best, self._utils, self._weights = np.zeros(1), np.zeros(1), np.array([policy.c])
        self._rng = stream(seed)
        self._reason, self._why = layout.GOING_ON, "budget"
        tree, rules = planner._tree, self._rules.entries
        tree.lay_out(scoring.kept)
        tree.states[0] = state
        with np.errstate(all="ignore"):
            planner._plant(
                rules.over, rules.measure, rules.key, level.tables, tree.links, tree.values, tree.states, tree.slots,
                tree.keys, opts, self._counts, self._best, planner._best_moves, *self._codes[:2], planner._vars,
                planner._stack,
            )  # fmt: skip

    def spend(self, budget: Budget, began: float, until_won: bool = False) -> None:
        """Go on until the whole search has used up `budget`, of which the seconds count from `began`.

        until_won: stop as soon as the best plan wins.
        """
        planner, counts, tree = self._planner, self._counts, self._planner._tree
        room = min(planner.capacity, budget.nodes or planner.capacity)
        arrays = (
            planner.level.tables, tree.links[:room], tree.values[:room], tree.states[:room], tree.slots, tree.keys
        )  # fmt: skip
        limit = 2**62 if budget.iterations is None else budget.iterations - self.iterations
        fast = planner.game.compiled and not until_won
        pace = Pace(budget.seconds, CHUNK if fast else SLOW_CHUNK, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        with np.errstate(all="ignore"):
            while limit > 0 and self._reason == layout.GOING_ON:
                chunk = min(pace.chunk, limit)
                self._reason = self._search(
                    *self._rules.entries, *arrays, planner._opts, self._weights, counts, self._best,
                    planner._best_moves, *self._codes, planner._scratch, planner._actions, planner._played,
                    planner._seen, planner._vars, planner._stack, self._utils, NO_MARKS, self._rng, *self._open, chunk,
                )  # fmt: skip
                limit -= chunk
                if self._progress:
                    self._progress(self.iterations)
                if pace.is_late():
                    self._why = "time"
                    break
                if budget.nodes is not None and counts[layout.FULL]:
                    self._why = "nodes"
                    break
                if until_won and self.won:
                    break

    @property
    def settled(self) -> bool:
        """Whether the search came to its end before the budget did."""
        return self._reason != layout.GOING_ON

    @property
    def proven(self) -> bool:
        """Whether no plan within the horizon is worth more than the best one."""
        planner = self._planner
        return self._reason == layout.EXHAUSTED and planner.settings.transpositions != "merge" and planner.tries_all

    @property
    def upper(self) -> float:
        """No plan within the horizon is worth more."""
        return float(self._best[0]) if self.proven else self._problem.ceiling()

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.settled:
            return PROVEN if self.proven else "win" if self._reason == layout.WIN else "stuck"
        return "memory" if self._why == "budget" and self._counts[layout.FULL] else self._why

    @property
    def actions(self) -> tuple[int, ...]:
        """The best plan from the state searched from; under `first_win` that to the winner."""
        counts = self._counts
        node, made = int(counts[layout.BEST_NODE]), int(counts[layout.BEST_LENGTH])
        if counts[layout.WINNER] >= 0:
            node, made = int(counts[layout.WINNER]), 0
        return (*self._planner._tree.path(node), *(int(a) for a in self._planner._best_moves[:made]))
