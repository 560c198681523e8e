"""Checks whether two formulas are interchangeable: in value, and in the child that a tree policy picks.

They are compared on states that were really seen, if there are any, and always on made-up edge cases: all zero, all
one, one symbol zero or large or negative among ordinary ones, large counts, children that are equal.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula.core import Formula
from persona_evo.words import counted

EDGES = (0.0, 1.0, 0.5, 2.0, -5.0, 1e3, 1e6)
"""The values of the made-up cases."""

EXACT = 1e-9
"""The relative difference allowed if only the order of operations changed."""

TIE = 1e-9
"""Scores closer than this (relative to the largest of the siblings) count as equally good."""


@dataclass(frozen=True, eq=False)
class ComparedCases:
    """The cases to compare formulas on.

    Attributes:
        order: the symbols of the columns.
        rows: float64[n, len(order)].
        groups: int64[n]; rows with the same number are children of one node.
        sampled: the number of rows that were really seen; they come first.
    """

    order: tuple[str, ...]
    rows: NDArray[Any]
    groups: NDArray[Any]
    sampled: int = 0

    def __str__(self) -> str:
        return f"{len(self.rows)} cases ({self.sampled} of them sampled)"

    def families(self) -> list[NDArray[Any]]:
        """Return the row numbers of each group of at least two."""
        by_group = np.argsort(self.groups, kind="stable")
        cuts = np.flatnonzero(np.diff(self.groups[by_group])) + 1
        return [rows for rows in np.split(by_group, cuts) if len(rows) > 1]


def cases(
    order: Sequence[str],
    samples: NDArray[Any] | None = None,
    groups: NDArray[Any] | None = None,
    shared: Collection[str] = (),
    seed: int = 1,
) -> ComparedCases:
    """Return sampled rows and edge cases together.

    Args:
        order: the symbols of the columns.
        samples: float64[n, len(order)], states of real playthroughs; None for edge cases only.
        groups: int64[n], which samples are children of one node; None makes random groups of up to 4.
        shared: symbols that are the same for all children of a node.
        seed: the seed of the random cases.
    """
    order, rng = tuple(order), np.random.default_rng(seed)
    same = [i for i, symbol in enumerate(order) if symbol in shared]
    edge, edge_groups = _edges(len(order), same, rng)
    if samples is None or not len(samples):
        return ComparedCases(order, edge, edge_groups)
    rows = np.array(samples, dtype=np.float64).reshape(-1, len(order))
    if groups is None:
        rows = rows[rng.permutation(len(rows))]
        groups = np.arange(len(rows)) // 4
        rows[:, same] = rows[groups * 4][:, same]
    groups = np.asarray(groups, dtype=np.int64)
    return ComparedCases(
        order, np.concatenate([rows, edge]), np.concatenate([groups, edge_groups + groups.max() + 1]), len(rows)
    )


def _edges(columns: int, same: list[int], rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return families of four children each: uniform, one column odd, mixed, and equal ones."""
    if columns == 0:
        return np.zeros((2, 0)), np.zeros(2, dtype=np.int64)
    families = [np.full((len(EDGES), columns), 0.0) + np.array(EDGES)[:, None]]
    for column, base in itertools.product(range(columns), (0.0, 0.5, 1.0)):
        family = np.full((len(EDGES), columns), base)
        family[:, column] = EDGES
        families.append(family)
    families += [rng.choice(EDGES, (4, columns)) for _ in range(60)]
    families += [rng.random((4, columns)) for _ in range(60)]
    families += [np.round(rng.random((4, columns)) * 1e5) for _ in range(20)]
    families += [np.repeat(rng.random((1, columns)), 3, axis=0) for _ in range(10)]
    for family in families:
        family[:, same] = family[0, same]
    sizes = [len(family) for family in families]
    return np.concatenate(families), np.repeat(np.arange(len(families)), sizes)


@functools.lru_cache(maxsize=8)
def scores(formula: Formula, given: ComparedCases) -> NDArray[Any]:
    """Return float64[n], the value of the formula on every row."""
    columns = [(s, given.order.index(s)) for s in sorted(formula.symbols)]
    return np.array([formula.evaluate({s: row[i] for s, i in columns}) for row in given.rows.tolist()])


def value_differs(raw: Formula, other: Formula, given: ComparedCases, tolerance: float = EXACT) -> str:
    """Return where the values differ by more than `tolerance`, relative to the larger one or to 1; "" if nowhere."""
    a, b = scores(raw, given), scores(other, given)
    wrong = np.flatnonzero(np.abs(a - b) > tolerance * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b))))
    if not len(wrong):
        return ""
    i = int(wrong[0])
    return f"the values differ in {len(wrong)} of {len(a)} cases, as at {_where(raw, given, i)}: {a[i]:g}, not {b[i]:g}"


def choice_differs(raw: Formula, other: Formula, given: ComparedCases) -> str:
    """Return where the two would pick different children, except equally good ones; "" if nowhere."""
    a, b = scores(raw, given), scores(other, given)
    families = given.families()
    wrong = [rows for rows in families if not _same_choice(a[rows], b[rows])]
    if not wrong:
        return ""
    first = wrong[0]
    best, other_best = first[np.argmax(a[first])], first[np.argmax(b[first])]
    return (
        f"another child is chosen in {len(wrong)} of {counted(len(families), 'node')}, "
        f"as {_where(raw, given, int(other_best))} instead of {_where(raw, given, int(best))}"
    )


def _same_choice(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether the best children of each are (up to TIE) also the best of the other."""
    top_a, top_b = a >= a.max() - TIE * np.abs(a).max(), b >= b.max() - TIE * np.abs(b).max()
    return bool(top_a[np.argmax(b)] and top_b[np.argmax(a)]) and bool((top_a == top_b).all())


def _where(raw: Formula, given: ComparedCases, i: int) -> str:
    row = dict(zip(given.order, given.rows[i].tolist(), strict=True))
    return ", ".join(f"{s} = {row[s]:g}" for s in sorted(raw.symbols)) or "any state"
