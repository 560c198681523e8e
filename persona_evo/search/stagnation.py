"""Proves that a search with `terminal` "revisit" cannot change any more.

If finished nodes may be selected again, a search can go on among them forever. The proof is a set of nodes. It holds
the root and, for each of its unfinished nodes, every child that may be selected from there in the rest of the search.
If all nodes of the set are fully expanded or finished, nothing is ever added to the tree: a finished node's utility is
backed up without a rollout, and ties among the set's nodes lead nowhere else.

Intervals decide which children may be selected. In j more iterations, a node outside the set gets no result, a node
inside gets up to j, and a node on every iteration's path gets exactly j. Each result is the utility of a finished node
of the set. The search's variables therefore lie within bounds, and so does the policy's formula: its operations are
applied to the ends of intervals with the formula's own rounding, which is monotonic. A child may be selected unless
some other child is certain to score higher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling.arrays import IntRow
from persona_evo.formula.intervals import ROUNDING, spans
from persona_evo.games.core import WON
from persona_evo.search.layout import NODES, SLOTS, SearchSpace
from persona_evo.search.scoring import Scoring
from persona_evo.search.tree import DEPTH, DONE, FIRST, KIDS, LEFT, NODE, OVER, ROOT, STATUS, TOTAL, VISITS
from persona_evo.search.tree_policy import EVERY_TIME, STATIC
from persona_evo.search.variables import mix

if TYPE_CHECKING:
    from persona_evo.formula.interval_rules import Spans

LOOK = 500
"""The number of iterations between two checks, and the lowest number left that makes a proof worthwhile."""

_ROUNDS = 3
"""How often the set is enlarged at most."""

_MOST = 4_000
"""The highest number of children of the set's nodes."""

_PARTS = 7
"""The number of spans into which the rest of the search is divided if the formula reads N or P. Each span is as long as
all spans before it together.
"""

_LARGE = 1e140
"""The size of sums from which nothing is proven."""


class StuckWatch:
    """Detects that a search can no longer change.

    Args:
        scoring: the search's tree policy.
    """

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self._nodes = self._idle = 0
        self._wait = 1

    def sees_end(self, work: SearchSpace, left: int) -> bool:
        """Return whether nothing can be added to the tree in `left` more iterations. Call it every LOOK iterations.

        A proof is attempted if nothing was added since the last check. After each failed attempt, the waiting time
        doubles.
        """
        nodes = int(work.buffers.counts[NODES])
        self._idle = self._idle + 1 if nodes == self._nodes else 0
        self._nodes = nodes
        if self._idle < self._wait or left < LOOK:
            return False
        self._wait *= 2
        if self._scoring.holds == STATIC:
            return _is_finished(work)
        with np.errstate(all="ignore"):
            return _Proof(work, self._scoring, left).holds()


def _is_finished(work: SearchSpace) -> bool:
    """Return whether a static policy can select only finished nodes: follow the best children from the root down."""
    tree, waiting, steps = work.tree, [ROOT], 0
    while waiting:
        slot = waiting.pop()
        first, kids, left, status = tree.links[slot, FIRST:NODE].tolist()
        steps += kids
        if status & DONE and not (work.options.first_win and status & OVER == WON):
            continue
        if status & DONE or left or not kids or steps > _MOST:
            return False
        scores = tree.values[first : first + kids, tree.columns.score].tolist()
        top = max(scores)
        waiting += [first + k for k, score in enumerate(scores) if score == top]
    return True


