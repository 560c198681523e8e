"""Measures the direction in which a formula moves with each symbol, by trying values and not by reading signs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from persona_evo.formula.core import Formula

STEPS = 5
"""The number of values of a symbol that are tried in each state."""
MOST_STATES = 120
"""The highest number of states that are tried."""


class Effect(NamedTuple):
    """The effect of a symbol on a formula's value.

    Attributes:
        symbol: the symbol.
        up: the share of the changes, by size, in which the value rises with the symbol, 0 to 1.
        strength: the mean size of the changes, from the lowest tried value of the symbol to the highest.
    """

    symbol: str
    up: float
    strength: float


def effects(
    formula: Formula,
    states: Sequence[Mapping[str, float]],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    present: Collection[str] = (),
) -> list[Effect]:
    """Return the effect of each symbol of a formula, the strongest first.

    In each state, one symbol takes values that it has in other states, and the formula is computed again.

    Args:
        formula: a formula over symbols that the states have.
        states: symbol -> value, for all symbols of the formula; at least one state.
        ranges: symbol -> (low, high), tried if all states have the same value of the symbol.
        present: symbols for which 0 means "there is none", so that only other values are tried.
    """
    chosen = states[:: -(-len(states) // MOST_STATES)]
    found = []
    for symbol in sorted(formula.symbols):
        values = _values(symbol, states, ranges or {}, symbol in present)
        up = down = 0.0
        for state in chosen:
            results = [formula.evaluate({**state, symbol: value}) for value in values]
            for before, after in pairwise(results):
                up += max(0.0, after - before)
                down += max(0.0, before - after)
        moved = up + down
        found.append(Effect(symbol, up / moved if moved else 0.5, moved / len(chosen)))
    return sorted(found, key=lambda e: (-e.strength, e.symbol))


def _values(
    symbol: str, states: Sequence[Mapping[str, float]], ranges: Mapping[str, tuple[float, float]], present: bool
) -> list[float]:
    """Return up to STEPS values of a symbol, from its lowest to its highest."""
    seen = sorted({state[symbol] for state in states if not present or state[symbol] != 0.0})
    if len(seen) < 2:
        low, high = ranges.get(symbol, (0.0, 1.0))
        seen = [low + (high - low) * i / (STEPS - 1) for i in range(1 if present else 0, STEPS)]
    if len(seen) <= STEPS:
        return seen
    return [seen[round(i * (len(seen) - 1) / (STEPS - 1))] for i in range(STEPS)]
