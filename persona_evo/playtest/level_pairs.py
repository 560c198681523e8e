"""Compares two versions of several levels, pair by pair: each level of A with its counterpart in B.

What is said holds for other levels of the kind. Playthroughs of one level are not independent of each other, so a pair
is one observation: the difference between the means of its two levels. The differences are tested by Wilcoxon's
signed-rank test, exactly for up to 50 pairs, and all p values are corrected together by Holm's method.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from persona_evo.errors import SettingsError
from persona_evo.games.core import Level, Metric
from persona_evo.intervals import Interval, clustered, clustered_rate, mean_interval, share_higher
from persona_evo.playtest.compare import ComparisonRow, compare_groups, corrected
from persona_evo.playtest.compare_versions import LEVELS, versions_compared
from persona_evo.playtest.metrics import UNBOUNDED, Measure, UtilityRanges, grouped, measures, players_of, range_of
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import PAIRED
from persona_evo.statistics import wilcoxon
from persona_evo.words import counted

MOST_NAMED = 2
"""Maximum number of pairs that a sentence names."""

_VARIANT = re.compile(r":[^@]*")


@dataclass(frozen=True)
class LevelPairs:
    """The levels of A and B, in pairs.

    Attributes:
        names: the names of both levels of each pair.
    """

    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, a: Sequence[str], b: Sequence[str]) -> LevelPairs:
        """Pair levels of the same name but for folder and variant, of the same seed, or in the same place.

        Args:
            a, b: names of the levels of A and B, all different.

        Raises:
            SettingsError: the numbers of levels differ.
        """
        if len(a) != len(b) or not a:
            raise SettingsError(
                "a comparison needs two levels, or as many levels of A as of B",
                found=f"{len(a)} and {len(b)}",
                expected="two names of one level each, or of equally many, such as MAP@11-20 MAP:VARIANT@11-20",
            )
        for key in (_plain, _seed):
            counterparts = {key(name): name for name in b}
            if len(counterparts) == len(b) and {key(name) for name in a} == counterparts.keys():
                return cls(tuple((name, counterparts[key(name)]) for name in a))
        return cls(tuple(zip(a, b, strict=True)))

    @property
    def none(self) -> bool:
        """Whether nothing differs between A and B; levels of other names do."""
        return False

    @property
    def by(self) -> str:
        """What the levels of a pair have in common: "seed", "name" or "order"."""
        for key in (_plain, _seed):
            pairs = {(key(a), key(b)) for a, b in self.names}
            if len(pairs) == len(self.names) and all(a == b for a, b in pairs):
                break
        else:
            return "order"
        return "seed" if all("@" in name for pair in self.names for name in pair) else "name"

    @cached_property
    def words(self) -> str:
        """The pairs, in one sentence."""
        how = "in the order given" if self.by == "order" else f"by {self.by}"
        named = [f"{a} with {b}" for a, b in self.names[:MOST_NAMED]]
        more = [f"{len(self.names) - MOST_NAMED} more"] if len(self.names) > MOST_NAMED else []
        return f"{counted(len(self.names), 'pair')} of levels, paired {how}: {', '.join([*named, *more])}"


def paired(levels: Sequence[Level], first: int, second: int) -> list[tuple[Level, Level]]:
    """Pair the levels of A and B.

    Args:
        levels: those of A, followed by those of B, without repeats.
        first, second: how many levels were named for each.

    Raises:
        SettingsError: the numbers differ, or a level belongs to both.
    """
    if len(levels) != first + second:
        raise SettingsError(
            "a comparison needs two levels, or as many levels of A as of B",
            found=f"{counted(first + second - len(levels), 'level')} on both sides",
            expected="different files or names of levels",
        )
    by_name = {level.name: level for level in levels}
    names = list(by_name)
    return [(by_name[a], by_name[b]) for a, b in LevelPairs.of(names[:first], names[first:]).names]


def compare_pairs(
    records: Sequence[Playthrough],
    pairs: LevelPairs,
    infos: Sequence[Metric] = (),
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare both versions over all pairs, for each player that played them, with verdicts in words.

    Wall-clock time is left out. Win rates are corrected apart from everything else, as in `compare_levels`.

    Args:
        pairs: at least two.
        worth: range of each player's utility.
    """
    groups = grouped(records)

    def row(player: str, measure: Measure) -> ComparisonRow:
        sides = [[[measure.value(r) for r in groups[level, player]] for level in side] for side in _sides(pairs)]
        limits = range_of(measure, (worth or {}).get(player, UNBOUNDED))
        return _row(LEVELS, player, measure, limits, *sides)

    players = [p for p in players_of(records) if all((level, p) in groups for pair in pairs.names for level in pair)]
    return versions_compared(players, measures(records, infos, clock=False), row)


def compare_each(
    records: Sequence[Playthrough],
    pairs: LevelPairs,
    infos: Sequence[Metric] = (),
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare the two levels of each pair alone, corrected over all pairs, players and measures.

    These rows are about these levels, not about others of the kind.
    """
    groups, chosen = grouped(records), measures(records, infos, clock=False)
    return corrected(
        row
        for a, b in pairs.names
        for player in players_of(records)
        if (a, player) in groups and (b, player) in groups
        for row in compare_groups(groups[a, player], groups[b, player], what=chosen, worth=worth)
    )


def _sides(pairs: LevelPairs) -> tuple[list[str], list[str]]:
    return [a for a, _ in pairs.names], [b for _, b in pairs.names]


def _row(
    level: str,
    player: str,
    measure: Measure,
    limits: tuple[float, float],
    a: Sequence[Sequence[float]],
    b: Sequence[Sequence[float]],
) -> ComparisonRow:
    """Compare the values of a measure within these limits; `a` and `b` have those of each level."""
    means = [[mean_interval(values).value for values in side] for side in (a, b)]
    changes = [after - before for before, after in zip(*means, strict=True)]
    test = wilcoxon(changes)
    low, high = limits
    return ComparisonRow(
        level,
        player,
        player,
        measure,
        _over_levels(measure, limits, a),
        _over_levels(measure, limits, b),
        PAIRED,
        test.statistic,
        test.p,
        test.p,
        note=test.note,
        effect=share_higher(changes),
        difference=mean_interval(changes).within(low - high, high - low),
    )


def _over_levels(measure: Measure, limits: tuple[float, float], values: Sequence[Sequence[float]]) -> Interval:
    """Return the mean over levels, with its interval for other levels of the kind."""
    if measure.rate:
        return clustered_rate([(int(sum(own)), len(own)) for own in values])
    return clustered(values).within(*limits)


def _plain(name: str) -> str:
    """Return a level's name without folder and variant."""
    return _VARIANT.sub("", name.rpartition("/")[2])


def _seed(name: str) -> str:
    return name.partition("@")[2]
