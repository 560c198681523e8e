"""A publication's tables computed from playthroughs, with the publication's numbers beside ours.

Tests are those of the publication: two-tailed t tests with unequal variances, error 5 %, not corrected for their number
(rates are tested as means of zeros and ones). Intervals are Student's over all playthroughs in all maps; those of win
rates are Wilson's. If all trials in a map show routes of one proven search, their result counts as known, as in
`compare`: it has no interval and is not a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from persona_evo.intervals import Interval, mean_interval
from persona_evo.playtest.correlations import CorrelationRow, correlations
from persona_evo.playtest.metrics import UTILITY, WIN_RATE, Measure, estimate, grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import TrialGroup, tested
from persona_evo.statistics import ALPHA, Correlation, pearson
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED, Named, PublishedRow

NEAR = 0.01
"""Fitness has converged once it stays within this share of its final value."""

MORE_ROWS = (PublishedRow("Utility", "Utility", "utility"), PublishedRow("Steps", "Steps", "steps", lower=True))
"""Rows of table II that are not in the publication."""

ROUNDING = 1e-4
"""The precision of the limits."""


@dataclass(frozen=True)
class ScoreCell:
    """A cell of table II; shares are in percent.

    Attributes:
        kind: the kind of player.
        row, persona: the place in the table.
        paper: mean and half its interval in the paper; None if unknown.
        here: the mean here.
        limit: the value at the end of the best plan; None if unknown.
        proven: whether the limit is proven.
    """

    kind: str
    row: PublishedRow
    persona: str
    paper: tuple[float, float] | None
    here: Interval
    limit: float | None
    proven: bool


@dataclass(frozen=True)
class Difference:
    """A cell of table III.

    Attributes:
        row, persona: the place in the table.
        paper, here: number of levels in which the evolved persona is higher, and number in which it is lower.
        levels: number of levels here.
        maps: number of maps in the publication.
    """

    row: PublishedRow
    persona: str
    paper: tuple[int, int]
    here: tuple[int, int]
    levels: int
    maps: int


@dataclass(frozen=True)
class PersonaPair:
    """A cell of table IV.

    Attributes:
        kind: the kind of players.
        row, persona, other: the place in the table.
        paper, here: number of levels in which the persona is higher than the other one; None if unknown.
    """

    kind: str
    row: PublishedRow
    persona: str
    other: str
    paper: int | None
    here: int


@dataclass(frozen=True)
class Convergence:
    """The convergence of a run's best fitness.

    Attributes:
        persona: the name of the persona.
        generation: first generation (from 1) from which the fitness stays close to its final value.
        generations: number of all generations.
        final: the final value.
    """

    persona: str
    generation: int
    generations: int
    final: float


def is_share(key: str) -> bool:
    """Return whether a measure of the tables is shown in percent."""
    return key not in ("seconds", "utility", "steps")


def value_of(key: str) -> Callable[[Playthrough], float]:
    """Return the function that computes a measure of the tables from a playthrough; shares are in [0, 1]."""
    if key == "win_rate":
        return lambda r: float(r.won)
    if key == "utility":
        return UTILITY.value
    if key in ("seconds", "steps"):
        return lambda r: float(getattr(r, key))
    return lambda r: r.metrics[key]


def higher(a: Iterable[Playthrough], b: Iterable[Playthrough], key: str) -> int:
    """Return 1 if a measure is significantly higher in a than in b, -1 if it is lower, else 0; each from one map."""
    measure = Measure(key, key, value_of(key), by_search=key in ("win_rate", "utility"))
    _, test, _ = tested(TrialGroup(list(a)), TrialGroup(list(b)), measure)
    return 0 if test.p >= ALPHA else 1 if test.statistic > 0 else -1


def mean_of(records: Sequence[Playthrough], key: str) -> Interval:
    """Return the mean of a measure over at least one playthrough; shares are in [0, 1]."""
    if key in ("win_rate", "utility"):
        return estimate(WIN_RATE if key == "win_rate" else UTILITY, records)
    return mean_interval([value_of(key)(r) for r in records])


def players(m: DungeonResults, kind: str) -> Mapping[str, str]:
    """Return the label of each persona's player of a kind."""
    return m.evolved if kind == EVOLVED else m.baseline


def table2(m: DungeonResults) -> list[ScoreCell]:
    """Return the means over all playthroughs by kind and row."""
    found = []
    for kind in (EVOLVED, BASELINE):
        own = {p: [r for r in m.played.records if r.player == label] for p, label in players(m, kind).items()}
        for row in (*m.published.rows, *MORE_ROWS):
            factor = 100.0 if is_share(row.key) else 1.0
            printed = m.published.table2[kind].get(row.key)
            for k, persona in enumerate(m.personas):
                limit, proven = limit_of(m, persona.name, row.key)
                paper = (float(printed[k][0]), float(printed[k][1])) if printed else None
                scaled = None if limit is None else factor * limit
                v = mean_of(own[persona.name], row.key)
                here = Interval(factor * v.value, factor * v.low, factor * v.high, v.n, v.note)
                found.append(ScoreCell(kind, row, persona.name, paper, here, scaled, proven))
    return found


