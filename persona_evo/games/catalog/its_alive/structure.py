"""Numbers of a level's field, known before anybody plays it."""

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
"""Every number of `structure` by name, and what it is."""


def structure(level: Level) -> dict[str, float]:
    """Numbers of the level's field (`guide.MEANINGS`)."""
    width, height, win = (int(level.tables[k]) for k in (layout.WIDTH, layout.HEIGHT, layout.WIN))
    return {"columns": width, "rows": height, "cells": width * height, "win": win, "par": layout.par(width * height)}
