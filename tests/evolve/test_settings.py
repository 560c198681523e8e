"""Tests that presets match the specification, and that values out of range are refused."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

import persona_evo as pe
from persona_evo.errors import Place, SettingsError
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.search.settings import SearchSettings

pytestmark = pytest.mark.quick


def test_paper_is_the_published_protocol_with_the_program_values() -> None:
    s = EvolutionSettings.paper()
    assert (s.population, s.islands, s.island_size, s.generations, s.runs) == (100, 5, 20, 100, 3)
    assert (s.functions, s.variables, s.costly) == ("basic", "paper", False)
    assert (s.constant_low, s.constant_high) == (0.0, 1.0)
    assert (s.depth_min, s.depth_max, s.depth_limit) == (2, 5, 8)
    assert (s.migration_every, s.migrants) == (1, 5)
    assert (s.pool, s.tournament, s.elites) == ("tournament", 2, 3)
    assert (s.mutation, s.mutations, s.crossover) == (0.1, {"new": 1.0}, 1.0)
    assert (s.trials, s.duplicates, s.reevaluations, s.rounds, s.first) == (1, "off", 1, 0, ())


def test_the_text_of_the_paper_is_an_option() -> None:
    s = EvolutionSettings.paper(pool="top5", constant_low=-1.0)
    assert (s.pool, s.pool_size, s.constant_low, s.constant_high) == ("top5", 5, -1.0, 1.0)


@pytest.mark.parametrize("preset", ["paper", "modern"])
def test_settings_survive_json(preset: str) -> None:
    s = EvolutionSettings.of(preset, metrics=("PE", "MS"), trials=2)
    assert EvolutionSettings.from_dict(json.loads(json.dumps(s.to_dict()))) == s


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"population": 101}, "multiple of islands"),
        ({"population": 1.5}, "whole number"),
        ({"elites": 20}, "fewer than the 20"),
        ({"migrants": 21}, "at most the 20"),
        ({"mutation": 1.1}, "between 0 and 1"),
        ({"mutation": float("nan")}, "between 0 and 1"),
        ({"crossover": True}, "between 0 and 1"),
        ({"constant_low": 2.0}, "constant_high"),
        ({"constant_high": float("inf")}, "finite"),
        ({"depth_max": 9}, "depth_min <= depth_max <= depth_limit"),
        ({"size_limit": 5}, "between 7"),
        ({"size_limit": 5000}, "and 1023"),
        ({"mutations": {"new": 0}}, "at least one weight"),
        ({"mutations": {"new": -1}}, "at least 0"),
        ({"common_seeds": 1}, "true or false"),
        ({"metrics": ("",)}, "list of texts"),
        ({"metrics": ("PE", "MS", "PE")}, "each metric once"),
        ({"duplicates": "behaviour"}, "other seeds"),
        ({"duplicates": "canonical"}, "duplicates 'off'"),
    ],
)
def test_values_out_of_range_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        EvolutionSettings.of("paper", **changes)


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ({"pool": "tornament"}, "tournament"),
        ({"mutations": {"hiost": 1}}, "hoist"),
        ({"populaton": 10}, "population"),
        ({"functions": "extnded"}, "extended"),
    ],
)
def test_misspelt_names_are_answered_with_the_nearest(values: dict[str, Any], hint: str) -> None:
    with pytest.raises(SettingsError, match=f"did you mean '{hint}'"):
        EvolutionSettings.from_dict(values)


def test_unknown_preset_and_place() -> None:
    with pytest.raises(SettingsError, match="did you mean 'modern'"):
        EvolutionSettings.of("modrn")
    with pytest.raises(SettingsError, match=r"^here\.json:3"):
        EvolutionSettings.from_dict({"elites": -1}, Place("here.json", 3))


@pytest.mark.parametrize(("population", "together"), [(100, (3, 5)), (60, (3, 5)), (25, (1, 1)), (10, (0, 0))])
def test_small_islands_have_fitting_elites_and_migrants(population: int, together: tuple[int, int]) -> None:
    s = EvolutionSettings.of("modern", population=population)
    assert (s.elites, s.migrants) == together
    given = EvolutionSettings.of("modern", population=20, elites=2)
    assert (given.elites, given.migrants) == (2, 1)


def test_what_is_given_and_does_not_fit_is_told_with_all_rules_at_once() -> None:
    with pytest.raises(SettingsError) as e:
        EvolutionSettings.of("modern", population=24, islands=5, elites=3, migrants=5)
    said = str(e.value)
    assert "multiple of islands (5)" in said and "elites (3)" in said and "migrants (5)" in said
    assert "use 25 or more, or fewer islands" in said


def test_settings_without_a_preset_are_those_of_commands_without_one() -> None:
    assert EvolutionSettings() == EvolutionSettings.modern() == EvolutionSettings.of("modern")
    assert SearchSettings() == SearchSettings.preset("anytime")
    assert EvolutionSettings().preset == inspect.signature(pe.evolve_policy).parameters["preset"].default


def test_what_a_run_of_an_earlier_version_does_not_say_is_that_of_the_paper() -> None:
    assert EvolutionSettings.from_dict({"individual": "search"}) == EvolutionSettings.paper()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"budgets": (2, 0.5)}, "found: 2,0.5"),
        ({"budgets": ("x",)}, "found: x"),
        ({"first": ("",)}, "found: an empty text"),
        ({"costly": 3}, "found: 3"),
        ({"trials": True}, "found: true"),
        ({"mutations": {"point": 0.0}}, "found: point=0.0"),
        ({"pool": "best"}, "found: best"),
    ],
)
def test_errors_show_values_as_people_write_them(changes: dict[str, object], found: str) -> None:
    with pytest.raises(SettingsError) as refused:
        EvolutionSettings.modern(**changes)
    assert found in str(refused.value).splitlines()[1]


@pytest.mark.parametrize(("name", "expected"), [("budgets", "numbers"), ("first", "texts"), ("metrics", "texts")])
def test_settings_that_are_lists_say_of_what(name: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=f"a list of {expected}"):
        EvolutionSettings.modern(**{name: 3})


@pytest.mark.parametrize(
    "given", [((-1,), {}), (([],), {}), (("modern",), {"preset": "x"}), ((), {}), ((10**5000,), {})]
)
def test_a_wrong_preset_is_refused_with_what_was_found_and_expected(given: tuple[Any, dict[str, Any]]) -> None:
    with pytest.raises(SettingsError, match="preset of the evolution") as caught:
        EvolutionSettings.of(*given[0], **given[1])
    assert caught.value.found and "modern" in str(caught.value.expected)
    assert EvolutionSettings.of(preset="paper") == EvolutionSettings.of("paper")
