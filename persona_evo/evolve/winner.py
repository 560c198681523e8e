"""Turns a hall of fame into one policy: compares on fresh seeds and with others, simplifies, and puts it in words."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo import seeds
from persona_evo.agents.skill import skill_to_dict
from persona_evo.evolve import genome, shortening
from persona_evo.evolve.comparison import Comparing, mean_utility
from persona_evo.evolve.explanation import estimates, in_words, lists_in_words, meanings, plan_estimates
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import PlaythroughScore, mean_score, sample_plan
from persona_evo.evolve.records import Individual
from persona_evo.evolve.rivals import RivalComparison
from persona_evo.evolve.rounds import play_rounds
from persona_evo.evolve.schedule import Phase, Schedule, TellPhase
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.shortening import ShortLists
from persona_evo.formula import Formula, parse
from persona_evo.formula.simplify import LEAST_SECONDS, NO_TIME, SHARED, Simplified
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, Game, Level

SIMPLIFY_SECONDS = 20.0
"""The time limit of the simplification, in seconds."""
SAMPLING_SECONDS = 0.7
"""The lowest number of seconds needed to sample states for the simplification."""
WORDS_SECONDS = 0.4
"""The approximate seconds it takes to put a formula in words."""
FEWEST_TRIALS = 2
"""The lowest number of trials of each finalist. If there is no time for them, fewer finalists are compared."""

_SAMPLED_LEVELS = 3
_SAMPLED_MOVES = 60
_SAMPLE_ITERATIONS = 3000


@dataclass(frozen=True)
class Winner:
    """The best individual, and its scores on fresh seeds.

    Attributes:
        scores: the mean utility and priority metric of each case.
        trials: the trials of each case, 0 if there was no time for any and the scores are those of the evolution.
        finalists: the number of individuals compared, including itself.
        names: the names of the cases that the scores belong to; None for all cases of the run.
        training, validation: the fitness on training levels and on the validation set, None if there is no such set.
        cut: whether the time was up before its constants were fully tuned.
    """

    individual: Individual
    scores: tuple[PlaythroughScore, ...]
    trials: int = 0
    finalists: int = 1
    names: tuple[str, ...] | None = None
    training: float | None = None
    validation: float | None = None
    cut: bool = False

    @property
    def utility(self) -> float:
        """The mean utility over levels."""
        return fsum(s.utility for s in self.scores) / len(self.scores)

    @property
    def priority(self) -> float:
        """The mean of the persona's priority metric over levels."""
        return fsum(s.priority for s in self.scores) / len(self.scores)


def choose(
    hall: Sequence[Individual],
    settings: EvolutionSettings,
    seed: int,
    fitness: Fitness,
    until: float | None = None,
    tell: TellPhase | None = None,
) -> Winner:
    """Return the member of the hall that does best on seeds the evolution never used; of equals the smallest.

    Args:
        hall: the candidates; the fittest of them are compared.
        until: the moment on `time.monotonic` by which the result is needed, if necessary from fewer trials and
            candidates.
        tell: receives progress from time to time.
    """
    cases = len(fitness.spec.cases)
    plan = tuple(
        tuple(seeds.derive(seed, "final", case, trial) for trial in range(settings.final_trials))
        for case in range(cases)
    )
    most = settings.final_candidates
    if until is not None:
        time_for = (until - time.monotonic()) / max(1e-9, fitness.seconds(FEWEST_TRIALS * cases))
        most = max(1, min(most, int(time_for)))
    candidates = sorted(hall, key=lambda i: (-i.fitness, i.size))[:most]
    played = play_rounds(fitness, [c.formula for c in candidates], plan, "comparing the finalists", until, tell)
    trials = min(len(scores) for scores in played[0])
    if not trials:
        best = candidates[0]
        return Winner(best, tuple(PlaythroughScore(u, 0.0) for u in best.utilities))
    at = min(
        range(len(candidates)), key=lambda i: (-mean_utility(played[i]), candidates[i].size, candidates[i].formula)
    )
    means = [mean_score(scores) for scores in played[at]]
    return Winner(candidates[at], tuple(means), trials, len(candidates))


def _sampling_seconds(fitness: Fitness) -> float:
    """Return the seconds needed to sample states for the simplification, which are many in slow games."""
    spec = fitness.spec
    levels = min(_SAMPLED_LEVELS, len(spec.levels))
    if spec.league is not None or spec.skill is not None:
        return max(SAMPLING_SECONDS, levels * fitness.pace)
    iterations = spec.budget.iterations or _SAMPLE_ITERATIONS
    return max(SAMPLING_SECONDS, levels * fitness.pace * _SAMPLE_ITERATIONS / iterations)


