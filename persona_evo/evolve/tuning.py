"""The end of an evolution: the best of its hall of fame, and the constants of that one.

The validation set has chosen the hall, so that its best are there by luck, too; they meet once more on levels drawn
from those to train on. Then an evolution strategy tunes the constants: a (1+1)-ES with the one-fifth rule for its step
(Rechenberg 1973), on the logarithms of the constants. Each offspring plays levels that are drawn for it, beside its
parent on the same seeds; only one that does no worse there is played on the validation set, and replaces its parent if
it does better on that.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from persona_evo import seeds
from persona_evo.evolve import genetics, genome, selection
from persona_evo.evolve.genes import HEAVY, LIGHT
from persona_evo.evolve.genetics import Primitives, Tree
from persona_evo.evolve.racing import Ask, draw, part, validating
from persona_evo.evolve.records import Individual
from persona_evo.evolve.settings import EvolutionSettings

_STEP, _SMALLEST, _LARGEST = 0.5, 0.05, 2.0
"""Standard deviation of the logarithm of a constant's factor: at first, and its limits."""
_UP, _DOWN = 1.5, 0.9
"""What the step is multiplied by after a success and after a failure; the product of one and four is about 1."""
_MOVED = 0.4
"""Share of the constants that an offspring moves, at least one."""
_LEVELS = 8
"""Levels on which an offspring plays beside its parent."""
FINALISTS, FINAL_DRAWS = 4, 2
"""Members of the hall that meet once more, and on how many levels, as a multiple of the validation set."""
_TRIES = 20
"""Offspring without any that differs after which a formula is left as it is."""


def finalist(hall: Sequence[Individual], settings: EvolutionSettings, seed: int, levels: int, ask: Ask) -> Individual:
    """The member of the hall that is best on the validation set and on as many drawn levels as that has, or more.

    Args:
        hall: each with its validation. levels: to draw from. ask: has requests played.
    """
    better = selection.better(settings)
    candidates = sorted(hall, key=better)[:FINALISTS]
    count = FINAL_DRAWS * len(candidates[0].validation)
    drawn = draw(replace(settings, levels_a_generation=count), seeds.derive(seed, "finalists"), 0, levels)
    answers = ask([part(drawn, one.formula, 0, count) for one in candidates])

    def met(at: int) -> tuple[float, int]:
        return better(replace(candidates[at], utilities=[*candidates[at].validation, *answers[at]]))

    return candidates[min(range(len(candidates)), key=met)]


class Step(NamedTuple):
    """The best individual after an offspring, and the playthroughs that were spent."""

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
    """The best individual, or one with other constants that is better on the validation set.

    Args:
        best: has its validation. seed: everything random follows from it and from the formula.
        levels, validation: as for `racing.race`. ask: has requests played.
        playthroughs: not more than so many are played.
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
) -> Iterator[Step]:
    """How the tuning goes on, offspring by offspring; the arguments are those of `tune`."""
    stream = random.Random(seeds.derive(seed, "tuning", best.formula))
    better = selection.better(settings)
    few = replace(settings, levels_a_generation=min(_LEVELS, settings.levels_a_generation))
    step, spent, turn, idle = _STEP, 0, 0, 0
    while idle < _TRIES:
        text = _moved(best.formula, primitives, step, stream)
        if text == best.formula:
            idle += 1
            continue
        idle, turn = 0, turn + 1
        drawn = draw(few, seeds.derive(seed, "tuning"), turn, levels)
        each = part(drawn, "", 0, len(drawn.cases)).playthroughs
        if spent + 2 * each + validation > playthroughs:
            break
        theirs, own = ask([part(drawn, formula, 0, len(drawn.cases)) for formula in (best.formula, text)])
        spent += 2 * each
        better_here = sum(own) > sum(theirs)
        if better_here or (sum(own) == sum(theirs) and own != theirs):
            (values,) = ask([validating(text, seed, levels, 0, validation)])
            spent += validation
            found = Individual(text, genome.size(text), values, 1, "tuning", best.born, best.key, values)
            better_here = better(found) < better(best.validated())
            best = found if better_here else best
        yield Step(best, spent)
        step = min(_LARGEST, max(_SMALLEST, step * (_UP if better_here else _DOWN)))


def _moved(text: str, primitives: Primitives, step: float, stream: random.Random) -> str:
    """A formula, or lists, with some constants and weights multiplied by a factor; the same where there are none."""
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
