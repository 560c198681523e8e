"""Tests runs on disk with the synthetic fitness, and a whole run with real playthroughs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import RunError, SettingsError
from persona_evo.evolve import reopening
from persona_evo.evolve.driving import DEADLINE, FINISHED, INTERRUPTED, GenerationProgress, drive
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict, spec_to_dict
from persona_evo.evolve.outcome import Outcome, best_run, ended
from persona_evo.evolve.playthroughs import Workshop
from persona_evo.evolve.records import Request
from persona_evo.evolve.reopening import summary
from persona_evo.evolve.run import evolve_runs, resume
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import Goal, chosen, first_formulas, left_out, of_rollouts, start_in_words
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.jobs import deadline as deadlines
from persona_evo.personas.core import load
from persona_evo.personas.lists import OpenList
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import UCB1_FORMULA
from persona_evo.store import checkpoints, policies, runs
from tests.conftest import leave_unsimplified
from tests.evolve.evolving import evolve, task_of
from tests.shared import unsealed

from .drive_synthetic import config, work
from .synthetic import LEVELS, METRICS, synthetic

GAME = registry.get("minidungeons2")


def journal(folder: Path) -> list[dict[str, Any]]:
    return [runs.comparable(row) for row in runs.read_journal(folder)]


def test_the_journal_has_a_line_for_each_island_with_times_apart(tmp_path: Path) -> None:
    told: list[GenerationProgress] = []
    run = runs.RunFolder.create(tmp_path, config("paper", 3))
    assert work(run, progress=told.append) == FINISHED
    rows = runs.read_journal(run.folder)
    assert [(r["generation"], r["island"]) for r in rows] == [(g, i) for g in range(3) for i in range(3)]
    assert set(rows[0]) == {
        "generation",
        "island",
        "best",
        "mean",
        "size",
        "best_size",
        "diversity",
        "evaluations",
        "remembered",
        "formula",
        "timing",
    }
    assert set(rows[0]["timing"]) == {"seconds", "evaluating"}
    assert [p.generation for p in told] == [0, 1, 2] and told[-1].eta == 0 and told[0].eta > 0
    hall = json.loads((run.folder / runs.HALL).read_text())
    assert hall["generation"] == 2 and hall["members"][0]["fitness"] == told[-1].best.fitness


def test_a_deadline_ends_between_generations_and_the_run_can_go_on(tmp_path: Path) -> None:
    whole = runs.RunFolder.create(tmp_path / "whole", config("paper", 12))
    work(whole)
    run = runs.RunFolder.create(tmp_path / "cut", config("paper", 12))
    assert work(run, deadline=time.monotonic() - 1) == DEADLINE
    assert [r["generation"] for r in journal(run.folder)] == [0, 0, 0]
    assert work(runs.RunFolder.resume(run.folder)) == FINISHED
    assert journal(run.folder) == journal(whole.folder)


@pytest.mark.parametrize("at", range(1, 6))
def test_ctrl_c_loses_no_generation_and_resumes(tmp_path: Path, at: int) -> None:
    whole = runs.RunFolder.create(tmp_path / "whole", config("modern", 4))
    work(whole)
    calls = 0

    def interrupted(requests: Sequence[Request]) -> list[list[float]]:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        return synthetic(requests)

    with runs.RunFolder.create(tmp_path / "cut", config("modern", 4)) as run:
        assert drive(run, interrupted, METRICS, LEVELS) == INTERRUPTED
    assert work(runs.RunFolder.resume(run.folder)) == FINISHED
    assert journal(run.folder) == journal(whole.folder)


def test_more_generations_continue_a_finished_run_as_if_it_had_been_longer(tmp_path: Path) -> None:
    long = runs.RunFolder.create(tmp_path / "long", config("modern", 7))
    work(long)
    short = runs.RunFolder.create(tmp_path / "short", config("modern", 4))
    work(short)
    before = (short.folder / runs.JOURNAL).read_bytes()
    again = runs.RunFolder.resume(short.folder)
    again.aim(7)
    assert work(again) == FINISHED
    assert (short.folder / runs.JOURNAL).read_bytes().startswith(before)
    assert journal(short.folder) == journal(long.folder)


def test_a_checkpoint_with_a_broken_state_is_told(tmp_path: Path) -> None:
    run = runs.RunFolder.create(tmp_path, config("paper", 2))
    work(run)
    path = run.folder / checkpoints.CHECKPOINT
    data = json.loads(unsealed(path))
    del data["state"]["islands"][0]["stream"]
    path.write_text(json.dumps(data))
    with pytest.raises(RunError, match="state is damaged"):
        work(runs.RunFolder.resume(run.folder))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("generation",), 0),
        (("evaluations",), -1),
        (("evaluations",), 2**62),
        (("playthroughs",), -1),
        (("hall",), []),
        (("islands",), []),
        (("islands",), 5),
        (("islands", 0, "individuals"), []),
        (("islands", 0, "stream"), [3, [2**40], None]),
        (("hall", 0, 0), "1 +"),
        (("hall", 0, 2), [1.0]),
        (("hall", 0, 3), 0),
        (("hall", 0, 5), -1),
        (("hall", 0, 2), [1.7e308] * LEVELS),
        (("memory",), [["k", [-1.7e308] * LEVELS, 1]]),
        (("memory",), [["k", [], 1]]),
        (("memory",), [["k", [1.0] * LEVELS, 1], ["j", [1.0] * LEVELS, 1], ["k", [2.0] * LEVELS, 1]]),
    ],
)
def test_each_value_of_a_state_has_to_fit_the_run(tmp_path: Path, path: tuple[Any, ...], value: Any) -> None:
    run = runs.RunFolder.create(tmp_path, {**config("paper", 2), "levels": [{}] * LEVELS})
    work(run)
    file = run.folder / checkpoints.CHECKPOINT
    data = json.loads(unsealed(file))
    inner = data["state"]
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    file.write_text(json.dumps(data))
    with pytest.raises(RunError, match=r"checkpoint\.json:1:\d+: \.state.*the checkpoint's state is damaged"):
        work(runs.RunFolder.resume(run.folder))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("evolution",), []),
        (("evolution", "metrics"), 5),
        (("evolution", "metrics"), ["NOPE"]),
        (("evolution", "islands"), "x"),
        (("levels",), {}),
        (("levels",), []),
        (("levels", 0, "options"), []),
        (("levels", 0, "options", "rules"), ["paper"]),
        (("levels", 0, "options", "rules"), 5),
        (("budget",), 5),
        (("budget", "iterations"), "x"),
        (("budget", "iterations"), 1.5),
        (("search",), []),
        (("search", "rollout"), {}),
        (("versions",), [1]),
        (("versions",), {"a": 1}),
        (("utility",), 7),
        (("utility",), "1 +"),
        (("persona", "priority"), 3),
        (("persona", "priority"), "NOPE"),
        (("first",), [1]),
        (("target",), 0),
        (("game_version",), "1"),
    ],
)
def test_each_value_of_a_configuration_is_checked(tmp_path: Path, path: tuple[Any, ...], value: Any) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    spec = FitnessSpec.of(GAME.name, levels, parse("WIN"), SearchSettings.anytime(), Budget())
    data: Any = {
        **config("modern", 2),
        "game": GAME.name,
        "game_version": GAME.version,
        "versions": {},
        **spec_to_dict(spec),
        "utility": "0",
        "schema": 1,
    }
    data["levels"][0]["options"] = dict(data["levels"][0]["options"])
    data["evolution"]["metrics"] = []
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    (tmp_path / "config.json").write_text(json.dumps(data))
    reopening.spec_of(tmp_path, GAME.name)
    inner[path[-1]] = value
    (tmp_path / "config.json").write_text(json.dumps(data))
    with pytest.raises(RunError, match=rf"config\.json:1:\d+: \.{path[0]}"):
        reopening.spec_of(tmp_path, GAME.name)


LISTS = (OpenList(parse("UTILITY - 0.001 * ST")), OpenList(parse("OWN"), 2.0, True))


def test_lists_of_a_persona_go_with_a_search_that_has_lists(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]

    def spec(search: SearchSettings) -> FitnessSpec:
        return FitnessSpec.of(GAME.name, levels, parse("MS"), search, Budget(), lists=LISTS)

    assert spec(SearchSettings.anytime()).lists == LISTS
    for search in (SearchSettings.single(), SearchSettings.paper()):
        assert spec(search).lists == () and "lists" not in spec_to_dict(spec(search))
    data: dict[str, Any] = {
        **config("modern", 2),
        "game": GAME.name,
        "game_version": GAME.version,
        "versions": {},
        "schema": 1,
        **spec_to_dict(spec(SearchSettings.anytime())),
    }
    data["evolution"]["metrics"], data["persona"]["priority"] = [], "MS"
    (tmp_path / "config.json").write_text(json.dumps(data))
    again = reopening.spec_of(tmp_path, GAME.name)
    assert again.lists == LISTS and again.search == SearchSettings.anytime()
    assert Workshop(again).policy("MS - ST").lists == LISTS and Workshop(again).policy("R + MS").lists == ()
    data["lists"][1]["weight"] = 0
    (tmp_path / "config.json").write_text(json.dumps(data))
    with pytest.raises(RunError, match=r"config\.json:1:\d+: \.lists\[1\]\.weight: the weight of an open list"):
        reopening.spec_of(tmp_path, GAME.name)


def test_a_run_from_before_there_were_lists_has_one(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    spec = FitnessSpec.of(GAME.name, levels, parse("MS"), SearchSettings.single(), Budget())
    old = spec_to_dict(spec)
    for key in ("preset", "lists", "hedge", "tolerance"):
        del old["search"][key]
    assert spec_from_dict(GAME.name, "", old) == spec


@pytest.mark.usefixtures("unsimplified")
@pytest.mark.parametrize(
    ("preset", "search", "kept"),
    [
        ("modern", None, "single"),
        ("paper", None, "paper"),
        ("modern", SearchSettings.anytime(), "anytime"),
    ],
)
def test_the_search_of_an_evolution_is_written_down(
    tmp_path: Path, preset: str, search: SearchSettings | None, kept: str
) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    persona = replace(load("runner", GAME), lists=LISTS)
    outcome = evolve(
        GAME,
        persona,
        levels,
        tiny(preset, generations=1),
        3,
        root=tmp_path,
        search=search,
        budget=Budget(iterations=30),
    )
    written = runs.read_config(outcome.folder)
    assert written["search"]["preset"] == kept and bool(written["search"]["lists"]) == (kept == "anytime")
    assert ("lists" in written) == (kept == "anytime")
    assert outcome.policy is not None and policies.read(outcome.policy).search == written["search"]


def tiny(preset: str = "modern", **changes: Any) -> EvolutionSettings:
    values = {
        "population": 8,
        "islands": 2,
        "generations": 2,
        "elites": 1,
        "migrants": 1,
        "final_trials": 2,
        "final_candidates": 3,
        "first": (),
    }
    return EvolutionSettings.of(preset, **{**values, **changes})


def test_from_a_persona_to_a_policy_that_the_search_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:2]
    persona = load("runner", GAME)
    budget = Budget(iterations=300)
    told: list[GenerationProgress] = []
    outcome = evolve(GAME, persona, levels, tiny(), 5, root=tmp_path, budget=budget, progress=told.append)
    assert outcome.status == FINISHED and outcome.generations == 2 and outcome.policy is not None
    policy = policies.read(outcome.policy)
    assert (policy.name, policy.game, policy.seed) == ("runner", GAME.name, 5)
    assert policy.utility == persona.utility.text
    assert policy.levels == tuple(level.name for level in levels) == tuple(policy.fitness)
    assert policy.mean == pytest.approx(sum(policy.fitness.values()) / 2)
    assert policy.budget["iterations"] == 300 and policy.evolution["preset"] == "modern"
    assert policy.run["name"] == outcome.folder.name and policy.run["generations"] == 2
    assert set(policy.metrics) == set(policy.tree_policy(GAME).formula.symbols) or policy.simplified  # type: ignore[union-attr]
    assert told[0].usage is not None and told[0].usage.jobs == 1
    again = resume(outcome.folder)
    assert again.policy == outcome.policy and again.priority == pytest.approx(outcome.priority)
    before = {p.name: p.read_bytes() for p in outcome.folder.iterdir() if p.name.startswith(("policy", "config"))}
    leave_unsimplified(monkeypatch)
    more = resume(outcome.folder, generations=3)
    assert more.generations == 3 and more.policy is not None
    assert all((outcome.folder / name).read_bytes() == data for name, data in before.items())
    with pytest.raises(SettingsError, match="cannot be shortened"):
        resume(outcome.folder, generations=1)
    assert "runner on 2 levels of minidungeons2, seed 5, preset modern" in summary(runs.read_config(outcome.folder))


@pytest.mark.usefixtures("unsimplified")
def test_several_runs_are_compared_by_the_core_priority(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    settings = tiny("paper", runs=2, generations=1)
    task = task_of(GAME, load("monster_killer", GAME), levels, settings, 3, budget=Budget(iterations=100))
    best, all_ = evolve_runs(task, root=tmp_path)
    assert len(all_) == 2 and all_[0].folder != all_[1].folder
    assert best.priority == max(o.priority for o in all_ if o.priority is not None)
    lower = [Outcome(tmp_path, FINISHED, 1, None, None, p) for p in (9.0, 3.0, 5.0)]
    assert best_run(lower, GAME, "ST").priority == 3.0
    assert best_run([*lower, Outcome(tmp_path, INTERRUPTED, 0, None)], GAME, "MS").priority == 9.0


@pytest.mark.usefixtures("unsimplified")
def test_a_hall_of_fame_that_was_deleted_is_written_again(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    options: dict[str, Any] = {"root": tmp_path, "budget": Budget(iterations=50)}
    hall = evolve(GAME, load("runner", GAME), levels, tiny("paper", generations=1), 3, **options).folder / runs.HALL
    before = hall.read_bytes()
    hall.unlink()
    resume(hall.parent)
    assert hall.read_bytes() == before


@pytest.mark.usefixtures("unsimplified")
def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    options: dict[str, Any] = {"root": tmp_path, "budget": Budget(iterations=50)}
    whole = evolve(GAME, load("runner", GAME), levels, tiny("paper", generations=3), 3, name="whole", **options)
    before = journal(whole.folder), (whole.folder / runs.HALL).read_bytes()
    (whole.folder / checkpoints.CHECKPOINT).write_text("{")
    assert ended(whole.folder) is None
    again = resume(whole.folder)
    assert again.status == FINISHED and again.policy == whole.policy and "checkpoint.json" in again.recovered
    assert (journal(whole.folder), (whole.folder / runs.HALL).read_bytes()) == before
    assert not resume(whole.folder).recovered


@pytest.mark.usefixtures("unsimplified")
def test_the_rules_must_be_those_the_run_began_with(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:1]
    outcome = evolve(
        GAME, load("runner", GAME), levels, tiny("paper", generations=1), 3, root=tmp_path, budget=Budget(iterations=50)
    )
    path = outcome.folder / runs.CONFIG
    text = unsealed(path)
    path.write_text(text.replace(f'"game_version": {GAME.version}', '"game_version": 99'))
    with pytest.raises(RunError, match="another configuration"):
        resume(outcome.folder)
    checkpoint = outcome.folder / checkpoints.CHECKPOINT
    kept = json.loads(unsealed(checkpoint))
    del kept["config"]  # as older versions wrote it
    checkpoint.write_text(json.dumps(kept))
    with pytest.raises(RunError, match="rules of the game have changed"):
        resume(outcome.folder)


def test_a_start_that_is_larger_than_the_population_says_what_has_room() -> None:
    persona = load("monster_killer", GAME)

    def said(population: int, *first: str) -> str:
        chosen = tiny("modern", first=first, population=population, islands=1, elites=1, migrants=1)
        return start_in_words(chosen, GAME, Goal(persona.utility, persona.priority))

    whole = first_formulas(tiny("modern", first=("utility",)), GAME, Goal(persona.utility, persona.priority))
    n = len(whole)
    assert (
        said(n + 3, "utility", "PE", "PE + 1") == f"{n} made of what the persona wants, 2 formulas given, "
        "1 random formula"
    )
    assert said(4, "utility", "PE") == (
        f"4 of {n} made of what the persona wants; a population of 4 has no room for {n - 3} more formulas that could "
        "join it, nor for random ones"
    )
    assert said(n, "utility") == f"{n} made of what the persona wants"


def test_first_formulas() -> None:
    extended = tiny("modern", first=("ucb1",), variables="extended")
    assert first_formulas(extended, GAME) == ["R + 1.4142135623730951 * sqrt(log(P) / N)"]
    assert first_formulas(tiny("paper", first=("PE + R",)), GAME) == ["PE + R"]
    assert first_formulas(tiny("modern", first=()), GAME) == []
    with pytest.raises(SettingsError, match="needs levels"):
        evolve(GAME, load("runner", GAME), [], tiny(), 1)


@pytest.mark.parametrize(
    ("preset", "first", "told"),
    [
        ("modern", "ucb1", "variables=metrics does not have.*--set variables=extended"),
        ("paper", "ucb1", "variables=paper does not have.*--set variables=extended --set functions=extended"),
        ("paper", "sqrt(R)", "it has sqrt.*--set functions=extended"),
        ("paper", "PE - NT", "it has NT.*--set costly=true"),
        ("modern", "PE + WON", "it has WON.*--set metrics=.*,NT,.*WON"),
        ("modern", "PE + ABC", "no ABC"),
        ("modern", "-" * 12 + "PE", "its depth is 12.*--set depth_limit=12"),
    ],
)
def test_a_named_policy_that_does_not_fit_says_why(preset: str, first: str, told: str) -> None:
    with pytest.raises(SettingsError, match="does not fit") as told_so:
        first_formulas(tiny(preset, first=("PE", first)), GAME)
    assert re.search(told, str(told_so.value), re.DOTALL)


def test_ucb1_that_is_named_brings_its_variables() -> None:
    def made(names: list[str] | None, **changes: Any) -> EvolutionSettings:
        return chosen("modern", GAME, None, changes, names)

    persona = load("runner", GAME)
    assert made(["ucb1"]).variables == "extended" and made(["utility"]).variables == "metrics"
    assert first_formulas(made(["ucb1", "utility"]), GAME, Goal(persona.utility, persona.priority))[0] == UCB1_FORMULA
    assert made(["none"]).first == () and first_formulas(made(["none"]), GAME) == []
    assert made(None, first=("ucb1",)) == made(["ucb1"])
    with pytest.raises(SettingsError, match="none cannot be combined with other policies"):
        made(["none", "ucb1"])
    with pytest.raises(SettingsError, match="given twice"):
        made(["ucb1"], first=("utility",))
    with pytest.raises(SettingsError, match="--set variables=extended"):
        first_formulas(made(["ucb1"], variables="metrics"), GAME)


def test_a_default_that_does_not_fit_is_told_and_left_out() -> None:
    persona = load("runner", GAME)
    wanted = GAME, Goal(persona.utility, persona.priority)
    usual = EvolutionSettings.modern()
    missing = left_out(usual, *wanted)
    assert missing.startswith("UCB1 does not join the first population") and "\n" not in missing
    assert UCB1_FORMULA not in first_formulas(usual, *wanted)
    assert "UCB1" not in start_in_words(usual, *wanted)
    assert left_out(EvolutionSettings.modern(variables="extended"), *wanted) == left_out(tiny(), *wanted) == ""


def test_the_first_population_has_what_the_persona_wants_and_the_way_there() -> None:
    persona = load("completionist", GAME)
    found = first_formulas(tiny("modern", first=("utility",)), GAME, Goal(persona.utility, persona.priority))
    assert {"0.3 * PE + 0.7 * IC", "IC", "IC - 0.1 * NM - 0.001 * ST", "IC + 0.1 * (-NE) - 0.001 * ST"} <= set(found)
    assert all("DEAD" not in text for text in found) and len(set(found)) == len(found)
    plain = first_formulas(tiny("paper", first=("utility",)), GAME, Goal(persona.utility, persona.priority))
    assert plain and not any(symbol in text for text in plain for symbol in ("NM", "NE", "min"))


def test_the_first_population_has_the_mean_utility_with_each_good_and_bad_metric_where_formulas_read_it() -> None:
    persona = load("completionist", GAME)
    wanted = GAME, Goal(persona.utility, persona.priority)
    found = first_formulas(tiny("modern", first=("utility",), variables="extended"), *wanted)
    assert {"R + 0.1 * sqrt(log(P) / N)", "R + 0.1 * HL", "R - 0.1 * NE"} <= set(found)
    assert not {"R - 0.1 * HL", "R - 0.1 * ST", "R - 0.1 * DEAD"} & set(found)
    assert not any(text.startswith("R ") for text in first_formulas(tiny("modern", first=("utility",)), *wanted))
    unsaid = replace(GAME, metrics=tuple(replace(m, better="neutral") for m in GAME.metrics))
    assert {"R + 0.1 * HL", "R - 0.1 * HL"} <= set(of_rollouts(GAME.symbols, unsaid))


@pytest.mark.parametrize(
    ("text", "seconds"), [("8h", 28800), ("1h30m", 5400), ("90s", 90), ("2.5h", 9000), ("15", 15), ("1d 2h", 93600)]
)
def test_durations(text: str, seconds: float) -> None:
    assert deadlines.duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "8x", "-3h", "0s", "8h oops", "inf"])
def test_no_durations(text: str) -> None:
    with pytest.raises(SettingsError, match="not a duration"):
        deadlines.duration(text)


def test_until_is_today_or_tomorrow() -> None:
    now = datetime(2031, 5, 4, 22, 0, 0)
    assert deadlines.until("23:30", now) == 5400
    assert deadlines.until("07:00", now) == 9 * 3600
    assert deadlines.until("22:00", now) == 24 * 3600
    assert deadlines.until("2031-05-06T22:00", now) == 2 * 86400
    for wrong in ("25:00", "7", "soon"):
        with pytest.raises(SettingsError, match="not a time"):
            deadlines.until(wrong, now)
    with pytest.raises(SettingsError, match="in the past"):
        deadlines.until("2031-05-04T21:00", now)
    end = deadlines.deadline("1h", None)
    assert end is not None and end == pytest.approx(time.monotonic() + 3600, abs=1)
    assert deadlines.deadline() is None


def test_a_winner_is_simplified_only_where_it_chooses_alike() -> None:
    from persona_evo.evolve.fitness_spec import FitnessSpec
    from persona_evo.evolve.winner import sampled_choices, simplified
    from persona_evo.formula import parse
    from persona_evo.search.settings import SearchSettings
    from persona_evo.search.tree_policy import variables

    levels = mapsets.resolve(GAME, ["train"])[:2]
    utility = load("monster_killer", GAME).utility
    spec = FitnessSpec.of(GAME.name, levels, utility, SearchSettings.paper(), Budget(iterations=300))
    formula = parse("MS * 1 + (R - 0) + (PE - PE) + 3")
    rows, groups = sampled_choices(formula, spec)
    assert rows.shape == (len(groups), len(variables(GAME))) and len(groups) > 10
    columns = {v: rows[:, i] for i, v in enumerate(variables(GAME))}
    for group in set(groups.tolist()):
        assert len(set(columns["P"][groups == group])) == len(set(columns["ST"][groups == group])) == 1
    assert (columns["N"] <= columns["P"]).all() and (columns["RMAX"] >= columns["R"]).all()
    result = simplified(formula, spec)
    assert result.replaced and result.text in ("MS + R", "R + MS") and result.reason
