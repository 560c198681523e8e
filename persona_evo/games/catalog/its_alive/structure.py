"""Computes numbers on a level's field, without playing it."""

from __future__ import annotations

from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.core import Level

MEANINGS = {
    "columns": "columns of the field",
    "rows": "rows of the field",
    "cells": "cells of the field",
    "win": "monsters to collect for a win",
    "par": "points that make a score of 1",
}
"""The name of every number of `structure`, and its meaning."""


def structure(level: Level) -> dict[str, float]:
    """Return numbers on the level's field (`guide.MEANINGS`)."""
    width, height, win = (int(level.tables[k]) for k in (layout.WIDTH, layout.HEIGHT, layout.WIN))
    return {"columns": width, "rows": height, "cells": width * height, "win": win, "par": layout.par(width * height)}
