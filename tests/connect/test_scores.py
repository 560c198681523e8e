"""UCB1's constant and the range of the utilities that a connected search sees."""

import time

import pytest

from persona_evo.connect.scores import NORMALISED, RAW, UtilityRange
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse
from persona_evo.playtest.metrics import measures
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.connect.driving import describe, game


@pytest.mark.quick
@pytest.mark.parametrize(
    ("utilities", "scale"),
    [([], 1.0), ([5.0], 1.0), ([0.0, 1.0], 1.0), ([0.2, 0.5], 1.0), ([-3.0, 5.0], 8.0), ([0.0, 0.01], 1.0)],
)
def test_the_scale_is_the_range_where_that_is_above_1(utilities, scale):
    seen = UtilityRange()
    for utility in utilities:
        seen.add(utility)
    assert seen.scale == scale


@pytest.mark.quick
def test_a_narrow_range_counts_after_a_hundred_rollouts():
    seen = UtilityRange()
    for number in range(99):
        seen.add(0.01 * (number % 2))
    assert seen.scale == 1.0
    seen.add(0.0)
    assert seen.scale == 0.01


def visits(file, utility, policy):
    """The visits of the first choices after a search, and the notes."""
    found, session = game(file)
    try:
        planner = found.outside.planner(found, found.load("long@1", "one"), SearchSettings.single(), 1000)
        search = planner.search(parse(utility, found.symbols), policy, seed=5)
        search.spend(Budget(iterations=300), time.perf_counter())
        planner.advise(search)
        root = search.tree.node(0)
        return [search.tree.node(child).visits for child in root.children], found.outside.findings()
    finally:
        session.close()


def test_the_default_constant_fits_any_scale_and_leaves_utilities_from_0_to_1_alone(tmp_path):
    fitted = describe(tmp_path / "fitted", top=f'scores = "{NORMALISED}"')
    raw = describe(tmp_path / "raw", top=f'scores = "{RAW}"')
    ucb1, share = TreePolicy.ucb1(), "SCORE / 40"
    plain, notes = visits(raw, share, ucb1)
    assert visits(fitted, share, ucb1) == (plain, []) and notes == []
    thousands, told = visits(raw, "25 * SCORE", ucb1)
    assert thousands != plain and "--policy ucb1:" in told[0]
    fit, notes = visits(fitted, "25 * SCORE", ucb1)
    assert fit != thousands and notes == [] and min(fit) > min(thousands), "a fitting constant goes on exploring"
    own, told = visits(fitted, "25 * SCORE", TreePolicy.ucb1(2.0))
    assert own == visits(raw, "25 * SCORE", TreePolicy.ucb1(2.0))[0], "a constant of one's own is as it is"
    assert "ucb1 finds the range by itself" in told[0]


@pytest.mark.parametrize(
    ("words", "kept"), [("", ["TURN"]), ('[[metrics]]\nsymbol = "X"\nplace = false', ["TURN", "X"])]
)
def test_places_stay_out_of_formulas_and_comparisons_unless_asked_for(tmp_path, words, kept):
    file, source = describe(tmp_path, tables=words), tmp_path / "ladder.py"
    source.write_text(source.read_text().replace('"HEIGHT"', '"X"').replace('"FELL"', '"Y"'))
    found, session = game(file)
    session.close()
    own = [m for m in metrics_of(EvolutionSettings(), found) if m != "SCORE"]
    assert sorted(own) == kept
    assert metrics_of(EvolutionSettings(metrics=("Y",)), found) == ("Y",), "named metrics are used"
    assert {m.key for m in measures((), found.metrics)}.isdisjoint({"X", "Y"})


@pytest.mark.parametrize(
    ("constant", "count", "depth", "told"),
    [(1.4, 500, 5, "; try --policy ucb1:0.1, or play"), (1.4, 499, 5, ""), (1.4, 500, 6, ""), (0.1, 500, 5, "; play")],
)
def test_a_tree_that_leaves_most_decisions_to_chance_gets_advice(constant, count, depth, told):
    seen = UtilityRange()
    for i in range(count):
        seen.add(2.0 * (i % 2))
    advice = seen.depth_advice(TreePolicy.ucb1(constant), depth, 12)
    assert bool(advice) == bool(told) and told in advice
    assert not advice or "reached 5 of 12 decisions" in advice
