"""The persona file that `persona new` writes, and explanations of what a persona's utility does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_evo.formula import Formula
from persona_evo.games.commands import command
from persona_evo.personas import extremes
from persona_evo.words import aligned

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Metric
    from persona_evo.personas.core import Persona

COUNT = 10.0
"""The high end that is assumed for a count without one."""


@dataclass(frozen=True)
class SampleState:
    """A final state, real or made up.

    Attributes:
        label: a description.
        values: the value of every metric by symbol.
    """

    label: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class SampleRow:
    """What a sample state is worth to a persona.

    Attributes:
        label: the description of the state.
        values: the metrics that the utility reads.
        utility: the utility of the state.
        parts: terms and their values, whose sum is the utility. For a persona with stages these are the completed
            stages and the terms of the current stage, both divided by the number of stages, and the terms of `always`.
        stage: the title of the current stage; "" without stages.
    """

    label: str
    values: Mapping[str, float]
    utility: float
    parts: tuple[tuple[str, float], ...]
    stage: str


def text(name: str, game: Game) -> str:
    """Return a persona file with comments to start from; it is valid as it is."""
    from persona_evo.personas.core import catalog

    taken = {word.lower() for p in catalog(game) for word in (p.name, p.short)}
    initials = "".join(part[:1] for part in name.replace("-", "_").split("_")).upper()
    short = name if initials.lower() in taken else initials
    up = [m for m in game.metrics if m.better == "higher"] or list(game.metrics)
    example = f"0.7 * {up[0].symbol} + 0.3 * {up[-1].symbol}" if len(up) > 1 else up[0].symbol
    dead = " - 5 * DEAD" if "DEAD" in game.symbols else ""
    ranges = [range_of(m.low, m.high) or "any number" for m in game.metrics]
    spread = max(map(len, ranges))
    told = {m.symbol: f"{r:<{spread}}  {m.meaning}" for m, r in zip(game.metrics, ranges, strict=True)}
    metrics = "\n".join(aligned(told, "#   "))
    return f"""\
# A persona for {game.title}. This command explains it:  {command(game, "persona", "check", f"{name}.toml")}

game = "{game.name}"
title = "{name.replace("_", " ").replace("-", " ").title()}"
short = "{short}"
description = "What this kind of player wants, in a sentence."

# The metric that matters most to this persona; runs of an evolution are compared by it.
priority = "{up[0].symbol}"

# What the end of a playthrough is worth to this player. Values between 0 and 1 suit the search best.
# Operations: + - * /   > >= < <=   x ^ 2   abs sqrt log exp min(a, b) max(a, b) if(condition, a, b)
# The game's metrics:
{metrics}
utility = "{example}{dead}"

# A persona whose goal changes has stages instead of one utility: delete the line above and uncomment these lines.
# A stage lasts until its condition is true. `always` counts in every stage. The utility is then
#   (completed stages + utility of the current stage) / number of stages + always
# so a later stage is worth more than an earlier one as long as the utility of each stage stays between 0 and 1.
# always = "{dead.strip().replace("- ", "-") or up[0].symbol}"
#
# [[stages]]
# title = "first this"
# utility = "{up[0].symbol}"
# until = "{up[0].symbol} >= 0.5"
#
# [[stages]]
# title = "then that"
# utility = "{up[-1].symbol}"
{_LISTS if game.planned else ""}"""


_LISTS = """
## The planner expands the states of a level in the order of several lists, which take turns. Lists of your own
## replace the default ones: uncomment and change these. A list with a larger weight has more turns. A score may use
## the metrics above and
##   OWN (the policy's score, or the utility without one)   UTILITY   CARE (what keeps the player in the game)
##   CEILING (the highest utility that can still be reached)   D (moves from the start)
#
# [[lists]]
# score = "UTILITY - 0.001 * D"
# weight = 1.0
# novel = true    # states with something that no state had before come first
#
# [[lists]]
# score = "CARE + 0.1 * OWN"
"""
"""The part of a persona file about lists, for games that are planned."""


def range_of(low: float | None, high: float | None) -> str:
    """Return the range of a metric in words; "" without bounds. None and infinity stand for no bound."""
    bottom = "" if low is None or low == float("-inf") else f"{low:g}"
    top = "" if high is None or high == float("inf") else f"{high:g}"
    if not bottom:
        return f"up to {top}" if top else ""
    return f"{bottom} to {top}" if top else f"from {bottom}"


def high_end(metric: Metric, game: Game) -> float:
    """Return the high end of a metric's range; without one, the horizon for the clock, COUNT with a unit, or else 1."""
    if metric.high != float("inf"):
        return metric.high
    return float(game.horizon) if metric.clock else low_end(metric) + (COUNT if metric.unit else 1.0)


