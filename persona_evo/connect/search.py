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

A search may begin at a state that was reached instead of the start of the game (`move_to`): the choices that lead there
then stand before every prefix, and what the tree holds below that state is kept.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import Lost, shown
from persona_evo.connect.ordering import FinishedRollout, Ordering, PendingRollout, RolloutResult, RolloutSource
from persona_evo.connect.priors import PriorOrders
from persona_evo.connect.result_check import check_count
from persona_evo.connect.scores import UtilityRange, is_fitted
from persona_evo.connect.snapshot_orders import SnapshotOrders
from persona_evo.connect.tree import PrefixTree
from persona_evo.connect.worlds import Observation
from persona_evo.errors import ConnectError
from persona_evo.formula import Formula
from persona_evo.games.core import Game
from persona_evo.search.layout import IS_UCB1, Codes, Options
from persona_evo.search.moves import Option
from persona_evo.search.prefix_engine import PrefixEngine
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import DEAD, DEPTH, DONE, NOBODY, ROOT, SLOT, TOTAL, UNKNOWN, VISITS, Columns
from persona_evo.search.tree_policy import EVERY_TIME, STATIC, TreePolicy
from persona_evo.seeds import SplitMix64, derive, stream

OUTSIDE, INSIDE = "outside", "inside"
"""The positions of UCB1's constant: outside or inside the root."""

SCORE = "SCORE"
"""The symbol of the metric that holds the game's score, which is 0 until the game is over."""