class _Proof:
    """An attempt to prove that a search stays within a set of nodes for `left` more iterations."""

    def __init__(self, work: SearchSpace, scoring: Scoring, left: int) -> None:
        self._work, self._scoring, self._tree = work, scoring, work.tree
        self._links, self._values = work.tree.links, work.tree.values
        parts = _PARTS if scoring.formula and scoring.formula.symbols & {"N", "P"} else 1
        until = np.floor(left * 2.0 ** np.arange(1 - parts, 1))
        self._ahead = np.stack((np.concatenate(([0.0], until[:-1])), until))[:, :, None]
        self._inside = np.zeros(int(work.buffers.counts[SLOTS]), dtype=bool)
        self._ends = np.array([np.inf, -np.inf])

    def holds(self) -> bool:
        """Return whether the proof succeeds."""
        inner = self._path()
        first = len(inner)
        for _ in range(_ROUNDS):
            kids = self._links[inner, KIDS].astype(np.int64)
            if not first or kids.sum() > _MOST:
                return False
            found = self._selectable(inner, kids, first)
            if found is None:
                return False
            found = found[~self._inside[found]]
            if not len(found):
                return True
            added = self._take_in(found)
            if added is None:
                return False
            inner = np.concatenate((inner, added))
        return False

    def _take_in(self, slots: IntRow) -> IntRow | None:
        """Add nodes to the set. Return the unfinished ones, or None if a node can still be added below one of them."""
        status = self._links[slots, STATUS]
        ends: IntRow = slots[status & DONE != 0]
        inner: IntRow = slots[status & DONE == 0]
        won = self._work.options.first_win and (status & OVER == WON).any()
        if won or (self._links[inner, LEFT] != 0).any() or (self._links[inner, KIDS] == 0).any():
            return None
        self._inside[slots] = True
        if len(ends):
            best, visits = self._tree.columns.best, self._links[ends, VISITS]
            worth = self._values[ends, TOTAL] / visits if best < 0 else self._values[ends, best]
            slack = abs(worth) * visits * (ROUNDING if best < 0 else 0.0)
            self._ends[0] = min(self._ends[0], (worth - slack).min())
            self._ends[1] = max(self._ends[1], (worth + slack).max())
        return inner

    def _path(self) -> IntRow:
        """Add the last iteration's path to the set. Return it without its end, or empty if that end is not finished."""
        path, links = self._work.buffers.path, self._links
        none = path[:0]
        strange = path >= len(self._inside)  # what longer paths of other searches left
        last = int(np.argmax(strange | (links[np.where(strange, ROOT, path), STATUS] & DONE != 0)))
        if strange[last]:
            return none
        path = path[: last + 1]
        first = links[path[:-1], FIRST]
        if path[0] != ROOT or (path[1:] < first).any() or (path[1:] >= first + links[path[:-1], KIDS]).any():
            return none
        return path[:-1] if last and self._take_in(path) is not None else none

    def _selectable(self, inner: IntRow, kids: IntRow, first: int) -> IntRow | None:
        """Return the children of the set's nodes that may be selected, or None if the numbers are too large to tell.

        Args:
            inner: the unfinished nodes; the first ones form a path from the root.
            kids: their numbers of children.
            first: the number of nodes on that path.
        """
        begin = np.cumsum(kids) - kids
        parent = np.repeat(np.arange(len(inner)), kids)
        slots = np.arange(len(parent)) + (self._links[inner, FIRST] - begin)[parent]
        read = [TOTAL, *(c for c in (self._tree.columns.best, self._tree.columns.squares) if c >= 0)]
        if (self._links[slots, VISITS] < 1).any() or not (abs(self._values[slots][:, read]) < _LARGE).all():
            return None
        inside = self._inside[slots]
        single = np.add.reduceat(inside.astype(np.int64), begin) == 1
        sure = np.zeros(len(inner) + 1, dtype=bool)
        sure[0] = True
        sure[1 : first + 1] = np.logical_and.accumulate(single[:first])
        certain = (sure[:-1] & single)[parent] & inside
        low, high = self._scores(slots, inner[parent], inside, certain, sure[:-1][parent])
        least = np.maximum.reduceat(low, begin, axis=1)
        found: IntRow = slots[(high >= least[:, parent]).any(axis=0)]
        return found

    def _scores(
        self,
        slots: IntRow,
        parents: IntRow,
        inside: NDArray[np.bool_],
        certain: NDArray[np.bool_],
        parent_certain: NDArray[np.bool_],
    ) -> Spans:
        """Return the scores of nodes in each span. `certain` marks the nodes that every iteration passes through."""
        if self._scoring.holds == EVERY_TIME:
            return self._evaluated(slots, parents, inside, certain, parent_certain)
        scores = np.empty((2, self._ahead.shape[1], len(slots)))
        scores[:] = known = self._values[slots, self._tree.columns.score]
        asked = np.flatnonzero(inside)
        scores[:, :, asked] = self._evaluated(
            slots[asked], parents[asked], inside[asked], certain[asked], parent_certain[asked]
        )
        scores[0, 0], scores[1, 0] = np.minimum(scores[0, 0], known), np.maximum(scores[1, 0], known)
        return scores

    def _evaluated(
        self,
        slots: IntRow,
        parents: IntRow,
        inside: NDArray[np.bool_],
        certain: NDArray[np.bool_],
        parent_certain: NDArray[np.bool_],
    ) -> Spans:
        """Return the scores of nodes in each span, computed by the formula."""
        rest, columns = self._scoring.rest, self._tree.columns
        assert rest is not None
        names: dict[str, Spans] = {}
        for i, name in enumerate(self._scoring.kept):
            names[name] = self._values[slots, columns.kept + i][None, None]
        if "P" in rest.symbols:
            names["P"] = self._links[parents, VISITS] + self._ahead * _both(parent_certain, True)
        if "D" in rest.symbols:
            names["D"] = self._tree.nodes[self._links[slots, NODE], DEPTH].astype(np.float64)[None, None]
        if rest.symbols & {"R", "N", "RMAX", "RSD"}:
            names |= self._statistics(slots, inside, self._ahead * _both(certain, inside))
        return np.broadcast_to(spans(rest, names), (2, self._ahead.shape[1], len(slots)))

    def _statistics(self, slots: IntRow, inside: NDArray[np.bool_], more: Spans) -> dict[str, Spans]:
        """Return R, N, RMAX and RSD of nodes that get `more` results."""
        columns, ends = self._tree.columns, self._ends[:, None, None]
        n = self._links[slots, VISITS].astype(np.float64)
        mean = self._values[slots, TOTAL] / n
        old = n / (n + more)  # the share of what was backed up before
        size = np.maximum(abs(mean), abs(self._ends).max())
        slack = (more[1] + 32.0 * inside) * ROUNDING
        mixed = mean * old[:, None] + ends * (1.0 - old)[:, None]
        middle = np.stack((mixed[:, 0].min(axis=0) - slack * size, mixed[:, 1].max(axis=0) + slack * size))
        found = {"N": n + more, "R": middle}
        if columns.best >= 0:
            best = self._values[slots, columns.best]
            found["RMAX"] = np.where(more > 0.0, np.maximum(best, ends), best)
            if not self._scoring.mean:
                found["R"] = mix(middle, found["RMAX"])
        if columns.squares >= 0:
            square = self._values[slots, columns.squares] / n
            before = old * (square - mean * mean)
            near = np.maximum(0.0, np.maximum(self._ends[0] - mean, mean - self._ends[1]))
            far = abs(mean - ends).max(axis=0)
            both = old * (1.0 - old)
            most = np.where((old[1] <= 0.5) & (old[0] >= 0.5), 0.25, both.max(axis=0))
            slack = slack * np.maximum(square, size * size)
            between = inside * ((self._ends[1] - self._ends[0]) ** 2 / 4.0)
            low = before.min(axis=0) + both.min(axis=0) * near * near - slack
            high = before.max(axis=0) + most * far * far + between + slack
            found["RSD"] = np.sqrt(np.maximum(np.stack((low, high)), 0.0))
        return found


def _both(low: NDArray[np.bool_], high: NDArray[np.bool_] | bool) -> NDArray[np.bool_]:
    """Stack what holds of the low and of the high ends, with an axis for spans."""
    return np.stack((low, np.broadcast_to(high, low.shape)))[:, None]
