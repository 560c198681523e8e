"""The end of an evolution: chooses the best of the hall of fame and tunes its constants.

The validation set has chosen the hall, so its best members are partly there by luck. They race on fresh draws of the
training levels with the whole budget, and the worse half drops out after each draw. Then the winner is tuned in a few
races. In each, variants of the formula run beside the formula itself on the same drawn levels, and the worse half drops
out whenever twice as many levels have been played (successive halving: Jamieson and Talwalkar 2016). The variants of
the first race have a price for time in addition: if all else is equal, the shorter plan is better, but this is worth so
little that generations do not see it. Those of the others have another term, or constants multiplied by log-normal
factors. The winner replaces the formula only if it is ahead by more than the standard error of the difference. In the
end, the tuned formula meets the untuned one on other levels.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
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

_STEPS = (1.0, 0.5)
"""The standard deviation of the logarithm of a constant's factor in each race of the tuning."""
_PRICES = (0.003, 0.001, 0.0003, 0.0001)
"""The prices of a unit of the game's clock that are tried."""
_MOVED = 0.4
"""The share of the constants that a variant changes, at least one."""
_EXTENDED = 0.5
"""The share of the variants that have another term."""
_LEFT = (32, 16, 8, 4, 2)
"""The number of variants that play in each turn of a race. Each turn doubles the number of levels."""
_DUEL = 0.2
"""The share of the playthroughs of the tuning that is for the duel of the tuned formula with the untuned one."""
FINALISTS = 16
"""The number of members of the hall that race in the end."""
_DRAWS = (1, 1, 2, 4)
"""The levels of each draw of that race, as a multiple of those of the first. Half of the racers stay after each."""
_RACE = 0.5
"""The share of the race in the playthroughs of the end; the rest is for the tuning."""


class EndingStep(NamedTuple):
    """A step of the end of an evolution.

    Attributes:
        what: the part of the end, in words.
        best: the best individual so far.
        spent: the playthroughs that this part has spent.
        total: the playthroughs that this part may spend.
    """

    what: str
    best: Individual
    spent: int
    total: int