PATIENCE = 1000
"""The number of consecutive visits to known ends after which a search with a static policy counts as stuck."""


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
        engine: the tree.
        best: the best rollout so far.
        growth: the number of rollouts and the utility, each time that it got better.
        iterations, lost: rollouts that ended, and those in which the game failed.
        stopped: why the search ended.
        show: called with each rollout that is the best so far.
        engine_type: the kind of tree.
    """

    engine_type: type[PrefixEngine] = PrefixEngine

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
        self._under_way: deque[PendingRollout] = deque()
        self._priors = PriorOrders()
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
        self._most, self._seed = max(1, most), seed
        self.engine = self._new_engine(options, codes, columns)
        self._worth, self._end = codes.utility, np.zeros(len(game.metrics))
        self._start, self._before, self._states = b"", 0, SnapshotOrders(max(1, ordering.worlds))
        self._spent_before = self._known = self._decisions = self._played = self._choices = 0
        self._full = self._limited = False

    def _new_engine(self, options: Options, codes: Codes, columns: Columns) -> PrefixEngine:
        """Return the memory of a new search."""
        return self.engine_type(
            options,
            codes,
            columns,
            len(self.game.metrics),
            self._most,
            p.MOST_CHOICES + 1,
            stream(self._seed),
            self.ordering.whole and not self.ordering.worlds,
            self.ordering.wide,
            self.ordering.worlds,
        )

    @property
    def tree(self) -> PrefixTree:
        """The current tree."""
        return PrefixTree.of(self.engine.work, self.game.symbols)

    def spend(self, budget: Budget, began: float, progress: Callable[[int], None] | None = None) -> None:
        """Continue until the search has used up its budget for the state where it is; seconds count from `began`.

        Raises:
            ConnectError, GameError: the game cannot be played, or no rollout comes to its end.
        """
        for done in self.steps(budget, began):
            if progress is not None and done and done % 256 == 0:
                progress(done)

    def steps(self, budget: Budget, began: float) -> Iterator[int]:
        """Continue as in `spend`, and yield the number of rollouts that have ended before each wait for the next."""
        limit = self._spent_before + (budget.iterations if budget.iterations is not None else 2**62)
        end = None if budget.seconds is None else began + budget.seconds
        self.stopped = "budget"
        while True:
            self._fill(limit - self.spent, budget.nodes)
            if not self._under_way:
                self._stop_empty(limit)
                break
            yield self.spent
            self._take()
            if self.stopped == "win":
                break
            if end is not None and time.perf_counter() > end:
                self.stopped = "time"
        self._under_way.clear()
        self.pool.settle()
        if not self.has_result:
            raise ConnectError(
                "the game could not be played to its end a single time",
                found=shown(self.pool.findings[0].message) if self.pool.findings else "no rollout was completed",
                hint="persona-evo doctor --game FILE.toml tells how it fails, and where its logs are",
            )

    @property
    def has_result(self) -> bool:
        """Whether a rollout has come to its end."""
        return self.best is not None

    @property
    def spent(self) -> int:
        """The number of rollouts that count towards the budget."""
        return self.iterations + self.lost

    @property
    def is_full(self) -> bool:
        """Whether there was no room for a node."""
        return self._full

    def move_to(self, start: bytes) -> None:
        """Go on from the state that a prefix leads to, with what the tree holds below it. No rollout may be under way.

        Args:
            start: pairs of choice and count from the start of the game.
        """
        further = start.startswith(self._start)
        node = self.engine.find(p.unpack(start[len(self._start) :])) if further else NOBODY
        if node == NOBODY:
            self.engine.plant()
            self._priors = PriorOrders()
        elif node != ROOT:
            self._priors.renumber(self.engine.move_root(node))
        self._restart(start)

    def _restart(self, start: bytes) -> None:
        """Begin a new budget, at the state that a prefix leads to."""
        self._start, self._before = start, len(start) // p.PAIR
        self._states = SnapshotOrders(max(1, self.ordering.worlds))
        self._spent_before, self._known, self._decisions, self._played, self._full = self.spent, 0, 0, 0, False

    def look(self, seen: Observation, rollouts: int | None) -> None:
        """Go on from what a player sees, with what the tree holds below it. No rollout may be under way.

        Args:
            seen: what the player has seen.
            rollouts: the number of rollouts that the search for this move has, None if only its time is limited.
        """
        self.move_to(seen.prefix)
        self._choices = seen.choices

    def options(self) -> tuple[Option, ...]:
        """Return what is known of the choices that were tried at the state; one drawn by chance if none was tried."""
        tried = tuple(o for o in self.engine.options() if o.action < self._choices)
        return tried or (Option(self._rollouts.below(self._choices), 0, 0.0, 0.0),)

    @property
    def decisions_left(self) -> float:
        """The mean number of decisions of the rollouts after the state at which the search starts, at least 1."""
        return max(1.0, self._decisions / max(1, self._played))

    @property
    def proven(self) -> bool:
        """Whether every way to play is known."""
        return self.stopped == "exhausted" and self.tree.explored and not self.lost and not self._limited

    def _fill(self, left: int, nodes: int | None) -> None:
        """Order rollouts until all slots are taken or the search has to stop."""
        while len(self._under_way) < self.ordering.slots and len(self._under_way) < left and self.stopped == "budget":
            if nodes is not None and self.engine.nodes >= nodes and self._full:
                self.stopped = "nodes"
                return
            if not self._hand_out():
                return

    def _hand_out(self) -> bool:
        node, full = self.engine.descend()
        if node == NOBODY:
            return False
        self._full |= full
        seed, work = self._rollouts.next(), self.engine.work
        tree = work.search.tree
        slot, depth = tree.nodes[node, SLOT], self._before + int(tree.nodes[node, DEPTH])
        visits = int(tree.links[slot, VISITS])
        if work.choices[node] == 0 and visits > 0:
            self._repeat(PendingRollout(node, seed, depth, float(tree.values[slot, TOTAL]) / visits))
            return True
        draw = bool(0 < self.ordering.wide <= work.choices[node] and depth - self._before < self._horizon)
        one = PendingRollout(node, seed, depth, draw=draw)
        if draw and self.ordering.priors:
            self._full |= self.engine.is_full
            one = self._priors.place(self.engine, one)
        self._submit(one)
        return True

    def _repeat(self, one: PendingRollout) -> None:
        """Count a known result once more; a static policy that chooses nothing else is stuck."""
        self._known += 1
        self._under_way.append(one)
        if self.policy.formula is not None and self.policy.holds == STATIC and self._known >= PATIENCE:
            self.stopped = "stuck"

    def _submit(self, one: PendingRollout) -> None:
        """Order a rollout from a node."""
        prefix = self._start + self.engine.prefix(one.node).astype("<u2").tobytes()
        order = p.Rollout(0, self._game_seed, one.seed, p.ALL_METRICS, self.ordering.mode, 0, prefix, asks=one.ask)
        self._send(order, one, new=bool(self.engine.work.choices[one.node] == UNKNOWN))

    def _send(self, order: p.Rollout, one: PendingRollout, *, new: bool, world: int = 0) -> None:
        """Give an order to the pool; a game with snapshots may keep the state at its node if that is new."""
        if self.ordering.snapshots:
            order = self._states.complete(order, self.engine, one.node, self._before, new=new, world=world)
        self.pool.submit(order)
        self._under_way.append(one)
        self._known = 0

    def _take(self) -> None:
        """Enter the result of the oldest rollout under way into the tree."""
        order, engine = self._under_way.popleft(), self.engine
        if order.again is not None:
            self.iterations += 1
            engine.back_up(order.node, 0, order.again)
            return
        result = self.pool.next()
        if isinstance(result, Lost):
            self.lost += 1
            engine.lose(order.node)
            self._priors.enter(engine, order, None)
            return
        work, utility, over = engine.work, self._utility_of(result), result.decisions == order.depth
        check_count(result, order.depth, int(work.choices[order.node]), self.game.title, self._game_seed)
        if work.choices[order.node] == UNKNOWN:
            self._describe(order.node, result, order.depth)
        self._limited |= not over and order.depth - self._before >= self._horizon
        engine.back_up(order.node, 0 if over else result.count(order.depth), utility)
        if self.ordering.whole and not over and (self.best is None or utility > self.best.utility):
            self._graft(order, result, utility)
        elif order.draw and not over:
            self._graft(order, result, utility, most=1)
        self._priors.enter(engine, order, result.weights)
        self._keep(order, result, utility, over)
        self.iterations += 1

    def _utility_of(self, result: RolloutResult) -> float:
        """Return the utility of a rollout, and take it into account where utilities are compared with each other."""
        work, end, final = self.engine.work, self._end, result.last()
        end[: len(final)] = final
        end[len(final) :] = result.score
        utility = self._worth(end)
        self.utilities.add(utility)
        work.lowest[0] = self.utilities.low
        if self._fitted:
            work.scale[0], work.spread[0] = self.utilities.scale, self.utilities.deviation
        self._decisions += result.decisions - self._before
        self._played += 1
        return utility

    def _describe(self, node: int, result: RolloutResult, at: int) -> None:
        """Fill in the metrics at a node, which a rollout passed after its first `at` decisions."""
        over, row = result.decisions == at, self.engine.work.metrics[node]
        known = result.last() if over else result.row(at)
        row[: len(known)] = known
        row[len(known) :] = result.score if over else 0.0

    def _graft(self, order: PendingRollout, result: RolloutResult, utility: float, most: int = 2**31) -> None:
        """Add the rest of a rollout to the tree, or its first `most` decisions."""
        pairs, work = p.unpack(result.trace)[order.depth :], self.engine.work
        steps = min(len(pairs), self._horizon - (order.depth - self._before) + 1, most)
        work.pairs[: 2 * steps] = np.array(pairs[:steps], dtype=np.int64).ravel()
        work.pairs[2 * steps + 1] = pairs[steps][1] if steps < len(pairs) else 0
        for i in range(1, min(steps + 1, len(pairs))):
            row = result.row(order.depth + i)
            work.rows[i, : len(row)] = row
            work.rows[i, len(row) :] = 0.0
        if steps == len(pairs):
            work.rows[steps] = self._end
        self.engine.graft(order.node, steps, utility)

    def _keep(self, order: PendingRollout, result: RolloutResult, utility: float, over: bool) -> None:
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
        for listener in (self.show if self.best is sample else None, self._tell):
            if listener is not None:
                listener(sample)

    def _stop_empty(self, limit: int) -> None:
        """Set the reason why no rollout is under way any more."""
        if self.stopped == "budget" and self.spent < limit:
            self.stopped = "exhausted"
        elif self.stopped == "budget" and self._full:
            self.stopped = "memory"
