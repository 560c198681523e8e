"""Python as people use it in a notebook: games of their own, numbers of NumPy, results that are short and are kept."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import persona_evo as pe
from persona_evo import api
from persona_evo.api.options import EvolutionChanges
from persona_evo.games import mapsets
from tests.cli.tool import environment, run
from tests.examples import corridor

pytestmark = pytest.mark.quick

SMALL: dict[str, Any] = {
    "generations": 1,
    "population": 8,
    "islands": 2,
    "elites": 1,
    "migrants": 1,
    "iterations": 40,
    "final_trials": 1,
    "seed": 1,
}
BEYOND = [2**70, -1, 1.5, float("nan"), float("inf"), "5", True, np.True_, np.arange(2)]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Return a game of one's own in a file, a persona for it, and a level."""
    text = inspect.getsource(corridor).replace("Corridor", "Passage")
    (tmp_path / "passage.py").write_text(text, encoding="utf-8")
    (tmp_path / "walker.toml").write_text(
        'game = "passage"\npriority = "OUT"\nutility = "OUT + COINS - 0.01 * ST"\n', encoding="utf-8"
    )
    (tmp_path / "way.txt").write_text("$..$@....D", encoding="utf-8")
    return {
        "game": f"{tmp_path / 'passage.py'}:GAME",
        "persona": tmp_path / "walker.toml",
        "level": tmp_path / "way.txt",
    }


@pytest.fixture(scope="module")
def results() -> pe.Results:
    players = [pe.player("runner", "ucb1"), pe.player("runner", "utility", "runner/utility")]
    return pe.playtest_levels(["train01", "train02"], players, trials=2, iterations=60, seed=1, jobs=1)


@pytest.mark.usefixtures("unsimplified")
def test_a_game_by_its_path_evolves_with_workers_and_is_resumed(files: dict[str, Any], tmp_path: Path) -> None:
    who = pe.load_persona(files["persona"], game=files["game"])
    assert who == pe.load_persona(files["persona"], game=pe.load_game(files["game"]))
    found = pe.evolve_policy(who, files["level"], jobs=2, out=tmp_path / "runs", **SMALL)
    assert found.status == "finished" and found.policy is not None
    moved = Path(files["game"].removesuffix(":GAME")).rename(tmp_path / "moved.py")
    longer = pe.resume_evolution(found.folder, game=f"{moved}:GAME", generations=2, jobs=1)
    assert longer.generations == 2


@pytest.mark.usefixtures("unsimplified")
def test_an_interrupted_evolution_has_a_policy(tmp_path: Path) -> None:
    def stop(progress: Any) -> None:
        if progress.generation == 1:
            raise KeyboardInterrupt

    found = pe.evolve_policy("runner", "train01", **{**SMALL, "generations": 3, "jobs": 1}, out=tmp_path, progress=stop)
    assert found.status == "interrupted" and found.generations == 2 and found.policy is not None
    policy = pe.load_policy(found.policy)
    assert found.best is not None and policy.best == found.best.formula and "comparison" in policy.unfinished
    assert pe.plan("train01", "runner", policy, iterations=40).iterations
    whole = pe.resume_evolution(found.folder, jobs=1)
    assert whole.status == "finished" and whole.generations == 3 and whole.policy != found.policy


@pytest.mark.usefixtures("unsimplified")
def test_a_game_that_was_made_here_is_played_on_one_core(files: dict[str, Any], tmp_path: Path) -> None:
    class Hallway(corridor.Corridor):
        def copy(self) -> Hallway:
            return Hallway(self.tiles, self.at, self.coins, self.steps)

    game = pe.from_class(Hallway)
    path = tmp_path / "here.toml"
    path.write_text('game = "hallway"\npriority = "OUT"\nutility = "OUT"\n', encoding="utf-8")
    who = pe.load_persona(path, game=game)
    found = pe.evolve_policy(who, files["level"], jobs=2, out=tmp_path / "runs", **SMALL)
    assert found.status == "finished"
    assert pe.resume_evolution(found.folder, game=game, generations=2).generations == 2
    assert pe.check_game(game, files["level"]) > 10
    with pytest.raises(pe.PersonaEvoError, match="cannot be pickled"):
        pickle.dumps(game)


@pytest.mark.parametrize("number", [40, 40.0, np.int64(40), np.uint8(40), np.float32(40), np.array(40)])
def test_whole_numbers_of_all_types_are_the_same(number: Any) -> None:
    assert pe.Budget(number) == pe.Budget(40) and type(pe.Budget(number).iterations) is int
    assert pe.SearchSettings(rollout=number) == pe.SearchSettings(rollout=40)
    settings = pe.EvolutionSettings.modern(population=number, generations=number)
    assert settings == pe.EvolutionSettings.modern(population=40, generations=40)
    assert repr(settings.to_dict()) == repr(pe.EvolutionSettings.modern(population=40, generations=40).to_dict())
    same = [pe.plan("train01", "runner", "ucb1", iterations=n, seed=n) for n in (40, number)]
    assert same[0].actions == same[1].actions


