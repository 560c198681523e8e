"""Defines the data of a search for compiled code: one `SearchSpace`, which is passed to every step of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, IntTable, Pointed, ShortRow, WordRow
from persona_evo.formula.assembly import LANES
from persona_evo.games.core import Game, Level, Rules
from persona_evo.search.tree import Tree

IS_UCB1 = 3
"""The value of `Options.holds` for UCB1; the other values are STATIC, ALONG_PATH and EVERY_TIME (see `tree_policy`)."""
PRUNE, MERGE = 1, 2
WATCH_ALL = 2

NO_MARKS: IntTable = np.zeros((2, 1), dtype=np.int64)
"""The marks of searches without statistics of `amaf`."""

(
    NODES,
    SLOTS,
    ITERATIONS,
    BEST_NODE,
    BEST_LENGTH,
    BEST_WON,
    BEST_STEPS,
    WINNER,
    FULL,
    WIDEST,
    HEAPED,
    OPENED,
    FACTS,
    TURN,
) = range(14)
COUNTS = 14
"""Indices into `Buffers.counts`: the nodes and slots in use; the iterations made; the best plan (its last node, the
number of moves after that node, whether it wins, the number of all its moves); the node that ended the search, -1 if
there is none; whether there was no room for a node; the largest number of children (`open_loop`). With open leaves: the
number of open leaves and the node being expanded. With open lists: the number of entries in the table of facts seen,
and the list whose leaf is being expanded."""

GOING_ON, WIN, EXHAUSTED, STUCK, NO_ROOM = range(5)
"""Why a search returned: the iterations are used up; a selected node wins; nothing new is left; no node that can be
expanded will ever be selected again (see `stagnation`); there are too few slots for another iteration."""


NO_RULES = Rules(*[None] * len(Rules._fields))  # type: ignore[arg-type]
"""The rules of searches whose states are kept outside the tree."""


class Options(NamedTuple):
    """The settings of a search as numbers.

    Attributes:
        horizon: the largest number of moves from the root.
        length: the largest number of moves of a rollout.
        room: the largest number of slots that an iteration takes.
        holds: how long the tree policy's scores hold; IS_UCB1 for UCB1.
        c: UCB1's constant.
        inside: whether the constant stands inside the root.
        cut_off: the bits of STATUS with which nodes are skipped: DONE, or 0.
        first_win: whether the first selected node that wins ends the search.
        shuffle: whether untried actions are taken in an order that is shuffled by node and salt.
        salt: a number derived from the seed.
        hashed: PRUNE, MERGE, or 0 if equal states are not detected.
        used: bit mask of the metrics that distinguish states in addition to their key.
        watch: 0 if only nodes of the tree can end a plan, 1 if ends of rollouts can, too, WATCH_ALL if all states can.
        players: the number of players.
        amaf: whether nodes keep statistics of moves (see `amaf`).
        early: whether ties are broken by one draw for each further best child, instead of one draw for all of them.
    """

    horizon: int
    length: int
    room: int
    holds: int
    c: float = 0.0
    inside: int = 0
    cut_off: int = 0
    first_win: int = 0
    shuffle: int = 0
    salt: int = 0
    hashed: int = 0
    used: int = 0
    watch: int = 0
    players: int = 1
    amaf: int = 0
    early: int = 0


class Codes(NamedTuple):
    """Holds formulas as functions (see `scoring`); None if there is nothing to do.

    Attributes:
        utility: returns the utility of a row of metrics.
        keep: writes to a slot's row what the tree policy keeps of a row of metrics.
        score: writes the scores of children to a row; takes their values, their number, their parent's visits, and
            their depth.
        rescore: writes scores to the slots of a path; takes the tree's values, the path, its length, and the depth of
            its first slot.
    """

    utility: Annotated[Callable[[FloatRow], float], Pointed()]
    keep: Annotated[Callable[[FloatRow, FloatRow], None], Pointed()]
    score: Annotated[Callable[[FloatTable, int, int, int, FloatRow], None], Pointed()]
    rescore: Annotated[Callable[[FloatTable, IntRow, int, int], None], Pointed()]


class Buffers(NamedTuple):
    """Holds all arrays that change during a search, except the tree.

    Attributes:
        counts: int64[COUNTS], the counters.
        best: float64[1], the best utility seen.
        best_moves: int64[rollout + 1], the moves from the best node to the best state.
        rng: int64[2], the search's random stream.
        path: int64[depths], the slots of the descent, from the root.
        scores: float64[actions + LANES], the scores of the children to select from, with room for vector writes.
        scratch: a state.
        actions: int64[actions], the legal actions.
        order: int64[actions], the shuffled numbers of actions.
        played: int64[rollout + 1], the moves of a rollout.
        seen: float64[rollout + 1, metrics], the metrics after each of them.
        metrics: float64[metrics], the metrics of a state.
        utils: float64[players], the utility of an iteration for each player.
        marks: int64[2, 2**k + 1], the moves of an iteration (see `amaf`).
    """

    counts: IntRow
    best: FloatRow
    best_moves: IntRow
    rng: IntRow
    path: IntRow
    scores: FloatRow
    scratch: WordRow
    actions: IntRow
    order: IntRow
    played: IntRow
    seen: FloatTable
    metrics: FloatRow
    utils: FloatRow
    marks: IntTable


class SearchSpace(NamedTuple):
    """Holds everything that a search works on.

    Attributes:
        tables: the level.
        heap: int32[capacity], the open leaves (`best_first`).
    """

    rules: Rules
    tables: WordRow
    tree: Tree
    options: Options
    codes: Codes
    buffers: Buffers
    heap: ShortRow


def buffers_for(game: Game, level: Level, rollout: int, depths: int, marks: IntTable = NO_MARKS) -> Buffers:
    """Return buffers for searches on a level.

    Args:
        game, level: the game and the level.
        rollout: the largest number of moves of a rollout.
        depths: the largest number of moves from the root.
        marks: see `Buffers`.
    """
    actions, length, metrics = max(1, level.max_actions), rollout + 1, len(game.metrics)

    def whole(n: int) -> IntRow:
        return np.zeros(n, dtype=np.int64)

    return Buffers(
        counts=whole(COUNTS),
        best=np.zeros(1),
        best_moves=whole(length),
        rng=whole(2),
        path=whole(depths + 2),
        scores=np.zeros(actions + LANES),
        scratch=level.start.copy(),
        actions=whole(actions),
        order=whole(actions),
        played=whole(length),
        seen=np.zeros((length, metrics)),
        metrics=np.zeros(metrics),
        utils=np.zeros(game.players),
        marks=marks,
    )
