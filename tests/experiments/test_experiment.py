"""Tests experiments: one search and its tree, the file, a folder that continues after any stop, and the evaluation."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import persona_evo as pe
from persona_evo import intervals, statistics
from persona_evo.connect import traces
from persona_evo.connect.local_pool import LocalPool
from persona_evo.connect.traces import load as load_trace
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import GameError, InputError, RunError, SettingsError
from persona_evo.experiments import files as reading
from persona_evo.experiments import job as course
from persona_evo.experiments.design import Cell, Experiment
from persona_evo.experiments.job import ExperimentResults, SearchRecord
from persona_evo.experiments.results import apart, comparisons, curve, summaries, unfit_constants
from persona_evo.experiments.run import Growth, SearchSpec, run
from persona_evo.experiments.subject import ExperimentLevel
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Metric
from persona_evo.games.python_game import from_class
from persona_evo.jobs.progress import Progress
from persona_evo.report import experiment as report
from persona_evo.search.tree_policy import UCB1_CONSTANT
from persona_evo.store import folders
from tests.shared import unsealed

FACTORED = {"field": "3x5", "choices": "factored"}


class Bits:
    """Five choices of two or three; the score is what they spell in a mixed base, turned about so that no greedy rule
    finds the best one."""

    actions = ("a", "b", "c")
    metrics = (Metric("SUM", "sum", "what the choices spell", better="higher"),)

    def __init__(self, chosen: tuple[int, ...] = ()) -> None:
        self.chosen = chosen

    @classmethod
    def from_text(cls, text: str) -> Bits:
        return cls()

    def legal(self) -> list[str]:
        return list(self.actions[: 2 + len(self.chosen) % 2])

    def apply(self, action: str) -> None:
        self.chosen = (*self.chosen, self.actions.index(action))

    def over(self) -> str | None:
        return "ended" if len(self.chosen) == 5 else None

    def measure(self) -> dict[str, float]:
        value = sum(c * 3**i for i, c in enumerate(self.chosen))
        return {"SUM": float(value * 37 % 101) if len(self.chosen) == 5 else 0.0}


ENDS = 2 * 3 * 2 * 3 * 2
NODES = 1 + 2 + 6 + 12 + 36 + 72


@pytest.fixture(scope="module")
def bits() -> tuple[Game, Any]:
    game = from_class(Bits)
    return game, game.load("x\n", "bits")


@pytest.mark.parametrize("workers", [1, 7])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_small_game_is_explored_to_its_end(bits: tuple[Game, Any], workers: int, whole: bool, seed: int) -> None:
    from persona_evo.experiments.run import search

    how = SearchSpec(rollouts=2000, workers=workers, uct_constant=30, save_best_path=whole)
    found = search(ExperimentLevel(*bits), how, seed, score="SUM")
    best = max(sum(c * 3**i for i, c in enumerate(chosen)) * 37 % 101 for chosen in _all())
    assert found.proven and found.stopped == "exhausted" and found.score == best
    assert found.tree.nodes == NODES and found.tree.explored and found.rollouts <= 2000
    nodes = list(found.tree.walk())
    assert len({n.choices for n in nodes}) == NODES
    assert sum(n.count == 0 for n in nodes) == ENDS and all(n.status == "done" for n in nodes)
    assert all(n.visits >= 1 and n.count == len(n.children) for n in nodes)


def _all() -> list[tuple[int, ...]]:
    return list(product(range(2), range(3), range(2), range(3), range(2)))


def test_revisits_go_on_to_the_end_of_the_budget(bits: tuple[Game, Any]) -> None:
    from persona_evo.experiments.run import search

    found = search(ExperimentLevel(*bits), SearchSpec(rollouts=500, terminal="revisit"), 1, score="SUM")
    assert found.rollouts == 500 and found.stopped == "budget" and not found.proven
    assert found.tree.node(0).visits == 500


@pytest.fixture(scope="module")
def one() -> pe.Run:
    return run("its_alive", 600, 8, settings=FACTORED, level="train01", seed=5)


def test_the_same_seed_gives_the_same_search(one: pe.Run) -> None:
    calls: list[int] = []
    again = run(
        "its_alive",
        600,
        8,
        lambda tree: calls.append(tree.nodes),
        1000,
        "CUT_OFF",
        settings=FACTORED,
        level="train01",
        seed=5,
    )
    assert calls == sorted(calls) and len(calls) == 3
    assert again.best == one.best and again.growth == one.growth
    assert np.array_equal(again.tree.links[:600], one.tree.links[:600])
    other = run("its_alive", 600, 8, settings=FACTORED, level="train01", seed=6)
    assert other.best != one.best


def test_growth_and_the_best_game(one: pe.Run) -> None:
    tree, growth = one
    assert tree is one.tree and growth[-1][1] == one.score == one.best.score
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(growth))
    game = registry.get("its_alive")
    (level,) = mapsets.resolve(game, ["train01"], FACTORED)
    actions = LocalPool(game, level).actions([choice for choice, _ in one.best.pairs])
    states = game.replay(level, actions)
    assert game.measure(level, states[-1]) == one.best.metrics and one.best.metrics["PT"] == one.score
    assert all(len(game.legal(level, s)) == n for s, (_, n) in zip(states, one.best.pairs, strict=False))


def test_tree_and_best_game_are_read_again(one: pe.Run, tmp_path: Path) -> None:
    folder = one.save(tmp_path / "kept")
    assert load_trace(folder / "best.json") == one.best
    assert PrefixTree.load(folder / "tree.npz").node(0) == one.tree.node(0)


def test_the_best_path_is_in_the_tree_whole() -> None:
    found = run("its_alive", 300, save_best_path=True, settings=FACTORED, level="train01", seed=2)
    choices = [choice for choice, _ in found.best.pairs]
    end = found.tree.find(choices)
    assert end is not None and end.count == 0 and end.best == found.score
    assert end.metrics["PT"] == found.score
    assert run("its_alive", 300, settings=FACTORED, level="train01", seed=2).tree.find(choices) is None


def test_a_constant_inside_the_root_weighs_as_its_root_outside() -> None:
    a = run("its_alive", 400, uct_constant=1024, constant="inside", settings=FACTORED, level="train01", seed=1)
    b = run("its_alive", 400, uct_constant=32, settings=FACTORED, level="train01", seed=1)
    assert a.growth == b.growth and np.array_equal(a.tree.links, b.tree.links)


def test_factored_rollouts_go_toward_the_exit() -> None:
    found = run("roguelike2d", 300, settings={"player": "factored"}, level="long01", seed=1)
    (toward, away) = (found.tree.node(n) for n in found.tree.node(0).children)
    assert {toward.choices, away.choices} == {(0,), (1,)}
    assert found.score == found.best.metrics["RW"] * 3000 > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"factory": "its_alife"}, "its_alive"),
        ({"settings": {"desing": "regular"}}, "did you mean 'design'"),
        ({"settings": {"design": "irregular"}}, "did you mean 'regular'"),
        ({"terminal_treatment": "cut"}, "cut_off"),
        ({"num_workers": 0}, "1 to 256"),
        ({"uct_constant": math.nan}, "0 to 1e12"),
        ({"level": "tain01"}, "train01"),
        ({"settings": "hard"}, "options of its levels"),
        ({"score": "PT +"}, "a value is missing"),
        ({"factory": "minidungeons2"}, "score"),
    ],
)
def test_mistakes_are_told(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as told:
        run(**{"factory": "its_alive", "num_samples": 10, **changes})
    assert words in str(told.value)


def test_a_game_that_is_not_the_same_again_is_told(bits: tuple[Game, Any]) -> None:
    from persona_evo.connect import protocol as p

    within = LocalPool(*bits)
    within.submit(p.Rollout(0, 0, 1, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(0, 2), (0, 2)])))
    with pytest.raises(GameError, match="the same choices"):
        within.next()


# the file

TEXT = """\
game = "its_alive"
level = "small01"
replicates = 3
rollouts = 40
workers = 2
[settings]
choices = "factored"
[variants.regular]
[variants.mono]
design = "monochromester"
uct_constant = 200
[players.greedy]
player = "greedy"
[players.lazy]
player = "lazy"
rollouts = 30
"""


def written(folder: Path, text: str = TEXT) -> Path:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.quick
def test_a_file_is_variants_times_players(tmp_path: Path) -> None:
    found = reading.read(written(tmp_path))
    assert [c.label for c in found.cells] == ["regular / greedy", "regular / lazy", "mono / greedy", "mono / lazy"]
    assert found.cells[3].settings == {"choices": "factored", "design": "monochromester", "player": "lazy"}
    assert found.cells[3].search == SearchSpec(30, 2, 200) and found.cells[0].search == SearchSpec(40, 2)
    assert found.pairs() == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert Experiment.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    start = tmp_path / "start.toml"
    start.write_text(reading.TEMPLATE.format(name="start"), encoding="utf-8")
    assert len(reading.read(start).cells) == 4


TOWER = 'game = "tower.toml"\nlevel = "default@3"\n[variants.normal]\n[variants.tough]\n'


def tower(folder: Path, text: str, variants: str = "[variants.tough]\ngravity = 20\n[variants.soft]\n") -> Experiment:
    (folder / "tower.toml").write_text(f'game = "tower.py"\n{variants}', encoding="utf-8")
    return reading.read(written(folder, text))


@pytest.mark.quick
def test_variants_of_a_connected_game_are_those_that_are_named(tmp_path: Path) -> None:
    """The case that was found: both variants played the game's own, and "no significant difference" was said."""
    found = tower(tmp_path, TOWER)
    assert [cell.settings for cell in found.cells] == [{}, {"variant": "tough"}]
    for given in ('variant = "soft"\n', 'level = "cave:soft"\n'):
        (_, other) = tower(tmp_path, TOWER + given).cells
        assert other.settings.get("variant", "soft") == "soft" and (other.settings or other.level == "cave:soft")


