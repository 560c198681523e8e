"""Tests that a formula split into parts gives the same numbers, to the last bit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.formula import Formula, parse
from persona_evo.formula.parts import split

from .strategies import bits, formulas, points

pytestmark = pytest.mark.quick

CHANGING = ("R", "ST")


@given(formulas, points, st.booleans())
def test_parts_give_the_same_value(formula: Formula, values: dict[str, float], leaves: bool) -> None:
    rest, fixed = split(formula, CHANGING, leaves)
    known = values | {name: part.evaluate(values) for name, part in fixed.items()}
    assert bits(rest.evaluate(known)) == bits(formula.evaluate(values))
    assert all(part.symbols and not part.symbols & set(CHANGING) for part in fixed.values())
    assert all(leaves or part.size > 1 for part in fixed.values())
    assert not fixed or not leaves or rest.symbols <= {*CHANGING, *fixed}


@pytest.mark.parametrize(
    ("text", "rest", "fixed"),
    [
        ("R + MS + PE", "R + part0 + part1", ["MS", "PE"]),
        ("R * (MS + 2 * PE) - (MS + 2 * PE)", "R * part0 - part0", ["MS + 2 * PE"]),
        ("R / 2 + sqrt(log(3) / ST)", "R / 2 + sqrt(log(3) / ST)", []),
        ("MS + 2 * PE", "MS + 2 * PE", []),
        ("if(R, MS > 1, part0)", "if(R, _part0, part1)", ["MS > 1", "part0"]),
    ],
)
def test_what_is_fixed(text: str, rest: str, fixed: list[str]) -> None:
    found = split(parse(text), CHANGING)
    assert (found.rest.text, [part.text for part in found.fixed.values()]) == (rest, fixed)
