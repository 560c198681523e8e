"""Tests that scores of slots in machine code equal those of the formula bit for bit."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from persona_evo.compiling import INTERPRET
from persona_evo.formula import Formula, parse
from persona_evo.formula.assembly import LANES
from persona_evo.formula.blocks import BlockScore, Rescore
from persona_evo.search.layout import Codes
from persona_evo.search.scoring import Scoring, policy_code
from persona_evo.search.tree import FIXED, TOTAL, VISITS, Columns
from persona_evo.search.tree_policy import ALONG_PATH, EVERY_TIME, MOVE_VARIABLES, SEARCH_VARIABLES, STATIC
from tests.formula.strategies import _grow, bits, constants, values

METRICS = ("MS", "PE", "ST")
WITH_MOVES = (*METRICS, *SEARCH_VARIABLES, *MOVE_VARIABLES)
ALONG = (*METRICS, "R", "N", "D", "RMAX", "RSD")
UTILITY = parse("MS + PE")
SLOTS = 11


def formulas(symbols: tuple[str, ...]) -> st.SearchStrategy[Formula]:
    leaves = st.one_of(st.sampled_from(symbols), constants).map(lambda t: (t,))
    return st.recursive(leaves, _grow, max_leaves=15).map(Formula)


class Tree:
    """Slots as a search leaves them, and what the formula's symbols stand for at each of them."""

    def __init__(self, scoring: Scoring, code: Codes, stream: np.random.Generator, strange: list[float]) -> None:
        self.scoring, columns = scoring, scoring.columns
        self.values = stream.random((SLOTS + LANES - 1, columns.width))
        self.metrics = stream.integers(0, 9, (SLOTS, len(METRICS))) / 8.0
        self.metrics.flat[: len(strange)] = strange
        self.visits = stream.integers(0, 5, SLOTS)
        self.backed_up = [stream.random(n) * 10.0 ** stream.integers(-3, 4) for n in self.visits.tolist()]
        if len(strange) > 2:
            self.backed_up[2:4] = [np.array(strange).clip(-1e300, 1e300)] * 2
            self.visits[2:4] = len(strange)
        self.moves = stream.integers(0, 4, SLOTS).astype(float)
        self.move_totals = stream.random(SLOTS) * self.moves
        for i in range(SLOTS):
            row = self.values[i]
            row.view(np.int32)[VISITS] = self.visits[i]
            row[TOTAL] = self.total(i)
            for column, value in ((columns.best, self.best(i)), (columns.squares, self.squares(i))):
                if column >= 0:
                    row[column] = value
            if columns.moves >= 0:
                row[columns.moves : columns.moves + 2] = self.moves[i], self.move_totals[i]
            if code.keep:
                code.keep(self.metrics[i], row)

    def total(self, slot: int) -> float:
        return float(sum(self.backed_up[slot].tolist()))

    def squares(self, slot: int) -> float:
        return float(sum(u * u for u in self.backed_up[slot].tolist()))

    def best(self, slot: int) -> float:
        return max(self.backed_up[slot].tolist(), default=-math.inf)

    def expected(self, slot: int, parent_visits: int, depth: int) -> float:
        """Return the score as selection defines it, step by step."""
        n = int(self.visits[slot])
        average = top = spread = 0.0
        if n > 0:
            average = self.total(slot) / n
            top = self.best(slot)
            spread = math.sqrt(max(0.0, self.squares(slot) / n - average * average))
        point = dict(zip(METRICS, self.metrics[slot].tolist(), strict=True))
        point["R"] = average if self.scoring.mean else 0.75 * average + 0.25 * top
        point |= {"N": float(n), "P": float(parent_visits), "D": float(depth), "RMAX": top, "RSD": spread}
        count = float(self.moves[slot])
        point |= {"AN": count, "AR": float(self.move_totals[slot]) / count if count > 0.0 else 0.0}
        assert self.scoring.formula is not None
        return self.scoring.formula.evaluate(point)


def compare(scoring: Scoring, seed: int, strange: list[float], parent_visits: int = 37, depth: int = 5) -> None:
    """Machine code, the same in Python, and the formula."""
    _, code = policy_code(scoring)
    tree = Tree(scoring, code, np.random.default_rng(seed), strange)
    in_python = tree.values.copy()
    for i in range(SLOTS):
        if code.keep:
            code.keep.source.run(tree.metrics[i], in_python[i])
    assert in_python.tobytes() == tree.values.tobytes()
    if scoring.holds == EVERY_TIME:
        assert code.score and not code.rescore
        expected = [tree.expected(i, parent_visits, depth) for i in range(SLOTS)]
        out, plain = np.full((2, SLOTS + LANES), math.nan)
        for first, count in ((0, SLOTS), (1, 0), (2, 1), (3, 4), (4, 5)):
            code.score(tree.values[first:], count, parent_visits, depth, out)
            BlockScore(scoring).run(tree.values[first:], count, parent_visits, depth, plain)
            wanted = b"".join(map(bits, expected[first : first + count]))
            assert out[:count].tobytes() == wanted == plain[:count].tobytes()
    elif scoring.holds == ALONG_PATH:
        assert code.rescore and not code.score
        path = np.array([4, 0, 9, 2, 7, 1])
        for length in (0, 1, 4, 6):
            code.rescore(tree.values, path, length, depth)
            Rescore(scoring).run(in_python, path, length, depth)
            assert in_python.tobytes() == tree.values.tobytes()
            for k, slot in enumerate(path[:length].tolist()):
                assert bits(tree.values[slot, scoring.columns.score]) == bits(tree.expected(slot, 0, depth + k))
    else:
        assert code.keep and not code.score and not code.rescore
        for i in range(SLOTS):
            assert bits(tree.values[i, scoring.columns.score]) == bits(tree.expected(i, 0, depth))


