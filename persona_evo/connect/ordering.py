"""What a search orders of a connected game, and what it gets back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from persona_evo.compiling.arrays import FloatRow
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, Lost
from persona_evo.connect.scores import RAW


class RolloutResult(Protocol):
    """The part of a rollout's result that a search reads; `protocol.Result` implements it."""

    @property
    def score(self) -> float:
        """The game's own score."""

    @property
    def hash(self) -> int:
        """The hash of the state at the end."""

    @property
    def trace(self) -> bytes:
        """The encoded pairs of choice and count."""

    @property
    def decisions(self) -> int:
        """The number of decisions in the trace."""

    @property
    def weights(self) -> Sequence[float]:
        """The weights of the first decision after the prefix, if the order asks for them and there are any."""

    def count(self, i: int, /) -> int:
        """Return the number of choices at decision i."""

    def row(self, i: int, /) -> Sequence[float] | FloatRow:
        """Return the metrics before decision i."""

    def last(self) -> Sequence[float] | FloatRow:
        """Return the metrics at the end."""


class RolloutSource(Protocol):
    """A player of a search's rollouts: a pool of processes, a share of one, or a game in this process."""

    @property
    def findings(self) -> list[FailingRollout]:
        """The rollouts that made the game fail."""

    def submit(self, order: p.Rollout, /) -> int:
        """Order a rollout and return its number."""

    def next(self) -> RolloutResult | Lost:
        """Return the result of the oldest order whose result has not been returned yet."""

    def settle(self) -> None:
        """Forget all orders."""


@dataclass(frozen=True)
class Ordering:
    """Settings of how a search orders rollouts.

    Attributes:
        slots: the number of rollouts under way at once.
        mode: UNIFORM, WEIGHTS or POLICY.
        inside: whether UCB1's constant stands inside the root.
        whole: whether a rollout that beats the best one so far is added to the tree as a whole (`save_best_path`).
        scores: NORMALISED if utilities are divided by their range for UCB1's own constant (see `scores`), or RAW.
        snapshots: whether the game can keep the states of nodes and begin there (capability `snapshot`). This does not
            change any result.
        wide: the number of choices from which a node is wide (see `search.prefixes`); 0 for none.
        priors: whether wide nodes are searched in the order of the weights that the game gives their choices.
        worlds: the number of game seeds that an `OpenLoopSearch` averages over; 0 to search with the level's own.
    """

    slots: int = 1
    mode: int = p.UNIFORM
    inside: bool = False
    whole: bool = False
    scores: str = RAW
    snapshots: bool = False
    wide: int = 0
    priors: bool = False
    worlds: int = 0


@dataclass(frozen=True)
class FinishedRollout:
    """A rollout that was played to its end; `number` counts from 0, in the order of results."""

    number: int
    utility: float
    score: float
    metrics: dict[str, float]
    trace: tuple[tuple[int, int], ...]
    rollout_seed: int
    hash: int


@dataclass(frozen=True)
class PendingRollout:
    """A rollout under way.

    Attributes:
        node, depth: the node that it starts from, and the number of decisions before it.
        seed: the seed of its choices.
        again: its utility if that is known already.
        draw: whether the choice that it makes at its node becomes a child.
        ask: whether its result tells the weights of its node.
    """

    node: int
    seed: int
    depth: int
    again: float | None = None
    draw: bool = False
    ask: bool = False
