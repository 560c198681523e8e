"""Tells whether the hero survives the traps on his way, ignoring monsters; exact except for two simplifications.

A trap costs 1 hit point each time, and a potion gives 1 hit point once. Both simplifications favour the hero, so what
is reported as deadly is deadly: he drinks every potion within reach before he goes on, and between two traps he gets
everywhere, even where a portal does not lead back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from persona_evo.games.analysis import Moves, distances, leading_to, least_cost
from persona_evo.games.findings import Spot

MOST_STATES = 20_000
"""The largest number of states to explore; beyond it, a simpler estimate is used, which is as safe."""
MOST_TRAPS = 300
"""The largest number of traps for which the ground behind each is computed."""


@dataclass(frozen=True)
class Survival:
    """The result of the survival analysis.

    Attributes:
        damage: the fewest traps sprung on any way to each tile that can be reached.
        alive: the tiles that can be reached alive.
        leaves: those of `alive` from which the exit can be reached alive; all of them if that was not computed.
        drinkable: the potions that can be drunk.
    """

    damage: dict[Spot, int]
    alive: set[Spot]
    leaves: set[Spot]
    drinkable: list[Spot] = field(default_factory=list)


def survival(
    start: Spot, goal: Spot, moves: Moves, traps: Collection[Spot], potions: Sequence[Spot], health: int, cap: int
) -> Survival:
    """Compute what can be reached alive.

    Args:
        moves: the moves of the hero.
        health: the hit points at the start.
        cap: the most hit points that potions can give; 0 for no limit.
    """
    damage = least_cost(start, moves, lambda tile: tile in traps)
    found = None
    if len(traps) <= MOST_TRAPS:
        found = _Walk(start, goal, moves, set(traps), potions, health, cap).result()
    alive, leaves = found or (None, None)
    if alive is None or leaves is None:
        alive = _estimate(damage, potions, health)
        leaves = alive
    return Survival(damage, alive, leaves, [p for p in potions if p in alive])


def _estimate(damage: dict[Spot, int], potions: Sequence[Spot], health: int) -> set[Spot]:
    """Return the tiles in reach if every potion in reach could be drunk at once."""
    drunk = -1
    while (now := sum(damage.get(p, health + len(potions)) < health + max(0, drunk) for p in potions)) != drunk:
        drunk = now
    return {tile for tile, cost in damage.items() if cost < health + drunk}


State = tuple[Spot, int, int]
"""The last trap (or the start), the potions drunk as bits, and the hit points."""


class _Walk:
    """A search over all ways from trap to trap."""

    def __init__(
        self, start: Spot, goal: Spot, moves: Moves, traps: set[Spot], potions: Sequence[Spot], health: int, cap: int
    ) -> None:
        self.moves, self.traps, self.potions, self.cap, self.goal = moves, traps, potions, cap, goal
        self.ground: dict[Spot, tuple[set[Spot], int, list[Spot]]] = {}
        self.edges: dict[State, set[State]] = {}
        self.first = self._enter(start, 0, health)

    def _behind(self, tile: Spot) -> tuple[set[Spot], int, list[Spot]]:
        """Return the tiles reached from a tile without a trap, the potions there as bits, and the adjacent traps."""
        if tile not in self.ground:
            free = set(distances([tile], self.moves, self.traps))
            bits = sum(1 << k for k, potion in enumerate(self.potions) if potion in free)
            beside = dict.fromkeys(to for t in free for to in self.moves.get(t, ()) if to in self.traps)
            self.ground[tile] = free, bits, list(beside)
        return self.ground[tile]

    def _enter(self, tile: Spot, drunk: int, health: int) -> State:
        """Return the state after reaching a tile alive and drinking all potions there."""
        left = self._behind(tile)[1] & ~drunk
        while left and (self.cap == 0 or health < self.cap):
            bit = left & -left
            drunk, left, health = drunk | bit, left & ~bit, health + 1
        return tile, drunk, health

    def result(self) -> tuple[set[Spot], set[Spot]] | None:
        """Return the tiles reached alive, and those with a way to the exit; None if there are too many states."""
        queue = [self.first]
        for state in queue:
            tile, drunk, health = state
            if state in self.edges:
                continue
            if len(self.edges) >= MOST_STATES:
                return None
            following = self._behind(tile)[2] if health > 1 else []
            self.edges[state] = {self._enter(trap, drunk, health - 1) for trap in following}
            queue += self.edges[state]
        return self._alive(self.edges), self._leaving()

    def _alive(self, states: Iterable[State]) -> set[Spot]:
        found: set[Spot] = set()
        for tile in {state[0] for state in states}:
            found |= self.ground[tile][0]
        return found

    def _leaving(self) -> set[Spot]:
        return self._alive(leading_to((s for s in self.edges if self.goal in self.ground[s[0]][0]), self.edges))