def test_the_default_constant_is_the_one_that_fits_the_goal(tmp_path: Path) -> None:
    """A connected game searched with 1000 for scores of a few points, and said so only after the run."""
    plain = tower(tmp_path, TOWER)
    assert {cell.search.uct_constant for cell in plain.cells} == {UCB1_CONSTANT}
    assert all(map(plain.is_fitted, plain.cells))
    given = tower(tmp_path, TOWER + "uct_constant = 30\n")
    assert [cell.search.uct_constant for cell in given.cells] == [UCB1_CONSTANT, 30]
    catalog = reading.read(written(tmp_path, 'game = "minidungeons2"\n[players.a]\npersona = "runner"\n[players.b]\n'))
    assert [cell.search.uct_constant for cell in catalog.cells] == [UCB1_CONSTANT, 1000]
    assert not any(map(catalog.is_fitted, catalog.cells))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TOWER.replace("tough", "harder"), "4:1"),
        (TOWER + 'variant = "soft"\n[variants.other]\nvariant = "soft"\n', "6:1"),
        ('game = "its_alive"\n[players.a]\nworkers = 2\n[players.b]\nworkers = 2\n', "4:1"),
    ],
)
def test_combinations_that_are_the_same_are_refused(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(SettingsError, match="the same game, played in the same way") as caught:
        tower(tmp_path, text)
    assert str(caught.value.place).endswith(f"mine.toml:{place}")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ('"its_alive"', '"its_alife"', "1:8", "did you mean 'its_alive'"),
        ("replicates = 3", "replicates = 0", "3:14", "1 to"),
        ("rollouts = 40", 'rollouts = "many"', "4:12", "'many'"),
        ("uct_constant = 200", "uct_constant = -1", "11:16", "-1"),
        ("rollouts = 30", "terminal = 'cut'", "16:12", "cut_off"),
        ("workers = 2", "worker = 2", "5:1", "workers"),
        ("[variants.mono]", "[variants.'a/b']", "9:1", "a/b"),
        ("[settings]", "[settings", "6:10", "not TOML"),
        ('level = "small01"', "level = 3", "2:9", "not text"),
        ('game = "its_alive"\n', "", "1", "game is missing"),
    ],
)
def test_mistakes_in_a_file_have_a_place(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    file = written(tmp_path, TEXT.replace(old, new))
    with pytest.raises(SettingsError) as told:
        reading.read(file)
    assert words in str(told.value)
    assert str(told.value.place) == f"{file}:{place}"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("key", "wrong", "right", "words"),
    [
        ("level", '"small99"', '"small01"', "no such level"),
        ("level", "3", '"small01"', "not text"),
        ("score", '"PTS + 1"', '"PT"', "unknown symbol"),
        ("persona", '"nobody"', '"scorer"', "no such persona"),
        ("rollouts", '"many"', "9", "'many'"),
        ("uct_constant", "-1", "9", "-1"),
        ("terminal", "'cut'", "'cut_off'", "cut_off"),
        ("save_best_path", "1", "true", "true or false"),
    ],
)
@pytest.mark.parametrize("above", ["", "[variants.a]\n"])
def test_values_that_all_players_override_are_checked(
    tmp_path: Path, above: str, key: str, wrong: str, right: str, words: str
) -> None:
    game, players = (
        'game = "its_alive"\n',
        f"[players.x]\n{key} = {right}\n[players.y]\n{key} = {right}\nplayer = 'lazy'\n",
    )
    file = written(tmp_path, f"{game}{above}{key} = {wrong}\n{players}")
    with pytest.raises(InputError) as told:
        reading.read(file)
    assert words in str(told.value)
    assert str(told.value.place) == f"{file}:{2 + bool(above)}:{len(key) + 4}"
    assert len(reading.read(written(tmp_path, f"{game}{above}{key} = {right}\n{players}")).cells) == 2


