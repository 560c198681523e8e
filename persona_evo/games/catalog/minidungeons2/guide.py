"""MiniDungeons 2 for those who make levels: the format in words, a level to start from, and how moves are written."""

from __future__ import annotations

from persona_evo.games.catalog.minidungeons2 import levels
from persona_evo.games.catalog.minidungeons2.structure import MEANINGS

__all__ = ["ACTIONS", "EXAMPLE", "LEGEND", "MEANINGS", "TILES"]

TILES = levels.LEGEND

_NUMBERS = {levels.HERO: ", exactly one", levels.EXIT: ", exactly one", levels.PORTAL: ", none or a pair"}

LEGEND = "\n".join(
    [
        "A level of MiniDungeons 2 is a text file with one character a tile and rows of equal length, and no comments.",
        "",
        *(
            f"  {'space' if char == levels.FLOOR else char:<5}  {meaning}{_NUMBERS.get(char, '')}"
            for char, meaning in levels.LEGEND.items()
        ),
        "",
        f"Up to {levels.MAX_SIDE} x {levels.MAX_SIDE} tiles. There has to be a way from the hero to the exit.",
    ]
)

EXAMPLE = """\
XXXXXXXXXX
XH   X T X
X    X   X
X  M   P X
X    X   X
XXX XXX XX
X   t    X
X  T  o  X
X       eX
XXXXXXXXXX
"""

ACTIONS = "N, E, S, W: a step; J,x,y: the javelin thrown at (column x, row y) from the top left, from 0; -: a lost turn"
