"""Other searches for a tree policy, which serve as baselines for the evolution.

| method | candidates of a round | then |
|---|---|---|
| random | random formulas and the best so far | nothing |
| hill | random formulas | hill climbing from the best of them by the evolution's mutations |
| ucb1 | UCB1 with constants C on a logarithmic grid, later the best so far | the same by a change of C |
| constants | a given formula, later the best so far | the same by a change of its numbers |

All searches proceed in rounds. A round draws levels of the training pool, and its candidates race: they play a few
levels, and the better half plays more. The winner of a round plays the validation levels, and the best policy there is
the result. The fitness is that of `training`, and every playthrough counts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from math import fsum
from typing import NamedTuple

from persona_evo import seeds
from persona_evo.evolve import genetics, genome
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.individuals import settled, symbols_of
from persona_evo.evolve.racing import draw, rungs, validating
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Point, Trained, Training
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.jobs.workers import Workers
from persona_evo.search.tree_policy import TreePolicy

COST = 8
"""The approximate number of playthroughs of a race for each candidate."""
BATCH, STARTS = 32, 8
"""The number of random formulas in a round of random search, and in one of hill climbing."""
PATIENCE = 12
"""The number of mutants in a row without improvement after which a climb ends."""
GRID = tuple(10 ** (k / 4) for k in range(-8, 5))
"""The constants of UCB1 that are tried first, from .01 to 10."""
UCB1 = "ucb1:"
"""The prefix of the text of a tuned UCB1; its constant follows."""

Mutate = Callable[[str, random.Random], str]


class Method(NamedTuple):
    """The candidates and the moves of a search.

    Attributes:
        candidates: returns the candidates of a round for the best so far, which is None in the first round.
        mutate: returns a neighbour of a policy; None for a search that does not climb.
        settings: settings of an evolution, which define how levels are drawn and how candidates race.
    """

    candidates: Callable[[str | None, random.Random], list[str]]
    mutate: Mutate | None
    settings: EvolutionSettings


def method(name: str, training: Training, settings: EvolutionSettings, line: str = "") -> Method:
    """Return the method with a name in the module's table.

    Args:
        settings: random formulas and mutations are those of an evolution with these settings.
        line: the formula whose constants are tuned.
    """
    settings = settled(settings, training.spec)
    game = registry.get(training.spec.game)
    primitives = genetics.Primitives.of(settings, symbols_of(settings, training.spec), game)

    def newcomers(count: int, stream: random.Random) -> list[str]:
        return [genome.to_text(genome.random_genome(settings, primitives, stream)) for _ in range(count)]

    def mutant(text: str, stream: random.Random) -> str:
        return genome.to_text(genome.mutate(genome.read(text, primitives), settings, primitives, stream)[0])

    if name == "random":
        return Method(lambda best, stream: [*([best] if best else []), *newcomers(BATCH, stream)], None, settings)
    if name == "hill":
        return Method(lambda best, stream: newcomers(STARTS, stream), mutant, settings)
    if name == "ucb1":
        grid = [f"{UCB1}{c:.6g}" for c in GRID]
        return Method(lambda best, stream: [best] if best else grid, _other_c, settings)
    return Method(lambda best, stream: [best or line], _other_constants, settings)


def search(how: Method, training: Training, seed: int, playthroughs: int, workers: Workers) -> Trained:
    """Search for a policy until the playthroughs are used up.

    Args:
        how: see `method`.
        training: the pools and the fitness.
        seed: the seed of all random choices.
        playthroughs: the highest number, including those on the validation levels.
        workers: the workers that play.

    Returns:
        The policy that is best on the validation levels.
    """
    ground = _Ground(training, how.settings, seed, playthroughs, workers)
    stream = random.Random(seeds.derive(seed, "search"))
    curve: list[Point] = []
    judged: dict[str, float] = {}
    best: str | None = None
    round_ = 0
    while True:
        plan = ground.drawn(round_)
        round_ += 1
        candidates = list(dict.fromkeys(how.candidates(best, stream)))[: max(1, ground.left // COST)]
        winner, shares = _race(ground, candidates, plan)
        if how.mutate is not None:
            winner, shares = _climb(ground, winner, shares, plan, how.mutate, stream)
        if winner not in judged:
            judged[winner] = ground.validation(winner)
            best = max(judged, key=lambda text: judged[text])
        curve.append(Point(ground.spent, fsum(shares) / len(shares), judged[best or winner], best or winner))
        if ground.left < 2 * len(plan):
            assert best is not None
            return Trained(best, ground.spent, tuple(curve))


class Assignment(NamedTuple):
    """A playthrough to play: the number of the level, the seed, and the share of the budget."""

    case: int
    seed: int
    share: float = 1.0


Plan = Sequence[Assignment]


class _Ground:
    """Plays policies and counts the playthroughs.

    Attributes:
        spent: the number of playthroughs so far.
    """

    def __init__(
        self, training: Training, settings: EvolutionSettings, seed: int, playthroughs: int, workers: Workers
    ) -> None:
        self._settings, self._seed, self._playthroughs = settings, seed, playthroughs
        self._spec = training.with_validation(settings.wins)
        self._fitness = Fitness(self._spec, workers)
        self._levels = len(training.spec.levels)
        self.spent = 0

    @property
    def left(self) -> int:
        """The playthroughs left before those reserved for the validation levels."""
        return self._playthroughs - self.spent - (len(self._spec.levels) - self._levels)

    def drawn(self, round_: int) -> Plan:
        """Return the levels of a round, which an evolution with the same seed draws for a generation."""
        drawn = draw(self._settings, self._seed, round_, self._levels)
        shares = drawn.shares or [1.0] * len(drawn.cases)
        return [
            Assignment(c, trials[0], part) for c, trials, part in zip(drawn.cases, drawn.seeds, shares, strict=True)
        ]

    def rungs(self, plan: Plan) -> list[int]:
        """Return the numbers of levels after which worse candidates stop, as in a generation that races."""
        return rungs(self._settings, len(plan))

    def shares(self, policies: Sequence[str], plan: Plan) -> list[list[float]]:
        """Return for each policy the fitness of each part of a plan."""
        self.spent += len(policies) * len(plan)
        played = self._fitness.trials(
            [playable(text) for text in policies],
            [[(part.seed,) for part in plan]] * len(policies),
            0,
            1,
            [[part.case for part in plan]] * len(policies),
            [[part.share for part in plan]] * len(policies),
        )
        return [
            [self._spec.share(part.case, one.utility, one.won) for part, (one,) in zip(plan, cases, strict=True)]
            for cases in played
            if cases is not None
        ]

    def validation(self, policy: str) -> float:
        """Return the fitness of a policy on the validation levels."""
        validation = len(self._spec.levels) - self._levels
        plan = validating(policy, self._seed, self._levels, validation, 0, validation)
        shares = self.shares([policy], [Assignment(c, one[0]) for c, one in zip(plan.cases, plan.seeds, strict=True)])[
            0
        ]
        return fsum(shares) / len(shares)


def playable(text: str) -> str | TreePolicy:
    """Return a policy's text as a fitness plays it: UCB1 with its constant, or the text as it is."""
    return TreePolicy.ucb1(float(text[len(UCB1) :])) if text.startswith(UCB1) else text


