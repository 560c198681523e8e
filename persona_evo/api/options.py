"""Options that several functions take, with their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from persona_evo.api.search_rules import SearchLike

if TYPE_CHECKING:
    from persona_evo.api.expectations import Notice
    from persona_evo.api.results import Results
    from persona_evo.jobs.progress import Tell
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest.bounds import Tell as BoundProgress
    from persona_evo.search.settings import Budget


class SearchRules(TypedDict, total=False):
    """The rules of a search; `playtest_levels` explains them."""

    search: SearchLike | None
    hedge: float | None
    tolerance: float | None
    selection_rule: str | None
    rollout_policy: str | None


class SearchOptions(SearchRules, total=False):
    """How the players of a playtest search and whom they meet; `playtest_levels` explains it."""

    league: Sequence[str]
    agent: str


class ExpectationOptions(TypedDict, total=False):
    """What the results of a playtest are measured against; `playtest_levels` explains it."""

    require: Sequence[str]
    calibrate: str | Path | None
    accept: str | Path | None
    bound_seconds: float
    bound_progress: BoundProgress | None


class PlaytestOptions(TypedDict, total=False):
    """How much a playtest plays, and where it is kept; `playtest_levels` explains it."""

    trials: int
    iterations: int | None
    seconds: float | None
    budget: Budget | None
    seed: int | None
    jobs: int
    folder: str | Path | None
    progress: Tell | None
    continuation: float
    skills: Sequence[str]
    workers: Workers | None
    begun: Callable[[Results], None] | None
    notice: Notice


class EvolutionChanges(TypedDict, total=False):
    """Single values of `EvolutionSettings` that differ from a preset; that class explains them."""

    population: int
    islands: int
    generations: int
    runs: int
    functions: str
    variables: str
    metrics: Sequence[str]
    costly: bool
    constant_low: float
    constant_high: float
    growth: str
    depth_min: int
    depth_max: int
    depth_limit: int
    size_limit: int
    migration_every: int
    migrants: int
    topology: str
    pool: str
    pool_size: int
    tournament: int
    elites: int
    mutation: float
    mutations: Mapping[str, float]
    crossover: float
    trials: int
    levels_a_generation: int
    race_from: int
    budgets: Sequence[float]
    wins: float
    parsimony: float
    tuning: float
    common_seeds: bool
    reevaluations: int
    rounds: int
    duplicates: str
    memory: int
    unique_tries: int
    prefer_small: bool
    individual: str
    first: Sequence[str]
    hall_of_fame: int
    final_candidates: int
    final_trials: int
