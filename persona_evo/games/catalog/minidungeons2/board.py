"""A level in the form that its analysis uses: who can walk where, what lies where, and the words for objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from persona_evo.games.analysis import Moves, at, distances, parts
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.catalog.minidungeons2.levels import LEGEND, PORTAL, DungeonLevel
from persona_evo.games.catalog.minidungeons2.survival import Survival, survival
from persona_evo.games.core import Level
from persona_evo.games.findings import Spot
from persona_evo.words import counted, enumerated, plural

TRAP, POTION, TREASURE, MINITAUR = "t", "P", "T", "m"
GOALS = "TPMRob"
"""The characters of what a persona can want: treasures, potions, and monsters that can die."""


class DungeonBoard:
    """What the parts of the analysis share.

    Attributes:
        walk: moves of somebody who cannot use portals and whom the exit does not stop: a monster.
        moves: moves of the hero: a portal leads to its partner, the exit leads nowhere.
    """

    def __init__(self, level: Level) -> None:
        self.level = level
        self.grid: DungeonLevel = level.facts["grid"]
        grid = self.grid
        floor = [(x, y) for y in range(grid.height) for x in range(grid.width) if grid.passable(x, y)]
        jump = dict(zip(grid.portals, reversed(grid.portals), strict=True))
        self.walk: Moves = {tile: tuple(grid.neighbours(*tile)) for tile in floor}
        self.moves: Moves = {
            tile: () if tile == grid.exit else tuple(jump.get(to, to) for to in near)
            for tile, near in self.walk.items()
        }
        self.char = {(x, y): char for char, x, y in grid.objects}
        self.health, self.cap = tb.START_HP, int(level.tables[tb.HP_CAP])

    @cached_property
    def reached(self) -> dict[Spot, int]:
        """The fewest moves of the hero to each tile that he can reach."""
        return distances([self.grid.hero], self.moves)

    @cached_property
    def on_foot(self) -> dict[Spot, int]:
        """The fewest moves of the hero to each tile without portals; the exit stops him."""
        return distances([self.grid.hero], {**self.walk, self.grid.exit: ()})

    @cached_property
    def survival(self) -> Survival:
        """The tiles that can be reached alive over the traps."""
        return survival(
            self.grid.hero, self.grid.exit, self.moves, set(self.at(TRAP)), self.at(POTION), self.health, self.cap
        )

    @cached_property
    def pieces(self) -> list[list[Spot]]:
        """The connected parts of the floor, which only walls separate."""
        return parts(self.walk)

    @cached_property
    def piece_of(self) -> dict[Spot, int]:
        """The number of the floor part that each tile belongs to."""
        return {tile: i for i, piece in enumerate(self.pieces) for tile in piece}

    @cached_property
    def open_pieces(self) -> set[int]:
        """The parts of the floor that the hero can reach."""
        return {self.piece_of[tile] for tile in self.walk if self.touches(tile)}

    def at(self, chars: str) -> list[Spot]:
        """Return the positions of the objects with these characters, row by row."""
        return [(x, y) for char, x, y in self.grid.objects if char in chars]

    def touches(self, spot: Spot) -> bool:
        """Return whether the hero can reach an object; portals are touched by entering them."""
        if self.char.get(spot) == PORTAL:
            return any(p in self.reached for p in self.grid.portals)
        return spot in self.reached

    def can_meet(self, spot: Spot) -> bool:
        """Return whether the hero and the monster on a tile can ever reach the same ground."""
        return self.piece_of[spot] in self.open_pieces

    def sees(self, a: Spot, b: Spot) -> bool:
        """Return whether tile b is visible from tile a, by the game's own line of sight."""
        t = self.level.tables
        return bool(tb.line_of_sight(t, self.number(a), self.number(b)))

    def number(self, spot: Spot) -> int:
        """Return the number of a tile in the tables."""
        t = self.level.tables
        return int(t[int(tb.offset(t, tb.BOARD_AT)) + spot[1] * self.grid.width + spot[0]])


def named(board: DungeonBoard, spots: Iterable[Spot]) -> str:
    """Return objects with their places: "the treasure at 3:4 and the traps at 5:2 and 5:3"."""
    kinds: dict[str, list[Spot]] = {}
    for spot in spots:
        kinds.setdefault(board.char[spot], []).append(spot)
    order = sorted(kinds, key=lambda char: "TPMRobmtpe".index(char))
    return enumerated([f"the {plural(len(kinds[c]), LEGEND[c])} at {at(kinds[c])}" for c in order])


def tally(board: DungeonBoard, spots: Iterable[Spot]) -> str:
    """Return objects counted by kind: "3 treasures and 1 goblin"."""
    chars = [board.char[spot] for spot in spots]
    order = sorted(set(chars), key=lambda char: "TPMRobmtpe".index(char))
    return enumerated([counted(chars.count(c), LEGEND[c]) for c in order])


def is_are(spots: Sequence[Spot]) -> str:
    """Return "is" or "are" for this many objects."""
    return "is" if len(spots) == 1 else "are"
