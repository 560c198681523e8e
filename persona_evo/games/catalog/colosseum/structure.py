"""Computes numbers on a board at the start, without playing on it."""

from __future__ import annotations

from persona_evo.games.catalog.colosseum.levels import board_of
from persona_evo.games.core import Level

MEANINGS = {
    "cells": "cells of the board",
    "steps": "the most steps of a move",
    "inner walls": "walls at the start besides the border",
    "distance": "rows plus columns between the players",
}
"""The name of every number of `structure`, and its meaning."""


def structure(level: Level) -> dict[str, float]:
    """Return numbers on the board at the start."""
    board = board_of(level, level.start)
    n = board.size
    inside = sum(sides.bit_count() for line in board.walls for sides in line) - 4 * n
    way = abs(board.players[0][0] - board.players[1][0]) + abs(board.players[0][1] - board.players[1][1])
    return {"cells": n * n, "steps": (n + 1) // 2, "inner walls": inside / 2, "distance": way}