def limit_of(m: DungeonResults, persona: str, key: str) -> tuple[float | None, bool]:
    """Return the limit of a measure for a persona, and whether it is proven.

    The limit is the mean over levels of the measure at the end of the best plan. It is None if a level's is unknown, or
    if the measure is not one that the persona seeks.
    """
    bounds = [m.bounds.get((level.name, persona)) for level in m.levels]
    known = [b for b in bounds if b is not None]
    if len(known) < len(bounds):
        return None, False
    priority = next(p.priority for p in m.personas if p.name == persona)
    symbol = {"win_rate": "WON", "steps": m.published.turns, priority: priority}.get(key)
    if key == "utility":
        values = [b.utility for b in known]
    elif symbol is not None and all(symbol in b.metrics for b in known):
        values = [b.metrics[symbol] for b in known]
    else:
        return None, False
    return fsum(values) / len(values), all(b.proven for b in known)


def table3(m: DungeonResults) -> list[Difference]:
    """Compare the evolved players with their baselines map by map."""
    groups = grouped(m.played.records)
    found = []
    for row in m.published.rows:
        for k, persona in enumerate(m.personas):
            signs = [
                higher(groups[v.name, m.evolved[persona.name]], groups[v.name, m.baseline[persona.name]], row.key)
                for v in m.levels
            ]
            e, b = m.published.table3[row.key][k]
            found.append(
                Difference(
                    row, persona.name, (e, b), (signs.count(1), signs.count(-1)), len(signs), len(m.published.maps)
                )
            )
    return found


def table4(m: DungeonResults) -> list[PersonaPair]:
    """Compare every persona with every other of its kind map by map."""
    groups = grouped(m.played.records)
    found = []
    for kind in (EVOLVED, BASELINE):
        labels = players(m, kind)
        for row in m.published.rows:
            for i, persona in enumerate(m.personas):
                for k, other in enumerate(m.personas):
                    if i != k:
                        a, b = labels[persona.name], labels[other.name]
                        count = sum(higher(groups[v.name, a], groups[v.name, b], row.key) == 1 for v in m.levels)
                        paper = m.published.table4[kind][row.key][i][k]
                        known = None if paper < 0 else paper
                        found.append(PersonaPair(kind, row, persona.name, other.name, known, count))
    return found


def differences(m: DungeonResults) -> dict[str, int]:
    """Return the number of significant differences between the evolved personas by level, over all of table IV."""
    groups = grouped(m.played.records)
    labels = list(m.evolved.values())
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]]
    return {
        v.name: sum(
            higher(groups[v.name, a], groups[v.name, b], row.key) != 0 for a, b in pairs for row in m.published.rows
        )
        for v in m.levels
    }


def compared(m: DungeonResults) -> tuple[str, ...]:
    """Return the maps of figures 4 to 6: the publication's, or those with the most and the fewest differences."""
    if not m.differing:
        return m.published.compared
    counts = differences(m)
    most = max(counts, key=lambda name: counts[name])
    fewest = min((n for n in counts if n != most), key=lambda name: counts[name], default=most)
    return tuple(dict.fromkeys((most, fewest)))


def best_of_generations(rows: Sequence[Mapping[str, object]]) -> list[float]:
    """Return the best fitness of each generation over all islands, from a journal's rows."""
    best: dict[int, float] = {}
    for row in rows:
        when, value = int(str(row["generation"])), float(str(row["best"]))
        best[when] = max(best.get(when, -math.inf), value)
    return [best[when] for when in sorted(best)]


def convergence(persona: str, rows: Sequence[Mapping[str, object]]) -> Convergence:
    """Return when the best fitness begins to stay close to its final value.

    Close means within NEAR of the final value; for final values below 0.01, within 0.01 times NEAR.
    """
    best = best_of_generations(rows)
    final = best[-1]
    room = NEAR * max(abs(final), 0.01)
    first = len(best)
    while first > 1 and abs(best[first - 2] - final) <= room:
        first -= 1
    return Convergence(persona, first, len(best), final)


def named_correlations(m: DungeonResults) -> list[tuple[Named, Correlation]]:
    """Return the correlations that the publication names, and ours; levels without the number are left out."""
    groups = grouped(m.played.records)
    structure = structures(m)
    found = []
    for named in m.published.correlations:
        take, label = value_of(named.result), m.evolved[named.persona]
        points = []
        for level in m.levels:
            number = structure[level.name].get(named.structure, math.nan)
            if math.isfinite(number):
                group = groups[level.name, label]
                points.append((number, fsum(map(take, group)) / len(group)))
        found.append((named, pearson([x for x, _ in points], [y for _, y in points])))
    return found


def all_correlations(m: DungeonResults) -> list[CorrelationRow]:
    """Correlate all numbers of the structure with win rate, steps, time and own metric of the evolved personas."""
    labels = set(m.evolved.values())
    records = [r for r in m.played.records if r.player in labels]
    structure = structures(m)
    finite = [k for k in next(iter(structure.values())) if all(math.isfinite(s[k]) for s in structure.values())]
    known = {name: {k: s[k] for k in finite} for name, s in structure.items()}
    results = {m.evolved[p.name]: ["win_rate", "steps", "seconds", p.priority] for p in m.personas}
    return correlations(known, records, m.game.metrics, results)


def structures(m: DungeonResults) -> dict[str, dict[str, float]]:
    """Return the structure of each level."""
    assert m.game.structure is not None
    return {level.name: m.game.structure(level) for level in m.levels}


def sign(pair: tuple[float, float]) -> int:
    """Return 1 if the first number is larger, -1 if the second one is, else 0."""
    return (pair[0] > pair[1]) - (pair[0] < pair[1])


def title(m: DungeonResults, persona: str) -> str:
    """Return a persona's name for people."""
    return next((p.title or p.name for p in m.personas if p.name == persona), persona)