# the folder


def plain(records: Sequence[SearchRecord]) -> list[SearchRecord]:
    return [dataclasses.replace(record, seconds=0.0) for record in records]


def test_an_experiment_goes_on_wherever_it_was_stopped(tmp_path: Path) -> None:
    experiment = reading.read(written(tmp_path))
    whole = course.conduct(experiment)
    assert [r.replicate for r in whole.records] == [0] * 4 + [1] * 4 + [2] * 4 and whole.complete

    def stop(p: Progress) -> None:
        if p.what.endswith("replicate 2"):
            raise KeyboardInterrupt

    folder = tmp_path / "kept"
    part = course.conduct(experiment, folder, progress=stop)
    assert not part.complete and 4 <= len(part.records) < 12
    results = folder / course.RESULTS
    with results.open("ab") as file:
        file.write(b'{"cell": "regular / gre')
    again = course.conduct(course.reopen(folder), folder)
    assert plain(again.records) == plain(whole.records)
    assert plain(course.kept(folder, experiment)) == plain(whole.records)
    with pytest.raises(RunError, match="other replicates"):
        course.conduct(experiment.smaller(4), folder)
    lines = unsealed(results).splitlines(keepends=True)
    results.write_text("".join([lines[1], *lines[1:]]), encoding="utf-8")
    with pytest.raises(RunError, match=f"{course.RESULTS}:1: a result does not belong here"):
        course.conduct(experiment, folder)
    results.write_text("".join([lines[0].replace('"growth": [[', '"growth": ["x", ['), *lines[1:]]), encoding="utf-8")
    with pytest.raises(RunError, match=f"{course.RESULTS}:1: a result is damaged"):
        course.conduct(experiment, folder)
    results.write_text("".join([lines[0], lines[1][:30] + "\n"]), encoding="utf-8")
    with pytest.raises(RunError, match=f"{course.RESULTS}:2:[0-9]+: a result cannot be read: not valid JSON"):
        course.conduct(experiment, folder)


