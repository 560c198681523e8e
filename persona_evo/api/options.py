"""Options that several functions take, with their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict


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
