"""Computes numbers on a level's days, without playing it."""

from __future__ import annotations

import numpy as np

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Level

MEANINGS = {
    "days": "days to survive",
    "walls": "inner walls a day, mean",
    "items": "items a day, mean",
    "food": "food points of a day's items, mean",
    "enemies": "enemies of all days together",
}
"""The name of every number of `structure`, and its meaning."""


def structure(level: Level) -> dict[str, float]:
    """Return numbers on the level's layouts (`guide.MEANINGS`)."""
    days = level.facts["days"]
    gains = level.tables[layout.GAINS : layout.GAINS + 2]
    return {
        "days": float(len(days)),
        "walls": float(np.mean([len(day.walls) for day in days])),
        "items": float(np.mean([len(day.items) for day in days])),
        "food": float(np.mean([sum(int(gains[kind]) for _, kind in day.items) for day in days])),
        "enemies": float(sum(len(day.enemies) for day in days)),
    }
