"""Correlates the structure of levels with what players do in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persona_evo.games.core import Metric
from persona_evo.playtest.compare import holm_apart
from persona_evo.playtest.metrics import estimate, grouped, levels_of, measures, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.statistics import Correlation, pearson, spearman

FEWEST_LEVELS = 4
"""Minimum number of levels for a correlation."""


@dataclass(frozen=True)
class CorrelationRow:
    """The correlation of a structure metric of levels with a result of a player over n levels.

    `p_holm` is corrected over all rows; measures of time are corrected separately.
    """

    structure: str
    player: str
    result: str
    pearson: Correlation
    spearman: Correlation
    p_holm: float

    @property
    def n(self) -> int:
        """Number of levels."""
        return self.pearson.n


def correlations(
    structure: Mapping[str, Mapping[str, float]],
    records: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    results: Mapping[str, Sequence[str]] | None = None,
) -> list[CorrelationRow]:
    """Correlate level structure with each player's mean results, level by level.

    Structure and results that are the same in all levels are left out, and so are levels where either value is
    not finite (such as the length of the way to an exit that cannot be reached). With fewer than FEWEST_LEVELS
    levels there are no rows.

    Args:
        structure: numbers by name, per level.
        results: the measures to look at, per player; all of them if not given.

    Returns:
        The rows, sorted by p.
    """
    groups = grouped(records)
    found: list[tuple[str, str, str, Correlation, Correlation]] = []
    for player in players_of(records):
        levels = [name for name in levels_of(records) if name in structure and (name, player) in groups]
        if len(levels) < FEWEST_LEVELS:
            continue
        for measure in measures(records, infos):
            if results is not None and measure.key not in results.get(player, ()):
                continue
            values = [estimate(measure, groups[name, player]).value for name in levels]
            for key in structure[levels[0]]:
                if all(key in structure[name] for name in levels):
                    pairs = [(float(structure[name][key]), v) for name, v in zip(levels, values, strict=True)]
                    pairs = [pair for pair in pairs if all(map(math.isfinite, pair))]
                    numbers, outcomes = [x for x, _ in pairs], [y for _, y in pairs]
                    if len(pairs) >= FEWEST_LEVELS and len(set(numbers)) > 1 and len(set(outcomes)) > 1:
                        both = pearson(numbers, outcomes), spearman(numbers, outcomes)
                        found.append((key, player, measure.key, *both))
    p_values = holm_apart([f[2] for f in found], [f[3].p for f in found])
    rows = [CorrelationRow(*f, p_holm=p) for f, p in zip(found, p_values, strict=True)]
    return sorted(rows, key=lambda r: (r.pearson.p, -abs(r.pearson.r)))
