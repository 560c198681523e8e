"""What is new in a state of a game written as a Python class: its variables and their values (see `python_game`).

A variable is what has one place in each state: an attribute, an element of a list, a member of a set that is there or
not. The state before the first move says which there are, so that a variable keeps its number when a set shrinks.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from persona_evo.errors import GameError

MOST = 4096
"""Variables of a state at most; what is beyond is left out."""
ROOM = 64
"""Variables beyond twice those of the start for which there is room."""
DEEPEST = 50
"""Containers in each other at most; what is deeper is left out."""
GONE = -1
"""Value of what was there at the start under some key and is no more."""


def room(facts: int) -> int:
    """How many variables to reserve where the start has so many."""
    return min(MOST, 2 * facts + ROOM)


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object by name, those in slots too."""
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
    return dict(sorted({**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}.items()))


def counts_of_moves(lines: Iterable[list[Mapping[Any, Any]]]) -> set[Any]:
    """The names of values that count moves, up or down: one more, or one less, after each move of every line.

    Args:
        lines: states by name of their values, each line from the start on.
    """
    steps = [(before, after) for line in lines for before, after in itertools.pairwise(line)]
    if len(steps) < 2:
        return set()
    return {name for name in steps[0][0] if any(all(_grows(b, a, name, by) for b, a in steps) for by in (1, -1))}


def _grows(before: Mapping[Any, Any], after: Mapping[Any, Any], name: Any, by: int) -> bool:
    if name not in before or name not in after:
        return False
    values = before[name], after[name]
    return all(isinstance(v, (int, np.integer)) for v in values) and bool(values[1] - values[0] == by)


class Novelty:
    """The variables of the states of a level, as a search asks for them: `novelty(tables, state, out)`.

    What counts moves is left out; what is one value comes first, since lists may grow.

    Args:
        named: the values of a state by name.
        lines: some games from the start on, each a list of such values.
        number_of: makes a number of any plain value.
    """

    def __init__(
        self,
        named: Callable[[Any], Mapping[Any, Any]],
        lines: list[list[Mapping[Any, Any]]],
        number_of: Callable[[Any], int],
    ) -> None:
        self.named, self.number_of, self.start = named, number_of, lines[0][0]
        self.left_out = counts_of_moves(lines)
        self.count = room(len(self._facts(self.start)))

    def __call__(self, tables: Any, state: Any, out: Any) -> int:
        return write(self._facts(self.named(state)), out, self.count)

    def _facts(self, values: Mapping[Any, Any]) -> list[int]:
        facts = NumberFacts(self.number_of)
        single = [name for name, value in self.start.items() if not _is_container(value)]
        for name in (*single, *(name for name in values if name not in single)):
            if name not in self.left_out and name in values:
                facts.add(values[name], self.start.get(name))
        return facts.found


def write(facts: list[int], out: Any, count: int) -> int:
    """Write the first facts to a row, `count` at most; how many that are."""
    written = min(len(facts), count)
    out[:written] = facts[:written]
    return written


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset, Mapping, np.ndarray)) or _is_object(value)


class NumberFacts:
    """Values one after the other, as whole numbers of 64 bits. number_of: makes a number of any plain value.

    What has no contents to compare is one value that is always the same; what holds itself is followed once.
    """

    def __init__(self, number_of: Callable[[Any], int]) -> None:
        self.number_of = number_of
        self.found: list[int] = []
        self._inside: list[int] = []

    def add(self, value: Any, start: Any) -> None:
        """The variables of a value. start: the same value before the first move, None where there was none."""
        if len(self.found) >= MOST or len(self._inside) > DEEPEST or id(value) in self._inside:
            return
        self._inside.append(id(value))
        if isinstance(value, np.ndarray):
            self._items(value.ravel().tolist(), ())
        elif isinstance(value, (list, tuple)):
            self._items(value, start if isinstance(start, (list, tuple)) else ())
        elif isinstance(value, (set, frozenset)):
            self._members(value, start if isinstance(start, (set, frozenset)) else frozenset())
        elif isinstance(value, Mapping):
            self._entries(value, start if isinstance(start, Mapping) else {})
        elif _is_object(value):
            self._entries(attributes(value), attributes(start))
        else:
            self.found.append(self._whole(value))
        self._inside.pop()

    def _whole(self, value: Any) -> int:
        """Anything as a whole number of 64 bits, by its contents."""
        if isinstance(value, (int, np.integer)) and -(2**63) <= value < 2**63:
            return int(value)
        try:
            return self.number_of((type(value).__name__, value.name) if isinstance(value, enum.Enum) else value)
        except (GameError, RecursionError, ValueError):
            return 0

    def _place(self, value: Any) -> str:
        """What orders members and keys the same way in every process."""
        return repr(value) if _is_plain(value) else str(self._whole(value))

    def _items(self, value: Sequence[Any], start: Sequence[Any]) -> None:
        """The elements one by one."""
        for k, item in enumerate(value):
            self.add(item, start[k] if k < len(start) else None)

    def _members(self, value: Any, start: Any) -> None:
        """For each member at the start whether it is there, then the others."""
        self.found += [int(item in value) for item in sorted(start, key=self._place)]
        self.found += [self._whole(item) for item in sorted(value - start, key=self._place)]

    def _entries(self, value: Mapping[Any, Any], start: Mapping[Any, Any]) -> None:
        """The value of each key at the start, then the others with their keys."""
        for key in sorted(start, key=self._place):
            if key in value:
                self.add(value[key], start[key])
            else:
                self.found.append(GONE)
        new = sorted(value.keys() - start.keys(), key=self._place)
        self.found += [self._whole((key, value[key])) for key in new]


def _is_plain(value: Any) -> bool:
    """Whether the text of a value hangs on nothing but its contents."""
    if isinstance(value, tuple):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, (str, bytes, int, float))


def _is_object(value: Any) -> bool:
    """Whether a value is an object whose attributes say what it is."""
    return (
        not isinstance(value, (type, enum.Enum))
        and not callable(value)
        and (hasattr(value, "__dict__") or bool(getattr(type(value), "__slots__", ())))
    )