def test_levels_and_options_are_looked_at_before_anything_is_searched(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT.replace('"monochromester"', '"monochrome"'))
    with pytest.raises(SettingsError, match=r"mono / greedy: no such design"):
        course.conduct(reading.read(file), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ('"monochromester"', '"monochrome"', "10:10", "mono / greedy: no such design"),
        ('level = "small01"', 'level = "small99"', "2:9", "no such level"),
        ('level = "small01"', 'score = "PTS + 1"', "2:9", "unknown symbol"),
        ('level = "small01"', 'persona = "nobody"', "2:11", "no such persona"),
        ("[players.greedy]", '[players.greedy]\nscore = "PTS"', "13:9", "unknown symbol"),
    ],
)
def test_what_a_level_or_a_goal_refuses_has_its_place_in_the_file(
    tmp_path: Path, old: str, new: str, place: str, words: str
) -> None:
    file = written(tmp_path, TEXT.replace(old, new))
    with pytest.raises(InputError, match=words) as told:
        course.conduct(reading.read(file), tmp_path / "kept")
    assert str(told.value.place) == f"{file}:{place}" and not (tmp_path / "kept").exists()


@pytest.mark.slow
def test_jobs_change_nothing(tmp_path: Path) -> None:
    experiment = reading.read(written(tmp_path))
    assert plain(course.conduct(experiment, jobs=2).records) == plain(course.conduct(experiment).records)


