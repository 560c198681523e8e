"""The fitness of a tree policy: the persona's utility at the end of playthroughs that a search with it plans.

Where an agent plays move by move (`search.duel`), a playthrough is what it played. In a game for two it meets the
opponents of a league, and each pair of a level and an opponent is a case of its own, so that whoever chooses by cases
asks for play that does well against all of them.

A playthrough is a formula, a case, a seed and a side, and nothing else decides its result; so playthroughs are grouped
into tasks as suits the workers, and each worker keeps the levels and the search's memory from one task to the next.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from persona_evo.evolve.islands import Request
from persona_evo.evolve.parallel import Usage, Workers
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.personas.lists import OpenList
from persona_evo.search.duel import League
from persona_evo.search.plan import Plan, capacity_for, plan, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, with_lists

TASK_SECONDS = (0.1, 1.0)
"""Shortest and longest time a task should take: shorter ones cost in traffic, longer ones leave workers waiting."""

_TASKS_PER_WORKER = 4
_GUESS = 300_000.0
"""Iterations per second, until the first playthroughs were timed."""
_QUICKEST = 1e-6
"""Seconds that a playthrough takes at least."""


class LevelText(NamedTuple):
    """A level as it can be sent anywhere: what `game.load` takes."""

    name: str
    text: str
    source: str
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, level: Level) -> LevelText:
        """The text form of a loaded level."""
        return cls(level.name, level.text, level.source, tuple(sorted(level.options.items())))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**self._asdict(), "options": dict(self.options)}

    @property
    def digest(self) -> str:
        """Names its text in seeds. Where the file lies plays no part: the same seed gives the same on every machine."""
        return hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()

    def load(self, game: Game) -> Level:
        """The level again (raises as `game.load` does)."""
        return game.load(self.text, self.name, self.source, **dict(self.options))


@dataclass(frozen=True)
class FitnessSpec:
    """All that decides the result of a playthrough beside formula, level number and seed.

    game: name in the registry, or "module:object". utility: text over the game's metrics. priority: a metric that is
    reported beside the utility, "" for none. search, budget: of a playthrough that is planned whole. league: who plays
    move by move, with their budgets; the template says how it searches then, and the budget is one of a move. lists:
    the persona's open lists, where the search has lists.
    """

    game: str
    levels: tuple[LevelText, ...]
    utility: str
    priority: str
    search: SearchSettings
    budget: Budget
    league: League | None = None
    lists: tuple[OpenList, ...] = ()

    @classmethod
    def of(
        cls, game: str, levels: Sequence[Level], utility: Formula, search: SearchSettings, budget: Budget,
        priority: str = "", league: League | None = None, lists: Sequence[OpenList] = (),
    ) -> FitnessSpec:  # fmt: skip
        """The specification for loaded levels; a league gets the budget, and a search without lists none of them."""
        texts = tuple(LevelText.of(level) for level in levels)
        own = tuple(lists) if search.lists and league is None else ()
        return cls(game, texts, utility.text, priority, search, budget, league and league.with_budget(budget), own)

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """Names of what the fitness is measured on: the levels, or the pairs of a level and an opponent."""
        names = [level.name for level in self.levels]
        return tuple(names if self.league is None else self.league.cases(names))

    @cached_property
    def digest(self) -> str:
        """Names this specification in the workers' memory."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).hexdigest()


class Playthrough(NamedTuple):
    """formula, number of the case, seed; in games for two the side that the formula plays, 0 or 1."""

    formula: str
    case: int
    seed: int
    side: int = 0


class Score(NamedTuple):
    """What a playthrough ended with: the persona's utility, and the metric it is about."""

    utility: float
    priority: float


