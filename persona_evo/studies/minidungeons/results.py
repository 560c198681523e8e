"""A publication's tables from playthroughs, the publication's numbers beside ours, and what they say in words.

Tests are those of the publication: two-tailed t tests with unequal variances, error 5 %, not corrected for their number
(rates are tested as means of zeros and ones). Intervals are Student's over all playthroughs in all maps, those of win
rates Wilson's. Where all trials in a map show routes of one proven search, what they come to counts as known, as in
`compare`: it has no interval, and is no sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from persona_evo.intervals import Interval, mean_interval
from persona_evo.playtest.compare import ALPHA
from persona_evo.playtest.correlations import CorrelationRow, correlations
from persona_evo.playtest.metrics import UTILITY, WIN_RATE, Measure, estimate, grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import TrialGroup, tested
from persona_evo.statistics import Correlation, pearson
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED, Named, PublishedRow

NEAR = 0.01
"""Fitness has converged from where it stays within this share of its final value."""

MORE_ROWS = (PublishedRow("Utility", "Utility", "utility"), PublishedRow("Steps", "Steps", "steps", lower=True))
"""Rows of table II that the publication does not have."""

ROUNDING = 1e-4
"""How exactly limits are known."""


@dataclass(frozen=True)
class ScoreCell:
    """A cell of table II. paper: mean and half its interval; limit: at the end of the best plan; None: not known.

    Shares are in percent.
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
    """A cell of table III: levels (of `levels`) in which the evolved persona is higher, and in which it is lower.

    maps: those of the publication.
    """

    row: PublishedRow
    persona: str
    paper: tuple[int, int]
    here: tuple[int, int]
    levels: int
    maps: int


@dataclass(frozen=True)
class PersonaPair:
    """A cell of table IV: levels in which the persona is higher than the other one; None: not known."""

    kind: str
    row: PublishedRow
    persona: str
    other: str
    paper: int | None
    here: int


@dataclass(frozen=True)
class Convergence:
    """Best fitness over the generations of a run: final value, and the generation (from 1) from which it is near."""

    persona: str
    generation: int
    generations: int
    final: float


def is_share(key: str) -> bool:
    """Whether a measure of the tables is shown in percent."""
    return key not in ("seconds", "utility", "steps")


def value_of(key: str) -> Callable[[Playthrough], float]:
    """A measure of the tables, shares in [0, 1]."""
    if key == "win_rate":
        return lambda r: float(r.won)
    if key == "utility":
        return UTILITY.value
    if key in ("seconds", "steps"):
        return lambda r: float(getattr(r, key))
    return lambda r: r.metrics[key]


def higher(a: Iterable[Playthrough], b: Iterable[Playthrough], key: str) -> int:
    """1 if the measure of a is significantly higher than that of b, -1 if lower, else 0 (a, b: of one map each)."""
    measure = Measure(key, key, value_of(key), by_search=key in ("win_rate", "utility"))
    _, test, _ = tested(TrialGroup(list(a)), TrialGroup(list(b)), measure)
    return 0 if test.p >= ALPHA else 1 if test.statistic > 0 else -1


def mean_of(records: Sequence[Playthrough], key: str) -> Interval:
    """The mean of a measure over at least one playthrough, shares in [0, 1]."""
    if key in ("win_rate", "utility"):
        return estimate(WIN_RATE if key == "win_rate" else UTILITY, records)
    return mean_interval([value_of(key)(r) for r in records])


def players(m: DungeonResults, kind: str) -> Mapping[str, str]:
    """Persona -> label of its player of a kind."""
    return m.evolved if kind == EVOLVED else m.baseline


def table2(m: DungeonResults) -> list[ScoreCell]:
    """Means over all playthroughs, kind by kind and row by row."""
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
    """(mean over levels of a measure at the end of the best plan, all of them are proven), where it is known and the
    persona is about it."""
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
    """Evolved against baseline, map by map."""
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
    """Every persona against every other of its kind, map by map."""
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
    """Level -> significant differences between the evolved personas, over all pairs and rows of table IV."""
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
    """The maps of figures 4 to 6: the publication's, or those with the most and the fewest differences."""
    if not m.differing:
        return m.published.compared
    counts = differences(m)
    most = max(counts, key=lambda name: counts[name])
    fewest = min((n for n in counts if n != most), key=lambda name: counts[name], default=most)
    return tuple(dict.fromkeys((most, fewest)))


def best_of_generations(rows: Sequence[Mapping[str, object]]) -> list[float]:
    """Best fitness of each generation over all islands, from a journal's rows."""
    best: dict[int, float] = {}
    for row in rows:
        when, value = int(str(row["generation"])), float(str(row["best"]))
        best[when] = max(best.get(when, -math.inf), value)
    return [best[when] for when in sorted(best)]


def convergence(persona: str, rows: Sequence[Mapping[str, object]]) -> Convergence:
    """Since when the best fitness has stayed within NEAR of its final value (below 0.01, within 0.01 times NEAR)."""
    best = best_of_generations(rows)
    final = best[-1]
    room = NEAR * max(abs(final), 0.01)
    first = len(best)
    while first > 1 and abs(best[first - 2] - final) <= room:
        first -= 1
    return Convergence(persona, first, len(best), final)


def named_correlations(m: DungeonResults) -> list[tuple[Named, Correlation]]:
    """The correlations that the publication names, and ours; levels without the number are left out."""
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
    """All numbers of the structure against win rate, steps, time and core priority of the evolved personas."""
    labels = set(m.evolved.values())
    records = [r for r in m.played.records if r.player in labels]
    structure = structures(m)
    finite = [k for k in next(iter(structure.values())) if all(math.isfinite(s[k]) for s in structure.values())]
    known = {name: {k: s[k] for k in finite} for name, s in structure.items()}
    results = {m.evolved[p.name]: ["win_rate", "steps", "seconds", p.priority] for p in m.personas}
    return correlations(known, records, m.game.metrics, results)


def structures(m: DungeonResults) -> dict[str, dict[str, float]]:
    """The structure of each level."""
    assert m.game.structure is not None
    return {level.name: m.game.structure(level) for level in m.levels}


def sign(pair: tuple[float, float]) -> int:
    """1, -1 or 0: which of two is larger."""
    return (pair[0] > pair[1]) - (pair[0] < pair[1])


def title(m: DungeonResults, persona: str) -> str:
    """A persona's name for people."""
    return next((p.title or p.name for p in m.personas if p.name == persona), persona)
