"""Options that several functions take, with their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from persona_evo.api.search_rules import SearchRules

if TYPE_CHECKING:
    from persona_evo.api.results import Results
    from persona_evo.games.core import Game
    from persona_evo.jobs.progress import Tell
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest.bounds import Tell as BoundProgress
    from persona_evo.search.settings import Budget


Notice = Callable[[str], None]
"""Called with each remark on the arguments."""


class SearchOptions(SearchRules, total=False):
    """How the players of a playtest search, and whom they meet.

    Attributes:
        league: in two-player games, the opponents (see `matches.names`); the game's own if not given.
        agent: the agent that plays with the policies, move by move. Without one, single-player games are planned whole.
    """

    league: Sequence[str]
    agent: str


class ExpectationOptions(TypedDict, total=False):
    """What the results of a playtest are measured against. All of it is checked before anything is played.

    Attributes:
        require: requirements such as "runner.win_rate >= 95%"; `Results.analysis` says which of them hold.
        calibrate: a CSV file with the columns level and pass_rate, with which the players' win rates are correlated.
        accept: a file of accepted findings (see `persona_evo.games.acceptance`).
        bound_seconds: seconds to search for the best possible utility of each persona in each level; 0 for none.
        bound_progress: called with the number of finished searches for the best utility, and of all.
    """

    require: Sequence[str]
    calibrate: str | Path | None
    accept: str | Path | None
    bound_seconds: float
    bound_progress: BoundProgress | None


class PlaytestOptions(SearchOptions, ExpectationOptions, total=False):
    """Further options of a playtest."""


class PlayingOptions(TypedDict, total=False):
    """How much a playtest plays, and where it is kept; `playtest_levels` explains it."""

    trials: int
    iterations: int | None
    seconds: float | None
    budget: Budget | None
    seed: int | None
    skills: Sequence[str]
    continuation: float
    game: str | Game | None
    folder: str | Path | None
    jobs: int
    workers: Workers | None
    progress: Tell | None
    begun: Callable[[Results], None] | None
    notice: Notice


class ComparisonOptions(PlaytestOptions, PlayingOptions, total=False):
    """All options of a comparison."""


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
    terms: str
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
    proof: int
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
