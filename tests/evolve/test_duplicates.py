"""Tests that equivalent formulas share a key, that others do not, and that the memory stays small."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.evolve.duplicates import EvaluationCache, Keys, first_of_equals, sample
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import Workshop
from persona_evo.evolve.records import Request
from persona_evo.formula import Formula, parse
from persona_evo.formula.core import Token
from persona_evo.formula.rewrite import canonical
from persona_evo.games import mapsets, registry
from persona_evo.jobs.workers import Workers
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

SYMBOLS = ("ST", "PE", "MS", "HL", "R", "N", "P")
ALIKE = [
    ("PE + MS", "MS + PE"),
    ("PE + MS", "2 * (MS + PE) + 7"),
    ("PE - PE", "0"),
    ("PE * 3 - 1", "PE"),
    ("exp(R)", "R"),
    ("(PE + MS) + HL", "PE + (MS + HL)"),
]
DIFFERENT = [("PE + MS", "PE - MS"), ("PE", "-PE"), ("PE / MS", "PE * MS"), ("R", "R + 0.01 * ST"), ("PE", "0")]


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_formulas_that_rank_states_alike_share_a_key(one: str, two: str) -> None:
    keys = Keys("behaviour", SYMBOLS)
    assert keys.key(parse(one)) == keys.key(parse(two))


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_others_do_not(one: str, two: str) -> None:
    for kind in ("behaviour", "canonical", "off"):
        keys = Keys(kind, SYMBOLS)
        assert keys.key(parse(one)) != keys.key(parse(two))


def test_canonical_is_finer_than_behaviour_and_coarser_than_the_text() -> None:
    one, two, three = parse("PE + MS"), parse("MS + PE"), parse("2 * (PE + MS)")
    canonical, text = Keys("canonical", SYMBOLS), Keys("off", SYMBOLS)
    assert canonical.key(one) == canonical.key(two) != canonical.key(three)
    assert text.key(one) != text.key(two)


def test_the_sample_is_fixed_and_its_visits_are_possible() -> None:
    rows = sample(SYMBOLS)
    assert np.array_equal(rows, sample(SYMBOLS))
    assert (rows[:, SYMBOLS.index("N")] >= 1).all()
    assert (rows[:, SYMBOLS.index("P")] > rows[:, SYMBOLS.index("N")]).all()


def test_memory_forgets_what_was_unused_longest() -> None:
    known: dict[str, tuple[list[float], int]] = {}
    memory = EvaluationCache(known, 3)
    for name in "abc":
        memory.keep(name, [1.0], 1)
    assert memory.recall("a") == ([1.0], 1)
    memory.keep("d", [2.0], 1)
    assert list(known) == ["c", "a", "d"] and memory.recall("b") is None and len(memory) == 3


def test_a_memory_without_room_keeps_nothing() -> None:
    memory = EvaluationCache({}, 0)
    memory.keep("a", [1.0], 1)
    assert memory.recall("a") is None


def test_a_score_that_may_change_is_no_duplicate_of_one_that_never_does() -> None:
    """Searches treat the two differently."""
    for kind in ("canonical", "behaviour"):
        keys = Keys(kind, SYMBOLS)
        assert keys.key(parse("PE + (R - R)")) != keys.key(parse("PE")) == keys.key(parse("PE + (MS - MS)"))


EQUAL = [
    ("MS + PE", 0, 5, 0),
    ("PE + MS", 0, 5, 0),
    ("PE + MS", 0, 6, 0),
    ("PE + MS", 1, 5, 0),
    ("PE + MS", 0, 5, 1),
    ("PE - -MS", 0, 5, 0),
    ("PE + MS + (R - R)", 0, 5, 0),
    (TreePolicy.ucb1(), 0, 5, 0),
    (TreePolicy("other name", parse("MS + PE")), 0, 5, 0),
    (TreePolicy.ucb1(2.0), 0, 5, 0),
    (TreePolicy.ucb1(), 0, 5, 0),
]


def test_equal_playthroughs_have_case_seed_side_form_and_symbols_in_common() -> None:
    assert first_of_equals(EQUAL, by_form=True) == [0, 0, 2, 3, 4, 0, 6, 7, 0, 9, 7]
    assert first_of_equals(EQUAL, by_form=False) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7]


GAME = registry.get("minidungeons2")
UTILITY = parse("MS + 0.5 * PE - 0.01 * ST", GAME.symbols)
LEVELS = mapsets.resolve(GAME, ["train03"])


def spec(rules: SearchSettings, budget: Budget) -> FitnessSpec:
    return FitnessSpec.of("minidungeons2", LEVELS, UTILITY, rules, budget, "MS")


SPECS = {rules.preset_name: spec(rules, Budget(150)) for rules in (SearchSettings.paper(), SearchSettings.single())}


def swapped(tokens: tuple[Token, ...], stream: random.Random) -> tuple[Token, ...]:
    """Return the same formula with some operands the other way round."""
    stack: list[tuple[Token, ...]] = []
    for token in tokens:
        if token in ("+", "*", "-", "/"):
            b, a = stack.pop(), stack.pop()
            if token in ("+", "*") and stream.random() < 0.5:
                a, b = b, a
            stack.append((*a, *b, token))
        else:
            stack.append((token,))
    return stack[0]


leaves = st.one_of(st.sampled_from(("R", "MS", "PE", "ST", "NM", "NE", "HL")), st.floats(-2.0, 2.0)).map(lambda t: (t,))
trees = st.recursive(
    leaves,
    lambda part: st.tuples(part, part, st.sampled_from("+-*/")).map(lambda t: (*t[0], *t[1], t[2])),
    max_leaves=9,
)


@pytest.mark.parametrize("rules", SPECS)
@settings(max_examples=60, deadline=None)
@given(trees, st.integers(0, 2**40))
def test_formulas_of_one_form_make_the_same_tree(rules: str, tokens: tuple[Token, ...], seed: int) -> None:
    """What `first_of_equals` takes for equal is equal, move by move and node by node: ties fall alike, too."""
    one = Formula(tokens)
    forms = [one, Formula(swapped(tokens, random.Random(seed))), canonical(one)]
    same = first_of_equals([(form.text, 0, seed, 0) for form in forms], by_form=True)
    assert same == [0, 0, 0 if forms[2].symbols == one.symbols else 2]
    shop, budget = Workshop(SPECS[rules]), SPECS[rules].budget
    plans = [shop.plan(shop.policy(form), 0, seed, 0, budget) for form, n in zip(forms, same, strict=True) if n == 0]
    assert len({(p.actions, p.utility, p.nodes, p.iterations, p.stopped) for p in plans}) == 1


def test_equal_playthroughs_are_played_once_and_score_what_each_would() -> None:
    texts = ["MS + R", "R + MS", "MS", "MS + R", "R - -MS"]
    shared, own = ((7, 8),), [((n, n + 50),) for n in range(5)]
    with Workers(1) as workers:
        fitness = Fitness(SPECS["paper"], workers)
        together = fitness([Request(text, shared) for text in texts])
        assert (fitness.spared(), fitness.spared()) == (6, 0)
        assert together == [fitness([Request(text, shared)])[0] for text in texts]
        fitness([Request(text, seeds) for text, seeds in zip(texts, own, strict=True)])
        assert fitness.spared() == 0
        timed = Fitness(spec(SearchSettings.paper(), Budget(iterations=50, seconds=9.0)), workers)
        timed([Request(text, shared) for text in texts])
        assert timed.spared() == 0
