"""All moves as first: how a move fares at whatever turn of an iteration it is made.

What rapid action value estimation (RAVE) needs, after Gelly and Silver, "Monte-Carlo tree search and rapid action value
estimation in computer Go", Artificial Intelligence 175 (2011), section 4. Of a child, AN counts the iterations through
its parent in which whoever moves at the parent made the child's move, there or at any later turn of his, in the tree or
in the random moves after it; AR is the mean of what these iterations were worth to him. A move made several times
counts once an iteration, and that of the other player not at all. Equal action numbers are equal moves. There are no
counts from before the child was made: policies are not asked before all moves of a node have been tried once.

Variants of rules whose random games are one piece (`Game.whole_games`) have none of this, and a formula that reads it
is refused with them: each move asked for by itself would begin such a game anew, and be put down to the wrong player.

Kept only where a formula reads them (opts[AMAF]), as a count and a total in two more columns of a node's row, behind
the parts that nodes keep. Then random moves are asked for one by one, so as to know whose each of them is.

`marks` int64[2, 2**k + 1] is the set of moves made in an iteration: marks[0, 0] is the iteration's stamp; of the other
columns, those whose row 0 has this stamp hold a move in row 1. Names of the other arguments as in `layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.core import RUNNING
from persona_evo.search.layout import KEPT, PLAYERS
from persona_evo.search.tree import ACTION, FIRST, KEPT_PART, NEXT, NOBODY

NO_MARKS = np.zeros((2, 1), dtype=np.int64)
"""For searches that keep nothing of this."""


def marks_for(moves: int) -> NDArray[np.int64]:
    """An empty set for so many moves an iteration at most."""
    size = 2
    while size < 2 * moves:
        size *= 2
    return np.zeros((2, size + 1), dtype=np.int64)


@compiled
def place_of(marks: Any, move: int) -> int:
    """The column that holds a move, (action << 8) | player, or the free one where it belongs."""
    size = marks.shape[1] - 1
    at = ((move * 0x9E3779B1) >> 7) & (size - 1)
    while marks[0, at + 1] == marks[0, 0] and marks[1, at + 1] != move:
        at = (at + 1) & (size - 1)
    return at + 1  # type: ignore[no-any-return]


@compiled
def mark(marks: Any, action: int, player: int) -> None:
    """Note that a player made a move in this iteration."""
    move = (action << 8) | player
    at = place_of(marks, move)
    marks[0, at] = marks[0, 0]
    marks[1, at] = move


@compiled
def credit(links: Any, values: Any, opts: Any, marks: Any, node: int, player: int, utility: float) -> None:
    """Add a result to those children of a node whose moves its player made there or later."""
    at = KEPT_PART + opts[KEPT]
    child = links[node, FIRST]
    while child != NOBODY:
        place = place_of(marks, (links[child, ACTION] << 8) | player)
        if marks[0, place] == marks[0, 0]:
            values[child, at] += 1.0
            values[child, at + 1] += utility
        child = links[child, NEXT]


@compiled
def roll(over: Any, mover: Any, rollout: Any, tables: Any, opts: Any, scratch: Any, actions: Any, played: Any,
         seen: Any, marks: Any, rng: Any, length: int) -> int:
    """So many random moves, one by one, noted down; how many were made. States passed are not watched."""
    marks[0, 0] += 1
    made = 0
    first = 0
    while made < length and over(tables, scratch) == RUNNING:
        player = 0
        if opts[PLAYERS] > 1:
            player = mover(tables, scratch)
        if rollout(tables, scratch, actions, played, 1, rng, seen, 0) == 0:
            break
        mark(marks, played[0], player)
        if made == 0:
            first = played[0]
        played[made] = played[0]
        made += 1
    played[0] = first
    return made
