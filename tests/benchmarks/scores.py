"""Speed of formulas in the interpreter and in machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Handle, entry
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow
from persona_evo.formula import Formula, native, parse
from persona_evo.formula.encoding import encode
from persona_evo.formula.machine import STACK, run
from persona_evo.search.tree_policy import variables

from .engine import FORMULAS
from .levels import game
from .report import SHORT, Row, compared
from .timing import interleaved

ROWS = 1_000
"""Number of rows of variables for which each formula is computed."""

LONG = "if(MS > 0.5, R * R + PE, min(R, RMAX)) - exp(-D / (1 + N)) * max(HL, 0.1) + sqrt(abs(RSD)) / (1 + NM)"
"""A formula of the size of an evolved one."""


class Slate(NamedTuple):
    """The arrays of the interpreter: a formula's code and constants, rows of variables, its stack, and the values."""

    ops: IntRow
    constants: FloatRow
    rows: FloatTable
    stack: FloatRow
    out: FloatRow


@entry
def interpret(slate: Slate, repeats: int) -> int:
    """Compute the formula for all rows `repeats` times."""
    for _ in range(repeats):
        for i in range(len(slate.rows)):
            slate.out[i] = run(slate.ops, slate.constants, slate.rows[i], slate.stack)
    return 0


@cache
def _machine() -> Any:
    import numba

    @numba.njit
    def loop(function: Any, rows: Any, out: Any) -> None:
        for i in range(len(rows)):
            out[i] = function(rows[i].ctypes)

    return loop


def _rows(symbols: Sequence[str], seed: int) -> NDArray[np.float64]:
    """Draw variables as in a search: utilities and shares, and whole numbers for visits and depths."""
    rng = np.random.default_rng(seed)
    rows = rng.random((ROWS, len(symbols)))
    for symbol in ("N", "P", "D", "ST"):
        rows[:, symbols.index(symbol)] = rng.integers(1, 200, ROWS)
    return rows


def _works(formula: Formula, symbols: tuple[str, ...], repeats: int) -> dict[str, Callable[[], object]]:
    rows, outs = _rows(symbols, 1), [np.zeros(ROWS) for _ in range(2)]
    made = native.formula_on_row(formula, symbols)
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(made.address)
    slate = Handle(Slate(*encode(formula, symbols), rows, np.zeros(STACK), outs[0]))

    def interpreted() -> NDArray[np.float64]:
        interpret(slate, repeats)
        return outs[0]

    def compiled(_: object = made) -> NDArray[np.float64]:
        for _ in range(repeats):
            _machine()(function, rows, outs[1])
        return outs[1]

    return {"interpreter": interpreted, "machine code": compiled}


def measure(repeats: int, rounds: int) -> list[Row]:
    """Measure how much faster a formula is as machine code; the values are compared bit by bit."""
    texts = {name: text for name, (_, text) in FORMULAS.items()} | {"an evolved size": LONG}
    found = []
    for name, text in texts.items():
        what = f"a formula of {name} as machine code beside the interpreter"
        symbols = variables(game())
        works = _works(parse(text, symbols), symbols, repeats)
        slow, fast = (np.asarray(work()) for work in works.values())
        if slow.tobytes() != fast.tobytes():
            found.append(Row(what, "", "the values differ", None, SHORT))
            continue
        times = interleaved(works, rounds)
        ratios = [a / b for a, b in zip(times["interpreter"], times["machine code"], strict=True)]
        each = {side: float(np.median(t)) / (repeats * ROWS) * 1e9 for side, t in times.items()}
        measured = f"{each['machine code']:.1f} ns a value, interpreted {each['interpreter']:.1f} ns; values equal"
        found.append(compared(what, "", measured, ratios))
    return found
