"""The rules of a game that is a Python class: every method is asked, and its answer checked.

A state is a row of two objects: an instance of the class, and the number of moves made. A step copies the instance,
changes the copy and puts it in the row, so states are never shared between the nodes of a search. Whatever a method
raises, and whatever it returns that is no valid answer, becomes a GameError with the class's file and line.
"""

from __future__ import annotations

import copy
import inspect
import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import with_names
from persona_evo.errors import GameError, PersonaEvoError, SettingsError, raised, unknown
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Level, Rules
from persona_evo.games.python_game.contents import number_of
from persona_evo.games.python_game.declaration import Declaration
from persona_evo.games.rollouts import play_out
from persona_evo.seeds import below, draw
from persona_evo.words import counted

OUTCOMES: Mapping[str | None, int] = {None: RUNNING, "": RUNNING, "won": WON, "lost": LOST, "ended": ENDED}
"""What `over` may return; the numbers in `persona_evo.games.core` are accepted, too."""

LARGEST = 1e100
"""Largest absolute value of a metric, so that sums and squares of metrics remain finite."""

MANY_ACTIONS = 100
"""Legal actions of a state from which on they are kept, so that an equal list need not be checked again."""

SHOWN = 200
"""Characters of a wrong answer that a message quotes."""

ClassState: TypeAlias = Any
"""A row or a tuple of an instance of the class and the number of moves made."""
ClassTables: TypeAlias = NDArray[np.object_] | None
"""The level's `MoveGraph`, where the class has `ways`; None where ways are not asked for."""


class Dice:
    """Chance, as `apply` sees it: every number comes from the seeded stream of the search or the game."""

    def __init__(self, rng: NDArray[np.int64]) -> None:
        self._rng = rng

    def below(self, n: int) -> int:
        """Return a whole number in [0, n); all are equally likely."""
        return int(below(self._rng, n))

    def random(self) -> float:
        """Return a number in [0, 1)."""
        return int(draw(self._rng)) / 2**32


