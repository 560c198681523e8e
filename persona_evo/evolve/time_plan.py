"""How large an evolution may be so that it ends within the time that it is given.

A playthrough is timed before the evolution begins. Where there is no time for at least GENERATIONS generations, the
population is made smaller, and then the budget of each playthrough, as far as nobody has chosen these. What was chosen
is told, since the same choices without a time limit give the same evolution on any machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from persona_evo.errors import SettingsError
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.pools import VALIDATION
from persona_evo.evolve.sampled import SET_APART, CaseCounts
from persona_evo.evolve.schedule import DESCRIBE_SECONDS, END_SHARE
from persona_evo.evolve.setting_values import SMALL_ISLAND
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games import registry
from persona_evo.jobs.workers import Workers, lent
from persona_evo.words import counted, duration

GENERATIONS = 10
"""Generations that there should be time for; fewer hardly improve on what an evolution starts from."""
SMALLEST = 20
"""Individuals of the smallest population that is chosen."""
FEWEST, FEWEST_OUTSIDE = 1_000, 50
"""Iterations of the smallest budget that is chosen, and rollouts in a game that runs elsewhere."""
START_SECONDS = 4.0
"""Seconds until workers have started and have loaded the game."""
LATE = 1.5
"""A first generation that takes so many times longer than there is time for it is not begun: the estimate is rough."""

POPULATION, ISLANDS, ITERATIONS = "population", "islands", "iterations"
"""What may be chosen by the time; somebody else's choices among these are kept."""


@dataclass(frozen=True)
class TimePlan:
    """An evolution that fits into its time.

    Attributes:
        task: the task, with the sizes that were chosen.
        chosen: the sizes that are not those that were asked for, by name.
        playthrough: seconds of one core that a playthrough takes.
        generation: seconds that a generation takes on all cores.
        generations: how many generations there is time for, at most those of the settings.
        until: when everything is done.
    """

    task: EvolutionTask
    chosen: dict[str, int]
    playthrough: float
    generation: float
    generations: int
    until: datetime

    def lines(self) -> list[str]:
        """What was chosen, and what will be done by when, for people."""
        settings = self.task.settings
        found = []
        if self.chosen:
            sizes = " ".join(f"--{name} {value}" for name, value in self.chosen.items())
            found.append(f"sizes chosen to fit the time: {sizes}")
        series = f"{counted(settings.runs, 'run')} of about " if settings.runs > 1 else "about "
        found.append(
            f"a playthrough takes {_seconds(self.playthrough)} on one core: there is time for {series}"
            f"{counted(self.generations, 'generation')} of {_seconds(self.generation)}, "
            f"and everything is done by {self.until:%H:%M:%S}"
        )
        return found


def plan(task: EvolutionTask, workers: Workers, deadline: float, fixed: Collection[str] = ()) -> TimePlan:
    """Choose the sizes with which an evolution ends by a deadline.

    Args:
        task: what is asked for.
        workers: who will play.
        deadline: moment on `time.monotonic`.
        fixed: which of POPULATION, ISLANDS and ITERATIONS stay as they are.

    Raises:
        SettingsError: there is no time for one generation, however small.
    """
    cases, runs = _cases(task), task.settings.runs
    with lent(workers, alone=registry.alone(task.game)) as own:
        fitness, jobs = Fitness(task.spec, own), own.jobs
        fitness.time_one(task.spec.utility)
    left = deadline - time.monotonic()
    starting = START_SECONDS if jobs > 1 else 0.0
    usable = max(0.0, (1.0 - END_SHARE) * ((left - starting) / runs - DESCRIBE_SECONDS))
    settings, budget = task.settings, task.spec.budget
    wanted = min(GENERATIONS, settings.generations)
    each = fitness.pace / jobs

    def seconds(s: EvolutionSettings) -> float:
        return each * cases.first_generation(s)

    if wanted * seconds(settings) > usable and POPULATION not in fixed:
        settings = _smaller(settings, usable / wanted / seconds(settings), ISLANDS in fixed)
    planned = task.skilled is None and task.league is None
    if wanted * seconds(settings) > usable and ITERATIONS not in fixed and planned and budget.iterations:
        least = FEWEST if task.game.outside is None else FEWEST_OUTSIDE
        iterations = _rounded(budget.iterations * usable / (wanted * seconds(settings)))
        iterations = min(budget.iterations, max(least, iterations))
        each *= iterations / budget.iterations
        budget = replace(budget, iterations=iterations)
    needed = seconds(settings)
    if needed > LATE * usable:
        minutes = math.ceil((starting + runs * (wanted * needed / (1.0 - END_SHARE) + DESCRIBE_SECONDS)) / 60)
        raise SettingsError(
            "the time is too short for a single generation",
            found=f"{duration(max(0.0, left))} left",
            expected=f"at least about {duration(starting + runs * (needed / (1.0 - END_SHARE) + DESCRIBE_SECONDS))}, "
            f"as a generation takes {_seconds(needed)}",
            hint=f"{minutes} min are enough for {counted(wanted, 'generation')}; fewer levels need less",
        )
    sizes = {
        POPULATION: (task.settings.population, settings.population),
        ISLANDS: (task.settings.islands, settings.islands),
        ITERATIONS: (task.spec.budget.iterations, budget.iterations),
    }
    chosen = {name: after for name, (before, after) in sizes.items() if after is not None and after != before}
    fitting = replace(task, settings=settings, budget=budget if ITERATIONS in chosen else task.budget)
    until = datetime.now() + timedelta(seconds=left)
    generations = min(settings.generations, max(1, int(usable / needed)))
    return TimePlan(fitting, chosen, each * jobs, needed, generations, until)


def _cases(task: EvolutionTask) -> CaseCounts:
    """The cases that a run of the task trains and compares on."""
    count, levels = len(task.spec.cases), len(task.levels)
    if not task.settings.levels_a_generation:
        return CaseCounts(count, 0)
    each = count // levels
    if task.pools:
        return CaseCounts(count, each * len(task.pools["validation"].levels))
    apart = each * min(VALIDATION, levels // SET_APART)
    return CaseCounts(count - apart, apart)


def _smaller(settings: EvolutionSettings, share: float, keep_islands: bool) -> EvolutionSettings:
    """Settings with about that share of the population, at least SMALLEST, on islands that are not too small."""
    wanted = max(min(SMALLEST, settings.population), int(share * settings.population))
    least = max(SMALL_ISLAND, settings.elites + 1, settings.migrants)
    islands = settings.islands if keep_islands else max(1, min(settings.islands, wanted // least))
    size = max(min(least, settings.island_size), wanted // islands)
    smaller = islands * size < settings.population
    return replace(settings, islands=islands, population=islands * size) if smaller else settings


def _rounded(iterations: float) -> int:
    """Iterations cut to two digits."""
    unit: int = 10 ** max(0, len(str(int(iterations))) - 2)
    return int(iterations) // unit * unit


def _seconds(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"
