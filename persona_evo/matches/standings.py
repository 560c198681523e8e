"""Evaluates the games of a match: rates with intervals, tests, and ratings of all agents together.

Ratings are those of Bradley and Terry (1952, Biometrika 39:324), computed by minorisation and maximisation (Hunter
2004, Ann. Stat. 32:384) and shown on the Elo scale: 400 points are odds of 10 to 1, the mean is 0. A tie counts as half
a win. As a prior, each agent has one tie with each other agent, so that an agent that wins every game has a finite
rating, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from persona_evo.intervals import FEWEST, Interval, clustered_rate, mean_interval, score, wilson
from persona_evo.matches.records import GameRecord
from persona_evo.seeds import derive

ROUNDS = 500
RESAMPLES = 200


@dataclass(frozen=True)
class Pair:
    """The results of `a` against `b`.

    Attributes:
        rate: share of games won by a, with Wilson's interval.
        p: p value of the exact sign test of the games that were not ties.
        effect: share of games in which a scores more; ties count half. Its interval is for games from other starts: the
            two games from one start, one from each side, are not independent.
        margin: mean of a's margins, with its interval from FEWEST games on.
        faults: number of moves that a and b lost.
    """

    a: str
    b: str
    level: str
    games: int
    wins: int
    ties: int
    rate: Interval
    p: float
    effect: Interval
    margin: Interval
    faults: tuple[int, int]

    @property
    def difference(self) -> Interval:
        """The difference of the mean results of a and b, each 1 for a win, 0.5 for a tie and 0 for a loss."""
        value, low, high = (2 * v - 1 for v in self.effect[:3])
        return Interval(value, low, high, self.effect.n)


@dataclass(frozen=True)
class Rating:
    """An agent's Elo rating with its 95 % interval (by resampling games), and its share of points."""

    name: str
    points: float
    low: float
    high: float
    score: float
    games: int

    @property
    def interval(self) -> str:
        """The interval for display; resampling few games says nothing about the spread."""
        return f"{self.low:+.0f} to {self.high:+.0f}" if self.games >= FEWEST else "–"


@dataclass(frozen=True)
class Thinking:
    """How an agent thought on one level, as means over its games.

    `nodes`, `breadth` and `depth` are those of its trees; 0 without searches.
    """

    name: str
    level: str
    games: int
    searches: int
    seconds: float
    slowest: float
    iterations: float
    nodes: float
    breadth: float
    depth: float
    breadth_most: float
    depth_most: float


def sign_test(wins: int, losses: int) -> float:
    """Return the exact two-sided p value of so many wins and losses if both are equally likely."""
    n, k = wins + losses, min(wins, losses)
    if n == 0:
        return 1.0
    ways = chosen = 1
    for i in range(k):
        chosen = chosen * (n - i) // (i + 1)
        ways += chosen
    return min(1.0, 2 * ways / (1 << n))  # integers, since 1 << n may be too large for a float


def pair(records: Sequence[GameRecord], a: str, b: str, level: str = "") -> Pair:
    """Summarise the games between two agents, on one level or (level "") on all."""
    chosen = [r for r in records if {r.first, r.second} == {a, b} and level in ("", r.level)]
    results = [r.result_of(a) for r in chosen]
    wins, ties = results.count(1.0), results.count(0.5)
    margins = [r.margin if r.first == a else -r.margin for r in chosen]
    faults = [0, 0]
    for r in chosen:
        for who, *_ in r.faults:
            faults[0 if (r.first, r.second)[who] == a else 1] += 1
    return Pair(
        a,
        b,
        level,
        len(chosen),
        wins,
        ties,
        wilson(wins, len(chosen)),
        sign_test(wins, len(chosen) - wins - ties),
        _effect(chosen, a),
        mean_interval(margins) if margins else Interval(0.0, 0.0, 0.0, 0),
        (faults[0], faults[1]),
    )


def _effect(games: Sequence[GameRecord], name: str) -> Interval:
    """Return the share of games in which an agent scores more; ties count half."""
    starts: dict[tuple[str, int], list[float]] = {}
    for r in games:
        starts.setdefault((r.level, r.start), []).append(r.result_of(name))
    groups = [(math.fsum(own), len(own)) for own in starts.values()]
    if len(groups) > 1:
        return clustered_rate(groups)
    return score(groups[0][0] / groups[0][1], groups[0][1]) if groups else Interval(0.5, 0.0, 1.0, 0)


def ratings(records: Sequence[GameRecord], names: Sequence[str], seed: int = 0) -> list[Rating]:
    """Rate all agents, the best first."""
    number = {name: i for i, name in enumerate(names)}
    games = np.array([(number[r.first], number[r.second], r.result) for r in records]).reshape(-1, 3)
    points = elo(games, len(names))
    rng = np.random.default_rng(derive(seed, "ratings"))
    again = np.array([elo(games[rng.integers(0, len(games), len(games))], len(names)) for _ in range(RESAMPLES)])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    found = []
    for name, i in number.items():
        mine = [r.result_of(name) for r in records if name in (r.first, r.second)]
        found.append(
            Rating(name, float(points[i]), float(low[i]), float(high[i]), sum(mine) / max(1, len(mine)), len(mine))
        )
    return sorted(found, key=lambda r: -r.points)


def elo(games: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the points of `count` agents, from rows (first agent, second agent, points of the first)."""
    won = np.full((count, count), 0.5)
    np.fill_diagonal(won, 0.0)
    first, second = games[:, 0].astype(int), games[:, 1].astype(int)
    np.add.at(won, (first, second), games[:, 2])
    np.add.at(won, (second, first), 1 - games[:, 2])
    met, wins, strength = won + won.T, won.sum(axis=1), np.ones(count)
    for _ in range(ROUNDS):
        before = strength
        strength = wins / (met / (strength[:, None] + strength[None, :])).sum(axis=1)
        strength = strength / np.exp(np.log(strength).mean())
        if np.abs(strength / before - 1).max() < 1e-9:
            break
    points: NDArray[np.float64] = 400 * np.log10(strength)
    points -= points.mean()
    return points


def thinking(records: Sequence[GameRecord], name: str, level: str) -> Thinking:
    """Summarise the time and trees of an agent on a level."""
    rows, seconds, slowest, moves = [], 0.0, 0.0, 0
    chosen = [r for r in records if name in (r.first, r.second) and r.level == level]
    for r in chosen:
        who = 0 if r.first == name else 1
        seconds += r.seconds[who]
        slowest = max(slowest, r.slowest[who])
        moves += (r.plies + 1 - who) // 2
        if r.searches[who]:
            rows.append(r.searches[who])
    means = [float(v) for v in np.mean(rows, axis=0)] if rows else [0.0] * 7
    searches = int(sum(row[0] for row in rows))
    return Thinking(name, level, len(chosen), searches, seconds / max(1, moves), slowest, *means[1:])
