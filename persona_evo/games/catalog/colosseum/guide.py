"""A guide for designers of Colosseum Survival! boards: the file format, a board to start from, and move notation."""

from __future__ import annotations

from persona_evo.games.catalog.colosseum.board import LEAST, MOST
from persona_evo.games.catalog.colosseum.levels import HIGHEST, LOWEST
from persona_evo.games.catalog.colosseum.structure import MEANINGS

__all__ = ["ACTIONS", "EXAMPLE", "LEGEND", "MEANINGS"]

LEGEND = f"""\
A level of Colosseum Survival! is either one line,

  random SIZE              another random board for each game, SIZE from {LOWEST} to {HIGHEST}
  random SIZE seed NUMBER  always the same random board

or a square board of {LEAST} to {MOST} cells a side, a character for each cell and for each wall between cells:

  0, 1   the players, one cell each
  - |    a wall below or above, or beside a cell; all around the board, too
  +      the corners of all cells
  space  an empty cell, or no wall

A first line `turn 1` lets player 1 move first. Lines that begin with # are comments."""

EXAMPLE = """\
+-+-+-+-+-+-+
|  0|       |
+ + + + +-+ +
|           |
+ + + + + + +
|   |       |
+ + + + + + +
|       |   |
+ + + + + + +
|           |
+ +-+ + + + +
|       |1  |
+-+-+-+-+-+-+
"""

ACTIONS = "ROW,COLUMN,SIDE: the cell walked to, from the top left and from 0, and the side N, E, S or W walled there"
