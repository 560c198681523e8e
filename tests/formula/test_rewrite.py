"""Tests the exact rules: the same value for every input, and one form for equal formulas."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings

from persona_evo.formula import Formula, parse
from persona_evo.formula.rewrite import canonical
from tests.formula.strategies import SYMBOLS, bits, formulas, points

SAME = [
    ("R + MS", "MS + R"),
    ("R - R", "0"),
    ("R / R", "1"),
    ("R * 1", "R"),
    ("R / 1", "R"),
    ("0 * R", "0"),
    ("R + 0", "R"),
    ("--R", "R"),
    ("min(R, R)", "R"),
    ("max(R, MS)", "max(MS, R)"),
    ("0 - R", "-R"),
    ("R - -MS", "R + MS"),
    ("-R + MS", "MS - R"),
    ("-(R - MS)", "MS - R"),
    ("R + R", "2 * R"),
    ("R * -3", "-(3 * R)"),
    ("-R * -MS", "R * MS"),
    ("R / 4", "0.25 * R"),
    ("-R / -MS", "R / MS"),
    ("R < MS", "MS > R"),
    ("1 - (R > MS)", "R <= MS"),
    ("if(R > 0, MS, PE)", "if(R, MS, PE)"),
    ("if(R, MS, MS)", "MS"),
    ("if(2, MS, PE)", "MS"),
    ("abs(-R)", "abs(R)"),
    ("abs(R * R)", "R * R"),
    ("sqrt(abs(R))", "sqrt(-R)"),
    ("log(-R)", "log(abs(R))"),
    ("min(1, min(R, 2))", "min(R, 1)"),
    ("min(R, max(R, MS))", "R"),
    ("max(-R, -MS)", "-min(R, MS)"),
    ("R / (2 - 2)", "1"),
    ("2 * 3 + 1", "7"),
    ("sqrt(16) * R", "R * 4"),
    ("R + -2", "R - 2"),
    ("R - -2", "2 + R"),
    ("(R >= R) * MS", "MS"),
    ("abs(R) * abs(R)", "R * R"),
    ("0 > abs(R)", "0"),
    ("if(exp(R), MS, PE)", "MS"),
    ("-(R / 3)", "R / -3"),
    ("(R > MS) > 0", "R > MS"),
]

EXTREMES = (0.0, -0.0, 1.0, -3.0, 0.1, 5e-324, -1e300, 1.7e308, math.nan)

DIFFERENT = [
    ("-R / MS", "-(R / MS)"),
    ("0 / R", "0"),
    ("R + (MS + PE)", "(R + MS) + PE"),
    ("R * MS / MS", "R"),
    ("R / 3", "R * (1 / 3)"),
    ("(R - MS) + MS", "R"),
    ("exp(log(R))", "R"),
    ("R - MS", "MS - R"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_ways_of_writing_the_same_have_one_form(a: str, b: str) -> None:
    assert canonical(parse(a, SYMBOLS)) == canonical(parse(b, SYMBOLS))


@pytest.mark.parametrize(("a", "b"), SAME)
def test_ways_of_writing_the_same_are_equal_to_the_last_bit_at_extremes(a: str, b: str) -> None:
    one, two = parse(a), parse(b)
    for values in product(EXTREMES, repeat=3):
        point = dict(zip(("R", "MS", "PE"), values, strict=True))
        assert bits(one.evaluate(point)) == bits(two.evaluate(point)), point


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_what_only_looks_the_same_stays_apart(a: str, b: str) -> None:
    assert canonical(parse(a)) != canonical(parse(b))


@settings(max_examples=400, deadline=None)
@given(formulas, points)
def test_the_value_is_the_same_to_the_last_bit(f: Formula, point: dict[str, float]) -> None:
    assert bits(canonical(f).evaluate(point)) == bits(f.evaluate(point))


@settings(max_examples=200, deadline=None)
@given(formulas)
def test_it_never_grows_and_is_final(f: Formula) -> None:
    once = canonical(f)
    assert once.size <= f.size
    assert canonical(once) == once


def test_large_and_deep_formulas() -> None:
    deep = parse("R" + " + -(MS" * 200 + ")" * 200)
    assert canonical(deep).evaluate({"R": 1, "MS": 2}) == deep.evaluate({"R": 1, "MS": 2})
    assert canonical(parse("-" * 1000 + "R")) == parse("R")
    assert canonical(parse(" + ".join(["R"] * 500))).size <= 999
