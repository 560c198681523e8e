"""Playthroughs summed up: per level and player, and per player over all levels.

Utility is that of the best plan that a trial's search found (`Playthrough.best_utility`); all else is of the route that
the trial shows. Trials that drew their routes from the proven search of an earlier one repeat its utility and its win.
They count in means and rates, which are of trials, but how certain these are is up to the searches alone. Where all
trials of a level and player come from one proven search, both are known and have no interval.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from persona_evo.games.core import Better, Metric, main_metrics
from persona_evo.playtest.records import OUTCOMES, Playthrough
from persona_evo.playtest.statistics import Interval, mean_interval, score, wilson

CLOCK = "seconds"
"""Key of the measure that is one of time."""

EVERY = "*"
"""Name of the level of summaries over all levels."""

ONE_SEARCH, ONE_EACH = "proven, one search", "proven, one search a level"
"""What is said in place of an interval where all trials of a level, or of each of several, come from one search."""

UNKNOWN_CAUSE = "unknown"
"""Cause of deaths for which the game gives none."""


@dataclass(frozen=True)
class Measure:
    """One number that can be taken from a playthrough and compared between groups.

    key: what requirements and CSV files call it. name: for people. ratio: shown as a percentage.
    rate: 0 or 1 in every playthrough, so its mean is a rate (Wilson interval, Fisher's test). main: one of the game's
    main metrics. none: the value that stands for "there is none", where the metric's meaning names one. low, high: its
    range. by_search: the same for all routes of one search.
    """

    key: str
    name: str
    value: Callable[[Playthrough], float]
    better: Better = "neutral"
    unit: str = ""
    ratio: bool = False
    rate: bool = False
    main: bool = False
    none: float | None = None
    low: float = -math.inf
    high: float = math.inf
    by_search: bool = False


WIN_RATE = Measure("win_rate", "win rate", lambda r: float(r.won), "higher", ratio=True, rate=True, by_search=True)
UTILITY = Measure("utility", "utility", lambda r: r.best_utility, "higher", by_search=True)


@dataclass(frozen=True)
class Bound:
    """The best utility known for a persona in a level, whether nothing better exists, and the metrics it ends with.

    ended: the plan comes to the game's end. note: why the playthroughs cannot be held against it, "" where they can.
    """

    utility: float
    proven: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    ended: bool = True
    note: str = ""


@dataclass(frozen=True)
class Summary:
    """What one player did in one level (or in all, level EVERY), over all trials.

    win_rate: Wilson interval. metrics, steps, seconds, utility: means with Student t intervals (95 %); of the win rate
    and the utility none but a note where they come from one proven search (see the module).
    deaths: how often the game was lost, by cause. unfinished: playthroughs that ended before the game did.
    proven: playthroughs whose plan the search proved to be the best. best_utility, bound: the best playthrough and the
    limit; over all levels the means of the levels'. ratio: mean utility / bound, None where there is no positive bound.
    opponents: whom it met, in a game for two. unbound: why there is no limit, "" where there is one or none was looked
    for. wins: whether an end can count as won at all; a win rate of 0 says nothing where none can.
    """

    level: str
    player: str
    persona: str
    trials: int
    win_rate: Interval
    metrics: dict[str, Interval]
    steps: Interval
    seconds: Interval
    utility: Interval
    best_utility: float
    deaths: dict[str, int]
    unfinished: int
    proven: int
    bound: Bound | None = None
    ratio: float | None = None
    opponents: tuple[str, ...] = ()
    unbound: str = ""
    wins: bool = True

    @property
    def lost(self) -> int:
        """Playthroughs that were lost."""
        return sum(self.deaths.values())


Bounds = Mapping[tuple[str, str], Bound]
"""Limits by (level, persona)."""


def summarise(
    records: Iterable[Playthrough], infos: Sequence[Metric] = (), bounds: Bounds | None = None
) -> list[Summary]:
    """Summaries per level and player in order of first appearance, then one per player over all levels (EVERY).

    infos: the game's metrics, which give the order; without them the records' own metrics are summed up.
    """
    bounds = bounds or {}
    groups = grouped(records)
    players: dict[str, list[tuple[Summary, list[Playthrough]]]] = {}
    for (level, player), group in groups.items():
        bound = bounds.get((level, group[0].persona))
        players.setdefault(player, []).append((_summary(level, group, infos, bound), group))
    single = [s for rows in _by_level(players) for s in rows]
    return single + [_pooled(rows, infos) for rows in players.values()]


def grouped(records: Iterable[Playthrough]) -> dict[tuple[str, str], list[Playthrough]]:
    """The playthroughs by (level, player), in order of first appearance."""
    groups: dict[tuple[str, str], list[Playthrough]] = {}
    for record in records:
        groups.setdefault((record.level, record.player), []).append(record)
    return groups


def searches(records: Iterable[Playthrough]) -> list[Playthrough]:
    """One playthrough for each search: those that searched themselves, and the first route of each other search."""
    records = list(records)
    own = {(r.level, r.player, r.trial) for r in records if r.search is None}
    found = []
    for record in records:
        key = record.level, record.player, record.search
        if record.search is None or key not in own:
            found.append(record)
            own |= set() if record.search is None else {(record.level, record.player, record.search)}
    return found


def certain(group: Iterable[Playthrough]) -> str:
    """ONE_SEARCH or ONE_EACH where each level and player has one search, and a proven one; "" otherwise."""
    parts = list(grouped(group).values())
    if not parts or not all(r.proven for part in parts for r in part) or any(len(searches(p)) > 1 for p in parts):
        return ""
    return ONE_SEARCH if len(parts) == 1 else ONE_EACH


def levels_of(records: Iterable[Playthrough]) -> list[str]:
    """Names of the levels in order of first appearance."""
    return list(dict.fromkeys(r.level for r in records))


def players_of(records: Iterable[Playthrough]) -> list[str]:
    """Labels of the players in order of first appearance."""
    return list(dict.fromkeys(r.player for r in records))


def symbols_of(records: Sequence[Playthrough], infos: Sequence[Metric] = ()) -> list[str]:
    """Symbols of the metrics that the records have: the game's order, then the rest in order of appearance."""
    seen = dict.fromkeys(s for r in records for s in r.metrics)
    first = [m.symbol for m in infos if m.symbol in seen]
    return first + [s for s in seen if s not in first]


def measures(
    records: Sequence[Playthrough], infos: Sequence[Metric] = (), *, clock: bool = True
) -> list[Measure]:
    """What can be compared between groups of these records: win rate, metrics, steps, utility, and seconds if `clock`.

    A metric that only says again whether a playthrough was won or how many steps it took is left out, so that nothing
    is tested twice. A metric that is 0 or 1 in every playthrough is a rate.
    """
    by_symbol = {m.symbol: m for m in infos}
    main = {m.symbol for m in main_metrics(infos)}
    found = [WIN_RATE]
    for symbol in symbols_of(records, infos):
        info = by_symbol.get(symbol) or Metric(symbol, symbol, "")
        values = [(r.metrics[symbol], r) for r in records if symbol in r.metrics]
        if all(v == r.won for v, r in values) or all(v == r.steps for v, r in values):
            continue
        rate = info.high == 1 and all(v in (0.0, 1.0) for v, _ in values)
        found.append(Measure(symbol, info.name, _taking(symbol), info.better, info.unit, info.ratio or rate, rate,
                             symbol in main, _none(info.meaning), info.low, info.high))  # fmt: skip
    found.append(Measure("steps", "steps", lambda r: float(r.steps), "lower", "steps"))
    found.append(UTILITY)
    if clock:
        found.append(Measure(CLOCK, "time", lambda r: r.seconds, "lower", "s"))
    return found


_NONE = re.compile(r"\b(\d+(?:\.\d+)?) without any\b")


def _none(meaning: str) -> float | None:
    """The value for "there is none" that a metric's meaning names: "moves to the nearest potion, 0 without any"."""
    found = _NONE.search(meaning)
    return None if found is None else float(found[1])


def estimate(measure: Measure, group: Sequence[Playthrough]) -> Interval:
    """The measure's mean or rate over a group of at least one playthrough, with its 95 % interval.

    That of a measure `by_search` is as wide as that of the group's searches alone; see the module.
    """
    values = [measure.value(r) for r in group]
    made = searches(group) if measure.by_search else group
    note = certain(group) if measure.by_search else ""
    mean = values[0] if min(values) == max(values) else math.fsum(values) / len(values)
    if note:
        return Interval.exact(mean, note)
    if len(made) < len(group):
        if measure.rate:
            return score(mean, len(made))
        half = mean_interval([measure.value(r) for r in made]).half
        return Interval(mean, mean - half, mean + half, len(made))
    return wilson(int(sum(values)), len(values)) if measure.rate else mean_interval(values)


def _taking(symbol: str) -> Callable[[Playthrough], float]:
    return lambda r: r.metrics.get(symbol, 0.0)


def _by_level(
    players: Mapping[str, Sequence[tuple[Summary, list[Playthrough]]]]
) -> list[list[Summary]]:
    levels: dict[str, list[Summary]] = {}
    for rows in players.values():
        for summary, _ in rows:
            levels.setdefault(summary.level, []).append(summary)
    return list(levels.values())


def _summary(level: str, group: list[Playthrough], infos: Sequence[Metric], bound: Bound | None) -> Summary:
    utility = estimate(UTILITY, group)
    unbound = bound.note if bound else ""
    bound = None if unbound else bound
    return Summary(
        level=level,
        player=group[0].player,
        persona=group[0].persona,
        trials=len(group),
        win_rate=estimate(WIN_RATE, group),
        metrics={
            symbol: mean_interval([r.metrics[symbol] for r in group if symbol in r.metrics])
            for symbol in symbols_of(group, infos)
        },
        steps=mean_interval([float(r.steps) for r in group]),
        seconds=mean_interval([r.seconds for r in group]),
        utility=utility,
        best_utility=max(r.best_utility for r in group),
        deaths=dict(Counter(r.cause or UNKNOWN_CAUSE for r in group if r.lost).most_common()),
        unfinished=sum(r.outcome == OUTCOMES[0] for r in group),
        proven=sum(r.proven for r in group),
        bound=bound,
        ratio=utility.value / bound.utility if bound and bound.utility > 0 else None,
        opponents=tuple(dict.fromkeys(r.opponent for r in group if r.opponent)),
        unbound=unbound,
    )


def _pooled(rows: Sequence[tuple[Summary, list[Playthrough]]], infos: Sequence[Metric]) -> Summary:
    """One player over all levels.

    Bound and best utility are trial-weighted means of the levels' (the bound only if each level has one), so that they
    can be held against each other and against the mean.
    """
    known = [(s.bound, s.trials) for s, _ in rows if s.bound is not None]
    bound = None
    if len(known) == len(rows):
        total = sum(n for _, n in known)
        bound = Bound(sum(b.utility * n for b, n in known) / total, all(b.proven for b, _ in known))
    trials = sum(s.trials for s, _ in rows)
    best = sum(s.best_utility * s.trials for s, _ in rows) / trials
    whole = _summary(EVERY, [r for _, group in rows for r in group], infos, bound)
    return replace(whole, best_utility=best, unbound=next((s.unbound for s, _ in rows if s.unbound), ""))
