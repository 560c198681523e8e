"""A guide for designers of 2D Roguelike levels: the file format, a level to start from, and the notation of moves."""

from __future__ import annotations

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.catalog.roguelike2d.structure import MEANINGS

__all__ = ["ACTIONS", "EXAMPLE", "LEGEND", "MEANINGS"]

LEGEND = f"""\
A level of 2D Roguelike is a text file of settings, one a line; # begins a comment.

  seed = N      the seed for the layout of all days (required)
  days = N      days to survive, from 1 to {layout.MAX_DAYS} (10 if left out)
  variant = W   {" or ".join(layout.VARIANTS)}: what food gives and enemies take
  player = W    {", ".join(layout.PLAYERS)}: which decisions there are

The first word of a list is the default."""

EXAMPLE = """\
seed = 12
days = 4
variant = default
player = unrestricted
"""

ACTIONS = (
    "N, E, S, W: a move; for a factored player toward or away (from the exit), then lateral (east or west) or vertical"
)
