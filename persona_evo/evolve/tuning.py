"""The end of an evolution: chooses the best of the hall of fame and tunes its constants.

The validation set has chosen the hall, so its best members are partly there by luck. They race on fresh draws of the
training levels with the whole budget, and the worse half drops out after each draw. Then an evolution strategy tunes
the constants: a (1+1)-ES with the one-fifth rule for its step (Rechenberg 1973), on the logarithms of the constants.
Each offspring plays levels that are drawn for it, beside its parent on the same seeds. Only an offspring that does
better there plays more of them, and it replaces its parent if it does better on all. In the end, the tuned formula
meets the untuned one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple

from persona_evo import seeds
from persona_evo.evolve import genetics, genome, selection
from persona_evo.evolve.genes import HEAVY, LIGHT
from persona_evo.evolve.genetics import Primitives, Tree
from persona_evo.evolve.racing import Ask, draw, part, validating
from persona_evo.evolve.records import Individual, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.standing import estimates

_STEP, _SMALLEST, _LARGEST = 0.5, 0.05, 2.0
"""The standard deviation of the logarithm of a constant's factor: the first value, and its limits."""
_UP, _DOWN = 1.5, 0.9
"""The factors on the step after a success and after a failure.

The product of one success and four failures is about 1.
"""
_MOVED = 0.4
"""The share of the constants that an offspring changes, at least one."""
_FEW, _MANY = 8, 32
"""The number of levels on which an offspring plays beside its parent, at first and in all."""
FINALISTS = 8
"""The number of members of the hall that race in the end."""
_DRAWS = (1, 1, 2)
"""The levels of each draw of that race, as a multiple of the validation set. Half of the racers stay after each."""
_DUEL = 2
"""The levels on which the tuned formula meets the untuned one, as a multiple of the validation set."""
_TRIES = 20
"""The number of offspring without a difference after which a formula is left as it is."""


def race_size(validation: int) -> int:
    """Return the number of playthroughs of the race of the finalists."""
    return validation * sum(draws * max(1, FINALISTS >> turn) for turn, draws in enumerate(_DRAWS))


def finalist(
    hall: Sequence[Individual], settings: EvolutionSettings, seed: int, levels: int, validation: int, ask: Ask
) -> Individual:
    """Return the member of the hall that wins a race on drawn levels. The validation counts, too.

    Args:
        hall: the hall of fame, each member with its validation.
        levels, validation: as for `racing.race`.
        ask: a function that has requests played.
    """
    better = selection.better(settings)
    running = sorted(hall, key=better)[:FINALISTS]
    met: list[dict[Hashable, float]] = [dict(enumerate(one.validation)) for one in running]
    for turn, draws in enumerate(_DRAWS):
        drawn = _draw(settings, draws * validation, seeds.derive(seed, "finalists"), turn, levels)
        for own, utilities in zip(met, ask([replace(drawn, formula=one.formula) for one in running]), strict=True):
            own.update(((turn, number), utility) for number, utility in enumerate(utilities))
        known = [replace(one, utilities=[found]) for one, found in zip(running, estimates(met), strict=True)]
        order = sorted(range(len(known)), key=lambda i: better(known[i]))[: max(1, len(known) // 2)]
        running, met = [running[i] for i in order], [met[i] for i in order]
    return running[0]


def _draw(settings: EvolutionSettings, count: int, seed: int, turn: int, levels: int) -> Request:
    """Draw levels that are played with the whole budget, whatever share of it the generations had."""
    return draw(replace(settings, levels_a_generation=count, budgets=()), seed, turn, levels)


class TuningStep(NamedTuple):
    """The best individual after an offspring, and the playthroughs spent on it."""

    best: Individual
    spent: int


def tune(
    best: Individual,
    settings: EvolutionSettings,
    seed: int,
    primitives: Primitives,
    levels: int,
    validation: int,
    ask: Ask,
    playthroughs: int,
) -> Individual:
    """Return the best individual, or one with other constants that does better on drawn levels.

    Args:
        best: the best individual, with its validation.
        seed: the seed of all random choices, together with the formula.
        levels, validation: as for `racing.race`.
        ask: a function that has requests played.
        playthroughs: the highest number of playthroughs.
    """
    for step in steps(best, settings, seed, primitives, levels, validation, ask, playthroughs):
        best = step.best
    return best


def steps(
    best: Individual,
    settings: EvolutionSettings,
    seed: int,
    primitives: Primitives,
    levels: int,
    validation: int,
    ask: Ask,
    playthroughs: int,
) -> Iterator[TuningStep]:
    """Tune the constants step by step, with one offspring each. The arguments are those of `tune`."""
    stream = random.Random(seeds.derive(seed, "tuning", best.formula))
    untuned, step, spent, turn, idle = best, _STEP, 0, 0, 0
    duel = _draw(settings, _DUEL * validation, seeds.derive(seed, "duel"), 0, levels)
    reserve = 2 * duel.playthroughs
    while idle < _TRIES:
        text = _moved(best.formula, primitives, step, stream)
        if text == best.formula:
            idle += 1
            continue
        idle, turn = 0, turn + 1
        drawn = _draw(settings, _MANY, seeds.derive(seed, "tuning"), turn, levels)
        if spent + 2 * drawn.playthroughs + validation + reserve > playthroughs:
            break
        won, played = _beats(text, best.formula, drawn, ask)
        spent += played
        if won:
            (values,) = ask([validating(text, seed, levels, validation, 0, validation)])
            spent += validation
            best = Individual(
                text, genome.size(text), values, 1, "tuning", best.born, best.key, values, fsum(values) / len(values)
            )
        yield TuningStep(best, spent)
        step = min(_LARGEST, max(_SMALLEST, step * (_UP if won else _DOWN)))
    if best is not untuned:
        theirs, own = ask([replace(duel, formula=one.formula) for one in (untuned, best)])
        yield TuningStep(best if fsum(own) > fsum(theirs) else untuned, spent + reserve)


def _beats(text: str, other: str, drawn: Request, ask: Ask) -> tuple[bool, int]:
    """Return whether a formula beats another on a few of the drawn levels and then on all, and the playthroughs."""
    played, ahead = 0, 0.0
    for first, end in ((0, _FEW), (_FEW, len(drawn.cases))):
        pair = [part(drawn, formula, first, end) for formula in (other, text)]
        theirs, own = ask(pair)
        played += sum(request.playthroughs for request in pair)
        ahead += fsum(own) - fsum(theirs)
        if ahead <= 0:
            return False, played
    return True, played


def _moved(text: str, primitives: Primitives, step: float, stream: random.Random) -> str:
    """Return a formula, or lists, with some constants and weights multiplied by a factor; unchanged without any."""
    own = genome.read(text, primitives)
    trees = [gene.tree for gene in own] if isinstance(own, tuple) else [own]
    share = max(_MOVED, 1.0 / max(1, sum(genetics.is_constant(node) for tree in trees for node in tree)))

    def factor() -> float:
        return math.exp(step * stream.gauss(0.0, 1.0)) if stream.random() < share else 1.0

    def moved(tree: Tree) -> Tree:
        nodes = [
            genetics.constant(float(f"{node.value * factor():.3g}")) if genetics.is_constant(node) else node
            for node in tree
        ]
        return type(tree)(nodes)

    if not isinstance(own, tuple):
        return genome.to_text(moved(own))
    return genome.to_text(
        tuple(
            gene._replace(
                tree=moved(gene.tree),
                weight=min(HEAVY, max(LIGHT, float(f"{gene.weight * factor():.2g}"))),
            )
            for gene in own
        )
    )
