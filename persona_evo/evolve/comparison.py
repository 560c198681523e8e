"""Compares a winner with UCB1 and with its persona's known policy on levels it was not trained on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path

from persona_evo import seeds
from persona_evo.errors import InputError
from persona_evo.evolve import genome
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import PlaythroughScore
from persona_evo.evolve.rivals import Rival, RivalComparison
from persona_evo.evolve.rounds import play_rounds
from persona_evo.evolve.schedule import TellPhase
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.commands import UNSEEN
from persona_evo.games.core import Game, Level
from persona_evo.games.level_ranges import LevelEntry
from persona_evo.games.level_text import LevelText
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policy_library

MOST_LEVELS = 8
"""The highest number of levels in a comparison."""
START = "the best of its first generation"
"""The name of the start of an evolution when it is listed beside its winner."""
LEVEL = 0.95
"""The confidence level of the intervals."""


def held_out(game: Game, levels: Sequence[Level]) -> list[Level]:
    """Return the levels to compare on: shipped levels that are not among `levels`, the test set first.

    The list is empty if only the user's own levels were trained on, since new seeds of these say more, or if no other
    level ships.
    """
    known = mapsets.shipped(game)
    if game.outside is not None or not {Path(level.source) for level in levels} & set(known.levels.values()):
        return []
    trained = {LevelText.of(level).digest for level in levels}
    paths = [known.levels[name] for name in known.sets.get(UNSEEN, tuple(known.levels)) if name in known.levels]
    loaded = [mapsets.load(game, LevelEntry(path), path.stem, dict(levels[0].options)) for path in paths]
    return [level for level in loaded if LevelText.of(level).digest not in trained][:MOST_LEVELS]


def later_seeds(names: Sequence[str]) -> list[str]:
    """Return levels MAP:VARIANT@SEED to compare on, with seeds after those of the levels that were trained on.

    Seeds only stand for levels of a kind where several of a map were trained on; other maps have no later seeds.
    """
    seeds_of: dict[str, list[int]] = {}
    for name in names:
        kind, at, seed = name.rpartition("@")
        if at and seed.isdigit():
            seeds_of.setdefault(kind, []).append(int(seed))
    several = {kind: sorted(set(found)) for kind, found in seeds_of.items() if len(set(found)) > 1}
    each = MOST_LEVELS // max(1, len(several))
    return [f"{kind}@{found[-1] + k}" for kind, found in several.items() for k in range(1, 1 + min(each, len(found)))]


def known_policy(persona: str, game: Game) -> tuple[str, TreePolicy] | None:
    """Return (name, policy) for the policy that the game's commands find for a persona, None without a usable one."""
    try:
        policy = policy_library.find(persona, game.name)
        tree = policy.tree_policy(game)
    except InputError:
        return None
    home = policy_library.shipped_folder()
    ships = home is not None and Path(policy.file).resolve().is_relative_to(home.resolve())
    return f"the {'shipped' if ships else 'installed'} policy {persona}", tree


