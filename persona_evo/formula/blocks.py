"""Compiles formulas to machine code that scores blocks of adjacent rows, LANES rows at a time.

The caller defines what a symbol is and where it lies in a row (`Scored`). The code here only knows rows of float64,
whole numbers in the same memory, and two numbers that rows share: parent visits and depth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula.arithmetic import LIMIT
from persona_evo.formula.assembly import LANES, AssemblyNumber, Writer
from persona_evo.formula.core import Formula
from persona_evo.formula.native import OPTIMISED, emit


class RowLayout(Protocol):
    """The positions, in a row, of what is read here."""

    @property
    def width(self) -> int:
        """The number of columns of a row."""

    @property
    def kept(self) -> int:
        """The first column of values that are kept."""

    @property
    def score(self) -> int:
        """The column that `Rescore` writes to."""


class Scored(Protocol):
    """A formula over rows."""

    @property
    def columns(self) -> RowLayout:
        """The layout of a row."""

    @property
    def rest(self) -> Formula | None:
        """The formula to compute, over the names of `kept` and of `definitions`."""

    @property
    def kept(self) -> Mapping[str, Formula]:
        """The parts that are read from the row unchanged, in the order of the columns."""

    @property
    def definitions(self) -> Mapping[str, Callable[[Any], Any]]:
        """The other symbols: each is a function of the columns of a row, as machine code (`_Lanes`) or in Python."""


class _Lanes:
    """Slots in machine code, one per lane.

    Args:
        writer: the writer of the code that reads them.
        columns: the layout of each slot.
        rows: for each lane, a register that points to a row, and the number of columns from there to the lane's row.
        parent_visits: the register with the parent's visits, i64.
        depth: the registers with the depth, i64: one for each lane, or one for all.
    """

    def __init__(
        self,
        writer: Writer,
        columns: RowLayout,
        rows: Sequence[tuple[str, int]],
        parent_visits: str,
        depth: Sequence[str],
    ) -> None:
        self.columns = columns
        self._writer, self._rows, self._parent_visits, self._depth = writer, rows, parent_visits, depth

    @property
    def parent_visits(self) -> AssemblyNumber:
        return _count(self._writer, self._writer.write(f"sitofp i64 {self._parent_visits} to double"), False)

    @property
    def depth(self) -> AssemblyNumber:
        if len(self._depth) == 1:
            return _count(self._writer, self._writer.write(f"sitofp i64 {self._depth[0]} to double"), False)
        singles = [self._line(f"sitofp i64 {depth} to double") for depth in self._depth]
        return _count(self._writer, self._joined("double", singles), True)

    def number(self, column: int) -> AssemblyNumber:
        places = [self.place(lane, column) for lane in range(LANES)]
        joined = self._joined("double", [self._line(f"load double, double* {place}") for place in places])
        return AssemblyNumber(self._writer, joined, True)

    def whole(self, column: int) -> AssemblyNumber:
        singles = []
        for row, offset in self._rows:
            whole = self._line(f"bitcast double* {row} to i32*")
            place = self._line(f"getelementptr i32, i32* {whole}, i64 {2 * offset + column}")
            singles.append(self._line(f"load i32, i32* {place}"))
        joined = self._joined("i32", singles)
        return _count(self._writer, self._line(f"sitofp <{LANES} x i32> {joined} to <{LANES} x double>"), True)

    def place(self, lane: int, column: int) -> str:
        """Return the register that points at a column of a lane's slot."""
        row, offset = self._rows[lane]
        return self._line(f"getelementptr double, double* {row}, i64 {offset + column}")

    def _line(self, instruction: str) -> str:
        return self._writer.write(instruction, True)

    def _joined(self, kind: str, singles: Sequence[str]) -> str:
        joined = "poison"
        for lane, single in enumerate(singles):
            joined = self._line(f"insertelement <{LANES} x {kind}> {joined}, {kind} {single}, i32 {lane}")
        return joined


def _count(writer: Writer, name: str, wide: bool) -> AssemblyNumber:
    return AssemblyNumber(writer, name, wide, most=2.0**63, least=1.0)


def _loop(writer: Writer, count: str) -> list[str]:
    """Return the code written so far in a loop over all places, LANES at a time; the first place is %first."""
    return [
        "start:",
        *writer.before,
        f"%any = icmp sgt i64 {count}, 0",
        "br i1 %any, label %loop, label %end",
        "loop:",
        "%first = phi i64 [0, %start], [%next, %loop]",
        *writer.lines,
        f"%next = add i64 %first, {LANES}",
        f"%more = icmp slt i64 %next, {count}",
        "br i1 %more, label %loop, label %end",
        "end:",
        "ret void",
    ]


def _scored(scoring: Scored, writer: Writer, lanes: _Lanes) -> AssemblyNumber:
    kept = {name: scoring.columns.kept + i for i, name in enumerate(scoring.kept)}

    def load(symbol: str) -> AssemblyNumber:
        if symbol in kept:
            part = lanes.number(kept[symbol])
            part.most = LIMIT
            return part
        number: AssemblyNumber = scoring.definitions[symbol](lanes)
        return number

    assert scoring.rest is not None
    return emit(writer, scoring.rest, load)


