"""Computes the successors of states of a level, with one call of compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Callback, Handle, entry
from persona_evo.compiling.arrays import IntRow, WordRow, WordTable
from persona_evo.games.core import Game, Level, Rules, State
from persona_evo.seeds import stream

ROWS = 512
"""States that are kept of one call, if a single state does not have more successors."""


class _Front(NamedTuple):
    """Holds what the compiled code works on.

    Attributes:
        rules, tables: the game and the level.
        states: [states, words], those to look at.
        counts: how many successors each has.
        rows: [successors, words], the successors, those of the first state first.
        moves, keys, ends: for each successor, the action that leads to it, its key and its outcome.
        actions: scratch.
        rng: the stream of the rules' random numbers.
    """

    rules: Rules
    tables: WordRow
    states: WordTable
    counts: IntRow
    rows: WordTable
    moves: IntRow
    keys: IntRow
    ends: IntRow
    actions: IntRow
    rng: IntRow


@entry
def _follow(front: _Front, count: int) -> int:
    """Write down the successors of the first `count` states; how many there are."""
    made = 0
    for i in range(count):
        state = front.states[i]
        legal = front.rules.legal(front.tables, state, front.actions)
        for k in range(legal):
            row = front.rows[made]
            for word in range(len(row)):
                row[word] = state[word]
            front.rules.step(front.tables, row, front.actions[k], front.rng)
            front.moves[made] = front.actions[k]
            front.keys[made] = front.rules.key(front.tables, row)
            front.ends[made] = front.rules.over(front.tables, row)
            made += 1
        front.counts[i] = legal
    return made


class Successors(NamedTuple):
    """All successors of some states, those of the first state first; valid until the next call.

    Attributes:
        counts: how many each of the states has.
        moves, keys, ends: for each successor, the action that leads to it, its key and its outcome.
        rows: [successors, words], the successors; not to be kept.
    """

    counts: list[int]
    moves: NDArray[np.int64]
    keys: list[int]
    ends: list[int]
    rows: State


class Following:
    """The successors of states of a level.

    Args:
        game: without chance, played in this program.

    Attributes:
        most: the largest number of states to ask about at once; 1 for rules in Python, where more gain nothing.
    """

    def __init__(self, game: Game, level: Level) -> None:
        rules = game.rules()
        width = max(1, level.max_actions)
        self.most = max(1, ROWS // width) if isinstance(rules.step, Callback) else 1
        size, kind, rows = len(level.start), level.start.dtype, self.most * width
        counts, moves, keys, ends, actions = (np.zeros(n, np.int64) for n in (self.most, rows, rows, rows, width))
        self._front = _Front(
            rules,
            level.tables,
            np.zeros((self.most, size), kind),
            counts,
            np.zeros((rows, size), kind),
            moves,
            keys,
            ends,
            actions,
            stream(1),
        )
        self._handle = Handle(self._front)

    def of(self, states: Sequence[State]) -> Successors:
        """Return all successors of up to `most` states in which the game goes on."""
        front, count = self._front, len(states)
        for i, state in enumerate(states):
            front.states[i] = state
        made = _follow(self._handle, count)
        return Successors(
            front.counts[:count].tolist(),
            front.moves[:made],
            front.keys[:made].tolist(),
            front.ends[:made].tolist(),
            front.rows[:made],
        )
