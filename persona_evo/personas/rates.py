"""Exchange rates between the terms of a utility, such as "one treasure opened is worth 14 steps"."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from persona_evo.words import percent

if TYPE_CHECKING:
    from persona_evo.formula import Formula
    from persona_evo.games.core import Game, Metric

MOST_STATES = 200
"""Number of states in which the worth of a unit is computed, at most."""
EXACT = 1e-9
"""Relative difference up to which a unit is worth the same in all states."""
PART = 0.1
"""Unit of a metric that is neither a count nor a share of a count."""


@dataclass(frozen=True)
class Unit:
    """An amount of a metric that means something to people.

    Attributes:
        metric: the metric.
        size: the amount.
        name: the amount in words, such as "one treasure opened (of 5 in train01)".
    """

    metric: Metric
    size: float
    name: str


def rates(utility: Formula, game: Game, levels: Mapping[str, Sequence[Mapping[str, float]]]) -> list[str]:
    """Return the exchange rates between the metrics that a utility reads.

    The rates are in moves if the utility counts them, and otherwise in units of the metric that is worth least. If a
    unit is not worth the same in all states, the rate is that of the median state, and the sentence says so.

    Args:
        utility: the utility of a persona.
        game: the game whose metrics it reads.
        levels: real states (symbol -> value) of some levels by the level's name. The first level in which a share
            changes shows how many there are in the whole.

    Returns:
        A sentence for each rate, with the metric that is worth most first; none if fewer than two metrics count.
    """
    states = [state for part in levels.values() for state in part][:: _every(levels)]
    metrics = [m for m in game.metrics if m.symbol in utility.symbols]
    units = {m.symbol: _unit(m, levels) for m in metrics}
    worth = {symbol: _worth(utility, unit, states) for symbol, unit in units.items()} if states else {}
    known = {symbol: value for symbol, (value, _) in worth.items() if value != 0.0}
    if len(known) < 2:
        return []
    clock = next((m.symbol for m in metrics if m.clock and m.symbol in known), None)
    coin = clock or min(known, key=lambda symbol: (abs(known[symbol]), symbol))
    lines = []
    for symbol in sorted(known, key=lambda s: (-abs(known[s]), s)):
        if symbol == coin:
            continue
        amount = abs(known[symbol] / known[coin])
        verb = "is worth" if known[symbol] > 0 else "costs as much as"
        differs = "" if worth[symbol][1] and worth[coin][1] else ", in a typical state (it differs between states)"
        lines.append(f"{units[symbol].name} {verb} {_amount(amount, units[coin])}{differs}")
    return lines


def _every(levels: Mapping[str, Sequence[Mapping[str, float]]]) -> int:
    return max(1, sum(map(len, levels.values())) // MOST_STATES)


def _worth(utility: Formula, unit: Unit, states: Sequence[Mapping[str, float]]) -> tuple[float, bool]:
    """Return what one unit more is worth in the median state, and whether it is worth the same in all states."""
    symbol, top = unit.metric.symbol, unit.metric.high
    found = []
    for state in states:
        now = state[symbol]
        less, more = (now, now + unit.size) if now + unit.size <= top + EXACT else (now - unit.size, now)
        found.append(utility.evaluate({**state, symbol: more}) - utility.evaluate({**state, symbol: less}))
    middle = statistics.median_low(found)
    return middle, all(abs(value - middle) <= EXACT * max(1.0, abs(middle)) for value in found)


def _unit(metric: Metric, levels: Mapping[str, Sequence[Mapping[str, float]]]) -> Unit:
    values = {name: sorted({state[metric.symbol] for state in states}) for name, states in levels.items()}
    every = sorted({value for some in values.values() for value in some})
    one = singular(metric.name)
    if metric.ratio and one != metric.name:
        for name, seen in values.items():
            steps = [b - a for a, b in pairwise(seen) if b - a > 1e-6]
            if steps:
                count = round(1 / min(steps))
                return Unit(metric, 1 / count, f"one {one} (of {count} in {name})")
    if metric.high == 1 and set(every) <= {0.0, 1.0}:
        return Unit(metric, 1.0, f"{metric.symbol} ({metric.name})")
    if metric.high > 1 and every and all(value == round(value) for value in every):
        unit = "1" if metric.unit in ("", "times") else f"one {singular(metric.unit)}"
        return Unit(metric, 1.0, f"one {one}" if one != metric.name else f"{unit} of {metric.name}")
    share = percent(PART) if metric.ratio else f"{PART:g}"
    return Unit(metric, PART, f"{share} of {metric.name} ({metric.symbol})")


def _amount(amount: float, unit: Unit) -> str:
    metric = unit.metric
    if metric.clock:
        number, word = _number(amount), metric.unit or metric.name
        return f"{number} {word.removesuffix('s') if number == '1' else word}"
    span = metric.high - metric.low
    if unit.size != PART or not math.isfinite(span):
        return f"{_number(amount)} times {unit.name}"
    whole = amount * PART / span
    part = percent(whole) if whole < 1 else f"{_number(whole)} times all"
    return f"{part} of {metric.name} ({metric.symbol})"


def _number(amount: float) -> str:
    return f"{amount:.3g}" if amount < 1000 else f"{amount:,.0f}"


def singular(name: str) -> str:
    """Return the name of one thing that a metric counts: "treasures opened" -> "treasure opened"."""
    words = name.split()
    for i, word in enumerate(words):
        if word.endswith("s") and not word.endswith("ss"):
            words[i] = word[:-3] + "y" if word.endswith("ies") else word[:-1]
            break
    return " ".join(words)