@pytest.mark.parametrize("number", BEYOND, ids=repr)
def test_what_is_no_such_number_is_refused(number: Any, tmp_path: Path) -> None:
    calls = [
        lambda: pe.plan("train01", "runner", "ucb1", iterations=40, seed=number),
        lambda: pe.plan("train01", "runner", "ucb1", iterations=number),
        lambda: pe.playtest_levels("train01", "runner", trials=number, iterations=40),
        lambda: pe.playtest_levels("train01", "runner", trials=1, iterations=40, seed=number),
        lambda: pe.solve("train01", "runner", iterations=number),
        lambda: pe.generate_levels(number, 1),
        lambda: pe.generate_levels(1, number),
        lambda: pe.evolve_policy("runner", "train01", out=tmp_path, **{**SMALL, "seed": number}),
        lambda: pe.evolve_policy("runner", "train01", out=tmp_path, **{**SMALL, "iterations": number}),
        lambda: pe.evolve_policy("runner", "train01", out=tmp_path, **{**SMALL, "population": number}),
        lambda: pe.EvolutionSettings.modern(generations=number),
    ]
    for call in calls:
        with pytest.raises(pe.PersonaEvoError, match=r"out of range|expected"):
            call()
    if repr(number) != "-1":
        with pytest.raises(pe.PersonaEvoError, match="number of jobs"):
            pe.playtest_levels("train01", "runner", trials=1, iterations=40, jobs=number)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 3, ["train01", None], object()], ids=["None", "3", "one None", "object"])
def test_what_names_nothing_is_refused(wrong: Any) -> None:
    for call in (
        lambda: pe.playtest_levels(wrong, "runner", trials=1),
        lambda: pe.playtest_levels("train01", wrong, trials=1),
        lambda: pe.check_levels(wrong),
        lambda: pe.load_level(wrong),
        lambda: pe.load_persona(wrong),
        lambda: pe.load_policy(wrong),
        lambda: pe.evolve_policy("runner", wrong, **SMALL),
    ):
        with pytest.raises(pe.PersonaEvoError):
            call()


def test_results_are_pickled_whole(results: pe.Results) -> None:
    again = pickle.loads(pickle.dumps(results))
    assert again.records == results.records and again.game is results.game
    assert again.text == results.text and repr(again) == repr(results)
    plan = pe.plan("train01", "runner", "ucb1", iterations=40)
    assert pickle.loads(pickle.dumps(plan)) == plan
    compared = pe.compare("train01", "train02", pe.player("runner", "ucb1"), trials=2, iterations=40, jobs=1, seed=1)
    assert str(pickle.loads(pickle.dumps(compared))) == str(compared)


def test_results_are_short_in_a_notebook(results: pe.Results) -> None:
    text = repr(results)
    assert "8 playthroughs" in text and "train01, train02" in text and text.count("\n") < 5
    shown = results._repr_html_()
    assert shown.count("<tr>") <= 21 and "runner/utility" in shown
    for value in (results.levels[0], results.game, results, results.players[0]):
        assert len(repr(value)) < 2000, type(value)


def test_playthroughs_are_rows(results: pe.Results, tmp_path: Path) -> None:
    rows = results.rows()
    assert [(r["level"], r["trial"]) for r in rows] == [(r.level, r.trial) for r in results.records]
    assert rows[0]["metric_TO"] == results.records[0].metrics["TO"]
    states = results.rows(states=True)
    assert len(states) == sum(r.steps + 1 for r in results.records)
    end = states[results.records[0].steps]
    assert end["action"] == results.records[0].actions[-1] and states[0]["action"] is None
    assert (end["x"], end["y"]) == results.records[0].positions[-1]
    for package, use in (
        ("pandas", results.to_pandas),
        ("pyarrow", lambda: results.to_parquet(tmp_path / "p.parquet")),
    ):
        if importlib.util.find_spec(package) is None:
            with pytest.raises(pe.PersonaEvoError, match=f"{package} is not installed"):
                use()


def test_playthroughs_are_a_data_frame(results: pe.Results) -> None:
    pytest.importorskip("pandas")
    assert list(results.to_pandas()["utility"]) == [r.utility for r in results.records]


