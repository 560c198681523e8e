"""Tests the size of an evolution that has to end by a deadline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import persona_evo as pe
from persona_evo.api.evolution import EvolutionRequest
from persona_evo.compiling import estimates, news
from persona_evo.errors import SettingsError
from persona_evo.evolve import time_plan
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.schedule import DESCRIBE_SECONDS, END_SHARE
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games import mapsets, registry
from persona_evo.jobs.workers import Workers
from persona_evo.personas import load
from persona_evo.search.settings import Budget

GAME = registry.get("minidungeons2")
LEVELS = mapsets.resolve(GAME, ["train01", "train02"])


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a machine on which 10,000 iterations take a second."""

    def time_one(self: Fitness, formula: str) -> float:
        self.pace = (self.spec.budget.iterations or 0) / 10_000
        return 1.0

    monkeypatch.setattr(Fitness, "time_one", time_one)


def planned(seconds: float, fixed: tuple[str, ...] = (), **changes: Any) -> time_plan.TimePlan:
    settings = EvolutionSettings.of("modern", **{"reevaluations": 1, **changes})
    task = EvolutionTask(GAME, load("runner", GAME), LEVELS, settings, 1)
    with Workers(1) as workers:
        return time_plan.plan(task, workers, time.monotonic() + seconds, fixed)


def test_with_ample_time_nothing_is_changed(slow: None) -> None:
    found = planned(10_000)
    assert found.chosen == {} and found.task.settings == EvolutionSettings.of("modern", reevaluations=1)
    assert found.generation == pytest.approx(200.0), "100 individuals on 2 levels, a second each"
    assert found.generations == int((1 - END_SHARE) * (10_000 - DESCRIBE_SECONDS) / 200)
    (line,) = found.lines()
    assert line.startswith(
        "a playthrough takes 1 s on one core: there is time for about 34 of the 100 generations, 3 min each, and"
    )


def test_first_the_population_is_made_smaller_and_then_the_budget(slow: None) -> None:
    half = planned(1500)
    assert half.chosen == {"population": 50} and half.task.spec.budget.iterations == 10_000
    assert half.generations == 10
    little = planned(200)
    assert little.chosen == {"population": 20, "islands": 2, "iterations": 3400}
    assert little.task.spec.budget == Budget(3400) and little.task.settings.island_size == 10
    assert "sizes chosen to fit the time: --population 20 --islands 2 --iterations 3400" in little.lines()
    assert planned(40).chosen["iterations"] == time_plan.FEWEST


def test_what_was_chosen_by_hand_is_kept(slow: None) -> None:
    assert planned(200, ("population", "islands")).chosen == {"iterations": 1000}, "the fewest"
    assert planned(200, ("iterations",)).chosen == {"population": 20, "islands": 2}
    assert planned(700, ("islands",)).chosen == {"population": 50, "iterations": 4800}, "islands of 10 at least"
    everything = planned(700, ("population", "islands", "iterations"))
    assert everything.chosen == {} and everything.generations == 2


def test_a_series_of_runs_shares_the_time(slow: None) -> None:
    assert planned(3000, runs=2).chosen == {"population": 50}
    assert "there is time for 2 runs of about 10 of the 100 generations" in planned(3000, runs=2).lines()[-1]


def test_a_time_without_room_for_a_generation_is_refused(slow: None) -> None:
    with pytest.raises(SettingsError, match="too short for a single generation") as refused:
        planned(5)
    assert refused.value.hint is not None and refused.value.hint.startswith("2 min is enough for 10 generations")
    assert refused.value.expected is not None and "as a generation takes 4 s" in refused.value.expected


def test_the_api_fits_a_run_to_its_duration(slow: None, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="too short"):
        pe.evolve_policy("runner", ["train01"], duration=2.0, out=tmp_path, jobs=1, seed=1)
    assert not list(tmp_path.iterdir())


def test_time_that_compiling_alone_takes_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a simulated clock, compiling would end after 40 s; nothing is compiled, and no folder is made."""
    clock = [0.0]

    def time_one(self: Fitness, formula: str) -> float:
        with news.told("the engine", 40.0):
            clock[0] += 40.0
        self.pace = 1e-6
        return 1.0

    monkeypatch.setattr(Fitness, "time_one", time_one)
    monkeypatch.setattr(estimates, "factor", lambda: 1.0)
    monkeypatch.setattr(estimates, "is_measured", lambda: True)
    monkeypatch.setattr(estimates, "learn", lambda guessed, measured: None)
    with monkeypatch.context() as simulated, pytest.raises(SettingsError) as refused:
        simulated.setattr(time, "monotonic", lambda: clock[0])
        pe.evolve_policy("runner", ["train01"], duration=35.0, out=tmp_path, jobs=1, seed=1)
    assert clock == [0.0] and not list(tmp_path.iterdir())
    assert refused.value.what == "the time is too short to compile what the evolution needs"
    assert refused.value.found == "35 s left" and "about 40 s for compiling alone" in str(refused.value.expected)
    assert refused.value.hint == "give it 2 min: after compiling, as much time is left as now"
    with monkeypatch.context() as simulated:
        simulated.setattr(time, "monotonic", lambda: clock[0])
        with time_plan.compiled_by(50.0), news.told("the engine", 40.0):
            pass  # there is time for it
        with time_plan.compiled_by(None), news.told("the engine", 4000.0):
            pass


@pytest.mark.parametrize(
    ("request_", "fixed"),
    [
        (EvolutionRequest(), set()),
        (EvolutionRequest(changes={"population": 40}), {"population"}),
        (EvolutionRequest(iterations=100), {"iterations"}),
        (EvolutionRequest(budget=Budget(100)), {"iterations"}),
        (EvolutionRequest(preset="paper"), {"population", "islands"}),
    ],
)
def test_what_counts_as_chosen_by_hand(request_: EvolutionRequest, fixed: set[str]) -> None:
    assert set(request_._fixed()) == fixed


def test_a_playthrough_is_timed_by_a_part_of_a_large_budget() -> None:
    task = EvolutionTask(
        GAME, load("runner", GAME), LEVELS, EvolutionSettings.of("modern"), 1, budget=Budget(50_000_000)
    )
    with Workers(1) as workers:
        fitness = Fitness(task.spec, workers)
        fitness.warm_up()
        began = time.monotonic()
        fitness.time_one("PE - 0.01 * ST")
        took = time.monotonic() - began
    assert fitness.pace > 3 * took, "no whole playthrough was played"


def test_as_many_generations_are_announced_as_end_in_time(slow: None) -> None:
    everything = ("population", "islands", "iterations")
    assert [planned(seconds, everything).generations for seconds in (250, 350, 620, 1200)] == [1, 1, 2, 4]
    assert planned(10_000, everything, generations=3).generations == 3
