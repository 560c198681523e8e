"""The island model as a generator of generations.

The caller owns the loop and passes in the evaluation:

    for generation in generations(settings, seed, evaluate, metrics=game.symbols, levels=6):
        print(generation.index, generation.best.fitness)

A generation consists of these steps: migrate, choose elites and the mating pool, mutate, cross over, evaluate new
individuals, re-evaluate promising ones, update the hall of fame. All random choices come from the islands' own streams,
and all seeds of playthroughs from the one seed. The result therefore depends neither on how the evaluation distributes
its work nor on when it is stopped and resumed: `generations(..., state=s)` continues after the generation of `s`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from math import fsum

from persona_evo import seeds
from persona_evo.errors import GameError
from persona_evo.evolve import genetics, genome, hall, racing, selection
from persona_evo.evolve.duplicates import EvaluationCache, keys_for
from persona_evo.evolve.genes import Genome
from persona_evo.evolve.records import EvolutionState, Generation, Individual, Island, IslandRow, Request
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.games.core import Game

_TREES = 4
"""The number of trees and keys that are cached, as a multiple of the population."""


Evaluate = Callable[[Sequence[Request]], Sequence[Sequence[float]]]
"""Returns for each request the mean utility of each level, in the order of the requests. Every number is finite."""


def generations(
    settings: EvolutionSettings,
    seed: int,
    evaluate: Evaluate,
    *,
    metrics: Sequence[str],
    levels: int,
    validation: int = 0,
    game: Game | None = None,
    first: Sequence[str] = (),
    state: EvolutionState | None = None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Generation]:
    """Evolve until `settings.generations` populations are evaluated.

    Args:
        seed: the seed of all random choices.
        evaluate: see `Evaluate`; called one to three times per generation.
        metrics: the symbols of the metrics that formulas may use (`genetics.metrics_of`).
        levels: the number of levels to train on.
        validation: the number of levels, numbered after these, on which elites and the hall of fame are compared; at
            least one if the settings draw levels for each generation.
        game: the game, which random terms follow; None for metrics of no game.
        first: formulas that join the first population, dealt to the islands in turn.
        state: the state to continue from.
        check: called for each individual that is bred; an exception it raises ends the generation.

    Raises:
        SettingsError: a formula of `first` or of `state` uses what the settings do not have.
        GameError: the evaluation did not return `levels` finite numbers.
    """
    model = _Model(settings, seed, evaluate, genetics.Primitives.of(settings, metrics, game), levels, validation, check)
    if state is None:
        yield model.begin(first)
        state = model.state
    model.state = state
    while model.state.generation + 1 < settings.generations:
        yield model.advance()


class _Model:
    def __init__(
        self,
        settings: EvolutionSettings,
        seed: int,
        evaluate: Evaluate,
        primitives: genetics.Primitives,
        levels: int,
        validation: int,
        check: Callable[[], None],
    ) -> None:
        self.settings, self.seed, self.levels, self.validation = settings, seed, levels, validation
        self.primitives = primitives
        self.keys = keys_for(settings, [leaf.name for leaf in primitives.symbols])
        self._evaluate, self._check = evaluate, check
        self._evaluating = 0.0
        self._remembered = [0] * settings.islands
        self._trees: dict[str, tuple[Genome, str]] = {}
        self.state = EvolutionState(-1, [], [], {})

    # generations

    def begin(self, first: Sequence[str]) -> Generation:
        """Make the first generation: the given formulas, then random ones."""
        started = time.perf_counter()
        s = self.settings
        islands = [self._settle(i, first[i :: s.islands]) for i in range(s.islands)]
        self.state = EvolutionState(0, islands, [], {})
        return self._finish(started)

    def _settle(self, number: int, first: Sequence[str]) -> Island:
        stream = random.Random(seeds.derive(self.seed, "island", number))
        size = self.settings.island_size
        population = [self._individual(self._tree(text), "first") for text in first[:size]]

        def newcomer() -> tuple[Genome, str]:
            return genome.random_genome(self.settings, self.primitives, stream), "random"

        while len(population) < size:
            self._join(population, newcomer)
        return Island(population, stream)

    def advance(self) -> Generation:
        """Make the next generation."""
        started = time.perf_counter()
        old = self.state
        arrivals = self._migrate(old.islands, old.generation + 1)
        bred = []
        for island, guests in zip(old.islands, arrivals, strict=True):
            candidates = [*self._finishers(island), *guests]
            population = selection.elites(candidates, self.settings)
            pool = selection.mating_pool(candidates, self.settings, island.stream)
            self._breed(population, pool, island.stream)
            bred.append(Island(population, island.stream))
        self.state = EvolutionState(old.generation + 1, bred, old.hall, old.memory, old.evaluations, old.playthroughs)
        return self._finish(started)

    def _finish(self, started: float) -> Generation:
        self._evaluating = 0.0
        state = self.state
        if self.settings.levels_a_generation:
            counts = racing.race(self.settings, self.seed, state, self.levels, self.validation, self._ask)
            everyone = [i.validated() for island in state.islands for i in island.individuals if i.validation]
        else:
            counts = self._appraise()
            for turn in range(self.settings.rounds):
                for i, n in enumerate(self._look_again(turn)):
                    counts[i] += n
            everyone = [i for island in state.islands for i in island.individuals]
        state.hall = hall.update(state.hall, everyone, self.settings.hall_of_fame)
        state.evaluations += sum(counts)
        rows = tuple(self._row(i, counts[i]) for i in range(self.settings.islands))
        seconds = time.perf_counter() - started
        return Generation(state.generation, rows, state.hall[0], state, seconds, self._evaluating)

    # breeding

    def _migrate(self, islands: Sequence[Island], generation: int) -> list[list[Individual]]:
        """Return for each island the copies that arrive. They stay until the island has bred."""
        s = self.settings
        arrivals: list[list[Individual]] = [[] for _ in islands]
        if len(islands) == 1 or s.migration_every == 0 or generation % s.migration_every:
            return arrivals
        for i, island in enumerate(islands):
            settled = self._finishers(island)
            for individual in island.stream.sample(settled, min(s.migrants, len(settled))):
                step = 1 if s.topology == "ring" else island.stream.randrange(1, len(islands))
                arrivals[(i + step) % len(islands)].append(individual.copy())
        return arrivals

    def _breed(self, population: list[Individual], pool: Sequence[Individual], stream: random.Random) -> None:
        """Fill the island's next population, which already contains the elites."""
        s = self.settings
        trees = [self._tree(i.formula) for i in pool]
        origins = ["copy"] * len(trees)
        for i, tree in enumerate(trees):
            if stream.random() < s.mutation:
                trees[i], name = genome.mutate(tree, s, self.primitives, stream)
                origins[i] = f"mutation:{name}"
        waiting: list[tuple[Genome, str]] = []

        def offspring() -> tuple[Genome, str]:
            if not waiting:
                one, two = stream.randrange(len(trees)), stream.randrange(len(trees))
                if stream.random() < s.crossover:
                    pair = genome.crossover(trees[one], trees[two], s, stream)
                    waiting.extend((tree, "crossover") for tree in reversed(pair))
                else:
                    waiting.extend([(trees[two], origins[two]), (trees[one], origins[one])])
            return waiting.pop()

        while len(population) < s.island_size:
            self._join(population, offspring)

    def _join(self, population: list[Individual], make: Callable[[], tuple[Genome, str]]) -> None:
        """Add what `make` returns. If the settings ask for it, only individuals new to the population are added."""
        self._check()
        s = self.settings
        taken = {i.key for i in population} if s.unique_tries else set()
        seen = self.state.memory if s.levels_a_generation and s.unique_tries else {}
        for _ in range(s.unique_tries + 1):
            individual = self._individual(*make())
            if individual.key not in taken and individual.key not in seen:
                break
        population.append(individual)

    def _tree(self, text: str) -> Genome:
        """Return the tree of a text, from the cache if it was made recently."""
        known = self._trees.get(text)
        return genome.read(text, self.primitives) if known is None else known[0]

    def _individual(self, tree: Genome, origin: str) -> Individual:
        text = genome.to_text(tree)
        known = self._trees.get(text)
        key = self.keys.key_of(text) if known is None else known[1]
        self._trees[text] = tree, key
        if len(self._trees) > _TREES * self.settings.population:
            del self._trees[next(iter(self._trees))]
        return Individual(text, genome.size(text), origin=origin, key=key)

    # evaluation

    def _finishers(self, island: Island) -> list[Individual]:
        """Return the individuals that have played all levels of the generation."""
        played = max(len(i.utilities) for i in island.individuals)
        return [i for i in island.individuals if len(i.utilities) == played]

    def _appraise(self) -> list[int]:
        """Evaluate individuals without a fitness. Return the number of evaluations on each island."""
        state, s = self.state, self.settings
        memory = EvaluationCache(state.memory, s.memory)
        counts = [0] * s.islands
        self._remembered = [0] * s.islands
        asked: dict[str, list[Individual]] = {}
        requests: list[Request] = []
        for i, island in enumerate(state.islands):
            for slot, individual in enumerate(island.individuals):
                if individual.utilities:
                    continue
                individual.born = state.generation
                known = memory.recall(individual.key) if s.duplicates != "off" else None
                if known is not None:
                    individual.utilities, individual.trials = list(known[0]), known[1]
                    self._remembered[i] += 1
                    continue
                name = individual.key if s.duplicates != "off" else f"{i}.{slot}"
                if name in asked:
                    asked[name].append(individual)
                    self._remembered[i] += 1
                    continue
                asked[name] = [individual]
                counts[i] += 1
                requests.append(Request(individual.formula, self._seeds(i, slot)))
        for utilities, individuals in zip(self._ask(requests), asked.values(), strict=True):
            for individual in individuals:
                individual.learn(utilities)
            if s.duplicates != "off":
                memory.keep(individuals[0].key, utilities, 1)
        return counts

    def _look_again(self, turn: int) -> list[int]:
        """Re-evaluate candidates for the elite and the hall on fresh seeds, and update all their duplicates."""
        state, s = self.state, self.settings
        counts = [0] * s.islands
        everyone = [i for island in state.islands for i in island.individuals]
        chosen: dict[str, tuple[Individual, int]] = {}
        for i, island in enumerate(state.islands):
            for individual in selection.elites(island.individuals, s):
                chosen.setdefault(individual.key, (individual, i))
        fresh = hall.front(hall.update(state.hall, everyone, s.hall_of_fame))
        for individual in fresh:
            chosen.setdefault(individual.key, (individual, 0))
        again = [(individual, i) for individual, i in chosen.values() if individual.trials < s.reevaluations]
        plan = self._fresh_seeds(turn)
        results = self._ask([Request(individual.formula, plan) for individual, _ in again])
        memory = EvaluationCache(state.memory, s.memory)
        for (individual, i), utilities in zip(again, results, strict=True):
            counts[i] += 1
            individual.learn(utilities)
            for other in (*everyone, *state.hall):
                if other.key == individual.key:
                    other.utilities, other.trials = list(individual.utilities), individual.trials
            if s.duplicates != "off":
                memory.keep(individual.key, individual.utilities, individual.trials)
        return counts

    def _seeds(self, island: int, slot: int) -> tuple[tuple[int, ...], ...]:
        """Return the seeds of an individual's first evaluation: those of the whole generation, or its own."""
        g = self.state.generation
        who = ("all",) if self.settings.common_seeds else ("island", island, "slot", slot)
        return tuple(
            tuple(seeds.derive(self.seed, "play", g, *who, level, trial) for trial in range(self.settings.trials))
            for level in range(self.levels)
        )

    def _fresh_seeds(self, turn: int) -> tuple[tuple[int, ...], ...]:
        g = self.state.generation
        return tuple(
            tuple(seeds.derive(self.seed, "again", g, turn, level, trial) for trial in range(self.settings.trials))
            for level in range(self.levels)
        )

    def _ask(self, requests: Sequence[Request]) -> list[list[float]]:
        if not requests:
            return []
        self.state.playthroughs += sum(request.playthroughs for request in requests)
        started = time.perf_counter()
        answers = [[float(u) for u in utilities] for utilities in self._evaluate(requests)]
        self._evaluating += time.perf_counter() - started
        if len(answers) != len(requests):
            raise GameError(f"the evaluation answered {len(answers)} of {len(requests)} requests")
        for request, answer in zip(requests, answers, strict=True):
            expected = len(request.seeds)
            if len(answer) != expected or not all(abs(u) < float("inf") for u in answer):
                raise GameError(
                    f"the evaluation of {request.formula} gave {answer}, expected {expected} finite numbers"
                )
        return answers

    def _row(self, number: int, evaluations: int) -> IslandRow:
        individuals = self._finishers(self.state.islands[number])
        best = min(individuals, key=selection.better(self.settings))
        n = len(individuals)
        validated = [i.validated().fitness for i in self.state.islands[number].individuals if i.validation]
        return IslandRow(
            generation=self.state.generation,
            island=number,
            best=best.fitness,
            mean=fsum(i.fitness for i in individuals) / n,
            size=sum(i.size for i in individuals) / n,
            best_size=best.size,
            diversity=len({i.key for i in individuals}) / n,
            evaluations=evaluations,
            remembered=self._remembered[number],
            formula=best.formula,
            validation=max(validated, default=None),
        )


def check_first(settings: EvolutionSettings, metrics: Sequence[str], formulas: Sequence[str]) -> list[str]:
    """Return those of `formulas` that can join a population under these settings."""
    names = genetics.BASIC if settings.functions == "basic" else genetics.EXTENDED
    known = {*genetics.leaves(settings, metrics), *names}
    return [text for text in formulas if genome.fits(text, settings, known)]
