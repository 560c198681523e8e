"""Tests generated levels: reproducible, sound, distinct, within constraints, and disjoint between streams."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.evolve import pools
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.catalog.minidungeons2.soundness import sound
from persona_evo.games.constraints import AllowedRange, Constraints
from persona_evo.games.core import Level
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.generating import STREAMS, LevelSource, asked, generate, stream_of
from persona_evo.games.level_text import LevelText
from persona_evo.games.mapsets import resolve
from persona_evo.jobs.workers import Workers
from persona_evo.search.plan import Plan, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

GAME = registry.get("minidungeons2")


def problems(game_name: str, count: int, seed: int) -> list[str]:
    """Return the problems that the whole level check finds in generated levels."""
    game = registry.get(game_name)
    return [f.text for f in diagnose(game, generate(game, count, seed)) if f.severity == "problem"]


@pytest.fixture(scope="module")
def pool() -> list[Level]:
    """Four levels of each kind, from seed 5."""
    return generate(GAME, 24, 5)


def test_the_same_seed_gives_the_same_levels_and_a_smaller_pool_is_the_beginning_of_a_larger_one(
    pool: list[Level],
) -> None:
    made = [level.text for level in pool]
    assert made[:3] == [level.text for level in generate(GAME, 3, 5)]
    assert set(made).isdisjoint(level.text for level in generate(GAME, 3, 6))


def test_levels_hold_everything_and_have_mixed_sizes(pool: list[Level]) -> None:
    made = pool
    assert len({level.text for level in made}) == len({level.name for level in made}) == 24
    counts = Counter("".join(level.text for level in made))
    assert all(counts[char] for char in "XHeTPtpMRobm ")
    shapes = [GAME.structure(level) for level in made]  # type: ignore[misc]
    kinds = ["passages", "maze", "rooms", "halls", "cave", "arena"]
    assert [level.name.split("-")[0] for level in made] == kinds * 4
    assert all(8 <= numbers["width"] <= 24 and 8 <= numbers["height"] <= 24 for numbers in shapes)
    assert min(n["floor"] for n in shapes) < 70 and max(n["floor"] for n in shapes) > 150
    assert any(n["potions"] <= 1 for n in shapes) and any(n["reachable"] == 1 for n in shapes)
    assert any(n["path_portals"] < n["path"] or n["path"] != n["path"] for n in shapes if n["portals"])


def test_levels_range_from_narrow_corridors_to_open_halls(pool: list[Level]) -> None:
    shapes = [GAME.structure(level) for level in pool]  # type: ignore[misc]
    assert 2.3 < statistics.median(n["branching"] for n in shapes) < 3.1
    for name, low, high in (("choke_points", 0.2, 0.5), ("dead_ends", 0.01, 0.1), ("open_areas", 0.05, 0.3)):
        assert min(n[name] / n["floor"] for n in shapes) < low < high < max(n[name] / n["floor"] for n in shapes), name
    assert sum(n["height"] > n["width"] and 180 <= n["width"] * n["height"] <= 231 for n in shapes) >= 10


def test_the_whole_level_check_finds_no_problem() -> None:
    assert problems("minidungeons2", 3, 9) == []


def test_the_fast_check_agrees_with_the_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persona_evo.games.diagnosis.is_sound", lambda game, level: True)
    made = generate(
        GAME, 15, 4, constraints=Constraints(spans={"width": AllowedRange(8, 9), "height": AllowedRange(8, 9)})
    )
    whole = [not any(f.severity == "problem" for f in diagnose(GAME, [level])) for level in made]
    assert all(found is None or found == right for found, right in zip(map(sound, made), whole, strict=True))
    assert [sound(level) for level in made].count(None) < 3
    assert {True, False} == set(whole)


def test_streams_never_meet_whatever_the_seeds() -> None:
    small = Constraints(("rooms", "halls"), {"width": AllowedRange(4, 5), "height": AllowedRange(4, 5)})
    texts = [{level.text for seed in (1, 2) for level in generate(GAME, 20, seed, stream, small)} for stream in STREAMS]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    assert [{stream_of(text) for text in found} for found in texts] == [{0}, {1}, {2}]


def test_constraints_are_kept() -> None:
    spans = {
        "path_portals": AllowedRange(20, 30),
        "monsters": AllowedRange(2, 4),
        "width": AllowedRange(14, 14),
        "potions": AllowedRange(high=1),
    }
    made = generate(GAME, 6, 3, constraints=Constraints(("rooms", "halls"), spans))
    assert [level.name.split("-")[0] for level in made] == ["rooms", "halls"] * 3
    for level in made:
        numbers = GAME.structure(level)  # type: ignore[misc]
        assert all(numbers[name] in span for name, span in spans.items())


@pytest.mark.parametrize(
    ("constraints", "stream", "count", "what"),
    [
        (Constraints(("caves",)), "train", 1, "did you mean 'cave'"),
        (Constraints(spans={"paths": AllowedRange(1, 2)}), "train", 1, "did you mean 'path'"),
        (Constraints(spans={"path": AllowedRange(3, 2)}), "train", 1, "allows nothing"),
        (Constraints(), "test", 1, "no such stream"),
        (Constraints(), "train", 0, "out of range"),
        (
            Constraints(
                ("cave",), {"path_portals": AllowedRange(90), "width": AllowedRange(8, 8), "height": AllowedRange(8, 8)}
            ),
            "train",
            1,
            "was found in 3,000 attempts",
        ),
    ],
)
def test_what_cannot_be_is_an_error(constraints: Constraints, stream: str, count: int, what: str) -> None:
    with pytest.raises(SettingsError, match=what):
        generate(GAME, count, 1, stream, constraints)


def test_a_game_without_a_generator_says_so() -> None:
    with pytest.raises(SettingsError, match="no level generator"):
        generate(registry.get("colosseum"), 1, 1)


def test_a_pool_is_won_and_does_not_depend_on_jobs() -> None:
    small = Constraints(spans={"width": AllowedRange(8, 10), "height": AllowedRange(8, 10)})
    with Workers(1) as alone, Workers(2, "threading") as two:
        found = pools.winnable(GAME, 6, 4, "validation", alone, constraints=small)
        assert found == pools.winnable(GAME, 6, 4, "validation", two, constraints=small)
        runner = parse("WON - 0.01 * ST", GAME.symbols)
        best = pools.best_known(GAME, found, runner, 4, alone, iterations=5_000)
        assert best == pools.best_known(GAME, found, runner, 4, two, iterations=5_000)
    assert len({level.text for level in found}) == 6 and all(0 < utility < 1 for utility in best)
    for level, utility in zip(found, best, strict=True):
        assert utility <= 1 - 0.01 * GAME.structure(level.load(GAME))["path_portals"] + 1e-9  # type: ignore[misc]


def test_the_pools_of_an_evolution_are_apart_and_can_be_kept() -> None:
    counts, told = {"train": 3, "validation": 2, "held out": 2}, list[tuple[str, int, int]]()
    with Workers(1) as workers:
        found = pools.prepared(
            GAME,
            parse("WON", GAME.symbols),
            counts,
            4,
            workers,
            iterations=2_000,
            tell=lambda *n: told.append(n),
            constraints=Constraints(spans={"width": AllowedRange(8, 9), "height": AllowedRange(8, 9)}),
        )
    assert {stream: len(pool.levels) for stream, pool in found.items()} == counts
    assert len({level.text for pool in found.values() for level in pool.levels}) == 7
    assert all(pool.best == (1.0,) * len(pool.levels) for pool in found.values())
    assert ("generating levels (train)", 3, 3) in told and told[-1][1:] == (2, 2)
    kept = json.loads(json.dumps(found["train"].to_dict()))
    assert pools.LevelPool.of_dict(kept) == found["train"]
    with pytest.raises(ValueError, match="2 utilities"):
        pools.LevelPool.of_dict({**kept, "best": [0, 1]})


def test_what_is_best_is_known_as_soon_as_it_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()

    def watched(*arguments: Any) -> Any:
        planner = planner_for(*arguments)
        plan = planner.plan

        def noted(*given: Any, **options: Any) -> Plan:
            made.append((found := plan(*given, **options)).iterations)
            return found

        monkeypatch.setattr(planner, "plan", noted)
        return planner

    monkeypatch.setattr(pools, "Planner", watched)
    utility, level = parse("WON", GAME.symbols), GAME.load("XXXXXXX\nXH   eX\nX     X\nX  T  X\nXXXXXXX\n", "open")
    with Workers(1, "threading") as workers:
        assert pools.best_known(GAME, [LevelText.of(level)], utility, 4, workers, iterations=5_000) == (1.0,)
    usual = planner_for(GAME, level, SearchSettings.anytime(), 5_001)
    polished = usual.plan(utility, TreePolicy.utility(utility), Budget(5_000), 4)
    assert polished.proven and made[0] < polished.iterations


def test_names_that_ask_for_generated_levels() -> None:
    assert (asked(["train"]), asked(["generate:200"])) == (0, 200)
    for wrong in (["generate:0"], ["generate:many"], ["generate:"], ["generate:5", "train"], ["generate:99999999999"]):
        with pytest.raises(SettingsError):
            asked(wrong)
    with pytest.raises(SettingsError, match="level generate --count"):
        resolve(GAME, ["generate:20"])


def test_levels_that_nobody_wins_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = LevelSource(GAME, 4, "train", Constraints(), {}).levels(1)
    first, second = next(candidates), next(candidates)
    monkeypatch.setattr(pools, "moves_to_win", lambda game, level: int(level.text != first.text))
    with Workers(1) as workers:
        assert pools.winnable(GAME, 1, 4, "train", workers)[0].text == second.text
        monkeypatch.setattr(pools, "moves_to_win", lambda game, level: 0)
        with pytest.raises(SettingsError, match="proven winnable"):
            pools.winnable(GAME, 1, 4, "train", workers)


def test_the_plan_is_the_proof_that_a_level_can_be_won() -> None:
    walled = GAME.load("XXXXXXX\nXH   eX\nX     X\nX  T  X\nXXXXXXX\n", "open")
    assert pools.moves_to_win(GAME, walled) == 4
    deadly = GAME.load("X" * 15 + "\nXHtttttttttteX\n".replace("eX", " eX") + "X" * 15 + "\n", "deadly")
    assert pools.moves_to_win(GAME, deadly) == 0
