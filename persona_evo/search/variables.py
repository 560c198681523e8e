"""Defines the variables of a search (R, N, P, ...), once for every engine.

A slot of the tree is one row of `values` float64[slots, width], whose memory is also seen as int32[slots, 2 * width].
The first FIXED columns belong to every search; after them a slot has exactly the columns that its policy reads
(`tree.Columns`).

Applied to Python's numbers, DEFINITIONS return values; applied to the numbers of a writer (see `formula.assembly`),
they return the instructions that compute these values.
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
    """A slot of the tree, as definitions read it."""

    @property
    def columns(self) -> Columns:
        """The columns that the slot has."""

    @property
    def parent_visits(self) -> Value:
        """The visits of the parent."""

    @property
    def depth(self) -> Value:
        """The number of moves from the root."""

    def number(self, column: int) -> Value:
        """Return a column of the slot's row."""

    def whole(self, column: int) -> Value:
        """Return a column of the same memory as int32."""


class Definition(Protocol):
    """The definition of a variable of the search."""

    def __call__(self, slot: Slot[Real]) -> Real:
        """Return the value of the variable at a slot."""


def mix(middle: Mixed, most: Mixed) -> Mixed:
    """Return R for a mean and a maximum, for any kind of numbers."""
    return 0.75 * middle + 0.25 * most


def _share(total: Real, count: Real) -> Real:
    if isinstance(count, AssemblyNumber):
        return where(count > 0.0, total / count, 0.0)
    return total / count if count > 0.0 else 0.0


def known(slot: Slot[Real]) -> Real:
    """Return the number of utilities backed up."""
    return slot.whole(VISITS)


def visits(slot: Slot[Real]) -> Real:
    """Return the number of utilities backed up and of rollouts under way."""
    pending = slot.columns.pending
    return known(slot) if pending < 0 else known(slot) + slot.whole(2 * pending)


def parent_visits(slot: Slot[Real]) -> Real:
    """Return the visits of the parent."""
    return slot.parent_visits


def depth(slot: Slot[Real]) -> Real:
    """Return the number of moves from the root."""
    return slot.depth


def mean(slot: Slot[Real]) -> Real:
    """Return the mean of the utilities, including those assumed for rollouts under way; 0 before the first one."""
    pending, total = slot.columns.pending, slot.number(TOTAL)
    if pending >= 0:
        total = total + slot.whole(2 * pending) * slot.number(pending + 1)
    return _share(total, visits(slot))


def top(slot: Slot[Real]) -> Real:
    """Return the largest of the utilities backed up; 0 before the first one."""
    return where(known(slot) > 0.0, slot.number(slot.columns.best), 0.0)


def mixed(slot: Slot[Real]) -> Real:
    """Return the paper's estimate of the value of a slot."""
    return mix(mean(slot), top(slot))


def spread(slot: Slot[Real]) -> Real:
    """Return the standard deviation of the utilities backed up; 0 before the first one."""
    middle = _share(slot.number(TOTAL), known(slot))
    square = _share(slot.number(slot.columns.squares), known(slot)) - middle * middle
    return root(where(square > 0.0, square, 0.0))


def move_count(slot: Slot[Real]) -> Real:
    """Return the number of iterations through the parent in which the move was made, at that turn or later."""
    return slot.number(slot.columns.moves)


def move_mean(slot: Slot[Real]) -> Real:
    """Return the mean utility of these iterations; 0 before the first one."""
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
"""The definitions of the search's variables; R is `mean` if a search's setting `value` says so."""
