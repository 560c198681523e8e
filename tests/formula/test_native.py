"""Tests that machine code equals the evaluator in Python bit for bit, and is freed when nothing refers to it."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from persona_evo.compiling import INTERPRET
from persona_evo.errors import FormulaError
from persona_evo.formula import TABLE, Formula, native, parse
from persona_evo.formula.native import OPTIMISED, QUICK, RowFunction, Rows, assembly, compile_all, formula_on_row
from tests.formula.strategies import LARGE, SYMBOLS, bits, formulas, points

NASTY = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.3,
    5e-324,
    -5e-324,
    1e-160,
    1e300,
    -1e300,
    1e200,
    -1e160,
    1.7e308,
    math.nan,
    math.inf,
    -math.inf,
    700.0,
    700.5,
    -700.5,
    690.7755278982137,
    690.7755278982138,
    3.0,
)
needs_code = pytest.mark.skipif(INTERPRET, reason="nothing is compiled")


def value(f: Formula, point: dict[str, float]) -> float:
    return float(formula_on_row(f, SYMBOLS)(np.array([point[s] for s in SYMBOLS])))


@settings(max_examples=150)
@given(formulas, points)
@example(parse("if(R, 1e300, 1e300) * if(R, 1e300, 1e300) / MS"), dict.fromkeys(SYMBOLS, 0.5))
@example(parse("MS / (if(R, 1e300, 1e300) * if(R, 1e300, 1e300))"), dict.fromkeys(SYMBOLS, 1e300))
@example(parse("R / (MS * 0)"), dict.fromkeys(SYMBOLS, 0.0))
@example(parse("exp(log(R) + 600) / exp(-700)"), dict.fromkeys(SYMBOLS, 1e300))
def test_machine_code_and_evaluator_agree(f: Formula, point: dict[str, float]) -> None:
    assert bits(value(f, point)) == bits(f.evaluate(point))


def test_every_primitive_on_every_kind_of_operand() -> None:
    made = []
    for p in TABLE:
        for kinds in (("R", "MS", "PE"), (0.3, "MS", "PE"), ("R", -2.0, "PE"), ("R", 0.0, 0.0), ("R", "R", "R")):
            made.append(Formula((*kinds[: p.arity], p.name)))
            made.append(Formula((*(t for k in kinds[: p.arity] for t in (k, "neg")), p.name)))
            made.append(Formula((*(t for k in kinds[: p.arity] for t in (k, k, "*")), p.name)))
    codes = compile_all([RowFunction(f, SYMBOLS) for f in made])
    for f, code in zip(made, codes, strict=True):
        for i, a in enumerate(NASTY):
            point = {"R": a, "MS": NASTY[(3 * i + 1) % len(NASTY)], "PE": NASTY[(5 * i + 2) % len(NASTY)], "ST": 0.0}
            assert bits(code(np.array(list(point.values())))) == bits(f.evaluate(point)), (f, point)


def test_logarithm_and_exponential_are_those_of_the_math_module() -> None:
    stream = random.Random(3)
    log, exp = compile_all([RowFunction(parse("log(R)"), SYMBOLS), RowFunction(parse("exp(R)"), SYMBOLS)])
    row = np.zeros(len(SYMBOLS))
    for _ in range(20_000):
        row[0] = stream.random() * 10.0 ** stream.randint(-300, 299)
        assert log(row) == math.log(row[0])
        row[0] = (stream.random() - 0.5) * 1380.0
        assert exp(row) == math.exp(row[0])


@pytest.mark.parametrize("text", LARGE)
def test_large_and_deep_formulas(text: str) -> None:
    f = parse(text)
    point = {"R": 0.25, "MS": 3.0, "PE": 0.0, "ST": 0.0}
    assert bits(value(f, point)) == bits(f.evaluate(point))


def test_what_occurs_twice_is_computed_once_and_constants_in_advance() -> None:
    lines = "\n".join(RowFunction(parse("sqrt(R * MS) + sqrt(R * MS) * log(3)"), SYMBOLS).body())
    assert lines.count("fmul") == 2 and lines.count("@llvm.sqrt") == 1 and "@llvm.log" not in lines


def test_what_cannot_leave_the_range_is_not_brought_into_it() -> None:
    lines = "\n".join(RowFunction(parse("sqrt(R) * sqrt(MS) + log(PE) * (ST > 3)"), SYMBOLS).body())
    assert lines.count("fcmp olt") == len(SYMBOLS)


def test_a_symbol_that_is_not_in_the_row() -> None:
    with pytest.raises(FormulaError, match="unknown symbol") as e:
        formula_on_row(parse("MSS"), SYMBOLS)
    assert "did you mean 'MS'?" in str(e.value)


def test_rows_that_machine_code_cannot_read_are_refused() -> None:
    code = formula_on_row(parse("R + MS"), SYMBOLS)
    if not INTERPRET:
        with pytest.raises(Exception, match="data type float64"):
            code(np.zeros(len(SYMBOLS), dtype=np.float32))


def test_equal_functions_are_compiled_once() -> None:
    first = formula_on_row(parse("R + 0.125"), SYMBOLS)
    assert formula_on_row(parse("R+.125"), list(SYMBOLS)) is first
    again, other = compile_all([RowFunction(parse("R + 0.125"), SYMBOLS), RowFunction(parse("R + 0.25"), SYMBOLS)])
    assert again is first and other is not first


@needs_code
def test_code_of_other_processors_neither_contracts_nor_reorders() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = assembly({"f": RowFunction(parse("R * MS + PE * ST - R / MS * log(PE + 2 * R)"), SYMBOLS)})
    fused = ("fmadd", "fmsub", "fmla", "fmls", "fnmadd", "fnmsub")
    for triple, cpu in (("aarch64-unknown-linux-gnu", "generic"), ("x86_64-unknown-linux-gnu", "haswell")):
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
        made = machine.emit_assembly(llvm.parse_assembly(text))
        assert "mul" in made and not any(name in made for name in fused)


@needs_code
def test_machine_code_is_there_while_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "KEPT", 4)
    f = parse("R * 1.0625")
    held = formula_on_row(f, SYMBOLS)
    for i in range(8):
        formula_on_row(parse(f"R * {i}.5"), SYMBOLS)
    gc.collect()
    assert held(np.full(len(SYMBOLS), 2.0)) == 2.125
    assert formula_on_row(f, SYMBOLS) is not held


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _memory_grows_by(formulas_made: int, batch: int) -> int:
    before = 0
    for first in range(0, formulas_made, batch):
        if first >= 2 * native.KEPT and not before:
            before = _resident()
        made = [parse(f"R * {i} + log(MS - {i})") for i in range(first, first + batch)]
        compile_all([Rows((f,), SYMBOLS, level=QUICK) for f in made])
    return _resident() - before


@needs_code
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "KEPT", 32)
    assert min(_memory_grows_by(400, 4) for _ in range(2)) < 4e6  # other pages are touched once


@pytest.mark.slow
@needs_code
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded_over_100_000_formulas() -> None:
    assert _memory_grows_by(100_000, 50) < 20e6


def test_without_compiling_the_same_calls_run_in_python() -> None:
    program = (
        "import sys, numpy as np; from persona_evo.formula import parse, native;"
        "f = native.formula_on_row(parse('0.1 * R + MS / PE'), ('R', 'MS', 'PE'));"
        "print(f.address, f(np.array([0.3, 2.0, 0.0])), 'llvmlite' in sys.modules, 'numba' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PERSONA_EVO_INTERPRET": "1"},
    )
    assert run.stdout.split() == ["0", str(0.1 * 0.3 + 1.0), "False", "False"]


def test_numba_is_not_imported() -> None:
    program = (
        "import sys, numpy as np; from persona_evo.formula import parse, native;"
        "native.formula_on_row(parse('R + MS'), ('R', 'MS')); print('numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@settings(max_examples=40)
@given(st.lists(formulas, min_size=1, max_size=4), points, st.sampled_from([QUICK, OPTIMISED]))
def test_several_formulas_over_one_row(made: list[Formula], point: dict[str, float], level: int) -> None:
    source = Rows(tuple(made), SYMBOLS, 2, level)
    (code,) = compile_all([source])
    out, plain = np.full((2, 7), 9.0)
    row = np.array([point[s] for s in SYMBOLS])
    code(row, out)
    source.run(row, plain)
    wanted = [9.0, 9.0, *(f.evaluate(point) for f in made)]
    assert out.tobytes() == plain.tobytes() == np.array([*wanted, *[9.0] * 5][:7]).tobytes()


@pytest.mark.parametrize(
    ("error", "raised"), [(KeyboardInterrupt, KeyboardInterrupt), (ValueError, ctypes.ArgumentError)]
)
def test_ctrl_c_while_an_argument_is_converted_is_no_wrong_argument(
    error: type[BaseException], raised: type[BaseException]
) -> None:
    class Argument:
        @classmethod
        def from_param(cls, given: object) -> object:
            raise error

    source: Any = SimpleNamespace(run=ctypes.CFUNCTYPE(None, Argument)(lambda given: None))
    with pytest.raises(raised):
        native.Native(source)(np.array([1.0]))
