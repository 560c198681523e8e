"""A tree policy as the engine uses it: which columns of the tree it needs, and the functions that score with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from persona_evo.formula import Formula
from persona_evo.formula.machine import STACK, run
from persona_evo.search.coding import code
from persona_evo.search.layout import Codes
from persona_evo.search.tree import TOTAL, VISITS, Columns
from persona_evo.search.tree_policy import MOVE_VARIABLES, SEARCH_VARIABLES, STATIC


def utility_code(formula: Formula, symbols: tuple[str, ...]) -> Callable[[Any], float]:
    """A formula over a row of metrics."""
    ops, constants = code(formula, symbols)
    stack = np.zeros(STACK)
    return lambda metrics: run(ops, constants, metrics, stack)


@dataclass
class Scoring:
    """Scores of a tree policy.

    Attributes:
        formula: None for UCB1.
        symbols: of the game's metrics.
        holds: see `tree_policy`.
        mean: whether R is the mean alone.
        best: whether the largest utility is kept, whoever reads it.
        also: variables of the search that somebody else reads.
    """

    formula: Formula | None
    symbols: tuple[str, ...]
    holds: int
    mean: bool = False
    also: frozenset[str] = frozenset()
    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        read = self.also | (self.formula.symbols if self.formula is not None else frozenset())
        own = self.formula.symbols if self.formula is not None else frozenset()
        self.kept = [i for i, s in enumerate(self.symbols) if s in own]
        self.columns = Columns.of(
            best="RMAX" in read or ("R" in read and not self.mean), squares="RSD" in read,
            score=self.formula is not None and self.holds <= 1,
            kept=max(1, len(self.kept)) if own and self.holds != STATIC and self.kept else 0,
            moves=not read.isdisjoint(MOVE_VARIABLES),
        )  # fmt: skip
        if self.formula is not None and self.holds == STATIC:
            self.columns = self.columns._replace(kept=self.columns.score)
        if self.formula is not None:
            late = tuple(s for s in MOVE_VARIABLES if s not in self.symbols)
            self.order = (*self.symbols, *SEARCH_VARIABLES, *late)
            self.ops, self.constants = code(self.formula, self.order)
            self.vars, self.stack = np.zeros(len(self.order)), np.zeros(STACK)

    def keep(self, metrics: Any, row: Any) -> int:
        if self.holds == STATIC:
            self.vars[: len(metrics)] = metrics
            row[self.columns.score] = run(self.ops, self.constants, self.vars, self.stack)
        else:
            for k, i in enumerate(self.kept):
                row[self.columns.kept + k] = metrics[i]
        return 0

    def score(self, values: Any, first: int, kids: int, visits: int, depth: int, out: Any) -> int:
        links, c, m = values.view(np.int32), self.columns, len(self.symbols)
        for child in range(first, first + kids):
            row, vars = values[child], self.vars
            n = int(links[child, VISITS])
            mean = row[TOTAL] / n if n > 0 else 0.0
            top = row[c.best] if n > 0 and c.best >= 0 else 0.0
            spread = 0.0
            if n > 0 and c.squares >= 0:
                spread = math.sqrt(max(0.0, row[c.squares] / n - mean * mean))
            for k, i in enumerate(self.kept):
                vars[i] = row[c.kept + k]
            vars[m : m + 6] = (mean if self.mean else 0.75 * mean + 0.25 * top, n, visits, depth, top, spread)
            if c.moves >= 0:
                count = row[c.moves]
                vars[m + 6 : m + 8] = count, row[c.moves + 1] / count if count > 0 else 0.0
            out[child - first] = run(self.ops, self.constants, vars, self.stack)
        return 0

    def rescore(self, values: Any, path: Any, begin: int, end: int) -> int:
        out = np.zeros(1)
        for depth in range(begin, end):
            self.score(values, int(path[depth]), 1, 0, depth, out)
            values[path[depth], self.columns.score] = out[0]
        return 0

    def codes(self, utility: Formula) -> Codes:
        F = Pointer
        return Codes(F(utility_code(utility, self.symbols), "r", True), F(self.keep, "rr"), F(self.score, "tiiiir"),
                     F(self.rescore, "tR"  "ii"))


class Pointer:
    """Stand-in: a Python function by its address."""

    def __init__(self, function, kinds, real=False):
        import ctypes
        self.function = function
        given = []
        for k in kinds:
            given += [ctypes.c_int64] * (3 if k == "t" else 2 if k in "rR" else 1)

        def array(address, kind, *shape):
            n = 1
            for x in shape:
                n *= x
            buffer = ((ctypes.c_double if kind == "d" else ctypes.c_int64) * n).from_address(address)
            return np.frombuffer(buffer, dtype=np.float64 if kind == "d" else np.int64).reshape(shape)

        def call(*args):
            args, parts = list(args), []
            for k in kinds:
                if k == "t":
                    parts.append(array(args.pop(0), "d", args.pop(0), args.pop(0)))
                elif k in "rR":
                    parts.append(array(args.pop(0), "d" if k == "r" else "i", args.pop(0)))
                else:
                    parts.append(args.pop(0))
            with np.errstate(all="ignore"):
                return float(function(*parts)) if real else int(function(*parts))

        self._c = ctypes.CFUNCTYPE(ctypes.c_double if real else ctypes.c_int64, *given)(call)
        self.address = ctypes.cast(self._c, ctypes.c_void_p).value

    def __call__(self, *args):
        return self.function(*args)
