"""The allowed values of the evolution's settings, and the values of the presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

POOLS = ("tournament", "top5", "rank", "lexicase")
FUNCTIONS = ("basic", "extended")
VARIABLES = ("metrics", "paper", "extended", "planner", "parent")
PLANNED = ("planner", "parent")
"""Values of `variables` that only plans of whole levels have."""
GROWTHS = ("grow", "full", "half", "sums")
TERMS = ("random", "game")
TOPOLOGIES = ("ring", "random")
DUPLICATES = ("off", "canonical", "behaviour")
MUTATIONS = ("new", "subtree", "point", "constant", "hoist", "shrink", "term")
ADDED = {"pool": "persona_evo.selections", "mutations": "persona_evo.mutations"}
"""Settings whose values other packages can add: the group of their entry points (see `extensions`)."""
BY_SEARCH, FORMULA, LISTS = INDIVIDUALS = ("search", "formula", "lists")
"""What an individual is: what the search takes, one formula, or a planner's open lists."""

SMALL_ISLAND = 10
"""The size below which, by default, a quarter of an island are elites and a quarter migrants."""

MODERN_MUTATIONS = {"subtree": 3.0, "point": 2.0, "constant": 2.0, "hoist": 1.0, "shrink": 1.0, "new": 1.0}

PAPER: Mapping[str, Any] = {
    "runs": 3,
    "functions": "basic",
    "variables": "paper",
    "costly": False,
    "constant_low": 0.0,
    "growth": "grow",
    "size_limit": 511,
    "pool": "tournament",
    "mutation": 0.1,
    "mutations": {"new": 1.0},
    "crossover": 1.0,
    "common_seeds": False,
    "proof": 0,
    "reevaluations": 1,
    "rounds": 0,
    "duplicates": "off",
    "unique_tries": 0,
    "prefer_small": False,
    "first": (),
    "preset": "paper",
}
"""The differences of the published protocol from the preset `modern`."""

SAMPLING: Mapping[str, Any] = {
    "population": 60,
    "islands": 2,
    "elites": 3,
    "migrants": 2,
    "growth": "sums",
    "terms": "game",
    "depth_min": 1,
    "depth_max": 4,
    "size_limit": 63,
    "mutation": 0.7,
    "mutations": {**MODERN_MUTATIONS, "term": 12.0},
    "crossover": 0.4,
    "levels_a_generation": 16,
    "race_from": 4,
    "parsimony": 0.002,
    "tuning": 0.3,
    "reevaluations": 1,
    "rounds": 0,
    "unique_tries": 10,
}
"""The differences from `modern` if each generation plays some of many levels: small generations that race."""


LOWEST: dict[str, int] = {
    "population": 2,
    "islands": 1,
    "generations": 1,
    "runs": 1,
    "depth_min": 1,
    "depth_max": 1,
    "depth_limit": 1,
    "size_limit": 3,
    "levels_a_generation": 0,
    "proof": 0,
    "race_from": 0,
    "migration_every": 0,
    "migrants": 0,
    "pool_size": 1,
    "tournament": 1,
    "elites": 0,
    "trials": 1,
    "reevaluations": 1,
    "rounds": 0,
    "memory": 0,
    "unique_tries": 0,
    "hall_of_fame": 1,
    "final_candidates": 1,
    "final_trials": 1,
}

HIGHEST: dict[str, int] = {
    "population": 1_000_000,
    "islands": 10_000,
    "generations": 1_000_000,
    "runs": 10_000,
    "depth_min": 100,
    "depth_max": 100,
    "depth_limit": 100,
    "trials": 100_000,
    "reevaluations": 10_000,
    "rounds": 10_000,
    "memory": 10_000_000,
    "unique_tries": 10_000,
    "hall_of_fame": 100_000,
    "final_candidates": 100_000,
    "final_trials": 100_000,
}
MOST = 1_000_000
"""The highest value of settings that are not listed."""

CHOICES: dict[str, tuple[str, ...]] = {
    "functions": FUNCTIONS,
    "variables": VARIABLES,
    "growth": GROWTHS,
    "terms": TERMS,
    "topology": TOPOLOGIES,
    "pool": POOLS,
    "duplicates": DUPLICATES,
    "individual": INDIVIDUALS,
}


NUMBERS = ("mutation", "crossover", "wins", "tuning", "parsimony", "constant_low", "constant_high")
"""Settings that may be fractions."""
