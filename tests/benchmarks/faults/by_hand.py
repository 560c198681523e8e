"""Levels with faults that no planter makes, drawn by hand, to test whether a diagnosis generalises.

Each has one fault. `test_findings.py` proves it with the rules of the game unless the drawing shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .cases import HAND, Case
from .class_cases import TRAIL, VAULT

MD2 = "minidungeons2"
OPEN = ("--allow-unreachable",)
Drawn = tuple[str, str, str, tuple[str, ...], str, tuple[str, ...], str]
"""Name, game, fault, kinds, characters of the map that mark the places, words, map."""

CANNOT = ("impossible", "scarce_resource", "unreachable_exit", "unreachable_object", "deadly_way")

DRAWN: tuple[Drawn, ...] = (
    (
        "potion-behind-exit",
        MD2,
        "what lies behind the exit",
        ("unreachable_object",),
        "P",
        (),
        """
XXXXXXXXXXXX
XH  M   X  X
X   T   e PX
X    M  X  X
XXXXXXXXXXXX
""",
    ),
    (
        "wizards-in-corridor",
        MD2,
        "monsters that hit everybody in a corridor",
        ("forced_hazard",),
        "R",
        ("wizard",),
        """
XXXXXXXXXXXXXXX
XXXXXXXXXX    X
XH      R RR eX
XXXXXXXXXX T  X
XXXXXXXXXXXXXXX
""",
    ),
    (
        "ogres-in-corridor",
        MD2,
        "monsters that nobody gets past unhurt",
        ("forced_hazard",),
        "oM",
        ("ogre", "goblin"),
        """
XXXXXXXXXXXXX
XXXXXXXXX   X
XH     oMo eX
XXXXXXXXX T X
XXXXXXXXXXXXX
""",
    ),
    (
        "portal-room",
        MD2,
        "a start in a closed room, whose portal skips all there is",
        ("unreachable_object", "unreachable_floor", "shortcut"),
        "T",
        ("treasure",),
        """
XXXXXXXXXXXXXXXX
XH  X    X   T X
X   X  T X     X
X p X      M   X
XXXXXXXXXXXXXXXX
X   e  pX   X  X
X  M    X T   PX
XXXXXXXXXXXXXXXX
""",
    ),
    (
        "portal-for-a-door",
        MD2,
        "a portal in the only door, which leads into a cell",
        ("unreachable_exit", "no_return"),
        "pe",
        (),
        """
XXXXXXXXXXXXXX
XH   X  M    X
X    p    P eX
X  T X   T   X
XXXXXXXXXXXXXX
XXXpXXXXXXXXXX
XXXXXXXXXXXXXX
""",
    ),
    (
        "portal-before-treasure",
        MD2,
        "a portal in the door of a treasury, which leads into a cell",
        ("unreachable_object", "no_return"),
        "pT",
        (),
        """
XXXXXXXXXXXXXX
XH      X    X
X  M    p  T X
X       X    X
XXXX XXXXXXXXX
X  P  eXXXpXXX
XXXXXXXXXXXXXX
""",
    ),
    (
        "treasure-behind-traps",
        MD2,
        "a treasure that costs the life of who takes it",
        ("unreachable_object", "deadly_way", "useless_object", "out_of_reach"),
        "Tt",
        (),
        """
XXXXXXXXXXXXXXX
XH     X      X
X   M     P  eX
XX XXXXXXXXXXXX
XttttttttttttTX
XXXXXXXXXXXXXXX
""",
    ),
    (
        "walled-in-goblin",
        MD2,
        "a monster in a cell",
        ("unreachable_object",),
        "M",
        ("goblin",),
        """
XXXXXXXXXXXX
XH   XXX   X
X    XMX T X
X    XXX   X
X     R    X
X P       eX
XXXXXXXXXXXX
""",
    ),
    (
        "traps-around-start",
        MD2,
        "traps on all sides of the start",
        ("forced_hazard", "exposed_start"),
        "tH",
        (),
        """
XXXXXXXXXXXXX
X   t    M  X
X tHt     T X
X  t X X    X
X    X X P eX
XXXXXXXXXXXXX
""",
    ),
    (
        "wizard-gallery",
        MD2,
        "more spells on the way than hit points",
        ("deadly_way", "lethal_start", "impossible"),
        "RH",
        ("wizard",),
        """
XXXXXXXXXXXXXXXXX
XXXXRRRRRRRRXXXXX
XH  RRRRRRRR  TeX
XXXXRRRRRRRRXXXXX
XXXXXXXXXXXXXXXXX
""",
    ),
    (
        "key-behind-its-door",
        VAULT.spec,
        "a key behind its own door",
        CANNOT,
        "kD>",
        ("key", "door"),
        """
############
#@   #  k  #
#    D     #
# $  #   > #
############
""",
    ),
    (
        "key-without-door",
        VAULT.spec,
        "a key that opens nothing",
        ("useless_object",),
        "k",
        ("key",),
        """
##########
#@   # k #
#        #
# $  #  >#
##########
""",
    ),
    (
        "one-key-two-doors",
        VAULT.spec,
        "a key that can be spent on the wrong door",
        ("no_return", "scarce_resource"),
        "D",
        ("key", "door"),
        """
##########
#   D    #
####  k  #
#@       #
#### ^ $ #
#> D     #
##########
""",
    ),
    (
        "gold-for-a-life",
        VAULT.spec,
        "gold that costs the life of who takes it",
        ("unreachable_object", "out_of_reach", "deadly_way", "useless_object"),
        "$^",
        ("gold",),
        """
##########
#@       #
##^###   #
#^^^^$#> #
##########
""",
    ),
    (
        "food-too-late",
        TRAIL.spec,
        "food that comes after it is needed",
        CANNOT,
        "fG",
        ("food", "strength", "STR"),
        """
##########
#@......~#
########~#
#~.....~~#
#.########
#..f...G.#
##########
""",
    ),
    (
        "ledge-against-the-way",
        TRAIL.spec,
        "a ledge that points the wrong way",
        CANNOT,
        "<G",
        (),
        """
############
#@...#.....#
#....<...G.#
#.*..#.....#
############
""",
    ),
    (
        "valley",
        TRAIL.spec,
        "a gem in a valley without a way out",
        ("no_return",),
        "v*",
        (),
        """
############
#@.....*..G#
#####v######
#.......*..#
############
""",
    ),
)


def by_hand() -> Iterator[Case]:
    """Yield the cases."""
    for name, game, fault, kinds, marks, words, drawing in DRAWN:
        text = drawing.lstrip("\n")
        rows = enumerate(text.splitlines())
        places = frozenset((x, y) for y, row in rows for x, c in enumerate(row) if c in marks)
        options = OPEN if "unreachable_exit" in kinds and game == MD2 else ()
        yield Case(f"hand-{name}", game, HAND, fault, (text,), kinds, places, words, fault, options)
