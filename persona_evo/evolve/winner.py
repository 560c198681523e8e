"""From a hall of fame to one policy: compare on fresh seeds, simplify, and write down where it comes from."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from persona_evo import seeds
from persona_evo.evolve.fitness import Fitness, FitnessSpec, Score
from persona_evo.evolve.islands import Request
from persona_evo.evolve.records import Individual
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import Game

SIMPLIFY_SECONDS = 20.0
"""Time limit of the simplification."""

_SAMPLED_LEVELS = 3
_SAMPLES = 200
_SAMPLE_ITERATIONS = 3000


class Scores(Protocol):
    """What the comparison needs of an evaluation."""

    def scores(self, requests: Sequence[Request]) -> list[list[Score]]: ...


@dataclass(frozen=True)
class Winner:
    """The best individual, and its mean utility and priority metric in each level on fresh seeds."""

    individual: Individual
    scores: tuple[Score, ...]

    @property
    def utility(self) -> float:
        """Mean over levels."""
        return sum(s.utility for s in self.scores) / len(self.scores)

    @property
    def priority(self) -> float:
        """Mean over levels of the metric that the persona is about."""
        return sum(s.priority for s in self.scores) / len(self.scores)


def choose(
    hall: Sequence[Individual], settings: EvolutionSettings, seed: int, levels: int, evaluation: Scores
) -> Winner:
    """The member of the hall that does best on seeds that the evolution never used; of equals the smallest."""
    plan = tuple(
        tuple(seeds.derive(seed, "final", level, trial) for trial in range(settings.final_trials))
        for level in range(levels)
    )
    candidates = sorted(hall, key=lambda i: (-i.fitness, i.size))[: settings.final_candidates]
    results = evaluation.scores([Request(c.formula, plan) for c in candidates])
    winners = [Winner(c, tuple(scores)) for c, scores in zip(candidates, results, strict=True)]
    return min(winners, key=lambda w: (-w.utility, w.individual.size, w.individual.formula))


def simplified(formula: Formula, spec: FitnessSpec) -> tuple[str, str]:
    """(text, what was done): a simpler formula that plays alike, or "" and the reason why there is none."""
    from persona_evo.formula.simplify import simplify
    from persona_evo.search.tree_policy import variables

    game = registry.get(spec.game)
    result = simplify(formula, variables(game), sampled_states(formula, spec), timeout=SIMPLIFY_SECONDS)
    return (result.formula.text if result.replaced else ""), result.reason


def sampled_states(formula: Formula, spec: FitnessSpec) -> list[dict[str, float]]:
    """Variables of the nodes that searches with this formula look at, from some of the levels."""
    from persona_evo.search.plan import Planner
    from persona_evo.search.settings import Budget
    from persona_evo.search.tree_policy import TreePolicy

    game = registry.get(spec.game)
    policy = TreePolicy.of(formula, game)
    utility = parse(spec.utility, game.symbols)
    states: list[dict[str, float]] = []
    for level in spec.levels[:_SAMPLED_LEVELS]:
        loaded = game.load(level.text, level.name, level.source, **dict(level.options))
        planner = Planner(game, loaded, spec.search, _SAMPLE_ITERATIONS + 1)
        planner.plan(utility, policy, Budget(iterations=_SAMPLE_ITERATIONS), seed=0)
        states.extend(planner.samples(_SAMPLES))
    return states


def versions(game: Game | None = None) -> dict[str, str]:
    """Versions of what a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("persona-evo", "numpy", "numba", "deap", "joblib"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "source tree"
    if game is not None:
        found[game.name] = str(game.version)
    return found


def policy_text(
    winner: Winner, config: Mapping[str, Any], fitness: Fitness, run: str, generations: int, evaluations: int
) -> str:
    """The policy file of a run's winner."""
    from persona_evo.store.policies import Policy, meanings

    game = registry.get(str(config["game"]))
    formula = parse(winner.individual.formula)
    short, reason = simplified(formula, fitness.spec)
    names = [level.name for level in fitness.spec.levels]
    policy = Policy(
        name=str(config["persona"]["name"]),
        game=game.name,
        game_version=game.version,
        persona=str(config["persona"]["name"]),
        utility=fitness.spec.utility,
        priority=fitness.spec.priority,
        formula=formula.text,
        simplified=short,
        simplification=reason,
        metrics=meanings(formula, game),
        levels=tuple(names),
        fitness={name: score.utility for name, score in zip(names, winner.scores, strict=True)},
        mean=winner.utility,
        seed=int(config["seed"]),
        budget=fitness.spec.budget.to_dict(),
        search=fitness.spec.search.to_dict(),
        evolution=dict(config["evolution"]),
        run={
            "name": run, "generations": generations, "evaluations": evaluations,
            "trials": int(config["evolution"]["final_trials"]), "born": winner.individual.born,
            "fitness_in_run": winner.individual.fitness,
            "priority": {name: score.priority for name, score in zip(names, winner.scores, strict=True)},
        },
        versions=dict(config["versions"]),
    )  # fmt: skip
    return policy.to_text()
