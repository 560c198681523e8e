"""The game seeds that stand for what a player cannot know: the worlds that an open-loop search averages over.

A world is worth searching if it agrees with what the player has seen: the same choices lead to the same numbers of
choices and to the same metrics before every decision so far. Whether a seed does so shows only when it is played. Each
world's first rollout in a state is therefore a probe. If the seed does not agree, another one is drawn. After a number
of failures, those of the seeds that were probed take the remaining places whose metrics are closest to what was seen:
after the last move, and in what each move changed, as shares of the ranges seen. A seed with which the moves cannot be
made is never used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from persona_evo.connect import protocol as p
from persona_evo.connect.ordering import PendingRollout, RolloutResult
from persona_evo.seeds import SplitMix64

NEW, PROBED, READY, GIVEN_UP = range(4)
"""The states of a world: not probed yet, under way with its probe, in use, and without a seed that can be used."""

_SEED_BITS = 63


class Observation(NamedTuple):
    """What the player of a game has seen.

    Attributes:
        prefix: the encoded pairs of choice and count so far.
        rows: the metrics before each of these choices, and the present ones.
        choices: the number of choices now, at least 1.
    """

    prefix: bytes = b""
    rows: tuple[tuple[float, ...], ...] = ()
    choices: int = 0

    @classmethod
    def of(cls, result: RolloutResult, decisions: int) -> Observation:
        """Return what a player sees before the decision with this number in a rollout, or when the game is over."""
        over = result.decisions == decisions
        rows = [tuple(result.row(i)) for i in range(decisions)]
        rows.append(tuple(result.last() if over else result.row(decisions)))
        return cls(result.trace[: decisions * p.PAIR], tuple(rows), 0 if over else result.count(decisions))

    @property
    def decisions(self) -> int:
        """The number of choices so far."""
        return len(self.prefix) // p.PAIR


@dataclass(frozen=True)
class WorldRollout(PendingRollout):
    """A rollout under way in one of several worlds.

    Attributes:
        world: the number of the world.
        prefix: the encoded choices that it is to make, with the numbers of choices that are expected.
        probe: whether it shows whether the world agrees with what was seen.
    """

    world: int = 0
    prefix: bytes = b""
    probe: bool = False


class WorldProbe(NamedTuple):
    """The first rollout of a seed in a state, and its result."""

    seed: int
    order: WorldRollout
    result: RolloutResult


class Worlds:
    """The worlds of a search.

    Args:
        number: how many there are.
        random: draws their seeds.
    """

    def __init__(self, number: int, random: SplitMix64) -> None:
        self._random = random
        self.seeds = [self._draw() for _ in range(number)]
        self._states = [NEW] * number
        self._seen = Observation()
        self._others: list[tuple[float, WorldProbe]] = []
        self._low = self._high = np.zeros(0)
        self._turn = self._failures = self._allowed = 0

    def look(self, seen: Observation, failures: int) -> None:
        """Probe all worlds again in a state, which `failures` seeds may fail to agree with."""
        self._seen, self._allowed, self._failures, self._turn = seen, failures, 0, 0
        self._states = [NEW] * len(self.seeds)
        self._others.clear()
        now = np.array(seen.rows[-1])
        known = self._low if len(self._low) else now, self._high if len(self._high) else now
        self._low, self._high = np.minimum(known[0], now), np.maximum(known[1], now)

    def next(self) -> int | None:
        """Return the world of the next rollout, in turn; None if the probes of all others are under way."""
        for k in range(len(self.seeds)):
            world = (self._turn + k) % len(self.seeds)
            if self._states[world] in (NEW, READY):
                self._turn = world + 1
                return world
        return None

    def begin_probe(self, world: int) -> bool:
        """Return whether the next rollout of a world is its probe, which it then is."""
        probe = self._states[world] == NEW
        if probe:
            self._states[world] = PROBED
        return probe

    def accept(self, order: WorldRollout, result: RolloutResult) -> bool:
        """Return whether a world's probe shows that it agrees; if not, another seed takes its place."""
        world, away = order.world, self._distance(result)
        if away == 0.0:
            self._states[world] = READY
            return True
        if away < math.inf:
            self._others.append((away, WorldProbe(self.seeds[world], order, result)))
        self.give_up(world)
        return False

    def give_up(self, world: int) -> None:
        """Give a world that failed its probe another seed, unless too many have failed."""
        self._failures += 1
        if self._failures <= self._allowed:
            self.seeds[world] = self._draw()
            self._states[world] = NEW
        else:
            self._states[world] = GIVEN_UP

    def second_best(self) -> list[tuple[WorldRollout, RolloutResult]]:
        """Give the worlds without a seed the best of those that were probed, and return their probes."""
        found = []
        for world, state in enumerate(self._states):
            if state == GIVEN_UP and self._others:
                best = min(range(len(self._others)), key=lambda i: self._others[i][0])
                _, probe = self._others.pop(best)
                self.seeds[world], self._states[world] = probe.seed, READY
                found.append((replace(probe.order, world=world), probe.result))
        return found

    def _distance(self, result: RolloutResult) -> float:
        """Return how far a rollout is from what was seen; 0 if it agrees, infinity if its seed cannot be used."""
        seen, at = self._seen, self._seen.decisions
        if result.decisions <= at or not result.trace.startswith(seen.prefix) or not result.count(at):
            return math.inf
        rows = np.array([result.row(i) for i in range(at + 1)])
        self._low, self._high = np.minimum(self._low, rows[at]), np.maximum(self._high, rows[at])
        away, span = rows - np.array(seen.rows), self._high - self._low
        steps, total = np.abs(away[at]), float(result.count(at) != seen.choices)
        for step in np.abs(np.diff(away, axis=0)):
            steps += step
        for share in (steps / np.where(span > 0, span, 1.0)).tolist():
            total += share
        return total

    def _draw(self) -> int:
        return self._random.next() >> (64 - _SEED_BITS)
