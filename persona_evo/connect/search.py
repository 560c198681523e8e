"""Monte Carlo tree search on a connected game: one tree of prefixes, some rollouts always under way.

`slots` rollouts are under way at once. They are handed out one by one, each chosen by a tree in which those under way
count as visits with the lowest utility seen (virtual loss), and their results enter the tree in the order in which they
were handed out. So a search depends on its seed and the number of slots, and on nothing else: not on how many processes
play, how fast each of them is, or whether one had to be started again. W workers that are to be busy all the time need
W slots; more slots make a search wider and each choice worse informed.

The tree policies are those of `persona_evo.search.tree_policy`: UCB1, or a formula over the metrics that the game
reported at a node and R, N, P, D, RMAX, RSD. UCB1's constant stands outside the root, mean + C sqrt(ln P / N);
`constant = "inside"` is what the original Monte Carlo computes, mean + sqrt(C ln P / N), where a constant of 1000
weighs as much as 31.6 does outside.

A node whose game is over is done, and so is one below which everything is. Under `cut_off` a done node is never chosen
again, and when the root is done every way to play is known: the best one is proven. Under `revisit` its result is
counted once more, without playing it again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.connect import descent as d
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import Lost, shown
from persona_evo.connect.random import SplitMix64
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import ConnectError
from persona_evo.formula import Formula
from persona_evo.formula.machine import STACK
from persona_evo.games.core import Game
from persona_evo.search.coding import code
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import STATIC, TreePolicy, variables
from persona_evo.seeds import derive, stream

if TYPE_CHECKING:
    from persona_evo.connect.pool import Pool
    from persona_evo.connect.within import Played, Within

OUTSIDE, INSIDE = "outside", "inside"
"""Where UCB1's constant stands."""

SCORE = "SCORE"
"""The metric that is the game's score: 0 until the game is over."""

PATIENCE = 1000
"""Known ends in a row after which a policy that never changes its mind counts as stuck."""


@dataclass(frozen=True)
class Ordering:
    """How rollouts are ordered. slots: under way at once. mode: UNIFORM or WEIGHTS. inside: see the module.
    whole: what beats the best rollout so far comes into the tree whole, as the thesis' `save_best_path`."""

    slots: int = 1
    mode: int = p.UNIFORM
    inside: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Sample:
    """A rollout that was played to its end. number: from 0, in the order of results."""

    number: int
    utility: float
    score: float
    metrics: dict[str, float]
    trace: tuple[tuple[int, int], ...]
    rollout_seed: int
    hash: int


@dataclass(frozen=True)
class _Order:
    """A rollout under way: the node it goes out from, and the result where that is known already."""

    node: int
    seed: int
    depth: int
    again: tuple[float, int] | None = None


