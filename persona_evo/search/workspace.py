"""The memory of a planner, and what is common to all searches in it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from persona_evo.compiling import Entry, Handle
from persona_evo.compiling.arrays import ShortRow, WordRow
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import Game, Level, Rules
from persona_evo.search import best_first, layout, mcts
from persona_evo.search.engine import Engine
from persona_evo.search.layout import COUNTS, IS_UCB1, MERGE, Codes, Options, SearchSpace, buffers_for
from persona_evo.search.problem import Problem
from persona_evo.search.rollouts import with_rollouts
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.selection_rules import rule_and_prior
from persona_evo.search.settings import MOVE_BY_MOVE, SearchSettings
from persona_evo.search.tree import DONE, Columns, TreeMemory
from persona_evo.search.tree_policy import EVERY_TIME, MOVE_VARIABLES, STATIC, TreePolicy
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.search.list_memory import ListMemory


class PlanningSetup(NamedTuple):
    """What searches with the same utility and policy share in a planner's memory.

    Attributes:
        policy: the policy.
        problem: the problem of the last of these searches, with its utility and horizon.
        engine: the engine.
        work: what the engine works on; searches differ in some of its options.
        search: the engine's entry point.
        scoring: the requirements on the tree policy.
    """

    policy: TreePolicy
    problem: Problem
    engine: Engine
    work: SearchSpace
    search: Entry
    scoring: Scoring


class Workspace:
    """A level, the settings, and the memory that one search after the other uses.

    Args:
        game: the game; the attribute of this name is what `Game.for_search` returns for it.
        level: the level, with an attribute likewise.
        settings: the rules of the search.
        capacity: the highest number of nodes.

    Raises:
        SettingsError: the game is not a deterministic game for one player, or does not have this variant of its rules.
    """

    def __init__(self, game: Game, level: Level, settings: SearchSettings, capacity: int) -> None:
        if game.players != 1 or not game.deterministic:
            raise SettingsError(
                f"{game.title} cannot be planned with a single tree",
                found=f"{counted(game.players, 'player')}, {'deterministic' if game.deterministic else 'random'}",
                expected="a deterministic single-player game",
                hint=MOVE_BY_MOVE,
            )
        game, level, self.pack = game.for_search(level, settings.variant)
        self.game, self.level, self.settings = game, level, settings
        self.capacity = max(2, min(capacity, 2**31 - 2))
        self.tries_all = game.rules_for((), settings.variant).legal is game.rules().legal
        self.horizon = settings.horizon or game.horizon_of(level)
        self.by_leaf = settings.best_first
        hashed = ("off", "prune", "merge").index(settings.transpositions)
        self.memory = TreeMemory(self.capacity, level.start, bool(hashed), hashed == MERGE, spare=1)
        self.options = Options(
            self.horizon,
            settings.rollout,
            max(1, level.max_actions),
            IS_UCB1,
            cut_off=DONE if settings.terminal == "cut_off" else 0,
            first_win=settings.stop == "first_win",
            shuffle=settings.expansion == "random",
            hashed=hashed,
            watch=("tree", "ends", "all").index(settings.watch),
        )
        self.buffers = buffers_for(game, level, settings.rollout, min(self.horizon, self.capacity))
        self.setup: PlanningSetup | None = None
        self._handle: Handle[SearchSpace] | None = None

    @cached_property
    def heap(self) -> ShortRow:
        """The memory for all open leaves."""
        return np.empty(self.capacity, dtype=np.int32)

    def work(self, rules: Rules, columns: Columns, options: Options, codes: Codes) -> SearchSpace:
        """Return the data that a search in this planner's memory works on. Data of earlier searches is lost."""
        tree = self.memory.lay_out(columns, 2 * self.capacity + options.room)
        buffers = self.buffers._replace(counts=np.zeros(COUNTS, dtype=np.int64), best=np.zeros(1))
        return SearchSpace(rules, self.level.tables, tree, options, codes, buffers, self.heap[:0])

    @cached_property
    def lists(self) -> ListMemory:
        """The memory that searches with open lists need beside the tree."""
        from persona_evo.search.list_memory import ListMemory

        return ListMemory(self.game, self.level, self.capacity)

    def set_up(self, utility: Formula, policy: TreePolicy, horizon: int, salt: int) -> PlanningSetup:
        """Return the setup of a search in this memory. What the last search has in common with it is reused."""
        setup = self.setup
        if setup is None or (setup.problem.utility, setup.policy) != (utility, policy):
            setup = self._new_setup(utility, policy, horizon)
        elif setup.problem.horizon != horizon:
            setup = setup._replace(problem=Problem.of(self.game, self.level, utility, horizon))
        problem, work = setup.problem, setup.work
        options = work.options._replace(
            horizon=problem.horizon, salt=salt, hashed=0 if problem.clocked else self.options.hashed
        )
        tree = self.memory.lay_out(work.tree.columns, 0)
        setup.engine.change(work._replace(options=options, tree=tree))
        self.setup = setup
        return setup

    def _new_setup(self, utility: Formula, policy: TreePolicy, horizon: int) -> PlanningSetup:
        """Return the setup of searches with a utility and a policy."""
        search, scoring = self._scored(utility, policy)
        read = (policy.formula,) if policy.formula else ()
        problem = Problem.of(self.game, self.level, utility, horizon)
        options = self.options._replace(holds=scoring.holds, c=policy.c, used=problem.used(*read))
        columns, codes = policy_code(scoring)
        rules = self.game.rules_for(utility.symbols.union(*(f.symbols for f in read)), self.settings.variant)
        rules = with_rollouts(self.game, rules, self.settings.rollout_policy)
        heap = self.heap if search is best_first.search else self.heap[:0]
        work = self.work(rules, columns, options, codes)._replace(heap=heap)
        return PlanningSetup(policy, problem, self.engine(work), work, search, scoring)

    def engine(self, work: SearchSpace) -> Engine:
        """Return the engine of a search in this memory, in place of the last one."""
        engine = Engine(self.memory, work, self._handle)
        self._handle = engine.handle
        return engine

    def look(self, state: WordRow) -> tuple[dict[str, float], int]:
        """Return the metrics of a state and the outcome there."""
        return self.game.measure(self.level, state), self.game.over(self.level, state)

    def _scored(self, utility: Formula, policy: TreePolicy) -> tuple[Entry, Scoring]:
        """Return the entry point of a search with a policy, and how the search scores nodes.

        Raises:
            SettingsError: the policy reads what plans of whole levels do not record.
        """
        game, settings, formula = self.game, self.settings, policy.formula
        strange = sorted((formula.symbols if formula else set()) & MOVE_VARIABLES.keys() - set(game.symbols))
        if strange:
            raise SettingsError(
                "plans of whole levels do not record this",
                found=", ".join(strange),
                hint="AN and AR are for play from move to move",
            )
        holds = policy.holds if formula is not None else layout.IS_UCB1
        scoring = Scoring(formula, utility, game.symbols, holds, settings.value == "mean")
        if settings.selection_rule:
            rule, prior = rule_and_prior(settings.selection_rule, policy)
            scoring = Scoring(prior, utility, game.symbols, EVERY_TIME, rule=rule)
        return best_first.search if self.by_leaf and scoring.holds == STATIC else mcts.search, scoring
