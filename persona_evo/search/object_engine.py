"""Runs the tree search in games that are Python classes: compiled code walks the tree, and Python calls the class.

An iteration has two calls of compiled code. `choose` descends to the node to expand or to roll out from. Then the class
makes the new state and plays a rollout. `settle` adds the node to the tree and backs up the result. Both consist of the
steps of `mcts`, so the numbers are exactly those of the other engine. `choose` draws the random numbers of a rollout in
advance; `settle` advances the stream by as many as the rollout used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from persona_evo.compiling import Handle, compiled, entry
from persona_evo.compiling.arrays import FloatTable, IntRow, WordRow
from persona_evo.games.core import RUNNING
from persona_evo.search.expansion import attach, is_new, look_up, untried
from persona_evo.search.layout import (
    BEST_LENGTH,
    GOING_ON,
    ITERATIONS,
    NO_ROOM,
    NO_RULES,
    NODES,
    SLOTS,
    WATCH_ALL,
    SearchSpace,
)
from persona_evo.search.mcts import (
    DOWN,
    FRESH,
    NEEDED,
    conclude,
    consider,
    descend,
    keep_parts,
    keeps,
    needless,
)
from persona_evo.search.tree import DONE, LEFT, MOVER, NODE, OVER, SLOT, STATUS, UNKNOWN
from persona_evo.seeds import draw

END, ROLL, EXPAND, COUNT = range(4)
"""What `choose` requests: nothing, because the iteration has ended for the reason given; a rollout from a node; the
state after the untried action with this number; the number of legal actions of a node."""
KIND, NUMBER, END_AT = 2, 30, 16
"""The number of bits for the kind of a request and for its number (of untried actions, or a reason); the node is in the
bits after them. END_AT is the bit of the status for `settle` at which the status of the rollout's end begins."""

BETTER = 256
"""Added to the result of `settle` if there is a new best plan."""


class ObjectSpace(NamedTuple):
    """Holds what the search works on.

    Attributes:
        search: the search, without the game's functions and states.
        told: float64[2 + players, metrics], the metrics of a new node as seen by player 0 and by the player who moved
            into it, and those of the end of a rollout as seen by each player.
        draws: int64[moves of a rollout], random numbers.
        ahead: int64[2], scratch space.
        at: int64[1], the current position of the descent.
    """

    search: SearchSpace
    told: FloatTable
    draws: IntRow
    ahead: IntRow
    at: IntRow


@compiled
def request(kind: int, number: int, node: int) -> int:
    """Return a request of `choose` as one number."""
    return (node << (KIND + NUMBER)) | (number << KIND) | kind


