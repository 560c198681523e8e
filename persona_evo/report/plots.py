"""Charts of results, evolutions and studies, built from `charts`; and the module with which a game draws itself."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from persona_evo.games.core import Game, Metric
from persona_evo.games.main_metrics import main_metrics
from persona_evo.intervals import Interval
from persona_evo.playtest.metrics import Summary
from persona_evo.playtest.records import ENDS
from persona_evo.report.charts import Axis, Bars, Plot, Series, stacked
from persona_evo.report.pages import Gallery, Svg

OUTCOMES = {"won": 2, "lost": 1, "unfinished": -1, "stuck": 3, "ended": 0}
"""Colour numbers of outcomes."""


def drawing(game: Game) -> Any | None:
    """Return the game's module for drawing, or None if it has none."""
    return importlib.import_module(game.draw.partition(":")[0]) if game.draw else None


def main_results(summaries: Sequence[Summary], infos: Sequence[Metric]) -> Gallery:
    """Show the charts of some summaries side by side."""
    return Gallery("chart", [Svg(chart) for chart in main_charts(summaries, infos)])


def main_charts(summaries: Sequence[Summary], infos: Sequence[Metric]) -> list[Bars]:
    """Return a chart of each main result with its intervals, one player per row, as in figure 4 of the paper.

    These are the game's main metrics, the win rate if an end can count as a win, steps and utility.
    """
    shown: list[Bars] = []
    if any(s.wins for s in summaries):
        shown.append(Bars("win rate", [(s.player, s.win_rate) for s in summaries], high=1, percent=True))
    for info in main_metrics(infos):
        rows = [
            (s.player, _within(s.metrics[info.symbol], info.low, info.high))
            for s in summaries
            if info.symbol in s.metrics and info.symbol not in s.absent
        ]
        if rows:
            shown.append(Bars(info.name, rows, high=1 if info.ratio else None, percent=info.ratio))
    shown.append(Bars("steps", [(s.player, _within(s.steps, 0.0, math.inf)) for s in summaries]))
    shown.append(Bars("utility", [(s.player, s.utility) for s in summaries]))
    return shown


def outcomes(summaries: Sequence[Summary]) -> Plot:
    """Return how playthroughs end in percent: one bar per player, with a part for each outcome that occurs."""
    found = {end: [100 * s.ends[end] / s.trials for s in summaries] for end in ENDS}
    chart = stacked([s.player for s in summaries], {end: v for end, v in found.items() if any(v)}, "playthroughs, %")
    for series in chart.series:
        series.colour = OUTCOMES[series.name]
    return chart


def _within(value: Interval, low: float, high: float) -> Interval:
    """Clip an interval to the range of possible values."""
    return value._replace(low=max(value.low, low), high=min(value.high, high))


def fitness(rows: Sequence[Mapping[str, Any]], limit: float | None = None) -> Plot:
    """Plot fitness over generations (from 1) from the rows of a journal: each island's best (line) and mean (dashed).

    Args:
        limit: the best fitness that is possible or known, drawn as a line.
    """
    series: list[Series] = []
    for place, island in enumerate(sorted({int(r["island"]) for r in rows})):
        own = sorted((r for r in rows if int(r["island"]) == island), key=lambda r: int(r["generation"]))
        best, mean = ([(int(r["generation"]) + 1, float(r[key])) for r in own] for key in ("best", "mean"))
        series += [Series(f"island {island + 1}", best, "line", place), Series("", mean, "line", place, dashed=True)]
    finite = [y for s in series for _, y in s.points if math.isfinite(y)]
    low = float(np.percentile(finite, 2)) if finite else 0.0
    for s in series:  # a very bad first generation would hide everything else
        s.points = [(x, max(y, low)) for x, y in s.points if math.isfinite(y)]
    return Plot(
        series,
        Axis("generation", whole=True),
        Axis("fitness (dashed: mean)"),
        height=320,
        marked=[("limit", limit)] if limit is not None else (),
    )


def hall_of_fame(members: Sequence[tuple[int, float]]) -> Plot:
    """Plot size (nodes) against fitness of (size, fitness) members, and their Pareto front."""
    front: list[tuple[float, float]] = []
    for size, value in sorted(members, key=lambda m: (m[0], -m[1])):
        if not front or value > front[-1][1]:
            front.append((size, value))
    return Plot(
        [
            Series("hall of fame", list(members), "dots", -1),
            Series("none is smaller and at least as fit", front, "steps", 0),
            Series("", front, "dots", 0),
        ],
        Axis("size of the formula, nodes", whole=True),
        Axis("fitness"),
    )


def ranges(at: Sequence[float], rows: Sequence[tuple[float, float, float]], across: str, up: str) -> Plot:
    """Plot lines from minimum to maximum with the mean as a dot; `rows` are (minimum, mean, maximum) at each `at`."""
    spans = [(x, low, high) for x, (low, _, high) in zip(at, rows, strict=True)]
    means = [(x, mean) for x, (_, mean, _) in zip(at, rows, strict=True)]
    return Plot([Series("", means, "dots", spans=spans)], Axis(across, at=at), Axis(up, low=0))


def curves(at: Sequence[float], lines: Mapping[str, Sequence[float]], across: str, up: str) -> Plot:
    """Plot lines over the same positions; `lines` maps names to values."""
    series = [Series(name, list(zip(at, values, strict=True)), "linedots") for name, values in lines.items()]
    return Plot(series, Axis(across, at=at), Axis(up, low=0))


def rates(
    at: Sequence[float], lines: Mapping[str, Sequence[Interval]], across: str, up: str, marked: float | None = None
) -> Plot:
    """Plot shares in percent with their intervals over positive positions on a logarithmic scale.

    Args:
        lines: name -> a share for each position.
        marked: a position with a dashed line.
    """
    series = []
    for k, (name, values) in enumerate(lines.items()):
        places = [place * (1 + 0.03 * (k - (len(lines) - 1) / 2)) for place in at]
        spans = [(x, 100 * v.low, 100 * v.high) for x, v in zip(places, values, strict=True)]
        means = [(x, 100 * v.value) for x, v in zip(places, values, strict=True)]
        series.append(Series(name, means, "linedots", spans=spans))
    if marked is not None:
        series.append(Series("", [(marked, 0.0), (marked, 100.0)], "line", -1, dashed=True))
    return Plot(series, Axis(across, logarithmic=True, at=at), Axis(up, low=0, high=100), marked=[("", 50)])
