"""Tests that the interpreter equals the evaluator, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from persona_evo.errors import FormulaError
from persona_evo.formula import MAX_NODES, STACK, TABLE, Formula, machine, parse
from persona_evo.formula.encoding import encode
from tests.formula.strategies import LARGE, SYMBOLS, bits, formulas, points


def interpreted(f: Formula, point: dict[str, float], order: tuple[str, ...] = SYMBOLS) -> float:
    code = encode(f, order)
    with np.errstate(all="ignore"):
        return float(machine.run(*code, np.array([point[s] for s in order]), np.full(STACK, math.nan)))


@settings(max_examples=300, deadline=None)
@given(formulas, points)
def test_interpreted_and_evaluated_agree(f: Formula, point: dict[str, float]) -> None:
    assert bits(interpreted(f, point)) == bits(f.evaluate(point))


def test_every_primitive_on_every_kind_of_operand() -> None:
    nasty = (0.0, -0.0, 1.0, -1.0, 0.3, 5e-324, 1e300, -1e300, 1e200, math.nan, math.inf, -math.inf, 700.5, -700.5)
    for p in TABLE:
        for kinds in (("R", "MS", "PE"), (0.3, "MS", "PE"), ("R", -2.0, "PE"), ("R", 0.0, 0.0)):
            f = Formula((*kinds[: p.arity], p.name))
            g = Formula((*(t for k in kinds[: p.arity] for t in (k, "neg")), p.name))
            for i, a in enumerate(nasty):
                b, c = nasty[(3 * i + 1) % len(nasty)], nasty[(5 * i + 2) % len(nasty)]
                point = {"R": a, "MS": b, "PE": c, "ST": 0.0}
                assert bits(interpreted(f, point)) == bits(f.evaluate(point)), (f, point)
                assert bits(interpreted(g, point)) == bits(g.evaluate(point)), (g, point)


def test_arithmetic_on_leaves_is_one_word() -> None:
    assert len(encode(parse("0.7 * MS"), SYMBOLS).ops) == 1
    assert len(encode(parse("(R + MS) * (PE + ST) / ((R - MS) * (ST + 0.1))"), SYMBOLS).ops) == 7
    assert len(encode(parse("R * (MS + PE)"), SYMBOLS).ops) == 2
    assert list(encode(parse("2 * R + 2 * MS"), SYMBOLS).constants) == [2.0]


@pytest.mark.parametrize("text", LARGE)
def test_large_and_deep_formulas_fit_the_stack(text: str) -> None:
    f = parse(text)
    point = {"R": 0.25, "MS": 3.0, "PE": 0.0, "ST": 0.0}
    assert f.size >= 255
    assert bits(interpreted(f, point)) == bits(f.evaluate(point))


def test_the_scratch_row_is_as_long_as_the_index_mask_says() -> None:
    assert STACK & (STACK - 1) == 0 and STACK > MAX_NODES


def test_a_symbol_that_is_not_in_the_row() -> None:
    with pytest.raises(FormulaError, match="unknown symbol") as e:
        encode(parse("MSS"), SYMBOLS)
    assert "did you mean 'MS'?" in str(e.value)