class ClassRules:
    """The rules of a game that is a Python class, with the signatures of `persona_evo.games.core`.

    Args:
        declared: what the class says about the game.
        near: whether the metrics that are ways are computed; they are 0 otherwise.

    Attributes:
        rules: the methods below as `Rules`.
        names: the actions' names; empty where actions are whole numbers.
        number: the number of each named action.
    """

    def __init__(self, declared: Declaration, *, near: bool = False) -> None:
        self.cls, self.names, self.players = declared.cls, declared.actions, declared.players
        self.chance, self.max_actions = not declared.deterministic, declared.max_actions
        self.symbols = tuple(m.symbol for m in declared.metrics)
        own = len(declared.metrics) - len(declared.ways)
        self.own, self.ways = self.symbols[:own], self.symbols[own:]
        self.near, self._none = near, (0.0,) * len(self.ways)
        self.values_of = self._values_of()
        self.ranges = tuple((m.low, m.high) for m in declared.metrics)
        self.number: Mapping[Any, int] = {action: i for i, action in enumerate(self.names)}
        self.copy: Callable[[Any], Any] = getattr(self.cls, "copy", None) or copy.deepcopy
        self.has_key = callable(getattr(self.cls, "key", None))
        self.file = declared.module[1]
        self._checked: tuple[Sequence[Any], NDArray[np.int64]] = ([], np.zeros(0, dtype=np.int64))
        parts = {"_legal": self.legal, "_step": self.step, "_over": self.over, "_measure": self.measure}
        rollout = with_names(play_out, **parts)
        methods: tuple[Any, ...] = (self.legal, self.step, self.over, self.mover, self.measure, self.key, rollout)
        self.rules = Rules(*methods)

    def _values_of(self) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
        """Return a function that takes the values of the metrics out of a dictionary."""
        if len(self.own) > 1:
            return operator.itemgetter(*self.own)
        (symbol,) = self.own
        return lambda found: (found[symbol],)

    def ask(self, method: str, state: ClassState, *args: object, read: Callable[[Any], Any] | None = None) -> Any:
        """Return what a method of the class answers.

        Args:
            method: its name.
            state: the state whose instance is asked.
            args: what the method is given.
            read: converts the answer; what this raises is the method's fault, too.

        Raises:
            GameError: the method raised something.
        """
        try:
            found = getattr(state[0], method)(*args)
            return found if read is None else read(found)
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised(method, e, state)) from e

    def raised(self, method: str, error: BaseException, state: ClassState = None) -> str:
        """Return what a method raised, with the line of the class's file that raised it."""
        where = raised(error, self.file)
        text = f"{type(error).__name__}: {str(error)[:500]}"
        return f"{where}: {self.cls.__name__}.{method} raises {text}{_when(state)}"

    def refuse(self, method: str, found: object, expected: str, state: ClassState = None) -> NoReturn:
        """Refuse what a method returned.

        Raises:
            GameError: always.
        """
        try:
            shown = repr(found)
        except (Exception, SystemExit):
            shown = f"a {type(found).__name__}"
        shown = shown if len(shown) <= SHOWN else shown[:SHOWN] + "..."
        raise self.error(method, f"gives {shown}{_when(state)}, expected {expected}")

    def error(self, method: str, what: str) -> GameError:
        """Return an error about a method, with the place of its definition."""
        code = getattr(inspect.unwrap(getattr(self.cls, method, self.cls)), "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else self.file or self.cls.__module__
        return GameError(f"{place}: {self.cls.__name__}.{method} {what}")

    def legal(self, tables: ClassTables, state: ClassState, actions: NDArray[np.int64]) -> int:
        """Write the numbers of the legal actions, and return how many there are."""
        found = self.ask("legal", state)
        if not isinstance(found, (list, tuple)):
            if not isinstance(found, (Sequence, np.ndarray)) or isinstance(found, (str, bytes)):
                self.refuse("legal", found, "a list of actions in a fixed order", state)
            found = list(found)
        if self.is_checked(found) and len(found) <= len(actions):
            actions[: len(found)] = self._checked[1]
            return len(found)
        if len(found) > len(actions):
            raise self.error("legal", f"gives {len(found)} actions, max_actions is {len(actions)}{_when(state)}")
        for k, action in enumerate(found):
            actions[k] = self._number(action, state)
        if len(set(actions[: len(found)].tolist())) != len(found):
            self.refuse("legal", found, "each action once", state)
        self.keep_checked(found, actions)
        return len(found)

    def is_checked(self, actions: Sequence[Any]) -> bool:
        """Return whether a long list of legal actions equals the last one that was checked."""
        try:
            return len(actions) >= MANY_ACTIONS and bool(actions == self._checked[0])
        except Exception:  # an element that cannot be compared is no action, which `legal` reports
            return False

    def keep_checked(self, actions: Sequence[Any], numbers: Sequence[int] | NDArray[np.int64]) -> None:
        """Keep a long list of legal actions that was checked, with its numbers: most states have the same one."""
        if len(actions) >= MANY_ACTIONS:
            self._checked = actions[:], np.array(numbers[: len(actions)], dtype=np.int64)

    def _number(self, action: Any, state: ClassState) -> int:
        """Return the number of an action that `legal` gave."""
        if not self.names:
            if not isinstance(action, (int, np.integer)) or not -(2**63) <= action < 2**63:
                self.refuse("legal", action, "whole numbers of 64 bits, or the class's `actions`", state)
            return int(action)
        if not isinstance(action, str) or action not in self.number:
            known = ", ".join(self.names)
            raise self.error("legal", f"gives {str(action)[:SHOWN]!r}, its `actions` are {known}{_when(state)}")
        return self.number[action]

    def step(self, tables: ClassTables, state: NDArray[np.object_], action: int, rng: NDArray[np.int64] | None) -> int:
        """Make a move in place."""
        before, method = state[0], "copy"
        try:
            after = self.copy(before)
            if after is before or not isinstance(after, self.cls):
                what = "the state itself" if after is before else repr(type(after).__name__)
                raise self.error("copy", f"gives {what}, expected an independent {self.cls.__name__}")
            method = "apply"
            move = self.names[action] if self.names else int(action)
            if self.chance and rng is not None:
                after.apply(move, Dice(rng))
            else:
                after.apply(move)
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised(method, e, state)) from e
        state[0] = after
        state[1] += 1
        return 0

    def over(self, tables: ClassTables, state: ClassState) -> int:
        """Return RUNNING, WON, LOST or ENDED."""
        said = self.ask("over", state)
        status = None
        if said is None or isinstance(said, str):
            status = OUTCOMES.get(said)
        elif isinstance(said, (int, np.integer)) and not isinstance(said, bool) and RUNNING <= said <= ENDED:
            status = int(said)
        if status is None:
            self.refuse("over", said, 'None, "won", "lost" or "ended"', state)
        return status

    def mover(self, tables: ClassTables, state: ClassState) -> int:
        """Return the player to move."""
        if self.players == 1:
            return 0
        who = self.ask("mover", state)
        if not isinstance(who, (int, np.integer)) or not 0 <= who < self.players:
            self.refuse("mover", who, f"a player, 0 to {self.players - 1}", state)
        return int(who)

    def measure(self, tables: ClassTables, state: ClassState, player: int, out: NDArray[np.float64]) -> int:
        """Write every metric as a player sees it."""
        found = self.ask("measure", state, *((player,) if self.players > 1 else ()))
        if not isinstance(found, Mapping):
            self.refuse("measure", found, "a number for each metric: {" + ", ".join(self.own) + "}", state)
        for i, symbol in enumerate(self.own):
            if symbol not in found:
                expected, hint = unknown(symbol, map(str, found))
                raise self.error("measure", f"lacks {symbol!r} (it has {expected[7:]}; {hint})")
            value = found[symbol]
            if type(value) is not float and type(value) is not int and not isinstance(value, (numbers.Real, np.bool_)):
                self.refuse("measure", value, f"a number as {symbol}", state)
            try:
                number = float(value)
            except (OverflowError, ValueError):
                number = math.inf
            if not -LARGEST <= number <= LARGEST:
                shown = value if math.isnan(number) or isinstance(value, float) else math.inf
                self.refuse("measure", shown, f"a number within +-{LARGEST:g} as {symbol}", state)
            out[i] = number
        for i, way in enumerate(self.ways_to(tables, state), len(self.own)):
            out[i] = way
        return 0

    def ways_to(self, tables: ClassTables, state: ClassState) -> Sequence[float]:
        """Return the metrics that are ways; zeros where they are not computed."""
        if not self.near or tables is None:
            return self._none

        def read(targets: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, list[tuple[int, int]]], set[str]]:
            places = {symbol: [(int(x), int(y)) for x, y in targets.get(symbol, ())] for symbol in self.ways}
            return targets, places, set(targets) - set(self.ways)

        targets, places, strange = self.ask("targets", state, read=read)
        if strange:
            self.refuse("targets", targets, "places, (x, y), of " + ", ".join(self.ways), state)
        return [tables[0].nearest(state, places[symbol]) for symbol in self.ways]

    def key(self, tables: ClassTables, state: ClassState) -> int:
        """Return a number that is the same for states with the same key."""
        try:
            return number_of(state[0].key() if self.has_key else state[0])
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("key", e, state)) from e

    def reach(self, tables: ClassTables, state: ClassState, moves: int, out: NDArray[np.float64]) -> int:
        """Write the lowest value that each metric can still have, then the highest of each."""
        found = self.ask("reach", state, int(moves))
        if not isinstance(found, Mapping):
            self.refuse("reach", found, "(lowest, highest) of metrics: {" + ", ".join(self.symbols) + "}", state)
        for symbol in found:
            if symbol not in self.symbols:
                expected, hint = unknown(str(symbol), self.symbols)
                named = f"names {str(symbol)[:SHOWN]!r}{_when(state)}"
                raise self.error("reach", f"{named}, expected {expected} ({hint})")
        for i, symbol in enumerate(self.symbols):
            limits = self._limits(symbol, found[symbol], state) if symbol in found else self.ranges[i]
            out[i], out[len(self.symbols) + i] = limits
        return 0

    def _limits(self, symbol: str, found: object, state: ClassState) -> tuple[float, float]:
        """Return the lowest and highest value that `reach` gave for a metric."""
        pair = found if isinstance(found, (list, tuple)) and len(found) == 2 else ()
        if not pair or not all(isinstance(v, (numbers.Real, np.bool_)) for v in pair):
            self.refuse("reach", found, f"two numbers, (lowest, highest), for {symbol}", state)
        try:
            low, high = (float(v) for v in pair)
        except (OverflowError, ValueError):
            self.refuse("reach", found, f"numbers that fit a float for {symbol}", state)
        if not low <= high:
            self.refuse("reach", found, f"the lowest first and then the highest for {symbol}", state)
        return low, high

    def locate(self, level: Level, state: ClassState) -> tuple[int, int] | None:
        """Return the avatar's place in a state of a level."""
        return self.place_of(state)

    def place_of(self, state: ClassState) -> tuple[int, int] | None:
        """Return the avatar's place, by the class's `position`."""
        found = self.ask("position", state)
        if found is None:
            return None
        try:
            x, y = found
            return int(x), int(y)
        except (Exception, SystemExit):
            self.refuse("position", found, "(x, y) or None", state)

    def action_name(self, level: Level, state: ClassState, action: int) -> str:
        """Return what people call an action."""
        return self.names[action] if self.names else str(action)

    def parse_action(self, level: Level, state: ClassState, text: str) -> int:
        """Return the number of the action that a text names.

        Raises:
            SettingsError: there is no such action.
        """
        if self.names and text in self.number:
            return self.number[text]
        if not self.names and text.lstrip("-").isdigit():
            return int(text)
        raise SettingsError(
            "no such action", found=text, expected=", ".join(self.names) or "a whole number", hint="see the game"
        )


def _when(state: ClassState) -> str:
    """Return when something happened in a game, for messages; "" where that is not known."""
    if state is None:
        return ""
    return f" after {counted(state[1], 'move')}" if state[1] else " at the start"
