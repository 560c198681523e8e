"""Keeps all-moves-as-first statistics: how well a move does at any turn of an iteration.

Rapid action value estimation (RAVE) needs them; see Gelly and Silver, "Monte-Carlo tree search and rapid action value
estimation in computer Go", Artificial Intelligence 175 (2011), section 4. For a child, AN counts the iterations through
its parent in which the player to move at the parent made the child's move, at that turn or at any later one, in the
tree or in the random moves after it. AR is the mean utility of these iterations for that player. A move that is made
several times counts once per iteration; a move of the other player does not count. Moves are equal if their action
numbers are. Nothing is counted before the child exists, because policies are not evaluated before all moves of a node
have been tried once.

Variants of the rules that play random games as a whole (`Game.whole_games`) do not support these statistics, and a
formula that reads them is refused: asking for single moves would start such a game again at each move, and would
attribute moves to the wrong player.

The statistics are kept only if a formula reads them (`Options.amaf`), as a count and a total in two more columns of a
slot (`Columns.moves`). Random moves are then requested one by one, so that the player of each move is known.

`marks` int64[2, 2**k + 1] is the set of moves made in an iteration: marks[0, 0] is the iteration's stamp; of the other
columns, those whose row 0 has this stamp hold a move in row 1.
"""

from __future__ import annotations

import numpy as np

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import IntTable
from persona_evo.games.core import RUNNING
from persona_evo.search.layout import SearchSpace
from persona_evo.search.tree import ACTION, FIRST, KIDS, NODE, Tree


def marks_for(moves: int) -> IntTable:
    """Return an empty set with room for this number of moves per iteration."""
    size = 2
    while size < 2 * moves:
        size *= 2
    return np.zeros((2, size + 1), dtype=np.int64)


@compiled
def place_of(marks: IntTable, move: int) -> int:
    """Return the column that holds a move, encoded as (action << 8) | player, or the free column where it belongs."""
    size = marks.shape[1] - 1
    at = ((np.int64(move) * 0x9E3779B1) >> 7) & (size - 1)
    while marks[0, at + 1] == marks[0, 0] and marks[1, at + 1] != move:
        at = (at + 1) & (size - 1)
    return at + 1


@compiled
def mark(marks: IntTable, action: int, player: int) -> None:
    """Record that a player made a move in this iteration."""
    move = (action << 8) | player
    at = place_of(marks, move)
    marks[0, at] = marks[0, 0]
    marks[1, at] = move


@compiled
def credit(tree: Tree, marks: IntTable, slot: int, player: int, utility: float) -> None:
    """Add a result to those children of a slot whose moves the slot's player made there or later."""
    at, first = tree.columns.moves, tree.links[slot, FIRST]
    for child in range(first, first + tree.links[slot, KIDS]):
        place = place_of(marks, (tree.nodes[tree.links[child, NODE], ACTION] << 8) | player)
        if marks[0, place] == marks[0, 0]:
            tree.values[child, at] += 1.0
            tree.values[child, at + 1] += utility


@compiled
def roll(work: SearchSpace, length: int) -> None:
    """Make up to `length` random moves one by one and record them. The states passed cannot end a plan."""
    rules, tables, buffers = work.rules, work.tables, work.buffers
    state, played, marks = buffers.scratch, buffers.played, buffers.marks
    marks[0, 0] += 1
    for _ in range(length):
        if rules.over(tables, state) != RUNNING:
            return
        player = rules.mover(tables, state) if work.options.players > 1 else 0
        if rules.rollout(tables, state, buffers.actions, played, 1, buffers.rng, buffers.seen, 0) == 0:
            return
        mark(marks, played[0], player)
