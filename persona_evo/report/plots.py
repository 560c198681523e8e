"""Pictures of results with matplotlib, which is loaded when the first picture is drawn; no window is ever opened."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.core import Game, Level, Metric, main_metrics
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#6B6B6B")
"""Told apart by colour-blind people too (Okabe and Ito); a player keeps its colour in all pictures."""

HATCHES = ("", "//", "..", "xx")
"""Beyond the eighth player colours repeat with another pattern."""

DPI = 110


def metric_bars(
    summaries: Sequence[Summary], path: Path | str, infos: Sequence[Metric] = (), level: str = EVERY
) -> Path:
    """Players side by side in one level, as in the paper's figure 4, with 95 % intervals.

    Of the metrics the game's main ones (`main_metrics`) are shown. Shares (the win rate, where an end can count as won,
    and those shown as percentages) stand in one panel; the others, steps, utility and seconds each in one of their own
    beside it.
    """
    chosen = [s for s in summaries if s.level == level]
    if not chosen:
        raise ValueError(f"no summaries of level {level!r}")
    shown = [m for m in main_metrics(infos) if any(m.symbol in s.metrics for s in chosen)]
    values = {m.symbol: [_scaled(s.metrics.get(m.symbol), 1) for s in chosen] for m in shown}
    shares = {"win rate": [s.win_rate for s in chosen]} if any(s.wins for s in chosen) else {}
    shares |= {m.name: values[m.symbol] for m in shown if m.ratio}
    others = {m.name: values[m.symbol] for m in shown if not m.ratio}
    others |= {"steps": [s.steps for s in chosen], "utility": [s.utility for s in chosen]}
    signed = {"utility", *(m.name for m in shown if m.low < 0)}
    if any(s.seconds.value for s in chosen):
        others["seconds"] = [s.seconds for s in chosen]
    figure = _figure(4.6 + 1.2 * len(shares) + 1.3 * len(others), 4.0)
    first = [1.0 + 1.1 * len(shares)] if shares else []
    widths = [*first, *([1.5] * len(others))]
    axes = list(figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0])
    if shares:
        ax = axes.pop(0)
        _grouped(ax, {k: [_scaled(v, 100) for v in vs] for k, vs in shares.items()})
        ax.set_ylabel("%")
        ax.set_ylim(0, 105)
    for ax, (name, bars) in zip(axes, others.items(), strict=True):
        _grouped(ax, {name: bars})
        if name not in signed or all(v.low >= 0 for v in bars):
            ax.set_ylim(bottom=0)
        else:
            ax.axhline(0, color="#444444", linewidth=0.8)
    _legend(figure, [s.player for s in chosen], bars=True)
    figure.suptitle("all levels" if level == EVERY else _plain(level), fontsize=12)
    return _save(figure, path)


def win_rates(summaries: Sequence[Summary], path: Path | str) -> Path:
    """Win rates with Wilson's intervals, levels down and players in colours."""
    levels = list(dict.fromkeys(s.level for s in summaries if s.level != EVERY))
    players = list(dict.fromkeys(s.player for s in summaries))
    by_key = {(s.level, s.player): s.win_rate for s in summaries}
    figure = _figure(7.2, 1.4 + max(1.2, 0.16 * len(levels) * (len(players) + 1)))
    ax = figure.subplots()
    step = 0.8 / max(1, len(players))
    for k, player in enumerate(players):
        for row, level in enumerate(levels):
            rate = by_key.get((level, player))
            if rate is not None:
                y = row + (k - (len(players) - 1) / 2) * step
                ax.plot([rate.low * 100, rate.high * 100], [y, y], color=_colour(k), linewidth=2, alpha=0.55)
                ax.plot(rate.value * 100, y, "o" if k < len(COLOURS) else "s", color=_colour(k), markersize=5)
    for row in range(1, len(levels)):
        ax.axhline(row - 0.5, color="#dddddd", linewidth=0.8)
    ax.set_yticks(range(len(levels)), [_plain(name) for name in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("win rate, % (with 95 % interval)")
    _tidy(ax, "x")
    _legend(figure, players, bars=False)
    return _save(figure, path)


def fitness(rows: Sequence[Mapping[str, Any]], path: Path | str, limit: float | None = None) -> Path:
    """Fitness over generations (from 1) from the rows of a journal: best (line) and mean (dotted) of each island.

    limit: the best fitness that is possible or known, drawn as a line.
    """
    islands = sorted({int(r["island"]) for r in rows})
    figure = _figure(6.6, 4.4)
    ax = figure.subplots()
    for island in islands:
        own = sorted((r for r in rows if int(r["island"]) == island), key=lambda r: int(r["generation"]))
        when = [int(r["generation"]) + 1 for r in own]
        ax.plot(when, [float(r["best"]) for r in own], color=_colour(island), label=f"island {island}", linewidth=1.6,
                marker="o" if len(own) == 1 else "")  # fmt: skip
        ax.plot(when, [float(r["mean"]) for r in own], color=_colour(island), linestyle=":", linewidth=1.2)
    if limit is not None:
        ax.axhline(limit, color="#444444", linewidth=1, linestyle="--", label="limit")
    finite = [float(r[k]) for r in rows for k in ("best", "mean") if math.isfinite(float(r[k]))]
    if finite:
        low, high = np.percentile(finite, 2), max([*finite, *([limit] if limit is not None else [])])
        room = max(high - low, 1e-6) * 0.06
        ax.set_ylim(low - room, high + room)
    ax.set_xlabel("generation")
    ax.set_ylabel("fitness (solid: best, dotted: mean)")
    _whole(ax)
    if islands:
        figure.legend(loc="outside lower center", ncols=min(6, len(islands) + 1), fontsize=8, frameon=False)
    _tidy(ax, "both")
    return _save(figure, path)


def hall_of_fame(members: Sequence[tuple[int, float]], path: Path | str) -> Path:
    """Size (nodes) against fitness of (size, fitness) members, and the front that nothing smaller and better beats."""
    figure = _figure(6.4, 4.2)
    ax = figure.subplots()
    front: list[tuple[int, float]] = []
    for size, value in sorted(members, key=lambda m: (m[0], -m[1])):
        if not front or value > front[-1][1]:
            front.append((size, value))
    ax.plot([m[0] for m in members], [m[1] for m in members], "o", color="#9aa5b1", markersize=5, label="hall of fame")
    if front:
        ax.step([m[0] for m in front], [m[1] for m in front], where="post", color=COLOURS[0], linewidth=1.6)
        ax.plot([m[0] for m in front], [m[1] for m in front], "o", color=COLOURS[0], markersize=6,
                label="front: none is smaller and at least as fit")  # fmt: skip
    ax.set_xlabel("size of the formula, nodes")
    ax.set_ylabel("fitness")
    _whole(ax)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    _tidy(ax, "both")
    return _save(figure, path)


def stacked(names: Sequence[str], parts: Mapping[str, Sequence[float]], path: Path | str, label: str) -> Path:
    """Bars of whole numbers made of parts, as in the paper's figure 3. parts: name -> its number in each bar."""
    figure = _figure(2.6 + 0.5 * len(names), 4.0)
    ax = figure.subplots()
    base = np.zeros(len(names))
    for k, (part, values) in enumerate(parts.items()):
        height = np.asarray(values, dtype=np.float64)
        ax.bar(range(len(names)), height, 0.72, bottom=base, color=_colour(k), hatch=_hatch(k), edgecolor="white",
               linewidth=0.6, label=_plain(part))  # fmt: skip
        base += height
    ax.set_xticks(range(len(names)), [_plain(n) for n in names], rotation=45 if len(names) > 6 else 0, fontsize=9)
    ax.set_ylabel(label)
    _tidy(ax, "y")
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside right center", frameon=False, fontsize=9)
    return _save(figure, path)


def ranges(
    at: Sequence[float], rows: Sequence[tuple[float, float, float]], path: Path | str, across: str, up: str
) -> Path:
    """Lines from the lowest to the highest value with the mean as a dot. rows: (lowest, mean, highest) at each `at`."""
    figure = _figure(6.4, 4.0)
    ax = figure.subplots()
    low, mean, high = (np.asarray([row[k] for row in rows], dtype=np.float64) for k in range(3))
    ax.vlines(at, low, high, color=COLOURS[0], linewidth=2, alpha=0.6)
    ax.plot(at, mean, "o", color=COLOURS[0], markersize=5)
    ax.set_ylim(bottom=min(0.0, float(low.min(initial=0.0))))
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    _at(ax, at)
    _tidy(ax, "y")
    return _save(figure, path)


def curves(at: Sequence[float], lines: Mapping[str, Sequence[float]], path: Path | str, across: str, up: str) -> Path:
    """Lines over the same places, told apart by colour and, beyond the eighth, by dashes. lines: name -> values."""
    figure = _figure(6.4, 4.3)
    ax = figure.subplots()
    for k, (name, values) in enumerate(lines.items()):
        ax.plot(at, values, color=_colour(k), linestyle="-" if k < len(COLOURS) else "--", marker="o", markersize=3.5,
                linewidth=1.5, label=_plain(name))  # fmt: skip
    ax.set_ylim(bottom=0)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    _at(ax, at)
    _tidy(ax, "y")
    if lines:
        figure.legend(loc="outside lower center", ncols=min(3, len(lines)), fontsize=8, frameon=False)
    return _save(figure, path)


def rates(
    at: Sequence[float], lines: Mapping[str, Sequence[Interval]], path: Path | str, across: str, up: str,
    marked: float | None = None,
) -> Path:  # fmt: skip
    """Shares in percent with their intervals over positive places on a logarithmic scale.

    lines: name -> a share for each place. marked: a place with a dotted line.
    """
    figure = _figure(6.4, 4.3)
    ax = figure.subplots()
    for k, (name, values) in enumerate(lines.items()):
        shown = [_scaled(v, 100) for v in values]
        x = [place * (1 + 0.03 * (k - (len(lines) - 1) / 2)) for place in at]
        error = [[v.value - v.low for v in shown], [v.high - v.value for v in shown]]
        ax.errorbar(x, [v.value for v in shown], yerr=error, color=_colour(k), marker="o", markersize=4, capsize=2.5,
                    linewidth=1.4, label=_plain(name))  # fmt: skip
    ax.axhline(50, color="#444444", linewidth=0.8)
    if marked is not None:
        ax.axvline(marked, color="#444444", linewidth=0.9, linestyle=":")
    ax.set_xscale("log")
    ax.set_xticks(at, [f"{place:g}" for place in at], minor=False)
    ax.minorticks_off()
    ax.set_ylim(0, 100)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    _tidy(ax, "y")
    figure.legend(loc="outside lower center", ncols=min(3, len(lines)), fontsize=8, frameon=False)
    return _save(figure, path)


def drawing(game: Game) -> Any | None:
    """The game's module for drawing, or None where it has none."""
    return importlib.import_module(game.draw.partition(":")[0]) if game.draw else None


MOST_TILES = 500
"""Columns or rows of a heatmap of a level that has no grid."""


@dataclass(frozen=True)
class Ground:
    """The tiles that places are on, of levels that have no grid. In tiles, from 0, 0 at the top left."""

    width: int
    height: int


def ground(level: Level, records: Iterable[Playthrough]) -> Any:
    """The level's grid, or what all places of some playthroughs lie in."""
    grid = level.facts.get("grid")
    if hasattr(grid, "width") and hasattr(grid, "height"):
        return grid
    walked = [place for record in records for place in record.positions] or [(0, 0)]
    return Ground(1 + max(x for x, _ in walked), 1 + max(y for _, y in walked))


def _draws(game: Game, level: Level) -> bool:
    """Whether the game draws a heatmap over a picture of this level."""
    return hasattr(drawing(game), "heatmap") and hasattr(level.facts.get("grid"), "width")


def _plain_heatmap(ax: Axes, grid: Any, counts: NDArray[np.float64], title: str, *, high: float | None = None) -> Any:
    """Visits as colours on white, a line around the tiles."""
    top = high if high is not None else float(counts.max(initial=0.0))
    ax.set_title(title, fontsize=9)
    return ax.imshow(np.ma.masked_where(counts <= 0, counts), cmap="YlOrRd", vmin=0, vmax=top if top > 0 else 1.0,
                     interpolation="nearest")  # fmt: skip


def visits(records: Sequence[Playthrough], height: int, width: int) -> NDArray[np.float64]:
    """How often a playthrough stands on each tile, on average: float64[height, width]; places outside are dropped."""
    counts = np.zeros((height, width))
    for record in records:
        for x, y in record.positions:
            if 0 <= x < width and 0 <= y < height:
                counts[y, x] += 1
    return counts / max(1, len(records))


def heatmap(
    game: Game, level: Level, records: Sequence[Playthrough], path: Path | str, title: str | None = None,
    high: float | None = None,
) -> Path | None:  # fmt: skip
    """Where the avatar was, one player in one level, in the manner of the paper's figure 5.

    high: visits of the darkest colour, for pictures that are to be compared; the most of this one if not given.
    A plain one where the game does not draw its levels. None where there are no places; the caller tells so (see
    `skipped`).
    """
    if skipped(game, level, records):
        return None
    from matplotlib.ticker import MaxNLocator

    grid = ground(level, records)
    counts = visits(records, int(grid.height), int(grid.width))
    tile = max(0.06, min(0.22, 12 / max(grid.width, grid.height)))
    figure = _figure(max(2.2, tile * grid.width + 0.8), max(2.2, tile * grid.height + 0.5))
    ax = figure.subplots()
    player = records[0].player
    module = drawing(game)
    draw = module.heatmap if _draws(game, level) and module is not None else _plain_heatmap
    text = _plain(title if title is not None else player)
    shared = {} if high is None else {"high": high}
    layer = draw(ax, grid, counts, text, **shared)
    _number(ax, int(grid.width), int(grid.height))
    if layer is not None and hasattr(layer, "cmap"):
        bar = figure.colorbar(layer, ax=ax, fraction=0.05, pad=0.03)
        bar.locator = MaxNLocator(4)
        bar.ax.tick_params(labelsize=8)
        bar.set_label("visits a playthrough", fontsize=8)
    return _save(figure, path)


def most_visits(game: Game, groups: Iterable[tuple[Level, Sequence[Playthrough]]]) -> float:
    """The most visits of a tile, on average, in any of several heatmaps: their common `high`."""
    most = 0.0
    for level, records in groups:
        if not skipped(game, level, records):
            grid = ground(level, records)
            most = max(most, float(visits(records, int(grid.height), int(grid.width)).max()))
    return most


def _number(ax: Axes, width: int, height: int) -> None:
    """Columns along the top and rows at the side, as findings count them."""
    step = 5 if max(width, height) > 12 else 2
    ax.set_xticks(range(0, width, step))
    ax.set_yticks(range(0, height, step))
    ax.tick_params(labelsize=6, length=2, pad=1, colors="#6b7280", top=True, labeltop=True, bottom=False,
                   labelbottom=False)  # fmt: skip


def skipped(game: Game, level: Level, records: Sequence[Playthrough]) -> str:
    """Why there is no heatmap, in words; "" where there is one."""
    if not any(r.positions for r in records):
        return f"no heatmap: {game.title} has no place of the avatar"
    grid = ground(level, records)
    if max(grid.width, grid.height) > MOST_TILES:
        return f"no heatmap: {game.title} has places up to {grid.width - 1}, {grid.height - 1}, more than can be drawn"
    return ""


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Figure, path: Path | str) -> Path:
    path = Path(path)
    figure.savefig(path, format="png", bbox_inches="tight", pad_inches=0.06, metadata={"Software": ""})
    return path


def _grouped(ax: Axes, groups: Mapping[str, Sequence[Interval]]) -> None:
    """Groups of bars with intervals; bar k of each group belongs to player k."""
    for place, values in enumerate(groups.values()):
        step = 0.8 / len(values)
        for k, value in enumerate(values):
            x = place + (k - (len(values) - 1) / 2) * step
            ax.bar(x, value.value, step * 0.92, color=_colour(k), hatch=_hatch(k), edgecolor="white", linewidth=0.4)
            if value.known:
                error = [[max(0.0, value.value - value.low)], [max(0.0, value.high - value.value)]]
                ax.errorbar(x, value.value, yerr=error, color="#222222", capsize=2.5, linewidth=1)
    ax.set_xticks(range(len(groups)), [name.replace(" ", "\n", 1) for name in groups], fontsize=9)
    ax.set_xlim(-0.55, len(groups) - 0.45)
    _tidy(ax, "y")


def _tidy(ax: Axes, grid: Any) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis=grid, color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)


