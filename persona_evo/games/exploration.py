"""Explores what can happen in a level: all states within reach of the start, up to a number of states."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.analysis import leading_to
from persona_evo.games.core import LOST, RUNNING, Game, Level, State
from persona_evo.games.following import Following, Successors

MOST_STATES = 20_000
"""States that an exploration looks at, unless the caller says otherwise."""

Seen = Callable[[State, NDArray[np.int64], State], None]
"""Told all moves of an exploration, many at a time: a table with the state before each in a row, the actions, and a
table of the states after them, which is used again for the next ones."""


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
        """Return whether a state with this outcome was found."""
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
        """Return the states from which a game can go on forever."""
        return set(range(len(self.states))) - set(self._ending())

    def _ending(self) -> list[int]:
        """Return the states from which every line of play ends; each comes after all states that follow it."""
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
        """Return the states from which one of the goals can be reached, including the goals themselves."""
        return leading_to(goals, dict(enumerate(self.after)))


def explore(
    game: Game,
    level: Level,
    most: int = MOST_STATES,
    seen: Seen | None = None,
    until: int = RUNNING,
    hopeless: int = 0,
    held: int = 0,
) -> Exploration:
    """Look at the states within reach of a level's start.

    Args:
        most: states looked at.
        seen: told all moves.
        until: the outcome at whose first state the exploration ends; RUNNING for none.
        hopeless: from so many states on, give up where more states wait than were looked at; 0 never to.
        held: the largest number of states that are kept, including those that are not examined; 0 for no limit.

    Returns:
        What was found. The game must be deterministic and have one player.
    """
    rules, tables = game.rules(), level.tables
    found = Exploration([level.start.copy()], [int(rules.over(tables, level.start))], [0], [()])
    number, following, last = {int(rules.key(tables, level.start)): 0}, Following(game, level), 0

    def ends() -> bool:
        kept, looked = len(found.states), found.looked
        return (
            looked >= kept
            or looked >= most
            or (until != RUNNING and until in found.status[last:])
            or 0 < hopeless <= looked < kept - looked
            or 0 < held < kept
        )

    while not ends():
        block = range(found.looked, min(len(found.states), most, found.looked + following.most))
        running = [i for i in block if found.status[i] == RUNNING]
        after = following.of([found.states[i] for i in running])
        counts, told = dict(zip(running, after.counts, strict=True)), 0
        for i in block:
            if ends():
                break
            first, told, last = told, told + counts.get(i, 0), len(found.states)
            _add(found, number, i, after, range(first, told))
            found.looked += 1
        if seen is not None and told:
            before = np.repeat([found.states[i] for i in running], after.counts, axis=0)
            seen(before[:told], after.moves[:told], after.rows[:told])
    found.exhausted = all(status != RUNNING for status in found.status[found.looked :])
    return found


def _add(found: Exploration, number: dict[int, int], i: int, after: Successors, which: range) -> None:
    """Add the successors of a state to what was found.

    Args:
        found: the exploration.
        number: the number of each known state, by its key.
        i: the number of the state.
        after: its successors.
        which: the rows of `after` to add.
    """
    to = []
    for k in which:
        key = after.keys[k]
        if key not in number:
            number[key] = len(found.states)
            found.states.append(after.rows[k].copy())
            found.status.append(after.ends[k])
            found.depth.append(found.depth[i] + 1)
            found.after.append(())
        to.append(number[key])
    found.after[i] = tuple(dict.fromkeys(to))


def layers(found: Exploration) -> Iterator[list[int]]:
    """Yield the running states after exactly 0, 1, 2, ... moves; they are meaningful up to `complete`.

    Play may return to a state, so a state can be in several layers.
    """
    here = {0}
    while True:
        yield sorted(i for i in here if found.status[i] == RUNNING)
        here = {to for i in here for to in found.after[i]}


def layer(found: Exploration, moves: int) -> list[int]:
    """Return the layer after a number of moves (see `layers`)."""
    return next(itertools.islice(layers(found), moves, None))
