"""Charts as data, and their SVG on pages.

A chart is a `Plot` or `Bars`. On a page it is SVG that takes the page's colours (`series0`, ... and the text colours)
in light and dark mode. Its texts are at least 12 pixels high at its own size, and pages never shrink it. `save` writes
it to a file. `figures` draws the same charts for print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from persona_evo.intervals import Interval
from persona_evo.jobs import files
from persona_evo.report.templating import environment

SERIES = 8
"""Number of colours; further lines reuse them and are dashed."""

LETTER = 6.8
"""Mean width of a letter in pixels."""

RISE, RUN = 0.6, 0.83
"""The height and the width of a slanted name, as shares of its length."""

SLANT = 70.0
"""The height of slanted names from which a chart becomes higher."""

MOST_LETTERS = 32
"""The largest number of letters of a slanted name."""

Point = tuple[float, float]


@dataclass
class Series:
    """The data that are drawn in one colour.

    Attributes:
        name: name in the legend; "" for no entry.
        points: (x, y) in the order in which they are joined.
        style: "line", "steps" (a value holds until the next one), "dots" or "linedots".
        colour: number of the colour; by position if None, -1 for grey.
        dashed: whether the line is dashed.
        spans: (x, low, high) drawn as thin vertical lines: intervals, or minimum and maximum.
        band: (x, low, high) drawn as a light area.
        end: a sign at the last point: "skull", "dot" or "".
    """

    name: str
    points: Sequence[Point] = ()
    style: Literal["line", "steps", "dots", "linedots"] = "line"
    colour: int | None = None
    dashed: bool = False
    spans: Sequence[tuple[float, float, float]] = ()
    band: Sequence[tuple[float, float, float]] = ()
    end: str = ""


class Tick(NamedTuple):
    """A position on an axis, in pixels, and its text."""

    at: float
    text: str


@dataclass
class Axis:
    """An axis of a chart.

    Attributes:
        label: its name.
        low, high: ends that are always included; taken from the data if None.
        logarithmic: whether the scale is logarithmic (positive values), with ticks at the values of `at`.
        whole: whether ticks are at whole numbers only.
        at: values that have ticks; chosen automatically if empty.
        names: texts for 0, 1, 2, ... instead of numbers.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    logarithmic: bool = False
    whole: bool = False
    at: Sequence[float] = ()
    names: Sequence[str] = ()
    ends: tuple[float, float] = field(default=(0.0, 1.0), init=False)
    pixels: tuple[float, float] = field(default=(0.0, 1.0), init=False)

    def fit(self, values: Iterable[float]) -> None:
        """Set the ends so that all finite values fit."""
        found = [v for v in (*values, self.low, self.high, *self.at) if v is not None and math.isfinite(v)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        if self.names:
            low, high = -0.5, len(self.names) - 0.5
        elif self.logarithmic:
            low, high = low / 1.25, high * 1.25
        else:
            room = (high - low) * 0.05 or abs(high) * 0.05 or 0.5
            low = low if self.low == low else low - room
            high = high if self.high == high else high + room
        self.ends = low, high

    def __call__(self, value: float) -> float:
        """Return the position of a value, in pixels."""
        low, high = self.ends
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        start, end = self.pixels
        return round(start + (value - low) / (high - low) * (end - start), 1)

    @property
    def ticks(self) -> list[Tick]:
        """The ticks, few enough for their texts not to touch."""
        if self.names:
            return [Tick(self(k), name) for k, name in enumerate(self.names)]
        values = list(self.at) if self.at else _round_values(*self.ends, 5, self.whole)
        skip = max(1, math.ceil(len(values) / 9))
        return [Tick(self(v), f"{v:,.10g}") for v in values[::-1][::skip][::-1]]


class Chart:
    """A chart of any kind, which templates show as SVG."""

    def svg(self) -> str:
        """Return the chart as a part of a page."""
        raise NotImplementedError

    def __html__(self) -> str:
        return self.svg()


@dataclass
class Plot(Chart):
    """Lines, dots and blocks over two axes, with a legend below.

    Attributes:
        series: the data, in the order of colours.
        across: the horizontal axis.
        up: the vertical axis.
        title: text above the chart, also for screen readers.
        width, height: size in pixels without legend and title.
        marked: (name, value) of dashed horizontal lines.
        blocks: whether spans are wide blocks, such as parts of bars.
    """

    series: Sequence[Series]
    across: Axis
    up: Axis
    _: KW_ONLY
    title: str = ""
    width: int = 480
    height: int = 300
    marked: Sequence[tuple[str, float]] = ()
    blocks: bool = False

    def fit(self) -> None:
        """Set the ends of both axes so that everything fits."""
        self.across.fit(p[0] for s in self.series for p in (*s.points, *s.spans, *s.band))
        ys = [p[1] for s in self.series for p in s.points]
        ys += [v for s in self.series for p in (*s.spans, *s.band) for v in p[1:]]
        self.up.fit([*ys, *(value for _, value in self.marked)])

    def svg(self) -> str:
        """Return the chart as a part of a page."""
        across, up, width, height = self.across, self.up, self.width, self.height
        self.fit()
        top = 26 if self.title else 8
        turned = bool(across.names) and max(map(len, across.names)) * LETTER > (width - 70) / len(across.names)
        slant = min(MOST_LETTERS, max(map(len, across.names))) * LETTER * RISE if turned else 0.0
        height += round(max(0.0, slant - SLANT))
        bottom = (46 if across.label else 26) + slant
        up.pixels = (top + height - bottom, top + 6)
        left = 22 + max((len(t.text) for t in up.ticks), default=1) * LETTER + (16 if up.label else 0)
        across.pixels = (left, width - 12)
        if across.ticks and not turned:  # the last text is centred on its tick, and must not leave the chart
            last = across.ticks[-1]
            across.pixels = (left, width - 12 - max(0.0, last.at + len(last.text) * LETTER / 2 + 6 - width))
        drawn = [_drawn(s, k, across, up) for k, s in enumerate(self.series)]
        legend, more = _legend([d for d in drawn if d["name"]], width, top + height + 4)
        lines = [{"name": name, "at": up(value)} for name, value in self.marked]
        return _svg(
            "plot",
            width=width,
            height=top + height + more,
            title=self.title,
            across=across,
            up=up,
            series=drawn,
            legend=legend,
            marked=lines,
            turned=[_short(t.text, _letters(t.at)) for t in across.ticks] if turned else [],
            spans="blocks" if self.blocks else "spans",
        )


@dataclass
class Bars(Chart):
    """Horizontal bars with their intervals and the value beside each; row k has colour k.

    Attributes:
        title: text above the bars.
        rows: names and values.
        low, high: ends of the axis that are always included.
        percent: whether values are shares, shown in percent.
        width: width in pixels.
    """

    title: str
    rows: Sequence[tuple[str, Interval]]
    low: float = 0.0
    high: float | None = None
    _: KW_ONLY
    percent: bool = False
    width: int = 336

    def axis(self) -> Axis:
        """Return the horizontal axis, on which all values and intervals fit."""
        shown = [v for _, v in self.rows]
        ends = [v.value for v in shown] + [e for v in shown if v.known for e in (v.low, v.high)]
        high = self.high if self.high is not None else self.low
        axis = Axis(low=min([self.low, *ends]), high=max([high, *ends]))
        if axis.low == axis.high:
            axis.high = axis.low + 1 if axis.low is not None else 1
        axis.fit([])
        return axis

    def text(self, value: float) -> str:
        """Format a value for display."""
        if self.percent:
            return f"{value * 100:.0f} %"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"

    def svg(self) -> str:
        """Return the chart as a part of a page."""
        axis = self.axis()
        name_width = min(158, max((len(name) for name, _ in self.rows), default=0) * LETTER + 8)
        axis.pixels = (name_width, self.width - 58)
        body = []
        for k, (name, value) in enumerate(self.rows):
            zero, at = axis(max(0.0, axis.ends[0])), axis(value.value)
            body.append(
                {
                    "name": _short(name, int(name_width / LETTER)),
                    "whole": name,
                    "y": 26 + 22 * k,
                    "class": f"s{k % SERIES}",
                    "x": min(zero, at),
                    "width": max(1.0, abs(at - zero)),
                    "text": self.text(value.value),
                    "span": (axis(value.low), axis(value.high)) if value.low < value.high else None,
                }
            )
        height = 32 + 22 * len(self.rows)
        return _svg("bars", width=self.width, height=height, title=self.title, rows=body, axis=axis)


def stacked(names: Sequence[str], parts: Mapping[str, Sequence[float]], label: str) -> Plot:
    """Create stacked bars; `parts` maps a name to the size of that part in each bar."""
    base = [0.0] * len(names)
    blocks = []
    for values in parts.values():
        blocks.append([(x, base[x], base[x] + v) for x, v in enumerate(values)])
        base = [b + v for b, v in zip(base, values, strict=True)]
    series = [Series(name, spans=own) for name, own in zip(parts, blocks, strict=True)]
    up = Axis(label, low=0, high=max(base, default=1.0))
    return Plot(series, Axis(names=names), up, width=max(360, 90 + 44 * len(names)), blocks=True)


def standalone(chart: Chart) -> str:
    """Return a chart as the text of an SVG file of its own, with the colours of a page."""
    style = environment().get_template("chart.css").render()
    head, _, rest = chart.svg().partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}'


