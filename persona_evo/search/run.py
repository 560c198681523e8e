"""A search in the memory of a planner: start it, continue it, ask it for its best plan."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from persona_evo.compiling import Entry, Handle, prepare
from persona_evo.compiling.arrays import IntRow, WordRow
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.search import best_first, layout, mcts, moving, stuck
from persona_evo.search.asking import Asking, Player
from persona_evo.search.layout import Search
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.settings import PROVEN, Budget
from persona_evo.search.tree import NOBODY, Memory, Tree
from persona_evo.search.tree_policy import MOVE_VARIABLES, STATIC, TreePolicy
from persona_evo.seeds import derive, stream

if TYPE_CHECKING:
    from persona_evo.search.plan import Planner

CHUNK = 20_000
"""Iterations between two reports of progress at most."""

SLOW_CHUNK = 200
"""The same for games in plain Python, and between two looks at whether the plan wins."""


class Engine:
    """A search in its memory, which gets larger where the tree has no slots left.

    Args:
        memory: where its tree lies.
        work: what it works on.
        handle: that of a search in the same memory before, of which it keeps what is the same.

    Attributes:
        work: what it works on now.
    """

    def __init__(self, memory: Memory, work: Search, handle: Handle[Search] | None = None) -> None:
        self._memory, self.handle = memory, handle or Handle(work)
        player = getattr(work.rules.step, "__self__", None)
        self._asking = None
        if player is not None and isinstance(player, Player) and not work.options.amaf:
            self._asking = Asking(work, player)
        self._change(work)

    def _change(self, work: Search) -> None:
        self.work = self.handle.work = work
        if self._asking is not None:
            self._asking.change(work)

    def limit(self, nodes: int) -> None:
        """Let the tree have so many nodes at most."""
        work = self.work
        if nodes != len(work.tree.nodes):
            self._change(work._replace(tree=work.tree._replace(nodes=self._memory.nodes[:nodes])))

    def run(self, entry: Entry, iterations: int) -> int:
        """Make so many iterations; why it returned, NO_ROOM aside."""
        counts = self.work.buffers.counts
        end = int(counts[layout.ITERATIONS]) + iterations
        with self._quiet():
            while True:
                left = end - int(counts[layout.ITERATIONS])
                asking = self._asking if entry is mcts.search else None
                reason = entry(self.handle, left) if asking is None else asking.search(left)
                if reason != layout.NO_ROOM:
                    return reason
                tree = self._memory.grow(self.work.tree, int(counts[layout.SLOTS]))
                self._change(self.work._replace(tree=tree))

    def move_root(self, node: int) -> None:
        """Keep only what is below a node."""
        work, counts = self.work, self.work.buffers.counts
        old, rows = work.tree, np.empty(int(counts[layout.NODES]), dtype=np.int32)
        new, none = self._memory.turn(old), np.empty((0, 0), dtype=np.uint16)
        move = moving.Move(old._replace(states=none), new._replace(states=none), rows, counts, work.options.horizon)
        kept = moving.move_root(Handle(move), node)
        old.states[:kept] = old.states[np.flatnonzero(rows != NOBODY)]
        self._change(work._replace(tree=new))
        if self._asking is not None:
            self._asking.forget()

    def prepare(self, entry: Entry, *functions: object) -> None:
        """Compile what begins a search and goes on with it, and functions of the game that Python calls."""
        prepare((mcts.plant, self.handle), (entry, self.handle), *functions)

    def plant(self, state: WordRow) -> None:
        """Begin anew from a state."""
        self.work.tree.states[0] = state
        if self._asking is not None:
            self._asking.forget()
        with self._quiet():
            mcts.plant(self.handle)

    def _quiet(self) -> contextlib.AbstractContextManager[object]:
        """No warnings where whole numbers of plain Python wrap."""
        return np.errstate(all="ignore") if self.handle.plain else contextlib.nullcontext()


class Counted:
    """What every search counts. _counts: int64[COUNTS] of `layout`."""

    _counts: IntRow

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


class Setup(NamedTuple):
    """What searches for the same in a planner's memory have in common.

    Attributes:
        asked: what they are for, and the salt of their options.
        problem, engine, search: the problem, the engine, and its entry.
        scoring: what is asked of the tree policy.
    """

    asked: tuple[Formula, TreePolicy, int, int]
    problem: Problem
    engine: Engine
    search: Entry
    scoring: Scoring

    @classmethod
    def of(cls, planner: Planner, utility: Formula, policy: TreePolicy, horizon: int, salt: int) -> Setup:
        """The planner's last one if it is for the same."""
        asked, last = (utility, policy, horizon, salt), planner.setup
        if last is not None and last.asked == asked:
            return last
        game, settings = planner.game, planner.settings
        read = (policy.formula,) if policy.formula else ()
        strange = sorted({s for f in read for s in f.symbols} & MOVE_VARIABLES.keys() - set(game.symbols))
        if strange:
            raise SettingsError(
                "a plan of a whole level keeps nothing of this",
                found=", ".join(strange),
                hint="AN and AR are for play from move to move",
            )
        holds = policy.holds if policy.formula is not None else layout.IS_UCB1
        search = best_first.search if planner.by_leaf and holds == STATIC else mcts.search
        scoring = Scoring(policy.formula, utility, game.symbols, holds, settings.value == "mean")
        columns, codes = policy_code(scoring)
        rules = game.rules_for(utility.symbols.union(*(f.symbols for f in read)), settings.variant)
        problem = Problem.of(game, planner.level, utility, horizon)
        options = planner.options._replace(
            horizon=problem.horizon,
            holds=holds,
            c=policy.c,
            salt=salt,
            used=problem.used(*read),
            hashed=0 if problem.clocked else planner.options.hashed,
        )
        heap = planner.heap if search is best_first.search else planner.heap[:0]
        work = planner.work(rules, columns, options, codes)._replace(heap=heap)
        engine = Engine(planner.memory, work, None if last is None else last.engine.handle)
        planner.setup = cls(asked, problem, engine, search, scoring)
        return planner.setup


