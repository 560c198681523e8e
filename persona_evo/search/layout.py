"""What a search works on, as compiled code sees it: one `SearchSpace`, which every step of the engine is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, IntTable, Pointed, ShortRow, WordRow
from persona_evo.formula.assembly import LANES
from persona_evo.games.core import Game, Level, Rules
from persona_evo.search.tree import Tree

IS_UCB1 = 3
"""`Options.holds` is STATIC, ALONG_PATH or EVERY_TIME (see `tree_policy`), or IS_UCB1."""
PRUNE, MERGE = 1, 2
WATCH_ALL = 2

NO_MARKS: IntTable = np.zeros((2, 1), dtype=np.int64)
"""For searches that keep nothing of `amaf`."""

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
"""`Buffers.counts`: nodes and slots taken; iterations made; the best plan (its last node, the moves after that, whether
it wins, all its moves); the node that ended the search, -1 without one; whether there was no room for a node; the
largest number of children (`open_loop`). With open leaves: how many wait, and which node is being expanded. With open
lists: entries in the table of what was seen, and the list whose leaf is being expanded."""

GOING_ON, WIN, EXHAUSTED, STUCK, NO_ROOM = range(5)
"""Why a search returned: the iterations are used up; a selected node wins; nothing new is left; no node that can be
expanded will be selected any more (see `stuck`); there are too few slots for another iteration."""


NO_RULES = Rules(*[None] * len(Rules._fields))  # type: ignore[arg-type]
"""For trees whose states are somewhere else."""


class Options(NamedTuple):
    """The settings of a search as numbers.

    Attributes:
        horizon: moves from the root at most.
        length: moves of a rollout at most.
        room: slots that an iteration takes at most.
        holds: how long the tree policy's scores hold; IS_UCB1 for UCB1.
        c: UCB1's constant.
        inside: whether it stands under the root.
        cut_off: bits of STATUS with which nodes are passed over: DONE, or 0.
        first_win: whether the first selected node that wins ends the search.
        shuffle: whether untried actions are taken in an order shuffled by node and salt.
        salt: a number of the seed.
        hashed: PRUNE, MERGE, or 0 where equal states are not looked for.
        used: bit mask of the metrics that tell states apart beside their key.
        watch: 0 where the nodes of the tree can end a plan, 1 for ends of rollouts too, WATCH_ALL for all states seen.
        players: of the game.
        amaf: whether nodes count moves (see `amaf`).
        early: whether a lot is drawn for each child that is as good as the best before it, not one for all of them.
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
    """Formulas as functions (see `scoring`); None where there is nothing to do.

    Attributes:
        utility: the utility of a row of metrics.
        keep: writes to a slot's row what the tree policy keeps of a row of metrics.
        score: writes to a row the scores of children side by side; it takes their values, how many there are, the
            visits of their parent, and their depth.
        rescore: writes scores to the slots of a path; it takes the tree's values, the path, its length, and the depth
            of its first slot.
    """

    utility: Annotated[Callable[[FloatRow], float], Pointed()]
    keep: Annotated[Callable[[FloatRow, FloatRow], None], Pointed()]
    score: Annotated[Callable[[FloatTable, int, int, int, FloatRow], None], Pointed()]
    rescore: Annotated[Callable[[FloatTable, IntRow, int, int], None], Pointed()]


class Buffers(NamedTuple):
    """Rows that change during a search, but for the tree.

    Attributes:
        counts: int64[COUNTS].
        best: float64[1], the best utility seen.
        best_moves: int64[rollout + 1], the moves that lead from the best node on to the best state.
        rng: int64[2], the search's stream.
        path: int64[depths], the slots of the descent from the root on.
        scores: float64[actions + LANES], of the children that are selected from, and room for what is written behind.
        scratch: a state.
        actions: int64[actions], those that are legal.
        order: int64[actions], numbers of actions as they are shuffled.
        played: int64[rollout + 1], the moves of a rollout.
        seen: float64[rollout + 1, metrics], the metrics after each of them.
        metrics: float64[metrics].
        utils: float64[players], what an iteration was worth.
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
    """All that a search works on; `tables` is the level, `heap` int32[capacity] holds open leaves (`best_first`)."""

    rules: Rules
    tables: WordRow
    tree: Tree
    options: Options
    codes: Codes
    buffers: Buffers
    heap: ShortRow


def buffers_for(game: Game, level: Level, rollout: int, depths: int, marks: IntTable = NO_MARKS) -> Buffers:
    """Rows for searches on a level.

    Args:
        rollout: moves of a rollout at most.
        depths: moves from the root at most.
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
