"""One tree for one level: the search of the paper, for deterministic games with one player."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from persona_evo.compiling import interpreted
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.formula.machine import STACK
from persona_evo.games.core import Game, Level, Rules
from persona_evo.search import layout
from persona_evo.search.coding import code, policy_code
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import Tree
from persona_evo.search.tree_policy import SEARCH_VARIABLES, TreePolicy, variables
from persona_evo.seeds import derive, stream

__all__ = ["Budget", "Plan", "Planner", "SearchSettings", "TreePolicy", "plan"]

CHUNK = 20_000
"""Iterations between two reports of progress at most."""

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
        self._search = mcts.search if game.compiled else interpreted(mcts._search, mcts.NUMBERS)
        self._plant = mcts.plant if game.compiled else interpreted(mcts._plant)
        horizon = settings.horizon or game.horizon
        self._tree = Tree.allocate(
            self.capacity, len(level.start), settings.transpositions != "off", level.start.dtype
        )
        self._opts = np.zeros(layout.OPTIONS, dtype=np.int64)
        self._opts[layout.FIRST_WIN] = settings.stop == "first_win"
        self._opts[layout.CUT_OFF] = settings.terminal == "cut_off"
        self._opts[layout.SHUFFLE] = settings.expansion == "random"
        self._opts[layout.LENGTH] = settings.rollout
        self._opts[layout.HORIZON] = horizon
        self._hashed = ("off", "prune", "merge").index(settings.transpositions)
        self._opts[layout.MEAN] = settings.value == "mean"
        self._opts[layout.WATCH] = ("tree", "ends", "all").index(settings.watch)
        self._opts[layout.PLAYERS] = 1
        self._opts[layout.METRICS] = len(game.metrics)
        self._scratch = level.start.copy()
        self._actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self._played = np.zeros(settings.rollout + 1, dtype=np.int64)
        self._seen = np.zeros((settings.rollout + 1, len(game.metrics)))
        self._best_moves = np.zeros(settings.rollout + 1, dtype=np.int64)
        self._vars = np.zeros(len(game.metrics) + len(SEARCH_VARIABLES) + layout.MOST_PARTS)
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

        Args:
            utility: over the game's metrics; what is backed up and what plans are compared by. Where it can rise with
                the clock, equal states are not looked for: the same place later may be worth more.
            policy: scores the children of a node.
            budget: when to stop; its nodes are limited by the planner's capacity.
            seed: of all random choices.
            progress: called now and then with the iterations made.
        """
        pace = Pace(budget.seconds, CHUNK if self.game.compiled else 200)
        uops, uconst = code(utility, self.game.symbols)
        scoring = policy_code(policy.formula or utility, variables(self.game))
        tree, level = self._tree, self.level
        tree.lay_out(scoring.kept)
        used = utility.symbols | (policy.formula.symbols if policy.formula else frozenset())
        self._rules = self.game.rules_for(used)
        entries = self._rules.entries
        room = min(self.capacity, budget.nodes or self.capacity)
        links = tree.links[:room]
        opts = self._opts
        opts[layout.HOLDS] = policy.holds if policy.formula is not None else layout.IS_UCB1
        opts[layout.SALT] = derive(seed, "expansion") & 0xFFFFFFFF
        opts[layout.USED] = self._distinguishing(used)
        scoring.describe(opts)
        waiting_pays = Problem.of(self.game, level, utility, int(opts[layout.HORIZON])).clocked
        opts[layout.HASHED] = 0 if waiting_pays else self._hashed
        counts = np.zeros(layout.COUNTS, dtype=np.int64)
        best, utils, weights = np.zeros(1), np.zeros(1), np.array([policy.c])
        rng = stream(seed)
        tree.states[0] = level.start
        arrays = (level.tables, links, tree.values[:room], tree.states[:room], tree.slots, tree.keys)
        with np.errstate(all="ignore"):
            self._plant(entries.over, entries.measure, entries.key, *arrays, opts, counts, best, self._best_moves, uops,
                        uconst, self._vars, self._stack)
            reason, why = layout.GOING_ON, "budget"
            limit = budget.iterations if budget.iterations is not None else 2**62
            while limit > 0 and reason == layout.GOING_ON:
                chunk = min(pace.chunk, limit)
                reason = self._search(
                    *entries, *arrays, opts, weights, counts, best, self._best_moves, uops, uconst, *scoring.rows,
                    self._scratch, self._actions, self._played, self._seen, self._vars, self._stack, utils, rng,
                    chunk,
                )
                limit -= chunk
                if progress:
                    progress(int(counts[layout.ITERATIONS]))
                if pace.is_late():
                    why = "time"
                    break
                if budget.nodes is not None and counts[layout.FULL]:
                    why = "nodes"
                    break
        stopped = why if reason == layout.GOING_ON else STOPPED[reason]
        if stopped == "budget" and counts[layout.FULL]:
            stopped = "memory"
        self._nodes = int(counts[layout.NODES])
        node, made = int(counts[layout.BEST_NODE]), int(counts[layout.BEST_LENGTH])
        if counts[layout.WINNER] >= 0:
            node, made = int(counts[layout.WINNER]), 0
        actions = (*tree.path(node), *(int(a) for a in self._best_moves[:made]))
        end = self.game.replay(level, actions)[-1]
        metrics = self.game.measure(level, end)
        return Plan(
            actions=tuple(actions),
            utility=utility.evaluate(metrics),
            metrics=metrics,
            outcome=self.game.over(level, end),
            iterations=int(counts[layout.ITERATIONS]),
            nodes=int(counts[layout.NODES]),
            seconds=time.perf_counter() - pace.began,
            stopped=stopped,
            proven=reason == layout.EXHAUSTED and self.settings.transpositions != "merge",
            seed=seed,
        )

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


