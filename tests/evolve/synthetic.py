"""A fitness that costs nothing: how close a formula is to target values at fixed points, plus noise from the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from persona_evo.evolve.records import Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse

METRICS = ("ST", "PE", "MS", "HL")
LEVELS = 3
POINTS: tuple[dict[str, float], ...] = tuple(
    {
        "ST": 5.0 + k,
        "PE": 0.2 * k,
        "MS": 0.5 - 0.1 * k,
        "HL": 10.0 - k,
        "R": 0.3 + 0.1 * k,
        "N": 4.0 + k,
        "P": 20.0 + k,
        "D": 3.0,
        "RMAX": 0.9,
        "RSD": 0.1,
    }
    for k in range(LEVELS)
)


def luck(seed: int) -> float:
    """Return a number in [0, 0.05) that depends on the seed alone."""
    return (seed % 1009) / 1009 * 0.05


def synthetic(requests: Sequence[Request]) -> list[list[float]]:
    """Return utilities of each level: minus the distance to 1 + the level's number, within [-10, 0], plus luck."""
    results = []
    for request in requests:
        formula = parse(request.formula)
        values = []
        for level, seeds in enumerate(request.seeds):
            distance = abs(formula.evaluate(POINTS[level]) - 1.0 - level)
            values.append(-min(10.0, distance) + sum(map(luck, seeds)) / len(seeds))
        results.append(values)
    return results


class Counting:
    """The synthetic fitness, remembering what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[Request]] = []

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        self.batches.append(list(requests))
        return synthetic(requests)

    @property
    def requests(self) -> list[Request]:
        return [r for batch in self.batches for r in batch]


def small(preset: str = "paper", **changes: Any) -> EvolutionSettings:
    """Return a preset made small."""
    values: dict[str, Any] = {"population": 18, "islands": 3, "generations": 5, "elites": 2, "migrants": 2}
    if preset == "modern":
        values["first"] = ()
    return EvolutionSettings.of(preset, **{**values, **changes})
