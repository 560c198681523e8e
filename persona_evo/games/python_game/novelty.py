"""The variables of a state of a game that is a Python class, by which a search recognises what is new.

A variable is what has one place in each state: an attribute, an element of a list, or whether a member of a set is
there. The state before the first move says which there are, so that a variable keeps its number when a set shrinks.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import GameError
from persona_evo.games.core import RUNNING, Level
from persona_evo.games.python_game.contents import number_of
from persona_evo.games.python_game.rules import ClassRules, ClassState, ClassTables
from persona_evo.seeds import stream

MOST = 4096
"""Most variables of a state; further ones are left out."""
ROOM = 64
"""Room for variables beyond twice those of the start."""
DEEPEST = 50
"""Most containers inside each other; deeper ones are left out."""
GONE = -1
"""Value of an entry that was there at the start and is there no more."""
FIRST_MOVES = 4
"""Moves of a game in which an attribute shows that it counts them."""

NoveltyRule = Callable[[ClassTables, ClassState, NDArray[np.int64]], int]
"""Writes the values of a state's variables to a row, and returns how many it wrote."""


def novelty_of(rules: ClassRules, level: Level) -> tuple[NoveltyRule, int]:
    """Return the rule `novelty` of a level (see `persona_evo.games.core.Game`), and the most variables of a state."""
    if not callable(getattr(rules.cls, "novelty", None)):
        found = Novelty(lambda state: _named(rules, state), _first_moves(rules, level))
        return found, found.count
    count = room(len(_own_novelty(rules, level.start)))

    def own(tables: ClassTables, state: ClassState, out: NDArray[np.int64]) -> int:
        return write(_own_novelty(rules, state), out, count)

    return own, count


def _own_novelty(rules: ClassRules, state: ClassState) -> list[int]:
    """Return what the class's method `novelty` says."""
    found = rules.ask("novelty", state)
    if not isinstance(found, (list, tuple)) or not all(isinstance(v, (int, np.integer, np.bool_)) for v in found):
        rules.refuse("novelty", found, "a tuple of whole numbers", state)
    return [int(v) if -(2**63) <= v < 2**63 else number_of(v) for v in found]


def _named(rules: ClassRules, state: ClassState) -> Mapping[Any, Any]:
    """Return the elements of a tuple `key()` by place, else the attributes by name."""
    key = rules.ask("key", state) if rules.has_key else None
    return dict(enumerate(key)) if isinstance(key, tuple) else attributes(state[0])


def _first_moves(rules: ClassRules, level: Level) -> list[list[Mapping[Any, Any]]]:
    """Return the values of the states of some first moves: always the first action, always the last, and in turn."""
    lines, actions = [], np.zeros(level.max_actions, dtype=np.int64)
    for picks in ((0,), (-1,), (0, -1)):
        state, rng = level.start.copy(), stream(1)
        line = [_named(rules, state)]
        for made in range(FIRST_MOVES):
            count = rules.legal(level.tables, state, actions) if rules.over(level.tables, state) == RUNNING else 0
            if count <= 0:
                break
            rules.step(level.tables, state, int(actions[:count][picks[made % len(picks)]]), rng)
            line.append(_named(rules, state))
        lines.append(line)
    return lines


def room(facts: int) -> int:
    """Return how many variables to reserve if the start has so many."""
    return min(MOST, 2 * facts + ROOM)


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name, those in slots, too."""
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
    return dict(sorted({**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}.items()))


def counts_of_moves(lines: Iterable[list[Mapping[Any, Any]]]) -> set[Any]:
    """Return the names of values that count moves: they go up by one, or down by one, with each move of every line.

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

    Counts of moves are left out; single values come first, since lists may grow.

    Args:
        named: the values of a state by name.
        lines: some games from the start on, each a list of such values.
    """

    def __init__(self, named: Callable[[ClassState], Mapping[Any, Any]], lines: list[list[Mapping[Any, Any]]]) -> None:
        self.named, self.start = named, lines[0][0]
        self.left_out = counts_of_moves(lines)
        self.count = room(len(self._facts(self.start)))

    def __call__(self, tables: ClassTables, state: ClassState, out: NDArray[np.int64]) -> int:
        return write(self._facts(self.named(state)), out, self.count)

    def _facts(self, values: Mapping[Any, Any]) -> list[int]:
        facts = NumberFacts()
        single = [name for name, value in self.start.items() if not _is_container(value)]
        for name in (*single, *(name for name in values if name not in single)):
            if name not in self.left_out and name in values:
                facts.add(values[name], self.start.get(name))
        return facts.found


def write(facts: list[int], out: NDArray[np.int64], count: int) -> int:
    """Write at most the first `count` facts to a row, and return how many were written."""
    written = min(len(facts), count)
    out[:written] = facts[:written]
    return written


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset, Mapping, np.ndarray)) or _is_object(value)


class NumberFacts:
    """Values one after the other, as whole numbers of 64 bits.

    What has no contents to compare is one value that is always the same; what holds itself is followed once.
    """

    def __init__(self) -> None:
        self.found: list[int] = []
        self._inside: list[int] = []

    def add(self, value: Any, start: Any) -> None:
        """Add the variables of a value.

        Args:
            value: an attribute, or an element of one.
            start: the same value before the first move; None if there was none.
        """
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
        """Return a whole number of 64 bits for the contents of any value."""
        if isinstance(value, (int, np.integer)) and -(2**63) <= value < 2**63:
            return int(value)
        try:
            return number_of((type(value).__name__, value.name) if isinstance(value, enum.Enum) else value)
        except (GameError, RecursionError, ValueError):
            return 0

    def _place(self, value: Any) -> str:
        """Return a text that orders members and keys in the same way in every process."""
        return repr(value) if _is_plain(value) else str(self._whole(value))

    def _items(self, value: Sequence[Any], start: Sequence[Any]) -> None:
        """Add the elements one by one."""
        for k, item in enumerate(value):
            self.add(item, start[k] if k < len(start) else None)

    def _members(self, value: Any, start: Any) -> None:
        """Add whether each member of the start is there, then the other members."""
        self.found += [int(item in value) for item in sorted(start, key=self._place)]
        self.found += [self._whole(item) for item in sorted(value - start, key=self._place)]

    def _entries(self, value: Mapping[Any, Any], start: Mapping[Any, Any]) -> None:
        """Add the value of each key of the start, then the other values with their keys."""
        for key in sorted(start, key=self._place):
            if key in value:
                self.add(value[key], start[key])
            else:
                self.found.append(GONE)
        new = sorted(value.keys() - start.keys(), key=self._place)
        self.found += [self._whole((key, value[key])) for key in new]


def _is_plain(value: Any) -> bool:
    """Return whether the text of a value depends on nothing but its contents."""
    if isinstance(value, tuple):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, (str, bytes, int, float))


def _is_object(value: Any) -> bool:
    """Return whether a value is an object whose attributes say what it is."""
    return (
        not isinstance(value, (type, enum.Enum))
        and not callable(value)
        and (hasattr(value, "__dict__") or bool(getattr(type(value), "__slots__", ())))
    )
