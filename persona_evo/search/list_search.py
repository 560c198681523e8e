"""One search with several open lists (`open_lists`) in a planner's memory: begun, gone on with, asked for its plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.compiling import interpreted
from persona_evo.formula import Formula
from persona_evo.games.core import Game, Level, Rules, entry, main_metrics
from persona_evo.search import layout, open_lists
from persona_evo.search.amaf import NO_MARKS
from persona_evo.search.coding import code
from persona_evo.search.layout import FIRST_SCORE
from persona_evo.search.list_orders import Coded, Order, chosen, coded, orders
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.routes import least, longest
from persona_evo.search.run import CHUNK, SLOW_CHUNK, Counted
from persona_evo.search.settings import PROVEN, Budget
from persona_evo.search.tree import DEPTH, DONE, LEFT, NOBODY, PARENT, ROOT, STATUS, TAKEN, UNKNOWN, VALUES
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive, stream

if TYPE_CHECKING:
    from persona_evo.search.plan import Planner

FIRST_LOOK = 1_000
"""Iterations before the first look at whether the best plan is proven; later ones after as many as were made."""

MANY = 200_000
"""Iterations of a budget from which on random moves are made from all new leaves. With fewer they are made from novel
ones alone, which spares a quarter of the time and finds as much."""

VARIED = 4
"""Iterations spent on other plans within the tolerance, for each that it took to prove the best worth."""

MOST_FACTS = 2**22
"""Entries of the table of what was seen, at most."""

LIMITS = 1_000
"""Depths for which the utility's limit is worked out one by one; deeper states have the limit of the last."""

ENDLESS = 2**62
"""More iterations than there can be."""


