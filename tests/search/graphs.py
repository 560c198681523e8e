"""Random graphs and trees as games: what one can do, and what it is worth, was drawn beforehand.

One walks from node to node. Nodes have values, some end the game, some are counted when one enters them; the count is
no part of `key`, since it does not decide what can follow.
"""

from __future__ import annotations

from random import Random
from typing import Any

from persona_evo.games.core import Game, Metric
from persona_evo.games.python_game import from_class

METRICS = (
    Metric("ST", "steps", "moves so far", better="lower", clock=True),
    Metric("A", "value a", "drawn for the node", low=-1, high=1, better="higher"),
    Metric("B", "value b", "drawn for the node", low=-1, high=1),
    Metric("C", "counted", "marked nodes entered so far"),
)
ENDS = ("won", "lost", "ended")
MOST_EDGES = 4


class Map:
    """The nodes. edges: where each leads. ends: what `over` says. tree: edges lead to higher numbers, one to each."""

    def __init__(self, seed: int, nodes: int, tree: bool) -> None:
        rng = Random(f"graph {seed} {nodes} {tree}")
        self.edges: list[list[int]] = [[] for _ in range(nodes)]
        for node in range(1, nodes):
            open_ones = [n for n in range(node) if len(self.edges[n]) < MOST_EDGES]
            self.edges[rng.choice(open_ones[-8:])].append(node)
        for out in self.edges if not tree else ():
            spare = MOST_EDGES - len(out)
            out += [n for n in rng.sample(range(nodes), min(nodes, rng.randint(0, 2), spare)) if n not in out]
        for out in self.edges:
            rng.shuffle(out)
        self.values = [(rng.randint(-10, 10) / 10, rng.randint(-10, 10) / 10) for _ in range(nodes)]
        self.ends = [None, *(rng.choice(ENDS) if rng.random() < 0.15 else None for _ in range(nodes - 1))]
        self.marked = [rng.random() < 0.3 for _ in range(nodes)]

    def within(self, node: int, moves: int) -> set[int]:
        """Return all nodes that one can come to with so many moves."""
        found, layer = {node}, {node}
        for _ in range(moves):
            layer = {n for at in layer if not self.ends[at] for n in self.edges[at]} - found
            if not layer:
                break
            found |= layer
        return found


class Walk:
    """Somebody in a graph; the level is its seed, its number of nodes, and the word tree or graph."""

    metrics = METRICS

    def __init__(self, world: Map, at: int = 0, steps: int = 0, count: int = 0) -> None:
        self.world, self.at, self.steps, self.count = world, at, steps, count

    @classmethod
    def from_text(cls, text: str) -> Walk:
        seed, nodes, kind = text.split()
        return cls(Map(int(seed), int(nodes), kind == "tree"))

    def copy(self) -> Walk:
        return type(self)(self.world, self.at, self.steps, self.count)

    def legal(self) -> list[int]:
        return list(range(len(self.world.edges[self.at])))

    def apply(self, action: int) -> None:
        self.at, self.steps = self.world.edges[self.at][action], self.steps + 1
        self.count += self.world.marked[self.at]

    def over(self) -> str | None:
        return self.world.ends[self.at]

    def measure(self) -> dict[str, float]:
        a, b = self.world.values[self.at]
        return {"ST": self.steps, "A": a, "B": b, "C": self.count}

    def key(self) -> int:
        return self.at


class Bounded(Walk):
    """With limits as tight as they can be for the values, and a loose one for the count."""

    def reach(self, moves: int) -> dict[str, tuple[float, float]]:
        values = [self.world.values[n] for n in self.world.within(self.at, moves)]
        (a_low, b_low), (a_high, b_high) = map(min, zip(*values, strict=True)), map(max, zip(*values, strict=True))
        return {
            "ST": (self.steps, self.steps + moves),
            "A": (a_low, a_high),
            "B": (b_low, b_high),
            "C": (self.count, self.count + moves),
        }


def game_of(cls: type[Any]) -> Game:
    """Return the game of one of the classes."""
    return from_class(cls, max_actions=MOST_EDGES)


WALK, BOUNDED = game_of(Walk), game_of(Bounded)