def save(chart: Chart, path: Path) -> Chart:
    """Save a chart as an SVG file and return the chart."""
    files.write_atomically(path, standalone(chart))
    return chart


def _svg(name: str, **values: Any) -> str:
    return environment().get_template(f"charts/{name}.svg").render(**values)


def _drawn(series: Series, place: int, across: Axis, up: Axis) -> dict[str, Any]:
    """Return a series in pixels."""
    colour = place if series.colour is None else series.colour
    points = [(across(x), up(y)) for x, y in series.points if math.isfinite(y)]
    path = points
    if series.style == "steps":
        path = [q for p, after in zip(points, [*points[1:], points[-1]], strict=True) for q in (p, (after[0], p[1]))]
    band = [(across(x), up(high)) for x, _, high in series.band]
    band += [(across(x), up(low)) for x, low, _ in reversed(series.band)]
    return {
        "name": series.name,
        "class": "grey" if colour < 0 else f"s{colour % SERIES}",
        "dashed": series.dashed or colour >= SERIES,
        "path": _joined(path) if series.style != "dots" and len(path) > 1 else "",
        "dots": points if "dots" in series.style or len(points) == 1 else [],
        "spans": [(across(x), up(low), up(high)) for x, low, high in series.spans],
        "band": _joined(band),
        "end": (series.end, *points[-1]) if series.end and points else None,
    }


def _joined(points: Iterable[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _legend(series: Sequence[dict[str, Any]], width: int, top: float) -> tuple[list[dict[str, Any]], int]:
    """Lay the names of drawn series out in lines of the chart's width; return them and the height they take."""
    if len(series) < 2:
        return [], 0
    found: list[dict[str, Any]] = []
    x, y = 8.0, top + 10
    for one in series:
        wide = 30 + len(one["name"]) * LETTER
        if found and x + wide > width:
            x, y = 8.0, y + 20
        found.append({**one, "x": round(x, 1), "y": y})
        x += wide + 12
    return found, int(y - top + 14)


def _round_values(low: float, high: float, most: int, whole: bool) -> list[float]:
    """Return round numbers between two values."""
    raw = (high - low) / most
    power = 10 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * 0.999)
    step = max(1, round(step)) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _letters(at: float) -> int:
    """Return the number of letters of a slanted name that ends at this distance from the left edge."""
    return min(MOST_LETTERS, int(at / (LETTER * RUN)))


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(1, letters - 1)] + "…"
