"""Computes numbers on a level's pairs and field, without playing it."""

from __future__ import annotations

from persona_evo.games.core import Level

MEANINGS = {
    "colours": "colours of the pairs",
    "drops": "pairs until the level is won",
    "visible": "pairs in sight",
    "doubles": "share of the pairs that are of one colour",
    "filled": "cells filled at the start",
}
"""The name of every number of `structure`, and its meaning."""


def structure(level: Level) -> dict[str, float]:
    """Return the numbers of colours, drops, visible pairs and filled cells, and the share of one-colour pairs."""
    setup = level.facts["setup"]
    doubles = sum(pair & 7 == pair >> 3 for pair in setup.pairs) / len(setup.pairs)
    filled = sum(cell != "." for row in setup.rows for cell in row)
    return {
        "colours": float(setup.colours),
        "drops": float(setup.drops),
        "visible": float(setup.visible),
        "doubles": doubles,
        "filled": float(filled),
    }