@dataclass(frozen=True)
class EvolutionEnd:
    """What the end of an evolution works with.

    Attributes:
        settings: the settings of the evolution.
        seed: the seed of all random choices, together with the formula that is tuned.
        primitives: what variants are made of.
        levels, validation: as for `racing.race`.
        ask: a function that has requests played.
    """

    settings: EvolutionSettings
    seed: int
    primitives: Primitives
    levels: int
    validation: int
    ask: Ask

    def steps(self, hall: Sequence[Individual], playthroughs: int) -> Iterator[EndingStep]:
        """Choose the best of the hall of fame and tune it, step by step.

        Args:
            hall: the hall of fame, each member with its validation.
            playthroughs: the highest number of playthroughs. Those that the race cannot use are for the tuning.
        """
        meeting = round(_RACE * playthroughs)
        yield EndingStep("comparing the finalists", min(hall, key=selection.better(self.settings)), 0, meeting)
        winner, raced = self.finalist(hall, meeting)
        yield EndingStep("comparing the finalists", winner, meeting, meeting)
        best, left = winner, playthroughs - raced
        for best, spent in self.tuned(winner, left):
            yield EndingStep("tuning the constants", best, min(spent, left - 1), left)
        yield EndingStep("tuning the constants", best, left, left)

    def finalist(self, hall: Sequence[Individual], playthroughs: int) -> tuple[Individual, int]:
        """Return the member of the hall that wins a race on drawn levels, and the playthroughs spent.

        The validation counts, too.
        """
        better = selection.better(self.settings)
        running = sorted(hall, key=better)[:FINALISTS]
        met: list[dict[Hashable, float]] = [dict(enumerate(one.validation)) for one in running]
        price = sum(draws * max(1, len(running) >> turn) for turn, draws in enumerate(_DRAWS))
        first, spent = playthroughs // (price * self.settings.trials), 0
        for turn, draws in enumerate(_DRAWS if first > 0 else ()):
            drawn = self._draw(draws * first, "finalists", turn)
            spent += len(running) * drawn.playthroughs
            answers = self.ask([replace(drawn, formula=one.formula) for one in running])
            for own, utilities in zip(met, answers, strict=True):
                own.update(((turn, number), utility) for number, utility in enumerate(utilities))
            known = [replace(one, utilities=[found]) for one, found in zip(running, estimates(met), strict=True)]
            order = sorted(range(len(known)), key=lambda i: better(known[i]))[: max(1, len(known) // 2)]
            running, met = [running[i] for i in order], [met[i] for i in order]
        return running[0], spent

    def tuned(self, best: Individual, playthroughs: int) -> Iterator[tuple[Individual, int]]:
        """Tune an individual, with one turn of a race in each step.

        Args:
            best: the individual, with its validation.
            playthroughs: the highest number of playthroughs.

        Yields:
            The individual, or a variant of it that does better on drawn levels, and the playthroughs spent so far.
        """
        settings, trials, untuned, spent = self.settings, self.settings.trials, best, 0
        stream = random.Random(seeds.derive(self.seed, "tuning", best.formula))
        duel = self._draw(int(_DUEL * playthroughs / 2 / trials), "duel", 0)
        priced = _priced(best.formula, settings, self.primitives)
        races: list[float | None] = [None, *_STEPS] if priced else [*_STEPS]
        share = (playthroughs - 2 * duel.playthroughs) // len(races) - self.validation
        for number, step in enumerate(races):
            variants = priced if step is None else _varied(best.formula, settings, self.primitives, step, stream)
            race = _Race(best.formula, variants)
            lefts = [left for left in _LEFT if left < 2 * len(race.running)]
            first = share // (trials * max(1, _price(lefts)))
            if not lefts or first < 1:
                continue
            drawn = self._draw(first << len(lefts) - 1, "tuning", number)
            for turn, left in enumerate(lefts):
                spent += race.turn(left, min(first << turn, len(drawn.cases)), drawn, self.ask)
                yield best, spent
            if winner := race.winner():
                best = self._validated(winner, best)
                spent += self.validation
                yield best, spent
        if best is not untuned:
            theirs, own = self.ask([replace(duel, formula=one.formula) for one in (untuned, best)])
            yield best if fsum(own) > fsum(theirs) else untuned, spent + 2 * duel.playthroughs

    def _validated(self, formula: str, before: Individual) -> Individual:
        """Play the validation set with a variant, and return it as an individual."""
        (values,) = self.ask([validating(formula, self.seed, self.levels, self.validation, 0, self.validation)])
        mean = fsum(values) / len(values)
        size = genome.size(formula)
        return Individual(formula, size, values, 1, "tuning", before.born, before.key, values, mean)

    def _draw(self, count: int, stage: str, turn: int) -> Request:
        """Draw levels that are played with the whole budget, whatever share of it the generations had."""
        settings = replace(self.settings, levels_a_generation=count, budgets=())
        return draw(settings, seeds.derive(self.seed, stage), turn, self.levels)


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
        best = max(self.running, key=self._total)
        ahead = [own - theirs for own, theirs in zip(self.results[best], self.results[self.formula], strict=True)]
        error = stdev(ahead) / math.sqrt(len(ahead)) if len(ahead) > 1 else math.inf
        return best if fmean(ahead) > error else ""

    def _total(self, text: str) -> float:
        return fsum(self.results[text])


def _price(lefts: Sequence[int]) -> int:
    """Return the playthroughs of a race with the formula itself, as a multiple of the levels of its first turn."""
    return sum((left + 1) * max(1, (1 << turn) // 2) for turn, left in enumerate(lefts))


def _priced(text: str, settings: EvolutionSettings, primitives: Primitives) -> list[str]:
    """Return variants of a formula with a price for time; none for lists, or for a game without a clock."""
    if genome.is_lists(text) or not settings.mutations.get("term"):
        return []
    texts = [f"{text} - {price} * {clock}" for price in _PRICES for clock in primitives.clocks]
    found = [genetics.read(longer, primitives) for longer in texts]
    return [genome.to_text(longer) for longer in found if genetics.fits(longer, settings)]


def _varied(
    text: str, settings: EvolutionSettings, primitives: Primitives, step: float, stream: random.Random
) -> list[str]:
    """Return the different variants of a formula that run in a race."""
    found = {_variant(text, settings, primitives, step, stream): None for _ in range(_LEFT[0])}
    return [other for other in found if other != text]


def _variant(text: str, settings: EvolutionSettings, primitives: Primitives, step: float, stream: random.Random) -> str:
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
