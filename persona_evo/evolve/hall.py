"""The hall of fame: the best of a run, with small formulas beside good ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from persona_evo.evolve.records import Individual


def front(individuals: Iterable[Individual]) -> list[Individual]:
    """Return the Pareto front of fitness and size, best first: no other is both smaller and at least as fit."""
    chosen: list[Individual] = []
    smallest = float("inf")
    for individual in sorted(individuals, key=_order):
        if individual.size < smallest:
            chosen.append(individual)
            smallest = individual.size
    return chosen


def update(hall: Sequence[Individual], newcomers: Iterable[Individual], capacity: int) -> list[Individual]:
    """Return the hall after newcomers are added: the front, then the front of the rest, and so on up to the capacity.

    The later fronts are kept because fitness is measured with noise: if a member of the first front turns out worse,
    the individuals that it dominated return. Of several with the same key or text, the best-known one is kept.
    """
    rest: dict[str, Individual] = {}
    for individual in (*hall, *newcomers):
        known = rest.get(individual.key)
        if known is None or _merit(individual) > _merit(known):
            rest[individual.key] = individual
    left = sorted(rest.values(), key=_order)
    chosen: list[Individual] = []
    while left and len(chosen) < capacity:
        layer = front(left)
        chosen.extend(layer[: capacity - len(chosen)])
        members = {id(i) for i in layer}
        left = [i for i in left if id(i) not in members]
    return sorted((i.copy() for i in chosen), key=_order)


def _order(individual: Individual) -> tuple[float, int, str]:
    return (-individual.fitness, individual.size, individual.formula)


def _merit(individual: Individual) -> tuple[int, int, float]:
    """Return the sort key of duplicates: the most evaluations first, then the smallest, then the fittest."""
    return (individual.trials, -individual.size, individual.fitness)