# what it says


def made(scores: dict[str, Sequence[float]], growth: Growth | None = None) -> ExperimentResults:
    """Return results of a player each."""
    cells = tuple(Cell("", name, "", "", "", {}, SearchSpec(100)) for name in scores)
    experiment = Experiment("x", "x", "its_alive", 1, max(map(len, scores.values())), cells)
    records = [
        SearchRecord(
            name,
            k,
            0,
            growth or [(1, 0.0), (50 + k, v)],
            traces.Trace("its_alive", "x", v, v, {}, ()),
            100,
            0,
            1,
            "budget",
            False,
            1.0,
        )
        for name, values in scores.items()
        for k, v in enumerate(values)
    ]
    return ExperimentResults(experiment, records)


@pytest.mark.quick
def test_what_is_higher_is_said_with_a_corrected_p() -> None:
    found = made({"low": range(10), "high": range(20, 30), "same": range(10)})
    low_high, low_same, high_same = comparisons(found)
    assert low_high.higher == "high" and low_high.share == 0
    assert low_high.corrected == pytest.approx(3 * low_high.test.p)
    assert low_same.higher == "" and low_same.corrected == 1
    assert high_same.share == 1
    assert low_high.words().startswith("high scores more than low (p = 0.0005")
    assert "no significant difference" in low_same.words()
    assert [s.mean.value for s in summaries(found)] == [4.5, 24.5, 4.5]


@pytest.mark.quick
def test_curves_hold_the_best_so_far() -> None:
    records = made({"a": [4.0, 8.0]}).records
    grown = curve(records, 100)
    assert grown.rollouts[0] == 1 and grown.rollouts[-1] == 100
    assert grown.mean[48] == 0 and grown.mean[49] == 2 and grown.mean[50] == 6 == grown.mean[-1]
    assert grown.deviation[-1] == pytest.approx(math.sqrt(8))


GOALS = {
    "own": ("", ""),
    "own too": ("", ""),
    "run": ("", "runner"),
    "row": ("PT + 1", ""),
    "row too": ("PT  +  1", ""),
}
"""Score and persona of a cell."""


def mixed(scores: dict[str, Sequence[float]]) -> ExperimentResults:
    """Return results of players with the goals of GOALS."""
    found = made(scores)
    cells = tuple(
        dataclasses.replace(c, score=GOALS[c.player][0], persona=GOALS[c.player][1]) for c in found.experiment.cells
    )
    return ExperimentResults(dataclasses.replace(found.experiment, cells=cells), found.records)


