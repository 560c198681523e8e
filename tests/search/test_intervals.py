"""Tests that intervals contain every value, and that reported directions are true."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.formula import Formula, parse
from persona_evo.formula.intervals import CONSTANT, FALLING, RISING, UNKNOWN, span, spans

RANGES = {"a": (0.0, 1.0), "b": (-2.0, 3.0), "c": (0.0, float("inf"))}

leaves = st.sampled_from(["a", "b", "c", "0", "1", "0.7", "-2"])
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(st.sampled_from([">", ">=", "<", "<="]), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        st.tuples(st.sampled_from(["abs", "sqrt", "log", "exp"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"if({t[0]}, {t[1]}, {t[2]})"),
    ),
    max_leaves=12,
)
points = st.fixed_dictionaries(
    {
        "a": st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
        "b": st.one_of(st.sampled_from([0.0, -2.0, 3.0]), st.floats(-2, 3)),
        "c": st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1e9)),
    }
)


@settings(max_examples=200, deadline=None)
@given(expressions, points)
def test_every_value_lies_in_the_interval(text: str, point: dict[str, float]) -> None:
    formula = parse(text)
    low, high, _ = span(formula, RANGES)
    assert low <= formula.evaluate(point) <= high


@settings(max_examples=200, deadline=None)
@given(expressions, points, st.floats(0, 1e9), st.sampled_from("abc"))
def test_a_direction_is_kept(text: str, point: dict[str, float], step: float, symbol: str) -> None:
    formula = parse(text)
    way = span(formula, RANGES, symbol).way
    more = {**point, symbol: min(RANGES[symbol][1], point[symbol] + step)}
    before, after = formula.evaluate(point), formula.evaluate(more)
    slack = 1e-12 * max(abs(before), abs(after))  # exp and log may be off by a last digit
    if way == RISING:
        assert after >= before - slack
    elif way == FALLING:
        assert after <= before + slack
    elif way == CONSTANT:
        assert after == before


many = st.lists(st.tuples(points, points, points), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(expressions, many)
def test_every_value_lies_in_one_of_many_intervals(text: str, cases: list[tuple[dict[str, float], ...]]) -> None:
    formula = parse(text)
    rows = {s: np.array([[point[s] for point in case] for case in cases]) for s in "abc"}
    ranges = {s: np.stack((row.min(axis=1), row.max(axis=1))) for s, row in rows.items()}
    ranges["a"] = rows["a"][:, 0][None]  # known exactly
    with np.errstate(all="ignore"):
        ends = np.broadcast_to(spans(formula, ranges), (2, len(cases)))
    for i, case in enumerate(cases):
        for point in case:
            assert ends[0, i] <= formula.evaluate({**point, "a": case[0]["a"]}) <= ends[1, i]


def ways(text: str) -> list[int]:
    formula: Formula = parse(text)
    return [span(formula, RANGES, s).way for s in "abc"]


def test_directions_of_usual_utilities_are_found() -> None:
    assert ways("0.7*a + 0.3*b - 0.01*c") == [RISING, RISING, FALLING]
    assert ways("max(a, 1 - c) / 2 - 5*(b > 1)") == [RISING, FALLING, FALLING]
    assert ways("a * c") == [RISING, CONSTANT, RISING]
    assert ways("a * b") == [UNKNOWN, RISING, CONSTANT]
    assert ways("if(a - 0.5, b, b + 1)") == [UNKNOWN, RISING, CONSTANT]


def test_bounds_that_are_reached_are_exact() -> None:
    assert span(parse("0.7*a + 0.3*a - 5*(b < -9)"), RANGES).high == parse("0.7*a + 0.3*a").evaluate({"a": 1.0})
    assert span(parse("1/b"), RANGES)[:2] == (-1e300, 1e300)
