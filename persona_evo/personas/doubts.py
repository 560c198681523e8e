"""Warnings about a persona whose utility probably does not say what its author meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from persona_evo.formula import Formula
from persona_evo.formula.core import arity
from persona_evo.formula.effects import effects
from persona_evo.formula.primitive import COMPARISON
from persona_evo.formula.primitives import PRIMITIVES
from persona_evo.formula.rewrite import canonical
from persona_evo.personas import extremes
from persona_evo.personas.template import assumed, high_end, low_end, samples, terms

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Metric
    from persona_evo.personas.core import Persona, Stage

REWARDED = 0.85
"""Share of a metric's changes with which the utility has to rise for the metric to count as rewarded."""

Ranges = Mapping[str, tuple[float, float]]


def warnings(game: Game, persona: Persona, states: Sequence[Mapping[str, float]] = ()) -> list[str]:
    """Return a sentence for each doubtful part of a persona.

    Args:
        game: the game whose metrics the persona reads.
        persona: the persona.
        states: real states, in which metrics are varied; without any, made-up states take their place.
    """
    ranges = {m.symbol: (low_end(m), high_end(m, game)) for m in game.metrics}
    formulas = [
        *([] if persona.stages else [persona.utility]),
        *(s.utility for s in persona.stages),
        *(s.until for s in persona.stages if s.until is not None),
        *([persona.always] if persona.always is not None else []),
        *(one.score for one in persona.lists),
    ]
    found = [text for formula in formulas for text in _divisions(formula)]
    for stage in persona.stages:
        found += _stage(stage, ranges)
    found += _rewarded(game, persona, states or [s.values for s in samples(game, persona)], ranges)
    return [*found, *_scale(game, persona, ranges)]


def _divisions(formula: Formula) -> Iterator[str]:
    """Warn of divisions by a part that is 0 in every state."""
    parts: list[Formula] = []
    for token in formula.tokens:
        needed = arity(token)
        operands = parts[len(parts) - needed :]
        del parts[len(parts) - needed :]
        whole = Formula((*(t for part in operands for t in part.tokens), token))
        if token == "/" and canonical(operands[1]).tokens == (0.0,):
            yield f"{whole.text} divides by 0: such a quotient is always 1"
        parts.append(whole)


def _stage(stage: Stage, ranges: Ranges) -> Iterator[str]:
    start = {symbol: low for symbol, (low, _) in ranges.items()}
    best = stage.utility.evaluate(extremes.highest(stage.utility, ranges, start))
    if best > 1.0:
        yield (
            f"stage {stage.title!r} can be worth {best:.4g}, but moving on to the next stage is worth only 1, so the "
            f"player would rather stay; scale its utility down to at most 1"
        )
    if stage.until is None:
        return
    text = stage.until.text
    if not stage.until.symbols:
        always = stage.until.evaluate({}) > 0
        yield (
            f"`until` of stage {stage.title!r} has the same value in every state, so the stage "
            f"{'is never entered' if always else 'never ends'}: {text}"
        )
    elif not _is_condition(stage.until):
        example = f"{text} >= 1" if len(stage.until.tokens) == 1 else f"({text}) >= 0.5"
        yield (
            f"`until` of stage {stage.title!r} is a number, not a condition: {text}; the stage ends as soon as the "
            f"number is above 0; a condition is a comparison, such as {example}"
        )
    elif stage.until.evaluate(extremes.highest(stage.until, ranges, start)) <= 0.0:
        yield f"`until` of stage {stage.title!r} is never true within the ranges of its metrics: {text}"


def _is_condition(formula: Formula) -> bool:
    """Return whether a formula is a condition: a comparison, or several comparisons combined."""
    token = formula.tokens[-1]
    if token in PRIMITIVES and PRIMITIVES[str(token)].precedence == COMPARISON:
        return True
    parts = formula.operands
    if token == "-" and parts[0].tokens == (1.0,):
        return _is_condition(parts[1])
    if token == "if":
        return all(_is_condition(part) or not part.symbols for part in parts[1:])
    return token in ("*", "min", "max", "+") and all(map(_is_condition, parts))


def _rewarded(game: Game, persona: Persona, states: Sequence[Mapping[str, float]], ranges: Ranges) -> Iterator[str]:
    """Warn of metrics that the game calls better when low, but that the utility rewards."""
    metrics = {m.symbol: m for m in game.metrics}
    for effect in effects(persona.utility, states, ranges):
        metric = metrics[effect.symbol]
        if metric.better == "lower" and not metric.costly and effect.strength > 0 and effect.up >= REWARDED:
            yield (
                f"the utility rises with {metric.symbol} ({metric.name}), although lower is better: "
                f"{_term(persona, metric)}; put a minus sign before it if it is a cost for this player"
            )


def _term(persona: Persona, metric: Metric) -> str:
    """Return the term of a utility that reads a metric."""
    sources = [s.utility for s in persona.stages] or [persona.utility]
    sources += [persona.always] if persona.always is not None else []
    return (
        next(t.text for s in sources for t in [*terms(s), s] if metric.symbol in t.symbols)
        if any(metric.symbol in s.symbols for s in sources)
        else persona.utility.text
    )


def _scale(game: Game, persona: Persona, ranges: Ranges) -> list[str]:
    """Warn if death does not matter, or if the scale of the utility does not suit the search."""
    alive = {**ranges, **{s: (0.0, 0.0) for s in ("DEAD",) if s in ranges}}
    start = {symbol: low for symbol, (low, _) in alive.items()}
    best = persona.utility.evaluate(extremes.highest(persona.utility, alive, start))
    worst = persona.utility.evaluate(extremes.highest(extremes.negative(persona.utility), alive, start))
    found = []
    if "DEAD" in ranges:
        dead = {**ranges, "DEAD": (1.0, 1.0), **{s: (0.0, 0.0) for s in ("WON",) if s in ranges}}
        corpse = extremes.highest(persona.utility, dead, {s: v[0] for s, v in dead.items()})
        value = persona.utility.evaluate(corpse)
        if "DEAD" not in persona.utility.symbols:
            found.append("the utility does not read DEAD, so death costs this player nothing")
        elif value > worst:
            found.append(
                f"death may not matter: a state in which the player is dead can be worth {value:.4g}, and one in which "
                f"the player lives as little as {worst:.4g}; subtract more for DEAD, or scale the rest down"
            )
    raw = game.outside is None or game.outside.ordering.get("scores") == "raw"
    if not raw or assumed(game, persona.utility):
        return found  # the search divides utilities by their range, or nobody knows this range
    if best - worst < 0.2:
        found.append(
            f"the utilities of states in which the player lives differ by {best - worst:.4g} at most: UCB1 with its "
            "constant of 1.41 hardly notices that; scale the utility up to about 0 to 1"
        )
    elif best > 2:
        found.append(
            f"the best case is worth {best:.4g}: UCB1 with its constant of 1.41 hardly explores on such a "
            "scale; scale the utility down to about 0 to 1"
        )
    return found