class Run(Counted):
    """One search in a planner's memory, which can be gone on with and asked until the planner's next.

    Args:
        planner: whose memory is used.
        state, depth: where it begins, and how many moves from the level's start that is.
        utility, policy, seed, progress: see `Planner.plan`.
    """

    def __init__(
        self,
        planner: Planner,
        state: WordRow,
        depth: int,
        utility: Formula,
        policy: TreePolicy,
        seed: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._planner, self._progress = planner, progress
        salt = derive(seed, "expansion") & 0xFFFFFFFF if planner.options.shuffle or planner.by_leaf else 0
        setup = Setup.of(planner, utility, policy, planner.horizon - depth, salt)
        self._problem, self._engine, self._search = setup.problem, setup.engine, setup.search
        self._scoring = setup.scoring
        buffers = self._engine.work.buffers
        buffers.rng[:], self._counts = stream(seed), buffers.counts
        self._reason, self._why = layout.GOING_ON, "budget"
        self._engine.plant(state)

    def spend(self, budget: Budget, began: float, until_won: bool = False) -> None:
        """Go on until the whole search has used up `budget`, of which the seconds count from `began`.

        until_won: stop as soon as the best plan wins.
        """
        planner, counts = self._planner, self._counts
        self._engine.limit(min(planner.capacity, budget.nodes or planner.capacity))
        most = 2**62 if budget.iterations is None else budget.iterations
        fast = planner.game.compiled and not until_won
        watch = self._watch(budget)
        pace = Pace(budget.seconds, SLOW_CHUNK if not fast else stuck.LOOK if watch else CHUNK, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        while self.iterations < most and self._reason == layout.GOING_ON:
            self._reason = self._engine.run(self._search, min(pace.chunk, most - self.iterations))
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
            if watch and self._reason == layout.GOING_ON and watch.sees_end(self._engine.work, most - self.iterations):
                self._reason = layout.STUCK

    def _watch(self, budget: Budget) -> stuck.Watch | None:
        """What sees that nothing can change any more, where that may be and nothing is done after the search."""
        planner = self._planner
        free = planner.options.cut_off == 0 and planner.options.hashed != layout.MERGE and not planner.settings.finish
        if not free or self._scoring.formula is None or budget.iterations is None or budget.nodes is not None:
            return None
        return stuck.Watch(self._scoring)

    @property
    def tree(self) -> Tree:
        """The tree, of which the first rows are nodes."""
        return self._engine.work.tree

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
        return float(self._engine.work.buffers.best[0]) if self.proven else self._problem.ceiling()

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.settled:
            return PROVEN if self.proven else "win" if self._reason == layout.WIN else "stuck"
        return "memory" if self._why == "budget" and self._counts[layout.FULL] else self._why

    @property
    def _best(self) -> tuple[int, int]:
        """The node that the best plan leads to, under `first_win` the winner, and the moves after it."""
        if self._counts[layout.WINNER] >= 0:
            return int(self._counts[layout.WINNER]), 0
        return int(self._counts[layout.BEST_NODE]), int(self._counts[layout.BEST_LENGTH])

    @property
    def actions(self) -> tuple[int, ...]:
        """The best plan from the state searched from."""
        node, made = self._best
        return (*self.tree.path(node), *self._engine.work.buffers.best_moves[:made].tolist())

    @property
    def end(self) -> WordRow:
        """The state that it leads to."""
        work, (node, made) = self._engine.work, self._best
        state: WordRow = work.tree.states[node].copy()
        for action in work.buffers.best_moves[:made].tolist():
            work.rules.step(work.tables, state, action, work.buffers.rng)
        return state
