"""One tree for one level: the search of the paper, for deterministic games with one player."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from persona_evo.compiling import interpreted
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.formula.machine import STACK
from persona_evo.games.core import RUNNING, Game, Level, Rules
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import Tree
from persona_evo.search.tree_policy import SEARCH_VARIABLES, STATIC, TreePolicy, variables
from persona_evo.seeds import derive, stream

__all__ = ["Budget", "Plan", "Planner", "SearchSettings", "TreePolicy", "plan"]

CHUNK = 20_000
"""Iterations between two looks at the clock."""

SLOW_CHUNK = 200
"""The same for games in plain Python, and between two looks at whether the plan wins."""

MAX_NODES = 5_000_000
"""The tree's size at most unless the budget says otherwise (about 1 GB for MiniDungeons 2)."""

STOPPED = ("budget", "win", "exhausted", "stuck")
"""Why a search ended, by the engine's number."""


@dataclass(frozen=True)
class Plan:
    """The outcome of a search: a whole action sequence from the start, and what it leads to.

    utility: of the last state. metrics: of the last state, by symbol. outcome: what the game's `over` says of it.
    iterations, nodes, seconds: what it took. stopped: budget, win, exhausted, stuck, memory or time. proven: no plan
    within the horizon has a higher utility.
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


@lru_cache(maxsize=512)
def _code(formula: Formula, order: tuple[str, ...]) -> tuple[Any, Any]:
    code = formula.code(order)
    constants = code.constants if len(code.constants) else np.zeros(1)
    return np.ascontiguousarray(code.ops, dtype=np.int64), np.ascontiguousarray(constants, dtype=np.float64)


class Planner:
    """A level, the search's settings and the memory for a tree, to be used for many searches one after the other.

    Args:
        game, level: what is played.
        settings: the search's rules.
        capacity: nodes at most.

    Raises:
        SettingsError: the game is not a deterministic game for one player.
    """

    def __init__(self, game: Game, level: Level, settings: SearchSettings, capacity: int) -> None:
        if game.players != 1 or not game.deterministic:
            raise SettingsError(
                f"{game.title} cannot be planned with one tree",
                found=f"{game.players} players, {'deterministic' if game.deterministic else 'random'}",
                expected="a deterministic game for one player",
                hint="play it move by move instead",
            )
        from persona_evo.search import mcts

        self.game, self.level, self.settings = game, level, settings
        self.capacity = max(2, min(capacity, 2**31 - 2))
        self._rules: Rules = game.rules()
        self._plant = mcts.plant if game.compiled else interpreted(mcts._plant)
        horizon = settings.horizon or game.horizon
        self._tree = Tree.allocate(
            self.capacity, len(level.start), settings.transpositions != "off", level.start.dtype
        )
        self._opts = np.zeros(mcts.OPTIONS, dtype=np.int64)
        self._opts[mcts.FIRST_WIN] = settings.stop == "first_win"
        self._opts[mcts.CUT_OFF] = settings.terminal == "cut_off"
        self._opts[mcts.SHUFFLE] = settings.expansion == "random"
        self._opts[mcts.LENGTH] = settings.rollout
        self._opts[mcts.HORIZON] = horizon
        self._hashed = ("off", "prune", "merge").index(settings.transpositions)
        self._opts[mcts.MEAN] = settings.value == "mean"
        self._opts[mcts.WATCH] = ("tree", "ends", "all").index(settings.watch)
        self._opts[mcts.PLAYERS] = 1
        self._opts[mcts.METRICS] = len(game.metrics)
        self._horizon = horizon
        self._finisher: Planner | None = None
        self._by_leaf = (
            settings.selection == "leaf" and settings.terminal == "cut_off" and settings.transpositions != "merge"
        )
        self._heap = np.empty(0, dtype=np.int32)
        self._scratch = level.start.copy()
        self._actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self._played = np.zeros(settings.rollout + 1, dtype=np.int64)
        self._seen = np.zeros((settings.rollout + 1, len(game.metrics)))
        self._best_moves = np.zeros(settings.rollout + 1, dtype=np.int64)
        self._vars = np.zeros(len(game.metrics) + len(SEARCH_VARIABLES))
        self._stack = np.zeros(STACK)
        self._nodes = 0

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
    ) -> Plan:
        """Search from the level's start.

        A last share of the budget (`SearchSettings.finish`) is for playing on to the game's end where the best plan
        found does not get there, as long as that does not lower the utility.

        Args:
            utility: over the game's metrics; what is backed up and what plans are compared by. Where it can rise with
                the clock, equal states are not looked for: the same place later may be worth more.
            policy: scores the children of a node.
            budget: when to stop; its nodes are limited by the planner's capacity.
            seed: of all random choices.
            progress: called now and then with the iterations made.
        """
        began = time.perf_counter()
        share = self.settings.finish
        run = _Run(self, self.level.start, 0, utility, policy, seed, progress)
        run.spend(budget.part(1.0 - share), began)
        actions, iterations, nodes = run.actions, run.iterations, run.nodes
        self._nodes = nodes
        if share and not run.settled:
            end = self.game.replay(self.level, actions)[-1]
            if self.game.over(self.level, end) == RUNNING and len(actions) < self._horizon:
                last = self._play_on(end, len(actions), utility, budget.part(share), seed)
                actions, iterations, nodes = (*actions, *last.actions), iterations + last.iterations, nodes + last.nodes
            else:
                run.spend(budget, began)
                actions, iterations, self._nodes = run.actions, run.iterations, run.nodes
                nodes = self._nodes
        end = self.game.replay(self.level, actions)[-1]
        metrics = self.game.measure(self.level, end)
        return Plan(
            actions=actions,
            utility=utility.evaluate(metrics),
            metrics=metrics,
            outcome=self.game.over(self.level, end),
            iterations=iterations,
            nodes=nodes,
            seconds=time.perf_counter() - began,
            stopped=run.stopped,
            proven=run.proven,
            seed=seed,
        )

    def _play_on(self, state: Any, depth: int, utility: Formula, budget: Budget, seed: int) -> _Run:
        """Search from a state for a win that is worth no less, by what the game says grows on the way to a win."""
        if self._finisher is None:
            capacity = max(2, int(self.capacity * self.settings.finish) + 1)
            settings = replace(SearchSettings.anytime(), rollout=0, horizon=self._horizon, finish=0.0)
            self._finisher = Planner(self.game, self.level, settings, capacity)
        guide = parse(self.game.homing, self.game.symbols) if self.game.homing else utility
        policy = TreePolicy("homing", guide)
        run = _Run(self._finisher, state, depth, utility, policy, derive(seed, "finish"), None)
        run.spend(budget, time.perf_counter(), until_won=True)
        return run

    def _searches(self, by_leaf: bool) -> tuple[Any, tuple[Any, ...]]:
        """The engine that searches, and the memory it needs beside the tree."""
        from persona_evo.search import best_first, mcts

        module = best_first if by_leaf else mcts
        if by_leaf and len(self._heap) < self.capacity:
            self._heap = np.empty(self.capacity, dtype=np.int32)
        function = module.search if self.game.compiled else interpreted(module._search, mcts.NUMBERS)
        return function, (self._heap,) if by_leaf else ()

    def _distinguishing(self, symbols: frozenset[str]) -> int:
        """Bit mask of the metrics that make two states different for a search that reads `symbols`.

        The clock is not among them (depth stands for it), nor are costly metrics, which follow from the state.
        """
        return sum(
            1 << i for i, m in enumerate(self.game.metrics) if m.symbol in symbols and not m.clock and not m.costly
        )

    def samples(self, count: int) -> Iterable[dict[str, float]]:
        """The variables of up to `count` nodes of the last search, evenly spread, for checks of formulas."""
        from persona_evo.search.tree import BEST, DEPTH, PARENT, SQUARES, TOTAL, VISITS

        rules, tree = self._rules, self._tree
        nodes = np.flatnonzero(tree.links[: self._nodes, VISITS] > 0)
        out = np.zeros(len(self.game.metrics))
        for node in nodes[:: max(1, len(nodes) // max(1, count))][:count]:
            rules.measure(self.level.tables, tree.states[node], 0, out)
            n = float(tree.links[node, VISITS])
            mean = float(tree.values[node, TOTAL]) / n
            top = float(tree.values[node, BEST])
            parent = int(tree.links[node, PARENT])
            spread = max(0.0, float(tree.values[node, SQUARES]) / n - mean * mean) ** 0.5
            r = mean if self.settings.value == "mean" else 0.75 * mean + 0.25 * top
            visits = float(tree.links[parent, VISITS]) if parent >= 0 else n
            numbers = (*map(float, out), r, n, visits, float(tree.links[node, DEPTH]), top, spread)
            yield dict(zip(variables(self.game), numbers, strict=True))


class _Run:
    """One search in a planner's memory, which can be gone on with until the planner's next."""

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
        from persona_evo.search import mcts

        self._planner, self._progress, self._engine = planner, progress, mcts
        game, level, opts = planner.game, planner.level, planner._opts
        self._codes = (*_code(utility, game.symbols), *_code(policy.formula or utility, variables(game)))
        used = utility.symbols | (policy.formula.symbols if policy.formula else frozenset())
        planner._rules = self._rules = game.rules_for(used)
        horizon = planner._horizon - depth
        opts[mcts.HORIZON] = horizon
        opts[mcts.HOLDS] = policy.holds if policy.formula is not None else mcts.IS_UCB1
        by_leaf = planner._by_leaf and policy.holds == STATIC
        self._engine_search, self._open = planner._searches(by_leaf)
        opts[mcts.SALT] = derive(seed, "expansion") & 0xFFFFFFFF
        opts[mcts.USED] = planner._distinguishing(used)
        waiting_pays = Problem.of(game, level, utility, horizon).clocked
        opts[mcts.HASHED] = 0 if waiting_pays else planner._hashed
        self._counts = np.zeros(mcts.COUNTS, dtype=np.int64)
        self._best, self._utils, self._weights = np.zeros(1), np.zeros(1), np.array([policy.c])
        self._rng = stream(seed)
        self._reason, self._why = mcts.GOING_ON, "budget"
        tree, rules = planner._tree, self._rules
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
        mcts, planner, counts, tree = self._engine, self._planner, self._counts, self._planner._tree
        room = min(planner.capacity, budget.nodes or planner.capacity)
        arrays = (
            planner.level.tables, tree.links[:room], tree.values[:room], tree.states[:room], tree.slots, tree.keys
        )  # fmt: skip
        limit = 2**62 if budget.iterations is None else budget.iterations - self.iterations
        chunk = CHUNK if planner.game.compiled else SLOW_CHUNK
        if budget.seconds is not None:
            chunk = min(chunk, 500)
        if until_won:
            chunk = SLOW_CHUNK
        self._why = "budget"
        counts[mcts.FULL] = 0
        with np.errstate(all="ignore"):
            while limit > 0 and self._reason == mcts.GOING_ON:
                self._reason = self._engine_search(
                    *self._rules, *arrays, planner._opts, self._weights, counts, self._best, planner._best_moves,
                    *self._codes, planner._scratch, planner._actions, planner._played, planner._seen, planner._vars,
                    planner._stack, self._utils, self._rng, *self._open, min(chunk, limit),
                )  # fmt: skip
                limit -= chunk
                if self._progress:
                    self._progress(self.iterations)
                if budget.seconds is not None and time.perf_counter() - began >= budget.seconds:
                    self._why = "time"
                    break
                if budget.nodes is not None and counts[mcts.FULL]:
                    self._why = "nodes"
                    break
                if until_won and counts[mcts.BEST_WON]:
                    break

    @property
    def iterations(self) -> int:
        """Iterations made."""
        return int(self._counts[self._engine.ITERATIONS])

    @property
    def nodes(self) -> int:
        """Nodes in the tree."""
        return int(self._counts[self._engine.NODES])

    @property
    def settled(self) -> bool:
        """Whether the search came to its end before the budget did."""
        return self._reason != self._engine.GOING_ON

    @property
    def proven(self) -> bool:
        """Whether no plan within the horizon is worth more than the best one."""
        return self._reason == self._engine.EXHAUSTED and self._planner.settings.transpositions != "merge"

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        if self.settled:
            return STOPPED[self._reason]
        return "memory" if self._why == "budget" and self._counts[self._engine.FULL] else self._why

    @property
    def actions(self) -> tuple[int, ...]:
        """The best plan from the state searched from; under `first_win` that to the winner."""
        mcts, counts = self._engine, self._counts
        node, made = int(counts[mcts.BEST_NODE]), int(counts[mcts.BEST_LENGTH])
        if counts[mcts.WINNER] >= 0:
            node, made = int(counts[mcts.WINNER]), 0
        return (*self._planner._tree.path(node), *(int(a) for a in self._planner._best_moves[:made]))


def capacity_for(budget: Budget) -> int:
    """How many nodes a budget can need at most, within MAX_NODES."""
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
    return Planner(game, level, settings, capacity_for(budget)).plan(utility, policy, budget, seed)


