"""Plays a catalog game in this process with rollouts from prefixes, as the search of connected games orders them.

It takes the place of a `ProcessPool`. A rollout begins at the level's start and makes the choices of the prefix, where
a choice is the index of an action among the legal ones. It continues with the game's own `rollout` to the end, or to
`most` decisions. What happened after the prefix is recomputed for the few rollouts whose trace is read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from persona_evo.compiling import Handle, entry
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, WordRow
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout
from persona_evo.errors import GameError, SettingsError
from persona_evo.formula import parse
from persona_evo.games.core import RUNNING, Game, Level, Rules
from persona_evo.search.expansion import copy
from persona_evo.seeds import stream
from persona_evo.words import counted

MOST = 5000
"""The number of decisions after which a game is cut short; its state then counts as the end."""

_OTHER = -1
"""The result of `play` if the prefix does not fit."""


class RolloutBuffers(NamedTuple):
    """Holds the arrays that rollouts are played in.

    Attributes:
        rules, tables, start: the game, the level and its first state.
        state: scratch space for a state.
        actions: int64[actions]; after a rollout, actions[0] is the number of choices at the end of the prefix.
        prefix: int64[2 most]: the choices, each followed by the number of choices.
        played: int64[most]: all actions.
        seen: float64[1, metrics]: scratch space.
        node, end: float64[metrics]: the metrics at the end of the prefix and at the end of the game.
        rng: int64[2]: the random stream of the rollout.
    """

    rules: Rules
    tables: WordRow
    start: WordRow
    state: WordRow
    actions: IntRow
    prefix: IntRow
    played: IntRow
    seen: FloatTable
    node: FloatRow
    end: FloatRow
    rng: IntRow


@entry
def play(buffers: RolloutBuffers, length: int) -> int:
    """Play a rollout from a prefix of `length` choices.

    Returns:
        The number of decisions; _OTHER if the game offers other choices than the prefix says.
    """
    rules, tables, state, actions, prefix = (
        buffers.rules,
        buffers.tables,
        buffers.state,
        buffers.actions,
        buffers.prefix,
    )
    played = buffers.played
    copy(buffers.start, state)
    for i in range(length):
        count = 0
        if rules.over(tables, state) == RUNNING:
            count = rules.legal(tables, state, actions)
        if count != prefix[2 * i + 1]:
            return _OTHER
        played[i] = actions[prefix[2 * i]]
        rules.step(tables, state, played[i], buffers.rng)
    count = 0
    made = 0
    rules.measure(tables, state, 0, buffers.node)
    left = len(played) - length
    if left > 0 and rules.over(tables, state) == RUNNING:
        count = rules.legal(tables, state, actions)
        made = rules.rollout(tables, state, actions, played[length : length + left], left, buffers.rng, buffers.seen, 0)
    rules.measure(tables, state, 0, buffers.end)
    actions[0] = count
    return length + made


class PlayedRollout:
    """The result of a rollout, with the interface of `protocol.Result`; its trace is computed when it is first read."""

    def __init__(self, pool: LocalPool, actions: IntRow, depth: int, count: int, node: FloatRow, end: FloatRow) -> None:
        self._pool, self._actions, self._depth = pool, actions, depth
        self._count, self._node, self._end = count, node, end
        self._pairs: list[tuple[int, int]] = []
        self._rows: list[tuple[float, ...]] = []

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return len(self._actions)

    def count(self, i: int) -> int:
        """Return the number of choices at decision i."""
        return self._count if i == self._depth else self._known()[i][1]

    def row(self, i: int) -> Sequence[float] | FloatRow:
        """Return the metrics before decision i."""
        if i == self._depth:
            return self._node
        self._known()
        return self._rows[i]

    def last(self) -> FloatRow:
        """Return the metrics at the end."""
        return self._end

    @property
    def trace(self) -> bytes:
        """The encoded pairs of choice and count."""
        return p.pack(self._known())

    @property
    def score(self) -> float:
        """The game's own score; 0 for games without one."""
        return self._pool.score(self._end)

    @property
    def hash(self) -> int:
        """The hash of the state at the end."""
        self._known()
        return self._hash

    _hash = 0
    weights: Sequence[float] = ()

    def _known(self) -> list[tuple[int, int]]:
        if not self._pairs and len(self._actions):
            self._pairs, self._rows, self._hash = self._pool.replay(self._actions)
        return self._pairs


