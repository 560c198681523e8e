"""One game between agents: an agent whose move fails loses this move, and the game goes on.

| fault | what happened |
|---|---|
| error | the agent raised an exception, or its program ended |
| time | no move within the limit |
| memory | it used more memory than is allowed |
| nonsense | its answer is not a move |
| invalid | the move is not allowed |

In each case the game's random player makes the move (`agent_seat.random_move`), and the fault is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
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
    """The reason why an agent did not make a move; `kind` is one of FAULTS."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind, self.what = kind, what


class Seat(Protocol):
    """A player at one side of one game."""

    def prepare(self) -> None:
        """Prepare for the next move, in time that does not count.

        Raises:
            Fault: this fails, so the move is lost.
        """
        ...

    def choose(self, state: WordRow) -> int:
        """Return the move to make. Raises Fault if there is none."""
        ...

    def follow(self, action: int) -> None:
        """Follow a move of any player; called for all moves in their order."""
        ...

    def close(self) -> None:
        """Release what the player holds, because the game is over."""
        ...


class Failed(NamedTuple):
    """A fault in a record.

    Attributes:
        player: the number of the player.
        move: the number of the move in the game, from 0.
        kind: one of FAULTS.
        what: what happened.
    """

    player: int
    move: int
    kind: str
    what: str


@dataclass
class Contest:
    """The record of a game.

    Attributes:
        actions: the moves.
        metrics: the metrics of each player at the end.
        outcome: how the game ended (what `over` returned).
        faults: the faults in their order.
        seconds: the time of each player for all moves, without the time to get ready.
        slowest: the time of each player for its slowest move.
        thoughts: for each player a row (iterations, nodes, breadth, depth) for each move with a search.
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
        game, level: what is played.
        seats: a seat for each player of the game; all are closed afterwards.
        start: the seed of the start and of chance, as for replays.
        seed: the seed of the moves that replace failed ones.
        limits: seconds for a move of each player, None for no limit; a move that takes longer is replaced.

    Raises:
        SettingsError: the game does not have this number of players.
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
    except Exception:  # an action that the game does not have has no name
        return str(action)
