"""Charts, heatmaps and replays: that the files are pictures and show what they should."""

from __future__ import annotations

import dataclasses
import math
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

from persona_evo.errors import VerificationError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level, Metric, main_metrics
from persona_evo.playtest import metrics
from persona_evo.playtest.records import Playthrough
from persona_evo.report import plots, replay
from tests.playtest.makers import INFOS, group, played

SUMMARIES = metrics.summarise(group("$one$", "a_b", 3, 6) + group("two", "other", 5, 6), INFOS)

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
    """A playthrough of the level by names of actions."""
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


def test_charts_are_pictures_with_something_on_them(tmp_path: Path) -> None:
    journal = [
        {"generation": g, "island": i, "best": 0.1 * g + i, "mean": -math.inf if g == 0 else 0.05 * g}
        for g in range(5)
        for i in range(2)
    ]
    made = [
        plots.metric_bars(SUMMARIES, tmp_path / "bars.png", INFOS, "$one$"),
        plots.win_rates(SUMMARIES, tmp_path / "wins.png"),
        plots.fitness(journal, tmp_path / "fitness.png", limit=2.0),
        plots.fitness(journal[:1], tmp_path / "one.png"),
        plots.hall_of_fame([(5, 0.5), (3, 0.4), (9, 0.45)], tmp_path / "hall.png"),
    ]
    for path in made:
        picture = opened(path)
        assert picture.format is None and min(picture.size) > 200, path
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 20, path
    with pytest.raises(ValueError, match="no summaries"):
        plots.metric_bars(SUMMARIES, tmp_path / "none.png", INFOS, "three")


def test_charts_load_no_windows() -> None:
    assert "matplotlib.pyplot" not in sys.modules or sys.modules["matplotlib"].get_backend().lower() == "agg"


def test_equal_results_give_equal_files(tmp_path: Path) -> None:
    one = plots.win_rates(SUMMARIES, tmp_path / "a.png").read_bytes()
    assert one == plots.win_rates(SUMMARIES, tmp_path / "b.png").read_bytes()


def test_visits_are_counted_per_playthrough() -> None:
    records = [played(positions=[(0, 0), (1, 0), (1, 0)]), played(positions=[(0, 0), (9, 9)])]
    assert plots.visits(records, 2, 3).tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert plots.visits([], 1, 1).tolist() == [[0.0]]


def test_a_heatmap_is_hot_where_the_hero_was(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    path = plots.heatmap(game, level, [record], tmp_path / "heat.png", "$x$")
    assert path is not None
    pixels = np.asarray(opened(path).convert("RGB")).astype(int)
    hot = (pixels[:, :, 0] > 90) & (pixels[:, :, 2] < 90) & (pixels[:, :, 1] < 60)
    assert hot.sum() > 300


def test_games_without_drawing_have_plain_heatmaps_and_no_replays(game: Game, level: Level, tmp_path: Path) -> None:
    record = walked(game, level, ["E", "E", "E", "E"])
    silent, gridless = dataclasses.replace(game, draw=None), dataclasses.replace(level, facts={})
    sizes = []
    for at, (who, where) in enumerate([(silent, level), (game, gridless)]):
        path = plots.heatmap(who, where, [record], tmp_path / f"{at}.png")
        assert path is not None and plots.skipped(who, where, [record]) == ""
        picture = np.asarray(opened(path).convert("RGB")).astype(int)
        assert ((picture[:, :, 0] > 90) & (picture[:, :, 2] < 90) & (picture[:, :, 1] < 60)).sum() > 300
        sizes.append(plots.ground(where, [record]))
    assert (sizes[1].width, sizes[1].height) == tuple(1 + max(p[k] for p in record.positions) for k in (0, 1))
    assert replay.frames(silent, level, record) is None
    nowhere = dataclasses.replace(record, positions=[])
    assert "no place" in plots.skipped(game, level, [nowhere])
    far = dataclasses.replace(record, positions=[(0, 0), (10**6, 3)])
    assert "1000000, 3" in plots.skipped(game, gridless, [far])
    assert plots.heatmap(game, gridless, [far], tmp_path / "no.png") is None and not (tmp_path / "no.png").exists()


def test_a_heatmap_without_a_layer_has_no_colour_bar(
    game: Game, level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    module = types.ModuleType("plain_draw")
    module.heatmap = lambda ax, grid, counts, title: seen.append((counts.shape, title))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "plain_draw", module)
    plain = dataclasses.replace(game, draw="plain_draw:draw")
    assert plots.heatmap(plain, level, [walked(game, level, ["E"])], tmp_path / "plain.png") is not None
    assert seen == [((4, 7), "runner")]


def test_choice_of_the_median_and_the_best() -> None:
    records = [played(utility=u, steps=s, trial=t) for t, (u, s) in enumerate([(1, 9), (0, 5), (1, 7), (0.5, 3)])]
    median, best = replay.choose(records)
    assert (median.utility, best.trial) == (0.5, 2)
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
def test_bars_show_what_a_game_calls_its_main_metrics(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    real = plots._grouped
    monkeypatch.setattr(plots, "_grouped", lambda ax, groups: (drawn.extend(groups), real(ax, groups)))
    infos = registry.get(name).metrics
    wanted = {m.name for m in infos if m.main}
    assert wanted and all(not m.clock and not m.costly for m in infos if m.main), "each game says which they are"
    measured = {m.symbol: min(1.0, m.high) for m in infos}
    records = [dataclasses.replace(played(trial=k, seconds=0.5), metrics=measured) for k in range(2)]
    plots.metric_bars(metrics.summarise(records, infos), tmp_path / "bars.png", infos)
    assert {"win rate", *wanted, "steps", "utility"} <= set(drawn) and len(drawn) == len(set(drawn)) <= len(wanted) + 4


def test_games_that_name_no_main_metrics_show_some_all_the_same() -> None:
    clock, flag, costly = Metric("ST", "s", "", clock=True), Metric("DEAD", "d", "", high=1, better="lower"), Metric(
        "CP", "c", "", better="higher", costly=True)  # fmt: skip
    plain, share = Metric("GOLD", "g", "", better="higher"), Metric("PR", "p", "", high=1, ratio=True)
    neutral = [Metric(f"N{k}", str(k), "") for k in range(6)]
    rest = [clock, flag, costly]
    assert main_metrics([*rest, plain, share, *neutral]) == [share]
    assert main_metrics([*rest, plain, *neutral]) == [plain]
    assert main_metrics([*rest, *neutral]) == neutral[:4]
    assert main_metrics(rest) == [] and main_metrics([dataclasses.replace(clock, main=True), share])[0].symbol == "ST"
