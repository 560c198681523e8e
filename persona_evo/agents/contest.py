"""One game between agents: whose move fails loses the move, never the game's record.

| fault | what happened |
|---|---|
| error | the agent raised, or its program ended |
| time | no move within the limit |
| memory | it took more memory than it may |
| nonsense | its answer cannot be read as a move |
| invalid | the move is not allowed |

In each case the game's random player makes the move (`agents.random_move`), and the fault is written down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from persona_evo.agents.agent_seat import random_move
from persona_evo.compiling.arrays import WordRow
from persona_evo.errors import SettingsError, printable
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.seeds import derive, stream

FAULTS = ("error", "time", "memory", "nonsense", "invalid")


class Fault(Exception):
    """A move that an agent did not make; `kind` is one of FAULTS."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind, self.what = kind, what


class Seat(Protocol):
    """Who plays one side of one game."""

    def prepare(self) -> None:
        """Get ready to be asked, in time that is nobody's. Raises Fault where that fails, which loses the move."""
        ...

    def choose(self, state: WordRow) -> int:
        """The move to make. Raises Fault instead of making one."""
        ...

    def follow(self, action: int) -> None:
        """Hear of every move made, in their order."""
        ...

    def close(self) -> None:
        """The game is over."""
        ...


class Caller:
    """A function from a state to an action as a seat; whatever it raises is a fault."""

    thought = (0, 0, 0, 0)

    def __init__(self, function: Callable[[WordRow], int]) -> None:
        self._function = function

    def prepare(self) -> None:
        """A function is ready."""

    def choose(self, state: WordRow) -> int:
        """Call the function with a copy of the state."""
        try:
            return int(self._function(state.copy()))
        except Exception as e:
            raise Fault("error", f"{type(e).__name__}: {e}") from e

    def follow(self, action: int) -> None:
        """A function keeps nothing."""

    def close(self) -> None:
        """Nor is anything left."""


class Failed(NamedTuple):
    """A fault in a record: who (player), in which move of the game (from 0), and what."""

    player: int
    move: int
    kind: str
    what: str


@dataclass
class Contest:
    """What happened in a game.

    actions: the moves made. metrics: of each player at the end. faults: in their order. seconds: of each player, all
    moves together, without what it took to be ready for them; slowest: of one move. thoughts: of each player, a row
    (iterations, nodes, breadth, depth) a move.
    """

    actions: list[int] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    outcome: int = RUNNING
    faults: list[Failed] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    slowest: list[float] = field(default_factory=list)
    thoughts: list[list[tuple[int, int, int, int]]] = field(default_factory=list)


def contest(
    game: Game, level: Level, seats: Sequence[Seat], start: int, seed: int, limits: Sequence[float | None] | None = None
) -> Contest:
    """Play a game to its end.

    Args:
        seats: one for each player of the game, closed afterwards.
        start: seed of the start and of chance, as replays take it. seed: of moves that stand in for failed ones.
        limits: of each player, seconds for a move; one that took longer is replaced.

    Raises:
        SettingsError: another number of players than the game has.
    """
    if len(seats) != game.players:
        raise SettingsError("wrong number of players", found=str(len(seats)), expected=str(game.players))
    rules, luck, rng = game.rules(), stream(start), np.random.default_rng(derive(seed, "stand-in"))
    state, tables = game.start(level, start), level.tables
    n = game.players
    result = Contest(seconds=[0.0] * n, slowest=[0.0] * n, thoughts=[[] for _ in range(n)])
    try:
        while int(rules.over(tables, state)) == RUNNING and len(result.actions) < game.horizon_of(level):
            who = int(rules.mover(tables, state))
            began, limit = None, None if limits is None else limits[who]
            try:
                seats[who].prepare()
                began = time.perf_counter()
                action = _asked(game, level, seats[who], state, limit)
                thought = getattr(seats[who], "thought", None)
                if thought and any(thought):
                    result.thoughts[who].append(thought)
            except Fault as e:
                action = random_move(game, level, state, rng)
                result.faults.append(Failed(who, len(result.actions), e.kind, printable(e.what)[:300]))
            took = 0.0 if began is None else time.perf_counter() - began
            result.seconds[who] += took
            result.slowest[who] = max(result.slowest[who], took)
            rules.step(tables, state, action, luck)
            result.actions.append(action)
            for seat in seats:
                seat.follow(action)
    finally:
        for seat in seats:
            seat.close()
    result.metrics = [game.measure(level, state, p) for p in range(n)]
    result.outcome = int(rules.over(tables, state))
    return result


def _asked(game: Game, level: Level, seat: Seat, state: WordRow, limit: float | None) -> int:
    began = time.perf_counter()
    action = seat.choose(state)
    took = time.perf_counter() - began
    if limit is not None and took > limit:
        raise Fault("time", f"{took:.2f} s, the limit is {limit:g} s")
    legal = game.legal(level, state)
    if action not in legal:
        raise Fault("invalid", f"{_named(game, level, state, action)} is not allowed here")
    return action


def _named(game: Game, level: Level, state: WordRow, action: int) -> str:
    try:
        return game.action_name(level, state, action)
    except Exception:  # an action that is no action of the game has no name
        return str(action)
