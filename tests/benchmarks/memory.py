"""Memory of a tree with millions of nodes, and of an evolution over a thousand generations."""

from __future__ import annotations

import subprocess
import sys

from .levels import ROOT, maps
from .report import FIGURE, SHORT, Row, judge

MILLIONS = 5_000_000
LIMIT = 2 * 2**30

_TREE = """
import resource, sys
from tests.benchmarks.levels import game, maps
from tests.benchmarks.engine import to_the_end, utility
from persona_evo.search.plan import Budget, Planner, SearchSettings, TreePolicy
nodes, name, whole = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
level = next(v for v in maps() if v.name == name)
Planner(game(), level, to_the_end(), 100).plan(utility(), TreePolicy.ucb1(), Budget(iterations=100), 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
settings = SearchSettings.anytime() if whole else to_the_end()
plan = Planner(game(), level, settings, nodes).plan(
    utility(), TreePolicy.ucb1(100.0), Budget(iterations=3 * nodes, nodes=nodes), 1)
print(plan.nodes, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, plan.seconds)
"""

_GENERATIONS = """
import sys
import psutil
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.islands import generations
from persona_evo.jobs.workers import Workers
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.search.settings import Budget, SearchSettings
from tests.benchmarks.levels import game, maps
from tests.benchmarks.engine import utility
early, late, preset = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
settings = EvolutionSettings.of(preset, population=10, islands=2, elites=1, migrants=1, generations=late,
                                size_limit=63, first=())
search = SearchSettings.paper() if preset == "paper" else SearchSettings.anytime()
with Workers(1) as workers:
    fitness = Fitness(FitnessSpec.of("minidungeons2", maps()[:1], utility(), search, Budget(iterations=20)), workers)
    course = generations(settings, 1, fitness, metrics=metrics_of(settings, game()), levels=1)
    for generation in course:
        if generation.index + 1 in (early, late):
            print(psutil.Process().memory_info().rss, flush=True)
"""


def _python(code: str, *arguments: object) -> list[float]:
    """Run a program in its own process; return the numbers that it prints."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"the measured program failed: {done.stderr.strip()[-400:]}")
    return [float(x) for x in done.stdout.split()]


def measure_tree(nodes: int) -> list[Row]:
    """Measure the resident memory of a tree of `nodes` nodes on one map, in its own process.

    C = 100 makes UCB1 grow the tree in breadth, so that it becomes large.
    """
    level = maps()[0]
    rows = []
    reach = f"a tree of {MILLIONS:,} nodes under 2 GiB"
    for whole, what in ((0, "paper"), (1, "anytime")):
        made, before, most, seconds = _python(_TREE, nodes, level.name, whole)
        each = (most - before) * 1024 / made
        total = most * 1024 if made >= MILLIONS else before * 1024 + each * MILLIONS
        measured = f"{total / 2**20:.0f} MiB" + ("" if made >= MILLIONS else f", extrapolated from {made:,.0f} nodes,")
        pace = made / seconds / 1e3
        measured += f" with Python and all else, {each:.0f} bytes a node resident ({pace:.0f} k nodes/s)"
        rows.append(
            judge(f"memory of {MILLIONS:,} nodes on {level.name}, preset {what}", reach, measured, LIMIT / total)
        )
    return rows


def measure_generations(early: int, late: int) -> list[Row]:
    """Measure resident memory after `early` and after `late` small generations, for both presets."""
    rows = []
    for preset in ("paper", "modern"):
        first, last = _python(_GENERATIONS, early, late, preset)
        measured = f"{first / 2**20:.1f} MiB after {early}, {last / 2**20:.1f} MiB after {late} generations"
        grown = last / first
        verdict = FIGURE if late < 1_000 else ("reached" if grown <= 1.1 else SHORT)
        rows.append(Row(f"memory over generations, preset {preset}", "flat (at most 1.1)", measured, grown, verdict))
    return rows
