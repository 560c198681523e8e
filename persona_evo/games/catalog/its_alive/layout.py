"""The tables of a level as one row of numbers: the field, the design, the player model, and the sequence of pieces.

Details that the sources leave open are constants here, marked (C); README.md gives the source of each rule.

The level's tables are laid out as

| from | length | what |
|---|---|---|
| 0 | 8 | the header, named below |
| MASKS | 24 | connectors of shape s in orientation o at MASKS + 4 s + o |
| PIECES | cells x win | the kinds of the pieces to come, as many as a game can land |
| then | 3 (cells x win + 1) | how many heads, hearts and connectors the first pieces have (see `sums_at`) |
"""

from __future__ import annotations

import numpy as np

from persona_evo.games.rows import Row
from persona_evo.seeds import SplitMix64

FIELDS = {"5x7": (5, 7, 5), "3x5": (3, 5, 3), "2x3": (2, 3, 2)}
"""Field -> its columns, rows, and the number of monsters to collect for a win; that of the tiny field is (C)."""
DESIGNS = ("regular", "monochromester", "tenacious")
PLAYERS = ("unrestricted", "greedy", "lazy")
CHOICES = ("flat", "factored")

COLOURS = ("red", "green", "blue")
SHAPES = ("head", "heart", "end", "straight", "corner", "tee")
HEAD, HEART = 0, 1
KINDS = len(COLOURS) * len(SHAPES)
"""(C) A piece's kind is colour x 6 + shape."""

NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
CONNECTORS = (NORTH, NORTH | SOUTH, NORTH, NORTH | SOUTH, NORTH | EAST, NORTH | EAST | SOUTH)
"""(C) Sides on which each shape joins others in orientation 0; each further orientation is a quarter turn clockwise."""

LANDING_POINTS = 5
"""(C) The points for each piece that lands."""
MONSTER_POINTS, PAIR_POINTS = 5, 10
"""A monster of n pieces gives MONSTER_POINTS (n (n + 1) / 2 + 1) + PAIR_POINTS x joints of two pieces of one colour."""
TENACIOUS_PIECES = 10
"""The number of pieces that a monster needs to live in the design `tenacious`."""

(WIDTH, HEIGHT, WIN, DESIGN, PLAYER, FACTORED, _, _) = range(8)
MASKS = 8
PIECES = MASKS + 4 * len(SHAPES)


def turned(mask: int, orientation: int) -> int:
    """Return the connectors after this many quarter turns clockwise."""
    whole = mask << orientation
    return (whole | whole >> 4) & 15


def sequence(seed: int, length: int) -> list[int]:
    """Return the kinds of the first pieces: bags of all kinds, each shuffled by the single random stream of the seed.

    That an empty bag is filled again is (C).
    """
    rng, found = SplitMix64(seed), list[int]()
    while len(found) < length:
        bag = list(range(KINDS))
        rng.shuffle(bag)
        found += bag
    return found[:length]


def monster_points(pieces: int, pairs: int) -> int:
    """Return the points for collecting a monster."""
    return MONSTER_POINTS * (pieces * (pieces + 1) // 2 + 1) + PAIR_POINTS * pairs


def par(cells: int) -> int:
    """Return the points of score 1: for a piece on each cell, all collected as one monster without pairs."""
    return LANDING_POINTS * cells + monster_points(cells, 0)


def sums_at(width: int, height: int, win: int, which: int) -> int:
    """Return the place of the sums of heads (0), hearts (1) or connectors (2) in the first 0, 1, 2, ... pieces."""
    pieces = width * height * win
    return PIECES + pieces + which * (pieces + 1)


def sums(pieces: list[int]) -> list[int]:
    """Return the sums of heads, hearts and connectors in the first 0, 1, 2, ... pieces, one row after the other."""
    shapes = np.array(pieces) % len(SHAPES)
    connectors = np.array([mask.bit_count() for mask in CONNECTORS])[shapes]
    rows = (shapes == HEAD, shapes == HEART, connectors)
    return [int(v) for row in rows for v in (0, *np.cumsum(row))]


def build(seed: int, field: str, design: str, player: str, choices: str) -> Row:
    """Build the level's tables."""
    width, height, win = FIELDS[field]
    pieces = sequence(seed, width * height * win)
    row = np.zeros(sums_at(width, height, win, 3), dtype=np.uint16)
    row[:6] = width, height, win, DESIGNS.index(design), PLAYERS.index(player), CHOICES.index(choices)
    row[MASKS:PIECES] = [turned(mask, o) for mask in CONNECTORS for o in range(4)]
    row[PIECES : PIECES + len(pieces)] = pieces
    row[PIECES + len(pieces) :] = sums(pieces)
    return row