def low_end(metric: Metric) -> float:
    """Return the low end of a metric's range; without one, 0, or less if the high end is not above 0."""
    return metric.low if metric.low != float("-inf") else min(0.0, metric.high - 1.0)


def assumed(game: Game, utility: Formula) -> dict[str, float]:
    """Return the high ends that are assumed for metrics of a utility that have none, by symbol."""
    return {
        m.symbol: high_end(m, game)
        for m in game.metrics
        if m.symbol in utility.symbols and m.high == float("inf") and not m.clock
    }


def samples(game: Game, persona: Persona | None = None) -> list[SampleState]:
    """Return made-up states from the ranges of the metrics, which possibly no level can reach.

    Args:
        game: the game with the metrics.
        persona: the persona whose best case is sought; without one, the best case is that of the game.

    Returns:
        A state with all metrics low, and the best case. Then, for each metric that the persona reads, a state with
        this metric high and all others low, and the best case with this metric at the other end of its range.
    """
    low = {m.symbol: low_end(m) for m in game.metrics}
    high = {m.symbol: high_end(m, game) for m in game.metrics}
    best = {m.symbol: high[m.symbol] if m.better == "higher" else low[m.symbol] for m in game.metrics}
    if persona is not None:
        best = extremes.highest(persona.utility, {s: (low[s], high[s]) for s in game.symbols}, best)
    found = [SampleState("all metrics low", low), SampleState("best case", best)]
    reads = game.symbols if persona is None else [s for s in game.symbols if s in persona.utility.symbols]
    for symbol in reads:
        found.append(SampleState(f"only {symbol} high", {**low, symbol: high[symbol]}))
        other = low[symbol] if best[symbol] == high[symbol] else high[symbol]
        found.append(
            SampleState(f"best case, but {symbol} {'low' if other == low[symbol] else 'high'}", {**best, symbol: other})
        )
    return found


def explain(persona: Persona, given: Sequence[SampleState]) -> list[SampleRow]:
    """Return the persona's utility in each sample state, and its parts."""
    rows = []
    for sample in given:
        values = dict(sample.values)
        at, count = persona.stage(values), len(persona.stages)
        stage = persona.stages[at] if persona.stages else None
        shares = [Formula((*t.tokens, float(count), "/")) for t in terms(stage.utility)] if stage else []
        parts = [(part.text, part.evaluate(values)) for part in shares or terms(persona.utility)]
        if stage is not None and at:
            parts = [(f"{at} of {count} stages completed", at / count), *parts]
        if persona.always is not None:
            parts += [(part.text, part.evaluate(values)) for part in terms(persona.always)]
        rows.append(
            SampleRow(
                label=sample.label,
                values={s: values[s] for s in sorted(persona.utility.symbols)},
                utility=persona.utility.evaluate(values),
                parts=tuple(parts),
                stage=stage.title if stage else "",
            )
        )
    return rows


def terms(formula: Formula) -> list[Formula]:
    """Return the terms of a sum; terms that are subtracted have the opposite sign."""
    left = [(formula, False)]
    found: list[Formula] = []
    while left:
        part, negative = left.pop()
        operation = part.tokens[-1]
        if operation in ("+", "-"):
            a, b = part.operands
            left += [(b, negative != (operation == "-")), (a, negative)]
        else:
            found.append(_opposite(part) if negative else part)
    return found


def _opposite(term: Formula) -> Formula:
    first = term.tokens[0]
    if term.tokens[-1] == "*" and isinstance(first, float) and term.operands[0].size == 1:
        return Formula((-first, *term.tokens[1:]))
    return Formula((*term.tokens, "neg"))
