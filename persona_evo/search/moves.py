"""A search that chooses moves one by one: what it is given, what it returns, and how it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from persona_evo.compiling.arrays import WordRow
from persona_evo.formula import Formula
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

CHOICES = ("visits", "mean", "max")
"""Ways to choose a child of the root: the one with the most visits, the highest mean or the highest maximum."""


@dataclass(frozen=True)
class Option:
    """A move at the root.

    Attributes:
        action: the move.
        visits: how often it was tried.
        mean, max: the mean and the maximum of the utilities after it, for the player to move.
    """

    action: int
    visits: int
    mean: float
    max: float


@dataclass(frozen=True)
class ChosenMove:
    """A move that a search has chosen.

    Attributes:
        action: the move.
        options: all moves that were tried, in the game's order.
        iterations, nodes, seconds: what the search took.
        kept: the number of nodes that an earlier search had made.
        full: whether the memory for the tree was used up.
    """

    action: int
    options: tuple[Option, ...]
    iterations: int
    nodes: int
    kept: int
    full: bool
    seconds: float


class MovesSpec(NamedTuple):
    """What a search from move to move is for, and how it chooses: arguments of `Actor`."""

    utility: Formula
    policy: TreePolicy
    budget: Budget
    settings: SearchSettings
    choose: str | Formula = "visits"
    variant: str = ""
    seed: int = 0


class MoveSearch(Protocol):
    """What plays move by move: an `Actor`, or that of a game in a process of its own."""

    budget: Budget

    def think(self, state: WordRow) -> ChosenMove:
        """See `Actor.think`."""

    def follow(self, action: int) -> None:
        """See `Actor.follow`."""

    def shape(self) -> tuple[int, int]:
        """See `Actor.shape`."""


def best_option(options: Sequence[Option], choice: str) -> Option:
    """Return the option that one of CHOICES prefers, of equal ones the first."""
    if choice == "visits":
        return max(options, key=lambda o: (o.visits, o.mean))
    return max(options, key=lambda o: (o.mean if choice == "mean" else o.max, o.visits))