class Search:
    """A search on one level.

    Args:
        game: its metrics and what its personas and policies may read.
        pool: processes that play the level's map and variant, or a catalog's game in this process.
        game_seed: of the level.
        utility: what is backed up, over the metrics at the end of the game.
        policy: scores the children of a node.
        settings: of these `terminal`, `expansion`, `value`, `stop` and `horizon` count here.
        ordering: see there.
        seed: of all random choices of the search.
        most: nodes at most.
        won: whether metrics are those of a game that was won, for `stop = "first_win"`.
        tell: called with each sample.
    """

    def __init__(
        self, game: Game, pool: Pool | Within, game_seed: int, utility: Formula, policy: TreePolicy,
        settings: SearchSettings, ordering: Ordering, seed: int, most: int, *,
        won: Callable[[dict[str, float]], bool] | None = None, tell: Callable[[Sample], None] | None = None,
    ) -> None:  # fmt: skip
        self.game, self.pool, self.ordering, self.utility, self.policy = game, pool, ordering, utility, policy
        self._game_seed, self._tell = game_seed, tell
        self._won = won if settings.stop == "first_win" else None
        self.tree = PrefixTree(game.symbols, most)
        self.best: Sample | None = None
        self.growth: list[tuple[int, float]] = []
        self.iterations = self.lost = 0
        self.stopped = ""
        self._under_way: deque[_Order] = deque()
        self._rollouts = SplitMix64(derive(seed, "rollouts"))
        self._rng = stream(seed)
        self._numbers = np.array([policy.c, 0.0])
        order = variables(game)
        self._pops, self._pconst = code(policy.formula or utility, order)
        self._uops, self._uconst = code(utility, game.symbols)
        self._vars, self._stack = np.zeros(len(order)), np.zeros(STACK)
        self._order = np.zeros(p.MOST_CHOICES + 1, dtype=np.int64)
        self._horizon = settings.horizon or game.horizon
        self._pairs = np.zeros(2 * (self._horizon + 1), dtype=np.uint16)
        self._opts = _options(game, policy, settings, ordering, self._horizon, derive(seed, "expansion"))
        self._known = 0
        self._full = self._limited = False

    def spend(self, budget: Budget, began: float, progress: Callable[[int], None] | None = None) -> None:
        """Go on until the search has used up its budget, of which the seconds count from `began`.

        Raises:
            ConnectError, GameError: the game cannot be played, or not even once.
        """
        limit = budget.iterations if budget.iterations is not None else 2**62
        end = None if budget.seconds is None else began + budget.seconds
        self.stopped = "budget"
        with np.errstate(all="ignore"):
            while True:
                self._fill(limit - self.iterations - self.lost, budget.nodes)
                if not self._under_way:
                    self._stop_empty(limit)
                    break
                self._take()
                if progress is not None and (self.iterations + self.lost) % 256 == 0:
                    progress(self.iterations + self.lost)
                if self.stopped == "win":
                    break
                if end is not None and time.perf_counter() > end:
                    self.stopped = "time"
                    break
        self._under_way.clear()
        self.pool.settle()
        if self.best is None:
            first = shown(self.pool.findings[0].message) if self.pool.findings else "no rollout came to its end"
            raise ConnectError("the game could not be played to its end even once", found=first)

    @property
    def proven(self) -> bool:
        """Whether every way to play is known."""
        known = self.tree.explored and self.stopped == "exhausted"
        return known and not self.lost and not self._limited

    def _fill(self, left: int, nodes: int | None) -> None:
        """Hand rollouts out until all slots are taken."""
        while len(self._under_way) < self.ordering.slots and len(self._under_way) < left and self.stopped == "budget":
            if nodes is not None and self.tree.nodes >= nodes and self._full:
                self.stopped = "nodes"
                return
            if not self._hand_out():
                return

    def _hand_out(self) -> bool:
        tree = self.tree
        tree.make_room()
        node = int(d.descend(
            tree.links, tree.values, tree.metrics, self._opts, self._numbers, self._pops, self._pconst, self._vars,
            self._stack, self._order, self._rng, tree.nodes,
        ))  # fmt: skip
        if node == d.NOBODY:
            return False
        if node >= d.FULL:
            self._full, node = True, node - d.FULL
        tree.nodes += node == tree.nodes
        seed = self._rollouts.next()
        row = tree.links[node]
        depth = int(row[d.DEPTH])
        if row[d.COUNT] == 0 and row[d.VISITS] > 0:
            self._known += 1
            again = float(tree.values[node, d.TOTAL]) / int(row[d.VISITS]), 0
            self._under_way.append(_Order(node, seed, depth, again))
            if self.policy.formula is not None and self.policy.holds == STATIC and self._known >= PATIENCE:
                self.stopped = "stuck"
            return True
        self._known = 0
        size = int(d.prefix(tree.links, node, self._pairs))
        prefix = self._pairs[:size].astype("<u2", copy=False).tobytes()
        self.pool.submit(p.Rollout(0, self._game_seed, seed, p.ALL_METRICS, self.ordering.mode, 0, prefix))
        self._under_way.append(_Order(node, seed, depth))
        return True

    def _take(self) -> None:
        """Enter the oldest rollout under way."""
        order = self._under_way.popleft()
        tree = self.tree
        if order.again is not None:
            self.iterations += 1
            d.enter(tree.links, tree.values, self._opts, order.node, 0, order.again[0])
            return
        result = self.pool.next()
        if isinstance(result, Lost):
            self.lost += 1
            d.lose(tree.links, order.node)
            return
        final = result.last()
        self._vars[: len(final)] = final
        scored = len(final) < len(self.game.metrics)
        if scored:
            self._vars[len(final)] = result.score
        utility = float(d.value(self._uops, self._uconst, self._vars, self._stack))
        over = result.decisions == order.depth
        row = tree.metrics[order.node]
        if tree.links[order.node, d.COUNT] == d.UNKNOWN:
            row[: len(final)] = final if over else result.row(order.depth)
            if scored:
                row[len(final)] = result.score if over else 0.0
        count = 0 if over else result.count(order.depth)
        self._limited |= not over and order.depth >= self._horizon
        if self.iterations == 0 or utility < self._numbers[d.LOWEST]:
            self._numbers[d.LOWEST] = utility
        d.enter(tree.links, tree.values, self._opts, order.node, count, utility)
        if self.ordering.whole and not over and (self.best is None or utility > self.best.utility):
            self._graft(order, result, utility)
        self._keep(order, result, utility, over)
        self.iterations += 1

    def _graft(self, order: _Order, result: p.Result | Played, utility: float) -> None:
        """Put the rest of a rollout into the tree."""
        pairs = np.array(p.unpack(result.trace)[order.depth :], dtype=np.int64).ravel()
        rows = np.zeros((len(pairs) // 2 + 1, len(self.game.metrics)))
        final = result.last()
        for i in range(len(rows) - 1):
            rows[i, : len(final)] = result.row(order.depth + i)
        rows[-1, : len(final)] = final
        rows[-1, len(final) :] = result.score
        tree = self.tree
        tree.make_room(len(rows) - 1)
        tree.nodes = int(d.graft(tree.links, tree.values, tree.metrics, self._opts, self._order, tree.nodes,
                                 order.node, pairs, rows, utility))  # fmt: skip

    def _keep(self, order: _Order, result: p.Result | Played, utility: float, over: bool) -> None:
        """Remember the best one, and tell of it."""
        better = self.best is None or utility > self.best.utility
        if better:
            self.growth.append((self.iterations + 1, utility))
        wins = over and self._won is not None
        if not (better or wins or self._tell is not None):
            return
        metrics = dict(zip(self.game.symbols, (*result.last(), result.score), strict=False))
        sample = Sample(self.iterations, utility, result.score, metrics, tuple(p.unpack(result.trace)), order.seed,
                        result.hash)  # fmt: skip
        if wins and self._won is not None and self._won(metrics):
            self.best, self.stopped = sample, "win"
        elif better:
            self.best = sample
        if self._tell is not None:
            self._tell(sample)

    def _stop_empty(self, limit: int) -> None:
        """Why nothing is under way any more."""
        if self.stopped == "budget" and self.iterations + self.lost < limit:
            self.stopped = "exhausted"
        elif self.stopped == "budget" and self._full:
            self.stopped = "memory"


def _options(
    game: Game, policy: TreePolicy, settings: SearchSettings, ordering: Ordering, horizon: int, salt: int
) -> Any:
    opts = np.zeros(d.OPTIONS, dtype=np.int64)
    opts[d.UCB1] = policy.formula is None
    opts[d.INSIDE] = ordering.inside
    opts[d.CUT_OFF] = settings.terminal == "cut_off"
    opts[d.SHUFFLE] = settings.expansion == "random"
    opts[d.MEAN] = settings.value == "mean"
    opts[d.HORIZON] = horizon
    opts[d.METRICS] = len(game.metrics)
    opts[d.SPREAD] = policy.formula is not None and "RSD" in policy.formula.symbols
    opts[d.SALT] = salt & 0xFFFFFFFF
    opts[d.GRAFTS] = ordering.whole
    return opts
