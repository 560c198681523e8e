"""Monte Carlo tree search on a connected game, with one tree of prefixes and several rollouts under way at once.

The search keeps `slots` rollouts under way. It orders them one by one. The tree policy counts each rollout under way as
a visit with the lowest utility seen so far (virtual loss). Results enter the tree in the order in which the rollouts
were ordered. A search therefore depends only on its seed and the number of slots: not on the number of processes, their
speed, or whether one had to be restarted. To keep W workers busy all the time, W slots are needed; more slots make the
search wider and each choice less informed.

The tree policies are those of `persona_evo.search.tree_policy`: UCB1, or a formula over R, N, P, D, RMAX, RSD and the
metrics that the game reported at a node. UCB1's constant stands outside the root, mean + C sqrt(ln P / N). With
`constant = "inside"` it stands inside, mean + sqrt(C ln P / N), as in the original Monte Carlo; a constant of 1000
inside weighs as much as 31.6 outside.

A node is done when its game is over, or when all nodes below it are done. Under `cut_off` a done node is never chosen
again; when the root is done, every way to play is known and the best one is proven. Under `revisit` the result of a
done node is counted once more, without playing it again.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from persona_evo.compiling.arrays import FloatRow
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, Lost, shown
from persona_evo.connect.scores import RAW, UtilityRange, is_fitted
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import ConnectError
from persona_evo.formula import Formula
from persona_evo.games.core import Game
from persona_evo.search.layout import IS_UCB1, Options
from persona_evo.search.prefix_engine import PrefixEngine
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import DEAD, DEPTH, DONE, NOBODY, PARENT, ROOTLESS, SLOT, TOTAL, UNKNOWN, VISITS
from persona_evo.search.tree_policy import EVERY_TIME, STATIC, TreePolicy
from persona_evo.seeds import SplitMix64, derive, stream

OUTSIDE, INSIDE = "outside", "inside"
"""The positions of UCB1's constant: outside or inside the root."""

SCORE = "SCORE"
"""The symbol of the metric that holds the game's score, which is 0 until the game is over."""

PATIENCE = 1000
"""The number of consecutive visits to known ends after which a search with a static policy counts as stuck."""


_searches = itertools.count(1)
"""Numbers the searches, so that the states that a game keeps for different searches do not get mixed up."""

_WAY = 16
"""The number of ancestors of a rollout's start node whose states a game may begin from."""


class RolloutResult(Protocol):
    """The part of a rollout's result that a search reads; `protocol.Result` implements it."""

    @property
    def score(self) -> float:
        """The game's own score."""

    @property
    def hash(self) -> int:
        """The hash of the state at the end."""

    @property
    def trace(self) -> bytes:
        """The encoded pairs of choice and count."""

    @property
    def decisions(self) -> int:
        """The number of decisions in the trace."""

    def count(self, i: int, /) -> int:
        """Return the number of choices at decision i."""

    def row(self, i: int, /) -> Sequence[float] | FloatRow:
        """Return the metrics before decision i."""

    def last(self) -> Sequence[float] | FloatRow:
        """Return the metrics at the end."""


class RolloutSource(Protocol):
    """A player of a search's rollouts: a pool of processes, a share of one, or a game in this process."""

    @property
    def findings(self) -> list[FailingRollout]:
        """The rollouts that made the game fail."""

    def submit(self, order: p.Rollout, /) -> int:
        """Order a rollout and return its number."""

    def next(self) -> RolloutResult | Lost:
        """Return the result of the oldest order whose result has not been returned yet."""

    def settle(self) -> None:
        """Forget all orders."""


@dataclass(frozen=True)
class Ordering:
    """Settings of how a search orders rollouts.

    Attributes:
        slots: the number of rollouts under way at once.
        mode: UNIFORM, WEIGHTS or POLICY.
        inside: whether UCB1's constant stands inside the root.
        whole: whether a rollout that beats the best one so far is added to the tree as a whole (`save_best_path`).
        scores: NORMALISED if utilities are divided by their range for UCB1's own constant (see `scores`), or RAW.
        snapshots: whether the game can keep the states of nodes and begin there (capability `snapshot`). This does not
            change any result.
    """

    slots: int = 1
    mode: int = p.UNIFORM
    inside: bool = False
    whole: bool = False
    scores: str = RAW
    snapshots: bool = False


@dataclass(frozen=True)
class FinishedRollout:
    """A rollout that was played to its end; `number` counts from 0, in the order of results."""

    number: int
    utility: float
    score: float
    metrics: dict[str, float]
    trace: tuple[tuple[int, int], ...]
    rollout_seed: int
    hash: int


@dataclass(frozen=True)
class _Order:
    """A rollout under way: the node that it starts from, and its utility (`again`) if that is known already."""

    node: int
    seed: int
    depth: int
    again: float | None = None


