"""Answers the calls of a search to a Python class with few checks: wrong answers are examined when they show."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import GameError, PersonaEvoError
from persona_evo.games.core import RUNNING
from persona_evo.games.python_game.rules import LARGEST, ClassRules, ClassState, ClassTables


class ClassPlayer(ClassRules):
    """The rules of a class, and what a fast search asks of them: `persona_evo.search.object_engine.ObjectSearcher`."""

    def tell(self, tables: ClassTables, state: ClassState, player: int, out: ctypes.Array[Any]) -> None:
        """Write the metrics to a row of ctypes, as `measure` does to an array."""
        try:
            own = state[0]
            found = own.measure(player) if self.players > 1 else own.measure()
            values = self.values_of(found)
            out[:] = (*values, *self.ways_to(tables, state)) if self.ways else values  # type: ignore[call-overload]
            if min(values) >= -LARGEST and max(values) <= LARGEST:
                return
        except (Exception, SystemExit):  # `measure` below says what is wrong, or converts another kind of number
            pass
        row = np.zeros(len(self.symbols))
        self.measure(tables, state, player, row)
        out[:] = row.tolist()

    def choices(self, state: ClassState) -> list[Any]:
        """Return the legal actions of a state as the class gives them, checked."""
        try:
            found = state[0].legal()
            if type(found) is list and len(found) <= self.max_actions:
                if self.names and self.is_checked(found):
                    return found
                numbers = [self.number[a] for a in found]
                if len(set(numbers)) == len(found):
                    self.keep_checked(found, numbers)
                    return found
        except (Exception, SystemExit):  # `legal` below says what is wrong, or reads actions without names
            pass
        actions = np.zeros(self.max_actions, dtype=np.int64)
        numbers = actions[: self.legal(None, state, actions)].tolist()
        return [self.names[k] for k in numbers] if self.names else numbers

    def after(self, state: ClassState, move: Any) -> Any:
        """Return the instance after a legal move of a game without chance; the state stays as it is."""
        own = state[0]
        try:
            after = self.copy(own)
            if type(after) is self.cls and after is not own:
                after.apply(move)
                return after
        except (Exception, SystemExit):  # `step` below says what is wrong
            pass
        row = np.empty(2, dtype=object)
        row[0], row[1] = state
        self.step(None, row, self.number[move] if self.names else move, None)
        return row[0]

    def wander(
        self,
        tables: ClassTables,
        state: ClassState,
        choices: Sequence[Any],
        draws: Sequence[int],
        seen: NDArray[np.float64] | None,
    ) -> tuple[Any, list[Any], int]:
        """Make random moves in a game without chance, as the rule `rollout` does, in one copy of the state.

        Args:
            state: an instance of the class and the number of moves made; it stays as it is.
            choices: its legal actions.
            draws: a random number of 32 bits for each move.
            seen: where the metrics after each move are written; None if nobody asks.

        Returns:
            The instance after the moves, the moves, and how the game stands there.
        """
        made: list[Any] = []
        outcome, known, number = RUNNING, bool(self.names), self.number
        try:
            end, before = self.copy(state[0]), state[1]
            apply, legal, over = end.apply, end.legal, end.over
            found: Sequence[Any] | None = choices
            for drawn in draws:
                if found is None:
                    found = legal()
                count = len(found)
                if count == 0:
                    break
                move = found[(drawn * count) >> 32]
                if known and move not in number:
                    raise self.error("legal", f"gives {move!r}")
                apply(move)
                made.append(move)
                if seen is not None:
                    self.measure(tables, (end, before + len(made)), 0, seen[len(made) - 1])
                if over() is not None:
                    outcome = self.over(None, (end, before + len(made)))
                    if outcome != RUNNING:
                        break
                found = None
        except (Exception, SystemExit) as e:
            self._check_walk(state, draws)
            if isinstance(e, PersonaEvoError):
                raise
            raise GameError(self.raised("apply", e)) from e
        return end, made, outcome

    def _check_walk(self, before: ClassState, draws: Sequence[int]) -> None:
        """Make the same random moves with all checks, so that the error names the first wrong answer."""
        state, actions = np.empty(2, dtype=object), np.zeros(self.max_actions, dtype=np.int64)
        state[:] = before[0], before[1]
        for drawn in draws:
            count = self.legal(None, state, actions) if self.over(None, state) == RUNNING else 0
            if count == 0:
                return
            self.step(None, state, int(actions[(drawn * count) >> 32]), None)
            self.measure(None, state, 0, np.zeros(len(self.symbols)))
