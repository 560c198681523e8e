"""Tests every operation of the table in every part of the program that knows operations."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import FormulaError
from persona_evo.evolve.genetics import BASIC, EXTENDED
from persona_evo.formula import LIMIT, PRIMITIVES, TABLE, Formula, Primitive
from persona_evo.formula.algebra import from_sympy, to_sympy
from persona_evo.formula.arithmetic import clean
from persona_evo.formula.core import Token
from persona_evo.formula.export import KINDS, export
from persona_evo.formula.guards import guards
from persona_evo.formula.intervals import CONSTANT, FALLING, RISING, span, spans
from persona_evo.formula.native import RowFunction, compile_all, formula_on_row
from persona_evo.formula.rewrite import canonical
from tests.formula.strategies import bits

NAMES = ("a", "b", "c")
NASTY = (0.0, 1.0, -1.0, 0.5, -3.0, 2.0, 709.0, -701.0, 5e-324, -1e-160, 1e160, -1e300, 1e300)
CLIENT = Path(__file__).parents[2] / "unity_support" / "package"

numbers = st.one_of(st.sampled_from(NASTY), st.floats(-10, 10), st.floats(-LIMIT, LIMIT))
each = pytest.mark.parametrize("primitive", TABLE, ids=lambda p: p.name)


def applied(primitive: Primitive, *operands: Token) -> Formula:
    """Return the operation on a, b, c, or on these operands."""
    return Formula((*(operands or NAMES[: primitive.arity]), primitive.name))


def point(values: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(NAMES, values, strict=True))


def test_nothing_of_an_operation_may_be_left_out() -> None:
    optional = {"guard", "commutative", "constant_first", "sympy_class", "latex_precedence", "latex_encloses"}
    given_always = [f for f in dataclasses.fields(Primitive) if f.name not in optional]
    assert all(f.default is dataclasses.MISSING for f in given_always)
    assert len(PRIMITIVES) == len(TABLE)


@each
@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.tuples(numbers, numbers, st.floats(0, 1))] * 3))
def test_the_interval_holds_the_value(primitive: Primitive, drawn: tuple[tuple[float, float, float], ...]) -> None:
    ranges = {n: (min(x, y), max(x, y)) for n, (x, y, _) in zip(NAMES, drawn, strict=True)}
    shares = {n: t for n, (_, _, t) in zip(NAMES, drawn, strict=True)}
    inside = {n: min(h, max(low, low * (1 - shares[n]) + h * shares[n])) for n, (low, h) in ranges.items()}
    formula = applied(primitive)
    low, high, _ = span(formula, ranges)
    value = formula.evaluate(inside)
    assert -LIMIT <= low <= value <= high <= LIMIT
    with np.errstate(all="ignore"):
        ends = spans(formula, {n: np.array([[low], [high]]) for n, (low, high) in ranges.items()})
    assert ends[0, 0] <= value <= ends[-1, 0]


@each
@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.tuples(numbers, numbers)] * 3), st.sampled_from(NAMES))
def test_a_direction_is_kept(primitive: Primitive, drawn: tuple[tuple[float, float], ...], symbol: str) -> None:
    ranges = {n: (min(pair), max(pair)) for n, pair in zip(NAMES, drawn, strict=True)}
    formula, way = applied(primitive), span(applied(primitive), ranges, symbol).way
    for corner in itertools.product(*ranges.values()):
        low, high = ranges[symbol]
        before, after = (formula.evaluate({**point(corner), symbol: x}) for x in (low, high))
        assert way != RISING or after >= before
        assert way != FALLING or after <= before
        assert way != CONSTANT or after == before


def test_machine_code_gives_the_numbers_of_the_evaluator() -> None:
    compiled = compile_all([RowFunction(applied(p), NAMES) for p in TABLE])
    folded = compile_all([RowFunction(applied(p, *("a", 2.0, -0.5)[: p.arity]), NAMES) for p in TABLE])
    for values in itertools.product(NASTY, NASTY, (0.0, 2.0)):
        row = np.array(values)
        for p, native, constant in zip(TABLE, compiled, folded, strict=True):
            assert bits(native(row)) == bits(applied(p).evaluate(point(values)))
            assert bits(constant(row)) == bits(applied(p, *("a", 2.0, -0.5)[: p.arity]).evaluate(point(values)))


@each
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(NAMES), numbers), min_size=3, max_size=3), st.tuples(numbers, numbers, numbers)
)
def test_rewriting_keeps_the_value(primitive: Primitive, operands: list[Token], values: tuple[float, ...]) -> None:
    once = applied(primitive, *operands[: primitive.arity])
    for formula in (once, *(Formula((*once.tokens, *operands[1 : p.arity], p.name)) for p in TABLE)):
        assert bits(canonical(formula).evaluate(point(values))) == bits(formula.evaluate(point(values)))


@each
def test_sympy_and_back(primitive: Primitive) -> None:
    sympy = pytest.importorskip("sympy")
    formula = applied(primitive)
    back = from_sympy(sympy, to_sympy(sympy, formula))
    for values in itertools.product((0.5, 2.0, 3.0), (-1.5, 0.25, 2.0), (-2.0, 1.0)):
        assert back.evaluate(point(values)) == pytest.approx(formula.evaluate(point(values)))


@each
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_can_be_written(primitive: Primitive, kind: str) -> None:
    text = export(applied(primitive), kind)
    assert all(name in text for name in NAMES[: primitive.arity])
    assert "{" not in text or kind in ("latex", "csharp")


@each
def test_its_text_is_read_back(primitive: Primitive) -> None:
    formula = applied(primitive)
    assert importlib.import_module("persona_evo.formula").parse(formula.text) == formula


@each
def test_a_guard_is_named_beside_the_formula(primitive: Primitive) -> None:
    limited_only = {"", "limited to ±1e300"}
    assert bool(guards([applied(primitive)])) == (primitive.guard not in limited_only)


def test_the_evolution_and_the_client_in_csharp_know_the_same_operations() -> None:
    assert set(BASIC) | set(EXTENDED) <= PRIMITIVES.keys()
    source = (CLIENT / "Runtime" / "Core" / "Formula.cs").read_text(encoding="utf-8")
    known = dict(re.findall(r'\{ "(\S+)", (Op\.\w+) \}', source))
    assert known.keys() == PRIMITIVES.keys()
    assert all(f"case {op}:" in source for op in known.values())
    tested = re.search(r'operations = "(.*?)"', (CLIENT / "Tests/Editor/FormulaTests.cs").read_text("utf-8"))
    assert tested and set(tested[1].split()) == PRIMITIVES.keys()


CONSUMERS: dict[str, Any] = {
    "evaluate": lambda f: f.evaluate({"a": 1.0}),
    "span": lambda f: span(f, {"a": (0.0, 1.0)}),
    "spans": lambda f: spans(f, {"a": np.array([[0.0], [1.0]])}),
    "native": lambda f: formula_on_row(f, ("a",)),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_an_unknown_operation_is_an_error(consumer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    formula = Formula(("a", "log"))
    monkeypatch.delitem(PRIMITIVES, "log")
    with pytest.raises((FormulaError, KeyError)):
        CONSUMERS[consumer](formula)


def test_no_formula_has_an_unknown_operation() -> None:
    with pytest.raises(FormulaError):
        Formula(("a", "b", "pow"))


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_what_comes_from_outside_is_brought_into_range(x: float) -> None:
    assert -LIMIT <= clean(x) <= LIMIT
