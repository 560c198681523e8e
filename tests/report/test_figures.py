"""Tests figures for print: every kind of chart and the map, in every format."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from PIL import Image

import persona_evo as pe
from persona_evo import intervals
from persona_evo.games import registry
from persona_evo.intervals import Interval
from persona_evo.report import charts, figures, plots
from persona_evo.report.figures import Drawing
from tests.playtest.makers import played

LEVEL = "XXXXXXX\nXH   eX\nX T  MX\nXXXXXXX\n"

BARS = charts.Bars("utility", [("up $x$", Interval(2.0, 1.0, 3.0, 5)), ("down", Interval(-2.0, -2.0, -2.0, 1))])

CHARTS: list[charts.Chart] = [
    BARS,
    plots.fitness([{"generation": g, "island": i, "best": g + i, "mean": g} for g in range(3) for i in range(9)], 2.0),
    plots.fitness([]),
    plots.rates([0.1, 1, 10], {"a": [intervals.wilson(k, 9) for k in (1, 5, 9)]}, "c", "%", 1.0),
    charts.stacked(["a", "a level of a long name"], {"x": [1, 2], "y": [0, 3]}, "objects"),
    charts.Plot(
        [charts.Series("dead", [(0, 5), (3, 0)], "steps", band=[(0, 4, 6), (3, 0, 1)], end="skull")],
        charts.Axis("turn"),
        charts.Axis("hit points"),
        title="a title",
    ),
]


@pytest.mark.parametrize("form", figures.FORMATS)
@pytest.mark.parametrize("chart", CHARTS)
def test_charts_are_drawn_the_same_each_time(chart: charts.Chart, form: str) -> None:
    drawn = figures.rendered(chart, form)
    assert drawn == figures.rendered(chart, form) and len(drawn) > 2000


def test_a_pdf_is_a_column_wide_and_holds_its_fonts() -> None:
    drawn = figures.rendered(BARS, "pdf")
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+)", drawn)
    assert float(box) == pytest.approx(72 * figures.WIDTH)
    assert b"/FontFile2" in drawn and b"/Type3" not in drawn and b"CreationDate" not in drawn


def test_a_picture_is_sharp_and_has_no_background() -> None:
    with Image.open(io.BytesIO(figures.rendered(BARS, "png"))) as picture:
        assert picture.width == figures.WIDTH * figures.RESOLUTION
        assert picture.mode == "RGBA" and picture.getpixel((0, 0))[3] == 0


def test_a_map_is_hot_where_the_hero_was_and_shows_the_way() -> None:
    game = registry.get("minidungeons2")
    level = game.load(LEVEL, "tiny")
    record = played("tiny", positions=[(1, 1), (2, 1), (3, 1), (5, 2)], outcome="lost")
    heat = figures.heat(game, level, [record, record], 2.0)
    assert heat is not None and (heat.width, heat.height, dict(heat.deaths)) == (7, 4, {(5, 2): 2})
    size = heat.board.shape[1] // 7
    there, floor = (heat.board[size + 4, x * size + 4].astype(int) for x in (3, 4))
    assert there[0] - there[2] > floor[0] - floor[2] + 30
    svg = figures.rendered(heat, "svg").decode()
    assert figures.COLOURS[0] in svg, "the route"
    assert figures.heat(game, level, [played("tiny", positions=[])], 1.0) is None


def test_figures_have_names_of_their_own(tmp_path: Path) -> None:
    twice = [Drawing(("a/b", "win rate"), BARS), Drawing(("a_b", "win rate"), BARS)]
    found = figures.save(twice, tmp_path / "new", "svg")
    assert [f.name for f in found] == ["a_b-win_rate.svg", "a_b-win_rate-2.svg"] and all(f.is_file() for f in found)


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pe.PersonaEvoError, match="no such format"):
        figures.save([Drawing(("a",), BARS)], tmp_path, "bmp")
    with pytest.raises(pe.PersonaEvoError, match="nothing to draw"):
        figures.save([], tmp_path)
    with pytest.raises(pe.PersonaEvoError, match="not the folder of a run"):
        pe.save_figures(tmp_path, tmp_path / "figures")
