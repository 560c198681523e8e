"""Measures of playthroughs and their summaries, per level and player and per player over all levels.

Utility is that of the best plan that a trial's search found (`Playthrough.best_utility`). Outcomes, deaths, damage and
hit points are those of the whole game, which goes on after the plan (`Playthrough.end`); everything else is about the
route that the trial shows. Trials that drew their routes from the proven search of an earlier trial repeat its utility
and its win. They count in means and rates, which are over trials, but the certainty of these depends on the searches
alone. If all trials of a level and player come from one proven search, utility and win rate are known and have no
interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from persona_evo.formula import Formula
from persona_evo.formula.intervals import span
from persona_evo.games.core import Better, Metric
from persona_evo.games.main_metrics import main_metrics
from persona_evo.intervals import Interval, mean_interval, score, wilson
from persona_evo.playtest.records import Playthrough

CLOCK = "seconds"
"""Key of the measure of time."""

EVERY = "*"
"""Level name of summaries over all levels."""

ONE_SEARCH, ONE_EACH = "proven, one search", "proven, one search a level"
"""Note in place of an interval if all trials of a level, or of each of several levels, come from one proven search."""

UNKNOWN_CAUSE = "unknown"
"""Cause of deaths for which the game gives none."""


@dataclass(frozen=True)
class Measure:
    """A number that can be taken from a playthrough and compared between groups.

    Attributes:
        key: its name in requirements and CSV files.
        name: its name for display.
        ratio: whether it is shown as a percentage.
        rate: whether it is 0 or 1 in every playthrough, so that its mean is a rate (Wilson interval, Fisher's test).
        main: whether it is one of the game's main metrics.
        none: the value that stands for "there is none", if the metric's meaning names one.
        low, high: its range.
        by_search: whether it is the same for all routes of one search.
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
DEATH_RATE = Measure(
    "death_rate", "death rate", lambda r: float(r.lost), "lower", ratio=True, rate=True, by_search=True
)
UNFINISHED_RATE = replace(DEATH_RATE, key="unfinished_rate", name="unfinished", value=lambda r: float(r.unfinished))
STUCK_RATE = replace(DEATH_RATE, key="stuck_rate", name="stuck", value=lambda r: float(r.stuck))
DAMAGE = Measure("damage", "damage", lambda r: r.damage or 0.0, "lower", "hit points", low=0.0)
OUTCOMES = (WIN_RATE, DEATH_RATE, UNFINISHED_RATE, STUCK_RATE)
"""Rates of the ways in which games end."""
FLAGS = ("WON", "DEAD", "LOST")
"""Symbols of metrics that are 1 if a single-player game ended that way, and 0 otherwise."""
UTILITY = Measure("utility", "utility", lambda r: r.best_utility, "higher", by_search=True)


@dataclass(frozen=True)
class Bound:
    """The best known utility of a persona in a level.

    Attributes:
        proven: whether nothing better exists.
        metrics: the metrics at the end of the plan.
        ended: whether the plan reaches the end of the game.
        note: why playthroughs cannot be compared with it, "" if they can.
        won: whether the plan wins the game.
    """

    utility: float
    proven: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    ended: bool = True
    note: str = ""
    won: bool = False


@dataclass(frozen=True)
class Summary:
    """What one player did in one level (or in all, with level EVERY), over all trials.

    Attributes:
        rates: rates of OUTCOMES by the measure's key, with Wilson intervals, or a note if they come from one proven
            search.
        metrics, steps, seconds, utility: means with Student t intervals (95 %); the utility has a note instead if it
            comes from one proven search.
        ends: number of playthroughs by how the game ended, one of `records.ENDS`.
        deaths: number of losses by cause.
        damage, health: hit points lost on the way, and those left at the end; None if the game has none.
        proven: number of playthroughs whose plan the search proved to be the best.
        best_utility, bound: the best playthrough and the limit; over all levels, the means of the levels' values.
        ratio: mean utility / bound, None without a positive bound.
        opponents: the opponents met in a two-player game.
        unbound: why there is no limit, "" if there is one or nobody looked for it.
        wins: whether an end can count as a win at all; if not, a win rate of 0 says nothing.
        repeated: symbols of metrics that say about the plan's end what outcomes, damage and hit points say about the
            whole game.
        absent: symbols of metrics that are shares of things which none of the levels has; means over levels leave out
            the levels without such things.
    """

    level: str
    player: str
    persona: str
    trials: int
    rates: dict[str, Interval]
    metrics: dict[str, Interval]
    steps: Interval
    seconds: Interval
    utility: Interval
    best_utility: float
    ends: dict[str, int]
    deaths: dict[str, int]
    proven: int
    bound: Bound | None = None
    ratio: float | None = None
    opponents: tuple[str, ...] = ()
    unbound: str = ""
    wins: bool = True
    damage: Interval | None = None
    health: Interval | None = None
    repeated: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()

    @property
    def win_rate(self) -> Interval:
        """The share of playthroughs that were won."""
        return self.rates[WIN_RATE.key]

    @property
    def unfinished(self) -> int:
        """Number of playthroughs that ended with the player alive and the game not over."""
        return self.ends["unfinished"]

    @property
    def stuck(self) -> int:
        """Number of playthroughs that ended where the player was better off standing still."""
        return self.ends["stuck"]

    @property
    def lost(self) -> int:
        """Number of playthroughs that were lost."""
        return sum(self.deaths.values())


Bounds = Mapping[tuple[str, str], Bound]
"""Limits by (level, persona)."""

UtilityRanges = Mapping[str, tuple[float, float]]
"""Smallest and largest possible utility by player's label; players without an entry have no known range."""

UNBOUNDED = (-math.inf, math.inf)


def utility_ranges(utilities: Mapping[str, Formula], infos: Sequence[Metric]) -> UtilityRanges:
    """Return the range that each player's utility has by the ranges of the game's metrics.

    Args:
        utilities: label of a player -> its utility.
    """
    ranges = {m.symbol: (m.low, m.high) for m in infos}
    found = {player: span(utility, ranges) for player, utility in utilities.items() if utility.symbols <= ranges.keys()}
    return {player: (known.low, known.high) for player, known in found.items()}


def grouped(records: Iterable[Playthrough]) -> dict[tuple[str, str], list[Playthrough]]:
    """Group the playthroughs by (level, player), in order of first appearance."""
    groups: dict[tuple[str, str], list[Playthrough]] = {}
    for record in records:
        groups.setdefault((record.level, record.player), []).append(record)
    return groups


def searches(records: Iterable[Playthrough]) -> list[Playthrough]:
    """Return one playthrough per search: those that searched themselves, and the first route of each other search."""
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
    """Return ONE_SEARCH or ONE_EACH if each level and player has a single, proven search; "" otherwise."""
    parts = list(grouped(group).values())
    if not parts or not all(r.proven for part in parts for r in part) or any(len(searches(p)) > 1 for p in parts):
        return ""
    return ONE_SEARCH if len(parts) == 1 else ONE_EACH


def levels_of(records: Iterable[Playthrough]) -> list[str]:
    """Return the names of the levels in order of first appearance."""
    return list(dict.fromkeys(r.level for r in records))


def players_of(records: Iterable[Playthrough]) -> list[str]:
    """Return the labels of the players in order of first appearance."""
    return list(dict.fromkeys(r.player for r in records))


def symbols_of(records: Sequence[Playthrough], infos: Sequence[Metric] = ()) -> list[str]:
    """Return the symbols of the records' metrics: the game's order, then the rest in order of appearance."""
    seen = dict.fromkeys(chain.from_iterable(r.metrics for r in records))
    first = [m.symbol for m in infos if m.symbol in seen]
    return first + [s for s in seen if s not in first]


def measures(records: Sequence[Playthrough], infos: Sequence[Metric] = (), *, clock: bool = True) -> list[Measure]:
    """Return the measures in which groups of these records can be compared.

    They are outcomes, damage, metrics, steps, utility and, if `clock` is true, seconds. Outcomes that no playthrough
    has are left out, and so is an outcome that is the only one besides winning. So is a metric that only
    says where the avatar stands, or that merely repeats how a playthrough ended or how many steps it took, so that
    nothing is tested twice. A metric that is 0 or 1 in every
    playthrough is a rate.
    """
    by_symbol = {m.symbol: m for m in infos}
    main = {m.symbol for m in main_metrics(infos)}
    said = (_won, _steps, *([_lost] if any(r.lost for r in records) else []))
    others = [m for m in OUTCOMES[1:] if any(m.value(r) for r in records)]
    found = [WIN_RATE, *(others if len(others) > 1 else [])]
    found += [DAMAGE] if records and all(r.hit_points for r in records) else []
    for symbol in symbols_of(records, infos):
        info = by_symbol.get(symbol) or Metric(symbol, symbol, "")
        having = [r for r in records if symbol in r.metrics]
        if info.place or any(all(r.metrics[symbol] == same(r) for r in having) for same in said):
            continue
        rate = info.high == 1 and all(r.metrics[symbol] in (0.0, 1.0) for r in having)
        found.append(
            Measure(
                symbol,
                info.name,
                _taking(symbol),
                info.better,
                info.unit,
                info.ratio or rate,
                rate,
                symbol in main,
                _none(info.meaning),
                info.low,
                info.high,
            )
        )
    found.append(Measure("steps", "steps", _steps, "lower", "steps", low=0.0))
    found.append(UTILITY)
    if clock:
        found.append(Measure(CLOCK, "time", lambda r: r.seconds, "lower", "s", low=0.0))
    return found


_NONE = re.compile(r"\b(\d+(?:\.\d+)?) without any\b")


def _none(meaning: str) -> float | None:
    """Return the value for "none" that a metric's meaning names: "moves to the nearest potion, 0 without any"."""
    found = _NONE.search(meaning)
    return None if found is None else float(found[1])


def estimate(measure: Measure, group: Sequence[Playthrough], worth: tuple[float, float] = UNBOUNDED) -> Interval:
    """Return the measure's mean or rate over a group of at least one playthrough, with its 95 % interval.

    The interval does not leave the measure's range; that of the utility is `worth`.

    The interval of a measure that is `by_search` is as wide as that of the group's searches alone (see the module),
    unless the games after the plans of one search end in different ways.
    """
    values = [measure.value(r) for r in group]
    by_search = measure.by_search and all(len(v) == 1 for v in _by_search(measure, group).values())
    made = searches(group) if by_search else group
    note = certain(group) if by_search else ""
    mean = values[0] if min(values) == max(values) else math.fsum(values) / len(values)
    if note:
        return Interval.exact(mean, note)
    if len(made) < len(group):
        if measure.rate:
            return score(mean, len(made))
        half = mean_interval([measure.value(r) for r in made]).half
        return Interval(mean, mean - half, mean + half, len(made)).within(*range_of(measure, worth))
    if measure.rate:
        return wilson(int(sum(values)), len(values))
    return mean_interval(values).within(*range_of(measure, worth))


def range_of(measure: Measure, worth: tuple[float, float] = UNBOUNDED) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure; `worth` is the range of the utility."""
    return (0.0, 1.0) if measure.rate else worth if measure.key == UTILITY.key else (measure.low, measure.high)


def _by_search(measure: Measure, group: Iterable[Playthrough]) -> dict[tuple[str, str, int], set[float]]:
    """Return the values that the routes of each search have."""
    found: dict[tuple[str, str, int], set[float]] = {}
    for r in group:
        found.setdefault((r.level, r.player, r.trial if r.search is None else r.search), set()).add(measure.value(r))
    return found


def _won(record: Playthrough) -> float:
    return float(record.won)


def _lost(record: Playthrough) -> float:
    return float(record.lost)


def _steps(record: Playthrough) -> float:
    return float(record.steps)


def _taking(symbol: str) -> Callable[[Playthrough], float]:
    return lambda r: r.metrics.get(symbol, 0.0)
