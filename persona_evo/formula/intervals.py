"""Bounds the values of a formula whose variables lie within ranges, and finds its direction in one variable.

Both answers are safe (see `interval_rules`). Each operation has its rule in the table of primitives. One without a rule
is an error and never takes the rule of another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from persona_evo.formula.arithmetic import clean
from persona_evo.formula.core import Formula
from persona_evo.formula.interval_rules import CONSTANT, FALLING, RISING, ROUNDING, UNKNOWN, Span
from persona_evo.formula.primitives import PRIMITIVES

if TYPE_CHECKING:
    from persona_evo.formula.interval_rules import Spans

__all__ = ["CONSTANT", "FALLING", "RISING", "ROUNDING", "UNKNOWN", "Span", "span", "spans"]


def span(formula: Formula, ranges: Mapping[str, tuple[float, float]], symbol: str = "") -> Span:
    """Return the interval of a formula's values over ranges of its variables, and its direction in `symbol`.

    Args:
        formula: the formula.
        ranges: (low, high) of every symbol of the formula; infinities are allowed.
        symbol: the variable whose direction is asked for; "" for none.
    """
    stack: list[Span] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(Span(token, token))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            stack[-primitive.arity :] = [primitive.interval(*stack[-primitive.arity :])]
        else:
            low, high = ranges[token]
            stack.append(Span(clean(low), clean(high), RISING if token == symbol else CONSTANT))
    return stack[0]


def spans(formula: Formula, ranges: Mapping[str, Spans]) -> Spans:
    """Return the intervals of a formula's values over many boxes of its variables.

    Args:
        formula: the formula.
        ranges: the intervals of every symbol of the formula, within ±LIMIT; shapes broadcast.
    """
    axes = max((x.ndim for x in ranges.values()), default=1)
    stack: list[Spans] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(np.full((1,) * axes, token))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            stack[-primitive.arity :] = [primitive.intervals(np, *stack[-primitive.arity :])]
        else:
            stack.append(ranges[token])
    return stack[0]
