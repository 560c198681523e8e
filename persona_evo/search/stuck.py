"""A proof that a search under `terminal` "revisit" cannot change any more.

Where finished nodes may be selected again, a search can go on for ever among them. The proof is a set of nodes that
holds the root, and with each node of it that is not finished every child that may be selected from there in what is
left of the search. If all its nodes are fully expanded or finished, nothing will ever be added to the tree: a finished
node's utility is backed up without a rollout, and ties among the set's nodes lead nowhere else.

Which children may be selected follows from intervals. In j more iterations a node outside the set gets no result, a
node inside up to j, and one that every iteration goes through exactly j; each result is the utility of a finished node
of the set. So the search's variables lie within bounds, and the policy's formula does: its operations are done on the
ends of intervals as the formula itself does them, whose rounding is monotonic. A child may be selected unless some
other child is certain to score higher.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula.primitives import EXPONENT_LIMIT, LIMIT, PRIMITIVES
from persona_evo.games.core import WON
from persona_evo.search.layout import NODES, SLOTS, Search
from persona_evo.search.scoring import Scoring
from persona_evo.search.tree import (
    DEPTH,
    DONE,
    FIRST,
    KIDS,
    LEFT,
    NODE,
    OVER,
    ROOT,
    STATUS,
    TOTAL,
    VISITS,
)  # fmt: skip
from persona_evo.search.tree_policy import EVERY_TIME, STATIC
from persona_evo.search.variables import mix

LOOK = 250
"""Iterations before the first look, and between two looks."""

_ROUNDS = 12
"""How often the set is made larger at most."""

_MOST = 4_000
"""Children of the set's nodes at most."""

_PARTS = 7
"""Into how many spans what is left is divided, each as long as all before it, where the formula reads N or P."""

_ROUNDING = 2.0**-51
"""Twice the relative error of an operation, and more."""

_LARGE = 1e140
"""Where sums are as large as this, nothing is proven."""

Numbers = NDArray[np.float64]


class Box(NamedTuple):
    """Values between low and high: numbers, or float64[spans, nodes] and what broadcasts to it."""

    low: Numbers
    high: Numbers


class Watch:
    """Looks now and then whether a search can still change.

    Args:
        scoring: its tree policy.
    """

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self._nodes = self._idle = 0
        self._wait = 1

    def sees_end(self, work: Search, left: int) -> bool:
        """Whether nothing can be added to the tree in so many more iterations, asked after every LOOK iterations."""
        nodes = int(work.buffers.counts[NODES])
        if nodes != self._nodes:
            self._nodes, self._idle, self._wait = nodes, 0, 1
            return False
        self._idle += 1
        if self._idle < self._wait:
            return False
        self._idle, self._wait = 0, 2 * self._wait
        with np.errstate(all="ignore"):
            return _Proof(work, self._scoring, left).holds()


