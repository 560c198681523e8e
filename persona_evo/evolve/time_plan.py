"""Chooses the size of an evolution so that it ends within a given time.

A playthrough is timed before the evolution begins. If there is no time for at least GENERATIONS generations, the
population is made smaller, and then the budget of each playthrough, unless the user has chosen these. The choices are
reported, since the same choices without a time limit give the same evolution on any machine.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from persona_evo.compiling import news
from persona_evo.errors import SettingsError
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.pools import VALIDATION
from persona_evo.evolve.sampled import SET_APART, CaseCounts
from persona_evo.evolve.schedule import DESCRIBE_SECONDS, END_SHARE
from persona_evo.evolve.setting_values import SMALL_ISLAND
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games.cluster_games import hired
from persona_evo.jobs.workers import Workers
from persona_evo.words import counted, duration

GENERATIONS = 10
"""The number of generations there should be time for. Fewer hardly improve on the start of an evolution."""
SMALLEST = 20
"""The size of the smallest population that is chosen."""
FEWEST, FEWEST_OUTSIDE = 1_000, 50
"""The smallest budgets that are chosen: iterations, and rollouts in a game that runs elsewhere."""
START_SECONDS = 4.0
"""The seconds until workers have started and have loaded the game."""
LATE = 1.5
"""A first generation that exceeds the available time by this factor is not begun, since the estimate is rough."""

POPULATION, ISLANDS, ITERATIONS = "population", "islands", "iterations"
"""The sizes that may be chosen by the time. Values that the user has set are kept."""


@dataclass(frozen=True)
class TimePlan:
    """An evolution that fits into its time.

    Attributes:
        task: the task, with the chosen sizes.
        chosen: the sizes that differ from those asked for, by name.
        playthrough: the seconds of one core that a playthrough takes.
        generation: the seconds that a generation takes on all cores.
        generations: the number of generations there is time for, at most that of the settings.
        until: the moment when everything is done.
    """

    task: EvolutionTask
    chosen: dict[str, int]
    playthrough: float
    generation: float
    generations: int
    until: datetime

    def lines(self) -> list[str]:
        """Describe in readable lines what was chosen, and what will be done by when."""
        settings = self.task.settings
        found = []
        if self.chosen:
            sizes = " ".join(f"--{name} {value}" for name, value in self.chosen.items())
            found.append(f"sizes chosen to fit the time: {sizes}")
        series = f"{counted(settings.runs, 'run')} of about " if settings.runs > 1 else "about "
        of = f"{self.generations} of the " if self.generations < settings.generations else ""
        found.append(
            f"a playthrough takes {_seconds(self.playthrough)} on one core: there is time for {series}{of}"
            f"{counted(settings.generations, 'generation')}, {_seconds(self.generation)} each, "
            f"and everything is done by {self.until:%H:%M:%S}"
        )
        return found


@contextlib.contextmanager
def compiled_by(deadline: float | None) -> Iterator[None]:
    """Refuse at once what cannot be compiled before a deadline, by the estimate.

    Args:
        deadline: the moment on `time.monotonic`, None for none.

    Raises:
        SettingsError: compiling alone takes longer than the time that is left.
    """
    if deadline is None:
        yield
        return
    given = deadline - time.monotonic()
    try:
        with news.deadline(deadline):
            yield
    except news.CompilesTooLong as e:
        left = max(0.0, deadline - time.monotonic())
        raise SettingsError(
            "the time is too short to compile what the evolution needs",
            found=f"{duration(left)} left",
            expected=f"at least about {duration(e.seconds)} for compiling alone, which this machine does once",
            hint=f"give it {math.ceil((given + e.seconds) / 60)} min: after compiling, as much time is left as now",
        ) from None


def plan(task: EvolutionTask, workers: Workers, deadline: float, fixed: Collection[str] = ()) -> TimePlan:
    """Choose the sizes with which an evolution ends by a deadline.

    Args:
        task: the requested evolution.
        workers: the workers that will play.
        deadline: the moment on `time.monotonic`.
        fixed: those of POPULATION, ISLANDS and ITERATIONS that stay as they are.

    Raises:
        SettingsError: there is no time for one generation, however small.
    """
    cases, runs, given = _cases(task), task.settings.runs, deadline - time.monotonic()
    with hired(task.game, workers) as own:
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
            found=f"{duration(max(0.0, left))} left of {duration(given)}, after a playthrough was timed",
            expected=f"at least about {duration(starting + runs * (needed / (1.0 - END_SHARE) + DESCRIBE_SECONDS))}, "
            f"as a generation takes {_seconds(needed)}",
            hint=f"{minutes} min is enough for {counted(wanted, 'generation')}; fewer levels need less",
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
    """Return the counts of cases that a run of the task trains and compares on."""
    count, levels = len(task.spec.cases), len(task.levels)
    if not task.settings.levels_a_generation:
        return CaseCounts(count, 0)
    each = count // levels
    if task.pools:
        return CaseCounts(count, each * len(task.pools["validation"].levels))
    apart = each * min(VALIDATION, levels // SET_APART)
    return CaseCounts(count - apart, apart)


def _smaller(settings: EvolutionSettings, share: float, keep_islands: bool) -> EvolutionSettings:
    """Return settings with about that share of the population, at least SMALLEST, on islands that are not too small."""
    wanted = max(min(SMALLEST, settings.population), int(share * settings.population))
    least = max(SMALL_ISLAND, settings.elites + 1, settings.migrants)
    islands = settings.islands if keep_islands else max(1, min(settings.islands, wanted // least))
    size = max(min(least, settings.island_size), wanted // islands)
    smaller = islands * size < settings.population
    return replace(settings, islands=islands, population=islands * size) if smaller else settings


def _rounded(iterations: float) -> int:
    """Return iterations cut to two digits."""
    unit: int = 10 ** max(0, len(str(int(iterations))) - 2)
    return int(iterations) // unit * unit


def _seconds(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"
