"""Summaries of the planner's benchmark: shares of the best known utility, wins, proofs, time, and who falls behind.

A mean is over levels of means over seeds, so that each level counts once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import fmean
from typing import TypeVar

from .contest import OWN_METRIC, PERSONAS, SINGLE, UCB1, Result

NEAR = 1e-9
SMALL = 0.1
"""A best known utility below this is too small for a unit: the share is then 1 minus the distance to it."""

SIGNIFICANT = 0.01
K = TypeVar("K")
Key = tuple[str, str, str]
"""Group, level and persona."""


@dataclass(frozen=True)
class Best:
    """The best known utility of a level and persona.

    Attributes:
        utility: the utility.
        won: whether a plan with this utility wins.
        proven: whether no plan has a higher utility.
    """

    utility: float
    won: bool
    proven: bool

    def share(self, utility: float) -> float:
        """Return how close a utility comes to it; 1 means that it is equal."""
        return utility / self.utility if self.utility >= SMALL else 1.0 - (self.utility - utility)


@dataclass(frozen=True)
class Standing:
    """The summary of a player with a budget on a group of levels.

    Attributes:
        player, iterations: the player and its budget.
        shares: share of the best known utility by persona.
        cpu_ratio: processor time relative to `single`, NaN without it.
        behind: pairs with fewer wins than UCB1; None if there are too few playthroughs to tell.
    """

    player: str
    iterations: int
    shares: dict[str, float]
    wins: float
    wins_where: float
    proofs: float
    cpu: float
    cpu_ratio: float
    behind: tuple[tuple[str, str], ...] | None


def key_of(result: Result) -> Key:
    """Return the key of the best known utility for a result."""
    return result.group, result.level, result.persona


def grouped(results: Iterable[Result], key: Callable[[Result], K]) -> dict[K, list[Result]]:
    """Group results by a key, in the order in which keys first appear."""
    found: dict[K, list[Result]] = defaultdict(list)
    for result in results:
        found[key(result)].append(result)
    return dict(found)


@cache
def fewer(wins: int, of: int, others: int, of_others: int) -> float:
    """Return p of Fisher's exact test, one-sided: the probability of so few wins if both won equally often."""
    from scipy.stats import fisher_exact

    return float(fisher_exact([[wins, of - wins], [others, of_others - others]], alternative="less").pvalue)


class Standings:
    """Summaries of all results. Results of the reference count only for the best known utility."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results

    @cached_property
    def best(self) -> dict[Key, Best]:
        """The best known utility of each level and persona."""
        found = {}
        for key, results in grouped(self.results, key_of).items():
            top = max(result.utility for result in results)
            level = [result for result in results if result.utility >= top - NEAR]
            found[key] = Best(top, any(r.won for r in level), any(r.proven for r in level))
        return found

    @cached_property
    def groups(self) -> list[str]:
        """The groups of levels that were played."""
        return list(dict.fromkeys(result.group for result in self.results))

    def personas(self, group: str) -> set[str]:
        """Return the personas that played a group."""
        return {result.persona for result in self.results if result.group == group}

    @property
    def contradicted(self) -> list[Result]:
        """Results that are called proven although something better was found; each is an error of the program."""
        return [r for r in self.results if r.proven and r.utility < self.best[key_of(r)].utility - NEAR]

    @cached_property
    def _by_player(self) -> dict[tuple[str, str, int], list[Result]]:
        return grouped(self.results, lambda r: (r.group, r.player, r.iterations))

    def of(self, group: str, player: str, iterations: int) -> list[Result]:
        """Return the playthroughs of one player with one budget on one group of levels."""
        return self._by_player.get((group, player, iterations), [])

    def mean(self, results: Iterable[Result], value: Callable[[Result], float]) -> float:
        """Return the mean over levels and personas of the mean over seeds; NaN without results."""
        groups = grouped(results, key_of).values()
        return fmean(fmean(map(value, group)) for group in groups) if groups else math.nan

    def share(self, result: Result) -> float:
        """Return how close a playthrough comes to the best known utility."""
        return self.best[key_of(result)].share(result.utility)

    def standing(self, group: str, player: str, iterations: int) -> Standing | None:
        """Return the summary of a player; None if it did not play."""
        results = self.of(group, player, iterations)
        if not results:
            return None
        cpu = self.mean(results, lambda r: r.cpu)
        single = self.mean(self.of(group, SINGLE, iterations), lambda r: r.cpu)
        winnable = [r for r in results if self.best[key_of(r)].won]
        return Standing(
            player,
            iterations,
            {p: self.mean([r for r in results if r.persona == p], self.share) for p in PERSONAS},
            self.mean(results, lambda r: r.won),
            self.mean(winnable, lambda r: r.won),
            self.mean(results, lambda r: r.proven),
            cpu,
            cpu / single,
            self.behind(group, player, iterations),
        )

    def behind(self, group: str, player: str, iterations: int) -> tuple[tuple[str, str], ...] | None:
        """Return levels and personas in which the player wins fewer playthroughs than UCB1."""
        ours = grouped(self.of(group, player, iterations), key_of)
        theirs = grouped(self.of(group, UCB1, iterations), key_of)
        both = [key for key in ours if key in theirs]
        if player == UCB1 or not any(self._tellable(len(ours[key]), len(theirs[key])) for key in both):
            return None
        found = []
        for key in both:
            counts = sum(r.won for r in ours[key]), len(ours[key]), sum(r.won for r in theirs[key]), len(theirs[key])
            if fewer(*counts) < SIGNIFICANT:
                found.append((key[1], key[2]))
        return tuple(found)

    @staticmethod
    def _tellable(ours: int, theirs: int) -> bool:
        return fewer(0, ours, theirs, theirs) < SIGNIFICANT

    def crossed(self, group: str, player: str, iterations: int) -> dict[str, dict[str, float]]:
        """Return the mean of each persona's own metric, by persona."""
        results = self.of(group, player, iterations)
        return {
            persona: {
                symbol: self.mean([r for r in results if r.persona == persona], lambda r, s=symbol: r.metric(s))
                for symbol in OWN_METRIC.values()
            }
            for persona in PERSONAS
        }

    def overtaken(self, group: str, player: str, iterations: int) -> list[tuple[str, str]]:
        """Return personas, each with another one that has more of its own metric (of steps: fewer)."""
        table = self.crossed(group, player, iterations)
        found = []
        for persona, symbol in OWN_METRIC.items():
            sign = -1.0 if symbol == "ST" else 1.0
            own = sign * table[persona][symbol]
            found += [(persona, other) for other in table if sign * table[other][symbol] > own + NEAR]
        return found

    def worst(self, group: str, player: str, iterations: int, count: int) -> list[tuple[Key, float]]:
        """Return the pairs with the lowest mean shares, the lowest first; pairs with a full share are left out."""
        pairs = grouped(self.of(group, player, iterations), key_of)
        shares = [(key, fmean(map(self.share, results))) for key, results in pairs.items()]
        low = sorted((share, key) for key, share in shares if share < 1 - NEAR)
        return [(key, share) for share, key in low[:count]]
