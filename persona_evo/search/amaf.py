"""All moves as first: how a move fares at whatever turn of an iteration it is made.

What rapid action value estimation (RAVE) needs, after Gelly and Silver, "Monte-Carlo tree search and rapid action value
estimation in computer Go", Artificial Intelligence 175 (2011), section 4. Of a child, AN counts the iterations through
its parent in which whoever moves at the parent made the child's move, there or at any later turn of his, in the tree or
in the random moves after it; AR is the mean of what these iterations were worth to him. A move made several times
counts once an iteration, and that of the other player not at all. Equal action numbers are equal moves. There are no
counts from before the child was made: policies are not asked before all moves of a node have been tried once.

Variants of rules whose random games are one piece (`Game.whole_games`) have none of this, and a formula that reads it
is refused with them: each move asked for by itself would begin such a game anew, and be put down to the wrong player.

Kept only where a formula reads them (`Options.amaf`), as a count and a total in two more columns of a slot
(`Columns.moves`). Then random moves are asked for one by one, so as to know whose each of them is.

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
    """An empty set for so many moves an iteration at most."""
    size = 2
    while size < 2 * moves:
        size *= 2
    return np.zeros((2, size + 1), dtype=np.int64)


@compiled
def place_of(marks: IntTable, move: int) -> int:
    """The column that holds a move, (action << 8) | player, or the free one where it belongs."""
    size = marks.shape[1] - 1
    at = ((np.int64(move) * 0x9E3779B1) >> 7) & (size - 1)
    while marks[0, at + 1] == marks[0, 0] and marks[1, at + 1] != move:
        at = (at + 1) & (size - 1)
    return at + 1


@compiled
def mark(marks: IntTable, action: int, player: int) -> None:
    """Note that a player made a move in this iteration."""
    move = (action << 8) | player
    at = place_of(marks, move)
    marks[0, at] = marks[0, 0]
    marks[1, at] = move


@compiled
def credit(tree: Tree, marks: IntTable, slot: int, player: int, utility: float) -> None:
    """Add a result to those children of a slot whose moves its player made there or later."""
    at, first = tree.columns.moves, tree.links[slot, FIRST]
    for child in range(first, first + tree.links[slot, KIDS]):
        place = place_of(marks, (tree.nodes[tree.links[child, NODE], ACTION] << 8) | player)
        if marks[0, place] == marks[0, 0]:
            tree.values[child, at] += 1.0
            tree.values[child, at + 1] += utility


@compiled
def roll(work: SearchSpace, length: int) -> None:
    """So many random moves, one by one, noted down. States passed are not watched."""
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