class Comparing:
    """A comparison to be made.

    Args:
        fitness: the fitness of the evolution.
        levels: held-out levels; if empty, the comparison uses the levels of the evolution with new seeds.
        persona: the name of the persona, which may already have a policy.
        seed: the seed of the evolution.
        trials: the highest number of trials of each case.
        best: the best known utility of each level, for levels drawn by a generator; else empty.
    """

    def __init__(
        self,
        fitness: Fitness,
        levels: Sequence[LevelText],
        persona: str,
        seed: int,
        trials: int,
        best: Sequence[float] = (),
    ) -> None:
        self.game = registry.get(fitness.spec.game)
        self.unseen, self.drawn = bool(levels), bool(best)
        spec: FitnessSpec = fitness.spec
        if levels:
            spec = replace(fitness.spec, levels=tuple(levels), best=tuple(best), wins=0.0)
        self.fitness = Fitness(spec, fitness.workers)
        self.fitness.pace = fitness.pace
        self.rivals: list[tuple[str, TreePolicy]] = [("UCB1", TreePolicy.ucb1())]
        if spec.search.lists and spec.league is None and self.game.planned:
            utility = TreePolicy.utility(parse(spec.utility, self.game.symbols))
            self.rivals.append(("the default lists with the utility", utility))
        other = known_policy(persona, self.game)
        if other is not None and _fits(other[1], spec):
            self.rivals.append(other)
        self.plan = tuple(
            tuple(seeds.derive(seed, "held out", case, trial) for trial in range(trials))
            for case in range(len(spec.cases))
        )

    @property
    def playthroughs(self) -> int:
        """The number of playthroughs in the whole comparison, including that with the start."""
        return (2 + len(self.rivals)) * sum(len(trials) for trials in self.plan)

    def compare(
        self, formula: str, until: float | None = None, tell: TellPhase | None = None, *, start: str = ""
    ) -> RivalComparison:
        """Compare the winner with its rivals, in as many trials as there is time for.

        Args:
            formula: the winner's formula or lists.
            until: the moment on `time.monotonic` after which nothing is begun.
            tell: receives progress from time to time.
            start: the best formula or lists of the first generation, which become the last rival; "" for none.
        """
        spec = self.fitness.spec
        names = tuple(level.name for level in spec.levels)
        rivals = [(name, policy) for name, policy in self.rivals if not _same(policy, formula)]
        if start and genome.canonical_form(start) != genome.canonical_form(formula):
            rivals.append((START, genome.to_policy(start, self.game)))
        same = [name for name, _ in self.rivals if name not in [n for n, _ in rivals]]
        missing = f"{same[0]} is the same {'set of lists' if genome.is_lists(formula) else 'formula'}" if same else ""
        played = play_rounds(
            self.fitness, [formula, *(policy for _, policy in rivals)], self.plan, "comparing with others", until, tell
        )
        trials = min(len(trials) for trials in played[0])
        if not trials:
            return RivalComparison(names, self.unseen, missing="not compared with UCB1: there was no time left for it")
        found = []
        for (name, _), theirs in zip(rivals, played[1:], strict=True):
            difference, half = over_levels(played[0], theirs) if self.drawn else paired(played[0], theirs)
            low, high = (None, None) if half is None else (difference - half, difference + half)
            found.append(Rival(name, mean_utility(theirs), difference, low, high))
        shares = (
            [
                fsum(spec.share(case, score.utility, score.won) for score in scores) / len(scores)
                for case, scores in enumerate(played[0])
            ]
            if self.drawn
            else []
        )
        return RivalComparison(
            names,
            self.unseen,
            trials,
            mean_utility(played[0]),
            tuple(found),
            missing,
            self.drawn,
            share=fsum(shares) / len(shares) if shares else None,
        )


def _fits(policy: TreePolicy, spec: FitnessSpec) -> bool:
    """Return whether the playthroughs provide everything that a policy needs for its search."""
    if policy.kind == "lists":
        return bool(spec.search.lists)
    return not policy.planned or (spec.whole and spec.search.best_first)


def _same(policy: TreePolicy, text: str) -> bool:
    own = genome.of_policy(policy)
    return own is not None and genome.canonical_form(own) == genome.canonical_form(text)


def mean_utility(cases: Sequence[Sequence[PlaythroughScore]]) -> float:
    """Return the mean over cases of the mean over trials."""
    return fsum(fsum(s.utility for s in trials) / len(trials) for trials in cases) / len(cases)


def paired(
    ours: Sequence[Sequence[PlaythroughScore]], theirs: Sequence[Sequence[PlaythroughScore]]
) -> tuple[float, float | None]:
    """Return (mean difference of utility, half width of its interval), with trials of the same seed as pairs.

    The cases are fixed and only the seeds are drawn, so the variances of the cases' means are added up (a stratified
    sample). The degrees of freedom are Satterthwaite's. The half width is None with one trial.
    """
    pairs = [zip(x, y, strict=True) for x, y in zip(ours, theirs, strict=True)]
    differences = [[a.utility - b.utility for a, b in case] for case in pairs]
    cases, n = len(differences), len(differences[0])
    means = [fsum(case) / n for case in differences]
    difference = fsum(means) / cases
    if n < 2:
        return difference, None
    parts = [
        fsum((d - mean) ** 2 for d in case) / (n - 1) / n / cases**2
        for case, mean in zip(differences, means, strict=True)
    ]
    variance = fsum(parts)
    if variance == 0.0:
        return difference, 0.0
    from scipy.special import stdtrit

    freedom = variance**2 / fsum(part**2 / (n - 1) for part in parts)
    return difference, float(stdtrit(freedom, 0.5 + LEVEL / 2)) * math.sqrt(variance)


def over_levels(
    ours: Sequence[Sequence[PlaythroughScore]], theirs: Sequence[Sequence[PlaythroughScore]]
) -> tuple[float, float | None]:
    """Return (mean difference of utility, half width of its interval), with levels as pairs.

    The levels are a sample of all that could be drawn (Student's t). The half width is None with one level.
    """
    differences = [mean_utility([x]) - mean_utility([y]) for x, y in zip(ours, theirs, strict=True)]
    n = len(differences)
    mean = fsum(differences) / n
    if n < 2:
        return mean, None
    from scipy.special import stdtrit

    variance = fsum((d - mean) ** 2 for d in differences) / (n - 1) / n
    return mean, float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * math.sqrt(variance)