def test_only_searches_for_the_same_are_compared() -> None:
    found = mixed({name: range(10 * k, 10 * k + 10) for k, name in enumerate(GOALS)})
    tests = comparisons(found)
    assert [(c.a, c.b) for c in tests] == [("own", "own too"), ("row", "row too")]
    assert all(c.corrected == pytest.approx(2 * c.test.p) for c in tests), "Holm counts the tests that are made"
    (words,) = apart(found)
    assert "not comparable" in words
    assert "own, own too (the game's score); run (what runner wants); row, row too (PT + 1)" in words
    assert [s.goal for s in summaries(found)][2:4] == ["what runner wants", "PT + 1"]
    assert apart(made({"low": [1.0], "high": [2.0]})) == []


def test_each_goal_has_axes_of_its_own(tmp_path: Path) -> None:
    found = mixed({name: [1.0, 2.0] for name in GOALS})
    rows = [gallery.figures for gallery in report.growth_figure(found, tmp_path).content]
    drawn = [scores.content.svg() for scores, _ in rows]
    assert [re.findall("<text[^>]*>(own too|own|run|row too|row)</text>", svg) for svg in drawn] == [
        ["own", "own too"],
        ["run"],
        ["row", "row too"],
    ]
    assert {p.name for p in tmp_path.iterdir()} == {f"{w}{n}.svg" for w in ("scores", "growth") for n in ("", 1, 2)}


@pytest.mark.parametrize(
    ("constant", "where", "said"),
    [
        (1000, "outside", "little more than chance"),
        (40, "outside", ""),
        (0.5, "outside", ""),
        (0.3, "outside", "hardly"),
        (1000, "inside", ""),
        (100_000, "inside", "so 316 outside"),
        (0, "outside", "hardly"),
    ],
)
def test_a_constant_far_from_the_scores_is_told(constant: float, where: str, said: str) -> None:
    found = made({"a": [4.0, 3.0]}, growth=[(1, 0.0), (9, 4.0)])
    cells = tuple(
        dataclasses.replace(c, search=SearchSpec(100, uct_constant=constant, constant=where))
        for c in found.experiment.cells
    )
    told = unfit_constants(ExperimentResults(dataclasses.replace(found.experiment, cells=cells), found.records))
    assert len(told) == bool(said) and said in "".join(told)
    assert not told or ("0 to 4" in told[0] and f"uct_constant {constant:g}" in told[0])


def test_what_the_seed_hides_is_played_once_and_has_no_curve(tmp_path: Path) -> None:
    (tmp_path / "tower.toml").write_text('game = "tower.py"\ndeterministic = false\n', encoding="utf-8")
    found = made({"a": [4.0, 3.0]}, growth=[(1, 4.0)])
    own = dataclasses.replace(found.experiment, game=str(tmp_path / "tower.toml"))
    (gallery,) = report.growth_figure(ExperimentResults(own, found.records), tmp_path).content
    assert len(gallery.figures) == 1 and not (tmp_path / "growth.svg").exists()
    assert "not the best of its rollouts" in report.write(ExperimentResults(own, found.records), tmp_path).text
    (tmp_path / "tower.toml").write_text('game = "tower.py"\n', encoding="utf-8")
    assert not report.hides(own)


def test_means_have_digits_by_their_size(tmp_path: Path) -> None:
    rows = report.summary_table(summaries(made({"a": [0.012, 0.016], "b": [4000, 4100]}))).rows
    assert rows[0][2].startswith("0.014 ± ") and rows[1][2].startswith("4050 ± ")


def test_replicates_are_counted_from_one_on_the_page(tmp_path: Path) -> None:
    found = made({"a": [1.0, 5.0, 2.0]})
    found = ExperimentResults(dataclasses.replace(found.experiment, game=str(tmp_path / "ladder.toml")), found.records)
    report.write(found, tmp_path)
    assert "replicate 2: best/a.json" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_another_experiments_folder_names_what_differs(tmp_path: Path) -> None:
    one = reading.read(written(tmp_path))
    course.conduct(one.smaller(1, 20), tmp_path / "out")
    with pytest.raises(RunError) as caught:
        course.conduct(one.smaller(1, 30), tmp_path / "out")
    assert caught.value.found == "other cells search rollouts 20"
    assert caught.value.expected == "cells search rollouts 30"
    cells = list(one.smaller(1, 20).cells)
    cells[1] = dataclasses.replace(cells[1], score="PT", search=dataclasses.replace(cells[1].search, workers=5))
    with pytest.raises(RunError) as caught:
        course.conduct(dataclasses.replace(one.smaller(1, 20), cells=tuple(cells)), tmp_path / "out")
    assert caught.value.expected is not None
    assert f"cells {cells[1].label}: score PT" in caught.value.expected
    assert f"cells {cells[1].label}: search workers 5" in caught.value.expected and "{" not in str(caught.value)


