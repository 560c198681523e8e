"""A guide for designers of Puyo-Puyo levels: the file format, a level to start from, and the notation of moves."""

from __future__ import annotations

from persona_evo.games.catalog.puyo.levels import LIMITS
from persona_evo.games.catalog.puyo.structure import MEANINGS
from persona_evo.games.catalog.puyo.tables import ROWS

__all__ = ["ACTIONS", "EXAMPLE", "LEGEND", "MEANINGS"]


def _range(key: str) -> str:
    low, high, usual = LIMITS[key]
    return f"from {low:,} to {high:,} ({usual} if left out)"


LEGEND = f"""\
A level of Puyo-Puyo is a text file of settings, one a line; # begins a comment outside of quotes.

  seed = N      the seed for all pairs, a whole number (1 if left out)
  colours = N   {_range("colours")}
  drops = N     pairs until the level is won, {_range("drops")}
  visible = N   pairs in sight, {_range("visible")}
  pairs = "P"   the first pairs by hand, such as "RG BB": axis, then child
  field = '''   the field at the start: rows of six cells from top to bottom, {ROWS} at most

  .             an empty cell
  R Y G B P     red, yellow, green, blue, purple; the first three with 3 colours, P with 5
  #             garbage

Puyos stand on the ground or on others, and no four of a colour touch."""

EXAMPLE = """\
seed = 12
colours = 4
drops = 24
visible = 3
pairs = "RG BB"
field = '''
RG....
RGB..Y
RGB.YY
'''
"""

ACTIONS = (
    "3U: the axis falls in column 3 (from 1), its child above it; R, D, L: the child right of, below, left of the axis"
)
