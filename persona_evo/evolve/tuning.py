"""The end of an evolution: chooses the best of the hall of fame and tunes its constants.

The validation set has chosen the hall, so its best members are partly there by luck. They race on fresh draws of the
training levels with the whole budget, and the worse half drops out after each draw. Then the constants of the winner
are tuned in a few races. In each, variants of the formula, whose constants are multiplied by log-normal factors, run
beside the formula itself on the same drawn levels, and the worse half drops out whenever twice as many levels have been
played (successive halving: Jamieson and Talwalkar 2016). The winner replaces the formula only if it is ahead by more
than the standard error of the difference. In the end, the tuned formula meets the untuned one on other levels.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean, stdev
from typing import NamedTuple

from persona_evo import seeds
from persona_evo.evolve import genetics, genome, selection
from persona_evo.evolve.genes import HEAVY, LIGHT
from persona_evo.evolve.genetics import Primitives, Tree
from persona_evo.evolve.racing import Ask, draw, part, validating
from persona_evo.evolve.records import Individual, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.standing import estimates

_STEPS = (1.0, 0.6, 0.35)
"""The standard deviation of the logarithm of a constant's factor in each race of the tuning."""
_MOVED = 0.4
"""The share of the constants that a variant changes, at least one."""
_EXTENDED = 0.5
"""The share of the variants that have another term."""
_LEFT = (32, 16, 8, 4, 2)
"""The number of variants that play in each turn of a race. Each turn doubles the number of levels."""
_PRICE = sum((left + 1) * max(1, (1 << turn) // 2) for turn, left in enumerate(_LEFT))
"""The playthroughs of a race, as a multiple of the levels of its first turn. The formula itself plays all levels."""
_DUEL = 0.2
"""The share of the playthroughs of the tuning that is for the duel of the tuned formula with the untuned one."""
FINALISTS = 8
"""The number of members of the hall that race in the end."""
_DRAWS = (1, 1, 2)
"""The levels of each draw of that race, as a multiple of the validation set. Half of the racers stay after each."""


def race_size(validation: int, trials: int) -> int:
    """Return the number of playthroughs of the race of the finalists, with so many trials of each level."""
    return validation * trials * sum(draws * max(1, FINALISTS >> turn) for turn, draws in enumerate(_DRAWS))


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
    """Return the best individual, or a variant of it that does better on drawn levels.

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
    """Tune a formula step by step, with one turn of a race each. The arguments are those of `tune`."""
    stream = random.Random(seeds.derive(seed, "tuning", best.formula))
    untuned, spent, trials = best, 0, settings.trials
    duel = _draw(settings, int(_DUEL * playthroughs / 2 / trials), seeds.derive(seed, "duel"), 0, levels)
    first = ((playthroughs - 2 * duel.playthroughs) // len(_STEPS) - validation) // (_PRICE * trials)
    for number, step in enumerate(_STEPS if first > 0 else ()):
        drawn = _draw(settings, first << len(_LEFT) - 1, seeds.derive(seed, "tuning"), number, levels)
        variants = {_varied(best.formula, settings, primitives, step, stream): None for _ in range(_LEFT[0])}
        race = _Race(best.formula, [text for text in variants if text != best.formula])
        for turn, left in enumerate(_LEFT if race.running else ()):
            spent += race.turn(left, min(first << turn, len(drawn.cases)), drawn, ask)
            yield TuningStep(best, spent)
        if winner := race.winner():
            (values,) = ask([validating(winner, seed, levels, validation, 0, validation)])
            spent += validation
            mean = fsum(values) / len(values)
            best = Individual(winner, genome.size(winner), values, 1, "tuning", best.born, best.key, values, mean)
            yield TuningStep(best, spent)
    if best is not untuned:
        theirs, own = ask([replace(duel, formula=one.formula) for one in (untuned, best)])
        yield TuningStep(best if fsum(own) > fsum(theirs) else untuned, spent + 2 * duel.playthroughs)


class _Race:
    """A race of variants beside the formula that they come from.

    Attributes:
        running: the variants that still play.
        results: the utilities of the formula and of each variant, in the order of the levels.
    """

    def __init__(self, formula: str, variants: Sequence[str]) -> None:
        self.formula, self.running = formula, list(variants)
        self.results: dict[str, list[float]] = {text: [] for text in (formula, *variants)}

    def turn(self, left: int, end: int, drawn: Request, ask: Ask) -> int:
        """Let the best `left` variants play the levels up to `end`, and return the number of playthroughs."""
        self.running = sorted(self.running, key=self._total, reverse=True)[:left]
        asked = [part(drawn, text, len(self.results[text]), end) for text in (self.formula, *self.running)]
        for request, utilities in zip(asked, ask(asked), strict=True):
            self.results[request.formula] += utilities
        return sum(request.playthroughs for request in asked)

    def winner(self) -> str:
        """Return the best variant, or "" if it is not ahead of the formula by more than the standard error."""
        if not self.running:
            return ""
        best = max(self.running, key=self._total)
        ahead = [own - theirs for own, theirs in zip(self.results[best], self.results[self.formula], strict=True)]
        error = stdev(ahead) / math.sqrt(len(ahead)) if len(ahead) > 1 else math.inf
        return best if fmean(ahead) > error else ""

    def _total(self, text: str) -> float:
        return fsum(self.results[text])


def _varied(text: str, settings: EvolutionSettings, primitives: Primitives, step: float, stream: random.Random) -> str:
    """Return a variant of a formula, which has another term or other constants; lists have other constants."""
    own = genome.read(text, primitives)
    if not isinstance(own, tuple) and settings.mutations.get("term") and stream.random() < _EXTENDED:
        longer = genetics.with_term(own, primitives, stream)
        if genetics.fits(longer, settings):
            return genome.to_text(longer)
    return _moved(text, primitives, step, stream)


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
