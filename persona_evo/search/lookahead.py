"""Chooses one move by looking a given number of moves ahead: flat, random, breadth-first and depth-first search.

These are the searches of Hanson and Moffat, "Monte Carlo Search for a real-time arcade game, Puyo-Puyo" (AISB 2014),
for any single-player game. A line of moves has the utility of the state at its depth limit, or of the state in which
the game ends before. A first move has the value of its best line, and the best first move is made. All searches can be
interrupted at any time and then use what they have found.

| method | lines it looks at |
|---|---|
| flat | each first move in turn, followed by random moves |
| random | random moves |
| bfs | all lines, layer by layer; an unfinished layer counts beside the one before it |
| dfs | all lines to the depth limit, one after the other, in the game's order of moves |

The baselines of `persona_evo.search.baselines` plan a whole level once; these searches run again in each state.
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
"""The number of moves made between two checks of the clock."""
MOST_STATES = 2_000_000
"""The number of states that a breadth-first search may keep."""

MADE, PLAYOUTS, HEAD, TAIL, LAYER, STANDS = range(6)
TALLIES = 6
"""The length of `Look.tallies`: moves made; playouts begun; for breadth-first search, states expanded, states kept and
depth of the layer being made; for depth-first search, the current depth, -1 when the whole space is searched.
"""

BEFORE, NOW, ENDS = range(3)
"""The rows of `Look.values`, the best utility after each first move: in the layer before; in this layer (or at the
depth limit); in states that end the game.
"""


class Look(NamedTuple):
    """The working memory of a search from one state.

    Attributes:
        play: the level.
        rows: states; rows[0] is the root. For breadth-first search, the states kept; for depth-first search, rows[d] is
            the state at depth d of the current line.
        moves: int64[depth, actions], the legal moves of these states; moves[0] are the first moves.
        counts: int64[depth], the number of legal moves at each depth.
        cursors: int64[depth], the number of moves already tried at each depth.
        owners: int64[states], for breadth-first search: the index of the first move on the way to a state.
        ranks: int64[states], for breadth-first search: the depth of a state.
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
    """Play random lines until `playouts` are begun or `steps` moves are made. Return 1 if all playouts are done.

    Args:
        shared: 1 takes the first moves in turn, 0 draws them at random.
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
    """Continue breadth-first until `steps` moves are made. Return 1 when all layers are finished."""
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
    """Continue depth-first until `steps` moves are made. Return 1 when the whole space is searched."""
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
    """The limits of the search for one move. The first one reached ends it; without limits, the search runs to its end.

    Attributes:
        playouts: the number of random lines (flat and random).
        steps: the number of moves made in the search, or a function that returns it for a state (a simulated clock).
        seconds: wall-clock time. A choice under this limit depends on the machine.

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
        """Return the limit of steps for a state."""
        if callable(self.steps):
            return max(1, int(self.steps(state)))
        return 2**62 if self.steps is None else self.steps


@dataclass(frozen=True)
class Thought:
    """The result of a search for one move.

    Attributes:
        action: the move chosen.
        values: for each first move the utility of its best line, -inf if no line was looked at.
        steps: the number of moves made in the search.
        playouts: the number of random lines.
        whole: whether all lines were looked at, so that no move is better within the depth.
    """

    action: int
    values: dict[int, float]
    steps: int
    playouts: int
    whole: bool


class Lookahead:
    """A player of a single-player game that chooses each move by one of METHODS.

    Args:
        game: the game.
        level: the level that is played.
        utility: a formula over the game's metrics.
        depth: the highest number of moves in a line.
        method: one of METHODS.
        allowance: the limits for one move; flat and random need a limit.
        ties: how one of several equally good first moves is chosen: at random, or as the first in the game's order.
        seed: the seed of all random choices. The same states in the same order give the same moves, unless seconds
            count.

    Raises:
        SettingsError: the method or the tie rule is unknown, the depth is out of range, a required limit is missing,
            the game is not for one player, or a breadth-first search would keep too many states.
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
        """Return the move to make in a state."""
        return self.think(state).action

    def think(self, state: WordRow) -> Thought:
        """Search from a state.

        Raises:
            SettingsError: the game is over in this state.
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
        """Make a state the root and return the number of first moves."""
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
        """Continue until `limit` moves are made. Return whether the search is complete."""
        if self.method == "bfs":
            return layers(self._handle, limit, self.depth)
        if self.method == "dfs":
            return dive(self._handle, limit, self.depth)
        return lines(self._handle, int(self.method == "flat"), self.allowance.playouts or 2**62, limit, self.depth)
