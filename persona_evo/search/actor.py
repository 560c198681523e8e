"""Plays a game move by move: a search in the current state chooses each move.

This is for games of chance and two-player games, which have no plan, and for play under a time limit. Each node
maximises the utility of the player to move there, as `measure` reports it to that player.

| game | search | kept for the next move |
|---|---|---|
| without chance | the engine of `mcts`: each node has a state | the part of the tree below the moves made |
| with chance | `open_loop`: a node is a sequence of moves, replayed with new random numbers in each iteration | nothing
|

Finished subtrees are selected again (`revisit`), because a move that wins at once must count in its parent's mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from persona_evo.compiling.arrays import WordRow
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.formula.assembly import LANES
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.games.rows import same_state
from persona_evo.search import mcts, open_loop
from persona_evo.search.amaf import marks_for
from persona_evo.search.engine import Engine
from persona_evo.search.layout import (
    FULL,
    GOING_ON,
    IS_UCB1,
    ITERATIONS,
    NO_MARKS,
    NODES,
    Options,
    SearchSpace,
    buffers_for,
)
from persona_evo.search.moves import CHOICES, ChosenMove, MoveSearch, MovesSpec, Option, best_option
from persona_evo.search.pace import IterationPace
from persona_evo.search.plan import PlannedOutside, capacity_for
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, DONE, NOBODY, NODE, ROOT, TOTAL, VISITS, TreeMemory
from persona_evo.search.tree_policy import EVERY_TIME, TreePolicy, check_moves, variables
from persona_evo.seeds import derive, stream


def actor_for(game: Game, level: Level, spec: MovesSpec) -> MoveSearch:
    """Return what plays a level move by move, wherever the game runs.

    Raises:
        SettingsError: see `Actor`; or the game runs in a process of its own and cannot be searched.
    """
    if game.outside is None:
        return Actor(
            game,
            level,
            spec.utility,
            spec.policy,
            spec.budget,
            spec.settings,
            choose=spec.choose,
            variant=spec.variant,
            seed=spec.seed,
        )
    if not isinstance(game.outside, PlannedOutside):
        raise SettingsError(f"{game.title} runs in a process of its own, so no move can be searched for")
    if spec.variant or spec.settings.variant:
        game.rules_for((), spec.variant or spec.settings.variant)
    return game.outside.actor(game, level, spec)


class Actor:
    """Plays one side of a game, or all sides, move by move.

    Args:
        game, level: the game and the level to play.
        utility: a formula over the metrics as the player to move sees them; all players are assumed to have the same.
        policy: the tree policy, by default UCB1; it may also read `tree_policy.MOVE_VARIABLES`.
        budget: the budget of one move in iterations, seconds or nodes; by default 1,000 iterations.
        settings: rollout length, horizon (moves ahead), order of expansion and meaning of R; the other settings are
            fixed (see the module).
        choose: one of CHOICES, or a formula over the variables of a tree policy; the move with its highest value is
            chosen.
        variant: the variant of the game's rules that the search uses.
        seed: the seed of all random choices. The same states in the same order give the same moves, unless the budget
            limits seconds.

    Raises:
        SettingsError: the way to choose or the variant does not exist, the variant does not keep what a formula reads,
            or the settings have a selection rule or a rollout policy of another package.
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
            raise SettingsError("there is no such way to choose a move", found=choose, expected=expected, hint=hint)
        self.game, self.level, self.seed, self.choice = game, level, seed, choose
        self.budget = budget or Budget(iterations=1_000)
        self.policy = policy or TreePolicy.ucb1()
        self.policy.check_planned("play from move to move", best_first=False)
        given = settings or SearchSettings.anytime()
        given.refuse_added("play from move to move")
        self.settings = replace(given, stop="budget", terminal="revisit", transpositions="off", watch="tree")
        self.utility = parse(utility.text, game.symbols)
        self._open = not game.deterministic
        self._variant = variant or given.variant
        self._moves = 0
        self._allocate()

    def _allocate(self) -> None:
        game, level, self._pack = self.game.for_search(self.level, self._variant)
        settings = self.settings
        policy, choice = (
            f.symbols if isinstance(f, Formula) else frozenset() for f in (self.policy.formula, self.choice)
        )
        check_moves(game, self._variant, policy | choice)
        self._amaf = bool((policy | choice) & (set(variables(game, moves=True)) - set(variables(game))))
        rules = game.rules_for(self.utility.symbols | policy, self._variant)
        holds = IS_UCB1 if self.policy.formula is None else EVERY_TIME if self._open else self.policy.holds
        columns, codes = policy_code(
            Scoring(
                self.policy.formula,
                self.utility,
                game.symbols,
                holds,
                settings.value == "mean",
                self._amaf,
                read=choice | {"RMAX"},
            )
        )
        options = Options(
            settings.horizon or game.horizon_of(level),
            settings.rollout,
            max(1, level.max_actions),
            holds,
            self.policy.c,
            cut_off=DONE if self._open else 0,
            shuffle=settings.expansion == "random",
            salt=derive(self.seed, "expansion") & 0xFFFFFFFF,
            players=game.players,
            amaf=self._amaf,
        )
        capacity = min(2 * capacity_for(self.budget), 2_000_000)
        depths = min(options.horizon, capacity)
        marks = marks_for(min(options.horizon, settings.rollout + 1 + capacity)) if self._amaf else NO_MARKS
        buffers = buffers_for(game, level, settings.rollout, depths, marks)
        if self._open:  # a node can have more children than legal actions
            buffers = buffers._replace(scores=np.empty(capacity + LANES))
        memory = TreeMemory(capacity, level.start)
        tree = memory.lay_out(columns, 2 * capacity + options.room)
        none = np.empty(0, dtype=np.int32)
        self._engine = Engine(memory, SearchSpace(rules, level.tables, tree, options, codes, buffers, none))

    def choose(self, state: WordRow) -> int:
        """Return the move to make in a state."""
        return self.think(state).action

    def think(self, state: WordRow) -> ChosenMove:
        """Search in a state, and return the move with what the search found.

        Raises:
            SettingsError: the game is over there, or the budget is too small to try any move.
        """
        pace = IterationPace(
            self.budget.seconds, 2**62 if self.budget.nodes is None else 200 if self.game.compiled else 20
        )
        if self.game.over(self.level, state) != RUNNING:
            raise SettingsError("the game is over, so there is no move to make")
        self._moves += 1
        buffers = self._engine.work.buffers
        counts, rng = buffers.counts, stream(derive(self.seed, "move", self._moves))
        kept = self._root(state)
        buffers.rng[:] = rng
        counts[ITERATIONS] = 0
        left = self.budget.iterations if self.budget.iterations is not None else 2**62
        while counts[ITERATIONS] < left:
            chunk = min(pace.chunk, left - int(counts[ITERATIONS]))
            if self._engine.run(open_loop.search if self._open else mcts.search, chunk) != GOING_ON:
                break
            if pace.is_late() or (self.budget.nodes is not None and counts[NODES] >= self.budget.nodes):
                break
        options = self._options(state)
        return ChosenMove(
            self._best_of(options, state).action,
            options,
            int(counts[ITERATIONS]),
            int(counts[NODES]),
            kept,
            bool(counts[FULL]),
            time.perf_counter() - pace.began,
        )

    def follow(self, action: int) -> None:
        """Follow a move of any player; keep what the search knows about the states after that move, if possible."""
        tree, counts = self._engine.work.tree, self._engine.work.buffers.counts
        if counts[NODES] == 0:
            return
        children = [int(tree.links[slot, NODE]) for slot in tree.children(ROOT)]
        child = next((node for node in children if tree.nodes[node, ACTION] == action), NOBODY)
        if self._open or child == NOBODY:
            counts[NODES] = 0
        else:
            self._engine.move_root(child)

    def _root(self, state: WordRow) -> int:
        """Make a state the root, and return the number of nodes that are kept."""
        work, packed = self._engine.work, self._pack(state)
        if work.buffers.counts[NODES] and same_state(work.tree.states[ROOT], packed):
            return int(work.buffers.counts[NODES])
        self._engine.plant(packed)
        return 0

    def _options(self, state: WordRow) -> tuple[Option, ...]:
        tree = self._engine.work.tree
        slots = self._slots()
        found = []
        for action in self.game.legal(self.level, state):
            if action in slots:
                row, n = tree.values[slots[action]], max(1, int(tree.links[slots[action], VISITS]))
                found.append(Option(action, n, float(row[TOTAL]) / n, float(row[tree.columns.best])))
        if not found:
            raise SettingsError("no move was tried", hint="give the budget at least one iteration")
        return tuple(found)

    def _slots(self) -> dict[int, int]:
        """Return the slots of the root's children by their actions."""
        tree = self._engine.work.tree
        return {int(tree.nodes[tree.links[c, NODE], ACTION]): c for c in tree.children(ROOT)}

    def shape(self) -> tuple[int, int]:
        """Return the breadth of the tree (the most nodes at one depth) and its depth, both without the root."""
        nodes = int(self._engine.work.buffers.counts[NODES])
        layers = np.bincount(self._engine.work.tree.nodes[:nodes, DEPTH])[1:]
        return int(layers.max(initial=0)), len(layers)

    def _best_of(self, options: Sequence[Option], state: WordRow) -> Option:
        if isinstance(self.choice, Formula):
            return max(zip(options, self._scores(options, state), strict=True), key=lambda o: (o[1], o[0].visits))[0]
        return best_option(options, self.choice)

    def _scores(self, options: Sequence[Option], state: WordRow) -> list[float]:
        """Return the value that the choosing formula gives each option, computed as for a child of the root."""
        assert isinstance(self.choice, Formula)
        game, level, tree = self.game, self.level, self._engine.work.tree
        columns, codes = policy_code(
            Scoring(self.choice, self.utility, game.symbols, EVERY_TIME, self.settings.value == "mean", self._amaf)
        )
        rules, luck, metrics = game.rules(costly=True), stream(self.seed), np.zeros(len(game.metrics))
        slots, player = self._slots(), int(game.rules_for((), self._variant).mover(level.tables, state))
        found = np.zeros(len(options) + LANES)
        rows = TreeMemory(1, state).lay_out(columns, len(options) + LANES)
        for k, option in enumerate(options):
            after, slot = state.copy(), slots[option.action]
            rules.step(level.tables, after, option.action, luck)
            rules.measure(level.tables, after, player, metrics)
            if columns.kept >= 0:
                codes.keep(metrics, rows.values[k])
            rows.values[k, TOTAL] = tree.values[slot, TOTAL]
            rows.links[k, VISITS] = tree.links[slot, VISITS]
            for to, at, count in zip(rows.columns, tree.columns, (1, 1, 0, 0, 2), strict=False):
                if to >= 0:
                    rows.values[k, to : to + count] = tree.values[slot, at : at + count]
        codes.score(rows.values, len(options), int(tree.links[ROOT, VISITS]), 1, found)
        return [float(score) for score in found[: len(options)]]


@dataclass(frozen=True)
class PlayedGame:
    """A finished game: the moves, the metrics of each player at the end, and the outcome."""

    actions: tuple[int, ...]
    metrics: tuple[dict[str, float], ...]
    outcome: int


def play_game(
    game: Game, level: Level, players: Sequence[Actor | Callable[[WordRow], int]], seed: int = 0, moves: int = 0
) -> PlayedGame:
    """Play a game to its end.

    Args:
        game, level: the game and the level to play.
        players: an Actor, or a function from a state to an action, for each player of the game.
        seed: the seed of the start and of chance in the game; no player can foresee them.
        moves: the largest number of moves; 0 stands for the level's horizon.

    Raises:
        SettingsError: the game does not have this number of players.
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
    return PlayedGame(tuple(actions), metrics, game.over(level, state))