def _at(ax: Axes, at: Sequence[float], most: int = 8) -> None:
    """Ticks along x where values are: at all of them, or at every second, third, ... one, the last among them."""
    step = max(1, -(-len(at) // most))
    ticks = [*at][::-1][::step][::-1]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def _whole(ax: Axes) -> None:
    """Whole numbers along x."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend(figure: Figure, players: Sequence[str], bars: bool) -> None:
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    for k, player in enumerate(players):
        name = _plain(player)
        if bars:
            handles.append(Patch(facecolor=_colour(k), hatch=_hatch(k), edgecolor="white", label=name))
        else:
            handles.append(Line2D([], [], marker="o" if k < len(COLOURS) else "s", color=_colour(k), label=name))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(players)), frameon=False, fontsize=9)


def _scaled(value: Interval | None, factor: float) -> Interval:
    if value is None:
        return Interval(0.0, 0.0, 0.0, 0)
    return Interval(value.value * factor, value.low * factor, value.high * factor, value.n)


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def _hatch(k: int) -> str:
    return HATCHES[k // len(COLOURS) % len(HATCHES)]


def _plain(text: str) -> str:
    """A name as it is: no mathematics in it, and short."""
    short = text if len(text) <= 40 else text[:39] + "…"
    return "".join(c if c.isprintable() else "?" for c in short).replace("$", r"\$")