class ConnectedSearch:
    """A Monte Carlo tree search on one level.

    Args:
        game: the game, whose metrics personas and policies may read.
        pool: the processes that play the level's map and variant, a share of them, or a catalog game in this process.
        game_seed: the seed of the level.
        utility: the formula that is backed up, over the metrics at the end of the game.
        policy: the tree policy, which scores the children of a node.
        settings: the search settings; only `terminal`, `expansion`, `value`, `stop` and `horizon` have an effect here.
        ordering: how rollouts are ordered.
        seed: the seed of all random choices of the search.
        most: the largest number of nodes.
        won: tells from its final metrics whether a game was won, for `stop = "first_win"`.
        tell: called with each finished rollout.

    Attributes:
        show: called with each rollout that is the best so far.
    """

    def __init__(
        self,
        game: Game,
        pool: RolloutSource,
        game_seed: int,
        utility: Formula,
        policy: TreePolicy,
        settings: SearchSettings,
        ordering: Ordering,
        seed: int,
        most: int,
        *,
        won: Callable[[dict[str, float]], bool] | None = None,
        tell: Callable[[FinishedRollout], None] | None = None,
    ) -> None:
        self.game, self.pool, self.ordering, self.utility, self.policy = game, pool, ordering, utility, policy
        self._game_seed, self._tell = game_seed, tell
        self._won = won if settings.stop == "first_win" else None
        self.best: FinishedRollout | None = None
        self.show: Callable[[FinishedRollout], None] | None = None
        self.growth: list[tuple[int, float]] = []
        self.iterations = self.lost = 0
        self.utilities, self._fitted = UtilityRange(), is_fitted(policy, ordering.scores)
        self.stopped = ""
        self._under_way: deque[_Order] = deque()
        self._rollouts = SplitMix64(derive(seed, "rollouts"))
        self._horizon = settings.horizon or game.horizon
        holds = IS_UCB1 if policy.formula is None else EVERY_TIME
        scoring = Scoring(
            policy.formula,
            utility,
            game.symbols,
            holds,
            settings.value == "mean",
            pending=True,
            read=frozenset(("RMAX", "RSD")),
        )
        columns, codes = policy_code(scoring)
        options = Options(
            self._horizon,
            0,
            0,
            holds,
            policy.c,
            ordering.inside,
            DONE if settings.terminal == "cut_off" else DEAD,
            shuffle=settings.expansion == "random",
            salt=derive(seed, "expansion") & 0xFFFFFFFF,
            early=1,
        )
        self._engine = PrefixEngine(
            options, codes, columns, len(game.metrics), max(1, most), p.MOST_CHOICES + 1, stream(seed), ordering.whole
        )
        self._worth, self._end = codes.utility, np.zeros(len(game.metrics))
        self._number = next(_searches)
        self._known = 0
        self._full = self._limited = False

    @property
    def tree(self) -> PrefixTree:
        """The current tree."""
        return PrefixTree.of(self._engine.work, self.game.symbols)

    def spend(self, budget: Budget, began: float, progress: Callable[[int], None] | None = None) -> None:
        """Continue until the search has used up its budget, whose seconds count from `began`.

        Raises:
            ConnectError, GameError: the game cannot be played, or no rollout comes to its end.
        """
        for done in self.steps(budget, began):
            if progress is not None and done and done % 256 == 0:
                progress(done)

    def steps(self, budget: Budget, began: float) -> Iterator[int]:
        """Continue as in `spend`, and yield the number of rollouts that have ended before each wait for the next."""
        limit = budget.iterations if budget.iterations is not None else 2**62
        end = None if budget.seconds is None else began + budget.seconds
        self.stopped = "budget"
        while True:
            self._fill(limit - self.iterations - self.lost, budget.nodes)
            if not self._under_way:
                self._stop_empty(limit)
                break
            yield self.iterations + self.lost
            self._take()
            if self.stopped == "win":
                break
            if end is not None and time.perf_counter() > end:
                self.stopped = "time"
                break
        self._under_way.clear()
        self.pool.settle()
        if self.best is None:
            first = shown(self.pool.findings[0].message) if self.pool.findings else "no rollout was completed"
            raise ConnectError("the game could not be played to its end a single time", found=first)

    @property
    def proven(self) -> bool:
        """Whether every way to play is known."""
        return self.stopped == "exhausted" and self.tree.explored and not self.lost and not self._limited

    def _fill(self, left: int, nodes: int | None) -> None:
        """Order rollouts until all slots are taken or the search has to stop."""
        while len(self._under_way) < self.ordering.slots and len(self._under_way) < left and self.stopped == "budget":
            if nodes is not None and self._engine.nodes >= nodes and self._full:
                self.stopped = "nodes"
                return
            if not self._hand_out():
                return

    def _hand_out(self) -> bool:
        node, full = self._engine.descend()
        if node == NOBODY:
            return False
        self._full |= full
        seed, work = self._rollouts.next(), self._engine.work
        tree = work.search.tree
        slot, depth = tree.nodes[node, SLOT], int(tree.nodes[node, DEPTH])
        visits = int(tree.links[slot, VISITS])
        if work.choices[node] == 0 and visits > 0:
            self._known += 1
            self._under_way.append(_Order(node, seed, depth, float(tree.values[slot, TOTAL]) / visits))
            if self.policy.formula is not None and self.policy.holds == STATIC and self._known >= PATIENCE:
                self.stopped = "stuck"
            return True
        self._known = 0
        prefix = self._engine.prefix(node).astype("<u2").tobytes()
        order = p.Rollout(0, self._game_seed, seed, p.ALL_METRICS, self.ordering.mode, 0, prefix)
        self.pool.submit(self._with_states(order, node) if self.ordering.snapshots else order)
        self._under_way.append(_Order(node, seed, depth))
        return True

    def _with_states(self, order: p.Rollout, node: int) -> p.Rollout:
        """Return the order with the states that the game may keep or begin from.

        The game keeps the state of a new node. It begins from the state of an ancestor, or of a node that is known.
        """
        work, states = self._engine.work, list[tuple[int, int]]()
        new = work.choices[node] == UNKNOWN
        at = int(work.search.tree.nodes[node, PARENT]) if new else node
        while at != ROOTLESS and len(states) < _WAY:
            states.append((int(work.search.tree.nodes[at, DEPTH]), self._state_number(at)))
            at = int(work.search.tree.nodes[at, PARENT])
        return order._replace(snapshot=self._state_number(node) if new else 0, states=tuple(states))

    def _state_number(self, node: int) -> int:
        return self._number << 32 | (node + 1)

    def _take(self) -> None:
        """Enter the result of the oldest rollout under way into the tree."""
        order, engine = self._under_way.popleft(), self._engine
        if order.again is not None:
            self.iterations += 1
            engine.back_up(order.node, 0, order.again)
            return
        result = self.pool.next()
        if isinstance(result, Lost):
            self.lost += 1
            engine.lose(order.node)
            return
        work, end = engine.work, self._end
        final = result.last()
        end[: len(final)] = final
        end[len(final) :] = result.score
        utility = self._worth(end)
        over = result.decisions == order.depth
        if work.choices[order.node] == UNKNOWN:
            row = work.metrics[order.node]
            row[: len(final)] = final if over else result.row(order.depth)
            row[len(final) :] = result.score if over else 0.0
        self._limited |= not over and order.depth >= self._horizon
        self.utilities.add(utility)
        work.lowest[0] = self.utilities.low
        if self._fitted:
            work.scale[0] = self.utilities.scale
        engine.back_up(order.node, 0 if over else result.count(order.depth), utility)
        if self.ordering.whole and not over and (self.best is None or utility > self.best.utility):
            self._graft(order, result, utility)
        self._keep(order, result, utility, over)
        self.iterations += 1

    def _graft(self, order: _Order, result: RolloutResult, utility: float) -> None:
        """Add the rest of a rollout to the tree."""
        pairs, work = p.unpack(result.trace)[order.depth :], self._engine.work
        steps = min(len(pairs), self._horizon - order.depth + 1)
        work.pairs[: 2 * steps] = np.array(pairs[:steps], dtype=np.int64).ravel()
        for i in range(1, min(steps + 1, len(pairs))):
            row = result.row(order.depth + i)
            work.rows[i, : len(row)] = row
            work.rows[i, len(row) :] = 0.0
        if steps == len(pairs):
            work.rows[steps] = self._end
        self._engine.graft(order.node, steps, utility)

    def _keep(self, order: _Order, result: RolloutResult, utility: float, over: bool) -> None:
        """Keep a rollout if it is the best so far, and report it to `tell`."""
        better = self.best is None or utility > self.best.utility
        if better:
            self.growth.append((self.iterations + 1, utility))
        wins = over and self._won is not None
        if not (better or wins or self._tell is not None):
            return
        metrics = dict(zip(self.game.symbols, (*result.last(), result.score), strict=False))
        sample = FinishedRollout(
            self.iterations, utility, result.score, metrics, tuple(p.unpack(result.trace)), order.seed, result.hash
        )
        if wins and self._won is not None and self._won(metrics):
            self.best, self.stopped = sample, "win"
        elif better:
            self.best = sample
        if self.best is sample and self.show is not None:
            self.show(sample)
        if self._tell is not None:
            self._tell(sample)

    def _stop_empty(self, limit: int) -> None:
        """Set the reason why no rollout is under way any more."""
        if self.stopped == "budget" and self.iterations + self.lost < limit:
            self.stopped = "exhausted"
        elif self.stopped == "budget" and self._full:
            self.stopped = "memory"
