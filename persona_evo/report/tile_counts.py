"""Counts how often, and with what losses, playthroughs stand on each tile of a level."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.findings import Spot
from persona_evo.playtest.records import Playthrough


def visits(records: Sequence[Playthrough], height: int, width: int) -> NDArray[np.float64]:
    """Return each tile's mean visits per playthrough, float64[height, width]; places outside the map are dropped."""
    counts = np.zeros((height, width))
    for record in records:
        for x, y in record.all_positions:
            if 0 <= x < width and 0 <= y < height:
                counts[y, x] += 1
    return counts / max(1, len(records))


def most_visits(groups: Iterable[Sequence[Playthrough]]) -> float:
    """Return the largest mean visits of a tile in any of several groups, the common `high` of their maps."""
    most = 0.0
    for group in groups:
        counts = Counter(place for record in group for place in record.all_positions)
        most = max(most, max(counts.values(), default=0) / max(1, len(group)))
    return most


def damage(records: Sequence[Playthrough]) -> dict[Spot, float]:
    """Return the mean hit points that a playthrough loses on arriving at each tile, beyond the cost of every move."""
    arrivals = [
        (place, before - after)
        for record in records
        for place, (before, after) in zip(record.all_positions[1:], pairwise(record.hit_points), strict=False)
    ]
    cost = move_cost([lost for _, lost in arrivals])
    total: defaultdict[Spot, float] = defaultdict(float)
    for place, lost in arrivals:
        total[place] += max(0.0, lost - cost)
    return {place: lost / len(records) for place, lost in total.items() if lost}


def move_cost(losses: Sequence[float]) -> float:
    """Return the hit points that every move costs (such as hunger).

    This is the smallest loss if most moves lose exactly that much and none loses nothing; otherwise 0.

    Args:
        losses: hit points lost by each move; negative if some were gained.
    """
    least = min((lost for lost in losses if lost > 0), default=0.0)
    return least if 0 not in losses and 2 * sum(lost == least for lost in losses) > len(losses) else 0.0


def deaths(records: Iterable[Playthrough]) -> Counter[Spot]:
    """Count the playthroughs that were lost on each tile."""
    return Counter(r.death_place for r in records if r.death_place is not None)
