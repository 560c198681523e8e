"""The cost of an evolution."""

from __future__ import annotations

from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.islands import Request, generations
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.jobs.workers import Workers
from persona_evo.personas import catalog
from persona_evo.search.settings import Budget, SearchSettings

from .levels import game, training_maps
from .report import FIGURE, Row, judge

MINUTES = 20.0
GENERATIONS = 100
JOBS = 2


def _spec(persona: str, iterations: int) -> FitnessSpec:
    chosen = next(p for p in catalog(game()) if p.name == persona)
    return FitnessSpec.of(
        "minidungeons2",
        training_maps(),
        chosen.utility,
        SearchSettings.paper(),
        Budget(iterations=iterations),
        chosen.priority,
    )


def measure_cost(quick: bool, full: bool) -> list[Row]:
    """Measure the paper's evolution of each persona on two cores.

    Either all generations run, or a few, from which the time of the others is estimated.
    """
    names = ["runner", "monster_killer", "treasure_collector", "completionist"]
    made = GENERATIONS if full else (2 if quick else 12)
    rows = []
    for name in names[: 1 if quick else len(names)]:
        seconds = _evolve(name, made, 200 if quick else 10_000)
        rest = GENERATIONS - made
        later = seconds[len(seconds) // 2 :]
        minutes = (sum(seconds) + rest * sum(later) / len(later)) / 60
        what = f"the paper's evolution of the {name}: {GENERATIONS} generations x 100 x 6 maps x 10,000 iterations"
        measured = f"{minutes:.1f} minutes on {JOBS} jobs"
        if rest:
            measured += f", from {made} generations ({seconds[0]:.1f} s the first, {seconds[-1]:.1f} s the last)"
        row = judge(what, f"under {MINUTES:.0f} minutes", measured, MINUTES / minutes)
        rows.append(row if not quick else Row(what, row.reach, "only tried, at 200 iterations", None, FIGURE))
    return rows


def _evolve(persona: str, made: int, iterations: int) -> list[float]:
    """Return the seconds of each of the first `made` generations under the paper's preset."""
    settings = EvolutionSettings.paper(generations=made)
    with Workers(JOBS) as workers:
        fitness = Fitness(_spec(persona, iterations), workers)
        fitness([Request("R", tuple((1,) for _ in training_maps()))])
        course = generations(settings, 1, fitness, metrics=metrics_of(settings, game()), levels=len(training_maps()))
        return [generation.seconds for generation in course]
