"""What an evolution costs, and what a second core is worth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.islands import Request, generations
from persona_evo.evolve.parallel import Workers, cores
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.personas import catalog
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.seeds import derive, stream

from . import native
from .levels import game, training_maps
from .report import FIGURE, Row, judge

MINUTES = 20.0
GENERATIONS = 100
JOBS = 2


def _spec(persona: str, iterations: int) -> FitnessSpec:
    chosen = next(p for p in catalog(game()) if p.name == persona)
    return FitnessSpec.of("minidungeons2", training_maps(), chosen.utility, SearchSettings.paper(),
                          Budget(iterations=iterations), chosen.priority)  # fmt: skip


def measure_cost(quick: bool, full: bool) -> list[Row]:
    """The paper's evolution of each persona on two cores: whole, or a few generations early and, bred on, late."""
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
    """Seconds of each of the first `made` generations under the paper's preset."""
    settings = EvolutionSettings.paper(generations=made)
    with Workers(JOBS) as workers:
        fitness = Fitness(_spec(persona, iterations), workers)
        fitness([Request("R", tuple((1,) for _ in training_maps()))])
        course = generations(settings, 1, fitness, metrics=metrics_of(settings, game()), levels=len(training_maps()))
        return [generation.seconds for generation in course]


def _requests(count: int) -> list[Request]:
    """Evaluations as a first generation has them: random formulas of the paper's generator."""
    settings = EvolutionSettings.paper(population=count, islands=1, elites=1, migrants=1, generations=1)
    asked: list[Request] = []

    def remember(requests: Sequence[Request]) -> list[list[float]]:
        asked.extend(requests)
        return [[0.0] * len(training_maps()) for _ in requests]

    next(generations(settings, derive(5, "benchmark"), remember, metrics=metrics_of(settings, game()),
                     levels=len(training_maps())))  # fmt: skip
    return asked


def _ceiling(turns: int) -> float:
    """What a second core is worth to C at this moment: playouts in two threads against one; 0 without a compiler."""
    level = training_maps()[0]

    def work(number: int) -> None:
        native.playouts(level, turns, 200, stream(number))

    try:
        native.library()
    except native.Unavailable:
        return 0.0
    seconds = []
    with ThreadPoolExecutor(JOBS) as pool:
        for count in (1, JOBS):
            began = time.perf_counter()
            list(pool.map(work, range(count)))
            seconds.append(time.perf_counter() - began)
    return JOBS * seconds[0] / seconds[1]


def measure_jobs(quick: bool) -> list[Row]:
    """How much faster two processes evaluate the same formulas than one, workers started and warm."""
    requests = _requests(20 if quick else 100)
    spec = _spec("monster_killer", 500 if quick else 10_000)
    best = {1: float("inf"), JOBS: float("inf")}
    results, share, ceiling = {}, 0.0, 0.0
    with Workers(1) as alone, Workers(JOBS) as both:
        fits = {1: Fitness(spec, alone), JOBS: Fitness(spec, both)}
        for fitness in fits.values():
            fitness(requests[: 4 * JOBS])
        for _ in range(1 if quick else 3):
            ceiling = max(ceiling, _ceiling(2_000_000 if quick else 20_000_000))
            for jobs, fitness in fits.items():
                fitness.usage()
                began = time.perf_counter()
                results[jobs] = fitness(requests)
                best[jobs] = min(best[jobs], time.perf_counter() - began)
            share = max(share, fits[JOBS].usage().share)
    ratio = best[1] / best[JOBS]
    same = "same results" if results[1] == results[JOBS] else "DIFFERENT results"
    measured = f"{best[1]:.1f} s with 1, {best[JOBS]:.1f} s with {JOBS}, {cores()} cores, {same}"
    measured += f"; workers busy {share:.0%}"
    if ceiling:
        measured += f"; {JOBS} plain C loops side by side come to {ceiling:.2f} here"
    what = f"speed-up of {JOBS} jobs over 1, {len(requests)} evaluations on 6 maps (wall clock; wants an idle machine)"
    return [judge(what, "at least 1.8", measured, ratio, 1.8)]
