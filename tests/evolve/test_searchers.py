"""Tests the searches other than evolution: what they try, how they count, and that they find easy optima."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace

import pytest

from persona_evo import personas
from persona_evo.agents.skill import Skill
from persona_evo.agents.skilled_player import SkilledPlayer
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict, spec_to_dict
from persona_evo.evolve.playthroughs import FitnessTrial, plans
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.searchers import GRID, UCB1, method, search
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Trained, Training
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.workers import Workers
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

GAME = registry.get("minidungeons2")
COLLECTOR = personas.load("treasure_collector", GAME)
LEVELS = mapsets.resolve(GAME, [f"train{n:02}" for n in range(1, 9)])
BEST = (1.0,) * 4
SETTINGS = EvolutionSettings.sampling(variables="extended", first=("ucb1",), levels_a_generation=4, race_from=2)
SKILL = Skill("full sight", 1, 200, 0.0, 1.0)


@pytest.fixture(scope="module")
def training() -> Training:
    spec = FitnessSpec.of("minidungeons2", LEVELS[:4], COLLECTOR.utility, SearchSettings.single(), Budget(200), "TO")
    return Training(replace(spec, best=BEST), LevelPool(tuple(map(LevelText.of, LEVELS[4:])), BEST))


def found(name: str, training: Training, playthroughs: int = 150, jobs: int = 1, line: str = "") -> Trained:
    with Workers(jobs, "threading") as workers:
        return search(method(name, training, SETTINGS, line), training, 7, playthroughs, workers)


@pytest.mark.parametrize("name", ["random", "hill", "ucb1"])
def test_the_playthroughs_are_counted(name: str, training: Training) -> None:
    result = found(name, training)
    assert 100 < result.playthroughs <= 150
    counts = [p.playthroughs for p in result.curve]
    assert counts == sorted(counts) and counts[-1] == result.playthroughs
    best = [p.validation for p in result.curve]
    assert best == sorted(best) and result.curve[-1].policy == result.policy
    if name == "ucb1":
        assert GRID[0] / 10 < float(result.policy.removeprefix(UCB1)) < GRID[-1] * 10
    else:
        assert parse(result.policy, (*GAME.symbols, "R", "N", "P", "D", "RMAX", "RSD"))


def test_the_result_follows_from_the_seed_for_any_number_of_jobs(training: Training) -> None:
    assert found("hill", training) == found("hill", training, jobs=2)


def test_constants_alone_are_tuned(training: Training) -> None:
    line = "1*TO - 50*NT - 0.001*ST"
    result = found("constants", training, 400, line=line)
    shape = re.escape(parse(line).text).replace(r"50", "(.+)").replace(r"0\.001", "(.+)")
    match = re.fullmatch(shape, result.policy)
    assert match is not None and result.policy != parse(line).text
    assert result.curve[-1].validation >= result.curve[0].validation


def test_a_round_is_cut_where_few_playthroughs_are_left(training: Training) -> None:
    assert found("random", training, 40).playthroughs <= 60


def test_a_skilled_player_can_be_what_plays() -> None:
    spec = dataclasses.replace(
        FitnessSpec.of("minidungeons2", LEVELS[:2], COLLECTOR.utility, SearchSettings.single(), Budget(60), "TO"),
        skill=SKILL,
    )
    policy = "TO - 0.1 * NT - 0.001 * ST"
    assert spec_from_dict("minidungeons2", "TO", spec_to_dict(spec)) == spec
    ends = list(plans(spec, [FitnessTrial(policy, case, 5) for case in (0, 1)]))
    for level, end in zip(LEVELS, ends, strict=False):
        player = SkilledPlayer(GAME, level, COLLECTOR.utility, TreePolicy.of(policy, GAME), SKILL, Budget(60))
        alone = player.play(5)
        assert (alone.actions, alone.utility) == (end.actions, end.utility)
        assert alone.iterations <= 60 * len(alone.actions)
    with Workers(1) as workers:
        scores = Fitness(spec, workers).trials([policy], [[[5], [5]]], 0, 1)[0]
    assert scores is not None and [row[0].utility for row in scores] == [end.utility for end in ends]