SEVERAL = """
game = "its_alive"
level = "small01@1-7"
replicates = 2
rollouts = 40
seed = 3
settings = {choices = "factored"}
[variants.regular]
design = "regular"
[variants.mono]
design = "monochromester"
"""


def test_several_levels_are_compared_in_pairs(tmp_path: Path) -> None:
    (tmp_path / "several.toml").write_text(SEVERAL)
    experiment = reading.read(tmp_path / "several.toml")
    assert experiment.levels == 7 and len(experiment.tasks()) == 2 * 7 * 2
    assert Experiment.from_dict(json.loads(json.dumps(experiment.to_dict()))) == experiment
    loaded: list[tuple[int, int]] = []
    results = course.conduct(experiment, tmp_path / "out", loading=lambda n, total: loaded.append((n, total)))
    assert loaded == [(n, 14) for n in range(1, 15)]
    first, second = experiment.cells
    assert first.alone(9).level.startswith("small01") and first.alone(9).level.endswith("@3")
    assert not first.alone(9).levels, "what is sent to workers does not grow with the number of levels"
    assert [r.best.level for r in results.of(first)] == [f"small01@{n}" for n in range(1, 8)] * 2
    assert len({r.seed for r in results.records}) == 28, "each search has a seed of its own"
    means = [
        [sum(r.score for r in results.of(cell) if r.best.level == f"small01@{n}") / 2 for n in range(1, 8)]
        for cell in (first, second)
    ]
    changes = [a - b for a, b in zip(*means, strict=True)]
    (told,) = comparisons(results)
    assert told.test == statistics.wilcoxon(changes) and told.levels == 7
    assert told.difference == intervals.mean_interval(changes)
    assert told.share == (sum(c > 0 for c in changes) + sum(c == 0 for c in changes) / 2) / 7
    mean = summaries(results)[0].mean
    assert mean.n == 7 and mean.value == pytest.approx(sum(means[0]) / 7), "levels are what an interval is about"
    page = report.write(results, tmp_path / "out")
    assert "signed-rank test over pairs of levels" in page.text and "replicate" in page.page.read_text()
    assert (tmp_path / "out/tables/comparisons.csv").read_text().splitlines()[0].split(",")[8] == "W"
    again = course.conduct(course.reopen(tmp_path / "out"), tmp_path / "out")
    assert [r.to_json() for r in again.records] == [r.to_json() for r in results.records]
    listed = folders.read(tmp_path / "out")
    assert listed is not None and (listed.state, listed.done, listed.total) == ("complete", 28, 28)
    with (tmp_path / "out" / course.RESULTS).open("a+") as stream:
        stream.seek(0)
        stream.write(stream.readline())
    damaged = folders.read(tmp_path / "out")
    assert damaged is not None and "29 searches of 28" in damaged.problem


def test_too_few_levels_are_told_and_unequal_numbers_refused(tmp_path: Path) -> None:
    few = SEVERAL.replace("@1-7", "@1-3")
    (tmp_path / "few.toml").write_text(few)
    results = course.conduct(reading.read(tmp_path / "few.toml").smaller(1, 20))
    assert "regular and mono cannot be compared: 3 pairs of levels are too few" in comparisons(results)[0].words()
    (tmp_path / "few.toml").write_text(few + 'level = "small01@1-2"\n')
    with pytest.raises(SettingsError, match=r"few\.toml:3:\d+: .*different numbers of levels"):
        reading.read(tmp_path / "few.toml")
