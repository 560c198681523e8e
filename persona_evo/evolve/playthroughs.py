"""Playthroughs that measure a fitness, as workers play them.

A playthrough is a formula, a case, a seed and a side, and nothing else decides its result. So playthroughs go to the
workers as suits these (see `jobs.dispatch`), and each worker keeps the levels and the search's memory from one to the
next.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from math import fsum
from typing import NamedTuple

from persona_evo.agents.duel import Solo
from persona_evo.agents.skilled_player import Skilled
from persona_evo.evolve import genome
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import WON, Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.cache import WorkerCache
from persona_evo.search.plan import LevelPlanner, Plan, PlanJob, PlannedOutside, capacity_for, plan, planner_for
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy, with_lists

_NODES_KEPT = 20_000_000
"""Nodes for which a worker keeps memory, at most, so that it need not be made anew (4 GB in MiniDungeons 2); where the
planners of all levels have more, one of them is kept."""


class FitnessTrial(NamedTuple):
    """What plays (a formula's text, or a tree policy), number of the case, seed; in games for two the side, 0 or 1; the
    share of the budget that it gets."""

    formula: str | TreePolicy
    case: int
    seed: int
    side: int = 0
    share: float = 1.0


class PlaythroughScore(NamedTuple):
    """What a playthrough ended with: the persona's utility, the metric it is about, and whether it was won (1 or 0)."""

    utility: float
    priority: float
    won: float = 0.0


def mean_score(scores: Sequence[PlaythroughScore]) -> PlaythroughScore:
    """The mean of each value over some playthroughs, at least one."""
    return PlaythroughScore(*(fsum(column) / len(scores) for column in zip(*scores, strict=True)))


class Stop(NamedTuple):
    """When workers stop to begin playthroughs: host's clock `time.time`, and the seconds that a playthrough takes.

    Workers on other hosts, whose clocks may be wrong, are not stopped.
    """

    host: str
    moment: float
    pace: float

    def is_due(self) -> bool:
        """Whether another playthrough would end too late."""
        return time.time() + self.pace > self.moment and socket.gethostname() == self.host


class Workshop:
    """The game, levels and planners of one specification, in one thread of one worker."""

    def __init__(self, spec: FitnessSpec) -> None:
        self.spec = spec
        self.game: Game = registry.get(spec.game)
        whole = spec.league is None and spec.skill is None and spec.budget.seconds is None
        self.side_by_side = whole and isinstance(self.game.outside, PlannedOutside)
        self.utility = parse(spec.utility, self.game.symbols)
        self._planners: dict[int, LevelPlanner | Solo] = {}
        self._large = capacity_for(spec.budget) * len(spec.levels) > _NODES_KEPT

    def policy(self, formula: Formula | str | TreePolicy) -> TreePolicy:
        own = formula if isinstance(formula, TreePolicy) else genome.to_policy(str(formula), self.game)
        return with_lists(own, self.spec.lists)

    def planner(self, case: int) -> LevelPlanner | Solo:
        if case not in self._planners:
            if self._large:
                self._planners.clear()
            self._planners[case] = self._planner(case)
        return self._planners[case]

    def _planner(self, case: int) -> LevelPlanner | Solo:
        number, opponent = divmod(case, len(self.spec.cases) // len(self.spec.levels))
        level, league = self.spec.levels[number], self.spec.league
        loaded = _loaded(self.game, level)
        if league is not None:
            return league.games(self.game, loaded)[opponent]
        if self.spec.skill is not None:
            return Skilled(self.game, loaded, self.spec.skill, self.spec.per_legal_move)
        return planner_for(self.game, loaded, self.spec.search, capacity_for(self.spec.budget))

    def plan(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> Plan:
        planner = self.planner(case)
        if isinstance(planner, Solo):
            return planner.plan(self.utility, policy, budget, seed, side)
        return planner.plan(self.utility, policy, budget, seed)

    def play(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> PlaythroughScore:
        return self._score(self.plan(policy, case, seed, side, budget))

    def _score(self, found: Plan) -> PlaythroughScore:
        return PlaythroughScore(found.utility, found.metrics.get(self.spec.priority, 0.0), float(found.outcome == WON))

    def play_side_by_side(self, trials: Sequence[FitnessTrial], stop: Stop | None) -> list[PlaythroughScore | None]:
        """As `play` of the module, for a connected game: it is waited for in several playthroughs at once."""
        assert isinstance(self.game.outside, PlannedOutside)
        scores = [self._score(found) for found in self.game.outside.plans(self._jobs(trials, stop))]
        return [*scores, *[None] * (len(trials) - len(scores))]

    def _jobs(self, trials: Sequence[FitnessTrial], stop: Stop | None) -> Iterator[PlanJob]:
        for formula, case, seed, _, share in trials:
            if stop is not None and stop.is_due():
                return
            planner = self.planner(case)
            assert not isinstance(planner, Solo)
            yield PlanJob(planner, self.utility, self.policy(formula), self.spec.budget.part(share), seed)


_workshops: WorkerCache[Workshop] = WorkerCache(2)
"""By digest of the specification."""
_levels: WorkerCache[tuple[Game, Level]] = WorkerCache(1_000)
"""Loaded levels, for all specifications; by text and identity of the game."""


def _loaded(game: Game, text: LevelText) -> Level:
    """A level, at hand where this thread has loaded it for another specification."""
    return _levels.get((text, id(game)), lambda: (game, text.load(game)))[1]


def workshop(spec: FitnessSpec) -> Workshop:
    return _workshops.get(spec.digest, lambda: Workshop(spec))


def play(shared: tuple[FitnessSpec, Stop | None], trials: Sequence[FitnessTrial]) -> Iterator[PlaythroughScore | None]:
    """Play some trials, in their order (this is what workers run); None for those that come too late."""
    spec, stop = shared
    shop = workshop(spec)
    if shop.side_by_side:
        yield from shop.play_side_by_side(trials, stop)
        return
    policies: dict[str | TreePolicy, TreePolicy] = {}
    for formula, case, seed, side, share in trials:
        if stop is not None and stop.is_due():
            yield None
            continue
        if formula not in policies:
            policies[formula] = shop.policy(formula)
        yield shop.play(policies[formula], case, seed, side, spec.budget.part(share))


def plans(spec: FitnessSpec, trials: Sequence[FitnessTrial]) -> Iterator[Plan]:
    """What some trials end with, in their order."""
    shop = workshop(spec)
    for formula, case, seed, side, share in trials:
        yield shop.plan(shop.policy(formula), case, seed, side, spec.budget.part(share))


def sample_plan(spec: FitnessSpec, formula: Formula, case: int, budget: Budget) -> Plan:
    """One playthrough of a case with a formula, to look at its states. budget: of one that is planned whole."""
    shop = workshop(spec)
    policy = shop.policy(formula)
    if spec.league is not None or spec.skill is not None:
        return shop.plan(policy, case, 0, 0, spec.budget)
    return plan(shop.game, spec.levels[case].load(shop.game), shop.utility, policy, budget, spec.search, seed=0)
