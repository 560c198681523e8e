"""Play move by move: search from the state at hand, make the best move, go on from what it led to.

For games of chance and games for two, which have no plan, and for play under a time limit. Each node maximises the
utility of the player to move there, as `measure` shows it to that player.

| game | search | kept for the next move |
|---|---|---|
| without chance | the engine of `mcts`, a state in each node | the part of the tree below the moves made |
| with chance | `open_loop`: a node is a sequence of moves, played anew with fresh luck each time | nothing |

Finished subtrees are selected again (`revisit`): a move that wins at once must weigh on its parent's mean.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from persona_evo.compiling import interpreted
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.formula.machine import STACK
from persona_evo.games.check import same
from persona_evo.games.core import RUNNING, Game, Level, Rules
from persona_evo.search import mcts, open_loop
from persona_evo.search.amaf import NO_MARKS, marks_for
from persona_evo.search.coding import code, policy_code
from persona_evo.search.layout import (
    AMAF,
    COUNTS,
    CUT_OFF,
    FULL,
    GOING_ON,
    HOLDS,
    HORIZON,
    IS_UCB1,
    ITERATIONS,
    KEPT,
    LENGTH,
    MEAN,
    METRICS,
    MOST_PARTS,
    NODES,
    OPTIONS,
    PLAYERS,
    SALT,
    SHUFFLE,
)
from persona_evo.search.pace import Pace
from persona_evo.search.plan import capacity_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, BEST, DEPTH, KEPT_PART, NOBODY, ROOT, SQUARES, TOTAL, VISITS, Tree
from persona_evo.search.tree_policy import EVERY_TIME, SEARCH_VARIABLES, TreePolicy, check_moves, variables
from persona_evo.seeds import derive, stream

CHOICES = ("visits", "mean", "max")
"""Which child of the root is the best: the one visited most, or that of the highest mean or maximum."""


@dataclass(frozen=True)
class Option:
    """A move at the root: how often it was tried, and the utilities after it for the player to move."""

    action: int
    visits: int
    mean: float
    max: float


@dataclass(frozen=True)
class Move:
    """What was chosen, out of which options (in the game's order), with how much thought.

    kept: nodes of the tree that were there before. full: the memory for the tree was used up.
    """

    action: int
    options: tuple[Option, ...]
    iterations: int
    nodes: int
    kept: int
    full: bool
    seconds: float


class Actor:
    """Plays one side of a game, or all, move by move.

    Args:
        game, level: what is played.
        utility: over the metrics as the player to move sees them; every player is taken to want the same for himself.
        policy: UCB1 if left out; may read `tree_policy.MOVE_VARIABLES`, too.
        budget: for one move; iterations or seconds, or nodes.
        settings: rollout length, horizon (moves ahead), order of expansion and what R is; the rest is fixed (see the
            module).
        choose: one of CHOICES, or a formula over what a tree policy may read, of the best value at the root's children.
        variant: of the game's rules, for the search alone.
        seed: of all random choices; the same states in the same order give the same moves, unless seconds count.

    Raises:
        SettingsError: no such way to choose, no such variant, or one that does not keep what a formula reads.
    """

    def __init__(
        self,
        game: Game,
        level: Level,
        utility: Formula,
        policy: TreePolicy | None = None,
        budget: Budget | None = None,
        settings: SearchSettings | None = None,
        *,
        choose: str | Formula = "visits",
        variant: str = "",
        seed: int = 0,
    ) -> None:
        if isinstance(choose, Formula):
            choose = parse(choose.text, variables(game, moves=True))
        elif choose not in CHOICES:
            expected, hint = unknown(choose, CHOICES)
            raise SettingsError("no such way to choose a move", found=choose, expected=expected, hint=hint)
        self.game, self.level, self.seed, self.choice = game, level, seed, choose
        self.budget = budget or Budget(iterations=1_000)
        self.policy = policy or TreePolicy.ucb1()
        given = settings or SearchSettings.anytime()
        self.settings = replace(given, stop="budget", terminal="revisit", transpositions="off", watch="tree")
        self.utility = parse(utility.text, game.symbols)
        self._open = not game.deterministic
        self._variant = variant or given.variant
        self._moves = 0
        self._counts = np.zeros(COUNTS, dtype=np.int64)
        self._allocate()

    def _allocate(self) -> None:
        game, level, length = self.game, self.level, self.settings.rollout + 1
        policy, choice = (f.symbols if isinstance(f, Formula) else frozenset() for f in
                          (self.policy.formula, self.choice))  # fmt: skip
        symbols = self.utility.symbols | policy
        check_moves(game, self._variant, policy | choice)
        self._amaf = bool((policy | choice) & (set(variables(game, moves=True)) - set(variables(game))))
        self._rules: Rules = game.rules_for(symbols, self._variant)
        self._entries = self._rules.entries
        engine, plain = (open_loop.wander, open_loop._wander) if self._open else (mcts.search, mcts._search)
        self._search = engine if game.compiled else interpreted(plain, mcts.NUMBERS)
        self._plant = mcts.plant if game.compiled else interpreted(mcts._plant)
        self._move_root = open_loop.move_root if game.compiled else interpreted(open_loop._move_root)
        capacity = min(2 * capacity_for(self.budget), 2_000_000)
        self._tree = tree = Tree.allocate(capacity, len(level.start), False, level.start.dtype)
        self._rows = np.empty(capacity, dtype=np.int32)
        self._opts = opts = np.zeros(OPTIONS, dtype=np.int64)
        opts[[LENGTH, HORIZON]] = self.settings.rollout, self.settings.horizon or game.horizon_of(level)
        opts[[MEAN, SHUFFLE]] = self.settings.value == "mean", self.settings.expansion == "random"
        opts[[PLAYERS, METRICS, CUT_OFF]] = game.players, len(game.metrics), self._open
        formula = self.policy.formula
        opts[HOLDS] = IS_UCB1 if formula is None else EVERY_TIME if self._open else self.policy.holds
        opts[SALT] = derive(self.seed, "expansion") & 0xFFFFFFFF
        scoring = policy_code(formula or self.utility, variables(game), not self._open, self._amaf)
        scoring.describe(opts)
        opts[AMAF] = self._amaf
        tree.lay_out(scoring.kept + 2 * self._amaf)
        most = min(opts[HORIZON], length + capacity)
        self._arrays = (level.tables, tree.links, tree.values, tree.states, tree.slots, tree.keys)
        self._codes = (*code(self.utility, game.symbols), *scoring.rows)
        self._best = (np.zeros(1), np.zeros(length, dtype=np.int64))
        self._actions = np.zeros(max(1, level.max_actions), dtype=np.int64)
        self._vars, self._stack = np.zeros(len(game.metrics) + len(SEARCH_VARIABLES) + MOST_PARTS), np.zeros(STACK)
        self._buffers = (
            level.start.copy(), self._actions, np.zeros(length, dtype=np.int64),
            np.zeros((length, len(game.metrics))), self._vars, self._stack, np.zeros(game.players),
            marks_for(int(most)) if self._amaf else NO_MARKS,
        )  # fmt: skip

    def choose(self, state: Any) -> int:
        """The move to make in a state."""
        return self.think(state).action

    def think(self, state: Any) -> Move:
        """Search from a state.

        Raises:
            SettingsError: the game is over there.
        """
        pace = Pace(self.budget.seconds, 2**62 if self.budget.nodes is None else 200 if self.game.compiled else 20)
        if int(self._rules.over(self.level.tables, state)) != RUNNING:
            raise SettingsError("the game is over: there is no move to make")
        self._moves += 1
        rng = stream(derive(self.seed, "move", self._moves))
        counts = self._counts
        with np.errstate(all="ignore"):
            kept = self._root(state)
            counts[ITERATIONS] = 0
            left = self.budget.iterations if self.budget.iterations is not None else 2**62
            reason = GOING_ON
            while left > 0 and reason == GOING_ON:
                chunk = min(pace.chunk, left)
                reason = self._search(
                    *self._entries, *self._arrays, self._opts, np.array([self.policy.c]), counts, *self._best,
                    *self._codes, *self._buffers, rng, chunk,
                )  # fmt: skip
                left -= chunk
                if pace.is_late() or (self.budget.nodes is not None and counts[NODES] >= self.budget.nodes):
                    break
        options = self._options(state)
        return Move(
            self._best_of(options, state).action, options, int(counts[ITERATIONS]), int(counts[NODES]), kept,
            bool(counts[FULL]), time.perf_counter() - pace.began,
        )  # fmt: skip

    def follow(self, action: int) -> None:
        """Say that a move was made, by whomever: what was found out below it is kept where that is possible."""
        counts, tree = self._counts, self._tree
        if counts[NODES] == 0:
            return
        child = next((c for c in tree.children(ROOT) if tree.links[c, ACTION] == action), NOBODY)
        if self._open or child == NOBODY:
            counts[NODES] = 0
        else:
            self._move_root(tree.links, tree.values, tree.states, self._rows, counts, child, int(self._opts[HORIZON]))

    def _root(self, state: Any) -> int:
        """See that the root is this state; how many nodes are there already."""
        counts, tree, entries = self._counts, self._tree, self._entries
        if counts[NODES] and same(tree.states[ROOT], state):
            return int(counts[NODES])
        tree.states[ROOT] = state
        self._plant(
            entries.over, entries.measure, entries.key, *self._arrays, self._opts, counts, *self._best,
            *self._codes[:2], self._vars, self._stack,
        )  # fmt: skip
        return 0

    def _options(self, state: Any) -> tuple[Option, ...]:
        links, values = self._tree.links, self._tree.values
        rows = {int(links[c, ACTION]): c for c in self._tree.children(ROOT)}
        found = []
        for action in self.game.legal(self.level, state):
            if action in rows:
                n = max(1, int(links[rows[action], VISITS]))
                total, top = float(values[rows[action], TOTAL]), float(values[rows[action], BEST])
                found.append(Option(action, n, total / n, top))
        if not found:
            raise SettingsError("no move was tried", hint="give the budget at least one iteration")
        return tuple(found)

    def shape(self) -> tuple[int, int]:
        """The tree's breadth, the most nodes of one depth, and its depth, both without the root."""
        nodes = int(self._counts[NODES])
        layers = np.bincount(self._tree.links[:nodes, DEPTH])[1:] if nodes > 1 else np.zeros(0, dtype=np.int64)
        return int(layers.max(initial=0)), len(layers)

    def _best_of(self, options: Sequence[Option], state: Any) -> Option:
        if isinstance(self.choice, Formula):
            formula, scores = self.choice, self._scores(options, state)
            return max(zip(options, scores, strict=True), key=lambda o: (formula.evaluate(o[1]), o[0].visits))[0]
        if self.choice == "visits":
            return max(options, key=lambda o: (o.visits, o.mean))
        return max(options, key=lambda o: (o.mean if self.choice == "mean" else o.max, o.visits))


    def _scores(self, options: Sequence[Option], state: Any) -> list[dict[str, float]]:
        """For each option what a formula can read of it."""
        game, tables, found = self.game, self.level.tables, []
        player, out = int(self._rules.mover(tables, state)), np.zeros(len(game.metrics))
        rules, luck, values = game.rules(costly=True), stream(self.seed), self._tree.values
        rows = {int(self._tree.links[c, ACTION]): c for c in self._tree.children(ROOT)}
        for o in options:
            after = state.copy()
            rules.step(tables, after, o.action, luck)
            rules.measure(tables, after, player, out)
            own = o.mean if self.settings.value == "mean" else 0.75 * o.mean + 0.25 * o.max
            spread = math.sqrt(max(0.0, values[rows[o.action], SQUARES] / o.visits - o.mean**2))
            searched = [own, o.visits, self._tree.links[ROOT, VISITS], 1, o.max, spread]
            if self._amaf:
                count, total = values[rows[o.action], KEPT_PART + self._opts[KEPT] :][:2]
                searched += [count, total / count if count else 0.0]
            found.append(dict(zip(variables(game, self._amaf), map(float, (*out, *searched)), strict=True)))
        return found


@dataclass(frozen=True)
class Played:
    """A game played move by move: the moves, what each player's metrics are at the end, and the outcome."""

    actions: tuple[int, ...]
    metrics: tuple[dict[str, float], ...]
    outcome: int


def play_game(
    game: Game, level: Level, players: Sequence[Actor | Callable[[Any], int]], seed: int = 0, moves: int = 0
) -> Played:
    """Play a game to its end, or for so many moves (0: the level's horizon).

    Args:
        players: one for each player of the game; an Actor, or a function from a state to an action.
        seed: of the start and of chance in the game itself, which no player can foresee.

    Raises:
        SettingsError: another number of players than the game has.
    """
    if len(players) != game.players:
        raise SettingsError("wrong number of players", found=str(len(players)), expected=str(game.players))
    rules, rng = game.rules(), stream(derive(seed, "game"))
    state = game.start(level, seed)
    actions: list[int] = []
    while game.over(level, state) == RUNNING and len(actions) < (moves or game.horizon_of(level)):
        player = players[int(rules.mover(level.tables, state))]
        action = player.choose(state) if isinstance(player, Actor) else int(player(state))
        rules.step(level.tables, state, action, rng)
        actions.append(action)
        for other in players:
            if isinstance(other, Actor):
                other.follow(action)
    metrics = tuple(game.measure(level, state, p) for p in range(game.players))
    return Played(tuple(actions), metrics, game.over(level, state))
