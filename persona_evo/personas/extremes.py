"""The state in which a utility is highest within the ranges of its metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

from persona_evo.formula import Formula

MOST = 4096
"""Number of states up to which all are tried; if there are more, one metric after the other is improved."""


def highest(
    utility: Formula, ranges: Mapping[str, tuple[float, float]], start: Mapping[str, float]
) -> dict[str, float]:
    """Find the state in which a utility is highest.

    Each metric is at an end of its range or at a constant of the utility, where its pieces meet. With more than MOST
    such states the result may be a local maximum.

    Args:
        utility: the utility.
        ranges: lowest and highest value of each metric that it reads.
        start: a state; of several best states the one that is most similar to it is returned.
    """
    constants = {t for t in utility.tokens if isinstance(t, float)}
    constants |= {-c for c in constants}
    choices: dict[str, list[float]] = {}
    for symbol in sorted(utility.symbols):
        low, high = ranges[symbol]
        inside = sorted(c for c in constants if low < c < high)
        first = start[symbol] if low <= start[symbol] <= high else low
        choices[symbol] = list(dict.fromkeys([first, low, high, *inside]))
    if math.prod(len(c) for c in choices.values()) <= MOST:
        every = [{**start, **dict(zip(choices, values, strict=True))} for values in product(*choices.values())]
        return max(every, key=lambda state: (utility.evaluate(state), _kept(state, start)))
    ends = [{s: ranges[s][k] for s in choices} for k in (0, 1)]
    climbed = [_climb(utility, {**start, **end}, choices) for end in ({}, *ends)]
    return max(climbed, key=lambda state: (utility.evaluate(state), _kept(state, start)))


def negative(utility: Formula) -> Formula:
    """Return the negative of a utility, which is highest where the utility is lowest."""
    return Formula((*utility.tokens, "neg"))


def _kept(state: Mapping[str, float], start: Mapping[str, float]) -> int:
    return sum(state[s] == v for s, v in start.items())


def _climb(utility: Formula, state: dict[str, float], choices: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Change one or two metrics at a time as long as that is an improvement."""
    value, better = utility.evaluate(state), True
    symbols = list(choices)
    while better:
        better = False
        for i, a in enumerate(symbols):
            for b in symbols[i:]:
                for x, y in product(choices[a], choices[b]):
                    tried = {**state, a: x, b: y}
                    new = utility.evaluate(tried)
                    if new > value:
                        state, value, better = tried, new, True
    return state