def simplified(
    formula: Formula, spec: FitnessSpec, until: float | None = None, sampling: float = SAMPLING_SECONDS
) -> Simplified:
    """Return a simpler formula that plays alike, or the reason why there is none.

    Args:
        formula: the formula to simplify.
        spec: what is played, for the states in which both formulas are compared.
        until: the moment on `time.monotonic` by which it is done.
        sampling: the seconds needed to sample these states.
    """
    from persona_evo.formula.simplify import simplify
    from persona_evo.search.tree_policy import columns_for, plan_variables

    if until is not None and until - time.monotonic() < LEAST_SECONDS + sampling:
        return Simplified(formula, formula, False, NO_TIME, True, 0.0, True)
    game = registry.get(spec.game)
    everywhere = not formula.symbols.isdisjoint(plan_variables(game))  # states from all over the tree are compared
    rows, groups = sampled_choices(formula, spec, None if game.outside is None else until)
    return simplify(
        formula,
        columns_for(formula, game),
        rows,
        groups=groups,
        choice_only=not everywhere,
        shared=() if everywhere else SHARED,
        until=until,
    )


def sampled_choices(
    formula: Formula, spec: FitnessSpec, until: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return states that a search with this formula has to choose between, from some of the levels.

    Args:
        formula: the formula that searches.
        spec: what is played.
        until: the moment on `time.monotonic` after which no state is looked at, which takes a rollout in connected
            games.

    Returns:
        rows: float64[n, columns], metrics of the children of the states along the plan that was found, with plausible
            values of the search's variables (`columns_for`).
        groups: int64[n], the parent that each child belongs to.
    """
    from persona_evo.search.settings import Budget
    from persona_evo.search.tree_policy import columns_for

    game = registry.get(spec.game)
    utility, columns = parse(spec.utility, game.symbols), columns_for(formula, game)
    stream, other = random.Random(0), random.Random(1)
    rows: list[list[float]] = []
    groups: list[int] = []
    group = 0
    each = len(spec.cases) // len(spec.levels)
    for number, level in enumerate(spec.levels[:_SAMPLED_LEVELS]):
        loaded = level.load(game)
        left = None if until is None else max(1e-3, until - time.monotonic())
        found = sample_plan(spec, formula, number * each, Budget(iterations=_SAMPLE_ITERATIONS, seconds=left))
        moves = found.actions[:_SAMPLED_MOVES]
        states = game.replay(loaded, moves, rng=seeds.stream(found.seed), seed=found.seed)
        for depth, (parent, children) in enumerate(_children(game, loaded, states), 1):
            if until is not None and time.monotonic() >= until:
                break
            visits = float(stream.randint(1, _SAMPLE_ITERATIONS))
            for metrics in children:
                value = utility.evaluate(metrics)
                known = {
                    **plan_estimates(metrics, parent, utility, other),
                    **metrics,
                    **estimates(value, visits, depth, stream),
                }
                rows.append([known[v] for v in columns])
                groups.append(group)
            group += 1
    return np.array(rows).reshape(-1, len(columns)), np.array(groups, dtype=np.int64)


def _children(
    game: Game, level: Level, states: Sequence[Any]
) -> Iterator[tuple[dict[str, float], list[dict[str, float]]]]:
    """Yield the metrics of each state along a playthrough, and of all its children, as the player to move sees them."""
    step = game.rules().step
    for state in states:
        if game.over(level, state) != RUNNING:
            continue
        children, mover = [], int(game.rules().mover(level.tables, state))
        for action in game.legal(level, state):
            child = state.copy()
            step(level.tables, child, action, np.ones(2, dtype=np.int64))
            children.append(game.measure(level, child, mover))
        yield game.measure(level, state, mover), children


@dataclass(frozen=True)
class WinnerDescription:
    """What is found out about a winner after it has won, as far as there was time.

    Attributes:
        comparison: the comparison with others, None if none was requested.
        simplified: a shorter form of the formula or of the lists.
        words: what the formula, or each list, seeks, avoids and saves, one line each.
        unfinished: the steps that there was no time for: "comparison", "tuning", "simplification".
    """

    comparison: RivalComparison | None
    simplified: Simplified | ShortLists
    words: tuple[str, ...]
    unfinished: tuple[str, ...]


def describe(
    winner: Winner,
    fitness: Fitness,
    comparing: Comparing | None,
    schedule: Schedule,
    tell: TellPhase | None = None,
    start: str = "",
) -> WinnerDescription:
    """Compare a winner with others and with its start, put its formula or lists in words, and simplify them."""
    spec, text = fitness.spec, winner.individual.formula
    game = registry.get(spec.game)
    comparison = None
    if comparing is not None:
        comparing.fitness.pace = fitness.pace
        comparison = replace(
            comparing.compare(text, schedule.comparing_until(), tell, start=start),
            training=winner.training,
            validation=winner.validation,
        )
    until, sampling = schedule.describing_until(), _sampling_seconds(fitness)
    if tell:
        tell(Phase("simplifying the formula", 0, 1, _left(until, sampling)))
    levels = [] if game.outside is not None else [level.load(game) for level in spec.levels[:_SAMPLED_LEVELS]]
    utility = parse(spec.utility, game.symbols)
    soon = None if until is None else until - WORDS_SECONDS
    short: Simplified | ShortLists
    if genome.is_lists(text):
        short = shortening.of_lists(genome.lists_of(text), game, levels, utility, soon)
        words = lists_in_words(short.lists, game, levels, utility, until)
    else:
        short = simplified(parse(text), spec, soon, sampling)
        words = in_words(short.formula, game, levels, utility, until)
    if tell:
        tell(Phase("simplifying the formula", 1, 0 if short.reason == NO_TIME else 1, 0.0))
    steps = {
        "comparison": comparison is not None and not comparison.rivals and not comparison.trials,
        "tuning": winner.cut,
        "simplification": short.cut,
    }
    return WinnerDescription(comparison, short, words, tuple(step for step, cut in steps.items() if cut))


def _left(until: float | None, sampling: float) -> float:
    most = SIMPLIFY_SECONDS + sampling
    return most if until is None else max(0.0, min(most, until - time.monotonic()))


def policy_text(
    winner: Winner,
    about: WinnerDescription,
    config: Mapping[str, Any],
    fitness: Fitness,
    run: str,
    generations: int,
    evaluations: int,
) -> str:
    """Return the policy file of a run's winner."""
    from persona_evo.agents.duel import plain
    from persona_evo.store.policies import Policy

    game = registry.get(str(config["game"]))
    text = winner.individual.formula
    names, league = fitness.spec.cases if winner.names is None else winner.names, fitness.spec.league
    measured = {"training": winner.training, "validation": winner.validation}
    template = {} if league is None else plain(league.agent)
    if template:
        template["utility"] = template["utility"] or fitness.spec.utility
    policy = Policy(
        name=str(config["persona"]["name"]),
        game=game.name,
        game_version=game.version,
        persona=str(config["persona"]["name"]),
        utility=fitness.spec.utility,
        priority=fitness.spec.priority,
        **_what_plays(text, about.simplified),
        words=about.words,
        unfinished=about.unfinished,
        comparison={} if about.comparison is None else about.comparison.to_dict(),
        metrics=meanings(about.simplified.scores, game),
        levels=tuple(str(level["name"]) for level in config["levels"]),
        fitness={name: score.utility for name, score in zip(names, winner.scores, strict=True)},
        mean=winner.utility,
        seed=int(config["seed"]),
        budget=fitness.spec.budget.to_dict(),
        search=fitness.spec.search.to_dict(),
        agent=template,
        skill=skill_to_dict(fitness.spec.skill, fitness.spec.per_legal_move),
        connected={} if game.outside is None else game.outside.ordering,
        evolution=dict(config["evolution"]),
        run={
            **({"as_evolved": {"lists": text}} if genome.is_lists(text) else {}),
            **({"opponents": [o.name for o in league.opponents]} if league and league.opponents else {}),
            "name": run,
            "generations": generations,
            "evaluations": evaluations,
            "trials": winner.trials,
            "finalists": winner.finalists,
            "born": winner.individual.born,
            "fitness_in_run": winner.individual.fitness,
            **{name: value for name, value in measured.items() if value is not None},
            "priority": {name: score.priority for name, score in zip(names, winner.scores, strict=True)},
        },
        versions=dict(config["versions"]),
    )
    return policy.to_text()


def _what_plays(text: str, short: Simplified | ShortLists) -> dict[str, Any]:
    """Return the fields of a policy that define how it plays."""
    if isinstance(short, ShortLists):
        return {"kind": "lists", "lists": short.lists, "simplification": short.reason}
    shorter = short.text if short.replaced else ""
    return {"formula": parse(text).text, "simplified": shorter, "simplification": short.reason}
