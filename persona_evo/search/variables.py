"""The variables of a search (R, N, P, ...), said once for every engine.

A slot of the tree is one row of `values` float64[slots, width], whose memory is also seen as int32[slots, 2 * width].
The first FIXED columns are those of every search; behind them a slot has the columns that its policy reads, and no
others (`tree.Columns`).

DEFINITIONS over Python's numbers give values; over the numbers of a writer (see `formula.assembly`) they give the
instructions that compute them.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula.assembly import AssemblyNumber, Real, root, where
from persona_evo.search.tree import TOTAL, VISITS, Columns

Value = TypeVar("Value", covariant=True)
Mixed = TypeVar("Mixed", float, AssemblyNumber, NDArray[np.float64])


class Slot(Protocol[Value]):
    """What definitions read."""

    @property
    def columns(self) -> Columns:
        """What the slot keeps."""

    @property
    def parent_visits(self) -> Value:
        """Visits of the parent."""

    @property
    def depth(self) -> Value:
        """Moves from the root."""

    def number(self, column: int) -> Value:
        """A column of the slot's row."""

    def whole(self, column: int) -> Value:
        """A column of the same memory as int32."""


class Definition(Protocol):
    """What a variable of the search is."""

    def __call__(self, slot: Slot[Real]) -> Real:
        """Its value at a slot."""


def mix(middle: Mixed, most: Mixed) -> Mixed:
    """R of a mean and a maximum, in whatever numbers."""
    return 0.75 * middle + 0.25 * most


def _share(total: Real, count: Real) -> Real:
    if isinstance(count, AssemblyNumber):
        return where(count > 0.0, total / count, 0.0)
    return total / count if count > 0.0 else 0.0


def known(slot: Slot[Real]) -> Real:
    """How many utilities were backed up."""
    return slot.whole(VISITS)


def visits(slot: Slot[Real]) -> Real:
    """The same, and rollouts under way."""
    pending = slot.columns.pending
    return known(slot) if pending < 0 else known(slot) + slot.whole(2 * pending)


def parent_visits(slot: Slot[Real]) -> Real:
    """The visits of the parent."""
    return slot.parent_visits


def depth(slot: Slot[Real]) -> Real:
    """Moves from the root."""
    return slot.depth


def mean(slot: Slot[Real]) -> Real:
    """The mean of the utilities backed up and of what those under way count, 0 before the first."""
    pending, total = slot.columns.pending, slot.number(TOTAL)
    if pending >= 0:
        total = total + slot.whole(2 * pending) * slot.number(pending + 1)
    return _share(total, visits(slot))


def top(slot: Slot[Real]) -> Real:
    """The largest of the utilities backed up, 0 before the first."""
    return where(known(slot) > 0.0, slot.number(slot.columns.best), 0.0)


def mixed(slot: Slot[Real]) -> Real:
    """The paper's estimate of what a slot is worth."""
    return mix(mean(slot), top(slot))


def spread(slot: Slot[Real]) -> Real:
    """The standard deviation of the utilities backed up, 0 before the first."""
    middle = _share(slot.number(TOTAL), known(slot))
    square = _share(slot.number(slot.columns.squares), known(slot)) - middle * middle
    return root(where(square > 0.0, square, 0.0))


def move_count(slot: Slot[Real]) -> Real:
    """Iterations through the parent in which the move was made, there or later."""
    return slot.number(slot.columns.moves)


def move_mean(slot: Slot[Real]) -> Real:
    """The mean utility of these iterations, 0 before the first."""
    return _share(slot.number(slot.columns.moves + 1), move_count(slot))


DEFINITIONS: dict[str, Definition] = {
    "R": mixed,
    "N": visits,
    "P": parent_visits,
    "D": depth,
    "RMAX": top,
    "RSD": spread,
    "AN": move_count,
    "AR": move_mean,
}
"""What the search's variables are; R is `mean` where a search's setting `value` says so."""
