"""From a hall of fame to one policy: compare on fresh seeds, simplify, and write down where it comes from."""

from __future__ import annotations

import importlib.metadata
import platform
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from persona_evo import seeds
from persona_evo.evolve.fitness import Fitness, FitnessSpec, Score, sample_plan
from persona_evo.evolve.islands import Request
from persona_evo.evolve.records import Individual
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, Game, Level

SIMPLIFY_SECONDS = 20.0
"""Time limit of the simplification."""

_SAMPLED_LEVELS = 3
_SAMPLED_MOVES = 60
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

    order = variables(registry.get(spec.game))
    rows, groups = sampled_choices(formula, spec)
    result = simplify(formula, order, rows, SIMPLIFY_SECONDS, groups=groups, choice_only=True)
    return (result.formula.text if result.replaced else ""), result.reason


def sampled_choices(formula: Formula, spec: FitnessSpec) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """States that a search with this formula has to choose between, from some of the levels.

    Returns:
        rows: float64[n, variables], metrics of the children of the states along the plan that was found, with values
            of the search's variables that a search could have. groups: int64[n], whose children they are.
    """
    from persona_evo.search.settings import Budget
    from persona_evo.search.tree_policy import variables

    game = registry.get(spec.game)
    utility = parse(spec.utility, game.symbols)
    stream = random.Random(0)
    rows: list[list[float]] = []
    groups: list[int] = []
    group = 0
    each = len(spec.cases) // len(spec.levels)
    for number, level in enumerate(spec.levels[:_SAMPLED_LEVELS]):
        loaded = level.load(game)
        found = sample_plan(spec, formula, number * each, Budget(iterations=_SAMPLE_ITERATIONS))
        moves = found.actions[:_SAMPLED_MOVES]
        states = game.replay(loaded, moves, rng=seeds.stream(found.seed), seed=found.seed)
        for depth, children in enumerate(_children(game, loaded, states), 1):
            visits = float(stream.randint(1, _SAMPLE_ITERATIONS))
            for metrics in children:
                known = {**metrics, **_estimates(utility.evaluate(metrics), visits, depth, stream)}
                rows.append([known[v] for v in variables(game)])
                groups.append(group)
            group += 1
    return np.array(rows).reshape(-1, len(variables(game))), np.array(groups, dtype=np.int64)


def _estimates(value: float, visits: float, depth: int, stream: random.Random) -> dict[str, float]:
    """Search variables of a child that is worth `value`, `depth` moves from the root, whose parent has `visits`."""
    own = float(stream.randint(1, int(visits)))
    spread = stream.random()
    best = value + spread * stream.random()
    mean = value - spread * stream.random()
    return {"R": 0.75 * mean + 0.25 * best, "N": own, "P": visits, "D": float(depth), "RMAX": best, "RSD": spread}


def _children(game: Game, level: Level, states: Sequence[Any]) -> Iterator[list[dict[str, float]]]:
    """The metrics of all children of each state along a playthrough, as whoever moves there sees them."""
    step = game.rules().step
    for state in states:
        if game.over(level, state) != RUNNING:
            continue
        children, mover = [], int(game.rules().mover(level.tables, state))
        for action in game.legal(level, state):
            child = state.copy()
            step(level.tables, child, action, np.ones(2, dtype=np.int64))
            children.append(game.measure(level, child, mover))
        yield children


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
    names, league = fitness.spec.cases, fitness.spec.league
    template = {} if league is None else league.to_dict()["agent"]
    if template:
        template["utility"] = template["utility"] or fitness.spec.utility
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
        levels=tuple(level.name for level in fitness.spec.levels),
        fitness={name: score.utility for name, score in zip(names, winner.scores, strict=True)},
        mean=winner.utility,
        seed=int(config["seed"]),
        budget=fitness.spec.budget.to_dict(),
        search=fitness.spec.search.to_dict(),
        agent=template,
        evolution=dict(config["evolution"]),
        run={
            **({"opponents": [o.name for o in league.opponents]} if league and league.opponents else {}),
            "name": run, "generations": generations, "evaluations": evaluations,
            "trials": int(config["evolution"]["final_trials"]), "born": winner.individual.born,
            "fitness_in_run": winner.individual.fitness,
            "priority": {name: score.priority for name, score in zip(names, winner.scores, strict=True)},
        },
        versions=dict(config["versions"]),
    )  # fmt: skip
    return policy.to_text()