@entry
def choose(work: ObjectSpace, legal: int) -> int:
    """Begin an iteration, or continue it.

    Args:
        work: the search.
        legal: UNKNOWN - 1 to begin an iteration; otherwise the number of legal actions that was requested, or UNKNOWN.

    Returns:
        The next request (see `request`); -1 if there are too few slots.
    """
    search, buffers, at = work.search, work.search.buffers, work.at
    links, path, counts = search.tree.links, buffers.path, buffers.counts
    if legal < UNKNOWN:
        if counts[SLOTS] + search.options.room > search.tree.values.shape[0]:
            return -1
        counts[ITERATIONS] += 1
        at[0] = 0
    elif legal > UNKNOWN:
        links[path[at[0] // DOWN], LEFT] = legal
    at[0] = descend(search, at[0])
    depth = at[0] // DOWN
    slot = path[depth]
    node = links[slot, NODE]
    work.ahead[0] = buffers.rng[0]
    work.ahead[1] = buffers.rng[1]
    for k in range(len(work.draws)):
        work.draws[k] = draw(work.ahead)
    if links[slot, STATUS] & OVER == 0 and depth < search.options.horizon:
        if links[slot, LEFT] == UNKNOWN:
            return request(COUNT, 0, node)
        if links[slot, LEFT] > 0 and counts[NODES] < search.tree.nodes.shape[0]:
            links[slot, LEFT] -= 1
            return request(EXPAND, links[slot, LEFT] + 1, node)
    reason = needless(search, at[0])
    return request(ROLL, 0, node) if reason == NEEDED else request(END, reason, node)


@entry
def shuffled(work: ObjectSpace, node: int, count: int, left: int) -> int:
    """Return the number of the untried action to take if `left` of `count` are left."""
    return untried(work.search.options, work.search.buffers.order, node, count, left)


@entry
def admit(work: ObjectSpace, key: int) -> int:
    """Return 1 if the new state, whose metrics are in `told` and whose hash is `key`, becomes a node; otherwise 0."""
    search, node = work.search, work.search.buffers.counts[NODES]
    for k in range(len(search.buffers.metrics)):
        search.buffers.metrics[k] = work.told[0, k]
    return 1 if is_new(search, node, work.at[0] // DOWN + 1, look_up(search, node, key)) else 0


@entry
def settle(work: ObjectSpace, fresh: int, action: int, status: int, legal: int, made: int) -> int:
    """End an iteration whose rollout made `made` moves, with the metrics in `seen` and `told`.

    Args:
        work: the search.
        fresh: whether there is a new node.
        action: the action that led to it.
        status: the status of the game at the node; from bit END_AT on, the status at the end of the rollout.
        legal: the number of legal actions at the new node; UNKNOWN if it is not known.
        made: the number of moves of the rollout.

    Returns:
        GOING_ON, or why the search is over; plus BETTER if the best plan ends in this rollout.
    """
    search, buffers, path = work.search, work.search.buffers, work.search.buffers.path
    for _ in range(made):
        draw(buffers.rng)
    depth = work.at[0] // DOWN
    if fresh:
        add_node(work, action, status & (1 << END_AT) - 1, legal)
        depth += 1
    node = search.tree.links[path[depth], NODE]
    buffers.counts[BEST_LENGTH] = -1 - buffers.counts[BEST_LENGTH]
    if search.options.watch == WATCH_ALL:
        for k in range(made):
            consider(search, node, depth, k + 1, 0, search.codes.utility(buffers.seen[k]))
    for p in range(search.options.players):
        buffers.utils[p] = search.codes.utility(work.told[2 + p])
    if search.options.watch and made:
        consider(search, node, depth, made, status >> END_AT, buffers.utils[0])
    better = BETTER
    if buffers.counts[BEST_LENGTH] < 0:
        buffers.counts[BEST_LENGTH] = -1 - buffers.counts[BEST_LENGTH]
        better = 0
    return conclude(search, depth) + better


@compiled
def add_node(work: ObjectSpace, action: int, status: int, legal: int) -> None:
    """Add the new node below the last node of the path, and to the end of the path."""
    search, path, parent = work.search, work.search.buffers.path, work.search.buffers.path[work.at[0] // DOWN]
    depth = work.at[0] // DOWN + 1
    if status & OVER != RUNNING or depth >= search.options.horizon:
        status |= DONE
    node = search.buffers.counts[NODES]
    slot = attach(search, parent, node, action, depth, status)
    search.tree.links[slot, LEFT] = legal
    path[depth] = slot
    work.at[0] = (work.at[0] + DOWN) | FRESH
    needless(search, work.at[0])
    consider(search, node, depth, 0, status & OVER, search.codes.utility(work.told[0]))
    if keeps(search):
        keep_parts(search, slot, work.told[1])


class Instance(Protocol):
    """An instance of a game that is a Python class, which is a state of the game."""

    def over(self) -> object:
        """Return None while the game goes on."""


Move = str | int
"""A move as the class names it: a name, or a number if actions have no names."""


@runtime_checkable
class ObjectSearcher(Protocol):
    """The calls of a search to a game that is a Python class. A state is an instance and the number of moves made."""

    names: tuple[str, ...]
    number: Mapping[Move, int]

    def over(self, tables: None, state: tuple[Instance, int]) -> int:
        """Return the status of the game."""

    def mover(self, tables: None, state: tuple[Instance, int]) -> int:
        """Return the player to move."""

    def key(self, tables: None, state: tuple[Instance, int]) -> int:
        """Return a hash of everything that decides the future."""

    def tell(
        self, tables: WordRow, state: tuple[Instance, int], player: int, out: ctypes.Array[ctypes.c_double]
    ) -> None:
        """Write the metrics as a player sees them."""

    def choices(self, state: tuple[Instance, int]) -> list[Move]:
        """Return the legal actions."""

    def after(self, state: tuple[Instance, int], move: Move) -> Instance:
        """Return the instance after a move."""

    def wander(
        self,
        tables: WordRow,
        state: tuple[Instance, int],
        choices: list[Move],
        draws: list[int],
        seen: FloatTable | None,
    ) -> tuple[Instance, list[Move], int]:
        """Make random moves from a state, and write the metrics after each to `seen`.

        Args:
            tables: the level.
            state: the state to begin from.
            choices: its legal actions.
            draws: the random numbers, one for each move.
            seen: float64[moves, metrics]; None if the metrics are not needed.

        Returns:
            The instance after the moves, the moves, and the status of the game there.
        """


class ObjectEngine:
    """Runs a tree search in a game that is a Python class.

    Args:
        work: the search, with the class's functions and states.
        player: makes the calls to the class.
    """

    def __init__(self, work: SearchSpace, player: ObjectSearcher) -> None:
        self._player, self._choices, self._none = player, dict[int, list[Move]](), list[Move]()
        metrics, length = len(work.buffers.metrics), work.options.length
        self._space = ObjectSpace(
            work,
            np.zeros((2 + work.options.players, metrics)),
            np.zeros(length, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )
        self._keeps = keeps(work)
        self._seen = work.buffers.seen if work.options.watch == WATCH_ALL else None
        rows = [(ctypes.c_double * metrics).from_buffer(row) for row in self._space.told]
        self._told, self._ends = rows, rows[2:]
        self._handle = Handle(self._space._replace(search=self._quiet(work)))
        self.change(work)

    def change(self, work: SearchSpace) -> None:
        """Continue with other arrays of the same contents."""
        self.work, self._handle.work = work, self._space._replace(search=self._quiet(work))
        self._choose, self._settle = self._handle.function(choose), self._handle.function(settle)

    @staticmethod
    def _quiet(work: SearchSpace) -> SearchSpace:
        """Return what compiled code works on: the same without the class's functions and states."""
        none = np.zeros(0, dtype=np.uint16)
        return work._replace(
            rules=NO_RULES,
            tables=none,
            tree=work.tree._replace(states=none.reshape(0, 0)),
            buffers=work.buffers._replace(scratch=none),
        )

    def forget(self) -> None:
        """Forget the legal actions of all nodes, because nodes are about to be renumbered."""
        self._choices.clear()

    def search(self, iterations: int) -> int:
        """Make up to `iterations` iterations, and return why the search returned."""
        for _ in range(iterations):
            found = self._choose(UNKNOWN - 1)
            if found < 0:
                return NO_ROOM
            reason = self._iterate(found)
            if reason != GOING_ON:
                return reason
        return GOING_ON

    def _iterate(self, found: int) -> int:
        """Finish an iteration after the first call of `choose`; return why the search is over, or GOING_ON."""
        player, states, options = self._player, self.work.tree.states, self.work.options
        while True:
            kind, number, node = found & 3, found >> KIND & (1 << NUMBER) - 1, found >> KIND + NUMBER
            if kind == END:
                return number
            if kind == ROLL:
                return self._roll_out(0, 0, node, self._status(node) & OVER, tuple(states[node]))
            choices = self._choices.get(node)
            if choices is None:
                choices = self._choices[node] = player.choices(states[node])
            count = len(choices)
            if kind == COUNT:
                found = self._choose(count)
                continue
            choice = choices[shuffled(self._handle, node, count, number) if options.shuffle else count - number]
            before = states[node]
            own = player.after(before, choice)
            state = own, before[1] + 1
            player.tell(self.work.tables, state, 0, self._told[0])
            if not options.hashed or admit(self._handle, player.key(None, state)):
                child = int(self.work.buffers.counts[NODES])
                states[child, 0], states[child, 1] = state  # type: ignore[call-overload]
                status = 0 if own.over() is None else player.over(None, state)
                if self._keeps or options.players > 1:
                    status = self._keep(state, node, status)
                return self._roll_out(1, self._numbers([choice])[0], child, status, state)
            found = self._choose(UNKNOWN)

    def _status(self, node: int) -> int:
        """Return the STATUS of a node."""
        tree = self.work.tree
        return int(tree.links[tree.nodes[node, SLOT], STATUS])

    def _keep(self, state: tuple[Instance, int], parent: int, status: int) -> int:
        """Write what the tree policy keeps of a new node, and return the node's status with the player to move."""
        player, mover = self._player, self._status(parent) >> MOVER
        if self._keeps:
            player.tell(self.work.tables, state, mover, self._told[1])
        if status == RUNNING and self.work.options.players > 1:
            status |= player.mover(None, state) << MOVER
        return status

    def _roll_out(self, fresh: int, action: int, node: int, status: int, state: tuple[Instance, int]) -> int:
        """Roll out from a node and back up the result; return why the search is over, or GOING_ON."""
        player, options, space = self._player, self.work.options, self._space
        over, legal, end, moves = status & OVER, UNKNOWN, state[0], self._none
        if over == RUNNING:
            length = min(options.length, options.horizon - int(space.at[0]) // DOWN - fresh)
            if length > 0:
                choices = self._choices.get(node)
                if choices is None:
                    choices = self._choices[node] = player.choices(state)
                legal = len(choices)
                draws = space.draws[:length].tolist()
                end, moves, over = player.wander(self.work.tables, state, choices, draws, self._seen)
        for who, told in enumerate(self._ends):
            player.tell(self.work.tables, (end, state[1] + len(moves)), who, told)
        reason = self._settle(fresh, action, status | over << END_AT, legal, len(moves))
        if reason < BETTER:
            return reason
        self.work.buffers.best_moves[: len(moves)] = self._numbers(moves)
        return reason - BETTER

    def _numbers(self, moves: list[Move]) -> list[int]:
        return [self._player.number[move] for move in moves] if self._player.names else list(map(int, moves))
