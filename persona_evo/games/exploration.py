"""What can happen in a level: all states within reach of the start, up to a number of states.

The exploration is breadth-first over states with different keys, so it depends on no clock and no chance. Where it is
exhausted, it proves things: what never happened in it cannot happen. Where it is not, it still proves what holds after
so many moves whatever is played (`layer`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.analysis import leading_to
from persona_evo.games.core import LOST, RUNNING, Game, Level
from persona_evo.seeds import stream

MOST_STATES = 20_000
"""States that an exploration looks at, unless the caller says otherwise."""

State = NDArray[Any]


@dataclass
class Exploration:
    """States in the order in which they were found; number 0 is the start.

    Attributes:
        states: rows as the rules keep them.
        status: RUNNING, WON, LOST or ENDED of each.
        depth: fewest moves from the start to each.
        after: the states that follow each, by number; empty where the game is over, or where it was not looked at.
        looked: how many states, from the first, were looked at.
        exhausted: whether all states within reach were looked at.
    """

    states: list[State] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)
    looked: int = 0
    exhausted: bool = False

    @property
    def complete(self) -> int:
        """The number of moves up to which every state was found."""
        if self.exhausted or self.looked >= len(self.states):
            return self.depth[-1]
        return self.depth[self.looked]

    @property
    def longest(self) -> int:
        """Moves in the longest line of play; 0 where it is not known, or where play can go on for ever."""
        if not self.exhausted or self.endless:
            return 0
        moves = [0] * len(self.states)
        for i in self._ending():
            moves[i] = max((1 + moves[to] for to in self.after[i]), default=0)
        return moves[0]

    def has(self, outcome: int) -> bool:
        """Whether a state with this outcome was found."""
        return outcome in self.status

    @property
    def all_die(self) -> bool:
        """Whether it is proven that every continuation is lost, after `longest` moves at the latest.

        A game that can go on for ever by returning to an earlier state does not count.
        """
        return self.exhausted and set(self.status) == {RUNNING, LOST} and not self.endless

    @property
    def endless(self) -> bool:
        """Whether a game can go on for ever, by coming back to a state."""
        return bool(self.can_last())

    def can_last(self) -> set[int]:
        """The states from which a game can go on for ever."""
        return set(range(len(self.states))) - set(self._ending())

    def _ending(self) -> list[int]:
        """The states from which every line of play ends; each comes after all states that follow it."""
        before: list[list[int]] = [[] for _ in self.states]
        for i, following in enumerate(self.after):
            for to in following:
                before[to].append(i)
        left = [len(following) for following in self.after]
        over = [i for i, n in enumerate(left) if n == 0]
        for to in over:
            for i in before[to]:
                left[i] -= 1
                if left[i] == 0:
                    over.append(i)
        return over

    def leading_to(self, goals: Sequence[int]) -> set[int]:
        """The states from which one of the goals can be reached, the goals themselves included."""
        return leading_to(goals, dict(enumerate(self.after)))


def explore(
    game: Game, level: Level, most: int = MOST_STATES, seen: Callable[[State, int, State], None] | None = None,
    until: int = RUNNING, hopeless: int = 0, held: int = 0,
) -> Exploration:  # fmt: skip
    """Look at the states within reach of a level's start.

    Args:
        most: states looked at.
        seen: told every move: the state before, the action, the state after (not to be kept or changed).
        until: the outcome at whose first state the exploration ends; RUNNING for none.
        hopeless: from so many states on, give up where more states wait than were looked at; 0 never to.
        held: states kept at most, also those that are not looked at; 0 for no limit.

    Returns:
        What was found. The game must be deterministic and have one player.
    """
    rules, tables = game.rules(), level.tables
    found = Exploration([level.start.copy()], [int(rules.over(tables, level.start))], [0], [()])
    number = {int(rules.key(tables, level.start)): 0}
    actions, rng = np.zeros(max(1, level.max_actions), dtype=np.int64), stream(1)
    i = last = 0
    while i < len(found.states):
        if i >= most or (until != RUNNING and until in found.status[last:]):
            break
        if hopeless and i >= hopeless and len(found.states) > 2 * i:
            break
        if held and len(found.states) > held:
            break
        last = len(found.states)
        if found.status[i] == RUNNING:
            state, following = found.states[i], []
            for action in actions[: int(rules.legal(tables, state, actions))].tolist():
                new = state.copy()
                rules.step(tables, new, action, rng)
                if seen is not None:
                    seen(state, action, new)
                key = int(rules.key(tables, new))
                to = number.get(key)
                if to is None:
                    to = number[key] = len(found.states)
                    found.states.append(new)
                    found.status.append(int(rules.over(tables, new)))
                    found.depth.append(found.depth[i] + 1)
                    found.after.append(())
                following.append(to)
            found.after[i] = tuple(dict.fromkeys(following))
        i += 1
    found.looked = i
    found.exhausted = all(status != RUNNING for status in found.status[i:])
    return found


def layers(found: Exploration) -> Iterator[list[int]]:
    """The running states that some play is in after exactly 0, 1, 2 ... moves; they mean something up to `complete`.

    Play may come back to a state, so a state can be in several layers.
    """
    here = {0}
    while True:
        yield sorted(i for i in here if found.status[i] == RUNNING)
        here = {to for i in here for to in found.after[i]}


def layer(found: Exploration, moves: int) -> list[int]:
    """The layer after so many moves (see `layers`)."""
    return next(itertools.islice(layers(found), moves, None))
