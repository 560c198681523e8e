"""Compares groups of playthroughs: a player with its baseline, players with each other.

`compare_versions` compares two versions of a level, and `level_pairs` of many levels.

Means are compared by Welch's t test (as in the paper) and by Mann-Whitney's rank test, rates by Fisher's exact test.
All p values of one comparison are corrected together by Holm's method (`corrected`). The p values of Welch's and
Fisher's tests decide; a row notes if the rank test disagrees. If neither group varies, Welch's test does not apply: the
row then has the p value of the exact test and says so. Rows in which both groups are the same constant can never be
significant (their only possible p is 1), so the correction does not count them (Tarone 1990, Biometrics 46:515).

`samples` describes what is tested, and how groups from one proven search are treated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from persona_evo.games.core import Metric
from persona_evo.intervals import Interval
from persona_evo.playtest.metrics import (
    CLOCK,
    UNBOUNDED,
    Measure,
    UtilityRanges,
    grouped,
    levels_of,
    measures,
    players_of,
)
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import EXACT, PAIRED, RouteRange, TrialGroup, effects, tested
from persona_evo.statistics import ALPHA, NO_VARIATION, holm

DISAGREE = "the rank test disagrees"
"""Note of a row whose two tests disagree."""

POWER = ((1.96 + 0.8416) / 1.96) ** 2
"""How many times more values a test at 5 % needs to find a difference 4 times out of 5, and not every second time."""

MOST_NEEDED = 1_000_000
"""The largest number of values that is worth naming."""

NO_EFFECT, NO_DIFFERENCE = Interval(0.5, 0.0, 1.0, 0), Interval(0.0, -math.inf, math.inf, 0)
"""Effect and difference about which nothing is known."""


@dataclass(frozen=True)
class ComparisonRow:
    """One measure compared between two groups, a and b.

    Attributes:
        test: "Welch", "Fisher", "exact" if neither group varies, "Student" or "binomial" if one is known, EXACT if both
            are (see the module); PAIRED for pairs of levels.
        p: of that test; for EXACT it is no p value, but 0 if the groups differ and 1 if not.
        p_rank: of the rank test; equal to p for rates and if a group is known.
        p_holm, p_rank_holm: both corrected over all rows of the comparison; measures of time are corrected separately.
        verdict: the row in words.
        effect: Vargha and Delaney's A, how likely a value of b is larger than one of a; exact if both groups are known.
            For pairs of levels, the share of pairs in which b is larger; ties count half.
        difference: b - a with its interval; exact if both groups are known.
        ranges: ranges over the routes of a and of b, if both groups are known but routes of equal utility can differ.
        weighed: whether the measure is part of the player's utility.
    """

    level: str
    player_a: str
    player_b: str
    measure: Measure
    a: Interval
    b: Interval
    test: str
    statistic: float
    p: float
    p_rank: float
    p_holm: float = 1.0
    p_rank_holm: float = 1.0
    note: str = ""
    verdict: str = ""
    effect: Interval = NO_EFFECT
    difference: Interval = NO_DIFFERENCE
    ranges: tuple[RouteRange, RouteRange] | None = None
    weighed: bool = False

    @property
    def higher(self) -> str:
        """Which group has the larger value: "a", "b" or "", by the values alone."""
        return "a" if self.a.value > self.b.value else "b" if self.b.value > self.a.value else ""

    @property
    def exact(self) -> bool:
        """Whether both groups are known, so that there is no p value."""
        return self.test == EXACT

    @property
    def routes_apart(self) -> bool:
        """Whether the ranges over routes do not overlap, and are more than one arbitrary choice among equal plans.

        A single route says nothing about a measure that the utility ignores.
        """
        return self.disjoint and (self.weighed or min(found.routes for found in self.ranges or ()) > 1)

    @property
    def disjoint(self) -> bool:
        """Whether the ranges over routes do not overlap."""
        if self.ranges is None:
            return False
        a, b = self.ranges
        return a.low > b.high or b.low > a.high

    @property
    def loss(self) -> bool:
        """Whether a main metric of the game is worse in b than in a."""
        worse = {"higher": "a", "lower": "b"}.get(self.measure.better, "")
        return self.measure.main and self.higher == worse != ""

    @property
    def constant(self) -> bool:
        """Whether the groups are two different constants, so that there is no variation to test the difference by."""
        return bool(self.higher) and self.note.startswith(NO_VARIATION)

    @property
    def needed(self) -> int | None:
        """About how many values of each group would show a difference as large as that measured, 4 times out of 5.

        None if the groups are known or have no spread, or if the means are equal. Corrections for several tests are
        left out, so it is a lower bound.
        """
        d = self.difference
        if self.exact or not d.value or not d.half:
            return None
        n = POWER * d.half**2 / d.value**2 * (d.n if self.test == PAIRED else min(self.a.n, self.b.n))
        return None if n > MOST_NEEDED else max(2, int(round(n, 1 - int(math.log10(max(n, 1.0))))))

    def differs(self, alpha: float = ALPHA, *, corrected: bool = True) -> bool:
        """Return whether the difference is significant, after Holm's correction or (as in the paper) without it."""
        return bool(self.higher) and (self.p_holm if corrected else self.p) < alpha


