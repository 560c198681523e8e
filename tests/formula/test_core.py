"""Reading, printing and computing formulas."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given, settings

from persona_evo.errors import FormulaError, Place
from persona_evo.formula import LIMIT, MAX_NODES, TABLE, Formula, parse
from tests.formula.strategies import bits, formulas, points

pytestmark = pytest.mark.quick


def value(text: str, **symbols: float) -> float:
    return parse(text).evaluate(symbols)


MEANINGS = [
    ("0.7*MS + 0.3*PE - 5*DEAD", {"MS": 1, "PE": 0.5, "DEAD": 1}, 0.7 + 0.15 - 5),
    ("2 - 3 - 4", {}, -5),
    ("2 - (3 - 4)", {}, 3),
    ("12 / 2 / 3", {}, 2),
    ("12 / (2 / 3)", {}, 18),
    ("2 + 3 * 4", {}, 14),
    ("(2 + 3) * 4", {}, 20),
    ("-2 * -3", {}, 6),
    ("--x", {"x": 3}, 3),
    ("+x", {"x": 3}, 3),
    ("-x^2", {"x": 3}, -9),
    ("(-x)**2", {"x": 3}, 9),
    ("-3^2", {}, -9),
    ("x^0", {"x": 9}, 1),
    ("x^1", {"x": 9}, 9),
    ("2 * x^3 / 4", {"x": 2}, 4),
    ("max(x, 1)^2", {"x": 3}, 9),
    ("1e-3 * 1E3 + .5 + 2.", {}, 3.5),
    ("if(x > 1, 10, 20)", {"x": 2}, 10),
    ("if(x > 1, 10, 20)", {"x": 1}, 20),
    ("if(x, 1, 2)", {"x": -1}, 2),
    ("x >= 1", {"x": 1}, 1),
    ("x < 1", {"x": 1}, 0),
    ("x <= 1", {"x": 1}, 1),
    ("x > 1", {"x": 1}, 0),
    ("x + 1 > 2 * x", {"x": 0.5}, 1),
    ("min(3, x) + max(3, x)", {"x": 5}, 8),
    ("abs(-4) + neg(1)", {}, 3),
    ("sqrt(-9)", {}, 3),
    ("log(-1)", {}, 0),
    ("log(0)", {}, 0),
    ("exp(0)", {}, 1),
    ("x / 0", {"x": 7}, 1),
    ("0 / 0", {}, 1),
    ("x / (x - x)", {"x": 2}, 1),
    ("1e300 * 10", {}, LIMIT),
    ("0 - 1e300 * 10", {}, -LIMIT),
    ("exp(9999)", {}, LIMIT),
    ("exp(-9999)", {}, math.exp(-700)),
    ("1e300 / 1e-300", {}, LIMIT),
    ("x", {"x": math.nan}, 0),
    ("x", {"x": math.inf}, LIMIT),
    ("x - x", {"x": -math.inf}, 0),
    ("x  # steps\n  + 1 # more\n", {"x": 1}, 2),
    ("a_1 + B2", {"a_1": 1, "B2": 2}, 3),
]


@pytest.mark.parametrize(("text", "symbols", "expected"), MEANINGS)
def test_meaning(text: str, symbols: dict[str, float], expected: float) -> None:
    assert value(text, **symbols) == pytest.approx(expected, rel=1e-15)


def test_no_negative_zero_leaves_a_formula() -> None:
    assert bits(value("-x", x=0.0)) == bits(0.0) == bits(value("x", x=-0.0)) == bits(value("0 * -1"))


MISTAKES = [
    ("", "f:1:1: the formula is empty"),
    (" # only this\n", "f:1:1: the formula is empty"),
    ("MS +", "f:1:5: a value is missing"),
    ("MS\n  + * 2", "f:2:5: a value is missing"),
    ("MS PE", "f:1:4: two values follow each other"),
    ("2x", "f:1:2: two values"),
    ("(MS) (PE)", "f:1:6: two values"),
    ("(MS", "f:1:1: a bracket is not closed"),
    ("max(MS, PE", "f:1:1: a bracket is not closed"),
    ("MS)", "f:1:3: a closing bracket has no matching opening bracket"),
    ("()", "f:1:2: a value is missing"),
    ("MSS + 1", "did you mean 'MS'?"),
    ("ms", "did you mean 'MS'?"),
    ("FOO", "one of MS, PE"),
    ("mx(MS, PE)", "did you mean 'max'?"),
    ("MS(PE)", "MS is a symbol; a product needs its *"),
    ("max(MS)", "f:1:1: max has the wrong number of arguments"),
    ("max(MS)", "max(a, b)"),
    ("abs()", "found: 0"),
    ("if(MS, PE)", "if(condition, a, b)"),
    ("abs(MS, PE)", "found: 2"),
    ("max(MS,)", "f:1:8: a value is missing"),
    ("max(, MS)", "f:1:5: a value is missing"),
    ("max + 1", "f:1:1: a function lacks its brackets"),
    ("0,7 * MS", "write numbers with a decimal point"),
    ("(MS, PE)", "f:1:4: this comma is not inside a call"),
    ("1e400", "f:1:1: a number is out of range"),
    ("-1e301", "f:1:2: a number is out of range"),
    ("MS ^ -1", "f:1:6: the exponent"),
    ("MS ^ PE", "the exponent"),
    ("MS ^ 0.5", "the exponent"),
    ("MS ^", "the end"),
    ("MS^2^2", "f:1:5: a power of a power"),
    ("MS^600", "f:1:3: the formula is too large"),
    ("MS^999999999999", "the exponent"),
    ("0 < MS < 1", "f:1:8: comparisons cannot be chained"),
    ("MS == PE", "f:1:4: formulas do not have this comparison"),
    ("MS $ PE", "f:1:4: formulas cannot contain this character"),
    ("π", "cannot contain this character"),
    ("+".join(["MS"] * 600), "too large"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes_are_told_with_their_place(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as e:
        parse(text, ("MS", "PE"), place=Place("f", 1, 1))
    assert message in str(e.value)
    assert e.value.place is not None and e.value.place.line >= 1


def test_a_formula_inside_of_a_file_tells_its_place_there() -> None:
    with pytest.raises(FormulaError, match=r"p.toml:7:16:"):
        parse("MS +", ("MS",), place=Place("p.toml", 7, 12))
    with pytest.raises(FormulaError, match=r"p.toml:8:2:"):
        parse("MS +\n *", ("MS",), place=Place("p.toml", 7, 12))


@settings(max_examples=300, deadline=None)
@given(formulas)
def test_text_reads_back_as_the_same_formula(f: Formula) -> None:
    again = parse(f.text)
    assert again == f and hash(again) == hash(f) and again.text == f.text
    assert Formula.from_prefix(f.prefix) == f == pickle.loads(pickle.dumps(f))


@settings(max_examples=200, deadline=None)
@given(formulas, points)
def test_every_value_is_a_number_in_range(f: Formula, point: dict[str, float]) -> None:
    assert -LIMIT <= f.evaluate(point) <= LIMIT


@settings(max_examples=100, deadline=None)
@given(formulas)
def test_operands_put_together_are_the_formula(f: Formula) -> None:
    parts = f.operands
    assert tuple(t for part in parts for t in part.tokens) + f.tokens[-1:] == f.tokens
    assert f.depth == (1 + max(p.depth for p in parts) if parts else 0)


BRACKETS = [
    ("a - (b - c)", "a - (b - c)"),
    ("(a - b) - c", "a - b - c"),
    ("(a * b) + c", "a * b + c"),
    ("-(a)", "-a"),
    ("-(a * b)", "-(a * b)"),
    ("(-a) * b", "-a * b"),
    ("a ^ 3", "a * a * a"),
    ("a / (b * c)", "a / (b * c)"),
    ("(a > b) > c", "(a > b) > c"),
    ("a + b > c", "a + b > c"),
    ("-(3)", "-(3)"),
    ("-3", "-3"),
    ("a - -3", "a - -3"),
    ("((((a))))", "a"),
    ("0.70", "0.7"),
    ("1000000.0", "1000000"),
    ("1e-7", "1e-07"),
    ("neg(a)", "-a"),
]


@pytest.mark.parametrize(("text", "canonical"), BRACKETS)
def test_printing_uses_the_fewest_brackets(text: str, canonical: str) -> None:
    assert parse(text).text == canonical


def test_size_depth_symbols() -> None:
    f = parse("0.7 * MS + max(PE, -ST)")
    assert (f.size, f.depth, f.symbols) == (8, 3, frozenset({"MS", "PE", "ST"}))
    assert parse("MS").depth == 0


def test_large_and_deep() -> None:
    deep = parse("(" * 250 + "a" + ")" * 250)
    assert deep == parse("a")
    nested = parse("(a + " * 200 + "1" + ")" * 200)
    assert nested.depth == 200 and nested.evaluate({"a": 1}) == 201 and parse(nested.text) == nested
    large = parse(" + ".join(["a"] * 128))
    assert large.size == 255 and large.evaluate({"a": 0.5}) == 64
    most = parse("-" * (MAX_NODES - 1) + "a")
    assert most.size == MAX_NODES and parse(most.text) == most
    with pytest.raises(FormulaError, match="too large"):
        parse("-" * MAX_NODES + "a")


def test_tokens_that_are_no_expression() -> None:
    for tokens in (("a", "+"), ("a", "b"), (), ("a b",), (math.nan,), (math.inf,), ("a", "1x", "+")):
        with pytest.raises(FormulaError):
            Formula(tokens)
    with pytest.raises(FormulaError):
        Formula.from_prefix(("+", "a"))


def test_a_symbol_without_a_value() -> None:
    with pytest.raises(FormulaError, match="did you mean 'MS'"):
        parse("MSS").evaluate({"MS": 1})


def test_the_table_is_consistent() -> None:
    assert len({p.name for p in TABLE}) == len(TABLE)
    assert all(p.meaning and p.arity in (1, 2, 3) for p in TABLE)
    for p in TABLE:
        if p.commutative:
            assert p.function(0.1, 3.7) == p.function(3.7, 0.1)


@pytest.mark.parametrize("text", [None, 0, b"A", 10**400])
def test_a_formula_that_is_no_text_is_refused(text):
    with pytest.raises(FormulaError, match="a formula is a text") as caught:
        parse(text)
    assert caught.value.found and caught.value.expected
