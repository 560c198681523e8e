"""Figures for publications and slides: the charts of pages and maps of visits, drawn by Matplotlib.

A figure is as wide as a column of a two-column paper. It has no background and no page colours, its texts are 7 or 8
points high, and PDF files embed their fonts. The same run gives the same files.
"""

from __future__ import annotations

import io
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import RunError, SettingsError
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Spot
from persona_evo.jobs import files
from persona_evo.jobs.folder import made
from persona_evo.playtest.records import Playthrough
from persona_evo.report import maps, tile_counts
from persona_evo.report.charts import Axis, Bars, Chart, Plot, Series
from persona_evo.report.written import Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS = ("pdf", "png", "svg")

WIDTH, RESOLUTION = 3.5, 300
"""Width in inches, and resolution in dpi of PNG files and of embedded pictures."""

LETTER, SMALL = 0.064, 0.055
"""Mean width of a letter in inches, at 8 and at 7 points."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#6b6b6b")
"""Colours of series: those of Okabe and Ito (2008) that contrast with white; safe for colour-blind readers."""

DASHES = (0, (4, 3))

LONGEST = 28
"""Maximum number of letters shown of a name."""

INK, GREY, RULE = "#000000", "#6b6b6b", "#d0d0d0"

STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "persona-evo",
    "savefig.transparent": True,
    "figure.constrained_layout.use": True,
}

UNDATED: Mapping[str, Mapping[str, None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
"""Metadata that files leave out: when and by which version they were made."""


class Drawing(NamedTuple):
    """A figure to draw: the parts of its file name, and its content."""

    name: tuple[str, ...]
    content: Chart | Heat


@dataclass(frozen=True)
class Heat:
    """A level's map with what one player did there.

    Attributes:
        board: the level before the first move, with tiles coloured by visits: uint8[height, width, 3], in pixels.
        width, height: size in tiles.
        most: mean visits per playthrough that have the hottest colour.
        plan, after: the usual route as (x, y) tiles, and what followed the plan.
        deaths: number of playthroughs that died on each tile.
    """

    board: NDArray[np.uint8]
    width: int
    height: int
    most: float
    plan: Sequence[Spot]
    after: Sequence[Spot]
    deaths: Mapping[Spot, int]


def heat(game: Game, level: Level, records: Sequence[Playthrough], most: float) -> Heat | None:
    """Return the map of a player's playthroughs in a level; None if there is none (see `maps.skipped`)."""
    if maps.skipped(game, level, records):
        return None
    ground = maps.ground(level, (place for record in records for place in record.all_positions))
    width, height = int(ground.width), int(ground.height)
    tiles = maps.heat(tile_counts.visits(records, height, width), most)
    scale = max(maps.SMALLEST, min(maps.LARGEST, maps.LONGEST // max(width, height)))
    board = np.asarray(maps.board(game, level, width, height, scale, tiles).convert("RGB"))
    usual = maps.usual(records)
    after = usual.all_positions[len(usual.positions) - 1 :]
    return Heat(board, width, height, most, usual.positions, after, tile_counts.deaths(records))


def save(
    drawings: Iterable[Drawing], folder: Path | str, form: str = "pdf", progress: Callable[[str], None] | None = None
) -> list[Path]:
    """Draw figures into a folder, which is created if necessary.

    Args:
        drawings: the figures.
        folder: the target folder; existing files of the same names are replaced.
        form: one of FORMATS.
        progress: called with each file's name.

    Raises:
        SettingsError: an unknown format.
        RunError: the folder cannot be created, or there is nothing to draw.
    """
    if form not in FORMATS:
        raise SettingsError("there is no such format for figures", found=form, expected=", ".join(FORMATS))
    drawings, folder = list(drawings), Path(folder)
    if not drawings:
        raise RunError("there is nothing to draw", hint="figures show results: wait until there are some")
    made(folder, option="--figures")
    names, written = Names(folder), []
    for drawing in drawings:
        path = names.file(*drawing.name, suffix=f".{form}")
        if progress is not None:
            progress(path.name)
        files.write_atomically(path, rendered(drawing.content, form))
        written.append(path)
    return written


def _import_matplotlib() -> None:
    """Import Matplotlib, even if MPLBACKEND names a backend that is not installed here: figures need none.

    Jupyter passes its own backend to all processes that are started from a notebook.
    """
    try:
        import matplotlib
    except ValueError:
        named = os.environ.pop("MPLBACKEND", None)
        if named is None:
            raise
        for name in [m for m in sys.modules if m.partition(".")[0] == "matplotlib"]:
            del sys.modules[name]  # left behind by the failed import
        try:
            import matplotlib  # noqa: F401
        finally:
            os.environ["MPLBACKEND"] = named


def rendered(content: Chart | Heat, form: str) -> bytes:
    """Return a figure as the bytes of a file."""
    _import_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    target, style = io.BytesIO(), cast(Any, STYLE)
    with rc_context(style):
        canvas = Canvas(dpi=RESOLUTION)
        _DRAWN[type(content)](canvas, content)
        canvas.savefig(target, format=form, metadata=dict(UNDATED[form]))
    return target.getvalue()


# charts


def _plot(canvas: Canvas, plot: Plot) -> None:
    plot.fit()
    names = [s.name for s in plot.series if s.name]
    columns = max(1, min(len(names), int(WIDTH / (0.36 + max(map(len, names), default=0) * SMALL))))
    rows = math.ceil(len(names) / columns) if len(names) > 1 else 0
    turned = bool(plot.across.names) and max(map(len, plot.across.names)) * SMALL > 2.8 / len(plot.across.names)
    canvas.set_size_inches(WIDTH, 2.2 + 0.16 * rows + (0.5 if turned else 0.0))
    axes = canvas.add_subplot()
    _scale(axes, "x", plot.across)
    _scale(axes, "y", plot.up)
    if turned:
        axes.tick_params(axis="x", rotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.grid(axis="y", color=RULE, linewidth=0.4)
    axes.set_axisbelow(True)
    for name, value in plot.marked:
        axes.axhline(value, color=GREY, linewidth=0.8, linestyle=DASHES)
        axes.annotate(
            name, (1, value), (0, 2), axes.get_yaxis_transform(), "offset points", ha="right", fontsize=7, color=GREY
        )
    handles = [_series(axes, s, k, plot.blocks) for k, s in enumerate(plot.series)]
    named = [(h, s.name) for h, s in zip(handles, plot.series, strict=True) if s.name] if rows else []
    if any(s.end == "skull" for s in plot.series):
        named.append((axes.plot([], [], "X", color=INK, markeredgecolor="white", markersize=6)[0], "died"))
    if named:
        canvas.legend(*zip(*named, strict=True), loc="outside lower center", ncols=columns, columnspacing=1.2)
    axes.set_title(_wrapped(plot.title), loc="left")


def _scale(axes: Axes, side: Literal["x", "y"], axis: Axis) -> None:
    """Set the ends, ticks and label of an axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    own = {"x": axes.xaxis, "y": axes.yaxis}[side]
    axes.set(**{f"{side}label": axis.label, f"{side}scale": "log" if axis.logarithmic else "linear"})
    axes.set(**{f"{side}lim": axis.ends})
    if axis.names:
        own.set_ticks(range(len(axis.names)), [_short(name) for name in axis.names])
        return
    own.set_minor_locator(NullLocator())
    own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if axis.at:
        own.set_ticks(list(axis.at)[:: -max(1, math.ceil(len(axis.at) / 8))][::-1])
    else:
        own.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=axis.whole))


def _series(axes: Axes, series: Series, place: int, blocks: bool) -> Any:
    """Draw a series; return the object that represents it in the legend."""
    number = place if series.colour is None else series.colour
    colour = GREY if number < 0 else COLOURS[number % len(COLOURS)]
    if series.band:
        xs, low, high = np.transpose(series.band)
        axes.fill_between(xs, low, high, color=colour, alpha=0.16, linewidth=0)
    if series.spans and blocks:
        xs, low, high = np.transpose(series.spans)
        return axes.bar(xs, high - low, 0.6, low, color=colour, edgecolor="white", linewidth=0.4)
    if series.spans:
        axes.vlines(*zip(*series.spans, strict=True), color=colour, linewidth=1, alpha=0.65)
    points = [p for p in series.points if math.isfinite(p[1])]
    dots = "dots" in series.style or len(points) == 1
    (drawn,) = axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=colour,
        marker="o" if dots else "",
        linestyle="" if series.style == "dots" else "-",
        clip_on=False,
        drawstyle="steps-post" if series.style == "steps" else "default",
    )
    if series.dashed or number >= len(COLOURS):
        drawn.set_linestyle(DASHES)
    if series.end and points:
        died = series.end == "skull"
        axes.plot(
            *points[-1],
            "X" if died else "o",
            color=colour,
            markeredgecolor="white" if died else colour,
            markeredgewidth=0.5,
            markersize=7 if died else 4,
            clip_on=False,
            zorder=4,
        )
    return drawn


def _bars(canvas: Canvas, bars: Bars) -> None:
    canvas.set_size_inches(WIDTH, 0.55 + 0.2 * len(bars.rows))
    axes = canvas.add_subplot()
    _scale(axes, "x", bars.axis())
    axes.set_xlabel(bars.title)
    if bars.percent:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value * 100:.0f} %")
    axes.set_ylim(len(bars.rows) - 0.4, -0.6)
    axes.set_yticks(range(len(bars.rows)), [_short(name) for name, _ in bars.rows])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.axvline(max(0.0, axes.get_xlim()[0]), color=INK, linewidth=0.6, clip_on=False)
    for k, (_, value) in enumerate(bars.rows):
        axes.barh(k, value.value, 0.66, color=COLOURS[k % len(COLOURS)])
        if value.low < value.high:
            ends = [[value.value - value.low], [value.high - value.value]]
            axes.errorbar(value.value, k, xerr=ends, color=INK, elinewidth=0.8, capsize=2, capthick=0.8)
        axes.annotate(
            bars.text(value.value),
            (1, k),
            (4, 0),
            axes.get_yaxis_transform(),
            "offset points",
            va="center",
            fontsize=7,
            annotation_clip=False,
        )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _wrapped(title: str) -> str:
    return textwrap.fill(title, round(WIDTH / LETTER))


# maps


def _heat(canvas: Canvas, heat: Heat) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    tile = min((WIDTH - 0.9) / heat.width, 6.5 / heat.height)
    canvas.set(size_inches=(WIDTH, tile * heat.height + 0.45), layout_engine="compressed")
    axes = canvas.add_subplot()
    axes.imshow(heat.board, extent=(0.5, heat.width + 0.5, heat.height + 0.5, 0.5), interpolation="none")
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    for side, size in (("x", heat.width), ("y", heat.height)):
        every = next(n for n in (1, 2, 5, 10, 20, 50, 100) if n * tile >= 0.2 or n == 100)
        axes.set(**{f"{side}ticks": sorted({1, *range(every, size + 1, every)})})
    _route(axes, heat.plan, "-", tile)
    _route(axes, heat.after, DASHES, tile)
    for (x, y), count in heat.deaths.items():
        axes.plot(x + 1, y + 1, "X", color=INK, markeredgecolor="white", markersize=min(9.0, 50 * tile))
        if count > 1:
            axes.annotate(
                f"×{count}",
                (x + 1, y + 1),
                (3, -3),
                textcoords="offset points",
                va="top",
                fontsize=6,
                path_effects=_halo(1.5),
            )
    colours = LinearSegmentedColormap.from_list("visits", [[c / 255 for c in maps.COOL], [c / 255 for c in maps.HOT]])
    bar = canvas.colorbar(ScalarMappable(Normalize(0, heat.most), colours), ax=axes, fraction=0.05, pad=0.02)
    bar.set_label("visits per playthrough")
    bar.outline.set_visible(False)


def _route(axes: Axes, places: Sequence[Spot], style: Any, tile: float) -> None:
    """Draw a line along tiles, interrupted if a step leads farther than to a neighbouring tile."""
    xs, ys = [], []
    for a, b in pairwise([*places, *places[-1:]]):
        xs.append(a[0] + 1.0)
        ys.append(a[1] + 1.0)
        if max(abs(a[0] - b[0]), abs(a[1] - b[1])) > 1:
            xs.append(math.nan)
            ys.append(math.nan)
    axes.plot(xs, ys, color=COLOURS[0], linestyle=style, linewidth=min(1.4, 9 * tile), path_effects=_halo(2.4))


def _halo(width: float) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white")]


_DRAWN: Mapping[type, Callable[[Canvas, Any], None]] = {Plot: _plot, Bars: _bars, Heat: _heat}
