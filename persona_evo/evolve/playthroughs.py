"""Plays the playthroughs that measure a fitness, in the workers.

Only the formula, the case, the seed and the side decide the result of a playthrough. Playthroughs can therefore go to
any worker (see `jobs.dispatch`), and each worker keeps the levels and the search's memory from one to the next.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from persona_evo.agents.duel import Solo
from persona_evo.agents.skilled_player import Skilled
from persona_evo.evolve import genome
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.formula import Formula, parse
from persona_evo.formula.native import compile_all
from persona_evo.games import registry
from persona_evo.games.cluster_games import playing
from persona_evo.games.core import WON, Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.cache import WorkerCache
from persona_evo.search.plan import (
    LevelPlanner,
    Plan,
    PlanJob,
    PlannedOutside,
    Planner,
    capacity_for,
    plan,
    planner_for,
)
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy, with_lists

_NODES_KEPT = 20_000_000
"""The highest number of nodes for which a worker keeps its memory and does not allocate it anew (4 GB in MiniDungeons
2). If the planners of all levels have more, one of them is kept.
"""


class FitnessTrial(NamedTuple):
    """One trial of a policy.

    It consists of what plays (a formula's text or a tree policy), the number of the case, the seed, the side in
    two-player games (0 or 1), and the share of the budget.
    """

    formula: str | TreePolicy
    case: int
    seed: int
    side: int = 0
    share: float = 1.0


class PlaythroughScore(NamedTuple):
    """The scores of a playthrough: the persona's utility, its priority metric, and whether it was won (1 or 0)."""

    utility: float
    priority: float
    won: float = 0.0


def mean_score(scores: Sequence[PlaythroughScore]) -> PlaythroughScore:
    """Return the mean of each value over some playthroughs, at least one."""
    return PlaythroughScore(*(fsum(column) / len(scores) for column in zip(*scores, strict=True)))


class Stop(NamedTuple):
    """When workers stop beginning playthroughs: the host's `time.time`, and the seconds that a playthrough takes.

    Workers on other hosts, whose clocks may be wrong, are not stopped.
    """

    host: str
    moment: float
    pace: float

    def is_due(self, playthroughs: int = 1) -> bool:
        """Return whether so many playthroughs, none of which is finished, would end too late."""
        return time.time() + playthroughs * self.pace > self.moment and socket.gethostname() == self.host

    def until(self) -> float | None:
        """Return the moment on this process's `time.monotonic`; None on another host."""
        return time.monotonic() + self.moment - time.time() if socket.gethostname() == self.host else None


class Workshop:
    """The game, levels and planners of one specification in one thread of one worker."""

    def __init__(self, spec: FitnessSpec) -> None:
        self.spec = spec
        self.game: Game = registry.get(spec.game)
        whole = spec.league is None and spec.skill is None and spec.budget.seconds is None
        self.side_by_side = whole and isinstance(self.game.outside, PlannedOutside)
        self.utility = parse(spec.utility, self.game.symbols)
        self._planners: dict[int, LevelPlanner | Solo] = {}
        self._large = capacity_for(spec.budget) * len(spec.levels) > _NODES_KEPT

    def policy(self, formula: Formula | str | TreePolicy) -> TreePolicy:
        own = formula if isinstance(formula, TreePolicy) else _policy(str(formula), self.game)
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
            return Skilled(self.game, loaded, self.spec.skill, self.spec.per_legal_move, self.spec.search.seeds)
        return planner_for(self.game, loaded, self.spec.search, capacity_for(self.spec.budget))

    def plan(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> Plan:
        planner = self.planner(case)
        if isinstance(planner, Solo):
            return planner.plan(self.utility, policy, budget, seed, side)
        return planner.plan(self.utility, policy, budget, seed)

    def prepare(self, trials: Sequence[FitnessTrial]) -> None:
        """Compile the formulas of some trials together, which takes half as long as one by one."""
        planner = self.planner(trials[0].case)
        if isinstance(planner, Planner):
            policies = [self.policy(formula) for formula in dict.fromkeys(trial.formula for trial in trials)]
            sources = [planner.sources(self.utility, policy, self.spec.budget) for policy in policies]
            compile_all([one for found in sources for one in found])

    def play(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> PlaythroughScore:
        return self._score(self.plan(policy, case, seed, side, budget))

    def _score(self, found: Plan) -> PlaythroughScore:
        return PlaythroughScore(found.utility, found.metrics.get(self.spec.priority, 0.0), float(found.outcome == WON))

    def play_side_by_side(self, trials: Sequence[FitnessTrial], stop: Stop | None) -> list[PlaythroughScore | None]:
        """Play trials of a connected game like the module's `play`, but several at once, as each waits for the game."""
        assert isinstance(self.game.outside, PlannedOutside)
        scores: list[PlaythroughScore] = []
        plans = self.game.outside.plans(self._jobs(trials, stop, scores), None if stop is None else stop.until())
        for found in plans:
            scores.append(self._score(found))
        return [*scores, *[None] * (len(trials) - len(scores))]

    def _jobs(
        self, trials: Sequence[FitnessTrial], stop: Stop | None, finished: Sequence[PlaythroughScore]
    ) -> Iterator[PlanJob]:
        """Yield the trials until those that have begun and are not among the finished ones fill the time."""
        for begun, (formula, case, seed, _, share) in enumerate(trials):
            if stop is not None and stop.is_due(1 + begun - len(finished)):
                return
            planner = self.planner(case)
            assert not isinstance(planner, Solo)
            yield PlanJob(planner, self.utility, self.policy(formula), self.spec.budget.part(share), seed)


_workshops: WorkerCache[Workshop] = WorkerCache(2)
"""The workshops by the digest of their specification."""
_levels: WorkerCache[tuple[Game, Level]] = WorkerCache(1_500)
"""The loaded levels of all specifications, by their text and the identity of the game: a pool of 1,000 and more."""


def _loaded(game: Game, text: LevelText) -> Level:
    """Return a level, from the cache if this thread has loaded it for another specification."""
    return _levels.get((text, id(game)), lambda: (game, text.load(game)))[1]


@lru_cache(maxsize=1_024)
def _policy(text: str, game: Game) -> TreePolicy:
    """Return the tree policy of a text, the same object for each of its playthroughs."""
    return genome.to_policy(text, game)


def workshop(spec: FitnessSpec) -> Workshop:
    return _workshops.get(spec.digest, lambda: Workshop(spec))


def play(shared: tuple[FitnessSpec, Stop | None], trials: Sequence[FitnessTrial]) -> Iterator[PlaythroughScore | None]:
    """Play some trials in their order (run by workers); yield None for those that come too late."""
    spec, stop = shared
    with playing(spec.game, spec.home):
        shop = workshop(spec)
        if shop.side_by_side:
            yield from shop.play_side_by_side(trials, stop)
            return
        if trials and (stop is None or not stop.is_due()):
            shop.prepare(trials)
        for formula, case, seed, side, share in trials:
            if stop is not None and stop.is_due():
                yield None
                continue
            yield shop.play(shop.policy(formula), case, seed, side, spec.budget.part(share))


def plans(spec: FitnessSpec, trials: Sequence[FitnessTrial]) -> Iterator[Plan]:
    """Yield the plans of some trials in their order."""
    shop = workshop(spec)
    for formula, case, seed, side, share in trials:
        yield shop.plan(shop.policy(formula), case, seed, side, spec.budget.part(share))


def sample_plan(spec: FitnessSpec, formula: Formula, case: int, budget: Budget) -> Plan:
    """Play one playthrough of a case with a formula, to sample its states.

    Args:
        budget: the budget of a playthrough that is planned as a whole.
    """
    shop = workshop(spec)
    policy = shop.policy(formula)
    if spec.league is not None or spec.skill is not None:
        return shop.plan(policy, case, 0, 0, spec.budget)
    return plan(shop.game, spec.levels[case].load(shop.game), shop.utility, policy, budget, spec.search, seed=0)
