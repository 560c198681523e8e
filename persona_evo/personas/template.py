"""Starting a persona file, and explaining what a persona's utility does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_evo.formula import Formula
from persona_evo.games.commands import command
from persona_evo.personas import extremes

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Metric
    from persona_evo.personas.core import Persona

COUNT = 10.0
"""Stands for the high end of a count that has none."""


@dataclass(frozen=True)
class SampleState:
    """A made-up final state: what it stands for, and every metric by symbol."""

    label: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class SampleRow:
    """What a persona thinks of a sample state.

    values: the metrics its utility reads. parts: (term, value) whose sum is the utility; for a staged persona the
    stages done and the current stage's own terms, both divided by the number of stages, and those of `always`.
    stage: title of the current stage, or "".
    """

    label: str
    values: Mapping[str, float]
    utility: float
    parts: tuple[tuple[str, float], ...]
    stage: str


def text(name: str, game: Game) -> str:
    """A commented persona file to start from; it loads as it is."""
    from persona_evo.personas.core import catalog

    taken = {word.lower() for p in catalog(game) for word in (p.name, p.short)}
    initials = "".join(part[:1] for part in name.replace("-", "_").split("_")).upper()
    short = name if initials.lower() in taken else initials
    up = [m for m in game.metrics if m.better == "higher"] or list(game.metrics)
    example = f"0.7 * {up[0].symbol} + 0.3 * {up[-1].symbol}" if len(up) > 1 else up[0].symbol
    dead = " - 5 * DEAD" if "DEAD" in game.symbols else ""
    ranges = [range_of(m.low, m.high) or "any number" for m in game.metrics]
    metrics = "\n".join(f"#   {m.symbol:<5} {r:<14} {m.meaning}" for m, r in zip(game.metrics, ranges, strict=True))
    return f"""\
# A persona for {game.title}. Explain it with:  {command(game, "persona", "check", f"{name}.toml")}

game = "{game.name}"
title = "{name.replace("_", " ").replace("-", " ").title()}"
short = "{short}"
description = "What this kind of player wants, in a sentence."

# The metric this persona is about; runs of an evolution are compared by it.
priority = "{up[0].symbol}"

# What the end of a playthrough is worth to it. Between 0 and 1 suits the search best.
# Operations: + - * /   > >= < <=   x ^ 2   abs sqrt log exp min(a, b) max(a, b) if(condition, a, b)
# The game's metrics:
{metrics}
utility = "{example}{dead}"

# A persona whose goal changes has stages instead of one utility: delete the line above, uncomment these.
# A stage lasts until its condition holds; `always` counts in every stage. Together they are worth
#   (stages done + utility of the current stage) / number of stages + always
# so a later stage is worth more than an earlier one as long as each stage's own utility stays between 0 and 1.
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
## The planner decides by itself in which orders it takes up the states of a level. Lists of your own replace them:
## uncomment these and change them. Each takes turns by its weight; scores read the metrics above and
##   OWN (the policy's score, else the utility)   UTILITY   CARE (what keeps the player in the game)
##   CEILING (the most that the utility can still be)   D (moves from the start)
#
# [[lists]]
# score = "UTILITY - 0.001 * D"
# weight = 1.0
# novel = true    # states that show something for the first time come before all others
#
# [[lists]]
# score = "CARE + 0.1 * OWN"
"""
"""What a persona's file says of lists, in games that are planned."""


def range_of(low: float | None, high: float | None) -> str:
    """The values a metric may have, in words, as far as they have bounds (None or an infinity is none)."""
    bottom = "" if low is None or low == float("-inf") else f"{low:g}"
    top = "" if high is None or high == float("inf") else f"{high:g}"
    if not bottom:
        return f"up to {top}" if top else ""
    return f"{bottom} to {top}" if top else f"from {bottom}"


def high_end(metric: Metric, game: Game) -> float:
    """The high end of a metric's range; without one: the horizon (the clock), COUNT (has a unit), else 1."""
    if metric.high != float("inf"):
        return metric.high
    return float(game.horizon) if metric.clock else low_end(metric) + (COUNT if metric.unit else 1.0)


def low_end(metric: Metric) -> float:
    """The low end of a metric's range; without one: 0, or less where the high end is not above that."""
    return metric.low if metric.low != float("-inf") else min(0.0, metric.high - 1.0)


def samples(game: Game, persona: Persona | None = None) -> list[SampleState]:
    """Made-up states from the ranges of the metrics: no level may be able to reach them.

    All metrics low; the best case (of the persona's utility, metrics it does not read at the end that the game calls
    better); then for each metric that the persona reads: it alone high, and the best case with it at its other end.
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
    """What the persona's utility is on each sample, and what it is made of."""
    rows = []
    for sample in given:
        values = dict(sample.values)
        at, count = persona.stage(values), len(persona.stages)
        stage = persona.stages[at] if persona.stages else None
        shares = [Formula((*t.tokens, float(count), "/")) for t in terms(stage.utility)] if stage else []
        parts = [(part.text, part.evaluate(values)) for part in shares or terms(persona.utility)]
        if stage is not None and at:
            parts = [(f"{at} of {count} stages done", at / count), *parts]
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
    """The terms of a sum, those that are taken away with their sign turned."""
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