def compare_groups(
    a: Sequence[Playthrough],
    b: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    *,
    what: Sequence[Measure] | None = None,
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare two groups of at least one playthrough each, one row per measure, corrected over these rows.

    `worth` is the range of each player's utility, as in all functions of this module.
    """
    if not a or not b:
        raise ValueError("a group has no playthroughs")
    level = a[0].level if a[0].level == b[0].level else f"{a[0].level} | {b[0].level}"
    groups = group_of(a, worth), group_of(b, worth)
    return corrected([row_of(level, *groups, measure) for measure in what or measures([*a, *b], infos)])


def corrected(rows: Iterable[ComparisonRow]) -> list[ComparisonRow]:
    """Correct the p values by Holm's method over all rows that vary and have one; the order is kept."""
    rows = list(rows)
    varying = [i for i, r in enumerate(rows) if not r.exact and not (r.note.startswith(NO_VARIATION) and r.p == 1.0)]
    keys = [rows[i].measure.key for i in varying]
    main = dict(zip(varying, holm_apart(keys, [rows[i].p for i in varying]), strict=True))
    rank = dict(zip(varying, holm_apart(keys, [rows[i].p_rank for i in varying]), strict=True))
    done = []
    for i, row in enumerate(rows):
        p, q = main.get(i, row.p), rank.get(i, row.p)
        disagree = row.test == "Welch" and (p < ALPHA) != (q < ALPHA)
        note = "; ".join(filter(None, (row.note, DISAGREE if disagree else "")))
        done.append(replace(row, p_holm=p, p_rank_holm=q, note=note))
    return done


def holm_apart(keys: Sequence[str], p_values: Sequence[float]) -> list[float]:
    """Correct p values by Holm's method, with measures of time apart from all others.

    The speed of the machine then affects no other p value, and the same seed gives the same verdicts. `keys` are those
    of the measures.
    """
    found = list(p_values)
    for clock in (False, True):
        family = [i for i, key in enumerate(keys) if (key == CLOCK) is clock]
        for i, p in zip(family, holm([p_values[i] for i in family]), strict=True):
            found[i] = p
    return found


def versus_baseline(
    records: Sequence[Playthrough],
    pairs: Sequence[tuple[str, str]],
    infos: Sequence[Metric] = (),
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare each player with its baseline per level, a = player; corrected over all levels, pairs and measures."""
    groups = {key: group_of(own, worth) for key, own in grouped(records).items()}
    chosen = measures(records, infos)
    return corrected(
        row_of(level, groups[level, player], groups[level, base], measure)
        for player, base in pairs
        for level in levels_of(records)
        if (level, player) in groups and (level, base) in groups
        for measure in chosen
    )


def between_players(
    records: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    players: Sequence[str] | None = None,
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare every two players per level, corrected over all levels, pairs and measures."""
    names = list(players) if players is not None else players_of(records)
    return versus_baseline(records, [(p, q) for i, p in enumerate(names) for q in names[i + 1 :]], infos, worth)


def counts(rows: Iterable[ComparisonRow], *, corrected: bool = False) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return (measure, player a) -> levels in which a is significantly higher, b is, levels compared.

    This is table III of the paper. `corrected` applies Holm's correction; the paper counts without it.
    """
    table: dict[tuple[str, str], tuple[int, int, int]] = {}
    for row in rows:
        key = row.measure.key, row.player_a
        up, down, total = table.get(key, (0, 0, 0))
        found = row.higher if row.differs(corrected=corrected) else ""
        table[key] = up + (found == "a"), down + (found == "b"), total + 1
    return table


def group_of(records: Sequence[Playthrough], worth: UtilityRanges | None) -> TrialGroup:
    """Return playthroughs of one player as a group."""
    return TrialGroup(records, (worth or {}).get(records[0].player, UNBOUNDED))


def row_of(level: str, a: TrialGroup, b: TrialGroup, measure: Measure, weighed: bool = False) -> ComparisonRow:
    """Compare a measure between two groups, without correction; `weighed` is as in the row."""
    name, test, rank = tested(a, b, measure)
    effect, change = effects(a, b, measure)
    one, two = a.range(measure), b.range(measure)
    return ComparisonRow(
        level,
        a.records[0].player,
        b.records[0].player,
        measure,
        a.mean(measure),
        b.mean(measure),
        name,
        test.statistic,
        test.p,
        rank,
        note=test.note,
        effect=effect,
        difference=change,
        ranges=(one, two) if one and two else None,
        weighed=weighed,
    )


def shown(measure: Measure, value: float) -> str:
    """Format a value for display: 62 %, 11.8 %, 20.4 steps, 0.791."""
    if measure.ratio:
        return f"{round(value * 100, 1):g} %"
    text = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if not measure.unit or measure.unit == measure.name:
        return text
    return f"{text} {measure.unit.removesuffix('s') if text == '1' else measure.unit}"


def p_shown(p: float) -> str:
    """Format a p value for display."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.095 else f"p = {p:.2f}"


def spoken(player: str) -> str:
    """Return a player's label as it appears within a sentence."""
    return player.replace("_", " ")


def span(measure: Measure, found: RouteRange | Interval) -> str:
    """Return a mean, or a range over routes, for display: "9", "4 to 8 hit points", "none left"."""
    if isinstance(found, Interval):
        return shown(measure, found.value)
    if found.low == found.high == measure.none:
        return "none left"
    plain, high = replace(measure, unit=""), shown(measure, found.high)
    return high if found.low == found.high else f"{shown(plain, found.low)} to {high}"
