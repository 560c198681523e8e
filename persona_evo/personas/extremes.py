"""Where in the ranges of its metrics a utility is highest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

from persona_evo.formula import Formula

MOST = 4096
"""States that are tried all; beyond that one metric after the other is improved."""


def highest(
    utility: Formula, ranges: Mapping[str, tuple[float, float]], start: Mapping[str, float]
) -> dict[str, float]:
    """The state of the highest value among those whose metrics are at an end of their range or at a constant of the
    utility's own (where its pieces meet), as well as it can be found; of equals one that is most like `start`.
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
    """The utility with its sign turned, whose highest state is the utility's lowest."""
    return Formula((*utility.tokens, "neg"))


def _kept(state: Mapping[str, float], start: Mapping[str, float]) -> int:
    return sum(state[s] == v for s, v in start.items())


def _climb(utility: Formula, state: dict[str, float], choices: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Change one metric, then two together, as long as that is an improvement."""
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
