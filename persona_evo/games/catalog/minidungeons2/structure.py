"""Computes numbers on a level's layout, without playing it.

"Connected" tiles are the four beside a tile (those a move can go to); "adjacent" tiles are all eight around it. The
paper calls a tile with two connected passable tiles a choke point, one with a single one a dead end, and a tile whose
adjacent tiles are all nonwalls an open area. It does not say whether diagonal tiles are adjacent: `open_areas` counts
them (the middle of a 3 x 3 piece of floor), `crossings` is the other reading. The edge of the board counts as a wall.
"""

from __future__ import annotations

from persona_evo.games.catalog.minidungeons2.levels import MONSTERS, STEPS, DungeonLevel, distances

COUNTED = {
    "treasures": "T",
    "potions": "P",
    "goblins": "M",
    "wizards": "R",
    "ogres": "o",
    "blobs": "b",
    "minitaurs": "m",
}
"""Name -> character of the objects whose sum is the height of a bar in the paper's figure 3."""

MEANINGS = {
    "width": "columns",
    "height": "rows",
    "floor": "tiles that are not walls, those with objects included",
    "walls": "wall tiles",
    **{name: f"{name} at the start" for name in COUNTED},
    "monsters": "goblins, wizards, ogres, blobs and minitaurs",
    "objects": "treasures, potions and monsters",
    "portals": "portals, 0 or 2",
    "traps": "traps",
    "dead_ends": "floor tiles with one connected floor tile",
    "choke_points": "floor tiles with two connected floor tiles",
    "corridor_turns": "choke points whose two connected tiles are not opposite each other",
    "junctions": "floor tiles with three connected floor tiles",
    "crossings": "floor tiles with four connected floor tiles",
    "open_areas": "floor tiles with eight adjacent floor tiles",
    "branching": "mean number of connected floor tiles of a floor tile",
    "path": "fewest moves from the hero to the exit, portals ignored; nan if there is no such way",
    "path_portals": "fewest moves from the hero to the exit with the portals; nan if there is no way",
    "far": "largest distance in moves of any floor tile to the exit, portals ignored",
    "reachable": "share of the floor tiles that the hero can stand on, portals included, in [0, 1]",
}
"""The name of every number of `structure`, and its meaning."""


def structure(grid: DungeonLevel) -> dict[str, float]:
    """Return all numbers of `MEANINGS` for a level, in that order."""
    floor = [(x, y) for y in range(grid.height) for x in range(grid.width) if grid.passable(x, y)]
    chars = [char for char, _, _ in grid.objects]
    counts = {name: chars.count(char) for name, char in COUNTED.items()}
    degrees = [sum(1 for _ in grid.neighbours(*tile)) for tile in floor]
    reached = distances(grid, grid.hero, portals=True)
    standable = reached.keys() | set(grid.portals) if reached.keys() & set(grid.portals) else reached.keys()
    to_exit = distances(grid, grid.exit, portals=False)
    values: dict[str, float] = {
        "width": grid.width,
        "height": grid.height,
        "floor": len(floor),
        "walls": grid.width * grid.height - len(floor),
        **counts,
        "monsters": sum(char in MONSTERS for char in chars),
        "objects": sum(counts.values()),
        "portals": len(grid.portals),
        "traps": chars.count("t"),
        "dead_ends": degrees.count(1),
        "choke_points": degrees.count(2),
        "corridor_turns": sum(_turns(grid, x, y) for x, y in floor),
        "junctions": degrees.count(3),
        "crossings": degrees.count(4),
        "open_areas": sum(_open(grid, x, y) for x, y in floor),
        "branching": sum(degrees) / len(floor),
        "path": to_exit.get(grid.hero, float("nan")),
        "path_portals": reached.get(grid.exit, float("nan")),
        "far": max(to_exit.values()),
        "reachable": len(standable) / len(floor),
    }
    return {name: float(value) for name, value in values.items()}


def _turns(grid: DungeonLevel, x: int, y: int) -> bool:
    """Return whether exactly two connected tiles are floor and they are not opposite each other."""
    north, east, south, west = (grid.passable(x + dx, y + dy) for dx, dy in STEPS)
    return north + east + south + west == 2 and north != south and east != west


def _open(grid: DungeonLevel, x: int, y: int) -> bool:
    """Return whether all eight tiles around are floor."""
    return all(grid.passable(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
