"""Summarises playthroughs: each player in each level, and each player over all levels.

Intervals over levels describe other levels of the same kind. The playthroughs of one level are not independent of each
other, so a level whose trials agree counts as one value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum

from persona_evo.games.core import Metric
from persona_evo.intervals import Interval, clustered, clustered_rate, mean_interval
from persona_evo.playtest.metrics import (
    EVERY,
    OUTCOMES,
    UNBOUNDED,
    UNKNOWN_CAUSE,
    UTILITY,
    Bound,
    Bounds,
    Measure,
    Summary,
    UtilityRanges,
    estimate,
    grouped,
    symbols_of,
)
from persona_evo.playtest.records import ENDS, Playthrough


def summarise(
    records: Iterable[Playthrough],
    infos: Sequence[Metric] = (),
    bounds: Bounds | None = None,
    absent: Collection[tuple[str, str]] = (),
    worth: UtilityRanges | None = None,
) -> list[Summary]:
    """Return summaries per level and player in order of first appearance, then per player over all levels (EVERY).

    Args:
        infos: the game's metrics, which give the order; without them the records' own metrics are summarised.
        absent: (level, symbol) of metrics that are shares of things which the level does not have.
        worth: range of each player's utility.
    """
    bounds, worth = bounds or {}, worth or {}
    groups = grouped(records)
    players: dict[str, list[tuple[Summary, list[Playthrough]]]] = {}
    for (level, player), group in groups.items():
        bound = bounds.get((level, group[0].persona))
        players.setdefault(player, []).append(
            (_summary(level, group, infos, bound, absent, worth.get(player, UNBOUNDED)), group)
        )
    single = [s for rows in _by_level(players) for s in rows]
    return single + [_pooled(rows, infos, absent, worth.get(player, UNBOUNDED)) for player, rows in players.items()]


def _by_level(players: Mapping[str, Sequence[tuple[Summary, list[Playthrough]]]]) -> list[list[Summary]]:
    levels: dict[str, list[Summary]] = {}
    for rows in players.values():
        for summary, _ in rows:
            levels.setdefault(summary.level, []).append(summary)
    return list(levels.values())


def _summary(
    level: str,
    group: list[Playthrough],
    infos: Sequence[Metric],
    bound: Bound | None,
    absent: Collection[tuple[str, str]],
    worth: tuple[float, float],
) -> Summary:
    utility = estimate(UTILITY, group, worth)
    unbound = bound.note if bound else ""
    bound = None if unbound else bound
    harmed = all(r.hit_points for r in group)
    symbols, ranges = symbols_of(group, infos), {m.symbol: (m.low, m.high) for m in infos}
    lacking = frozenset(s for s in symbols if all((r.level, s) in absent for r in group))
    return Summary(
        level=level,
        player=group[0].player,
        persona=group[0].persona,
        trials=len(group),
        rates={m.key: estimate(m, group) for m in OUTCOMES},
        metrics={
            s: mean_interval(
                [r.metrics[s] for r in group if s in r.metrics and (s in lacking or (r.level, s) not in absent)]
            ).within(*ranges.get(s, UNBOUNDED))
            for s in symbols
        },
        steps=mean_interval([float(r.steps) for r in group]).within(0.0, math.inf),
        seconds=mean_interval([r.seconds for r in group]).within(0.0, math.inf),
        utility=utility,
        best_utility=max(r.best_utility for r in group),
        ends={end: sum(r.final == end for r in group) for end in ENDS},
        deaths=dict(Counter(r.lost_to or UNKNOWN_CAUSE for r in group if r.lost).most_common()),
        proven=sum(r.proven for r in group),
        bound=bound,
        ratio=utility.value / bound.utility if bound and bound.utility > 0 else None,
        opponents=tuple(dict.fromkeys(r.opponent for r in group if r.opponent)),
        unbound=unbound,
        damage=mean_interval([r.damage or 0.0 for r in group]).within(0.0, math.inf) if harmed else None,
        health=mean_interval([r.hit_points[-1] for r in group]) if harmed else None,
        absent=lacking,
    )


def _pooled(
    rows: Sequence[tuple[Summary, list[Playthrough]]],
    infos: Sequence[Metric],
    absent: Collection[tuple[str, str]],
    worth: tuple[float, float],
) -> Summary:
    """Summarise one player over all levels.

    Bound and best utility are trial-weighted means of the levels' values (the bound only if each level has one), so
    that they can be compared with each other and with the mean.
    """
    known = [(s.bound, s.trials) for s, _ in rows if s.bound is not None]
    bound = None
    if len(known) == len(rows):
        total = sum(n for _, n in known)
        bound = Bound(fsum(b.utility * n for b, n in known) / total, all(b.proven for b, _ in known))
    trials = sum(s.trials for s, _ in rows)
    best = fsum(s.best_utility * s.trials for s, _ in rows) / trials
    whole = _summary(EVERY, [r for _, group in rows for r in group], infos, bound, absent, worth)
    whole = replace(whole, best_utility=best, unbound=next((s.unbound for s, _ in rows if s.unbound), ""))
    return whole if len(rows) < 2 else _over_levels(whole, [group for _, group in rows], infos, absent, worth)


def _over_levels(
    whole: Summary,
    groups: Sequence[Sequence[Playthrough]],
    infos: Sequence[Metric],
    absent: Collection[tuple[str, str]],
    worth: tuple[float, float],
) -> Summary:
    """Return a summary over levels with intervals for other levels of the same kind.

    The playthroughs of one level are not independent of each other. Values that are proven in each level keep their
    note.
    """
    ranges = {m.symbol: (m.low, m.high) for m in infos}

    def over(known: Interval, take: Callable[[Playthrough], float | None], low: float, high: float) -> Interval:
        values = [[v for r in group if (v := take(r)) is not None] for group in groups]
        values = [own for own in values if own]
        if known.note or len(values) < 2:
            return known
        found = clustered(values)
        return Interval(known.value, found.low, found.high, found.n).within(low, high)

    def metric(symbol: str) -> Interval:
        def take(r: Playthrough) -> float | None:
            left_out = symbol not in whole.absent and (r.level, symbol) in absent
            return None if left_out else r.metrics.get(symbol)

        return over(whole.metrics[symbol], take, *ranges.get(symbol, UNBOUNDED))

    def rate(measure: Measure) -> Interval:
        known = whole.rates[measure.key]
        counts = [(int(sum(measure.value(r) for r in group)), len(group)) for group in groups]
        return known if known.note else clustered_rate(counts)

    return replace(
        whole,
        rates={m.key: rate(m) for m in OUTCOMES},
        metrics={symbol: metric(symbol) for symbol in whole.metrics},
        steps=over(whole.steps, lambda r: float(r.steps), 0.0, math.inf),
        seconds=over(whole.seconds, lambda r: r.seconds, 0.0, math.inf),
        utility=over(whole.utility, UTILITY.value, *worth),
        damage=whole.damage and over(whole.damage, lambda r: r.damage or 0.0, 0.0, math.inf),
        health=whole.health and over(whole.health, lambda r: r.hit_points[-1], -math.inf, math.inf),
    )