strange = st.lists(values, max_size=9)


@settings(max_examples=80)
@given(formulas(WITH_MOVES), st.booleans(), st.integers(0, 99), strange)
@example(parse("RSD + 0 * R"), False, 1, [1e200, 1e200, 1e-200, 1.0])
@example(parse("P / N + D"), True, 1, [])
@example(parse("3"), True, 1, [])
@example(parse("log(P)"), True, 1, [])
def test_scores_of_siblings(f: Formula, mean: bool, seed: int, strange: list[float]) -> None:
    compare(Scoring(f, UTILITY, METRICS, EVERY_TIME, mean, moves=True), seed, strange)


@settings(max_examples=50)
@given(formulas(ALONG), st.booleans(), st.integers(0, 99), strange)
def test_scores_along_a_path(f: Formula, mean: bool, seed: int, strange: list[float]) -> None:
    compare(Scoring(f, UTILITY, METRICS, ALONG_PATH, mean), seed, strange)


@settings(max_examples=25)
@given(formulas(METRICS), st.integers(0, 99), strange)
def test_scores_that_never_change(f: Formula, seed: int, strange: list[float]) -> None:
    compare(Scoring(f, UTILITY, METRICS, STATIC), seed, strange)


def test_slots_keep_what_is_read_and_nothing_else() -> None:
    def columns(text: str, holds: int = EVERY_TIME, **more: bool | frozenset[str]) -> Columns:
        return Scoring(parse(text), UTILITY, METRICS, holds, **more).columns  # type: ignore[arg-type]

    assert Scoring(None, UTILITY, METRICS).columns == Columns(width=FIXED)
    assert columns("sqrt(log(P) / N)") == Columns(width=FIXED)
    assert columns("R / N * P") == Columns(best=4, width=5)
    assert columns("R / N * P", mean=True) == Columns(width=FIXED)
    assert columns("R / N * P", mean=True, read=frozenset({"RMAX"})) == Columns(best=4, width=5)
    assert columns("(MS + PE) * P + RSD") == Columns(squares=4, kept=5, width=6)
    assert columns("(MS + PE) * N + RMAX", ALONG_PATH) == Columns(best=4, score=5, kept=6, width=7)
    assert columns("MS + PE", STATIC) == Columns(score=4, width=5)
    assert columns("P + AN", moves=True) == Columns(moves=4, width=6)


def test_policies_of_more_parts_than_metrics_keep_the_metrics() -> None:
    text = " + ".join(f"N ^ {k} * (MS - {k} * PE)" for k in range(1, 7))
    scoring = Scoring(parse(text), UTILITY, METRICS)
    assert list(scoring.kept) == ["MS", "PE"] and scoring.columns.width == FIXED + 2
    compare(scoring, 1, [math.nan, math.inf])
    few = Scoring(parse("N * (MS - PE) + N / (MS + PE)"), UTILITY, METRICS)
    assert list(few.kept.values()) == [parse("MS - PE"), parse("MS + PE")]


def test_a_variable_of_the_search_goes_before_a_metric_of_its_name() -> None:
    scoring = Scoring(parse("N + MS"), UTILITY, ("MS", "N", "PE"))
    assert list(scoring.kept.values()) == [parse("MS")]
    without = Scoring(parse("AN + MS * P"), UTILITY, ("MS", "AN", "PE"))
    assert {f.text for f in without.kept.values()} == {"AN", "MS"}


@pytest.mark.skipif(INTERPRET, reason="nothing is compiled")
def test_what_siblings_share_is_computed_once() -> None:
    body = BlockScore(Scoring(parse("R + sqrt(log(P) / N) + exp(D / 9)"), UTILITY, METRICS)).body()
    loop = body.index("loop:")
    assert "@llvm.log.f64" in "".join(body[:loop]) and "@llvm.exp.f64" in "".join(body[:loop])
    assert "log" not in "".join(body[loop:])


def test_policies_of_one_search_share_its_utility() -> None:
    (_, a), (_, b) = (policy_code(Scoring(parse(text), UTILITY, METRICS)) for text in ("R + P", "R - P"))
    assert a.utility is b.utility and a.score is not b.score
    assert a.utility(np.array([0.5, 0.25, 0.0])) == 0.75
    assert policy_code(Scoring(parse("R + P"), UTILITY, METRICS))[1].score is a.score


PROGRAM = """
import sys, numpy as np
from persona_evo.formula import parse
from persona_evo.search.scoring import Scoring, policy_code
scoring = Scoring(parse("R / 3 + log(P) / N - MS / 7 + PE * RSD"), parse("MS"), ("MS", "PE"))
columns, codes = policy_code(scoring)
rows = np.random.default_rng(1).random((9, columns.width))
rows.view(np.int32)[:, 2] = range(9)
for i in range(9):
    codes.keep(np.array([i / 9, 0.1]), rows[i])
out = np.zeros(9)
codes.score(rows, 5, 40, 2, out)
print(out[:5].tobytes().hex(), codes.score.address == 0, "llvmlite" in sys.modules)
"""


@pytest.mark.skipif(INTERPRET, reason="nothing is compiled")
def test_without_compiling_scores_are_the_same() -> None:
    def run(**more: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=os.environ | more
        )
        return done.stdout.split()

    compiled, interpreted = run(), run(PERSONA_EVO_INTERPRET="1")
    assert compiled[0] == interpreted[0]
    assert compiled[1:] == ["False", "True"] and interpreted[1:] == ["True", "False"]