class _Workshop:
    """The game, levels and planners of one specification, in one thread of one worker."""

    def __init__(self, spec: FitnessSpec) -> None:
        self.spec = spec
        self.game: Game = registry.get(spec.game)
        self.utility = parse(spec.utility, self.game.symbols)
        self._planners: dict[int, Any] = {}

    def policy(self, formula: Formula | str) -> TreePolicy:
        return with_lists(TreePolicy.of(formula, self.game), self.spec.lists)

    def planner(self, case: int) -> Any:
        if case not in self._planners:
            self._planners[case] = self._planner(case)
        return self._planners[case]

    def _planner(self, case: int) -> Any:
        number, opponent = divmod(case, len(self.spec.cases) // len(self.spec.levels))
        level, league = self.spec.levels[number], self.spec.league
        loaded = level.load(self.game)
        if league is not None:
            return league.games(self.game, loaded)[opponent]
        return planner_for(self.game, loaded, self.spec.search, capacity_for(self.spec.budget))

    def plan(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> Plan:
        planner = self.planner(case)
        sides = {} if self.spec.league is None else {"side": side}
        found: Plan = planner.plan(self.utility, policy, budget, seed, **sides)
        return found

    def play(self, policy: TreePolicy, case: int, seed: int, side: int, budget: Budget) -> Score:
        found = self.plan(policy, case, seed, side, budget)
        return Score(found.utility, found.metrics.get(self.spec.priority, 0.0))


_here = threading.local()
_WORKSHOPS = 2
"""Specifications a worker remembers."""


def _workshop(spec: FitnessSpec) -> _Workshop:
    known: dict[str, _Workshop] = getattr(_here, "workshops", {})
    _here.workshops = known
    if spec.digest not in known:
        while len(known) >= _WORKSHOPS:
            del known[next(iter(known))]
        known[spec.digest] = _Workshop(spec)
    return known[spec.digest]


def play(task: tuple[FitnessSpec, Sequence[Playthrough]]) -> list[Score]:
    """Play a task's playthroughs, in their order (this is what workers run)."""
    spec, playthroughs = task
    shop = _workshop(spec)
    scores = []
    policies: dict[str, TreePolicy] = {}
    for formula, case, seed, side in playthroughs:
        if formula not in policies:
            policies[formula] = shop.policy(formula)
        scores.append(shop.play(policies[formula], case, seed, side, spec.budget))
    return scores


def sample_plan(spec: FitnessSpec, formula: Formula, case: int, budget: Budget) -> Plan:
    """One playthrough of a case with a formula, to look at its states. budget: of one that is planned whole."""
    shop = _workshop(spec)
    policy = shop.policy(formula)
    if spec.league is not None:
        return shop.plan(policy, case, 0, 0, spec.budget)
    return plan(shop.game, spec.levels[case].load(shop.game), shop.utility, policy, budget, spec.search, seed=0)


class Fitness:
    """Evaluates requests of the evolution: what `islands.generations` wants as its evaluation.

    Args:
        spec: what is played.
        workers: where.
    """

    def __init__(self, spec: FitnessSpec, workers: Workers) -> None:
        self.spec, self.workers = spec, workers
        seconds = spec.budget.seconds or (spec.budget.iterations or spec.budget.nodes or 0) / _GUESS
        self._pace = max(_QUICKEST, seconds)
        self._warm = False

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        """For each request the mean utility of each case."""
        return [[score.utility for score in levels] for levels in self.scores(requests)]

    def scores(self, requests: Sequence[Request]) -> list[list[Score]]:
        """For each request the mean of utility and priority in each case.

        In a game for two the first trial's side follows from its seed, so all who play with the same seeds have the
        same sides; from then on the sides alternate.
        """
        sides = 1 if self.spec.league is None else self.spec.league.sides
        all_played = [
            Playthrough(request.formula, case, seed, (trials[0] + trial) % sides)
            for request in requests
            for case, trials in enumerate(request.seeds)
            for trial, seed in enumerate(trials)
        ]
        results = iter(self._play(all_played))
        return [[_mean([next(results) for _ in trials]) for trials in request.seeds] for request in requests]

    def usage(self) -> Usage:
        """How well the cores were used since the last call."""
        return self.workers.usage()

    def _play(self, playthroughs: Sequence[Playthrough]) -> list[Score]:
        if not playthroughs:
            return []
        self._compile(playthroughs[0])
        step = self._group(len(playthroughs))
        tasks = [(self.spec, playthroughs[i : i + step]) for i in range(0, len(playthroughs), step)]
        started = time.perf_counter()
        scores = [score for part in self.workers.map(play, tasks) for score in part]
        seconds = (time.perf_counter() - started) * min(self.workers.jobs, len(tasks))
        self._pace = max(_QUICKEST, 0.5 * self._pace + 0.5 * seconds / len(playthroughs))
        return scores

    def _group(self, n: int) -> int:
        """Playthroughs in a task."""
        low, high = TASK_SECONDS
        wanted = min(high, max(low, n * self._pace / (self.workers.jobs * _TASKS_PER_WORKER)))
        return max(1, min(n, round(wanted / self._pace)))

    def _compile(self, one: Playthrough) -> None:
        """Have everything compiled and on disk before workers all start to do the same."""
        if not self._warm:
            shop = _workshop(self.spec)
            shop.play(shop.policy(one.formula), one.case, one.seed, one.side, Budget(iterations=1))
            self._warm = True


def _mean(scores: Sequence[Score]) -> Score:
    n = len(scores)
    return Score(sum(s.utility for s in scores) / n, sum(s.priority for s in scores) / n)


def spec_to_dict(spec: FitnessSpec) -> dict[str, Any]:
    """A specification as plain values for a run's configuration."""
    return {
        "levels": [level.to_dict() for level in spec.levels],
        "utility": spec.utility,
        "search": spec.search.to_dict(),
        "budget": spec.budget.to_dict(),
        **({} if spec.league is None else {"league": spec.league.to_dict()}),
        **({"lists": [one.to_dict() for one in spec.lists]} if spec.lists else {}),
    }


def spec_from_dict(game: str, priority: str, values: Mapping[str, Any]) -> FitnessSpec:
    """The inverse of `spec_to_dict`; KeyError, TypeError or an InputError where the values are not a specification."""
    return FitnessSpec(
        game=game,
        levels=tuple(
            LevelText(level["name"], level["text"], level["source"], tuple(sorted(level["options"].items())))
            for level in values["levels"]
        ),
        utility=values["utility"],
        priority=priority,
        search=SearchSettings.from_dict(values["search"]),
        budget=Budget.from_dict(values["budget"]),
        league=League.from_dict(values["league"], registry.get(game)) if "league" in values else None,
        lists=tuple(OpenList.from_dict(one) for one in values.get("lists", ())),
    )