class _Proof:
    """The attempt to prove that a search stays within a set of nodes for so many more iterations."""

    def __init__(self, work: Search, scoring: Scoring, left: int) -> None:
        self._work, self._scoring, self._tree = work, scoring, work.tree
        self._links, self._values = work.tree.links, work.tree.values
        parts = _PARTS if scoring.formula and scoring.formula.symbols & {"N", "P"} else 1
        self._until = (left * 2.0 ** np.arange(1 - parts, 1))[:, None]
        self._since = np.concatenate((np.zeros((1, 1)), np.floor(self._until[:-1])))
        self._inside = np.zeros(int(work.buffers.counts[SLOTS]), dtype=bool)
        self._ends = Box(np.float64(np.inf), np.float64(-np.inf))

    def holds(self) -> bool:
        """Whether it succeeds."""
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

    def _take_in(self, slots: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Add nodes to the set; those that are not finished, None if something can be added there."""
        status = self._links[slots, STATUS]
        ends, inner = slots[status & DONE != 0], slots[status & DONE == 0]
        won = self._work.options.first_win and (status & OVER == WON).any()
        if won or (self._links[inner, LEFT] != 0).any() or (self._links[inner, KIDS] == 0).any():
            return None
        self._inside[slots] = True
        if len(ends):
            best, visits = self._tree.columns.best, self._links[ends, VISITS]
            worth = self._values[ends, TOTAL] / visits if best < 0 else self._values[ends, best]
            slack = abs(worth) * visits * (_ROUNDING if best < 0 else 0.0)
            self._ends = Box(min(self._ends.low, (worth - slack).min()), max(self._ends.high, (worth + slack).max()))
        return inner

    def _path(self) -> NDArray[np.int64]:
        """Take in the nodes that the last iteration went through; those but its end, none if it is not finished."""
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

    def _selectable(
        self, inner: NDArray[np.int64], kids: NDArray[np.int64], first: int
    ) -> NDArray[np.int64] | None:
        """The children of the set's nodes that may be selected; None where numbers are too large to tell.

        Args:
            inner: the nodes that are not finished, of which the first few are a path from the root.
            kids: their numbers of children.
            first: how many these few are.
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
        return slots[(high >= least[:, parent]).any(axis=0)]

    def _scores(
        self, slots: NDArray[np.int64], parents: NDArray[np.int64], inside: NDArray[np.bool_],
        certain: NDArray[np.bool_], parent_certain: NDArray[np.bool_],
    ) -> Box:  # fmt: skip
        """The scores of nodes in each span; certain: whether every iteration goes through a node."""
        holds, score = self._scoring.holds, self._tree.columns.score
        if holds == EVERY_TIME:
            return self._evaluated(slots, parents, inside, certain, parent_certain)
        known = np.repeat(self._values[slots, score][None], len(self._until), axis=0)
        if holds == STATIC:
            return Box(known, known)
        asked = np.flatnonzero(inside)
        box = self._evaluated(slots[asked], parents[asked], inside[asked], certain[asked], parent_certain[asked])
        low, high = known.copy(), known.copy()
        low[:, asked], high[:, asked] = box.low, box.high
        low[0], high[0] = np.minimum(low[0], known[0]), np.maximum(high[0], known[0])
        return Box(low, high)

    def _evaluated(
        self, slots: NDArray[np.int64], parents: NDArray[np.int64], inside: NDArray[np.bool_],
        certain: NDArray[np.bool_], parent_certain: NDArray[np.bool_],
    ) -> Box:  # fmt: skip
        """The same by the formula."""
        rest, columns = self._scoring.rest, self._tree.columns
        assert rest is not None
        more = Box(np.where(certain, self._since, 0.0), np.where(inside, self._until, 0.0))
        names: dict[str, Box] = {}
        for i, name in enumerate(self._scoring.kept):
            names[name] = _exactly(self._values[slots, columns.kept + i])
        if "P" in rest.symbols:
            visits = self._links[parents, VISITS].astype(np.float64)
            names["P"] = Box(visits + np.where(parent_certain, self._since, 0.0), visits + self._until)
        if "D" in rest.symbols:
            names["D"] = _exactly(self._tree.nodes[self._links[slots, NODE], DEPTH].astype(np.float64))
        if rest.symbols & {"R", "N", "RMAX", "RSD"}:
            names |= self._statistics(slots, inside, more)
        stack: list[Box] = []
        for token in rest.tokens:
            if isinstance(token, float):
                stack.append(_exactly(np.float64(token)))
            elif token in PRIMITIVES:
                arity = PRIMITIVES[token].arity
                stack[-arity:] = [_apply(token, *stack[-arity:])]
            else:
                stack.append(_limited(*names[token]))
        shape = more.low.shape
        return Box(np.broadcast_to(stack[0].low, shape), np.broadcast_to(stack[0].high, shape))

    def _statistics(self, slots: NDArray[np.int64], inside: NDArray[np.bool_], more: Box) -> dict[str, Box]:
        """R, N, RMAX and RSD of nodes that get so many more results."""
        columns, ends = self._tree.columns, self._ends
        n = self._links[slots, VISITS].astype(np.float64)
        mean = self._values[slots, TOTAL] / n
        old = Box(n / (n + more.high), n / (n + more.low))  # the share of what was backed up before
        size = np.maximum(abs(mean), max(abs(ends.low), abs(ends.high)))
        slack = np.where(inside, (more.high + 32.0) * _ROUNDING, 0.0)
        low = np.minimum(*(mean * share + ends.low * (1.0 - share) for share in old)) - slack * size
        high = np.maximum(*(mean * share + ends.high * (1.0 - share) for share in old)) + slack * size
        found = {"N": Box(n + more.low, n + more.high), "R": Box(low, high)}
        if columns.best >= 0:
            best = self._values[slots, columns.best]
            top = Box(
                np.where(more.low > 0.0, np.maximum(best, ends.low), best),
                np.where(inside, np.maximum(best, ends.high), best),
            )
            found["RMAX"] = top
            if not self._scoring.mean:
                found["R"] = Box(mix(low, top.low), mix(high, top.high))
        if columns.squares >= 0:
            square = self._values[slots, columns.squares] / n
            before = square - mean * mean
            apart = Box(
                np.maximum(0.0, np.maximum(ends.low - mean, mean - ends.high)),
                np.maximum(abs(mean - ends.low), abs(mean - ends.high)),
            )
            mixed = [share * (1.0 - share) for share in old]
            most = np.where((old.low <= 0.5) & (old.high >= 0.5), 0.25, np.maximum(*mixed))
            slack = slack * np.maximum(square, size * size)
            between = np.where(inside, (ends.high - ends.low) ** 2 / 4.0, 0.0)
            low = np.minimum(old.low * before, old.high * before) + np.minimum(*mixed) * apart.low**2 - slack
            high = np.maximum(old.low * before, old.high * before) + most * apart.high**2 + between + slack
            found["RSD"] = Box(np.sqrt(np.maximum(low, 0.0)), np.sqrt(np.maximum(high, 0.0)))
        return found


def _exactly(x: Numbers) -> Box:
    return Box(x, x)


def _limited(low: Numbers, high: Numbers) -> Box:
    return Box(np.clip(low, -LIMIT, LIMIT), np.clip(high, -LIMIT, LIMIT))


def _hull(*ends: Numbers) -> Box:
    low = high = ends[0]
    for end in ends[1:]:
        low, high = np.minimum(low, end), np.maximum(high, end)
    return Box(low, high)


def _apply(name: str, *operands: Box) -> Box:
    """The interval of an operation's values."""
    a, b = operands[0], operands[-1]
    match name:
        case "+":
            return _limited(a.low + b.low, a.high + b.high)
        case "-":
            return _limited(a.low - b.high, a.high - b.low)
        case "*":
            return _limited(*_hull(*(x * y for x in a for y in b)))
        case "/":
            return _quotient(a, b)
        case "min":
            return Box(np.minimum(a.low, b.low), np.minimum(a.high, b.high))
        case "max":
            return Box(np.maximum(a.low, b.low), np.maximum(a.high, b.high))
        case ">" | "<=":
            larger = Box(a.low > b.high, a.high > b.low)
            return Box(*(x * 1.0 for x in larger)) if name == ">" else Box(1.0 - larger.high, 1.0 - larger.low)
        case ">=" | "<":
            larger = Box(a.low >= b.high, a.high >= b.low)
            return Box(*(x * 1.0 for x in larger)) if name == ">=" else Box(1.0 - larger.high, 1.0 - larger.low)
        case "if":
            a = operands[1]
            either = _hull(*a, *b)
            yes, no = operands[0].low > 0.0, operands[0].high <= 0.0
            return Box(*(np.where(yes, x, np.where(no, y, z)) for x, y, z in zip(a, b, either, strict=True)))
        case "neg":
            return Box(-a.high, -a.low)
    return _unary(name, a)


def _unary(name: str, a: Box) -> Box:
    """The same of a function of one number; those of the machine's library may differ in the last digits."""
    if name == "exp":
        low, high = (np.exp(np.clip(x, -EXPONENT_LIMIT, EXPONENT_LIMIT)) for x in a)
        return _limited(low * (1.0 - 8 * _ROUNDING), high * (1.0 + 8 * _ROUNDING))
    ends = _hull(abs(a.low), abs(a.high))
    size = Box(np.where((a.low < 0.0) & (a.high > 0.0), 0.0, ends.low), ends.high)
    if name == "abs":
        return size
    if name == "sqrt":
        return Box(np.sqrt(size.low), np.sqrt(size.high))
    assert name == "log"
    logs = [np.log(x) for x in size]
    low, high = logs[0] - 8 * _ROUNDING * abs(logs[0]), logs[1] + 8 * _ROUNDING * abs(logs[1])
    none = size.high == 0.0
    low = np.where(none, 0.0, np.where(size.low > 0.0, low, -746.0))
    return Box(low, np.where(none, 0.0, np.where(size.low > 0.0, high, np.maximum(high, 0.0))))


def _quotient(a: Box, b: Box) -> Box:
    zero = (b.low <= 0.0) & (b.high >= 0.0)
    ends = _limited(*_hull(*(x / np.where(zero, 1.0, y) for x in a for y in b)))
    none = (b.low == 0.0) & (b.high == 0.0)
    positive = (b.low == 0.0) & (a.low >= 0.0)
    low = np.where(positive, np.minimum(1.0, a.low / b.high), -LIMIT)
    high = np.where(positive & (a.high <= 0.0), 1.0, LIMIT)
    low, high = np.where(none, 1.0, low), np.where(none, 1.0, high)
    return Box(np.where(zero, low, ends.low), np.where(zero, high, ends.high))
