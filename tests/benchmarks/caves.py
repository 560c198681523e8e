"""Levels of MiniDungeons 2 out of a seed: caves and rooms for benchmarks, small ones for exhaustive tests.

The same seed and number give the same level for ever: figures of different days are of the same levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from random import Random

from persona_evo.errors import LevelError
from persona_evo.games.core import Level

from .levels import game

Tile = tuple[int, int]
Floor = set[Tile]

SIDES = (8, 24)
"""Fewest and most tiles of a side, walls included."""

ATTEMPTS = 1_000
"""Tries at one level before the generator gives up."""

MONSTERS = "MRob"
"""What can die; minitaurs come beside them."""

MOST_MONSTERS = 30
MOST_VAULT = 0.4
"""Size of a second cave, which only portals lead to, against the first."""


@dataclass(frozen=True)
class Contents:
    """How many of each to put down. monsters: their characters, in the order in which they are placed."""

    monsters: str
    minitaurs: int
    treasures: int
    potions: int
    traps: int
    portals: bool

    @property
    def things(self) -> str:
        """The characters, one a thing, but for the hero, the exit and the portals."""
        return self.monsters + "m" * self.minitaurs + "T" * self.treasures + "P" * self.potions + "t" * self.traps


def beside(tile: Tile) -> Iterator[Tile]:
    """The four tiles next to one."""
    x, y = tile
    yield from ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))


def pieces(floor: Collection[Tile]) -> list[Floor]:
    """The connected parts of a floor, the largest first."""
    left, found = set(floor), []
    while left:
        first = min(left)
        left.discard(first)
        queue = [first]
        for tile in queue:
            near = [n for n in beside(tile) if n in left]
            left.difference_update(near)
            queue += near
        found.append(set(queue))
    return sorted(found, key=lambda piece: (-len(piece), min(piece)))


def cave(rng: Random, width: int, height: int) -> Floor:
    """Floor as water leaves it: noise, smoothed by what most of the eight neighbours are."""
    share = rng.uniform(0.55, 0.64)
    inside = list(itertools.product(range(1, width - 1), range(1, height - 1)))
    floor = {tile for tile in inside if rng.random() < share}
    around = [d for d in itertools.product((-1, 0, 1), repeat=2) if d != (0, 0)]
    for _ in range(rng.randint(1, 3)):
        near = {(x, y): sum((x + dx, y + dy) in floor for dx, dy in around) for x, y in inside}
        floor = {tile for tile in inside if near[tile] > 4 or (near[tile] == 4 and tile in floor)}
    return floor


def rooms(rng: Random, width: int, height: int) -> Floor:
    """Rectangles joined by corridors, each to the one before, and one more corridor now and then."""
    floor: Floor = set()
    middles: list[Tile] = []
    for _ in range(max(2, width * height // rng.randint(22, 50))):
        w, h = rng.randint(2, min(6, width - 3)), rng.randint(2, min(6, height - 3))
        left, top = rng.randint(1, width - 1 - w), rng.randint(1, height - 1 - h)
        floor |= set(itertools.product(range(left, left + w), range(top, top + h)))
        middles.append((left + w // 2, top + h // 2))
    joined = list(itertools.pairwise(middles))
    if rng.random() < 0.5:
        joined.append((middles[0], middles[-1]))
    for a, b in joined:
        floor |= corridor(rng, a, b)
    return floor


def corridor(rng: Random, a: Tile, b: Tile) -> Floor:
    """A way with one bend."""
    (x0, y0), (x1, y1) = a, b
    bend = (x1, y0) if rng.random() < 0.5 else (x0, y1)
    across = {(x, bend[1]) for x in range(min(x0, x1), max(x0, x1) + 1)}
    return across | {(bend[0], y) for y in range(min(y0, y1), max(y0, y1) + 1)}


SHAPES: dict[str, Callable[[Random, int, int], Floor]] = {"cave": cave, "rooms": rooms}


def contents(rng: Random, tiles: int) -> Contents:
    """So many things for so much floor, from sparse to crowded."""
    crowd = tiles * rng.uniform(0.08, 0.26)
    share = rng.uniform(0.25, 0.65)
    count = min(MOST_MONSTERS, max(1, round(crowd * share)))
    kinds = rng.sample(MONSTERS, len(MONSTERS))
    monsters = "".join(itertools.islice(itertools.cycle(kinds), count))
    rest = max(2, round(crowd * (1 - share)))
    treasures = rng.randint(1, rest - 1)
    return Contents(monsters, rng.choice((0, 1, 1, 2)), treasures, rest - treasures, rng.randint(0, 3),
                    rng.random() < 0.4)  # fmt: skip


def text_of(width: int, height: int, floor: Floor, things: dict[Tile, str]) -> str:
    """The level file."""
    rows = ("".join(things.get((x, y), " " if (x, y) in floor else "X") for x in range(width)) for y in range(height))
    return "\n".join(rows) + "\n"


def ways(floor: Floor, start: Tile) -> dict[Tile, int]:
    """Moves on foot from a tile to all that can be walked to."""
    found = {start: 0}
    queue = [start]
    for tile in queue:
        for near in beside(tile):
            if near in floor and near not in found:
                found[near] = found[tile] + 1
                queue.append(near)
    return found


def furnished(rng: Random, floor: Floor, vault: Floor, what: Contents) -> dict[Tile, str]:
    """Where everything stands. The exit is rather far from the hero; a portal leads to the vault if there is one."""
    free = sorted(floor)
    rng.shuffle(free)
    hero = free.pop()
    far = ways(floor, hero)
    goal = max(rng.sample(free, min(4, len(free))), key=lambda tile: far[tile])
    free.remove(goal)
    things = {hero: "H", goal: "e"}
    inside = rng.sample(sorted(vault), len(vault))
    if what.portals:
        things[free.pop()] = "p"
        things[inside.pop() if inside else free.pop()] = "p"
    free = rng.sample(free + inside, len(free) + len(inside))
    things.update(zip(free, what.things, strict=False))
    return things


def attempt(rng: Random, shape: str, width: int, height: int) -> str | None:
    """A level, or None where the floor that came out is too small."""
    parts = pieces(SHAPES[shape](rng, width, height))
    if not parts or len(parts[0]) < max(12, width * height * 3 // 10):
        return None
    floor, others = parts[0], [p for p in parts[1:] if 3 <= len(p) <= MOST_VAULT * len(parts[0])]
    what = contents(rng, len(floor))
    vault = others[0] if what.portals and others else set()
    return text_of(width, height, floor | vault, furnished(rng, floor, vault, what))


def generated(seed: int, number: int, sides: tuple[int, int] = SIDES) -> Level:
    """Level `number` of a seed; caves and rooms take turns."""
    rng = Random(f"levels {seed} {number} {sides}")
    shape = list(SHAPES)[number % len(SHAPES)]
    for _ in range(ATTEMPTS):
        width, height = rng.randint(*sides), rng.randint(*sides)
        text = attempt(rng, shape, width, height)
        found = text and loaded(text, f"{shape}-{seed}-{number:02d}-{width}x{height}")
        if found:
            return found
    raise RuntimeError(f"no level of {sides} tiles a side out of seed {seed}, number {number}")


def loaded(text: str, name: str) -> Level | None:
    """The level as the game reads it, None where it refuses (no way to the exit, a hero walled in)."""
    try:
        return game().load(text, name)
    except LevelError:
        return None


def small(seed: int, number: int = 0) -> Level:
    """A level of 3x3 to 5x5 tiles within its walls, with few things in it: small enough to try everything out."""
    rng = Random(f"small {seed} {number}")
    for _ in range(ATTEMPTS):
        width, height = rng.randint(3, 5), rng.randint(3, 5)
        inside = list(itertools.product(range(1, width + 1), range(1, height + 1)))
        rng.shuffle(inside)
        crowd = rng.randint(0, 6)
        chars = ["H", "e", *(["p", "p"] if rng.random() < 0.3 else []), *rng.choices("TTPPtMRobm", k=crowd)]
        things = dict(zip(inside, chars, strict=False))
        floor = {tile for tile in inside if tile in things or rng.random() < 0.8}
        found = loaded(text_of(width + 2, height + 2, floor, things), f"small-{seed}-{number}")
        if found:
            return found
    raise RuntimeError(f"no small level out of seed {seed}, number {number}")
