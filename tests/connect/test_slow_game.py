"""Evolutions of a game that plays 42 rollouts a second end within their time. The clock is simulated."""

import re
import time

import pytest

from persona_evo.connect import pool
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.workers import Workers
from persona_evo.search.settings import Budget, SearchSettings
from tests.cli.tool import run
from tests.connect.driving import describe, none_left

ROLLOUT = 1 / 42
"""Seconds that a rollout takes on the simulated clock."""
TABLES = """
[maps]
train = ["default@1-2"]
[[metrics]]
symbol = "HEIGHT"
meaning = "rungs climbed"
better = "higher"
"""
CLIMBER = 'name = "climber"\ngame = "ladder"\nutility = "HEIGHT - 5 * FELL"\npriority = "HEIGHT"\n'
SMALL = ("--population", 8, "--islands", 1, "--seed", 1, "--jobs", 1)


class Clock:
    """A clock that stands still but for the rollouts of the game."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A clock by which every rollout takes the same time."""
    made, check = Clock(), pool.check_result

    def checked(*given, **options):
        made.now += ROLLOUT
        return check(*given, **options)

    monkeypatch.setattr(pool, "check_result", checked)
    for name in ("monotonic", "perf_counter", "time"):
        monkeypatch.setattr(time, name, made)
    return made


@pytest.fixture
def evolve(tmp_path, clock, capsys):
    """From a number of seconds to what the command came to, and the seconds that it took."""
    file = describe(tmp_path, top='personas = ["climber.toml"]', tables=TABLES)
    (tmp_path / "climber.toml").write_text(CLIMBER, encoding="utf-8")

    def evolved(seconds):
        began = clock.now
        words = ("--game", file, "--persona", "climber", "--levels", "train", *SMALL)
        ran = run(capsys, "evolve", *words, "--for", f"{seconds}s", "--out", tmp_path / "runs")
        return ran, clock.now - began

    yield evolved
    assert none_left(tmp_path)


@pytest.mark.parametrize("pace", [None, 0.1])
def test_playthroughs_that_would_end_too_late_are_not_begun_or_are_abandoned(tmp_path, clock, pace):
    """Whether the time of one is known or was much underestimated."""
    game = registry.get(str(describe(tmp_path, tables=TABLES)))
    levels = mapsets.resolve(game, ["train"])
    spec = FitnessSpec.of(registry.address(game), levels, parse("HEIGHT"), SearchSettings.single(), Budget(50))
    with closing_outside(game), Workers(1) as workers:
        fitness = Fitness(spec, workers)
        fitness.time_one("HEIGHT")
        assert fitness.pace == pytest.approx(50 * ROLLOUT, rel=0.2)
        fitness.pace, fitness.stop = pace or fitness.pace, clock.now + 12
        formulas = [f"HEIGHT - 0.{n} * TURN" for n in range(100, 140)]
        played = fitness.trials(formulas, [((1,), (1,))] * len(formulas), 0, 1)
        late = clock.now - fitness.stop
    assert late < 1.0
    whole = [cases for cases in played if cases is not None]
    assert 3 <= len(whole) <= 12 / (2 * 50 * ROLLOUT) if pace is None else not whole


def test_the_command_ends_within_its_time_and_uses_it(evolve):
    ran, took = evolve(60)
    assert ran.code == 0, ran.err
    assert 0.5 * 60 < took <= 60
    assert "everything is done by" in ran.err and "HEIGHT" in ran.out


def test_the_shortest_time_that_is_named_is_enough(evolve):
    refused, took = evolve(5)
    assert refused.code == 2 and took < 5 and "too short for a single generation" in refused.err
    enough = int(re.search(r"at least about (\d+) s", refused.err)[1])
    ran, took = evolve(enough)
    assert ran.code == 0 and took <= enough, ran.err
