"""Tests that random formulas have the right shape and symbols, and that trees and texts convert without loss."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import SettingsError
from persona_evo.evolve import genetics, operators
from persona_evo.evolve.setting_values import MUTATIONS
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse
from persona_evo.games import registry

pytestmark = pytest.mark.quick

PAPER = EvolutionSettings.paper()
MODERN = EvolutionSettings.modern()
PAPER_METRICS = ("ST", "PE", "PD", "TO", "MS", "HL", "MTK", "JT", "TU", "TS", "IC")
SETS = {
    "paper": (PAPER, genetics.Primitives.of(PAPER, PAPER_METRICS)),
    "modern": (MODERN, genetics.Primitives.of(MODERN, PAPER_METRICS)),
    "tight": (
        EvolutionSettings.modern(size_limit=15, depth_limit=4, depth_max=4),
        genetics.Primitives.of(MODERN, PAPER_METRICS),
    ),
}
seeds = st.integers(0, 2**32)
kinds = st.sampled_from(sorted(SETS))


def test_the_paper_set_is_four_functions_twelve_leaves_and_a_constant() -> None:
    game = registry.get("minidungeons2")
    metrics = genetics.metrics_of(PAPER, game)
    assert metrics == PAPER_METRICS
    primitives = genetics.Primitives.of(PAPER, metrics)
    assert [f.name for f in primitives.functions] == ["+", "-", "*", "/"]
    assert [t.name for t in primitives.symbols] == [*PAPER_METRICS, "R"]
    assert primitives.leaf_share == pytest.approx(13 / 17)


def test_the_extended_set_has_more() -> None:
    game = registry.get("minidungeons2")
    metrics = genetics.metrics_of(MODERN, game)
    assert set(metrics) > set(PAPER_METRICS) and not {"DEAD", "WON"} & set(metrics)
    primitives = genetics.Primitives.of(EvolutionSettings.modern(variables="extended"), metrics)
    assert {"sqrt", "log", "exp", "min", "max", "abs", "neg", "if"} < {f.name for f in primitives.functions}
    assert {"R", "N", "P", "D", "RMAX", "RSD"} < {t.name for t in primitives.symbols}


def test_metrics_can_be_chosen_and_must_exist() -> None:
    game = registry.get("minidungeons2")
    assert genetics.metrics_of(EvolutionSettings.paper(metrics=("MS", "WON")), game) == ("MS", "WON")
    with pytest.raises(SettingsError, match="did you mean 'MTK'"):
        genetics.metrics_of(EvolutionSettings.paper(metrics=("MTKK",)), game)


@pytest.mark.parametrize("growth", ["grow", "full", "half"])
def test_random_formulas_keep_the_depths(growth: str) -> None:
    chosen = EvolutionSettings.paper(growth=growth)
    primitives = genetics.Primitives.of(chosen, PAPER_METRICS)
    stream = random.Random(3)
    depths = Counter(genetics.depth(genetics.random_tree(chosen, primitives, stream)) for _ in range(600))
    assert set(depths) == {2, 3, 4, 5}


def test_random_sums_follow_what_the_game_says_of_its_metrics() -> None:
    game = registry.get("minidungeons2")
    chosen = EvolutionSettings.sampling(growth="sums", variables="planner")
    symbols = genetics.metrics_of(chosen, game)
    primitives, stream = genetics.Primitives.of(chosen, symbols, game), random.Random(5)
    judged = primitives.better
    assert judged["NT"] == "lower" and judged["TO"] == "higher" and "JT" not in judged
    assert not genetics.Primitives.of(EvolutionSettings.sampling(terms="random"), symbols, game).better
    assert primitives.clocks == ("ST",) and not genetics.Primitives.of(chosen, ("NT",), game).clocks
    grown = [genetics.with_term(genetics.read("UTILITY", primitives), primitives, stream) for _ in range(4000)]
    signs = Counter((judged.get(tree[4 if tree[4].name != "*" else 5].name, ""), tree[0].name) for tree in grown)
    for says, share in (("higher", 0.9), ("lower", 0.1), ("", 0.5)):
        added, subtracted = signs[says, "+"], signs[says, "-"]
        assert abs(added / (added + subtracted) - share) < 0.06
    drawn = [genetics._sum(primitives, stream) for _ in range(2000)]
    heads = Counter(next(node.name for node in tree if node.name not in "+-") for tree in drawn)
    assert abs(heads["UTILITY"] / len(drawn) - 0.5) < 0.05
    assert {judged.get(name) for name in heads} == {None, "higher"} and len(heads) > 4


def test_all_leaves_have_the_same_chance_and_constants_their_range() -> None:
    settings_ = EvolutionSettings.paper(constant_low=-1.0)
    primitives = genetics.Primitives.of(settings_, PAPER_METRICS)
    stream = random.Random(4)
    drawn = [primitives.leaf(stream) for _ in range(13000)]
    values = [n.value for n in drawn if genetics.is_constant(n)]
    counts = Counter("number" if genetics.is_constant(n) else n.name for n in drawn)
    assert len(counts) == 13
    assert all(850 < n < 1150 for n in counts.values())
    assert -1 <= min(values) < -0.95 and 0.95 < max(values) <= 1


def test_the_module_level_random_is_not_touched() -> None:
    settings_, primitives = SETS["modern"]
    random.seed(1)
    before = random.getstate()
    tree = genetics.random_tree(settings_, primitives, random.Random(1))
    operators.mutate(tree, settings_, primitives, random.Random(2))
    operators.crossover(tree, tree, settings_, random.Random(2))
    assert random.getstate() == before


@given(seed=seeds, kind=kinds)
@settings(max_examples=100, deadline=None)
def test_text_and_tree_are_the_same(seed: int, kind: str) -> None:
    settings_, primitives = SETS[kind]
    tree = genetics.random_tree(settings_, primitives, random.Random(seed))
    formula = genetics.formula(tree)
    again = genetics.read(formula.text, primitives)
    assert genetics.formula(again) == formula == parse(formula.text)
    assert len(tree) == formula.size and genetics.depth(tree) == formula.depth
    assert genetics.fits(tree, settings_)


@given(seed=seeds, kind=kinds, steps=st.integers(1, 12))
@settings(max_examples=80, deadline=None)
def test_operators_stay_within_the_limits_and_leave_the_parents_alone(seed: int, kind: str, steps: int) -> None:
    settings_, primitives = SETS[kind]
    stream = random.Random(seed)
    one, two = (genetics.random_tree(settings_, primitives, stream) for _ in range(2))
    for _ in range(steps):
        texts = [genetics.formula(t).text for t in (one, two)]
        a, b = operators.crossover(one, two, settings_, stream)
        c, name = operators.mutate(a, settings_, primitives, stream)
        assert [genetics.formula(t).text for t in (one, two)] == texts
        assert name in MUTATIONS
        for child in (a, b, c):
            assert genetics.fits(child, settings_)
            assert genetics.formula(child).symbols <= {t.name for t in primitives.symbols}
        one, two = c, b


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_crossover_exchanges_nodes_and_loses_none(seed: int) -> None:
    settings_, primitives = SETS["paper"]
    stream = random.Random(seed)
    one, two = (genetics.random_tree(settings_, primitives, stream) for _ in range(2))
    a, b = operators.crossover(one, two, settings_, stream)
    names = Counter(n.name for n in (*one, *two))
    assert Counter(n.name for n in (*a, *b)) == names


def test_each_mutation_does_what_its_name_says() -> None:
    settings_, primitives = SETS["paper"]
    stream = random.Random(5)
    tree = genetics.read("(PE + 0.5) * (MS - R / 2)", primitives)
    for _ in range(30):
        point = operators.point(tree, settings_, primitives, stream)
        assert len(point) == len(tree) and sum(x.name != y.name for x, y in zip(point, tree, strict=True)) <= 1
        moved = operators.perturb(tree, settings_, primitives, stream)
        assert [genetics.is_constant(n) or n.name for n in moved] == [genetics.is_constant(n) or n.name for n in tree]
        assert genetics.formula(operators.hoist(tree, settings_, primitives, stream)).text in (
            "PE + 0.5",
            "MS - R / 2",
            "R / 2",
        )
        assert len(operators.shrink(tree, settings_, primitives, stream)) < len(tree)
    plain = genetics.read("PE + MS", primitives)
    assert sum(map(genetics.is_constant, operators.perturb(plain, settings_, primitives, stream))) == 1


def test_a_formula_outside_the_set_is_refused() -> None:
    _, primitives = SETS["paper"]
    with pytest.raises(SettingsError, match="'sqrt'"):
        genetics.read("sqrt(PE)", primitives)


def test_values_of_the_parent_are_read_only_where_the_settings_have_them() -> None:
    game = registry.get("minidungeons2")
    planner, parent = (genetics.metrics_of(EvolutionSettings.modern(variables=v), game) for v in ("planner", "parent"))
    assert "UTILITY" in planner and not any(symbol.endswith("_PARENT") for symbol in planner)
    assert set(planner) < set(parent) and "UTILITY_PARENT" in parent
    assert "UTILITY" not in genetics.metrics_of(EvolutionSettings.modern(), game)


def test_a_tree_of_just_the_largest_size_and_depth_fits() -> None:
    chosen = EvolutionSettings.modern(depth_min=1, depth_max=2, depth_limit=2, size_limit=5)
    primitives = genetics.Primitives.of(chosen, ("A", "B"))
    just, deep, large = (genetics.tree(parse(t), primitives) for t in ("A + A * B", "A + A * (A + B)", "A * B + A * B"))
    assert genetics.fits(just, chosen) and not genetics.fits(deep, chosen) and not genetics.fits(large, chosen)