def _race(ground: _Ground, candidates: Sequence[str], plan: Plan) -> tuple[str, list[float]]:
    """Return the best policy and its fitness on the whole plan. After each rung, the better half stays."""
    racing = [(text, list[float]()) for text in candidates]
    done = 0
    for rung in ground.rungs(plan):
        new = ground.shares([text for text, _ in racing], plan[done:rung])
        racing = [(text, known + more) for (text, known), more in zip(racing, new, strict=True)]
        racing.sort(key=lambda row: -fsum(row[1]))
        racing = racing[: max(1, len(racing) // 2)] if rung < len(plan) else racing
        done = rung
    return racing[0]


def _climb(
    ground: _Ground, start: str, shares: list[float], plan: Plan, mutate: Mutate, stream: random.Random
) -> tuple[str, list[float]]:
    """Accept each mutant at least as good on the plan, until PATIENCE of them in a row are no better."""
    failures = 0
    steps = ground.rungs(plan)
    while failures < PATIENCE and ground.left >= len(plan):
        mutant, known = mutate(start, stream), list[float]()
        for rung in steps if mutant != start else ():
            known += ground.shares([mutant], plan[len(known) : rung])[0]
            if fsum(known) < fsum(shares[:rung]):
                break
        better = len(known) == len(plan) and fsum(known) > fsum(shares)
        if len(known) == len(plan) and fsum(known) >= fsum(shares):
            start, shares = mutant, known
        failures = 0 if better else failures + 1
    return start, shares


def _other_c(text: str, stream: random.Random) -> str:
    return f"{UCB1}{float(text[len(UCB1) :]) * math.exp(stream.gauss(0.0, 0.4)):.6g}"


def _other_constants(text: str, stream: random.Random) -> str:
    """Multiply numbers of a formula, except 0 and 1, by random factors.

    Each number is changed with probability 1/2; at least one is, if there is any.
    """
    tokens = list(parse(text).tokens)
    numbers = [i for i, token in enumerate(tokens) if isinstance(token, float) and token not in (0.0, 1.0)]
    chosen = [i for i in numbers if stream.random() < 0.5] or numbers[:1]
    for i in chosen:
        tokens[i] = float(f"{float(tokens[i]) * math.exp(stream.gauss(0.0, 0.7)):.4g}")
    return Formula(tuple(tokens)).text
