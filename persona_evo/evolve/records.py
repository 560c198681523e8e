"""The records of an evolution: plain values that convert to JSON and back without loss."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any


@dataclass(frozen=True)
class Request:
    """One evaluation of a tree policy: which levels to play, each once for each of its seeds.

    Attributes:
        formula: the text of the tree policy.
        seeds: the seeds by [level][trial].
        cases: the numbers of the levels; empty for all levels in their order.
        shares: the share of the budget for each level; empty for the whole budget.
    """

    formula: str
    seeds: tuple[tuple[int, ...], ...]
    cases: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def playthroughs(self) -> int:
        """The number of playthroughs in the evaluation."""
        return sum(map(len, self.seeds))


@dataclass
class Individual:
    """A formula and what is known of it.

    Attributes:
        formula: its text; `parse` gives back the same formula.
        size: the number of nodes.
        utilities: the mean utility of each level over all its evaluations; empty before the first.
        trials: the number of evaluations in these means.
        origin: how it was made: "random", "first", "crossover", "copy", "mutation:KIND".
        born: the generation of its first evaluation.
        key: the key it shares with its duplicates (see `duplicates`).
        validation: the utility of each level of the validation set, and of further levels if it was among the best;
            empty if it has not played them.
        standing: the fitness estimated from these (`standing.estimates`).
    """

    formula: str
    size: int
    utilities: list[float] = field(default_factory=list)
    trials: int = 0
    origin: str = "random"
    born: int = 0
    key: str = ""
    validation: list[float] = field(default_factory=list)
    standing: float = 0.0

    @property
    def fitness(self) -> float:
        """The mean of the levels' utilities; minus infinity before the first evaluation."""
        return fsum(self.utilities) / len(self.utilities) if self.utilities else float("-inf")

    def learn(self, utilities: list[float]) -> None:
        """Add one more evaluation to the means."""
        if not self.utilities:
            self.utilities, self.trials = list(utilities), 1
            return
        n = self.trials
        self.utilities = [(mean * n + u) / (n + 1) for mean, u in zip(self.utilities, utilities, strict=True)]
        self.trials = n + 1

    def copy(self) -> Individual:
        """Return a separate individual with the same values."""
        return replace(self, utilities=list(self.utilities), validation=list(self.validation))

    def validated(self) -> Individual:
        """Return a copy whose fitness is its standing, and whose trials are the levels that this is estimated from."""
        return replace(self.copy(), utilities=[self.standing], trials=len(self.validation))

    def to_json(self) -> list[Any]:
        """Return a compact form for `from_json`."""
        known = [self.validation, self.standing] if self.validation else []
        return [self.formula, self.size, self.utilities, self.trials, self.origin, self.born, self.key, *known]

    @classmethod
    def from_json(cls, values: list[Any]) -> Individual:
        """Make an individual from the form of `to_json`.

        Raises:
            TypeError, ValueError: the values are not an individual.
        """
        formula, size, utilities, trials, origin, born, key, *known = values
        if len(known) > 2:
            raise ValueError(f"an individual of {len(values)} values, more than 9")
        validation = [_number(u) for u in known[0]] if known else []
        standing = _number(known[1]) if len(known) > 1 else fsum(validation) / max(1, len(validation))  # of older runs
        own = [_number(u) for u in utilities]
        return cls(str(formula), int(size), own, int(trials), origin, int(born), key, validation, standing)


def _number(value: Any) -> float:
    """Return a number of a record.

    Raises:
        TypeError: it is none, as `true` or a text.
        OverflowError: it is too large for a float.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{str(value)[:40]!r} is not a number")
    return float(value)


@dataclass
class Island:
    """One population and the random stream for all random choices on it."""

    individuals: list[Individual]
    stream: random.Random


@dataclass
class EvolutionState:
    """Everything that the next generation depends on beside the settings and the seed.

    Attributes:
        generation: the number of the last evaluated generation, from 0.
        islands: the islands, each with its population and stream.
        hall: the hall of fame, best first.
        memory: key -> (utilities, trials) of evaluated formulas, the least recently used first.
        evaluations: the number of formulas evaluated so far.
        playthroughs: the number of playthroughs requested so far, including those of duplicates.
    """

    generation: int
    islands: list[Island]
    hall: list[Individual]
    memory: dict[str, tuple[list[float], int]]
    evaluations: int = 0
    playthroughs: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return values for JSON. Floats and streams are restored exactly."""
        return {
            "generation": self.generation,
            "evaluations": self.evaluations,
            "playthroughs": self.playthroughs,
            "islands": [
                {"individuals": [i.to_json() for i in island.individuals], "stream": _stream_out(island.stream)}
                for island in self.islands
            ],
            "hall": [i.to_json() for i in self.hall],
            "memory": [[key, utilities, trials] for key, (utilities, trials) in self.memory.items()],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> EvolutionState:
        """Make a state from values of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: the values are not a state.
        """
        return cls(
            generation=int(values["generation"]),
            evaluations=int(values["evaluations"]),
            islands=[
                Island([Individual.from_json(i) for i in island["individuals"]], _stream_in(island["stream"]))
                for island in values["islands"]
            ],
            hall=[Individual.from_json(i) for i in values["hall"]],
            memory={str(k): ([_number(u) for u in us], int(n)) for k, us, n in values["memory"]},
            playthroughs=int(values.get("playthroughs", 0)),
        )


@dataclass(frozen=True)
class IslandRow:
    """One island in one generation, as the journal stores it.

    Attributes:
        best: the fitness of the best individual.
        mean: the mean fitness of the island.
        size: the mean number of nodes.
        best_size: the number of nodes of the best individual.
        diversity: the share of different formulas on the island, by key if duplicates are recognised.
        evaluations: the number of formulas evaluated for this island in this generation.
        remembered: the number of formulas that reuse the result of a duplicate.
        formula: the text of the best individual.
        validation: the fitness of the best on the validation set, None if there is no such set.
    """

    generation: int
    island: int
    best: float
    mean: float
    size: float
    best_size: int
    diversity: float
    evaluations: int
    remembered: int
    formula: str
    validation: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the values in the order of the journal."""
        return {name: value for name, value in self.__dict__.items() if value is not None}


@dataclass(frozen=True)
class Generation:
    """A finished generation, as the generator of generations yields it.

    Attributes:
        index: the number of the generation, from 0.
        rows: one row for each island.
        best: the fittest in the hall of fame.
        state: everything that the next generation depends on.
        seconds: the time since the previous generation.
        evaluating: how many of these seconds the evaluation took.
    """

    index: int
    rows: tuple[IslandRow, ...]
    best: Individual
    state: EvolutionState
    seconds: float
    evaluating: float


def _stream_out(stream: random.Random) -> list[Any]:
    version, words, gauss = stream.getstate()
    return [version, list(words), gauss]


def _stream_in(values: list[Any]) -> random.Random:
    version, words, gauss = values
    stream = random.Random()
    stream.setstate((version, tuple(int(w) for w in words), gauss))
    return stream
