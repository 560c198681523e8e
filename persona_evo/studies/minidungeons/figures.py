"""The figures of the paper with the reproduction's data, and charts of fitness."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import fsum

from persona_evo.personas import Persona
from persona_evo.playtest.metrics import grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.summaries import summarise
from persona_evo.report import charts, figures, plots, tile_counts
from persona_evo.report.figures import Drawing
from persona_evo.studies.minidungeons import results
from persona_evo.studies.minidungeons.material import DungeonResults


def drawings(m: DungeonResults) -> Iterator[Drawing]:
    """Yield the figures: objects (3), metrics (4) and evolved personas' paths (5, 6) in two maps, and fitness."""
    yield Drawing(("figure3", "objects"), objects(m))
    groups = grouped(evolved_records(m))
    summaries = summarise(evolved_records(m), m.game.metrics, m.bounds)
    for number, name in enumerate(results.compared(m)):
        level = next(v for v in m.levels if v.name == name)
        for chart in plots.main_charts([s for s in summaries if s.level == name], m.game.metrics):
            yield Drawing((f"figure4{'ab'[number]}", name, chart.title), chart)
        most = tile_counts.most_visits(groups[name, label] for label in m.evolved.values())
        for letter, label in zip("abcd", m.evolved.values(), strict=False):
            drawn = figures.heat(m.game, level, groups[name, label], most)
            if drawn is not None:
                yield Drawing((f"figure{5 + number}{letter}", name, label), drawn)
    yield Drawing(("convergence",), convergence(m))
    for persona in m.personas:
        yield Drawing(("fitness", persona.name), fitness(m, persona))


def objects(m: DungeonResults) -> charts.Plot:
    """Draw the number of objects of each kind in each level."""
    structure = results.structures(m)
    parts = [k for k in m.published.objects if all(k in s for s in structure.values())]
    return charts.stacked(list(structure), {k: [s[k] for s in structure.values()] for k in parts}, "objects")


def fitness(m: DungeonResults, persona: Persona) -> charts.Plot:
    """Draw the fitness of a persona's chosen evolution, with the limit if it is known."""
    known = [m.bounds.get((level.name, persona.name)) for level in m.training]
    limit = fsum(b.utility for b in known if b) / len(known) if all(known) else None
    return plots.fitness(m.journals[persona.name], limit)


def convergence(m: DungeonResults) -> charts.Plot:
    """Draw the best fitness so far of each persona's chosen evolution as a share of its final fitness."""
    series = []
    for place, persona in enumerate(m.personas):
        best = list(accumulate(results.best_of_generations(m.journals[persona.name]), max))
        if not best:  # the time was up in the first generation
            continue
        final = abs(best[-1]) or 1.0
        points = [(generation, 1 - (best[-1] - value) / final) for generation, value in enumerate(best, 1)]
        series.append(charts.Series(results.title(m, persona.name), points, "line", place))
    return charts.Plot(series, charts.Axis("generation", whole=True), charts.Axis("best fitness / final"), height=320)


def evolved_records(m: DungeonResults) -> list[Playthrough]:
    """Return the playthroughs with the evolved policies."""
    return [r for r in m.played.records if r.player in m.evolved.values()]