def test_playthroughs_are_a_parquet_file(results: pe.Results, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(results.to_parquet(tmp_path / "p.parquet")).to_pylist()
    assert [r["utility"] for r in rows] == [r.utility for r in results.records]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_results_are_printed_on_every_console(
    results: pe.Results, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    print(results)
    print(results.check("runner/ucb1.win_rate >= 0").passed)
    sys.stdout.flush()
    assert "findings" in written.getvalue().decode(encoding)


def test_figures_are_drawn_whatever_backend_a_notebook_names() -> None:
    code = "from persona_evo.report.figures import _import_matplotlib as f; f(); import matplotlib.figure"
    for backend in ("module://no_such_module.backend_inline", "nonsense"):
        given = {**environment(), "MPLBACKEND": backend}
        subprocess.run([sys.executable, "-c", code], env=given, check=True)


@pytest.mark.usefixtures("unsimplified")
def test_a_budget_and_settings_are_given_as_objects(tmp_path: Path) -> None:
    few = pe.Budget(40)
    assert pe.plan("train01", "runner", "ucb1", budget=few).iterations == 40
    with pytest.raises(pe.PersonaEvoError, match="given twice"):
        pe.plan("train01", "runner", "ucb1", budget=few, iterations=40)
    values = {name: SMALL[name] for name in SMALL if name not in ("seed", "iterations")}
    settings = pe.EvolutionSettings.modern(**values)
    found = pe.evolve_policy("runner", "train01", preset=settings, budget=few, seed=1, jobs=1, out=tmp_path)
    same = pe.evolve_policy("runner", "train01", **{**SMALL, "jobs": 1, "out": tmp_path})
    assert found.best == same.best
    names = {f.name for f in dataclasses.fields(pe.EvolutionSettings)} - {"preset"}
    assert set(EvolutionChanges.__annotations__) == names


def test_all_public_functions_say_what_they_raise() -> None:
    functions = [getattr(api, name) for name in api.__all__ if inspect.isfunction(getattr(api, name))]
    silent = [f.__name__ for f in functions if "Raises:" not in inspect.getdoc(f)]
    assert len(functions) > 20 and not silent


def test_text_and_mappings_do() -> None:
    who = pe.Persona("mine", "minidungeons2", "TO - DEAD", "TO")  # type: ignore[arg-type]
    assert who.utility == pe.parse("TO - DEAD")
    with pytest.raises(pe.PersonaEvoError, match="NONSENSE"):
        pe.Persona("mine", "minidungeons2", "NONSENSE", "TO")  # type: ignore[arg-type]
    rules = {"preset": "single", "rollout": np.int64(3)}
    found = pe.playtest_levels("train01", pe.player(who, "ucb1"), trials=1, iterations=40, jobs=1, search=rules)
    assert found.settings == dataclasses.replace(pe.SearchSettings.single(), rollout=3)
    with pytest.raises(pe.PersonaEvoError, match="rollouts"):
        pe.plan("train01", who, "ucb1", search={"rollouts": 3})


def test_levels_with_commas_between_them(tmp_path: Path) -> None:
    game = pe.load_game()
    assert [level.name for level in pe.load_levels("train01,test02")] == ["train01", "test02"]
    odd = tmp_path / "train01,test02.txt"
    odd.write_text(mapsets.find(game, ["train01"])[0].path.read_text(encoding="utf-8"), encoding="utf-8")
    assert [level.name for level in pe.load_levels(odd)] == ["train01,test02"]
    with pytest.raises(pe.PersonaEvoError, match="nonsense"):
        pe.load_levels("train01,nonsense")


def test_a_game_of_chance_is_sent_to_an_agent(tmp_path: Path) -> None:
    from tests.examples import coin

    level = tmp_path / "toss.txt"
    level.write_text("0.4 1", encoding="utf-8")
    pe.load_game(f"{coin.__file__}:GAME")
    who = pe.Persona("lucky", "coin", pe.parse("PRIZE"), "PRIZE")
    with pytest.raises(pe.PersonaEvoError, match=r"--agent FILE\.toml#NAME"):
        pe.plan(level, who, "ucb1", iterations=40)


def test_doctor_looks_at_a_game_in_python(capsys: pytest.CaptureFixture[str], files: dict[str, Any]) -> None:
    ran = run(capsys, "doctor", "--game", files["game"])
    assert ran.code == 0 and "COINS" in ran.out
    ran = run(capsys, "doctor", "--game", files["game"], "--level", files["level"])
    assert ran.code == 0 and "nothing wrong" in ran.out


def test_no_name_is_listed_twice() -> None:
    with pytest.raises(pe.PersonaEvoError) as caught:
        pe.load_persona("nobody")
    listed = str(caught.value).partition("one of ")[2].partition(", or a")[0].split(", ")
    assert len(listed) == len(set(listed)) > 5
