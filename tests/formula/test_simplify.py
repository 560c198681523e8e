"""Tests simplification: what is replaced, what stays, and that sympy can neither hang nor crash the program."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from persona_evo.errors import FormulaError
from persona_evo.formula import parse
from persona_evo.formula import simplify as module
from persona_evo.formula.algebra import Untranslatable, candidates, from_sympy, to_sympy
from persona_evo.formula.rewrite import canonical
from persona_evo.formula.simplify import Simplified, rounded, simplify, sympy_candidates, without_shared
from persona_evo.formula.verify import cases, choice_differs, value_differs

ORDER = ("R", "MS", "PE", "ST", "N", "P", "D")
SAMPLES = np.random.default_rng(3).random((200, len(ORDER)))


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """sympy in this process, since a new one takes seconds to start."""
    sympy = pytest.importorskip("sympy")
    monkeypatch.setattr(module, "sympy_candidates", lambda f, *_: (list(candidates(sympy, f)), ""))


def simple(text: str, **options: object) -> Simplified:
    return simplify(parse(text), ORDER, SAMPLES, **options)  # type: ignore[arg-type]


GOES = [
    ("R + MS - MS", "R"),
    ("R * MS + R * PE", "(MS + PE) * R"),
    ("0.3 * MS + 0.3 * MS", "0.6 * MS"),
    ("(R + MS) * (R + MS) - R * R - 2 * R * MS", "MS * MS"),
    ("if(R > 0, MS + PE - MS, PE)", "PE"),
    ("sqrt(R * R)", "abs(R)"),
    ("R * 1 + 0 * MS", "R"),
    ("0.123456789 * R", "0.123457 * R"),
]

STAYS = [
    ("MS * PE / PE", "MS = 0, PE = 0: 1, not 0"),
    ("R / MS * MS", "not"),
    ("exp(log(R))", "R = 0: 1, not 0"),
    ("R * PE / (MS * PE)", "PE = 0"),
    ("R + MS", "nothing shorter"),
    ("R", "nothing shorter"),
]


@pytest.mark.parametrize(("raw", "simplified"), GOES)
def test_what_agrees_is_replaced(in_process: None, raw: str, simplified: str) -> None:
    s = simple(raw)
    assert (s.replaced, s.same_value, s.text) == (True, True, simplified), s.reason
    assert s.raw == parse(raw) and "agree on" in s.reason and "(200 of them sampled)" in s.reason


@pytest.mark.parametrize(("raw", "why"), STAYS)
def test_what_disagrees_stays_and_says_why(in_process: None, raw: str, why: str) -> None:
    s = simple(raw)
    assert not s.replaced and s.formula == parse(raw)
    assert "kept as it is" in s.reason and why in s.reason


def test_shared_terms_go_only_where_the_choice_is_all_that_counts(in_process: None) -> None:
    s = simple("R + 0.25 * MS + P - 3 - D", choice_only=True)
    assert (s.text, s.replaced, s.same_value) == ("0.25 * MS + R", True, False)
    assert set(simple("R + 0.25 * MS + P - 3 - D").formula.symbols) == {"R", "MS", "P", "D"}
    with_clock = simple("R - ST / 3", choice_only=True, shared=("P", "D", "ST"))
    assert with_clock.text == "R"
    assert simple("R - ST / 3", choice_only=True).formula.symbols == {"R", "ST"}


def test_a_protected_divisor_is_not_a_shared_term(in_process: None) -> None:
    s = simple("R / (P - P) + MS", choice_only=True)
    assert s.text == "MS"


def test_rounding_is_an_option(in_process: None) -> None:
    raw = "0.123456789 * R + 0.987654321 * MS"
    assert simple(raw).text == "0.123457 * R + 0.987654 * MS"
    assert simple(raw, digits=None).formula == parse(raw)
    coarse = simple(raw, digits=1)
    assert not coarse.replaced and "another child is chosen" in coarse.reason
    assert rounded(parse("0.123456789 * R"), 2) == parse("0.12 * R")


def test_a_sympy_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "sympy_candidates", lambda f, *_: ([parse("R")], ""))
    s = simple("R + 1e-6 * MS * PE")
    assert not s.replaced and "the values differ" in s.reason


def test_only_given_samples_show_what_edge_cases_miss() -> None:
    raw, other = parse("if((R >= 0.371) * (R <= 0.372), 9, MS)"), parse("MS")
    column = np.zeros((1, len(ORDER)))
    column[0, 0] = 0.3715
    assert value_differs(raw, other, cases(ORDER, seed=5)) == ""
    assert "R = 0.3715" in value_differs(raw, other, cases(ORDER, column))


def test_the_choice_is_compared_within_a_node_and_ties_may_break_either_way() -> None:
    order, groups = ("R", "MS"), np.array([0, 0, 1, 1])
    rows = np.array([[0.5, 3.0], [0.5, 1.0], [0.1, 0.0], [0.2, 9.0]])
    given = cases(order, rows, groups)
    assert "another child is chosen" in choice_differs(parse("R"), parse("-R"), given)
    assert choice_differs(parse("R"), parse("2 * R + 7"), given) == ""
    assert "another child" in choice_differs(parse("R"), parse("R + 0.0001 * MS"), given)
    assert choice_differs(parse("0.1 + 0.2 + R"), parse("0.3 + R"), given) == ""


def test_shared_columns_are_equal_among_made_up_siblings() -> None:
    given = cases(ORDER, SAMPLES, shared=("P", "D"))
    for rows in given.families():
        assert np.ptp(given.rows[rows][:, 5:], axis=0).max() == 0.0
    assert any(np.ptp(given.rows[rows][:, :5], axis=0).max() == 0.0 for rows in given.families())


def test_terms_are_dropped_with_their_signs() -> None:
    assert without_shared(parse("3 - (R - P) - MS"), ("P",)) == canonical(parse("-(R + MS)"))
    assert without_shared(parse("P + 1"), ("P",)) == parse("0")
    assert without_shared(parse("R * P"), ("P",)) is None


def test_a_hang_costs_the_time_limit_and_the_exact_rules_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_command", lambda: [sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    started = time.perf_counter()
    s = simple("R * 1 + 0 * MS + PE * PE / MS", timeout=0.5)
    assert time.perf_counter() - started < 10
    assert s.text == canonical(s.raw).text and s.replaced and "stopped after 0.5 s" in s.reason


def test_forms_found_before_a_hang_or_a_crash_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    line = 'import os, time; print(\'{"formula": "R"}\\n{"form\', flush=True); '
    for end, trouble in (("time.sleep(60)", "stopped after"), ("os._exit(3)", "ended with code 3")):
        monkeypatch.setattr(module, "_command", lambda e=end: [sys.executable, "-S", "-c", line + e])
        s = simple("R + MS - MS", timeout=2)
        assert s.text == "R" and trouble in s.reason


def test_sympy_runs_in_its_own_process() -> None:
    pytest.importorskip("sympy")
    found, trouble = sympy_candidates(parse("R + MS - MS + 0.5"), 60)
    assert trouble == "" and parse("R + 0.5") in found


def test_large_and_deep_formulas_end_in_time() -> None:
    pytest.importorskip("sympy")
    deep = parse("R / (MS - " * 100 + "PE * PE / PE" + ")" * 100)
    started = time.perf_counter()
    s = simplify(deep, ORDER, SAMPLES[:20], timeout=1.0)
    assert deep.size > 255 and time.perf_counter() - started < 15
    assert s.reason and value_differs(deep, s.formula, cases(ORDER, SAMPLES)) == ""


HARD = "R / (MS - (R * PE + 0.3) / (MS * MS + sqrt(R) - 2 * PE)) + exp(R - MS) * (R + PE) / (MS + 1) - R * PE"


def test_sympy_is_limited_by_its_work_and_finds_the_same_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sympy")
    found = []
    for slowness, hashes in (("", "1"), ("import sys, time; sys.setswitchinterval(1); time.sleep(1); ", "2")):
        run = f"{slowness}from persona_evo.formula.simplify import _worker; _worker()"
        monkeypatch.setattr(module, "_command", lambda run=run: [sys.executable, "-c", run])
        monkeypatch.setenv("PYTHONHASHSEED", hashes)
        found.append(sympy_candidates(parse(HARD), 600, 150_000))
    (forms, trouble), again = found
    assert (forms, trouble) == again and "did not finish within 150,000 function calls" in trouble
    assert 0 < len(forms) < 4


def test_a_limit_of_work_is_not_a_lack_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    s = simplify(parse(HARD + " + 0 * R"), ORDER, SAMPLES, work=1_000)
    assert "did not finish within 1,000 function calls" in s.reason and not s.cut and s.replaced
    assert simplify(parse("R + MS - MS"), ORDER, until=time.monotonic() + 0.5).cut


def test_samples_must_have_the_formulas_symbols() -> None:
    with pytest.raises(FormulaError, match="HL"):
        simplify(parse("R + HL"), ORDER, SAMPLES)


def test_without_samples_and_without_symbols(in_process: None) -> None:
    assert simplify(parse("R + MS - MS"), ("R", "MS")).text == "R"
    assert simplify(parse("2 + 3"), ()).text == "5"


BACK = [
    "R + MS - 3",
    "R * MS / PE",
    "-R / 2",
    "1 / (R * R)",
    "sqrt(R)",
    "1 / sqrt(R + 2)",
    "exp(R) + log(MS)",
    "abs(R - MS)",
    "min(R, max(MS, PE))",
    "(R > MS) * 2",
    "(R <= MS) + PE",
    "if(R - 0.5, MS, PE)",
    "if(R > MS, if(PE >= ST, 1, 2), 3)",
    "R ^ 5 - 0.25 * MS ^ 2",
    "-(R + MS) * 0.1",
    "(R + MS) / (R - 2)",
    "exp(-R) / exp(MS)",
    "-1 * R * MS / (3 * PE)",
]


@pytest.mark.parametrize("text", BACK)
def test_to_sympy_and_back(text: str) -> None:
    sympy = pytest.importorskip("sympy")
    f = parse(text)
    back = from_sympy(sympy, to_sympy(sympy, f))
    for row in SAMPLES[:20]:
        values = dict(zip(ORDER, (row + 0.01).tolist(), strict=True))
        assert back.evaluate(values) == pytest.approx(f.evaluate(values), rel=1e-12)


def test_what_sympy_has_and_formulas_have_not_is_left_out() -> None:
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("R", real=True)
    for expression in (sympy.sin(x), sympy.zoo, x ** sympy.Rational(1, 3), x**100, sympy.sign(x), sympy.I * x):
        with pytest.raises(Untranslatable):
            from_sympy(sympy, expression)
