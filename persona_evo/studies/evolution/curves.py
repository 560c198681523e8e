"""Charts of the study of evolution: the quality of policies in the course of runs, and with more search."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from persona_evo.personas import load as load_persona
from persona_evo.report.charts import Axis, Plot, Series
from persona_evo.report.figures import Drawing
from persona_evo.studies.evolution.choices import Choices, MethodRun
from persona_evo.studies.evolution.findings import share_of_best
from persona_evo.studies.evolution.levels import HELD_OUT
from persona_evo.studies.evolution.measuring import RunMeasurement
from persona_evo.studies.evolution.settings import LONG, METHODS, MethodCell, study_game
from persona_evo.studies.evolution.stages import budget_policies, budget_probe, budgeted, curve_probe

PLACES = 12
"""Number of points of a learning curve."""


def learning(c: Choices) -> Iterator[Drawing]:
    """Draw learning curves for each setting and persona: share of the best known utility over playthroughs.

    The curve on the training levels is dashed.
    """
    for setting in c.settings.chosen:
        for persona in c.settings.personas:
            series = []
            for place, method in enumerate(c.methods(setting)):
                series += _curves(c, MethodCell(setting, method, persona), place) if method != LONG else []
            if series:
                title = f"{title_of(persona)}, {setting} (dashed: training levels)"
                chart = Plot(series, Axis("playthroughs"), Axis("share of the best known"), title=title)
                yield Drawing(("learning", setting, persona), chart)


def _curves(c: Choices, cell: MethodCell, place: int) -> list[Series]:
    runs = c.runs.get(cell, [])[: c.settings.curves]
    held: list[dict[str, RunMeasurement]] = []
    for run in runs:
        probes = {policy: curve_probe(c, cell, policy) for *_, policy in run.curve}
        held.append({policy: c.known[p] for policy, p in probes.items() if p in c.known})
    wanted = [{policy for *_, policy in run.curve} for run in runs]
    if not runs or wanted != [set(known) for known in held]:
        return []
    most = max(run.playthroughs for run in runs)
    first = max(run.curve[0][0] for run in runs)
    at = sorted({first + (most - first) * k // (PLACES - 1) for k in range(PLACES)})
    seen: list[tuple[float, float]] = []
    unseen: list[tuple[float, float]] = []
    for n in at:
        points = [_at(run, n) for run in runs]
        seen.append((n, fmean(training for _, training, *_ in points)))
        shares = [share_of_best(c, cell.persona, known[point[3]]) for point, known in zip(points, held, strict=True)]
        unseen.append((n, fmean(shares)))
    name = METHODS[cell.method]
    return [
        Series(f"{name}, held-out levels", unseen, "line", place),
        Series(f"{name}, training levels", seen, "line", place, dashed=True),
    ]


def _at(run: MethodRun, playthroughs: int) -> tuple[int, float, float, str]:
    """Return the point of a run's curve that holds after a number of playthroughs."""
    return [p for p in run.curve if p[0] <= playthroughs][-1]


def budget_lines(c: Choices, settings: tuple[str, ...], persona: str) -> dict[str, list[tuple[int, float]]]:
    """Return (iterations, mean held-out utility) of each policy that was measured at several budgets."""
    found = {}
    for name, text in budget_policies(c, settings, persona).items():
        probes = {n: budget_probe(c, settings[0], persona, text, n) for n in c.settings.budgets}
        points = [(n, c.known[p].utility) for n, p in probes.items() if p in c.known]
        if points:
            found[name] = points
    return found


def budgets(c: Choices) -> Iterator[Drawing]:
    """Draw mean utility on held-out levels over iterations for each search and persona with several budgets."""
    for search, settings in budgeted(c).items():
        for persona in c.settings.personas:
            lines = budget_lines(c, settings, persona)
            series = [Series(name, points, "linedots") for name, points in lines.items() if len(points) > 1]
            if series:
                across = Axis("iterations", logarithmic=True, at=c.settings.budgets)
                chart = Plot(series, across, Axis("utility"), title=f"{title_of(persona)}, {search}")
                yield Drawing(("budgets", search, persona), chart)


def best_known(c: Choices, persona: str) -> float:
    """Return the mean of the best known utilities of the held-out levels."""
    return fmean(c.levels.pool(persona, HELD_OUT).best)


def title_of(persona: str) -> str:
    """Return the name of a persona in reports."""
    found = load_persona(persona, study_game())
    return found.title or persona.replace("_", " ")
