"""Tests genomes: conversion of texts and trees, limits kept by operators, and whole evolutions of open lists."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import FormulaError, SettingsError
from persona_evo.evolve import genome, list_operators
from persona_evo.evolve.driving import FINISHED
from persona_evo.evolve.duplicates import Keys, first_of_equals
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genes import HEAVY, LIGHT, MOST, Gene, Genes
from persona_evo.evolve.genetics import Primitives
from persona_evo.evolve.individuals import first_individuals, settled, start_in_words, symbols_of
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.run import resume
from persona_evo.evolve.setting_values import FORMULA, LISTS
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.personas.core import load
from persona_evo.personas.lists import DEFAULT_LISTS, FEW_LISTS, LIST_VARIABLES, OWN, OpenList
from persona_evo.search.list_orders import orders
from persona_evo.search.plan import plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policies, runs
from tests.evolve.evolving import evolve

GAME = registry.get("minidungeons2")
TRAIN = mapsets.resolve(GAME, ["train"])[:2]
KILLER = load("monster_killer", GAME)
MODERN = EvolutionSettings.modern(individual=LISTS)
TIGHT = EvolutionSettings.modern(individual=LISTS, size_limit=15, depth_limit=4, depth_max=4)
SYMBOLS = ("ST", "PE", "MS", "TO", "NT", "UTILITY", "CARE", "NEAR", "CEILING", "D")
PRIMITIVES = Primitives.of(MODERN, SYMBOLS)
seeds = st.integers(0, 2**32)
weights = st.floats(1e-6, 1e6)


def spec(search: SearchSettings | None = None, iterations: int = 200) -> FitnessSpec:
    rules = search or SearchSettings.anytime()
    return FitnessSpec.of(GAME.name, TRAIN, KILLER.utility, rules, Budget(iterations), "MS")


def bred(seed: int, chosen: EvolutionSettings, steps: int) -> Genes:
    """Lists after some mutations and crossovers."""
    stream = random.Random(seed)
    mine, yours = (genome.random_genome(chosen, PRIMITIVES, stream) for _ in range(2))
    for _ in range(steps):
        mine, _ = genome.mutate(mine, chosen, PRIMITIVES, stream)
        mine, yours = genome.crossover(mine, yours, chosen, stream)
    assert isinstance(mine, tuple)
    return mine


# text


@given(seeds, st.lists(st.tuples(weights, st.booleans()), min_size=1, max_size=MOST))
def test_text_and_lists_are_the_same(seed: int, rest: list[tuple[float, bool]]) -> None:
    gene = bred(seed, TIGHT, 0)[0]
    genes = tuple(Gene(gene.tree, weight, novel) for weight, novel in rest)
    text = genome.to_text(genes)
    assert genome.is_lists(text) and "\n" not in text
    lists = genome.lists_of(text)
    assert [(one.weight, one.novel) for one in lists] == rest
    assert genome.text_of(lists) == text == genome.to_text(genome.read(text, PRIMITIVES))
    assert genome.size(text) == sum(len(g.tree) for g in genes)
    assert genome.to_policy(text, GAME).lists == lists


def test_a_text_says_what_it_is() -> None:
    text = "TO - 0.1 * NT @ 2 novel; CARE + 0.1 * TO @ 1"
    policy = genome.to_policy(text, GAME)
    assert (policy.kind, policy.formula) == ("lists", None)
    assert policy.lists == (OpenList(parse("TO - 0.1 * NT"), 2, True), OpenList(parse("CARE + 0.1 * TO")))
    assert genome.to_policy("TO - 0.1 * NT", GAME) == TreePolicy.of("TO - 0.1 * NT", GAME)
    assert genome.of_policy(policy) == text and genome.of_policy(TreePolicy.ucb1()) is None


def test_a_description_grows_with_nodes_digits_and_lists() -> None:
    texts = ["TO", "TO @ 1", "TO + 3", "TO + 0.51", "TO + 0.5 @ 2; MS @ 1", "TO + 0.512345 @ 2; MS @ 1"]
    lengths = [genome.description_length(text) for text in texts]
    assert lengths == sorted(lengths) and len(set(lengths)) == len(texts) and lengths[0] == genome.NODE
    assert genome.description_length("TO @ 1 novel") == lengths[1]
    assert genome.description_length("TO + 0.5") == genome.description_length("TO + 500") == lengths[2]


@pytest.mark.parametrize(
    "text",
    [
        "TO @",
        "TO @ two",
        "TO @ 1 new",
        "@ 1",
        "TO @ 1;",
        "TO @ 0",
        "TO @ 1 novel novel",
        "TO @ nan",
        "; ".join(["TO @ 1"] * 9),
        "XX @ 1",
        "OWN + R @ 1",
    ],
)
def test_what_is_no_text_of_lists_is_refused(text: str) -> None:
    with pytest.raises((SettingsError, FormulaError)):
        genome.to_policy(text, GAME)


def test_an_own_score_is_put_where_lists_read_it() -> None:
    own = replace(TreePolicy.of("TO", GAME), lists=DEFAULT_LISTS[:3])
    assert genome.of_policy(own) == "TO @ 1; TO @ 1 novel; CARE + 0.1 * TO @ 1 novel"
    assert genome.of_policy(TreePolicy("", lists=DEFAULT_LISTS[:4])) == "UTILITY - 0.001 * D @ 1 novel"


# operators


@given(seeds, st.sampled_from([MODERN, TIGHT]))
@settings(max_examples=60)
def test_offspring_are_lists_within_the_limits(seed: int, chosen: EvolutionSettings) -> None:
    genes = bred(seed, chosen, 25)
    assert 1 <= len(genes) <= MOST
    for gene in genes:
        assert len(gene.tree) <= chosen.size_limit and gene.tree.height <= chosen.depth_limit
        assert LIGHT <= gene.weight <= HEAVY
    assert len({(genome.to_text(g.tree), g.novel) for g in genes}) == len(genes), "no list twice"
    assert genome.to_text(genome.read(genome.to_text(genes), PRIMITIVES)) == genome.to_text(genes)


@given(seeds)
@settings(max_examples=30)
def test_operators_leave_the_parents_as_they_are_and_draw_from_the_stream_alone(seed: int) -> None:
    one, two = bred(seed, TIGHT, 3), bred(seed + 1, TIGHT, 3)
    before = genome.to_text(one), genome.to_text(two)
    made = []
    for _ in range(2):
        stream = random.Random(seed)
        mutant, name = genome.mutate(one, TIGHT, PRIMITIVES, stream)
        made.append((genome.to_text(mutant), name, *map(genome.to_text, genome.crossover(one, two, TIGHT, stream))))
    assert made[0] == made[1] and before == (genome.to_text(one), genome.to_text(two))


def test_every_mutation_happens_and_changes_one_thing() -> None:
    stream, seen = random.Random(1), set()
    genes = bred(3, TIGHT, 6)
    assert len(genes) > 1
    for _ in range(200):
        mutant, name = list_operators.mutate(genes, TIGHT, PRIMITIVES, stream)
        seen.add(name)
        assert len(mutant) - len(genes) in {"add": (0, 1), "drop": (-1,)}.get(name, (-1, 0))
        if name == "weight":
            assert [g.tree for g in mutant] == [g.tree for g in genes]
    assert seen == {"new", "subtree", "point", "constant", "hoist", "shrink", "weight", "novel", "add", "drop"}


def test_lists_may_go_over_from_one_parent_to_the_other() -> None:
    one, two = (genome.read(text, PRIMITIVES) for text in ("TO @ 1", "MS @ 3 novel; PE @ 1"))
    found = {genome.to_text(genome.crossover(one, two, TIGHT, random.Random(seed))[0]) for seed in range(60)}
    assert {"MS @ 3 novel", "TO @ 1; MS @ 3 novel", "PE @ 1", "TO @ 1; PE @ 1"} <= found


# duplicates


def test_duplicates_have_the_same_lists() -> None:
    a, scaled = "TO - 0.1 * NT @ 2 novel; CARE @ 1", "2 * CARE @ 3; TO + NT * -0.1 @ 6 novel"
    other = ["TO - 0.1 * NT @ 2; CARE @ 1", "TO - 0.1 * NT @ 3 novel; CARE @ 1", "TO @ 2 novel; CARE @ 1", "CARE @ 1"]
    behaviour, canonical, off = (Keys(kind, SYMBOLS) for kind in ("behaviour", "canonical", "off"))
    assert behaviour.key_of(a) == behaviour.key_of(scaled)
    assert canonical.key_of(a) == canonical.key_of("TO + 0 - 0.1 * NT @ 2 novel; CARE @ 1")
    for keys in (behaviour, canonical, off):
        assert len({keys.key_of(text) for text in [a, *other]}) == 5
    assert canonical.key_of(a) != canonical.key_of(scaled) and off.key_of("TO") == off.key(parse("TO"))


def test_playthroughs_of_lists_are_equal_if_the_texts_are() -> None:
    texts = ["TO @ 1; MS @ 1", "TO @ 1; MS @ 2", "TO @ 1; MS @ 1", "TO @ 2; MS @ 1", "TO"]
    for by_form in (True, False):
        assert first_of_equals([(text, 0, 1, 0) for text in texts], by_form=by_form) == [0, 1, 0, 3, 4]


# what is bred


def test_the_search_says_what_an_individual_is() -> None:
    modern = EvolutionSettings.modern()
    assert settled(modern, spec()).individual == LISTS
    for search in (SearchSettings.single(), SearchSettings.paper()):
        assert settled(modern, spec(search)).individual == FORMULA
        with pytest.raises(SettingsError, match="only for a planner"):
            settled(MODERN, spec(search))
    assert settled(EvolutionSettings.modern(individual=FORMULA), spec()).individual == FORMULA
    for reading in (EvolutionSettings.modern(variables="extended"), EvolutionSettings.paper()):
        assert settled(reading, spec()).individual == FORMULA, "lists cannot read what changes"
        with pytest.raises(SettingsError, match="cannot use the search's variables"):
            settled(replace(reading, individual=LISTS), spec())
    old = EvolutionSettings.modern().to_dict()
    del old["individual"]
    assert EvolutionSettings.from_dict(old).individual == FORMULA, "runs of before there were lists go on"


@pytest.mark.parametrize("name", ["minidungeons2", "its_alive", "puyo"])
def test_lists_read_what_stands_for_something_in_the_game(name: str) -> None:
    game = registry.get(name)
    level = next(iter(mapsets.resolve(game, ["train"])))
    utility = parse(game.metrics[0].symbol, game.symbols)
    chosen = FitnessSpec.of(name, [level], utility, SearchSettings.anytime(), Budget(100))
    symbols = symbols_of(MODERN, chosen)
    assert OWN not in symbols and {"UTILITY", "D"} <= set(symbols)
    for variable in LIST_VARIABLES.keys() & set(symbols):
        usable, left_out = orders([OpenList(parse(variable))], game, utility, None, "CEILING" in symbols)
        assert usable and not left_out


def test_the_first_lists_are_the_planners_own_with_each_formula() -> None:
    start = settled(EvolutionSettings.modern(first=("MS - 0.1 * NM",)), spec())
    found = first_individuals(start, spec())
    own = TreePolicy.of("MS - 0.1 * NM", GAME)
    assert found[0] == genome.of_policy(replace(own, lists=FEW_LISTS))
    budget, level = Budget(200), TRAIN[0]
    for seed in (1, 2):
        mine = plan(GAME, level, KILLER.utility, genome.to_policy(found[0], GAME), budget, seed=seed)
        default = plan(GAME, level, KILLER.utility, own, budget, seed=seed)
        assert (mine.actions, mine.utility) == (default.actions, default.utility), "the planner does the same"
    assert all(OWN not in one.score.symbols for text in found for one in genome.lists_of(text))
    assert first_individuals(replace(start, first=()), spec()) == []
    named = replace(start, first=("MS @ 2 novel; D @ 1",))
    assert first_individuals(named, spec()) == ["MS @ 2 novel; D @ 1"]
    with pytest.raises(SettingsError, match="do not fit"):
        first_individuals(replace(start, first=("WON @ 1",)), spec())
    own_lists = first_individuals(start, spec(), [OpenList(parse("OWN - D"))])
    assert own_lists[0] == "MS - 0.1 * NM - D @ 1"
    assert start_in_words(start, spec()) == "4 sets of open lists, the planner's with other formulas, 96 random sets"


# whole evolutions


def small(**changes: Any) -> EvolutionSettings:
    values = {
        "population": 12,
        "islands": 2,
        "generations": 3,
        "elites": 1,
        "migrants": 1,
        "final_trials": 2,
        "final_candidates": 3,
        "first": ("MS - 0.1 * NM",),
    }
    return EvolutionSettings.modern(**{**values, **changes})


def evolved(root: Path, **options: Any) -> Outcome:
    given = {"settings": small(), "search": SearchSettings.anytime(), **options}
    return evolve(GAME, KILLER, TRAIN, given.pop("settings"), 7, root=root, name="run", budget=Budget(100), **given)


def journal(folder: Path) -> list[dict[str, Any]]:
    return [runs.comparable(row) for row in runs.read_journal(folder)]


@pytest.mark.usefixtures("unsimplified")
def test_lists_evolve_to_a_policy_the_same_on_any_cores_and_resumed(tmp_path: Path) -> None:
    whole = evolved(tmp_path / "whole", held_out=[], jobs=2)
    assert whole.status == FINISHED and whole.policy is not None
    cut = evolved(tmp_path / "cut", settings=small(generations=2))
    again = resume(cut.folder, generations=3)
    assert journal(whole.folder) == journal(again.folder)
    assert json.loads((whole.folder / runs.CONFIG).read_text())["evolution"]["individual"] == LISTS
    policy = policies.read(whole.policy)
    assert policy.kind == "lists" and policy.formula == "" and policy.words and policy.simplification
    assert len(policy.words) == len(policy.lists) and set(policy.metrics) == {
        symbol for one in policy.lists for symbol in one.score.symbols
    }
    found = plan(GAME, TRAIN[0], KILLER.utility, policy.tree_policy(GAME), Budget(100), seed=1)
    assert found.iterations <= 100 and found.actions
    rivals = [rival["name"] for rival in policy.comparison["rivals"]]
    assert rivals[:3] == ["UCB1", "the default lists with the utility", "the shipped policy monster_killer"]
    assert rivals[3:] == ["the best of its first generation"]
    assert genome.is_lists(policy.run["as_evolved"]["lists"])
    born = {row["formula"] for row in journal(whole.folder)}
    assert all(map(genome.is_lists, born))


@pytest.mark.usefixtures("unsimplified")
def test_a_run_of_one_formula_goes_on_with_one_formula(tmp_path: Path) -> None:
    outcome = evolved(tmp_path, settings=small(individual=FORMULA, generations=2))
    more = resume(outcome.folder, generations=3)
    assert more.policy is not None and policies.read(more.policy).kind == "formula"
    assert not any(genome.is_lists(row["formula"]) for row in journal(outcome.folder))
