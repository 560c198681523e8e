"""Tests that charts, maps and replays show what they should."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageSequence

from persona_evo import intervals
from persona_evo.errors import SettingsError, VerificationError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level, Metric
from persona_evo.games.main_metrics import main_metrics
from persona_evo.intervals import Interval
from persona_evo.jobs import dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.analysis import analyse
from persona_evo.playtest.records import End, Playthrough
from persona_evo.playtest.summaries import summarise
from persona_evo.report import charts, folder, maps, pictures, plots, replay, tile_counts
from tests.playtest.makers import INFOS, group, played

SUMMARIES = summarise(group("$one$", "a_b", 3, 6) + group("two", "other", 5, 6), INFOS)

LEVEL = "XXXXXXX\nXH   eX\nX T  MX\nXXXXXXX\n"
TURNED = LEVEL.replace("XH   eX", "Xe   HX")


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.get("minidungeons2")


@pytest.fixture(scope="module")
def level(game: Game) -> Level:
    loaded: Level = game.load(LEVEL, "tiny")
    return loaded


def walked(game: Game, level: Level, actions: list[str], **changes: Any) -> Playthrough:
    """Return a playthrough of the level by names of actions."""
    state = game.start(level)
    positions = [game.locate(level, state)] if game.locate else []
    for text in actions:
        game.rules().step(level.tables, state, game.parse_action(level, state, text), np.ones(2, dtype=np.int64))
        positions.append(game.locate(level, state) if game.locate else None)
    record = played(level.name, actions=actions, steps=len(actions), positions=positions, **changes)
    return dataclasses.replace(record, metrics=game.measure(level, state))


def opened(path: Path) -> Any:
    with Image.open(path) as picture:
        picture.load()
        return picture.copy()


def test_charts_show_their_values() -> None:
    journal = [
        {"generation": g, "island": i, "best": 0.1 * g + i, "mean": -math.inf if g == 0 else 0.05 * g}
        for g in range(5)
        for i in range(2)
    ]
    chosen = [s for s in SUMMARIES if s.level == "$one$"]
    bars = [figure.content for figure in plots.main_results(chosen, INFOS).figures]
    first = bars[0].svg()
    assert 'aria-label="win rate"' in first and "50 %" in first and "a_b" in first
    for chart in (
        *bars,
        plots.fitness(journal, 2.0),
        plots.fitness(journal[:1]),
        plots.fitness([]),
        plots.hall_of_fame([(5, 0.5), (3, 0.4), (9, 0.45)]),
        charts.stacked(["a", "b"], {"x": [1, 2]}, "n"),
        plots.ranges([1, 2], [(0, 1, 2), (1, 2, 5)], "x", "y"),
        plots.curves([1, 2], {"<a>": [1, 2]}, "x", "y"),
        plots.rates([0.1, 1, 10], {"a": [intervals.wilson(k, 9) for k in (1, 5, 9)]}, "c", "%", 1.0),
    ):
        svg = chart.svg()
        drawn = ElementTree.fromstring(svg)
        places = ("x", "y", "x1", "y1", "cx", "cy")
        numbers = [float(v) for e in drawn.iter() for k, v in e.attrib.items() if k in places]
        width, height = (float(drawn.attrib[k]) for k in ("width", "height"))
        assert numbers and all(-1 <= v <= max(width, height) + 1 for v in numbers), svg
    assert "<a>" not in plots.curves([1], {"<a>": [1], "b": [2]}, "x", "y").svg()


def test_a_chart_as_a_file_has_its_own_colours(tmp_path: Path) -> None:
    chart = plots.curves([1, 2], {"a": [1, 2]}, "x", "y")
    assert charts.save(chart, tmp_path / "c.svg") == chart
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "--series0" in text and "prefers-color-scheme: dark" in text


def test_bars_start_at_nought_and_go_both_ways() -> None:
    rows = [("up", Interval(2.0, 1.0, 3.0, 5)), ("down", Interval(-2.0, -2.0, -2.0, 1))]
    drawn = ElementTree.fromstring(charts.Bars("utility", rows).svg())
    up, down = (e for e in drawn.iter() if e.tag == "rect")
    left, wide = (float(down.attrib[k]) for k in ("x", "width"))
    assert left + wide == pytest.approx(float(up.attrib["x"]), abs=0.2) and wide > 20
    assert sum(e.attrib.get("class") == "span" for e in drawn.iter()) == 1, "one value has no interval"


def test_ticks_are_round_and_whole_where_asked() -> None:
    axis = charts.Axis(whole=True, low=0)
    axis.fit([0, 3])
    assert [t.text for t in axis.ticks] == ["0", "1", "2", "3"]
    wide = charts.Axis()
    wide.fit([0, 61_000])
    assert [t.text for t in wide.ticks] == ["0", "20,000", "40,000", "60,000"]


def test_hit_points_end_with_a_skull_where_somebody_died(game: Game, level: Level) -> None:
    alive = walked(game, level, ["E"] * 4, hit_points=[10, 10, 9, 9, 9])
    dead = dataclasses.replace(alive, player="b", outcome="lost", hit_points=[10, 5, 0, 0, 0])
    drawn = folder.hit_points(analyse(game, [level], [alive, dead]))["tiny"].svg()
    assert drawn.count('class="skull"') == 1 and "runner" in drawn and "hit points" in drawn
    base = dataclasses.replace(alive, player="runner/ucb1")
    both = folder.hit_points(analyse(game, [level], [alive, base], baselines={"runner": "runner/ucb1"}))["tiny"]
    assert "runner/ucb1" in both.svg(), "with the baseline"
    assert folder.hit_points(analyse(game, [level], [walked(game, level, ["E"])])) == {}


def test_visits_are_counted_per_playthrough() -> None:
    records = [played(positions=[(0, 0), (1, 0), (1, 0)]), played(positions=[(0, 0), (9, 9)])]
    assert tile_counts.visits(records, 2, 3).tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert tile_counts.visits([], 1, 1).tolist() == [[0.0]]


def test_a_plan_whose_places_are_too_far_apart_is_not_drawn(game: Game, level: Level, tmp_path: Path) -> None:
    boundless = dataclasses.replace(level, facts={})
    with pytest.raises(SettingsError, match="more than can be drawn"):
        maps.plan(game, boundless, [(0, 0), (-5, 10**9)], tmp_path / "plan.png")


def test_a_map_is_hot_where_the_hero_was(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    path = maps.annotated(game, level, [record], tmp_path / "heat.png")
    assert path is not None
    there, floor = tile(path, 3, 1), tile(path, 2, 2)
    assert there[0] > there[2] + 60 and abs(floor - tile(path, 4, 2)).max() < 30, "hot where the hero was"
    few = dataclasses.replace(record, positions=[(1, 1)] * 40 + record.positions)
    assert maps.annotated(game, level, [few], path) is not None
    assert tile(path, 3, 1)[0] > tile(path, 3, 1)[2] + 60, "also few visits stand out from the floor"


def tile(path: Path, x: int, y: int) -> np.ndarray:
    """Colour near the upper left corner of a tile of a map of 7 x 4 tiles."""
    picture = opened(path).convert("RGB")
    scale = maps.LARGEST
    margin = picture.width - 7 * scale
    return np.asarray(picture.getpixel((margin + x * scale + 4, margin + y * scale + 10))).astype(int)


def test_findings_deaths_and_damage_are_marked(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E"] * 4, hit_points=[10, 10, 8, 8, 8])
    plain = maps.annotated(game, level, [record], tmp_path / "plain.png", [])
    marks = [maps.Marker(1, "problem", ((2, 2), (90, 90))), maps.Marker(12, "notice", ((2, 2),))]
    marked = maps.annotated(game, level, [record], tmp_path / "marked.png", marks)
    dead = dataclasses.replace(record, outcome="lost")
    skull = maps.annotated(game, level, [dead], tmp_path / "skull.png", [])
    assert plain and marked and skull
    changed = [np.argwhere((np.asarray(opened(p)) != np.asarray(opened(plain))).any(axis=2)) for p in (marked, skull)]
    margin = opened(plain).width - 7 * maps.LARGEST
    middle = [(spots.mean(axis=0) - margin) // maps.LARGEST for spots in changed]
    assert [tuple(m[::-1].astype(int)) for m in middle] == [(2, 2), (5, 1)], "at the finding's tile, and where it died"
    costly = dataclasses.replace(record, hit_points=[20, 19, 16, 15, 14])
    assert tile_counts.damage([record]) == tile_counts.damage([costly]) == {(3, 1): 2.0}, (
        "what each move costs is no damage"
    )
    assert tile_counts.deaths([dead, dead, record]) == {(5, 1): 2}
    assert maps.signs([record]) == {"route", "harm"} and maps.signs([dead]) == {"route", "harm", "deaths"}
    assert (
        maps.signs([played(positions=[(0, 0), (3, 0)])]) == {"jump"}
        and maps.signs([played(positions=[(0, 0)])]) == set()
    )


def test_a_map_goes_on_after_the_plan_to_the_end(game: Game, level: Level) -> None:
    record = walked(game, level, ["E", "E"])
    end = End("won", 1.0, 4, actions=["E", "E"], positions=[(4, 1), (5, 1)])
    whole = dataclasses.replace(record, end=end)
    assert whole.all_positions == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]
    assert tile_counts.visits([whole], 4, 7)[1].tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert maps.usual([record, whole, whole]) is whole


def test_games_without_drawing_have_plain_maps_and_no_replays(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    silent, gridless = dataclasses.replace(game, draw=None), dataclasses.replace(level, facts={})
    for at, (who, where) in enumerate([(silent, level), (game, gridless)]):
        path = maps.annotated(who, where, [record], tmp_path / f"{at}.png")
        assert path is not None and maps.skipped(who, where, [record]) == ""
        assert opened(path).width > 6 * maps.LARGEST
    bounds, textless = maps.ground(gridless, record.positions), dataclasses.replace(gridless, text="seed = 3")
    assert (bounds.width, bounds.height) == (7, 4), "the map that the text is"
    bounds = maps.ground(textless, record.positions)
    assert (bounds.width, bounds.height) == tuple(1 + max(p[k] for p in record.positions) for k in (0, 1))
    assert replay.frames(silent, level, record) is None
    nowhere = dataclasses.replace(record, positions=[])
    assert "does not tell where" in maps.skipped(game, level, [nowhere])
    far = dataclasses.replace(record, positions=[(0, 0), (10**6, 3)])
    assert "column 1000001" in maps.skipped(game, gridless, [far])
    assert maps.annotated(game, gridless, [far], tmp_path / "no.png") is None and not (tmp_path / "no.png").exists()


def test_choice_of_the_median_the_best_and_the_worst() -> None:
    records = [played(utility=u, steps=s, trial=t) for t, (u, s) in enumerate([(1, 9), (0, 5), (1, 7), (0.5, 3)])]
    median, best, worst = replay.choose(records)
    assert (median.utility, best.trial, worst.trial) == (0.5, 2, 1)
    assert replay.choose(records[:1]).median is records[0]
    with pytest.raises(ValueError, match="no playthroughs"):
        replay.choose([])


def test_a_replay_shows_every_state_and_stays_on_the_last(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    pictures = replay.frames(game, level, record, scale=16)
    assert pictures is not None and len(pictures) == 5
    path = replay.save_gif(pictures, tmp_path / "r.gif")
    with Image.open(path) as gif:
        durations, first, last = [], None, None
        for frame in ImageSequence.Iterator(gif):
            durations.append(frame.info["duration"])
            last = frame.convert("RGB")
            first = first or last
    assert durations == [replay.STEP_MS] * 4 + [replay.HOLD_MS] and gif.info.get("loop") == 0
    assert first is not None and last is not None
    wanted = np.asarray(pictures[-1].picture.convert("RGB")).astype(int)
    assert np.abs(np.asarray(last).astype(int) - wanted).mean() < 6
    assert np.abs(np.asarray(first).astype(int) - wanted).mean() > 1


def test_a_replay_keeps_what_did_not_change(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    board = rng.choice(np.array([[10, 20, 30], [200, 100, 0], [0, 0, 0]], dtype=np.uint8), (40, 30))
    pictures = []
    for k in [0, 1, 1, 2, 0, 5, 5]:
        pixels = board.copy()
        pixels[k : k + 3, k : k + 3] = (255, 255, 255)
        pictures.append(Image.fromarray(pixels))
    shown_for = [100] * 6 + [500]
    path = replay.save_gif(list(map(replay.Frame, pictures, shown_for)), tmp_path / "r.gif")
    shown = []
    with Image.open(path) as gif:
        for frame in ImageSequence.Iterator(gif):
            shown += [np.asarray(frame.convert("RGB")).astype(int)] * round(frame.info["duration"] / 100)
    wanted = pictures + [pictures[-1]] * 4
    assert len(shown) == len(wanted)
    for found, picture in zip(shown, wanted, strict=True):
        assert np.abs(found - np.asarray(picture).astype(int)).max() <= 8


def test_a_replay_of_another_level_is_refused(game: Game, level: Level) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    other = game.load(TURNED, "tiny")
    with pytest.raises(VerificationError, match="does not replay"):
        list(replay.states(game, other, record))


def test_long_replays_leave_out_frames_but_not_the_ends() -> None:
    pictures = [replay.Frame(Image.new("RGB", (4, 4), (k % 256, k // 256, 0))) for k in range(1000)]
    kept = replay._thinned(pictures)
    assert len(kept) == replay.MOST_FRAMES and kept[0] is pictures[0] and kept[-1] is pictures[-1]


def test_pictures_of_a_replay_must_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no pictures"):
        replay.save_gif([], tmp_path / "r.gif")
    with pytest.raises(ValueError, match="different sizes"):
        replay.save_gif([replay.Frame(Image.new("RGB", (n, 2))) for n in (2, 3)], tmp_path / "r.gif")


def test_a_replay_shows_what_a_game_draws_within_a_step(tmp_path: Path) -> None:
    """A chain of four: the pair placed, then what pops and what is left, four times; other drops are one frame."""
    puyo = registry.get("puyo")
    (stairs,) = mapsets.resolve(puyo, ["stairs01"])
    record = walked(puyo, stairs, ["6U", "1U", "5U"])
    shown = replay.frames(puyo, stairs, record, scale=16)
    assert shown is not None and len(shown) == 4 + 9
    assert [f.ms for f in shown[:2]] == [replay.STEP_MS] * 2 and shown[-1].ms == replay.HOLD_MS
    assert all(0 < f.ms < 300 for f in shown[:-1])
    path = replay.save_gif(shown, tmp_path / "r.gif")
    with Image.open(path) as gif:
        frames = [(f.convert("RGB"), f.info["duration"]) for f in ImageSequence.Iterator(gif)]
    assert [ms for _, ms in frames] == [f.ms for f in shown] and path.stat().st_size < 60_000
    glowing = [(np.abs(np.asarray(f).astype(int) - (0xFF, 0xF3, 0xB0)).sum(axis=2) < 20).sum() for f, _ in frames]
    assert [g > 100 for g in glowing] == [False] * 3 + [True, False] * 4 + [False] * 2


@pytest.mark.parametrize("name", sorted(registry.CATALOG))
def test_bars_show_what_a_game_calls_its_main_metrics(name: str) -> None:
    infos = registry.get(name).metrics
    wanted = {m.name for m in infos if m.main}
    assert wanted and all(not m.clock and not m.costly for m in infos if m.main), "each game says which they are"
    measured = {m.symbol: min(1.0, m.high) for m in infos}
    records = [dataclasses.replace(played(trial=k, seconds=0.5), metrics=measured) for k in range(2)]
    summary = summarise(records, infos)[0]
    text = " ".join(figure.content.svg() for figure in plots.main_results([summary], infos).figures)
    drawn = re.findall('aria-label="(.*?)"', text)
    assert {"win rate", *wanted, "steps", "utility"} <= set(drawn) and len(drawn) == len(set(drawn)) <= len(wanted) + 3


def test_games_that_name_no_main_metrics_show_some_all_the_same() -> None:
    clock, flag, costly = (
        Metric("ST", "s", "", clock=True),
        Metric("DEAD", "d", "", high=1, better="lower"),
        Metric("CP", "c", "", better="higher", costly=True),
    )
    plain, share = Metric("GOLD", "g", "", better="higher"), Metric("PR", "p", "", high=1, ratio=True)
    neutral = [Metric(f"N{k}", str(k), "") for k in range(6)]
    rest = [clock, flag, costly]
    assert main_metrics([*rest, plain, share, *neutral]) == [share]
    assert main_metrics([*rest, plain, *neutral]) == [plain]
    assert main_metrics([*rest, *neutral]) == neutral[:4]
    assert main_metrics(rest) == [] and main_metrics([dataclasses.replace(clock, main=True), share])[0].symbol == "ST"


def test_workers_draw_what_this_process_draws(
    game: Game, level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "WORTH", 0.0)
    record = walked(game, level, ["E", "E", "S"])
    wrong = dataclasses.replace(record, metrics={**record.metrics, "ST": 99.0})
    for name, workers in (("here", Workers(1)), ("there", Workers(2, "threading"))):
        (tmp_path / name).mkdir()
        wanted = [
            pictures.MapDrawing([record], str(tmp_path / name / "map.png"), (), 1.0),
            pictures.ReplayDrawing([record], str(tmp_path / name / "replay.gif")),
            pictures.ReplayDrawing([wrong], str(tmp_path / name / "wrong.gif")),
        ]
        with workers:
            found = pictures.draw(game, {level.name: level}, wanted, workers)
        assert found[:2] == ["", ""] and "does not replay" in found[2]
    for file in ("map.png", "replay.gif"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()
