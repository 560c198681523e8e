"""Boards of MiniDungeons 2: ways, cuts, and the most hit points that can be left. Independent of the game's own code.

Ways lead through portals as in the game: whoever steps onto one stands on the other. Monsters are left out. What cannot
be done here cannot be done in the game, because a monster never opens a way and never gives the hero hit points.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from persona_evo.games.analysis import beside

Spot = tuple[int, int]
HIT_POINTS = 10
MONSTERS = "MRobm"


@dataclass(frozen=True)
class Board:
    """A level's tiles.

    Attributes:
        width, height: size in tiles.
        cells: (x, y) -> character, walls included.
    """

    width: int
    height: int
    cells: Mapping[Spot, str]

    @classmethod
    def of(cls, text: str) -> Board:
        """Return the board of a level file."""
        rows = text.rstrip("\n").split("\n")
        cells = {(x, y): c for y, row in enumerate(rows) for x, c in enumerate(row)}
        return cls(len(rows[0]), len(rows), cells)

    @property
    def text(self) -> str:
        """The text of the level file."""
        return "".join("".join(self.cells[x, y] for x in range(self.width)) + "\n" for y in range(self.height))

    def changed(self, changes: Mapping[Spot, str]) -> Board:
        """Return the board with other characters on some tiles."""
        return Board(self.width, self.height, {**self.cells, **changes})

    def taller(self, rows: int) -> Board:
        """Return the board with `rows` more rows of wall at the bottom."""
        more = {(x, self.height + k): "X" for k in range(rows) for x in range(self.width)}
        return Board(self.width, self.height + rows, {**self.cells, **more})

    def find(self, chars: str) -> list[Spot]:
        """Return where these characters stand, row by row."""
        return sorted((s for s, c in self.cells.items() if c in chars), key=lambda s: (s[1], s[0]))

    @cached_property
    def hero(self) -> Spot:
        """The start."""
        return self.find("H")[0]

    @cached_property
    def exit(self) -> Spot:
        """The exit."""
        return self.find("e")[0]

    @cached_property
    def floor(self) -> frozenset[Spot]:
        """All tiles that are not walls."""
        return frozenset(s for s, c in self.cells.items() if c != "X")

    @cached_property
    def free(self) -> list[Spot]:
        """Floor with nothing on it."""
        return self.find(" ")

    @cached_property
    def jump(self) -> dict[Spot, Spot]:
        """Portal -> the other one."""
        found = self.find("p")
        return dict(zip(found, reversed(found), strict=True))

    def moves(self, tile: Spot) -> list[tuple[Spot, Spot]]:
        """Return (tile walked onto, tile stood on afterwards) for each move."""
        return [(n, self.jump.get(n, n)) for n in beside(tile) if n in self.floor]

    def ways(self, start: Spot | None = None, closed: Iterable[Spot] = ()) -> dict[Spot, int]:
        """Return the fewest moves to each tile with some tiles closed.

        The exit ends the game, so no way goes on from it.
        """
        start, shut = self.hero if start is None else start, set(closed)
        found, stood, queue = {start: 0}, {start: 0}, [start]
        for tile in queue:
            if tile == self.exit:
                continue
            for onto, then in self.moves(tile):
                if onto in shut:
                    continue
                found.setdefault(onto, stood[tile] + 1)
                if then not in stood:
                    stood[then] = stood[tile] + 1
                    queue.append(then)
        return found

    def to(self, target: Spot) -> dict[Spot, int]:
        """Return the fewest moves from each tile to `target`."""
        back: dict[Spot, list[Spot]] = {}
        first = []
        for tile in self.floor:
            for onto, then in self.moves(tile):
                back.setdefault(then, []).append(tile)
                if onto == target:
                    first.append(tile)
        found = {target: 0, **dict.fromkeys(first, 1)}
        queue = list(found)
        for tile in queue:
            if tile != target:
                for before in back.get(tile, ()):
                    if before not in found:
                        found[before] = found[tile] + 1
                        queue.append(before)
        return found

    def cuts(self) -> list[Spot]:
        """Free tiles that every way to the exit goes over."""
        return [s for s in self.free if self.exit not in self.ways(closed=[s])]

    def behind(self, tile: Spot) -> set[Spot]:
        """Return the tiles that cannot be reached if a tile is closed, without that tile."""
        return set(self.ways()) - set(self.ways(closed=[tile])) - {tile}

    def most_health(self, target: Spot | None = None) -> int:
        """Return the most hit points that can be left at the exit (or on another tile) without monsters; 0 for none."""
        target = self.exit if target is None else target
        potions = {s: i for i, s in enumerate(self.find("P"))}
        queue = [(-HIT_POINTS, self.hero, 0)]
        best = {(self.hero, 0): HIT_POINTS}
        most = 0
        while queue:
            health, tile, drunk = heapq.heappop(queue)
            for onto, then in self.moves(tile):
                left, now = -health, drunk
                if self.cells[onto] == "t":
                    left -= 1
                if onto in potions and not drunk >> potions[onto] & 1:
                    left, now = left + 1, drunk | 1 << potions[onto]
                if left <= 0:
                    continue
                if onto == target:
                    most = max(most, left)
                elif onto != self.exit and best.get((then, now), 0) < left:
                    best[then, now] = left
                    heapq.heappush(queue, (-left, then, now))
        return most
