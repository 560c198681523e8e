"""Tests that the protection of functions is explained if, and only if, a formula contains such functions."""

from __future__ import annotations

import pytest

from persona_evo.formula import parse
from persona_evo.formula.guards import guards

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sqrt(A - 1)", ["sqrt(x): of |x|"]),
        ("log(A) * 2", ["log(x): of |x|, 0 where x is 0"]),
        ("A / (B - 1)", ["a / b is 1 where the divisor is 0"]),
        ("A / 0", ["a / b is 1 where the divisor is 0"]),
        ("exp(A) + sqrt(B)", ["sqrt(x): of |x|", "exp(x): x is taken within ±700"]),
    ],
)
def test_what_is_protected_is_said(text: str, parts: list[str]) -> None:
    said = guards([parse(text)])
    assert said.startswith("Protected, so that a formula has a value everywhere: ")
    assert said.partition(": ")[2] == "; ".join(parts)


@pytest.mark.parametrize("text", ["A / 2", "max(A, B) - 3 * A", "sqrt(2) + abs(A)", "log(10) * A"])
def test_nothing_is_said_where_nothing_has_to_be_protected(text: str) -> None:
    assert guards([parse(text)]) == ""


def test_formulas_are_told_of_together() -> None:
    assert guards(map(parse, ("sqrt(A)", "A + 1", "sqrt(B) / A"))).count("sqrt") == 1