@dataclass(frozen=True)
class BlockScore:
    """`void score(const double *row, i64 count, i64 parent_visits, i64 depth, double *out)`: scores of siblings.

    The function scores `count` consecutive slots from `row` on and writes to out[0] to out[count - 1]. It computes
    LANES slots at a time, so it may read up to LANES - 1 rows beyond the last and overwrite as many numbers in `out`.
    Both must exist.
    """

    scoring: Scored
    arguments = (
        ("double*", "%row"),
        ("i64", "%count"),
        ("i64", "%parent_visits"),
        ("i64", "%depth"),
        ("double*", "%out"),
    )
    gives = "void"
    level = OPTIMISED

    def body(self) -> list[str]:
        """Return the lines of the function."""
        writer, width = Writer(), self.scoring.columns.width
        offset = writer.write(f"mul i64 %first, {width}", True)
        row = writer.write(f"getelementptr double, double* %row, i64 {offset}", True)
        rows = [(row, lane * width) for lane in range(LANES)]
        lanes = _Lanes(writer, self.scoring.columns, rows, "%parent_visits", ["%depth"])
        result = writer.spelled(_scored(self.scoring, writer, lanes), True)
        out = writer.write("getelementptr double, double* %out, i64 %first", True)
        out = writer.write(f"bitcast double* {out} to <{LANES} x double>*", True)
        writer.lines.append(f"store <{LANES} x double> {result}, <{LANES} x double>* {out}, align 8")
        return _loop(writer, "%count")

    def run(
        self, rows: NDArray[np.float64], count: int, parent_visits: int, depth: int, out: NDArray[np.float64]
    ) -> None:
        """Compute the same in Python, for rows float64[count or more, width]."""
        for i in range(count):
            out[i] = _evaluated(self.scoring, rows[i], parent_visits, depth)


@dataclass(frozen=True)
class Rescore:
    """`void rescore(double *values, const i64 *path, i64 length, i64 depth)`: scores of slots along a path.

    They are written to the column `score` of slots path[0] to path[length - 1], the first of which is at `depth`.
    """

    scoring: Scored
    arguments = (("double*", "%values"), ("i64*", "%path"), ("i64", "%length"), ("i64", "%depth"))
    gives = "void"
    level = OPTIMISED

    def body(self) -> list[str]:
        """Return the lines of the function."""
        writer, columns = Writer(), self.scoring.columns
        last = writer.write("add i64 %length, -1")
        rows, depths = [], []
        for lane in range(LANES):  # lanes after the last slot repeat the last one
            place = writer.write(f"add i64 %first, {lane}", True)
            inside = writer.write(f"icmp slt i64 {place}, {last}", True)
            place = writer.write(f"select i1 {inside}, i64 {place}, i64 {last}", True)
            pointer = writer.write(f"getelementptr i64, i64* %path, i64 {place}", True)
            slot = writer.write(f"load i64, i64* {pointer}", True)
            offset = writer.write(f"mul i64 {slot}, {columns.width}", True)
            rows.append((writer.write(f"getelementptr double, double* %values, i64 {offset}", True), 0))
            depths.append(writer.write(f"add i64 {place}, %depth", True))
        lanes = _Lanes(writer, columns, rows, "0", depths)
        result = writer.spelled(_scored(self.scoring, writer, lanes), True)
        for lane in range(LANES):
            one = writer.write(f"extractelement <{LANES} x double> {result}, i32 {lane}", True)
            writer.lines.append(f"store double {one}, double* {lanes.place(lane, columns.score)}")
        return _loop(writer, "%length")

    def run(self, values: NDArray[np.float64], path: NDArray[np.int64], length: int, depth: int) -> None:
        """Compute the same in Python, for values float64[slots, width]."""
        for i, slot in enumerate(path[:length].tolist()):
            values[slot, self.scoring.columns.score] = _evaluated(self.scoring, values[slot], 0, depth + i)


@dataclass(frozen=True)
class _Plain:
    """A slot in Python, whose row is float64[width]."""

    columns: RowLayout
    row: NDArray[np.float64]
    parent_visits: float
    depth: float

    def number(self, column: int) -> float:
        return float(self.row[column])

    def whole(self, column: int) -> float:
        return float(self.row.view(np.int32)[column])


def _evaluated(scoring: Scored, row: NDArray[np.float64], parent_visits: int, depth: int) -> float:
    """Return a slot's score, computed in Python."""
    columns = scoring.columns
    slot = _Plain(columns, row, float(parent_visits), float(depth))
    values = {name: slot.number(columns.kept + i) for i, name in enumerate(scoring.kept)}
    assert scoring.rest is not None
    for symbol in scoring.rest.symbols - values.keys():
        values[symbol] = scoring.definitions[symbol](slot)
    return scoring.rest.evaluate(values)
