"""Generates random levels of MiniDungeons 2: corridors, rooms, halls, caves and arenas.

All kinds come in all sizes from 8 to 24 tiles a side; most levels are about as large as those of the paper (10 x 20).
The ranges below are chosen so that the numbers of `structure` overlap with those of levels made by designers: treasures
and potions may lie in groups and in dead ends, monsters may guard them, and a pair of portals may be the only way to a
part of the level.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random

from persona_evo.games.analysis import Moves, beside, distances, parts, shortest
from persona_evo.games.catalog.minidungeons2.levels import FLOOR, MAX_MONSTERS, WALL
from persona_evo.games.constraints import ATTEMPTS, AllowedRange, Constraints, Generator
from persona_evo.games.findings import Spot

Floor = set[Spot]

SIDES = (8, 24)
"""The fewest and the most tiles of a side, walls included, unless the constraints say otherwise."""
USUAL = (10, 11), (18, 21)
"""The ranges of width and height of most levels, walls included, unless the constraints say otherwise."""
SHARE_OF_USUAL = 0.65
LEAST_SIDE, MOST_SIDE = 4, 100
"""The smallest and the largest side that the constraints can ask for."""

MOST_TILES = 1_500_000
"""The largest number of tiles drawn for one level in all attempts."""

PATH = "path_portals"
"""The number of the structure that says how far the exit is."""

MORTAL = "MRob"
"""The monsters that can die; minitaurs are counted separately."""

MOST_MONSTERS = 30
"""The largest number of monsters that can die, unless the constraints ask for more."""

MOST_VAULT = 0.4
"""The largest size of a second part, which only portals lead to, as a share of the first."""

SCARCE = 0.25
"""The share of levels that have at most one potion."""

WITH_PORTALS = 0.5
"""The share of levels that have a pair of portals."""

LEAST_FLOOR = 0.4
"""The smallest share of floor among the tiles inside the outer walls."""

HABITS = (0.0, 0.3, 0.7)
"""The probabilities that contents follow a habit; each level draws one of them for each habit."""

GUARDED, GUARD = "TPe", 2
"""What monsters guard, and the most steps that they stand away from it."""


@dataclass(frozen=True)
class Contents:
    """The numbers of objects to place; `monsters` are their characters, in the order of placement."""

    monsters: str
    treasures: int
    potions: int
    traps: int
    portals: bool

    @property
    def things(self) -> str:
        """The characters, one a thing, but for the hero, the exit and the portals."""
        return self.monsters + "T" * self.treasures + "P" * self.potions + "t" * self.traps


def cave(rng: Random, width: int, height: int) -> Floor:
    """Draw a cave: noise that is smoothed by the majority of the eight neighbours."""
    share = rng.uniform(0.52, 0.62)
    inside = list(itertools.product(range(1, width - 1), range(1, height - 1)))
    floor = {tile for tile in inside if rng.random() < share}
    around = [d for d in itertools.product((-1, 0, 1), repeat=2) if d != (0, 0)]
    for _ in range(rng.randint(1, 2)):
        near = {(x, y): sum((x + dx, y + dy) in floor for dx, dy in around) for x, y in inside}
        floor = {tile for tile in inside if near[tile] > 4 or (near[tile] == 4 and tile in floor)}
    return floor


def passages(rng: Random, width: int, height: int) -> Floor:
    """Draw corridors that branch, end and sometimes meet again, with chambers at some of their ends and crossings."""
    return _network(rng, width, height, rng.choice((2, 3, 4)), rng.uniform(0.0, 0.2), rng.uniform(0.1, 0.4))


def maze(rng: Random, width: int, height: int) -> Floor:
    """Draw long corridors with dead ends, which hardly ever meet again."""
    return _network(rng, width, height, rng.choice((2, 3)), rng.uniform(0.0, 0.1), 0.0)


def _network(rng: Random, width: int, height: int, widest: int, loops: float, chambers: float) -> Floor:
    """Draw corridors along a grid of lines, with a random walk that turns back where it meets itself.

    Args:
        widest: the largest distance from one line to the next, in tiles.
        loops: the share of dead ends that are joined to a neighbour.
        chambers: the share of crossings of lines that are chambers.
    """
    columns, rows = (_lines(rng, side, widest) for side in (width, height))
    spots = list(itertools.product(range(len(columns)), range(len(rows))))
    stack = [rng.choice(spots)]
    floor, seen = {(columns[stack[0][0]], rows[stack[0][1]])}, set(stack)
    while stack:
        here = stack[-1]
        near = [to for to in beside(here) if 0 <= to[0] < len(columns) and 0 <= to[1] < len(rows)]
        new = [to for to in near if to not in seen]
        to = rng.choice(new or near or [here])
        if new or rng.random() < loops:
            floor |= corridor(rng, (columns[here[0]], rows[here[1]]), (columns[to[0]], rows[to[1]]))
        if new:
            seen.add(to)
            stack.append(to)
        else:
            stack.pop()
    for column, row in spots:
        if rng.random() < chambers:
            w, h = rng.randint(1, 3), rng.randint(2, 4)
            left, top = max(1, columns[column] - w // 2), max(1, rows[row] - h // 2)
            floor |= set(itertools.product(range(left, min(left + w, width - 1)), range(top, min(top + h, height - 1))))
    return floor


def _lines(rng: Random, side: int, widest: int) -> list[int]:
    """Return the lines on which corridors may run, from the first tile inside the wall, 2 to `widest` tiles apart."""
    places = itertools.accumulate((rng.randint(2, widest) for _ in range(side)), initial=1)
    return [place for place in places if place < side - 1]


def rooms(rng: Random, width: int, height: int) -> Floor:
    """Draw rectangles, each joined to the nearest earlier one by a corridor, and sometimes one more corridor."""
    floor: Floor = set()
    middles: list[Spot] = []
    joined: list[tuple[Spot, Spot]] = []
    most = rng.randint(2, 5)
    for _ in range(max(2, width * height // rng.randint(7, 16))):
        w, h = rng.randint(1, min(most, width - 2)), rng.randint(1, min(most, height - 2))
        left, top = rng.randint(1, width - 1 - w), rng.randint(1, height - 1 - h)
        floor |= set(itertools.product(range(left, left + w), range(top, top + h)))
        x, y = middle = left + w // 2, top + h // 2
        if middles:
            joined.append((middle, min(middles, key=lambda other: abs(other[0] - x) + abs(other[1] - y))))
        middles.append(middle)
    if rng.random() < 0.5:
        joined.append((middles[0], middles[-1]))
    for a, b in joined:
        floor |= corridor(rng, a, b)
    return floor


def corridor(rng: Random, a: Spot, b: Spot) -> Floor:
    """Draw a corridor with one bend."""
    (x0, y0), (x1, y1) = a, b
    bend = (x1, y0) if rng.random() < 0.5 else (x0, y1)
    across = {(x, bend[1]) for x in range(min(x0, x1), max(x0, x1) + 1)}
    return across | {(bend[0], y) for y in range(min(y0, y1), max(y0, y1) + 1)}


def halls(rng: Random, width: int, height: int) -> Floor:
    """Draw a rectangle that is divided by walls again and again, each with a single door or sometimes two."""
    floor = set(itertools.product(range(1, width - 1), range(1, height - 1)))
    least = rng.choice((1, 1, 2, 3))
    queue = [(1, 1, width - 2, height - 2)]
    for left, top, w, h in queue:
        if max(w, h) < 2 * least + 1:
            continue
        upright = w > h or (w == h and rng.random() < 0.5)
        long, across = (w, h) if upright else (h, w)
        places = range(least, long - least)
        free = [p for p in places if _shut(floor, left, top, w, h, p, upright)]
        if not free:
            continue
        at = rng.choice(free)
        doors = rng.sample(range(across), min(across, 1 + (rng.random() < 0.2)))
        wall = [(left + at, top + k) if upright else (left + k, top + at) for k in range(across) if k not in doors]
        floor.difference_update(wall)
        if upright:
            queue += [(left, top, at, h), (left + at + 1, top, w - at - 1, h)]
        else:
            queue += [(left, top, w, at), (left, top + at + 1, w, h - at - 1)]
    return floor


def _shut(floor: Floor, left: int, top: int, w: int, h: int, at: int, upright: bool) -> bool:
    """Return whether a wall at this place ends at walls, and not at the doors of others."""
    ends = ((left + at, top - 1), (left + at, top + h)) if upright else ((left - 1, top + at), (left + w, top + at))
    return not any(end in floor for end in ends)


def arena(rng: Random, width: int, height: int) -> Floor:
    """Draw one open hall with many or hardly any pillars and short walls."""
    floor = set(itertools.product(range(1, width - 1), range(1, height - 1)))
    for _ in range(width * height // rng.choice((6, 8, 12, 100))):
        w, h = rng.choice(((1, 1), (1, 3), (2, 2), (3, 1), (1, 5)))
        left, top = rng.randrange(1, width - 1), rng.randrange(1, height - 1)
        floor.difference_update(itertools.product(range(left, left + w), range(top, top + h)))
    return floor


SHAPES: dict[str, Callable[[Random, int, int], Floor]] = {
    "passages": passages,
    "maze": maze,
    "rooms": rooms,
    "halls": halls,
    "cave": cave,
    "arena": arena,
}

KINDS = {
    "passages": "corridors that branch and end, with small chambers",
    "maze": "long corridors with dead ends",
    "rooms": "rooms that overlap or are joined by corridors",
    "halls": "halls with single doors between them: choke points",
    "cave": "caves with an open, ragged floor",
    "arena": "one open hall with pillars",
}


def moves_on(floor: Collection[Spot]) -> Moves:
    """Return where one step leads from each tile of a floor."""
    return {tile: [near for near in beside(tile) if near in floor] for tile in sorted(floor)}


def contents(rng: Random, tiles: int, wanted: Constraints) -> Contents:
    """Draw the numbers of objects for this much floor, from sparse to crowded."""
    crowd = tiles * rng.uniform(0.08, 0.3)
    share = rng.uniform(0.25, 0.65)
    count = min(MOST_MONSTERS, max(1, round(crowd * share)))
    low, high = wanted.span("minitaurs", 0, 2)
    minitaurs = rng.choice((0, 1, 1, 1, 2)) if (low, high) == (0, 2) else rng.randint(low, high)
    total = min(MAX_MONSTERS, wanted.draw(rng, "monsters", count + minitaurs, count + minitaurs))
    minitaurs = min(minitaurs, total)
    kinds = rng.sample(MORTAL, rng.randint(1, len(MORTAL)))
    monsters = "".join(rng.choices(kinds, k=total - minitaurs)) + "m" * minitaurs
    rest = max(2, round(crowd * (1 - share)))
    treasures = rng.randint(1, rest - 1)
    potions = rng.randint(0, 1) if rng.random() < SCARCE else rest - treasures
    portals = wanted.draw(rng, "portals", *((2, 2) if rng.random() < WITH_PORTALS else (0, 0)))
    return Contents(
        monsters,
        wanted.draw(rng, "treasures", treasures, treasures),
        wanted.draw(rng, "potions", potions, potions),
        wanted.draw(rng, "traps", 0, 3),
        portals > 0,
    )


def text_of(width: int, height: int, floor: Floor, things: dict[Spot, str]) -> str:
    """Return the text of the level file."""
    rows = (
        "".join(things.get((x, y), FLOOR if (x, y) in floor else WALL) for x in range(width)) for y in range(height)
    )
    return "\n".join(rows) + "\n"


def furnished(rng: Random, floor: Floor, vault: Floor, what: Contents, wanted: Constraints) -> dict[Spot, str] | None:
    """Place everything. The exit is rather far from the hero; a portal leads to the vault if there is one."""
    free, moves = sorted(floor), moves_on(floor)
    rng.shuffle(free)
    low, high = wanted.span(PATH, 1, len(floor))
    hero = free[-1]
    far = distances([hero], moves)
    if max(far.values()) < low:  # the farthest tile of any has the longest ways
        hero = max(free, key=lambda tile: far[tile])
        far = distances([hero], moves)
    free.remove(hero)
    fit = [tile for tile in free if low <= far[tile] <= high]
    if not fit:
        return None
    goal = max(rng.sample(fit, min(rng.choice((2, 5, 12, 40)), len(fit))), key=lambda tile: far[tile])
    free.remove(goal)
    things = {hero: "H", goal: "e"}
    inside = rng.sample(sorted(vault), len(vault))
    if len(free) + len(inside) < len(what.things) + 2 * what.portals:
        return None
    if what.portals:
        things[free.pop()] = "p"
        things[inside.pop() if inside else free.pop()] = "p"
    place(rng, things, {*free, *inside}, moves_on(floor | vault), what)
    return things


def place(rng: Random, things: dict[Spot, str], free: Floor, moves: Moves, what: Contents) -> None:
    """Put the contents on free tiles: as this level's habits want it, or anywhere.

    Args:
        rng: where all chances come from.
        things: where the hero, the exit and the portals stand; the contents are added.
        free: tiles without a thing, at least as many as there are contents; those that are used are removed.
        moves: where one step leads to from each tile of the level.
        what: to place.
    """
    together, hidden, aside, guarding, lurking, distant = (rng.choice(HABITS) for _ in range(6))
    hero, goal = (spot for spot, char in things.items() if char in "He")
    away, off = distances([hero], moves), distances(shortest(hero, goal, moves), moves)
    remote = {tile for tile in moves if 2 * off.get(tile, len(moves)) > max(off.values())}
    ends = {tile for tile in moves if len(moves[tile]) == 1}
    narrow = {tile for tile in moves if len(moves[tile]) <= 2}
    far = {tile for tile in moves if 2 * away.get(tile, len(moves)) > max(away.values())}

    def put(char: str, *habits: tuple[float, Floor]) -> None:
        fit = [tiles & free for share, tiles in habits if rng.random() < share]
        spot = rng.choice(sorted(next(filter(None, fit), free)))
        free.remove(spot)
        things[spot] = char

    for char in "T" * what.treasures + "P" * what.potions:
        near = {tile for spot, other in things.items() if other == char for tile in moves[spot]}
        put(char, (together, near), (hidden, ends), (aside, remote))
    steps = distances([spot for spot, char in things.items() if char in GUARDED], moves)
    posts = {tile for tile, count in steps.items() if count <= GUARD}
    for char in what.monsters:
        put(char, *([(distant, far)] if char == "m" else [(guarding, posts), (lurking, narrow), (aside, remote)]))
    for char in "t" * what.traps:
        put(char)


def draw(rng: Random, kind: str, wanted: Constraints) -> str | None:
    """Draw a level; return None if its floor is too small for what has to stand on it."""
    spans = USUAL if rng.random() < SHARE_OF_USUAL else (SIDES, SIDES)
    width, height = (
        min(MOST_SIDE, max(LEAST_SIDE, wanted.draw(rng, name, *span)))
        for name, span in zip(("width", "height"), spans, strict=True)
    )
    pieces = [set(piece) for piece in parts(SHAPES[kind](rng, width, height))]
    pieces.sort(key=lambda piece: (-len(piece), min(piece)))
    if not pieces or len(pieces[0]) < max(3, LEAST_FLOOR * (width - 2) * (height - 2)):
        return None
    floor, others = pieces[0], [p for p in pieces[1:] if 3 <= len(p) <= MOST_VAULT * len(pieces[0])]
    what = contents(rng, len(floor), wanted)
    vault = others[0] if what.portals and others else set()
    things = furnished(rng, floor, vault, what, wanted)
    return None if things is None else text_of(width, height, floor | vault, things)


def attempts(wanted: Constraints) -> int:
    """Return the number of attempts, which is lower for larger levels, since they take longer."""
    width, height = (min(MOST_SIDE, wanted.span(name, *SIDES)[1]) for name in ("width", "height"))
    return max(1, min(ATTEMPTS, MOST_TILES // max(1, width * height)))


SHOWN = ("width", "height", PATH, "monsters", "treasures", "potions", "traps", "portals")

LIMITS = {
    "width": AllowedRange(LEAST_SIDE, MOST_SIDE),
    "height": AllowedRange(LEAST_SIDE, MOST_SIDE),
    "monsters": AllowedRange(0, MAX_MONSTERS),
    "portals": AllowedRange(0, 2),
}

GENERATOR = Generator(draw, KINDS, attempts, path=PATH, shown=SHOWN, limits=LIMITS)
