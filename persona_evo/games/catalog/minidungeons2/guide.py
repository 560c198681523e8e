"""A guide for designers of MiniDungeons 2 levels: the file format, a level to start from, and the notation of moves."""

from __future__ import annotations

from persona_evo.games.catalog.minidungeons2 import levels
from persona_evo.games.catalog.minidungeons2.structure import MEANINGS

__all__ = ["ACTIONS", "AIMED", "EVENTS", "EXAMPLE", "LEGEND", "MEANINGS", "SIGNS", "TILES"]

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
XT  t    X
X     o  X
X       eX
XXXXXXXXXX
"""

ACTIONS = "N, E, S, W: a step; J@row:column: the javelin thrown at that tile; -: a lost turn"

AIMED = ("J",)

EVENTS = {
    "treasure": "treasure opened",
    "potion": "potion drunk",
    "trap": "trap sprung",
    "portal": "portal used",
    "exit": "exit reached",
    "treasure:": "treasure taken by the {}",
    "potion:": "potion drunk by the {}",
    "trap:": "trap sprung by the {}",
    "monster:": "blows with the {}",
    "slain:": "{} slain",
    "knockout": "minitaur knocked out",
    "javelin": "javelin thrown",
    "pickup": "javelin picked up",
    "death:": "killed by the {}",
}

SIGNS = "x a slain monster, + a dead hero, J a javelin that lies there"