class LocalPool:
    """Plays the rollouts of one level in this process.

    Args:
        game: a deterministic game for one player.
        level: a level of this game.
        most: the number of decisions after which a game is cut short.

    Raises:
        SettingsError: the game has several players or is random, so choices alone do not determine it.
    """

    def __init__(self, game: Game, level: Level, most: int = MOST) -> None:
        if game.players != 1 or not game.deterministic:
            raise SettingsError(
                f"{game.title} cannot be searched by its choices alone",
                found=f"{counted(game.players, 'player')}, {'deterministic' if game.deterministic else 'random'}",
                expected="a deterministic single-player game",
            )
        self.game, self.level, self.most = game, level, most
        self.findings: list[FailingRollout] = []
        metrics = len(game.metrics)
        self._buffers = RolloutBuffers(
            game.rules(costly=True),
            level.tables,
            level.start,
            level.start.copy(),
            np.zeros(max(1, level.max_actions), dtype=np.int64),
            np.zeros(2 * most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros((1, metrics)),
            np.zeros(metrics),
            np.zeros(metrics),
            stream(0),
        )
        self._handle = Handle(self._buffers)
        self._orders: deque[p.Rollout] = deque()
        self._score = parse(game.score(level), game.symbols) if game.score is not None else None

    def submit(self, order: p.Rollout) -> int:
        """Order a rollout."""
        self._orders.append(order)
        return order.id

    def next(self) -> PlayedRollout:
        """Return the result of the oldest order.

        Raises:
            GameError: the game does not offer the same choices again.
        """
        order = self._orders.popleft()
        prefix, buffers = np.frombuffer(order.prefix, dtype="<u2"), self._buffers
        depth = len(prefix) // 2
        buffers.prefix[: len(prefix)] = prefix
        buffers.rng[:] = stream(order.rollout_seed)
        made = play(self._handle, depth)
        if made == _OTHER:
            choices = prefix[::2].tolist()
            raise GameError(
                f"{self.game.title} does not offer the same choices again after {choices} in {self.level.name}"
            )
        return PlayedRollout(
            self, buffers.played[:made].copy(), depth, int(buffers.actions[0]), buffers.node.copy(), buffers.end.copy()
        )

    def settle(self) -> None:
        """Forget all orders."""
        self._orders.clear()

    def score(self, metrics: Sequence[float] | FloatRow) -> float:
        """Return the game's own score for these final metrics."""
        return 0.0 if self._score is None else self._score.evaluate(dict(zip(self.game.symbols, metrics, strict=True)))

    def replay(self, actions: IntRow) -> tuple[list[tuple[int, int]], list[tuple[float, ...]], int]:
        """Replay actions; return pairs of choice and count, the metrics before each, and the hash of the last state."""
        rules, tables, state = self.game.rules(costly=True), self.level.tables, self.level.start.copy()
        rng, out = np.ones(2, dtype=np.int64), np.zeros(len(self.game.metrics))
        pairs, rows = [], []
        for action in actions:
            legal = self.game.legal(self.level, state)
            pairs.append((legal.index(int(action)), len(legal)))
            rules.measure(tables, state, 0, out)
            rows.append(tuple(map(float, out)))
            rules.step(tables, state, int(action), rng)
        return pairs, rows, int(rules.key(tables, state)) & 0xFFFFFFFFFFFFFFFF

    def actions(self, choices: Iterable[int]) -> list[int]:
        """Return the game's actions for a sequence of choices.

        Raises:
            GameError: there is no such choice.
        """
        state, rng = self.level.start.copy(), np.ones(2, dtype=np.int64)
        found: list[int] = []
        for choice in choices:
            legal = self.game.legal(self.level, state)
            if not 0 <= choice < len(legal):
                raise GameError(f"{self.level.name}: no choice {choice} of {len(legal)} after {len(found)} decisions")
            found.append(legal[choice])
            self.game.rules().step(self.level.tables, state, legal[choice], rng)
        return found