class Memory:
    """What searches with open lists need beside the tree, to be used for one after the other.

    Attributes:
        heaps: int32[lists, capacity], one open list a row.
        facts: int64[2**k], hashes of what was seen.
        limits: float64[depths], what the utility can be at most at each depth and deeper.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity, self._limited = capacity, ("", 0)
        self.heaps = np.empty((0, capacity), dtype=np.int32)
        size = 1024
        while size < min(2 * capacity, MOST_FACTS):
            size *= 2
        self.facts, self.limits = np.zeros(size, dtype=np.int64), np.zeros(1)

    def prepare(self, lists: int, problem: Problem) -> None:
        """Make room for so many lists, forget what was seen, and work out the limits."""
        if len(self.heaps) < lists:
            self.heaps = np.empty((lists, self._capacity), dtype=np.int32)
        self.facts.fill(0)
        if self._limited != (key := (problem.utility.text, problem.horizon)):
            depths = 1 if problem.constant else min(problem.horizon + 2, LIMITS)
            self._limited = key
            self.limits = np.array([problem.ceiling(depth) for depth in range(depths)], dtype=np.float64)


def _novelty(game: Game, level: Level) -> tuple[Any, int]:
    """What writes the variables of a state, and how many there are."""
    if game.novelty is not None:
        return game.novelty(level)
    return open_lists.words_of, len(level.start)


class ListSearch(Counted):
    """One search with several open lists, which can be gone on with until the planner's next.

    Args:
        planner: whose memory is used.
        utility, policy, budget, seed, progress, polish: see `Planner.plan`; the policy's score never changes.
    """

    def __init__(
        self, planner: Planner, utility: Formula, policy: TreePolicy, budget: Budget, seed: int,
        progress: Callable[[int], None] | None, polish: int,
    ) -> None:  # fmt: skip
        self._planner, self._progress, self._polish = planner, progress, polish
        game, level, tree, opts = planner.game, planner.level, planner._tree, planner._opts
        self._problem = problem = Problem.of(game, level, utility, planner.horizon)
        lists = chosen(planner.settings, policy, utility, budget, level, bool(game.targets))
        found, _ = orders(lists, game, utility, policy.formula, problem.bounded)
        read = utility.symbols.union(*(one.score.symbols for one in found), *(f.symbols for f in [policy.formula] if f))
        planner._rules = rules = game.rules_for(read, planner.settings.variant)
        this = coded(policy.formula or utility, tuple(found), game.symbols)
        tree.lay_out(max(0, (FIRST_SCORE + this.scores + 1) // 2 - VALUES))
        opts[layout.USED], opts[layout.HASHED] = problem.used(), 0 if problem.clocked else planner._hashed
        opts[layout.SALT], opts[layout.HORIZON] = derive(seed, "expansion") & 0xFFFFFFFF, planner.horizon
        opts[[layout.REACHING, layout.CLOCK, layout.FALLS]] = problem.reaching, game.clock, not problem.constant
        opts[[layout.NOVEL_LISTS, layout.SEEKING, layout.FIRST_WIN]] = any(one.novel for one in found), 0, 0
        opts[layout.THOROUGH] = budget.iterations is None or budget.iterations >= MANY
        self._counts, self._best = np.zeros(layout.COUNTS, dtype=np.int64), np.zeros(3)
        self._codes = code(utility, game.symbols)
        self._look, self._last, self._steps = FIRST_LOOK, ENDLESS, 0
        self._proof: int | None = None
        self._done, self._why = False, "budget"
        memory = planner._list_memory()
        memory.prepare(len(found), problem)
        self._fill(rules, found, this, memory, seed)
        with np.errstate(all="ignore"):
            calls = rules.entries
            tree.states[0] = level.start
            planner._plant(
                calls.over, calls.measure, calls.key, level.tables, tree.links, tree.values, tree.states, tree.slots,
                tree.keys, opts, self._counts, self._best, planner._best_moves, *self._codes, self._work.vars,
                planner._stack,
            )  # fmt: skip
        tree.values[ROOT, layout.WORTH] = self._best[0]
        self._counts[layout.OPENED] = ROOT

    def _fill(self, rules: Rules, found: Sequence[Order], this: Coded, memory: Memory, seed: int) -> None:
        """Make the engine's arguments."""
        planner, game, n = self._planner, self._planner.game, len(self._planner.game.metrics)
        novelty, count = _novelty(game, planner.level)
        reach = game.reach() if game.reach is not None else rules.measure
        call = entry if game.compiled else interpreted
        self._functions = open_lists.Functions(*rules.entries, call(reach), call(novelty))
        self._lists = open_lists.Lists(
            memory.heaps[: len(found)], np.zeros(len(found), dtype=np.int64), np.zeros(len(found)),
            np.array([one.weight for one in found]), this.columns,
            np.array([one.novel for one in found], dtype=np.int64),
        )  # fmt: skip
        self._scores = open_lists.Scores(this.ops, this.constants, this.ends, np.zeros(this.scores))
        rises = np.array(self._problem.rises or [0] * n, dtype=np.int64)
        self._bounds = open_lists.Bounds(rises, np.zeros(n), np.zeros(n), np.zeros(2 * n), memory.limits)
        main = [game.symbols.index(m.symbol) for m in main_metrics([m for m in game.metrics if not m.costly])]
        values = np.zeros(max(1, count), dtype=np.int64)
        self._facts = open_lists.Facts(values, np.array(main, dtype=np.int64), memory.facts)
        self._work = open_lists.Work(
            planner._scratch, planner._actions, planner._played, planner._seen, np.zeros(n + 4), planner._stack,
            np.zeros(1), NO_MARKS, stream(seed),
        )  # fmt: skip

    def _engine(self, name: str) -> Any:
        """One of the engine's functions, in plain Python where the game is."""
        if self._planner.game.compiled:
            return getattr(open_lists, name)
        return interpreted(getattr(open_lists, f"_{name}"), open_lists.NUMBERS)

    def _nodes(self, room: int) -> open_lists.Nodes:
        """The first rows of the tree as the engine takes them."""
        tree = self._planner._tree
        values = tree.values[:room]
        return open_lists.Nodes(
            tree.links[:room], values, values.view(np.float32), tree.states[:room], tree.slots, tree.keys
        )  # fmt: skip

    def spend(self, budget: Budget, began: float) -> None:
        """Go on until the whole search has used up `budget`, of which the seconds count from `began`.

        Once no plan can be worth more, `polish` times as many iterations as that took are spent on one of equal worth
        that wins or is shorter, and with a tolerance VARIED times as many on others within it.
        """
        planner, counts, search = self._planner, self._counts, self._engine("search")
        nodes = self._nodes(min(planner.capacity, budget.nodes or planner.capacity))
        most = ENDLESS if budget.iterations is None else budget.iterations
        pace = Pace(budget.seconds, CHUNK if planner.game.compiled else SLOW_CHUNK, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        with np.errstate(all="ignore"):
            while not self._done and self.iterations < most:
                chunk = min(pace.chunk, min(most, self._look) - self.iterations)
                ended = search(
                    self._functions, planner.level.tables, nodes, self._lists, self._scores, self._bounds,
                    self._facts, self._work, planner._opts, counts, self._best, planner._best_moves, *self._codes,
                    chunk,
                )  # fmt: skip
                if self._progress:
                    self._progress(self.iterations)
                if ended == layout.EXHAUSTED or self.iterations >= self._look:
                    self._look_around(ended == layout.EXHAUSTED, nodes)
                if counts[layout.FULL]:
                    self._why = "memory" if budget.nodes is None else "nodes"
                    break
                if pace.is_late():
                    self._why = "time"
                    break

    def _look_around(self, exhausted: bool, nodes: open_lists.Nodes) -> None:
        """See whether the best plan is proven, and what is looked for next (see `layout.SEEKING`)."""
        opts, made = self._planner._opts, self.iterations
        if self._proof is None and (exhausted or self.proven):
            self._proof = max(FIRST_LOOK, made)
            self._last = made + self._polish * self._proof
        seeking, over = opts[layout.SEEKING], made >= self._last
        if exhausted and seeking == layout.BETTER and not over:
            self._seek(layout.SHORTER, nodes)
        elif exhausted or over:
            self._done = seeking == layout.VARIETY or not self._planner.settings.tolerance
            self._last = made + VARIED * (self._proof or 0)
            if not self._done:
                self._seek(layout.VARIETY, nodes)
        elif seeking == layout.SHORTER and self._counts[layout.BEST_STEPS] < self._steps:
            self._seek(layout.SHORTER, nodes)
        self._look = min(self._last, made + (FIRST_LOOK if self._proof else max(FIRST_LOOK, made)))

    def _seek(self, what: int, nodes: open_lists.Nodes) -> None:
        """Fill the lists anew for another thing to look for."""
        planner, opts, best = self._planner, self._planner._opts, self._best
        before, self._steps = self._steps, int(self._counts[layout.BEST_STEPS])
        opts[layout.SEEKING] = what
        best[1], best[2] = least(float(best[0]), self._planner.settings.tolerance), longest(self._steps)
        opts[layout.HORIZON] = self._steps - 1 if what == layout.SHORTER else min(planner.horizon, int(best[2]))
        if what == layout.SHORTER and before:
            self._scores.pace[:] *= before / self._steps
        elif what == layout.SHORTER:
            self._set_pace()
        self._engine("reopen")(
            self._functions, planner.level.tables, nodes, self._lists, self._scores, self._bounds, self._work, opts,
            self._counts, best, *self._codes,
        )  # fmt: skip

    def _set_pace(self) -> None:
        """Have each score lose with each move what the best plan gains a move: leaves ahead of it come first."""
        tree, pace = self._planner._tree, self._scores.pace
        links, ranks = tree.links[: self.nodes], tree.values[: self.nodes].view(np.float32)
        node = int(self._counts[layout.BEST_NODE])
        while node > 0 and links[node, LEFT] == UNKNOWN:  # only what was expanded has scores for certain
            node = int(links[node, PARENT])
        moves = int(links[node, DEPTH])
        for k in range(len(pace) if moves else 0):
            gained = float(ranks[node, FIRST_SCORE + k] - ranks[ROOT, FIRST_SCORE + k])
            pace[k] = max(gained / moves, 1e-6)

    @property
    def links(self) -> Any:
        """The tree's links, one row a node."""
        return self._planner._tree.links[: self.nodes]

    @property
    def values(self) -> Any:
        """The tree's values, one row a node; of the root only what it is worth."""
        return self._planner._tree.values[: self.nodes]

    @property
    def best_end(self) -> tuple[int, tuple[int, ...]]:
        """The last node of the best plan in the tree, and the moves that follow."""
        counts = self._counts
        moves = self._planner._best_moves[: int(counts[layout.BEST_LENGTH])]
        return int(counts[layout.BEST_NODE]), tuple(int(a) for a in moves)

    def other_ways(self) -> tuple[Any, Any]:
        """All ways into states of the tree, just as short as the one it keeps (see `open_lists.alternatives`).

        Returns:
            heads int32[nodes], rows int32[n, 3].
        """
        planner, opts = self._planner, self._planner._opts
        heads = np.full(self.nodes, NOBODY, dtype=np.int32)
        rows = np.empty((4 * self.nodes, 3), dtype=np.int32)
        if opts[layout.HASHED]:
            with np.errstate(all="ignore"):
                self._engine("alternatives")(
                    self._functions, planner.level.tables, self._nodes(planner.capacity + 1), self._work, opts,
                    self.nodes, heads, rows,
                )  # fmt: skip
        return heads, rows

    @property
    def settled(self) -> bool:
        """Whether nothing is left to look for."""
        return self._done or (self.proven and self.won)

    @property
    def upper(self) -> float:
        """No plan within the horizon is worth more."""
        best = float(self._best[0])
        if not self._planner.tries_all:
            return self._problem.ceiling()
        if self._proof is not None:
            return best
        tree, opened = self._planner._tree, int(self._counts[layout.OPENED])
        waiting = tree.links[: self.nodes, STATUS] & (TAKEN | DONE) == 0
        if opened != NOBODY:
            waiting[opened] = True
        ceilings = tree.values[: self.nodes, layout.CEILING][waiting]
        return max(best, float(ceilings.max(initial=-np.inf)))

    @property
    def proven(self) -> bool:
        """Whether no plan within the horizon is worth more than the best one."""
        return self.upper <= float(self._best[0])

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.proven:
            return PROVEN
        return "stuck" if self._done else self._why

    @property
    def actions(self) -> tuple[int, ...]:
        """The best plan from the level's start."""
        node, moves = self.best_end
        return (*self._planner._tree.path(node), *moves)
