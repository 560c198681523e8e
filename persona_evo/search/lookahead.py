"""Choose one move by looking so many moves ahead: random and flat Monte Carlo search, breadth first, depth first.

The searches of Hanson and Moffat, "Monte Carlo Search for a real-time arcade game, Puyo-Puyo" (AISB 2014), for any game
for one. A line of moves is worth the utility of the state at its depth limit, or where the game ends before; a first
move is worth its best line; the best first move is made. All can be interrupted at any time, and then what they have
counts.

| method | lines it looks at |
|---|---|
| flat | the first moves in turn, then random moves |
| random | random moves |
| bfs | all, by layers; a layer that is not finished counts beside the one before it |
| dfs | all, in the game's order, to the depth limit at once |

The baselines of `persona_evo.search.baselines` look for one plan for a whole level; these play on from each state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from persona_evo.compiling import Handle, entry
from persona_evo.compiling.arrays import FloatTable, IntRow, IntTable, WordRow, WordTable
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.search.expansion import copy
from persona_evo.search.play import Play, random_move, worth
from persona_evo.seeds import below, derive, stream
from persona_evo.words import counted

METHODS = ("flat", "random", "bfs", "dfs")
TIES = ("random", "first")
CHUNK = 500
"""Moves made between two looks at the clock."""
MOST_STATES = 2_000_000
"""States that a breadth-first search may keep."""

MADE, PLAYOUTS, HEAD, TAIL, LAYER, STANDS = range(6)
TALLIES = 6
"""tallies: moves made; playouts begun; breadth first: states expanded, states kept, depth of the layer in the making;
depth first: depth at which it stands, -1 when it has been everywhere."""

BEFORE, NOW, ENDS = range(3)
"""values[., first]: best utility in the layer before, in this layer (or at all depth limits), where the game ended."""


class Look(NamedTuple):
    """What a search from a state works on.

    Attributes:
        play: the level.
        rows: states; rows[0] is the root. Breadth first: those that are kept; depth first: rows[d] is the state at
            depth d of the line being searched.
        moves: int64[depth, actions], the legal moves of those; moves[0] are the first moves.
        counts: int64[depth], how many there are.
        cursors: int64[depth], how many of them have been tried.
        owners, ranks: int64[states], breadth first: the first move (its index) on the way to a state, and its depth.
        values: float64[3, actions], see BEFORE.
        tallies: int64[TALLIES].
    """

    play: Play
    rows: WordTable
    moves: IntTable
    counts: IntRow
    cursors: IntRow
    owners: IntRow
    ranks: IntRow
    values: FloatTable
    tallies: IntRow


@entry
def lines(look: Look, shared: int, playouts: int, steps: int, depth: int) -> int:
    """Random lines until there are `playouts` of them or `steps` moves have been made; 1 if all playouts are done.

    shared: 1 gives each first move its turn, 0 draws it.
    """
    play, tallies, count = look.play, look.tallies, look.counts[0]
    state = play.state
    while tallies[PLAYOUTS] < playouts and tallies[MADE] < steps:
        first = tallies[PLAYOUTS] % count
        if shared == 0:
            first = below(play.rng, count)
        tallies[PLAYOUTS] += 1
        copy(look.rows[0], state)
        play.rules.step(play.tables, state, look.moves[0, first], play.rng)
        made = 1
        while made < depth and play.rules.over(play.tables, state) == RUNNING:
            if random_move(play, state) < 0:
                break
            made += 1
        tallies[MADE] += made
        look.values[NOW, first] = max(look.values[NOW, first], worth(play, state))
    return 1 if tallies[PLAYOUTS] >= playouts else 0


@entry
def layers(look: Look, steps: int, depth: int) -> int:
    """Go on breadth first until `steps` moves have been made; 1 when all layers are finished."""
    play, rows, values, tallies = look.play, look.rows, look.values, look.tallies
    state = play.state
    while tallies[HEAD] < tallies[TAIL]:
        if tallies[MADE] >= steps:
            return 0
        head = tallies[HEAD]
        tallies[HEAD] = head + 1
        if look.ranks[head] == tallies[LAYER]:
            tallies[LAYER] += 1
            for k in range(look.counts[0]):
                values[BEFORE, k] = values[NOW, k]
                values[NOW, k] = -math.inf
        for k in range(play.rules.legal(play.tables, rows[head], play.actions)):
            copy(rows[head], state)
            play.rules.step(play.tables, state, play.actions[k], play.rng)
            tallies[MADE] += 1
            first = k if head == 0 else look.owners[head]
            utility = worth(play, state)
            if play.rules.over(play.tables, state) != RUNNING:
                values[ENDS, first] = max(values[ENDS, first], utility)
                continue
            values[NOW, first] = max(values[NOW, first], utility)
            if tallies[LAYER] < depth:
                tail = tallies[TAIL]
                copy(state, rows[tail])
                look.owners[tail] = first
                look.ranks[tail] = tallies[LAYER]
                tallies[TAIL] = tail + 1
    return 1


@entry
def dive(look: Look, steps: int, depth: int) -> int:
    """Go on depth first until `steps` moves have been made; 1 when it has been everywhere."""
    play, moves, cursors, tallies = look.play, look.moves, look.cursors, look.tallies
    level = tallies[STANDS]
    while level >= 0:
        if cursors[level] >= look.counts[level]:
            level -= 1
            continue
        if tallies[MADE] >= steps:
            tallies[STANDS] = level
            return 0
        move = moves[level, cursors[level]]
        cursors[level] += 1
        state = look.rows[level + 1]
        copy(look.rows[level], state)
        play.rules.step(play.tables, state, move, play.rng)
        tallies[MADE] += 1
        if level + 1 < depth and play.rules.over(play.tables, state) == RUNNING:
            level += 1
            look.counts[level] = play.rules.legal(play.tables, state, moves[level])
            cursors[level] = 0
        else:
            first = cursors[0] - 1
            look.values[NOW, first] = max(look.values[NOW, first], worth(play, state))
    tallies[STANDS] = level
    return 1


@dataclass(frozen=True)
class Allowance:
    """How much thought a move may take: whichever limit comes first; without any, to the end of the search.

    playouts: random lines (flat and random). steps: moves of the game that are made on the way, or a function that says
    how many for a state: a simulated clock. seconds: wall clock; what is chosen under it depends on the machine.

    Raises:
        SettingsError: a limit is not above 0.
    """

    playouts: int | None = None
    steps: int | Callable[[WordRow], int] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("playouts", self.playouts), ("steps", self.steps), ("seconds", self.seconds)):
            if isinstance(value, (int, float)) and value <= 0:
                raise SettingsError(f"the limit of {name} is out of range", found=str(value), expected="more than 0")

    def most_steps(self, state: WordRow) -> int:
        """The limit of steps for a state."""
        if callable(self.steps):
            return max(1, int(self.steps(state)))
        return 2**62 if self.steps is None else self.steps


@dataclass(frozen=True)
class Thought:
    """What was chosen. values: first move -> utility of its best line, -inf where none was looked at. whole: all lines
    were looked at, so there is no better move within the depth."""

    action: int
    values: dict[int, float]
    steps: int
    playouts: int
    whole: bool


class Lookahead:
    """Plays one side of a single-player game, move by move, by one of METHODS.

    Args:
        game, level: what is played.
        utility: over the game's metrics.
        depth: moves of a line at most.
        method: one of METHODS.
        allowance: for one move; flat and random need a limit.
        ties: what is made of equally good first moves: one at random, or the first in the game's order.
        seed: of all random choices; the same states in the same order give the same moves, unless seconds count.

    Raises:
        SettingsError: no such method or way with ties, a depth out of range, no limit where one is needed, a game for
            several, or too many states for the memory of a breadth-first search.
    """

    def __init__(
        self,
        game: Game,
        level: Level,
        utility: Formula,
        depth: int,
        method: str = "flat",
        allowance: Allowance | None = None,
        *,
        ties: str = "random",
        seed: int = 0,
    ) -> None:
        self.game, self.level, self.depth, self.method, self.ties = game, level, depth, method, ties
        self.allowance, self.seed = allowance or Allowance(), seed
        self._check()
        utility = parse(utility.text, game.symbols)
        kept = sum(level.max_actions**d for d in range(depth)) if method == "bfs" else 1
        deep = depth if method == "dfs" else 0
        play = Play.of(game, level, utility)
        self._look = Look(
            play,
            np.zeros((max(kept, deep + 1), len(level.start)), dtype=level.start.dtype),
            np.zeros((deep + 1, len(play.actions)), dtype=np.int64),
            np.zeros(deep + 1, dtype=np.int64),
            np.zeros(deep + 1, dtype=np.int64),
            np.zeros(kept, dtype=np.int64),
            np.zeros(kept, dtype=np.int64),
            np.zeros((3, len(play.actions))),
            np.zeros(TALLIES, dtype=np.int64),
        )
        self._handle = Handle(self._look)
        self._moves = 0

    def _check(self) -> None:
        for what, value, known in (("method", self.method, METHODS), ("way with ties", self.ties, TIES)):
            if value not in known:
                expected, hint = unknown(value, known)
                raise SettingsError(f"no such {what}", found=value, expected=expected, hint=hint)
        if self.game.players != 1:
            raise SettingsError(
                "this search is for single-player games",
                found=counted(self.game.players, "player"),
                hint="play with persona_evo.search.actor",
            )
        if not 1 <= self.depth <= 1_000:
            raise SettingsError("the depth is out of range", found=str(self.depth), expected="from 1 to 1,000")
        given = self.allowance
        if (
            self.method in ("flat", "random")
            and given.playouts is None
            and given.steps is None
            and given.seconds is None
        ):
            raise SettingsError(
                f"{self.method} search never ends by itself", expected="a limit of playouts, steps or seconds"
            )
        if self.method == "bfs" and sum(self.level.max_actions**d for d in range(self.depth)) > MOST_STATES:
            raise SettingsError(
                "too many states for a breadth-first search",
                found=f"depth {self.depth}",
                expected=f"at most {MOST_STATES:,} states",
                hint="lower the depth",
            )

    def choose(self, state: WordRow) -> int:
        """The move to make in a state."""
        return self.think(state).action

    def think(self, state: WordRow) -> Thought:
        """Search from a state.

        Raises:
            SettingsError: the game is over there.
        """
        began = time.perf_counter()
        count = self._begin(state)
        tallies = self._look.tallies
        most, seconds = self.allowance.most_steps(state), self.allowance.seconds
        done, limit = 0, 0
        with np.errstate(all="ignore"):
            while not done and limit < most:
                limit = most if seconds is None else min(most, int(tallies[MADE]) + CHUNK)
                done = self._search(limit)
                if seconds is not None and time.perf_counter() - began >= seconds:
                    break
        whole = bool(done) and self.method in ("bfs", "dfs")
        values = self._look.values[:, :count]
        best = values[[NOW, ENDS]].max(axis=0) if whole else values.max(axis=0)
        equal = np.flatnonzero(best == best.max())
        chosen = (
            equal[0]
            if self.ties == "first"
            else equal[below(stream(derive(self.seed, "tie", self._moves)), len(equal))]
        )
        firsts = [int(action) for action in self._look.moves[0, :count]]
        scores = dict(zip(firsts, map(float, best), strict=True))
        return Thought(firsts[chosen], scores, int(tallies[MADE]), int(tallies[PLAYOUTS]), whole)

    def _begin(self, state: WordRow) -> int:
        """Make a state the root; how many first moves there are."""
        look, play = self._look, self._look.play
        count = play.rules.legal(play.tables, state, play.actions)
        if play.rules.over(play.tables, state) != RUNNING or count == 0:
            raise SettingsError("the game is over, so there is no move to make")
        self._moves += 1
        play.rng[:] = stream(derive(self.seed, "look", self._moves))
        look.rows[0], look.moves[0], look.counts[0] = state, play.actions, count
        look.cursors[0] = look.owners[0] = look.ranks[0] = 0
        look.values.fill(-math.inf)
        look.tallies[:] = 0
        look.tallies[TAIL] = 1
        return int(count)

    def _search(self, limit: int) -> int:
        """Go on until so many moves have been made; whether all that was asked for is done."""
        if self.method == "bfs":
            return layers(self._handle, limit, self.depth)
        if self.method == "dfs":
            return dive(self._handle, limit, self.depth)
        return lines(self._handle, int(self.method == "flat"), self.allowance.playouts or 2**62, limit, self.depth)
